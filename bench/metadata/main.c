/* main.c - paua bench metadata: the column layer alone beside two plain stores.
 *
 * It asserts first: every value that it filters for is found in the same rows of all three stores,
 * and every row given out has the same bytes. Then it times each, the median of several runs, and
 * prints one JSON object. Times are this thread's on a processor: nothing here waits for anything,
 * and a machine that others use gives the same figures. live_bytes is what malloc gained while the
 * store was built, or the store's own count where that is more (blocks of a mebibyte are not
 * malloc's).
 * materialize gives out results that survive a later write: ours borrow, the plain ones must copy.
 * materialize_copy copies every row's keys and values into the caller's buffer, for all three. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stores.h"
#include "updates.h"
#include "workload.h"

#define AND_KEYS 4u
#define RUNS_MAX 101u
#define RUNS_OURS 21u
#define RUNS_PLAIN 3u
#define FILTERS_OURS 16u /* in a row, as one of ours is quicker than reading the clock */

struct options {
    const char *shape;
    uint32_t rows, keys, values;
};

/* One store's figures. */
struct figures {
    size_t live_nbytes;
    double build_ms, filter_us, and_us, materialize_ms, copy_ms;
};

void *checked(void *block)
{
    if (block != NULL) return block;
    fputs("paua-bench-metadata: out of memory\n", stderr);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double median(double *samples, unsigned count)
{
    qsort(samples, count, sizeof samples[0], by_value);
    return samples[count / 2];
}

static size_t heap_nbytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* ---- what all must agree on ---- */

static void disagree(const char *what, const char *prefix, uint32_t row)
{
    fprintf(stderr, "paua-bench-metadata: %s of the %sstore differ (row %u)\n", what, prefix, row);
    exit(1);
}

struct pair {
    paua_bytes key, value;
};

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    size_t common = x->key.nbytes < y->key.nbytes ? x->key.nbytes : y->key.nbytes;
    int order = memcmp(x->key.data, y->key.data, common);

    return order != 0 ? order : (x->key.nbytes > y->key.nbytes) - (x->key.nbytes < y->key.nbytes);
}

struct comparison {
    const struct workload *workload;
    const char *prefix;
    struct pair *sorted, *wanted;
};

/* A row's pairs in the order of keys are the workload's, byte for byte. */
static void compare_row(void *arg, uint32_t row, const paua_bytes *keys, const paua_value *values,
                        uint32_t count)
{
    struct comparison *c = arg;
    const struct workload *w = c->workload;
    uint32_t wanted = 0;

    for (uint32_t key = 0; key < w->keys; key++)
        if (workload_value(w, row, key).data != NULL)
            c->wanted[wanted++] = (struct pair){w->names[key], workload_value(w, row, key)};
    if (count != wanted) disagree("rows", c->prefix, row);
    if (count == 0) return;
    for (uint32_t i = 0; i < count; i++)
        c->sorted[i] = (struct pair){keys[i], values[i].as.bytes};
    qsort(c->sorted, count, sizeof c->sorted[0], by_key);
    qsort(c->wanted, count, sizeof c->wanted[0], by_key);
    for (uint32_t i = 0; i < count; i++) {
        const struct pair *a = &c->sorted[i], *b = &c->wanted[i];

        if (by_key(a, b) != 0 || a->value.nbytes != b->value.nbytes ||
            memcmp(a->value.data, b->value.data, a->value.nbytes) != 0)
            disagree("rows", c->prefix, row);
    }
}

static void check_rows(const struct store_kind *kind, struct store *store, const struct workload *w)
{
    struct comparison c = {.workload = w, .prefix = kind->prefix};

    c.sorted = checked(calloc(w->keys, sizeof c.sorted[0]));
    c.wanted = checked(calloc(w->keys, sizeof c.wanted[0]));
    kind->materialize(store, compare_row, &c);
    kind->walk(store, compare_row, &c);
    free(c.sorted);
    free(c.wanted);
}

