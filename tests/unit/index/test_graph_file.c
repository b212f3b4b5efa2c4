/* test_graph_file.c - files of graphs: written and opened again, damaged, forged.
 *
 * Offsets in a file's graph record: see codec/test_graph_record.c. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "codes_helper.h"
#include "forge.h"
#include "index/graph_file.h"

#define NAME "000011.graph"
#define ROWS 20u
#define DEGREE 5u
#define STRIDE 16u
#define CODES_CRC 0x12345678u

static const struct file_header HEADER = {
    .kind = FILE_GRAPH, .number = 11, .collection = 3, .field = 1, .dim = 3};
static const struct graph_params PARAMS = {
    .degree = DEGREE, .list = 100, .occlusion = 750, .alpha = 1.25f};
static const struct graph_copy COPIES[] = {{7, 2}, {9, 2}, {4, 3}};

struct fixture {
    struct temp *temp;
    uint32_t *neighbours;
    struct graph graph;
    struct file_ref ref;
    struct bytes bytes; /* of the file as it was written */
};

static bool is_copy(uint32_t row)
{
    for (size_t i = 0; i < sizeof COPIES / sizeof COPIES[0]; i++)
        if (COPIES[i].row == row) return true;
    return false;
}

/* A ring with chords over the rows that are no copies. */
static void fill(uint32_t *neighbours)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t *list = neighbours + row * STRIDE, n = 0;

        for (uint32_t step = 1; step < ROWS && n < DEGREE - row % 2 && !is_copy(row); step++)
            if (!is_copy((row + step) % ROWS)) list[n++] = (row + step) % ROWS;
        while (n < STRIDE)
            list[n++] = row;
    }
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    void *temp;

    assert_non_null(f);
    temp_setup(&temp);
    sys_skip_syncs();
    f->temp = temp;
    f->neighbours = mem_aligned(64, ROWS * STRIDE * sizeof f->neighbours[0]);
    assert_non_null(f->neighbours);
    fill(f->neighbours);
    f->graph = (struct graph){.rows = ROWS,
                              .degree = DEGREE,
                              .stride = STRIDE,
                              .entry = 6,
                              .neighbours = f->neighbours,
                              .copy_count = sizeof COPIES / sizeof COPIES[0],
                              .copies = COPIES};
    assert_int_equal(
        graph_file_write(f->temp->dir, &HEADER, &f->graph, &PARAMS, CODES_CRC, &f->ref, NULL),
        PAUA_OK);
    f->bytes = temp_read(f->temp, NAME);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *temp = f->temp;

    mem_free(f->neighbours);
    free(f->bytes.data);
    free(f);
    sys_restore();
    return temp_teardown(&temp);
}

static paua_status open_graph(const struct fixture *f, const struct file_ref *ref, bool no_mmap,
                              paua_verify verify, struct graph_file **graph, paua_error *err)
{
    struct data_file_opts opts = {.no_mmap = no_mmap, .verify = verify};
    struct data_file *file;
    paua_status status = data_file_open_sealed(f->temp->dir, &HEADER, ref, opts, &file, err);

    if (status != PAUA_OK) return status;
    status = graph_file_open(file, ROWS, graph, err);
    data_file_unref(file);
    return status;
}

/* Walks the graph over codes of as many rows. */
static void walk(const struct graph *graph)
{
    enum { DIM = 3 };
    float *values = rows_make(ROWS, DIM), query[DIM] = {1, 0, -1};
    struct rows rows = {values, ROWS, DIM, PAUA_L2, PAUA_INT8};
    struct model_source source = rows_source(&rows, 1);
    struct model_scratch scratch = {0};
    struct walk_scratch room = {0};
    struct code_query q;
    struct model model;
    int8_t *code_values;
    uint8_t *codes, *refine;
    float *factors;

    assert_int_equal(model_train(&source, &model, NULL), PAUA_OK);
    assert_true(model_scratch_init(&scratch, &model));
    codes = mem_aligned(64, (size_t)ROWS * model.walk.layout.nbytes + CODE_SLACK_NBYTES);
    refine = mem_aligned(64, (size_t)ROWS * model.refine.layout.nbytes + 1);
    factors = mem_aligned(64, sizeof(float[2 * ROWS * CODE_FACTORS]));
    code_values = mem_aligned(64, (size_t)model.walk.layout.step_count * CODE_LINE_NBYTES);
    assert_true(codes != NULL && refine != NULL && factors != NULL && code_values != NULL);
    model_encode(&model, values, ROWS, &scratch, codes, factors, refine,
                 factors + (size_t)ROWS * CODE_FACTORS);
    model_query_walk(&model, query, &scratch, code_values, &q);
    for (uint32_t ef = 1; ef <= 2 * ROWS; ef *= 2) {
        struct code_plane plane = {model.walk.layout, codes, factors};

        assert_true(walk_reserve(&room, graph, ef));
        assert_true(graph_walk(graph, &plane, &q, ef, &room) <= ef);
    }
    walk_free(&room);
    model_scratch_free(&scratch);
    model_free(&model);
    mem_free(codes);
    mem_free(refine);
    mem_free(factors);
    mem_free(code_values);
    free(values);
}

