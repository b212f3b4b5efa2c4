/* graph_file.c - a graph on its way to a file and back.
 *
 * Lists and copies are written from where the build left them, and borrowed from the map (or one
 * block of memory) as they are. A walk follows ids without looking at them, so every one is
 * compared with the number of rows at the opening: 25 MB at 100,000 rows of degree 64, 5 ms. Lists
 * may still be nonsense (the same id twice, rows that nothing reaches), which costs a walk time or
 * results and no more; graph_check tells.
 * Copies are checked whole: each row once, after the row that it equals, which is no copy. */
#include "index/graph_file.h"

#include <assert.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/graph_record.h"
#include "index/sections.h"

_Static_assert(sizeof(struct graph_copy) == GRAPH_RECORD_COPY_NBYTES,
               "copies are stored as they are");

static uint64_t edge_count(const struct graph *graph)
{
    uint64_t edges = 0;

    for (uint32_t row = 0; row < graph->rows; row++) {
        const uint32_t *list = graph->neighbours + (size_t)row * graph->stride;
        uint32_t n = 0;

        for (uint32_t i = 0; i < graph->stride; i++)
            n += list[i] != row;
        edges += n;
    }
    return edges;
}

static uint64_t lists_nbytes(const struct graph_record *record)
{
    return (uint64_t)record->rows * record->stride * sizeof(uint32_t);
}

static uint64_t copies_nbytes(const struct graph_record *record)
{
    return (uint64_t)record->copy_count * GRAPH_RECORD_COPY_NBYTES;
}

static paua_status record_put(struct file_writer *writer, const struct graph_record *record,
                              struct file_footer *footer, paua_error *err)
{
    struct writer w = {0};
    paua_status status = graph_record_encode(record, &w) == PAUA_OK
                             ? sections_put(writer, footer, SECTION_GRAPH, w.bytes, w.length, err)
                             : error_set_nomem(err);

    writer_free(&w);
    return status;
}

static paua_status sections_write(struct file_writer *writer, const struct graph *graph,
                                  const struct graph_record *record, struct file_footer *footer,
                                  paua_error *err)
{
    paua_status status = record_put(writer, record, footer, err);

    if (status == PAUA_OK)
        status = sections_put(writer, footer, SECTION_NEIGHBOURS, graph->neighbours,
                              lists_nbytes(record), err);
    if (status == PAUA_OK)
        status =
            sections_put(writer, footer, SECTION_COPIES, graph->copies, copies_nbytes(record), err);
    return status;
}

paua_status graph_file_write(struct dir *dir, const struct file_header *header,
                             const struct graph *graph, const struct graph_params *params,
                             uint32_t codes_crc, struct file_ref *ref, paua_error *err)
{
    struct graph_record record = {.rows = graph->rows,
                                  .degree = graph->degree,
                                  .stride = graph->stride,
                                  .entry = graph->entry,
                                  .copy_count = graph->copy_count,
                                  .list = params->list,
                                  .occlusion = params->occlusion,
                                  .alpha = params->alpha,
                                  .codes_crc = codes_crc,
                                  .edges = edge_count(graph)};
    struct file_footer footer = {.row_count = graph->rows};
    struct file_writer *writer;
    struct file_ref written;
    paua_status status;

    assert(header->kind == FILE_GRAPH && params->degree == graph->degree);
    status = file_writer_create(dir, header, true, &writer, err);
    if (status != PAUA_OK) return status;
    status = sections_write(writer, graph, &record, &footer, err);
    if (status == PAUA_OK) status = sections_seal(dir, writer, header, &footer, &written, err);
    file_writer_close(writer);
    if (status == PAUA_OK) *ref = written;
    return status;
}

struct opening {
    struct graph_file *graph;
    struct graph_record record;
    struct stretch stretch;
};

static paua_status refuse(const struct opening *o, const char *what, paua_error *err)
{
    return data_file_refuse(o->graph->file, what, err);
}

static paua_status load(struct opening *o, paua_error *err)
{
    paua_status status;

    if (!stretch_add(&o->stretch, SECTION_GRAPH) || !stretch_add(&o->stretch, SECTION_NEIGHBOURS) ||
        !stretch_add(&o->stretch, SECTION_COPIES))
        return refuse(o, "lacks parts of its graph", err);
    status = stretch_load(&o->stretch, 0, err);
    o->graph->memory = o->stretch.memory;
    return status;
}

