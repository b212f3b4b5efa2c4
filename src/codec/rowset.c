/* rowset.c - a set of row positions as stored.
 *
 * Fields of the record "PROW", version 1: u8 form, then to the end of the record
 *   form 0, runs     for each run of members: varint gap since the end of the run before (since 0
 *                    for the first run), varint length - 1. Nothing at all for the empty set.
 *   form 1, bitset   u32 first member, then one bit a row from it to the last member, lowest bit
 *                    first, zero bits filling the last byte.
 * The shorter form is written, runs if both are equally long. Every set has exactly one encoding:
 * numbers in their shortest form, no two runs that touch, a bitset that begins and ends with a
 * member, and never the longer form. The decoder refuses all else.
 *
 * Decoding passes over the bytes twice, first to check all of them, then to build the bitmap, so
 * that nothing is allocated for a set that will be refused. Marking allocates nothing, and once is
 * enough. Both forms are walked as runs.
 *
 * CRoaring allocates by itself and reports a failure only from some calls; the number of members
 * is compared at the end, to notice the others that return.
 * Cost: linear in the record, and for encoding in the number of members, of which runs are found
 * one by one. */
#include "codec/rowset.h"

#include "codec/record.h"

#define MAGIC 0x574F5250u /* "PROW" */
#define VERSION 1u
#define LIMIT_MAX (UINT64_C(1) << 32)

enum form { FORM_RUNS = 0, FORM_BITSET = 1 };

/* Members first to last, all of them. */
struct run {
    uint32_t first;
    uint32_t last;
};

/* Runs of a bitmap, of stored runs or of a stored bitset, one by one. */
struct walk {
    enum form form;
    struct reader runs;  /* FORM_RUNS: what is left */
    const uint8_t *bits; /* FORM_BITSET */
    uint64_t bit_count;
    uint32_t bits_first; /* row of bit 0 */
    uint64_t at;         /* FORM_RUNS: row after the last run; FORM_BITSET: next bit */
    bool broken;         /* FORM_RUNS: the bytes break the format */
};

/* What is needed to choose between the forms. */
struct extremes {
    uint64_t runs_nbytes; /* length of the form FORM_RUNS */
    uint64_t members;
    uint32_t first, last;
};