static void a_graph_comes_back_as_it_was_written(void **state)
{
    struct fixture *f = *state;

    for (int way = 0; way < 4; way++) {
        struct graph_file *file = NULL, *again;
        const struct graph *g;

        assert_int_equal(open_graph(f, &f->ref, way % 2 != 0,
                                    way < 2 ? PAUA_VERIFY_TOUCH : PAUA_VERIFY_HEADER, &file, NULL),
                         PAUA_OK);
        g = &file->graph;
        assert_int_equal(g->rows, ROWS);
        assert_int_equal(g->degree, DEGREE);
        assert_int_equal(g->stride, STRIDE);
        assert_int_equal(g->entry, 6);
        assert_int_equal((uintptr_t)g->neighbours % 64, 0);
        assert_memory_equal(g->neighbours, f->neighbours, sizeof(uint32_t[ROWS * STRIDE]));
        assert_int_equal(g->copy_count, 3);
        assert_memory_equal(g->copies, COPIES, sizeof COPIES);
        assert_int_equal(file->params.degree, PARAMS.degree);
        assert_int_equal(file->params.list, PARAMS.list);
        assert_int_equal(file->params.occlusion, PARAMS.occlusion);
        assert_true(file->params.alpha == PARAMS.alpha);
        assert_int_equal(file->codes_crc, CODES_CRC);
        assert_int_equal(file->memory != NULL, way % 2);
        assert_int_equal(graph_check(g, &(struct graph_report){0}, NULL), PAUA_OK);
        again = graph_file_ref(file);
        graph_file_unref(file);
        walk(&again->graph);
        graph_file_unref(again);
    }
    graph_file_unref(NULL);
}

static void saved_again_after_opening_a_graph_has_the_same_bytes(void **state)
{
    struct fixture *f = *state;

    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        struct graph_file *file = NULL;
        struct bytes bytes;
        struct file_ref ref;

        assert_int_equal(open_graph(f, &f->ref, no_mmap != 0, PAUA_VERIFY_TOUCH, &file, NULL),
                         PAUA_OK);
        assert_int_equal(graph_file_write(f->temp->dir, &HEADER, &file->graph, &file->params,
                                          file->codes_crc, &ref, NULL),
                         PAUA_OK);
        bytes = temp_read(f->temp, NAME);
        assert_int_equal(bytes.nbytes, f->bytes.nbytes);
        assert_memory_equal(bytes.data, f->bytes.data, bytes.nbytes);
        assert_int_equal(ref.footer_crc, f->ref.footer_crc);
        graph_file_unref(file);
        free(bytes.data);
    }
}

static void a_graph_without_copies_of_one_row_is_written(void **state)
{
    static const uint32_t alone[STRIDE] = {0};
    struct graph graph = {.rows = 1, .degree = 4, .stride = STRIDE, .neighbours = alone};
    struct graph_params params = {.degree = 4, .list = 1, .occlusion = 1, .alpha = 1};
    struct fixture *f = *state;
    struct graph_file *opened = NULL;
    struct data_file *file;
    struct file_ref ref;

    assert_int_equal(graph_file_write(f->temp->dir, &HEADER, &graph, &params, 0, &ref, NULL),
                     PAUA_OK);
    assert_int_equal(
        data_file_open_sealed(f->temp->dir, &HEADER, &ref, (struct data_file_opts){0}, &file, NULL),
        PAUA_OK);
    assert_int_equal(graph_file_open(file, 2, &opened, NULL), PAUA_ECORRUPT);
    assert_null(opened);
    assert_int_equal(graph_file_open(file, 1, &opened, NULL), PAUA_OK);
    data_file_unref(file);
    assert_int_equal(opened->graph.copy_count, 0);
    graph_file_unref(opened);
}

