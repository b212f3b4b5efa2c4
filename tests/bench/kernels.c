/* kernels.c - how fast the inner loops run, tier by tier.
 *
 * Scans   GB/s of rows read, one thread, best of several passes: over 300 MB (memory's speed) and
 *         over 1 MB (the cache's). The line "bare read" only adds the bytes up as integers: it is
 *         what the same machine does at best in the same run.
 * Tile    GFLOPS of dot_tile, 1,024 queries of 768 against 25,000 rows, 2 flops for each pair of
 *         components, for several sizes of block: a block of rows stays in the cache while all 32
 *         packed panels of queries pass over it. Threads take alternate blocks.
 *
 * usage: kernels [scan | tile]      (both, when nothing is given) */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/kernel.h"

#define DIM ((size_t)768)
#define LARGE ((size_t)300 * 1000 * 1000)
#define SMALL ((size_t)1000 * 1000)
#define PANELS ((size_t)32)
#define TILE_ROWS ((size_t)25000)
#define BLOCK_MAX ((size_t)512)

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *aligned(size_t nbytes)
{
    void *block = aligned_alloc(64, (nbytes + 63) / 64 * 64);

    if (block == NULL) {
        fputs("kernels: out of memory\n", stderr);
        exit(1);
    }
    return block;
}

static void fill(float *values, size_t n)
{
    uint32_t seed = 1;

    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(int32_t)seed / 2147483648.0f;
    }
}

struct data {
    const struct kernels *k;
    const float *q;
    const void *f32, *f16;
    float *out, *norm;
};