/* Filters for values of some rows, and one that is nowhere. */
static void check_filters(const struct store_kind *kind, struct store *store,
                          const struct workload *w, uint64_t *bitmap)
{
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t key = i % w->keys, at = (uint32_t)((uint64_t)i * 7919 % w->rows);
        paua_bytes value = workload_value(w, at, key);

        if (i == 15 || value.data == NULL) value = (paua_bytes){"nowhere", 7};
        kind->filter(store, w->names[key], value, bitmap);
        for (uint32_t row = 0; row < w->rows; row++) {
            paua_bytes has = workload_value(w, row, key);
            bool wanted = has.data != NULL && has.nbytes == value.nbytes &&
                          memcmp(has.data, value.data, value.nbytes) == 0;

            if ((bitmap[row / 64] >> row % 64 & 1) != wanted)
                disagree("filters", kind->prefix, row);
        }
    }
}

/* ---- what is measured ---- */

static void take_row(void *arg, uint32_t row, const paua_bytes *keys, const paua_value *values,
                     uint32_t count)
{
    size_t *sum = arg, of_row = 0;

    (void)row;
    for (uint32_t i = 0; i < count; i++)
        of_row += keys[i].nbytes + values[i].as.bytes.nbytes;
    *sum += of_row;
}

struct copies {
    char *bytes; /* room for one row */
    size_t sum;
};

static void copy_row(void *arg, uint32_t row, const paua_bytes *keys, const paua_value *values,
                     uint32_t count)
{
    struct copies *copies = arg;
    char *to = copies->bytes;

    (void)row;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to, keys[i].data, keys[i].nbytes);
        to += keys[i].nbytes;
        memcpy(to, values[i].as.bytes.data, values[i].as.bytes.nbytes);
        to += values[i].as.bytes.nbytes;
    }
    copies->sum += (size_t)(to - copies->bytes);
}

static void filter_row(const struct store_kind *kind, struct store *store, const struct workload *w,
                       uint32_t key, uint64_t *bitmap)
{
    paua_bytes value = workload_value(w, w->rows / 2, key);

    if (value.data == NULL) value = (paua_bytes){"value_0", 7};
    kind->filter(store, w->names[key], value, bitmap);
}

static void and_rows(const struct store_kind *kind, struct store *store, const struct workload *w,
                     uint64_t *bitmap, uint64_t *other)
{
    filter_row(kind, store, w, 0, bitmap);
    for (uint32_t key = 1; key < AND_KEYS && key < w->keys; key++) {
        filter_row(kind, store, w, key, other);
        for (size_t i = 0; i < ((size_t)w->rows + 63) / 64; i++)
            bitmap[i] &= other[i];
    }
}

static void measure_reads(const struct store_kind *kind, struct store *store,
                          const struct workload *w, unsigned runs, uint64_t *bitmaps,
                          struct figures *figures)
{
    double filter[RUNS_MAX], both[RUNS_MAX], give[RUNS_MAX], copy[RUNS_MAX];
    struct copies copies = {.bytes = checked(malloc((size_t)w->keys * 64))};
    uint64_t *other = bitmaps + ((size_t)w->rows + 63) / 64;
    size_t sum = 0;

    for (unsigned run = 0; run < runs; run++) {
        unsigned filters = runs == RUNS_OURS ? FILTERS_OURS : 1;
        double t0, t1, t2, t3;

        filter_row(kind, store, w, run % w->keys, bitmaps); /* what ran before took the cache */
        t0 = now_us();
        for (unsigned i = 0; i < filters; i++)
            filter_row(kind, store, w, run % w->keys, bitmaps);
        t1 = now_us();
        for (unsigned i = 0; i < filters; i++)
            and_rows(kind, store, w, bitmaps, other);
        t2 = now_us();
        kind->materialize(store, take_row, &sum);
        t3 = now_us();
        kind->walk(store, copy_row, &copies);
        filter[run] = (t1 - t0) / filters;
        both[run] = (t2 - t1) / filters;
        give[run] = t3 - t2;
        copy[run] = now_us() - t3;
    }
    if (sum != copies.sum) disagree("sums", kind->prefix, 0);
    free(copies.bytes);
    figures->filter_us = median(filter, runs);
    figures->and_us = median(both, runs);
    figures->materialize_ms = median(give, runs) / 1e3;
    figures->copy_ms = median(copy, runs) / 1e3;
}