/* Refused with the file's name, or safe to walk. */
static paua_status open_any_way(const struct fixture *f, const struct file_ref *ref,
                                paua_verify verify)
{
    struct graph_file *file = NULL;
    paua_error err = {0};
    paua_status status = open_graph(f, ref, true, verify, &file, &err);

    if (status == PAUA_OK) {
        graph_check(&file->graph, &(struct graph_report){0}, NULL);
        walk(&file->graph);
        graph_file_unref(file);
        return PAUA_OK;
    }
    assert_null(file);
    assert_non_null(strstr(err.message, NAME));
    assert_true(status == PAUA_ECORRUPT || status == PAUA_EVERSION);
    return status;
}

static void every_flipped_bit_is_refused_where_pages_are_verified(void **state)
{
    struct fixture *f = *state;

    for (size_t bit = 0; bit < 8 * f->bytes.nbytes; bit++) {
        struct graph_file *file = NULL;

        forge_flip(f->temp->dir, NAME, bit / 8, (uint8_t)(1u << bit % 8));
        if (open_graph(f, &f->ref, bit % 2 != 0, PAUA_VERIFY_TOUCH, &file, NULL) == PAUA_OK)
            fail_msg("bit %zu", bit);
        forge_flip(f->temp->dir, NAME, bit / 8, (uint8_t)(1u << bit % 8));
    }
}

/* One bit of each byte, another from byte to byte: a walk costs a training. */
static void flipped_bits_are_refused_or_harmless_where_pages_are_trusted(void **state)
{
    struct fixture *f = *state;
    size_t refused = 0, used = 0;

    for (size_t at = 0; at < f->bytes.nbytes; at++) {
        forge_flip(f->temp->dir, NAME, at, (uint8_t)(1u << at % 8));
        if (open_any_way(f, &f->ref, PAUA_VERIFY_HEADER) == PAUA_OK)
            used++;
        else
            refused++;
        forge_flip(f->temp->dir, NAME, at, (uint8_t)(1u << at % 8));
    }
    assert_true(refused > 200 && used > 20);
}

static void every_other_length_is_refused(void **state)
{
    struct fixture *f = *state;
    size_t most = f->bytes.nbytes + 100;
    uint8_t *longer = calloc(most, 1);

    assert_non_null(longer);
    memcpy(longer, f->bytes.data, f->bytes.nbytes);
    temp_write(f->temp, NAME, longer, most);
    for (size_t length = most; length > 0; length--) {
        struct file_ref ref = f->ref;

        forge_cut(f->temp->dir, NAME, length);
        if (length == f->bytes.nbytes) continue;
        assert_int_equal(open_any_way(f, &f->ref, PAUA_VERIFY_HEADER), PAUA_ECORRUPT);
        ref.nbytes = length; /* the catalogue says so too */
        assert_int_equal(open_any_way(f, &ref, PAUA_VERIFY_HEADER), PAUA_ECORRUPT);
    }
    free(longer);
}