static void bare_read(const struct data *d, size_t nbytes)
{
    static volatile uint64_t sink;
    const uint64_t *words = d->f32;
    uint64_t sum[8] = {0};

    for (size_t i = 0; i + 8 <= nbytes / 8; i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += words[i + j];
    for (size_t j = 0; j < 8; j++)
        sink += sum[j];
}

static void dot_f32(const struct data *d, size_t nbytes)
{
    d->k->dot_f32(d->q, d->f32, DIM * 4, nbytes / (DIM * 4), DIM, d->out);
}

static void dot_norm_f32(const struct data *d, size_t nbytes)
{
    d->k->dot_norm_f32(d->q, d->f32, DIM * 4, nbytes / (DIM * 4), DIM, d->out, d->norm);
}

static void l2sq_f32(const struct data *d, size_t nbytes)
{
    d->k->l2sq_f32(d->q, d->f32, DIM * 4, nbytes / (DIM * 4), DIM, d->out);
}

static void norm_f32(const struct data *d, size_t nbytes)
{
    d->k->norm_f32(d->f32, DIM * 4, nbytes / (DIM * 4), DIM, d->norm);
}

static void dot_f16(const struct data *d, size_t nbytes)
{
    d->k->dot_f16(d->q, d->f16, DIM * 2, nbytes / (DIM * 2), DIM, d->out);
}

static void dot_norm_f16(const struct data *d, size_t nbytes)
{
    d->k->dot_norm_f16(d->q, d->f16, DIM * 2, nbytes / (DIM * 2), DIM, d->out, d->norm);
}

static void l2sq_f16(const struct data *d, size_t nbytes)
{
    d->k->l2sq_f16(d->q, d->f16, DIM * 2, nbytes / (DIM * 2), DIM, d->out);
}

static void norm_f16(const struct data *d, size_t nbytes)
{
    d->k->norm_f16(d->f16, DIM * 2, nbytes / (DIM * 2), DIM, d->norm);
}

static void find_nonfinite(const struct data *d, size_t nbytes)
{
    if (d->k->find_nonfinite(d->f32, nbytes / 4) != nbytes / 4) abort();
}

static double best_gb_per_s(void (*pass)(const struct data *, size_t), const struct data *d,
                            size_t nbytes)
{
    size_t repeats = LARGE / nbytes;
    double best = 0;

    for (int attempt = 0; attempt < 5; attempt++) {
        double start = now_s();
        for (size_t i = 0; i < repeats; i++)
            pass(d, nbytes);
        double rate = (double)nbytes * (double)repeats / (now_s() - start) / 1e9;
        if (rate > best) best = rate;
    }
    return best;
}

static void bench_scans(void)
{
    static const struct {
        const char *name;
        void (*pass)(const struct data *, size_t);
    } kernels[] = {
        {"dot_f32", dot_f32},   {"dot_norm_f32", dot_norm_f32}, {"l2sq_f32", l2sq_f32},
        {"norm_f32", norm_f32}, {"dot_f16", dot_f16},           {"dot_norm_f16", dot_norm_f16},
        {"l2sq_f16", l2sq_f16}, {"norm_f16", norm_f16},         {"find_nonfinite", find_nonfinite},
    };
    float *q = aligned(DIM * 4), *f32 = aligned(LARGE), *out = aligned(LARGE / DIM * 2);
    float *norm = aligned(LARGE / DIM * 2);
    uint16_t *f16 = aligned(LARGE);

    fill(q, DIM);
    fill(f32, LARGE / 4);
    kernels_portable.f16_from_f32(f32, LARGE / 4, f16);
    memcpy(f16 + LARGE / 4, f16, LARGE / 2);

    struct data d = {&kernels_portable, q, f32, f16, out, norm};
    printf("| tier | kernel | GB/s, 300 MB | GB/s, 1 MB |\n| --- | --- | --- | --- |\n");
    printf("| - | bare read | %.1f | %.1f |\n", best_gb_per_s(bare_read, &d, LARGE),
           best_gb_per_s(bare_read, &d, SMALL));
    for (size_t tier = 0; (d.k = kernels_at(tier)) != NULL; tier++)
        for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
            printf("| %s | %s | %.1f | %.1f |\n", d.k->tier, kernels[i].name,
                   best_gb_per_s(kernels[i].pass, &d, LARGE),
                   best_gb_per_s(kernels[i].pass, &d, SMALL));
    free(q);
    free(f32);
    free(f16);
    free(out);
    free(norm);
}

struct tile_job {
    const struct kernels *k;
    const float *panels, *rows;
    size_t block;
    atomic_size_t next;
};

static void *tile_worker(void *arg)
{
    struct tile_job *job = arg;
    float *out = aligned(BLOCK_MAX * KERNEL_TILE_QUERIES * sizeof *out);

    for (;;) {
        size_t first = atomic_fetch_add(&job->next, job->block);
        if (first >= TILE_ROWS) break;
        size_t n = TILE_ROWS - first < job->block ? TILE_ROWS - first : job->block;
        for (size_t p = 0; p < PANELS; p++)
            job->k->dot_tile(job->panels + p * DIM * KERNEL_TILE_QUERIES, job->rows + first * DIM,
                             DIM * 4, n, DIM, out);
    }
    free(out);
    return NULL;
}

static double tile_gflops(struct tile_job *job, bool two_threads)
{
    double flops = 2.0 * (double)(PANELS * KERNEL_TILE_QUERIES) * (double)(TILE_ROWS * DIM);
    double best = 0;

    for (int attempt = 0; attempt < 5; attempt++) {
        pthread_t other;
        bool started = false;
        double start = now_s();
        atomic_store(&job->next, 0);
        if (two_threads) started = pthread_create(&other, NULL, tile_worker, job) == 0;
        tile_worker(job);
        if (started) pthread_join(other, NULL);
        double rate = flops / (now_s() - start) / 1e9;
        if (rate > best) best = rate;
    }
    return best;
}

static void bench_tile(void)
{
    static const size_t blocks[] = {84, 112, 126, 168, 192, 252, 504};
    float *panels = aligned(PANELS * DIM * KERNEL_TILE_QUERIES * 4);
    float *rows = aligned(TILE_ROWS * DIM * 4);

    fill(panels, PANELS * DIM * KERNEL_TILE_QUERIES);
    fill(rows, TILE_ROWS * DIM);
    printf("| tier | rows a block | GFLOPS, 1 thread | GFLOPS, 2 threads |\n"
           "| --- | --- | --- | --- |\n");
    for (size_t tier = 0; kernels_at(tier) != NULL; tier++) {
        bool slow = kernels_at(tier) == &kernels_portable;
        for (size_t i = 0; i < (slow ? 1 : sizeof blocks / sizeof blocks[0]); i++) {
            struct tile_job job = {kernels_at(tier), panels, rows, blocks[i], 0};
            double one = tile_gflops(&job, false);
            printf("| %s | %zu | %.1f | %.1f |\n", job.k->tier, blocks[i], one,
                   tile_gflops(&job, true));
        }
    }
    free(panels);
    free(rows);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "tile") != 0) bench_scans();
    if (strcmp(what, "scan") != 0) bench_tile();
    return 0;
}
