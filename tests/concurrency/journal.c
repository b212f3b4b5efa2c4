/* journal.c - see journal.h. */
#include "concurrency/journal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DIM 4u
#define KEY_NBYTES 24u

void journal_create(paua_db *db, const char *name, paua_collection **collection)
{
    static const paua_vector_field field = {
        .name = "v", .dim = DIM, .metric = PAUA_COSINE, .precision = PAUA_FP16};
    paua_schema schema = {.size = sizeof schema,
                          .key_kind = PAUA_KEY_STRING,
                          .document = PAUA_DOCUMENT_NONE,
                          .fields = &field,
                          .field_count = 1};

    MUST(paua_collection_create(db, name, &schema, collection, &err));
}

static void vector_of(uint32_t writer, uint32_t number, float vector[DIM])
{
    vector[0] = (float)writer;
    vector[1] = (float)(number & 0x7FF); /* 11 bits: exact in half precision */
    vector[2] = (float)(number >> 11);
    vector[3] = 1;
}

void journal_write(paua_collection *collection, struct journal_marks *marks, uint32_t writer,
                   uint32_t count)
{
    static _Thread_local char names[JOURNAL_BATCH_MAX][KEY_NBYTES];
    static _Thread_local float vectors[JOURNAL_BATCH_MAX][DIM];
    static _Thread_local paua_bytes keys[JOURNAL_BATCH_MAX];
    uint32_t first = atomic_load(&marks->committed[writer]);
    paua_vectors field = {.data = vectors[0]};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = count, .strings = keys},
                      .vectors = &field,
                      .vectors_count = 1};

    CHECK(count <= JOURNAL_BATCH_MAX);
    for (uint32_t i = 0; i < count; i++) {
        int length = snprintf(names[i], KEY_NBYTES, "%u.%u", writer, first + i);

        keys[i] = (paua_bytes){names[i], (size_t)length};
        vector_of(writer, first + i, vectors[i]);
    }
    MUST(paua_insert(collection, &rows, NULL, NULL, &err));
    atomic_store(&marks->committed[writer], first + count);
}

static void row_read(const paua_record *record, uint32_t next[JOURNAL_WRITERS_MAX])
{
    uint32_t writer, number;
    char text[KEY_NBYTES];
    float expected[DIM];

    CHECK(record->key.bytes.nbytes < sizeof text);
    memcpy(text, record->key.bytes.data, record->key.bytes.nbytes);
    text[record->key.bytes.nbytes] = '\0';
    CHECK(sscanf(text, "%u.%u", &writer, &number) == 2 && writer < JOURNAL_WRITERS_MAX);
    CHECK(number == next[writer]++);
    vector_of(writer, number, expected);
    CHECK(memcmp(record->vectors[0], expected, sizeof expected) == 0);
}

uint64_t journal_read(paua_collection *collection, struct journal_marks *marks)
{
    uint32_t committed[JOURNAL_WRITERS_MAX], next[JOURNAL_WRITERS_MAX] = {0};
    uint64_t rows = 0;
    paua_cursor *cursor;

    for (uint32_t w = 0; w < marks->writers; w++)
        committed[w] = atomic_load(&marks->committed[w]);
    MUST(paua_iterate(collection, NULL, &cursor, &err));
    for (;; rows++) {
        const paua_record *record;

        MUST(paua_cursor_next(cursor, &record, &err));
        if (record == NULL) break;
        row_read(record, next);
    }
    paua_cursor_close(cursor);
    for (uint32_t w = 0; w < marks->writers; w++)
        CHECK(next[w] >= committed[w]);
    return rows;
}