static void a_missing_or_exchanged_file_is_refused(void **state)
{
    struct fixture *f = *state;
    struct file_ref newer;

    f->graph.entry = 8;
    assert_int_equal(
        graph_file_write(f->temp->dir, &HEADER, &f->graph, &PARAMS, CODES_CRC, &newer, NULL),
        PAUA_OK);
    assert_int_equal(open_any_way(f, &newer, PAUA_VERIFY_TOUCH), PAUA_OK);
    assert_int_equal(open_any_way(f, &f->ref, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
    assert_int_equal(dir_unlink(f->temp->dir, NAME, NULL), PAUA_OK);
    assert_int_equal(open_any_way(f, &newer, PAUA_VERIFY_TOUCH), PAUA_ECORRUPT);
}

static void take(const struct fixture *f, struct forged *forged)
{
    struct data_file *file;

    temp_write(f->temp, NAME, f->bytes.data, f->bytes.nbytes);
    assert_int_equal(data_file_open_sealed(f->temp->dir, &HEADER, &f->ref,
                                           (struct data_file_opts){0}, &file, NULL),
                     PAUA_OK);
    forge_take(forged, file);
    data_file_unref(file);
    assert_int_equal(forged->count, 3);
}

/* Whether what was forged is refused, with good checksums everywhere. */
static bool refused(const struct fixture *f, const struct forged *forged)
{
    struct file_ref ref = forge_write(forged, f->temp->dir);
    bool refused = open_any_way(f, &ref, PAUA_VERIFY_TOUCH) == PAUA_ECORRUPT;

    assert_int_equal(open_any_way(f, &ref, PAUA_VERIFY_HEADER) == PAUA_ECORRUPT, refused);
    return refused;
}

static void a_section_that_is_missing_misplaced_or_of_another_length_is_refused(void **state)
{
    struct fixture *f = *state;
    struct forged forged;

    take(f, &forged);
    assert_false(refused(f, &forged));
    forge_free(&forged);
    for (uint32_t i = 0; i < 3; i++)
        for (int how = 0; how < 5; how++) {
            struct forged_section *section;

            take(f, &forged);
            section = &forged.sections[i];
            if (how == 0) section->id = 60;
            if (how == 1) section->gap = 4;
            if (how == 2) section->gap = 32;
            if (how == 3) forge_resize(section, section->nbytes + 4);
            if (how == 4) forge_resize(section, section->nbytes - 4);
            if (!refused(f, &forged)) fail_msg("section %u, %d", section->id, how);
            forge_free(&forged);
        }
}

static void a_record_that_does_not_fit_its_file_is_refused(void **state)
{
    static const struct {
        size_t at, width;
        uint64_t value;
    } cases[] = {
        {12, 4, ROWS - 1}, {12, 4, ROWS + 1}, {12, 4, 0x80000000}, {16, 4, 17},      {16, 4, 3},
        {20, 4, 32},       {24, 4, ROWS},     {24, 4, 4},          {28, 4, 2},       {28, 4, 4},
        {28, 4, 0},        {32, 4, 0},        {40, 4, 0x7FC00000}, {48, 8, 1000000},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct forged forged;

        take(f, &forged);
        forge_record(forge_section(&forged, SECTION_GRAPH), cases[i].at, cases[i].value,
                     cases[i].width);
        if (!refused(f, &forged)) fail_msg("case %zu", i);
        forge_free(&forged);
    }
}

static void a_newer_record_is_told_apart_from_damage(void **state)
{
    struct fixture *f = *state;
    struct forged forged;
    struct file_ref ref;

    take(f, &forged);
    forge_record(forge_section(&forged, SECTION_GRAPH), 4, 2, 2);
    ref = forge_write(&forged, f->temp->dir);
    assert_int_equal(open_any_way(f, &ref, PAUA_VERIFY_TOUCH), PAUA_EVERSION);
    forge_free(&forged);
}

static void a_file_of_other_rows_is_refused(void **state)
{
    struct fixture *f = *state;
    struct forged forged;

    take(f, &forged);
    forged.row_count++;
    assert_true(refused(f, &forged));
    forge_free(&forged);
}

static void a_neighbour_that_is_no_row_is_refused_wherever_it_stands(void **state)
{
    static const uint32_t values[] = {ROWS, ROWS + 1, 0x80000000u, UINT32_MAX};
    struct fixture *f = *state;
    struct forged forged;
    struct forged_section *lists;

    take(f, &forged);
    lists = forge_section(&forged, SECTION_NEIGHBOURS);
    for (size_t i = 0; i < ROWS * STRIDE; i++) {
        uint32_t before;

        memcpy(&before, lists->bytes + 4 * i, 4);
        memcpy(lists->bytes + 4 * i, &values[i % 4], 4);
        if (!refused(f, &forged)) fail_msg("place %zu", i);
        memcpy(lists->bytes + 4 * i, &before, 4);
    }
    forge_free(&forged);
}

/* Lists of nonsense: one id everywhere, ids in twos, and at random. */
static void lists_that_make_no_sense_are_harmless(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 5;

    for (int how = 0; how < 6; how++) {
        struct forged forged;
        struct forged_section *lists;

        take(f, &forged);
        lists = forge_section(&forged, SECTION_NEIGHBOURS);
        for (uint32_t i = 0; i < ROWS * STRIDE; i++) {
            uint32_t id = how == 0 ? ROWS - 1 : how == 1 ? i / 2 % ROWS : random_next(&seed) % ROWS;

            memcpy(lists->bytes + 4 * (size_t)i, &id, 4);
        }
        assert_false(refused(f, &forged));
        forge_free(&forged);
    }
}

static void copies_that_are_not_in_order_or_not_of_rows_are_refused(void **state)
{
    static const struct graph_copy wrong[][3] = {
        {{9, 2}, {7, 2}, {4, 3}},           /* rows fall */
        {{7, 2}, {7, 2}, {4, 3}},           /* twice */
        {{4, 3}, {7, 2}, {9, 2}},           /* of falls */
        {{7, 2}, {9, 2}, {7, 3}},           /* a copy of two */
        {{7, 2}, {9, 7}, {11, 8}},          /* of a copy */
        {{2, 2}, {9, 2}, {4, 3}},           /* of itself */
        {{2, 7}, {9, 7}, {10, 7}},          /* of a later row */
        {{7, 2}, {9, 2}, {ROWS, 3}},        /* no row */
        {{7, 2}, {9, 2}, {UINT32_MAX, 3}},  /* no row */
        {{7, 2}, {9, 2}, {ROWS, ROWS - 1}}, /* no row */
        {{6, 2}, {9, 2}, {4, 3}},           /* the entry */
    };
    struct fixture *f = *state;
    struct forged forged;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        take(f, &forged);
        memcpy(forge_section(&forged, SECTION_COPIES)->bytes, wrong[i], sizeof wrong[i]);
        if (!refused(f, &forged)) fail_msg("case %zu", i);
        forge_free(&forged);
    }
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct file_ref ref = {.number = 77};
    unsigned n = 1;

    assert_int_equal(dir_unlink(f->temp->dir, NAME, NULL), PAUA_OK);
    for (paua_status status = PAUA_ENOSPACE; status != PAUA_OK; n++) {
        sys_fail_after(n, ENOSPC);
        status = graph_file_write(f->temp->dir, &HEADER, &f->graph, &PARAMS, CODES_CRC, &ref, NULL);
        sys_restore();
        assert_true(status == PAUA_OK || status == PAUA_ENOSPACE);
        assert_int_equal(temp_count(f->temp), status == PAUA_OK ? 1 : 0);
        assert_int_equal(ref.number, status == PAUA_OK ? 11 : 77);
    }
    assert_true(n > 5);
}

static void a_limit_on_file_sizes_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct rlimit before, limit;
    struct file_ref ref;
    paua_status status;

    assert_int_equal(dir_unlink(f->temp->dir, NAME, NULL), PAUA_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 700;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    status = graph_file_write(f->temp->dir, &HEADER, &f->graph, &PARAMS, CODES_CRC, &ref, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, PAUA_OK);
    assert_int_equal(temp_count(f->temp), 0);
}

static void running_out_of_memory_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct graph_file *file = NULL;
    struct file_ref ref;
    paua_status status = PAUA_ENOMEM;

    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = open_graph(f, &f->ref, n % 2 != 0, PAUA_VERIFY_TOUCH, &file, NULL);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
        assert_true((file != NULL) == (status == PAUA_OK));
    }
    graph_file_unref(file);
    assert_int_equal(dir_unlink(f->temp->dir, NAME, NULL), PAUA_OK);
    status = PAUA_ENOMEM;
    for (uint64_t n = 1; status != PAUA_OK; n++) {
        mem_fail_after(n);
        status = graph_file_write(f->temp->dir, &HEADER, &f->graph, &PARAMS, CODES_CRC, &ref, NULL);
        mem_fail_after(0);
        assert_true(status == PAUA_OK || status == PAUA_ENOMEM);
        assert_int_equal(temp_count(f->temp), status == PAUA_OK ? 1 : 0);
    }
}

