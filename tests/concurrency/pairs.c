/* pairs.c - see pairs.h. A key is writer << 16 | pair << 1 | side. */
#include "concurrency/pairs.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DELETE_EVERY 8u
#define ROWS_MAX (PAIRS_WRITERS_MAX * PAIRS_EACH * 2)

/* What was seen of each row: its version, or 0. */
struct sight {
    uint32_t versions[PAIRS_WRITERS_MAX][PAIRS_EACH][2];
    uint32_t from[PAIRS_WRITERS_MAX][PAIRS_EACH]; /* committed before the read */
};

static uint64_t key_of(uint32_t writer, uint32_t pair, uint32_t side)
{
    return (uint64_t)writer << 16 | pair << 1 | side;
}

static bool deleted_in(uint32_t round) { return round % DELETE_EVERY == 0; }

static void vector_of(uint64_t key, uint32_t version, float vector[PAIRS_DIM])
{
    for (uint32_t i = 0; i < PAIRS_DIM; i++)
        vector[i] = (float)((key * 7 + version * (i + 1)) % 1021);
}

void pairs_create(paua_db *db, const char *name, paua_collection **collection)
{
    static const paua_vector_field field = {
        .name = "v", .dim = PAIRS_DIM, .metric = PAUA_L2, .precision = PAUA_FP32};
    paua_schema schema = {.size = sizeof schema,
                          .key_kind = PAUA_KEY_U64,
                          .document = PAUA_DOCUMENT_TEXT,
                          .fields = &field,
                          .field_count = 1};

    MUST(paua_collection_create(db, name, &schema, collection, &err));
}

static void pair_put(paua_collection *collection, const uint64_t keys[2], uint32_t version)
{
    float vectors[2][PAIRS_DIM];
    char texts[2][64];
    paua_bytes documents[2];
    paua_vectors field = {.data = vectors[0]};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = 2, .u64 = keys},
                      .vectors = &field,
                      .vectors_count = 1,
                      .documents = documents};
    paua_write_opts opts = {.size = sizeof opts, .all_or_nothing = true};

    for (uint32_t side = 0; side < 2; side++) {
        int length = snprintf(texts[side], sizeof texts[side], "key %llu version %u",
                              (unsigned long long)keys[side], version);

        documents[side] = (paua_bytes){texts[side], (size_t)length};
        vector_of(keys[side], version, vectors[side]);
    }
    MUST(paua_upsert(collection, &rows, &opts, NULL, &err));
}

static void pair_delete(paua_collection *collection, const uint64_t keys[2], bool again)
{
    paua_keys both = {.count = 2, .u64 = keys};
    paua_write_opts opts = {.size = sizeof opts, .all_or_nothing = true};

    paua_error err = {.message = ""};
    paua_status status = paua_delete(collection, &both, &opts, NULL, &err);

    if (status != PAUA_OK && !(again && status == PAUA_ENOTFOUND))
        world_fail(__FILE__, __LINE__, err.message);
}

void pairs_write(paua_collection *collection, struct pairs_marks *marks, uint32_t writer,
                 uint32_t round)
{
    for (uint32_t pair = 0; pair < PAIRS_EACH; pair++) {
        uint64_t keys[2] = {key_of(writer, pair, 0), key_of(writer, pair, 1)};

        bool again = atomic_exchange(&marks->started[writer][pair], round) == round;

        if (deleted_in(round))
            pair_delete(collection, keys, again);
        else
            pair_put(collection, keys, round);
        atomic_store(&marks->committed[writer][pair], round);
    }
}

static void sight_begin(struct sight *sight, struct pairs_marks *marks)
{
    memset(sight, 0, sizeof *sight);
    for (uint32_t w = 0; marks != NULL && w < marks->writers; w++)
        for (uint32_t p = 0; p < PAIRS_EACH; p++)
            sight->from[w][p] = atomic_load(&marks->committed[w][p]);
}

/* Takes one row in; its key, vector and document must be of one version. */
static void sight_row(struct sight *sight, uint64_t key, const float *vector, paua_bytes document)
{
    uint32_t writer = (uint32_t)(key >> 16), pair = (uint32_t)(key >> 1 & 0x7FFF), version;
    unsigned long long named;
    float expected[PAIRS_DIM];
    char text[64];

    CHECK(writer < PAIRS_WRITERS_MAX && pair < PAIRS_EACH);
    CHECK(document.data != NULL && document.nbytes < sizeof text);
    memcpy(text, document.data, document.nbytes);
    text[document.nbytes] = '\0';
    CHECK(sscanf(text, "key %llu version %u", &named, &version) == 2);
    CHECK(named == key && version > 0 && !deleted_in(version));
    CHECK(sight->versions[writer][pair][key & 1] == 0); /* once in a snapshot */
    sight->versions[writer][pair][key & 1] = version;
    if (vector == NULL) return;
    vector_of(key, version, expected);
    CHECK(memcmp(vector, expected, sizeof expected) == 0);
}

