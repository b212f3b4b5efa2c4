/* model_layout.c - from bits a segment to fields, lines and groups.
 *
 * Bits      A dynamic program over segments and bits: best[s][b] is the least cost of the first s
 *           segments in b bits. 32 segments of 2,048 dimensions are nothing; 1,024 segments of
 *           65,535 take a fifth of a second and 8 MiB.
 * Fields    A width that is no power of two is cut into fields that are: 5 bits are a field of 4
 *           and one of 1. sigma of the upper is the lower's times 2^(bits below), and since a code
 *           stands for its distance from the middle, the sum of what the fields stand for is what
 *           the whole code stands for. Kernels need not know.
 * Lines     Fields packed largest first fill 8-bit lines without gaps and never straddle two.
 * Groups    At most CODE_GROUPS runs of segments. A query's values share one 8-bit scale in a
 *           group, so runs are cut where the logarithms of sigma differ least within them. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "index/model_private.h"

/* Some 8 to 16 segments, by powers of two; near that, the lane that leaves least of the budget:
 * codes are whole lines. */
uint32_t layout_lane(uint32_t dim, uint32_t budget)
{
    uint32_t usual = dim >= 512 ? 64 : dim >= 256 ? 32 : dim >= 128 ? 16 : 8, best = usual;

    for (uint32_t lane = usual; lane <= CODE_LINE_NBYTES && lane < 2 * usual; lane++)
        if (budget % lane < budget % best) best = lane;
    for (uint32_t lane = usual - 1; lane >= usual / 4 * 3; lane--)
        if (budget % lane < budget % best) best = lane;
    return best;
}

uint32_t model_budget(paua_precision precision, uint32_t dim)
{
    uint32_t nbytes = precision == PAUA_INT8 ? dim : precision == PAUA_INT2 ? dim / 4 : dim / 2;

    return nbytes > 16 ? nbytes : 16;
}

static bool allowed(uint32_t widths, uint32_t width) { return (widths >> width & 1) != 0; }

/* One step of the program: next[b] from best[.], with a segment of these costs. */
static void assign_segment(const double *cost, uint32_t allow, uint32_t bits, const double *best,
                           double *next, uint8_t *chosen)
{
    for (uint32_t b = 0; b <= bits; b++) {
        next[b] = INFINITY;
        for (uint8_t w = 0; w < LAYOUT_WIDTHS && w <= b; w++) {
            double c = best[b - w] + cost[w];

            if (!allowed(allow, w) || c >= next[b]) continue;
            next[b] = c;
            chosen[b] = w;
        }
    }
}

bool layout_assign(const double (*cost)[LAYOUT_WIDTHS], uint32_t segments, uint32_t allow,
                   uint32_t bits, uint8_t *widths)
{
    size_t columns = (size_t)bits + 1;
    double *best = mem_zalloc(columns, sizeof *best), *next = mem_zalloc(columns, sizeof *next);
    uint8_t *chosen = mem_zalloc(segments * columns, 1);
    bool ok = best != NULL && next != NULL && chosen != NULL;

    assert(segments > 0 && bits > 0);
    for (uint32_t s = 0; ok && s < segments; s++) {
        assign_segment(cost[s], allow, bits, best, next, chosen + s * columns);
        memcpy(best, next, columns * sizeof *best);
    }
    for (uint32_t s = segments, b = bits; ok && s-- > 0;) {
        widths[s] = chosen[s * columns + b];
        b -= widths[s];
        if (s == 0 && b == bits) widths[0] = 1;
    }
    mem_free(best);
    mem_free(next);
    mem_free(chosen);
    return ok;
}

static void place(struct code_field *fields, uint32_t count, struct code_layout *layout)
{
    uint32_t bits = 0;

    for (uint32_t width = 8; width > 0; width /= 2)
        for (uint32_t f = 0; f < count; f++) {
            if (fields[f].width != width) continue;
            fields[f].offset = bits / 8 * layout->lane;
            fields[f].shift = (uint8_t)(bits % 8);
            bits += width;
        }
    layout->nbytes = (bits + 7) / 8 * layout->lane;
}