int main(void)
{
#define WRITTEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WRITTEN(a_graph_comes_back_as_it_was_written),
        WRITTEN(saved_again_after_opening_a_graph_has_the_same_bytes),
        WRITTEN(a_graph_without_copies_of_one_row_is_written),
        WRITTEN(every_flipped_bit_is_refused_where_pages_are_verified),
        WRITTEN(flipped_bits_are_refused_or_harmless_where_pages_are_trusted),
        WRITTEN(every_other_length_is_refused),
        WRITTEN(a_missing_or_exchanged_file_is_refused),
        WRITTEN(a_section_that_is_missing_misplaced_or_of_another_length_is_refused),
        WRITTEN(a_record_that_does_not_fit_its_file_is_refused),
        WRITTEN(a_newer_record_is_told_apart_from_damage),
        WRITTEN(a_file_of_other_rows_is_refused),
        WRITTEN(a_neighbour_that_is_no_row_is_refused_wherever_it_stands),
        WRITTEN(lists_that_make_no_sense_are_harmless),
        WRITTEN(copies_that_are_not_in_order_or_not_of_rows_are_refused),
        WRITTEN(a_full_disk_leaves_nothing),
        WRITTEN(a_limit_on_file_sizes_leaves_nothing),
        WRITTEN(running_out_of_memory_changes_nothing),
    };

    return cmocka_run_group_tests_name("index/graph_file", tests, NULL, NULL);
}