static paua_status take_record(struct opening *o, uint32_t rows, paua_error *err)
{
    const struct data_file *file = o->graph->file;
    const struct section *section = data_file_section(file, SECTION_GRAPH);
    paua_status status = graph_record_decode(stretch_section(&o->stretch, SECTION_GRAPH),
                                             (size_t)section->nbytes, &o->record);

    if (status == PAUA_EVERSION)
        return error_set(err, status,
                         "%s: was written by a newer version of paua; use that version",
                         data_file_name(file));
    if (status != PAUA_OK) return refuse(o, "its description is damaged", err);
    if (o->record.rows != rows || data_file_row_count(file) != rows)
        return refuse(o, "is a graph over other rows", err);
    if (!data_file_has_section(file, SECTION_NEIGHBOURS, lists_nbytes(&o->record)) ||
        !data_file_has_section(file, SECTION_COPIES, copies_nbytes(&o->record)))
        return refuse(o, "its lists are not as long as its description says", err);
    return PAUA_OK;
}

static void borrow(struct opening *o)
{
    const struct graph_record *record = &o->record;

    o->graph->graph = (struct graph){.rows = record->rows,
                                     .degree = record->degree,
                                     .stride = record->stride,
                                     .entry = record->entry,
                                     .neighbours = stretch_section(&o->stretch, SECTION_NEIGHBOURS),
                                     .copy_count = record->copy_count,
                                     .copies = stretch_section(&o->stretch, SECTION_COPIES)};
    o->graph->params = (struct graph_params){.degree = record->degree,
                                             .list = record->list,
                                             .occlusion = record->occlusion,
                                             .alpha = record->alpha};
    o->graph->codes_crc = record->codes_crc;
}

static bool ids_valid(const struct graph *graph)
{
    size_t n = (size_t)graph->rows * graph->stride;
    uint32_t greatest = 0;

    for (size_t i = 0; i < n; i++)
        greatest = graph->neighbours[i] > greatest ? graph->neighbours[i] : greatest;
    return greatest < graph->rows;
}

static bool marked(const uint8_t *marks, uint32_t row) { return marks[row / 8] >> row % 8 & 1; }

/* marks: a zeroed bit a row. */
static bool copies_valid(const struct graph *graph, uint8_t *marks)
{
    for (uint32_t i = 0; i < graph->copy_count; i++) {
        struct graph_copy copy = graph->copies[i];
        struct graph_copy last = i > 0 ? graph->copies[i - 1] : (struct graph_copy){0};

        if (copy.row >= graph->rows || copy.of >= copy.row || marked(marks, copy.row)) return false;
        if (copy.of < last.of || (copy.of == last.of && copy.row <= last.row)) return false;
        marks[copy.row / 8] |= (uint8_t)(1u << copy.row % 8);
    }
    for (uint32_t i = 0; i < graph->copy_count; i++)
        if (marked(marks, graph->copies[i].of)) return false;
    return !marked(marks, graph->entry);
}

static paua_status check(const struct opening *o, paua_error *err)
{
    const struct graph *graph = &o->graph->graph;
    uint8_t *marks;
    bool valid;

    if (!ids_valid(graph)) return refuse(o, "a neighbour in it is no row", err);
    if (graph->copy_count == 0) return PAUA_OK;
    marks = mem_zalloc((size_t)graph->rows / 8 + 1, 1);
    if (marks == NULL) return error_set_nomem(err);
    valid = copies_valid(graph, marks);
    mem_free(marks);
    return valid ? PAUA_OK : refuse(o, "its copies of rows are damaged", err);
}

paua_status graph_file_open(struct data_file *file, uint32_t rows, struct graph_file **opened,
                            paua_error *err)
{
    struct opening o = {.graph = mem_zalloc(1, sizeof *o.graph), .stretch = {.file = file}};
    paua_status status;

    assert(data_file_header(file)->kind == FILE_GRAPH);
    if (o.graph == NULL) return error_set_nomem(err);
    atomic_init(&o.graph->refs, 1);
    o.graph->file = data_file_ref(file);
    status = load(&o, err);
    if (status == PAUA_OK) status = take_record(&o, rows, err);
    if (status == PAUA_OK) {
        borrow(&o);
        status = check(&o, err);
    }
    if (status != PAUA_OK) {
        graph_file_unref(o.graph);
        return status;
    }
    *opened = o.graph;
    return PAUA_OK;
}

struct graph_file *graph_file_ref(struct graph_file *file)
{
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    return file;
}

void graph_file_unref(struct graph_file *file)
{
    if (file == NULL) return;
    if (atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) != 1) return;
    mem_free(file->memory);
    data_file_unref(file->file);
    mem_free(file);
}