/* Sums of log sigma and of its square over the used segments up to each; how many there are. */
static uint32_t log_sums(uint32_t segments, const uint8_t *widths, const float *sigma, double *sums)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < segments; s++) {
        double l = log(sigma[s]);

        if (widths[s] == 0) continue;
        sums[2 * n + 2] = sums[2 * n] + l;
        sums[2 * n + 3] = sums[2 * n + 1] + l * l;
        n++;
    }
    return n;
}

/* Squared deviation of log sigma in segments first .. end - 1, and a little for uneven groups. */
static double unlikeness(const double *sums, uint32_t count, uint32_t first, uint32_t end)
{
    const double *a = sums + 2 * (size_t)first, *b = sums + 2 * (size_t)end;
    double n = end - first, sum = b[0] - a[0], squares = b[1] - a[1];

    return n == 0 ? 0 : squares - sum * sum / n + 0.01 * n * n / count;
}

/* The two places to cut n used segments at, that leave least within the groups. */
static void cut(const double *sums, uint32_t n, uint32_t *first, uint32_t *second)
{
    double least = INFINITY;

    for (uint32_t i = 1; i <= n; i++)
        for (uint32_t j = i; j <= n; j++) {
            double c =
                unlikeness(sums, n, 0, i) + unlikeness(sums, n, i, j) + unlikeness(sums, n, j, n);

            if (c >= least || (j == i && i < n)) continue;
            least = c;
            *first = i;
            *second = j;
        }
}

static uint32_t count_fields(uint32_t segments, const uint8_t *widths)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < segments; s++)
        count += (uint32_t)__builtin_popcount(widths[s]);
    return count;
}

/* The fields of one segment, the upper ones first. */
static uint32_t split(const struct code_field *whole, float sigma, float spread,
                      struct code_field *fields, struct plane_model *plane, uint32_t f)
{
    uint32_t below = whole->width;

    for (uint8_t width = 8; width > 0; width /= 2) {
        if ((whole->width & width) == 0) continue;
        below -= width;
        fields[f] = *whole;
        fields[f].width = width;
        plane->sigma[f] = sigma * (float)(1u << below);
        plane->spread[f] = spread;
        f++;
    }
    return f;
}

bool plane_make(struct plane_model *plane, uint32_t lane, uint32_t segments, const uint8_t *widths,
                const float *sigma, const float *spread)
{
    uint32_t count = count_fields(segments, widths), first = 0, second = 0, used = 0, f = 0;
    struct plane_model made = {.layout = {.lane = lane, .field_count = count}};
    struct code_field *fields = mem_zalloc(count + 1u, sizeof *fields);
    struct code_step *steps = mem_zalloc(count + 1u, sizeof *steps);
    double *sums = mem_zalloc(2 * ((size_t)segments + 1), sizeof *sums);
    bool ok;

    made.layout.fields = fields;
    made.layout.steps = steps;
    made.sigma = mem_zalloc(count + 1u, sizeof *made.sigma);
    made.spread = mem_zalloc(count + 1u, sizeof *made.spread);
    ok = fields != NULL && steps != NULL && made.sigma != NULL && made.spread != NULL &&
         sums != NULL;
    if (ok) cut(sums, log_sums(segments, widths, sigma, sums), &first, &second);
    for (uint32_t s = 0; ok && s < segments; s++) {
        struct code_field whole = {.width = widths[s], .segment = s};

        if (widths[s] == 0) continue;
        whole.group = (uint8_t)((used >= first) + (used >= second));
        f = split(&whole, sigma[s], spread[s], fields, &made, f);
        used++;
    }
    mem_free(sums);
    if (!ok || count == 0) {
        plane_free(&made);
        if (ok) plane->layout = (struct code_layout){.lane = lane};
        return ok;
    }
    place(fields, count, &made.layout);
    code_layout_join(&made.layout, fields, steps);
    made.group_count = fields[count - 1].group + 1u;
    *plane = made;
    return true;
}

void plane_free(struct plane_model *plane)
{
    mem_free((void *)(uintptr_t)plane->layout.fields);
    mem_free((void *)(uintptr_t)plane->layout.steps);
    mem_free(plane->sigma);
    mem_free(plane->spread);
    *plane = (struct plane_model){0};
}