/* There must have been a moment between the marks at which the pair was as seen. */
static void judge_time(const struct sight *sight, struct pairs_marks *marks, uint32_t writer,
                       uint32_t pair)
{
    uint32_t version = sight->versions[writer][pair][0], from = sight->from[writer][pair];
    uint32_t to = atomic_load(&marks->started[writer][pair]);
    bool timely = version >= from && version <= to;
    char text[128];

    for (uint32_t round = from; version == 0 && round <= to && !timely; round++)
        timely = round == 0 || deleted_in(round);
    if (timely) return;
    snprintf(text, sizeof text, "writer %u, pair %u: version %u was read between %u and %u", writer,
             pair, version, from, to);
    world_fail(__FILE__, __LINE__, text);
}

static void sight_judge(const struct sight *sight, struct pairs_marks *marks, uint32_t writers)
{
    for (uint32_t w = 0; w < writers; w++) {
        uint32_t newest = UINT32_MAX, first = 0;

        for (uint32_t p = 0; p < PAIRS_EACH; p++) {
            uint32_t version = sight->versions[w][p][0];

            CHECK(version == sight->versions[w][p][1]);
            if (marks != NULL) judge_time(sight, marks, w, p);
            if (version == 0) continue;
            if (first == 0) first = version;
            CHECK(version <= newest && version + 1 >= first);
            newest = version;
        }
    }
}

static void cursor_take(paua_cursor *cursor, struct sight *sight, uint32_t pause_ms)
{
    for (;;) {
        const paua_record *record;

        MUST(paua_cursor_next(cursor, &record, &err));
        if (record == NULL) break;
        if (record->found) sight_row(sight, record->key.u64, record->vectors[0], record->document);
        if (pause_ms > 0) world_sleep_ms(pause_ms);
    }
    paua_cursor_close(cursor);
}

/* The snapshot is taken when the iteration opens, so the marks are read on both sides of that. */
static void iterate(paua_collection *collection, struct pairs_marks *marks, uint32_t pause_ms)
{
    struct sight sight;
    paua_cursor *cursor;

    sight_begin(&sight, marks);
    MUST(paua_iterate(collection, NULL, &cursor, &err));
    cursor_take(cursor, &sight, pause_ms);
    sight_judge(&sight, marks, marks->writers);
}

void pairs_iterate(paua_collection *collection, struct pairs_marks *marks)
{
    iterate(collection, marks, 0);
}

void pairs_iterate_slowly(paua_collection *collection, struct pairs_marks *marks, uint32_t pause_ms)
{
    iterate(collection, marks, pause_ms);
}

void pairs_iterate_any(paua_collection *collection, uint32_t writers)
{
    struct sight sight;
    paua_cursor *cursor;

    sight_begin(&sight, NULL);
    MUST(paua_iterate(collection, NULL, &cursor, &err));
    cursor_take(cursor, &sight, 0);
    sight_judge(&sight, NULL, writers);
}

void pairs_fetch(paua_collection *collection, struct pairs_marks *marks, uint32_t writer,
                 uint32_t pair)
{
    uint64_t keys[2] = {key_of(writer, pair, 1), key_of(writer, pair, 0)};
    paua_keys both = {.count = 2, .u64 = keys};
    struct sight sight;
    paua_cursor *cursor;

    sight_begin(&sight, marks);
    MUST(paua_fetch(collection, &both, NULL, &cursor, &err));
    cursor_take(cursor, &sight, 0);
    CHECK(sight.versions[writer][pair][0] == sight.versions[writer][pair][1]);
    judge_time(&sight, marks, writer, pair);
}

static double distance_of(uint64_t key, uint32_t version)
{
    float vector[PAIRS_DIM];
    double sum = 0;

    vector_of(key, version, vector);
    for (uint32_t i = 0; i < PAIRS_DIM; i++)
        sum += (double)vector[i] * (double)vector[i];
    return sum;
}

/* Every row is asked for, so that the hits are a whole snapshot. Components are small integers, so
 * the sums of their squares are exact. */
void pairs_search(paua_collection *collection, struct pairs_marks *marks, paua_hits *hits)
{
    static const float origin[PAIRS_DIM];
    paua_search_opts opts = {.size = sizeof opts, .k = ROWS_MAX};
    struct sight sight;
    double before = 0;

    sight_begin(&sight, marks);
    MUST(paua_search(collection, origin, 1, 0, &opts, hits, &err));
    for (size_t i = 0; i < paua_hits_count(hits, 0); i++) {
        paua_hit hit = paua_hits_at(hits, 0, i);
        uint32_t w = (uint32_t)(hit.key.u64 >> 16), p = (uint32_t)(hit.key.u64 >> 1 & 0x7FFF);
        double expected;
        paua_bytes document;

        MUST(paua_hits_document(hits, 0, i, &document, &err));
        sight_row(&sight, hit.key.u64, NULL, document);
        expected = distance_of(hit.key.u64, sight.versions[w][p][hit.key.u64 & 1]);
        CHECK(hit.distance == expected && hit.distance >= before);
        before = hit.distance;
    }
    sight_judge(&sight, marks, marks->writers);
}
