/* value_index.c - an index of a field's values, opened.
 *
 * Arrays are borrowed from the map (or one block of memory) as they are. A match follows rows,
 * totals and ends without looking at them, so each is compared with its limit at the opening: 4 to
 * 16 bytes an entry. The order may still be nonsense, which gives wrong rows and no more;
 * value_index_validate() tells. Sets are decoded, with every check, when they are needed. */
#include "index/value_index.h"

#include <assert.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/value_index_record.h"
#include "index/sections.h"

struct opening {
    struct value_index *index;
    struct value_index_record record;
    struct stretch stretch;
};

static paua_status refuse(const struct opening *o, const char *what, paua_error *err)
{
    return data_file_refuse(o->index->file, what, err);
}

static paua_status load(struct opening *o, paua_error *err)
{
    static const enum section_id sets[] = {SECTION_VALUE_TOTALS, SECTION_VALUE_ENDS,
                                           SECTION_VALUE_SETS};
    paua_status status;

    if (!stretch_add(&o->stretch, SECTION_VALUE_INDEX) ||
        !stretch_add(&o->stretch, SECTION_VALUE_ROWS))
        return refuse(o, "lacks parts of its index", err);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (data_file_section(o->index->file, sets[i]) != NULL &&
            !stretch_add(&o->stretch, sets[i]))
            return refuse(o, "has a part of its index at a wrong place", err);
    status = stretch_load(&o->stretch, 0, err);
    o->index->memory = o->stretch.memory;
    return status;
}

/* Are there the arrays that the record speaks of, and as long? */
static bool arrays_fit(const struct opening *o)
{
    const struct data_file *file = o->index->file;
    uint64_t entries = o->record.entries;

    if (!data_file_has_section(file, SECTION_VALUE_ROWS, entries * sizeof(uint32_t))) return false;
    if (o->record.kind == PAUA_INDEX_SORTED) return true;
    return data_file_has_section(file, SECTION_VALUE_TOTALS, entries * sizeof(uint32_t)) &&
           data_file_has_section(file, SECTION_VALUE_ENDS, entries * sizeof(uint64_t)) &&
           data_file_has_section(file, SECTION_VALUE_SETS, o->record.sets_nbytes);
}

static paua_status take_record(struct opening *o, uint32_t rows, paua_error *err)
{
    const struct data_file *file = o->index->file;
    const struct section *section = data_file_section(file, SECTION_VALUE_INDEX);
    paua_status status = value_index_record_decode(
        stretch_section(&o->stretch, SECTION_VALUE_INDEX), (size_t)section->nbytes, &o->record);

    if (status == PAUA_EVERSION)
        return error_set(err, status,
                         "%s: was written by a newer version of paua; use that version",
                         data_file_name(file));
    if (status != PAUA_OK) return refuse(o, "its description is damaged", err);
    if (o->record.rows != rows || data_file_row_count(file) != rows)
        return refuse(o, "is an index over other rows", err);
    if (!arrays_fit(o)) return refuse(o, "its arrays are not as long as its description says", err);
    return PAUA_OK;
}

static void borrow(struct opening *o)
{
    struct value_index *index = o->index;

    index->kind = o->record.kind;
    index->rows = o->record.rows;
    index->entries = o->record.entries;
    index->columns_crc = o->record.columns_crc;
    index->places = stretch_section(&o->stretch, SECTION_VALUE_ROWS);
    if (index->kind == PAUA_INDEX_SORTED) return;
    index->totals = stretch_section(&o->stretch, SECTION_VALUE_TOTALS);
    index->ends = stretch_section(&o->stretch, SECTION_VALUE_ENDS);
    index->sets = stretch_section(&o->stretch, SECTION_VALUE_SETS);
}

static bool places_valid(const struct value_index *index)
{
    uint32_t greatest = 0;

    for (uint32_t i = 0; i < index->entries; i++)
        greatest = index->places[i] > greatest ? index->places[i] : greatest;
    return greatest < index->rows;
}

/* Each value has a row or more, and a set where it has more than one; all sets are taken. */
static bool totals_valid(const struct value_index *index, uint64_t sets_nbytes)
{
    uint32_t total = 0;
    uint64_t end = 0;

    for (uint32_t i = 0; i < index->entries; i++) {
        uint32_t next = index->totals[i];

        if (next <= total || next > index->rows) return false;
        if (next - total == 1 ? index->ends[i] != end : index->ends[i] <= end) return false;
        total = next;
        end = index->ends[i];
    }
    return end == sets_nbytes;
}

static paua_status check(const struct opening *o, paua_error *err)
{
    if (!places_valid(o->index)) return refuse(o, "names a row that there is not", err);
    if (o->index->kind == PAUA_INDEX_BITMAP && !totals_valid(o->index, o->record.sets_nbytes))
        return refuse(o, "its sets of rows do not follow each other", err);
    return PAUA_OK;
}

paua_status value_index_open(struct data_file *file, uint32_t rows, struct value_index **opened,
                             paua_error *err)
{
    struct opening o = {.index = mem_zalloc(1, sizeof *o.index), .stretch = {.file = file}};
    paua_status status;

    assert(data_file_header(file)->kind == FILE_VALUES);
    if (o.index == NULL) return error_set_nomem(err);
    atomic_init(&o.index->refs, 1);
    o.index->file = data_file_ref(file);
    status = load(&o, err);
    if (status == PAUA_OK) status = take_record(&o, rows, err);
    if (status == PAUA_OK) {
        borrow(&o);
        status = check(&o, err);
    }
    if (status != PAUA_OK) {
        value_index_unref(o.index);
        return status;
    }
    *opened = o.index;
    return PAUA_OK;
}

struct value_index *value_index_ref(struct value_index *index)
{
    atomic_fetch_add_explicit(&index->refs, 1, memory_order_relaxed);
    return index;
}

void value_index_unref(struct value_index *index)
{
    if (index == NULL) return;
    if (atomic_fetch_sub_explicit(&index->refs, 1, memory_order_acq_rel) != 1) return;
    mem_free(index->memory);
    data_file_unref(index->file);
    mem_free(index);
}