static size_t varint_nbytes(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static void count_run(struct extremes *e, struct run run)
{
    uint64_t gap = e->members == 0 ? run.first : (uint64_t)run.first - e->last - 1;

    e->runs_nbytes += varint_nbytes(gap) + varint_nbytes(run.last - run.first);
    if (e->members == 0) e->first = run.first;
    e->last = run.last;
    e->members += (uint64_t)run.last - run.first + 1;
}

static uint64_t bits_nbytes(const struct extremes *e) { return (e->last - e->first) / 8 + 1; }

static enum form shorter_form(const struct extremes *e)
{
    return 4 + bits_nbytes(e) < e->runs_nbytes ? FORM_BITSET : FORM_RUNS;
}

static bool bitmap_next_run(roaring_uint32_iterator_t *members, struct run *run)
{
    if (!members->has_value) return false;
    run->first = run->last = members->current_value;
    while (roaring_advance_uint32_iterator(members) && members->current_value == run->last + 1)
        run->last++;
    return true;
}

static void put_runs(struct writer *w, const roaring_bitmap_t *set)
{
    roaring_uint32_iterator_t members;
    uint64_t end = 0;
    struct run run;

    roaring_init_iterator(set, &members);
    while (bitmap_next_run(&members, &run)) {
        writer_varint(w, run.first - end);
        writer_varint(w, run.last - run.first);
        end = (uint64_t)run.last + 1;
    }
}

static void put_bitset(struct writer *w, const roaring_bitmap_t *set, const struct extremes *e)
{
    size_t nbytes = (size_t)bits_nbytes(e);
    roaring_uint32_iterator_t members;
    uint8_t *bits;

    writer_u32(w, e->first);
    bits = writer_room(w, nbytes);
    if (bits == NULL) return;
    memset(bits, 0, nbytes);
    roaring_init_iterator(set, &members);
    for (; members.has_value; roaring_advance_uint32_iterator(&members)) {
        uint32_t bit = members.current_value - e->first;

        bits[bit / 8] = (uint8_t)(bits[bit / 8] | 1u << bit % 8);
    }
}

paua_status rowset_encode(const roaring_bitmap_t *set, struct writer *w)
{
    struct extremes e = {0};
    roaring_uint32_iterator_t members;
    enum form form;
    struct run run;

    assert(set != NULL);
    roaring_init_iterator(set, &members);
    while (bitmap_next_run(&members, &run))
        count_run(&e, run);
    form = shorter_form(&e);

    record_begin(w, MAGIC, VERSION);
    writer_u8(w, (uint8_t)form);
    if (form == FORM_BITSET)
        put_bitset(w, set, &e);
    else
        put_runs(w, set);
    return record_end(w);
}

static inline uint64_t next_varint(struct reader *r)
{
    if (r->at < r->end && *r->at < 0x80) return *r->at++;
    return reader_varint(r);
}

static bool stored_next_run(struct walk *walk, uint64_t limit, struct run *run)
{
    uint64_t gap, more, first;

    if (reader_left(&walk->runs) == 0) return false;
    walk->broken = true; /* until all of this run has been checked */
    gap = next_varint(&walk->runs);
    more = next_varint(&walk->runs);
    if (walk->runs.short_read) return false;
    if (gap == 0 && walk->at > 0) return false;
    if (gap >= limit - walk->at) return false;
    first = walk->at + gap;
    if (more >= limit - first) return false;

    *run = (struct run){.first = (uint32_t)first, .last = (uint32_t)(first + more)};
    walk->at = first + more + 1;
    walk->broken = false;
    return true;
}

static bool bit_set(const struct walk *walk, uint64_t bit)
{
    return (walk->bits[bit / 8] >> bit % 8 & 1) != 0;
}

/* Bits from `bit` on, which is before the end: 64 less bit % 8 of them, zeros past the end. */
static uint64_t bits_from(const struct walk *walk, uint64_t bit)
{
    uint64_t left = (walk->bit_count + 7) / 8 - bit / 8;

    return bytes_get(walk->bits + bit / 8, left < 8 ? (size_t)left : 8) >> bit % 8;
}

static bool bits_next_run(struct walk *walk, struct run *run)
{
    uint64_t at = walk->at, first, bits = 0;

    while (at < walk->bit_count && (bits = bits_from(walk, at)) == 0)
        at += 64 - at % 8;
    if (at >= walk->bit_count) return false;
    at += (uint64_t)__builtin_ctzll(bits);
    first = at;
    while (at < walk->bit_count) {
        uint64_t known = 64 - at % 8, clear = ~bits_from(walk, at);
        uint64_t members = clear == 0 ? 64 : (uint64_t)__builtin_ctzll(clear);

        at += members;
        if (members < known) break;
    }
    walk->at = at;
    run->first = (uint32_t)(walk->bits_first + first);
    run->last = (uint32_t)(walk->bits_first + at - 1);
    return true;
}

/* The next run of a walk; false at its end, or at the first byte that breaks the format. */
static bool walk_next(struct walk *walk, uint64_t limit, struct run *run)
{
    return walk->form == FORM_BITSET ? bits_next_run(walk, run) : stored_next_run(walk, limit, run);
}

/* Begins to walk what r holds after the form. False if it cannot be a set below limit. */
static bool walk_begin(struct walk *walk, enum form form, struct reader r, uint64_t limit)
{
    uint64_t nbytes;

    *walk = (struct walk){.form = form, .runs = r};
    if (form == FORM_RUNS) return true;
    if (form != FORM_BITSET) return false;

    walk->bits_first = reader_u32(&r);
    nbytes = reader_left(&r);
    if (r.short_read || nbytes == 0 || nbytes > LIMIT_MAX / 8 + 1) return false;
    walk->bits = r.at;
    walk->bit_count = 8 * nbytes;
    if (!bit_set(walk, 0) || walk->bits[nbytes - 1] == 0) return false;
    while (!bit_set(walk, walk->bit_count - 1))
        walk->bit_count--;
    return walk->bits_first < limit && walk->bit_count <= limit - walk->bits_first;
}

/* Checks every byte without allocating. walk is a copy and stays at the beginning. */
static bool walk_valid(struct walk walk, uint64_t limit, uint64_t *members)
{
    struct extremes e = {0};
    struct run run;

    while (walk_next(&walk, limit, &run))
        count_run(&e, run);
    if (walk.broken) return false;
    *members = e.members;
    return shorter_form(&e) == walk.form;
}

/* Begins to walk a record, the runs of which have not been looked at. */
static paua_status walk_open(struct walk *walk, const void *bytes, size_t length, uint64_t limit)
{
    struct reader r;
    enum form form;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    if (status != PAUA_OK) return status;
    form = (enum form)reader_u8(&r);
    return !r.short_read && walk_begin(walk, form, r, limit) ? PAUA_OK : PAUA_ECORRUPT;
}

paua_status rowset_decode(const void *bytes, size_t length, uint64_t limit, roaring_bitmap_t **set)
{
    uint64_t below = limit < LIMIT_MAX ? limit : LIMIT_MAX, members;
    roaring_bitmap_t *draft;
    struct walk walk;
    struct run run;
    paua_status status = walk_open(&walk, bytes, length, below);

    assert(set != NULL);
    if (status != PAUA_OK) return status;
    if (!walk_valid(walk, below, &members)) return PAUA_ECORRUPT;
    draft = roaring_bitmap_create();
    if (draft == NULL) return PAUA_ENOMEM;
    for (uint64_t added = 0; added < members; added += (uint64_t)run.last - run.first + 1) {
        bool more = walk_next(&walk, below, &run);

        assert(more);
        (void)more;
        roaring_bitmap_add_range_closed(draft, run.first, run.last);
    }
    if (roaring_bitmap_get_cardinality(draft) != members) {
        roaring_bitmap_free(draft);
        return PAUA_ENOMEM;
    }
    *set = draft;
    return PAUA_OK;
}

static void mark_run(uint64_t *words, struct run run)
{
    uint64_t first = ~UINT64_C(0) << run.first % 64, last = ~UINT64_C(0) >> (63 - run.last % 64);
    uint32_t at = run.first / 64, end = run.last / 64;

    if (at == end) {
        words[at] |= first & last;
        return;
    }
    words[at] |= first;
    memset(words + at + 1, 0xFF, (size_t)(end - at - 1) * sizeof words[0]);
    words[end] |= last;
}

paua_status rowset_mark(const void *bytes, size_t length, uint64_t limit, uint64_t *words,
                        uint64_t *members)
{
    uint64_t below = limit < LIMIT_MAX ? limit : LIMIT_MAX;
    struct extremes e = {0};
    struct walk walk;
    struct run run;
    paua_status status = walk_open(&walk, bytes, length, below);

    assert(words != NULL && members != NULL);
    if (status != PAUA_OK) return status;
    while (walk_next(&walk, below, &run)) {
        count_run(&e, run);
        mark_run(words, run);
    }
    if (walk.broken || shorter_form(&e) != walk.form) return PAUA_ECORRUPT;
    *members = e.members;
    return PAUA_OK;
}
