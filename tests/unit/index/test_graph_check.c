/* test_graph_check.c - every way in which a graph can be damaged is noticed, or only counted where
 * the header says so. */
#include "support/support.h"

#include <string.h>

#include "base/memory.h"
#include "index/graph.h"

#define ROWS 7u
#define DEGREE 4u
#define STRIDE 16u

/* Rows 0 to 4 in a ring both ways; 5 and 6 are copies of 1. */
struct ring {
    uint32_t lists[ROWS * STRIDE];
    struct graph_copy copies[2];
    struct graph graph;
};

static void ring_make(struct ring *ring)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t i = 0; i < STRIDE; i++)
            ring->lists[row * STRIDE + i] = row;
    for (uint32_t row = 0; row < 5; row++) {
        ring->lists[row * STRIDE] = (row + 1) % 5;
        ring->lists[row * STRIDE + 1] = (row + 4) % 5;
    }
    ring->copies[0] = (struct graph_copy){.row = 5, .of = 1};
    ring->copies[1] = (struct graph_copy){.row = 6, .of = 1};
    ring->graph = (struct graph){.rows = ROWS,
                                 .degree = DEGREE,
                                 .stride = STRIDE,
                                 .entry = 2,
                                 .neighbours = ring->lists,
                                 .copy_count = 2,
                                 .copies = ring->copies};
}

static void id_out_of_range(struct ring *r) { r->lists[0] = ROWS; }
static void id_far_out_of_range(struct ring *r) { r->lists[STRIDE] = UINT32_MAX; }
static void neighbour_twice(struct ring *r) { r->lists[1] = r->lists[0]; }
static void padding_before_the_end(struct ring *r) { r->lists[2 * STRIDE] = 2; }
static void padding_of_another_row(struct ring *r) { r->lists[3 * STRIDE - 1] = 0; }
static void list_longer_than_degree(struct ring *r)
{
    r->graph.copy_count = 0;
    for (uint32_t i = 0; i < DEGREE + 1; i++)
        r->lists[6 * STRIDE + i] = i;
}
static void copy_with_neighbours(struct ring *r) { r->lists[5 * STRIDE] = 0; }
static void copy_as_neighbour(struct ring *r) { r->lists[2] = 6; }
static void copy_of_itself(struct ring *r) { r->copies[1].of = 6; }
static void copy_of_a_later_row(struct ring *r)
{
    r->graph.copy_count = 1;
    r->copies[0] = (struct graph_copy){.row = 5, .of = 6};
}
static void copy_of_a_copy(struct ring *r) { r->copies[1].of = 5; }
static void copy_beyond_the_rows(struct ring *r) { r->copies[1].row = ROWS; }
static void copy_twice(struct ring *r) { r->copies[1] = (struct graph_copy){.row = 5, .of = 2}; }
static void copies_out_of_order_by_row(struct ring *r)
{
    r->copies[0].row = 6;
    r->copies[1].row = 5;
}
static void copies_out_of_order_by_of(struct ring *r) { r->copies[1].of = 0; }
static void copies_of_all_rows(struct ring *r)
{
    r->graph.rows = 2;
    r->graph.entry = 0;
}
static void entry_beyond_the_rows(struct ring *r) { r->graph.entry = ROWS; }
static void entry_that_is_a_copy(struct ring *r) { r->graph.entry = 5; }
static void entry_without_rows(struct ring *r)
{
    r->graph.rows = 0;
    r->graph.copy_count = 0;
}
static void degree_too_small(struct ring *r) { r->graph.degree = 3; }
static void degree_too_great(struct ring *r)
{
    r->graph.degree = GRAPH_DEGREE_MAX + 1;
    r->graph.stride = GRAPH_DEGREE_MAX + 16;
}
static void stride_of_another_degree(struct ring *r) { r->graph.stride = 32; }

static const struct {
    const char *name;
    void (*damage)(struct ring *ring);
} damages[] = {
    {"id out of range", id_out_of_range},
    {"id far out of range", id_far_out_of_range},
    {"neighbour twice", neighbour_twice},
    {"padding before the end", padding_before_the_end},
    {"padding of another row", padding_of_another_row},
    {"list longer than degree", list_longer_than_degree},
    {"copy with neighbours", copy_with_neighbours},
    {"copy as neighbour", copy_as_neighbour},
    {"copy of itself", copy_of_itself},
    {"copy of a later row", copy_of_a_later_row},
    {"copy of a copy", copy_of_a_copy},
    {"copy beyond the rows", copy_beyond_the_rows},
    {"copy twice", copy_twice},
    {"copies out of order by row", copies_out_of_order_by_row},
    {"copies out of order by of", copies_out_of_order_by_of},
    {"copies of all rows", copies_of_all_rows},
    {"entry beyond the rows", entry_beyond_the_rows},
    {"entry that is a copy", entry_that_is_a_copy},
    {"entry without rows", entry_without_rows},
    {"degree too small", degree_too_small},
    {"degree too great", degree_too_great},
    {"stride of another degree", stride_of_another_degree},
};

static void every_damage_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct graph_report report = {.edges = 123};
        struct ring ring;
        paua_status status;

        ring_make(&ring);
        damages[i].damage(&ring);
        test_err = (paua_error){0};
        status = graph_check(&ring.graph, &report, &test_err);
        if (status != PAUA_ECORRUPT || test_err.message[0] == '\0' || report.edges != 123)
            fail_msg("%s: %s", damages[i].name, paua_strstatus(status));
    }
}

static void a_valid_graph_is_counted(void **state)
{
    struct graph_report report;
    struct ring ring;

    (void)state;
    ring_make(&ring);
    assert_ok(graph_check(&ring.graph, &report, &test_err));
    assert_int_equal(report.edges, 10);
    assert_int_equal(report.most, 2);
    assert_int_equal(report.unreachable, 0);
}

static void rows_that_cannot_be_reached_are_counted_but_no_copies(void **state)
{
    struct graph_report report;
    struct ring ring;

    (void)state;
    ring_make(&ring);
    for (uint32_t row = 0; row < 5; row++) /* only upward, and nothing leads on from 3 */
        ring.lists[row * STRIDE + 1] = row;
    ring.lists[3 * STRIDE] = 3;
    assert_ok(graph_check(&ring.graph, &report, &test_err));
    assert_int_equal(report.edges, 4);
    assert_int_equal(report.unreachable, 3);
}

static void a_graph_without_rows_is_valid(void **state)
{
    struct graph graph = {.degree = 64, .stride = 64};
    struct graph_report report;

    (void)state;
    assert_ok(graph_check(&graph, &report, &test_err));
    assert_int_equal(report.edges, 0);
    assert_int_equal(report.unreachable, 0);
}

static void running_out_of_memory_is_reported(void **state)
{
    struct graph_report report = {.edges = 123};
    struct ring ring;

    (void)state;
    ring_make(&ring);
    for (uint64_t n = 1; n <= 3; n++) {
        mem_fail_after(n);
        assert_fails(graph_check(&ring.graph, &report, &test_err), PAUA_ENOMEM);
        mem_fail_after(0);
        assert_int_equal(report.edges, 123);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_damage_is_refused),
        cmocka_unit_test(a_valid_graph_is_counted),
        cmocka_unit_test(rows_that_cannot_be_reached_are_counted_but_no_copies),
        cmocka_unit_test(a_graph_without_rows_is_valid),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