static struct figures measure(const struct store_kind *kind, const struct workload *w,
                              unsigned runs)
{
    uint64_t *bitmaps = checked(calloc(2 * (((size_t)w->rows + 63) / 64), sizeof bitmaps[0]));
    double builds[RUNS_MAX];
    struct figures figures = {0};
    struct store *store = NULL;
    size_t own;

    for (unsigned run = 0; run < runs; run++) {
        size_t before = heap_nbytes();
        double begin = now_us();

        store = kind->build(w);
        builds[run] = now_us() - begin;
        figures.live_nbytes = heap_nbytes() - before;
        if (run + 1 < runs) kind->free(store);
    }
    own = kind->nbytes(store);
    if (own > figures.live_nbytes) figures.live_nbytes = own;
    figures.build_ms = median(builds, runs) / 1e3;
    check_rows(kind, store, w);
    check_filters(kind, store, w, bitmaps);
    measure_reads(kind, store, w, runs, bitmaps, &figures);
    kind->free(store);
    free(bitmaps);
    return figures;
}

static void print(const char *prefix, const struct figures *f)
{
    printf(",\"%slive_bytes\":%zu,\"%sbuild_ms\":%.3f,\"%sfilter_us\":%.2f,\"%sand4_us\":%.2f,"
           "\"%smaterialize_ms\":%.3f,\"%smaterialize_copy_ms\":%.3f",
           prefix, f->live_nbytes, prefix, f->build_ms, prefix, f->filter_us, prefix, f->and_us,
           prefix, f->materialize_ms, prefix, f->copy_ms);
}

static void run_shape(const struct options *o)
{
    const struct store_kind *kinds[] = {&columns_kind, &owned_kind, &keyed_kind};
    bool updates = strcmp(o->shape, "updates") == 0;
    struct workload w;

    if (o->values == 0 || o->keys == 0 || o->rows == 0 ||
        !workload_make(updates ? "repeated" : o->shape, o->rows, o->keys, o->values, &w)) {
        fprintf(stderr,
                "paua-bench-metadata: unknown shape \"%s\", use repeated, distinct, names, "
                "sparse or updates\n",
                o->shape);
        exit(2);
    }
    printf("{\"shape\":\"%s\",\"rows\":%u,\"keys\":%u,\"values\":%u", o->shape, o->rows, o->keys,
           o->values);
    if (updates) {
        struct update_figures f = updates_run(&w, o->values);

        printf(",\"update_ms\":%.3f,\"early_live_bytes\":%zu,\"live_bytes\":%zu", f.round_ms,
               f.early_nbytes, f.late_nbytes);
    }
    for (unsigned i = 0; !updates && i < 3; i++) {
        struct figures f = measure(kinds[i], &w, i == 0 ? RUNS_OURS : RUNS_PLAIN);

        print(kinds[i]->prefix, &f);
    }
    printf("}\n");
    workload_free(&w);
}

static uint32_t number(const char *text)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > 100000000) {
        fprintf(stderr, "paua-bench-metadata: \"%s\" is not a number from 1 to 100000000\n", text);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"rows", required_argument, NULL, 'r'},
        {"keys", required_argument, NULL, 'k'},
        {"values", required_argument, NULL, 'v'},
        {"shape", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.shape = "repeated", .rows = 100000, .keys = 4, .values = 8};
    int option;

    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (option == 'r')
            o.rows = number(optarg);
        else if (option == 'k')
            o.keys = number(optarg);
        else if (option == 'v')
            o.values = number(optarg);
        else if (option == 's')
            o.shape = optarg;
        else
            return 2;
    }
    run_shape(&o);
    return 0;
}
