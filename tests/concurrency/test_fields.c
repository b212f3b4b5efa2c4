/* test_fields.c - every commit gives all rows the same number, as a field and as a text. Whoever
 * looks, by filter, query, search or iteration, in this process or another, finds one number in all
 * rows, never an older one than it knows was committed, while rows move from tails to segments,
 * patches are folded, and other fields come, change and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "concurrency/world.h"

#define ROWS 120u
#define EXTRA_KEY 1000u /* rows from here on come and go, and have no number */
#define READERS 2u
#define SAMPLE_MS 700u
#define WHOLE_MS 20000u

/* Shared by both processes of one test. */
struct play {
    char path[64];
    _Atomic bool stop;
    _Atomic int64_t round; /* the last that was committed */
    _Atomic uint64_t reads, changes;
    paua_collection *c; /* of the writing process */
};

static void create(paua_db *db, paua_collection **c)
{
    static const paua_field columns[] = {{"number", PAUA_TYPE_INT64}, {"text", PAUA_TYPE_STRING}};
    static const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 2,
                                .dynamic = true};

    MUST(paua_collection_create(db, "c", &schema, c, &err));
}

/* One commit: all rows get this number; `whole`: they are written anew, not patched. */
static void write_number(paua_collection *c, int64_t number, bool whole)
{
    static uint64_t keys[ROWS];
    static float vectors[ROWS][2];
    static paua_value numbers[ROWS], texts[ROWS];
    static char text[24];
    const paua_column columns[] = {{"number", numbers}, {"text", texts}};
    paua_vectors all = {.data = vectors[0]};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = ROWS, .u64 = keys},
                      .vectors = &all,
                      .vectors_count = whole ? 1 : 0,
                      .columns = columns,
                      .column_count = 2};

    snprintf(text, sizeof text, "t%lld", (long long)number);
    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = i;
        vectors[i][0] = (float)i;
        numbers[i] = (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = number};
        texts[i] = (paua_value){.type = PAUA_TYPE_STRING, .as.bytes = {text, strlen(text)}};
    }
    MUST(paua_upsert(c, &rows, NULL, NULL, &err));
}

static void extra_rows(paua_collection *c, int64_t number)
{
    const uint64_t key = EXTRA_KEY + (uint64_t)number;
    const float vector[2] = {-5, 0};
    const paua_value flag = {.type = PAUA_TYPE_BOOL, .as.boolean = true};
    const paua_column column = {"passing", &flag};
    paua_vectors one = {.data = vector};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = 1, .u64 = &key},
                      .vectors = &one,
                      .vectors_count = 1,
                      .columns = &column,
                      .column_count = 1};
    paua_filter *filter;

    MUST(paua_insert(c, &rows, NULL, NULL, &err));
    if (number % 7 != 0) return;
    MUST(paua_filter_parse("passing", 7, &filter, &err));
    MUST(paua_delete_where(c, filter, NULL, &err));
    paua_filter_free(filter);
}

static void *write_on(void *arg)
{
    struct play *play = arg;

    for (int64_t number = 1; !atomic_load(&play->stop); number++) {
        write_number(play->c, number, number % 5 == 0);
        atomic_store(&play->round, number);
        extra_rows(play->c, number);
        if (number % 9 == 0) MUST(paua_optimize(play->c, NULL, &err));
    }
    return NULL;
}

static void *change_fields(void *arg)
{
    const paua_field field = {"extra", PAUA_TYPE_INT16};
    struct play *play = arg;

    while (!atomic_load(&play->stop)) {
        MUST(paua_field_add(play->c, &field, &err));
        MUST(paua_field_rename(play->c, "extra", "other", &err));
        MUST(paua_field_retype(play->c, "other", PAUA_TYPE_STRING, &err));
        MUST(paua_field_drop(play->c, "other", &err));
        MUST(paua_field_retype(play->c, "number", PAUA_TYPE_INT32, &err));
        MUST(paua_field_retype(play->c, "number", PAUA_TYPE_INT64, &err));
        atomic_fetch_add(&play->changes, 1);
        world_sleep_ms(3);
    }
    return NULL;
}

static uint64_t count(paua_collection *c, const char *format, long long number)
{
    char text[80];
    paua_filter *filter;
    uint64_t found;

    snprintf(text, sizeof text, "%s %lld", format, number);
    MUST(paua_filter_parse(text, strlen(text), &filter, &err));
    MUST(paua_count(c, filter, &found, &err));
    paua_filter_free(filter);
    return found;
}

static int64_t number_of(const paua_value *number, const paua_value *text)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "t%lld", (long long)number->as.i64);

    CHECK(number->type == PAUA_TYPE_INT64 || number->type == PAUA_TYPE_INT32);
    CHECK(text->type == PAUA_TYPE_STRING && text->as.bytes.nbytes == (size_t)n);
    CHECK(memcmp(text->as.bytes.data, digits, (size_t)n) == 0);
    return number->as.i64;
}

/* Reads all rows that have a number, pausing in the middle: one and the same, which is returned. */
static int64_t query_all(paua_collection *c, uint32_t pause_ms)
{
    static const char *const fields[] = {"number", "text"};
    paua_query_opts opts = {.size = sizeof opts,
                            .order_by = pause_ms % 2 == 0 ? "text" : NULL,
                            .read = {.no_vectors = true, .fields = fields, .field_count = 2}};
    const paua_record *record;
    paua_filter *filter;
    paua_cursor *cursor;
    int64_t number = -1;
    uint32_t rows = 0;

    MUST(paua_filter_parse("number >= 0", 11, &filter, &err));
    opts.filter = filter;
    MUST(paua_query(c, &opts, &cursor, &err));
    paua_filter_free(filter);
    for (;; rows++) {
        int64_t own;

        MUST(paua_cursor_next(cursor, &record, &err));
        if (record == NULL) break;
        own = number_of(&record->values[0], &record->values[1]);
        CHECK(number == -1 || own == number);
        number = own;
        if (rows == ROWS / 2) world_sleep_ms(pause_ms);
    }
    paua_cursor_close(cursor);
    CHECK(rows == ROWS);
    return number;
}

/* The same of what a filtered search finds. */
static int64_t search_all(paua_collection *c, paua_hits *hits, uint32_t pause_ms)
{
    const float query[2] = {-10, 0};
    paua_search_opts opts = {.size = sizeof opts, .k = 2 * ROWS};
    paua_filter *filter;
    int64_t number = -1;

    MUST(paua_filter_parse("text LIKE 't%' AND passing IS NULL", 34, &filter, &err));
    opts.filter = filter;
    MUST(paua_search(c, query, 1, 0, &opts, hits, &err));
    paua_filter_free(filter);
    CHECK(paua_hits_count(hits, 0) == ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        paua_value own, text;

        CHECK(paua_hits_at(hits, 0, i).key.u64 == i);
        MUST(paua_hits_value(hits, 0, i, "number", &own, &err));
        MUST(paua_hits_value(hits, 0, i, "text", &text, &err));
        CHECK(number == -1 || own.as.i64 == number);
        number = number_of(&own, &text);
        if (i == ROWS / 2) world_sleep_ms(pause_ms);
    }
    return number;
}

static void look(struct play *play, paua_collection *c, paua_hits *hits, uint32_t turn)
{
    int64_t committed = atomic_load(&play->round), found = query_all(c, turn % 4);

    CHECK(found >= committed);
    committed = atomic_load(&play->round);
    CHECK(search_all(c, hits, turn % 3) >= committed);
    committed = atomic_load(&play->round);
    CHECK(count(c, "number >=", committed) == ROWS);
    CHECK(count(c, "number IS NOT NULL AND number <", committed) == 0);
    CHECK(count(c, "number =", found) % ROWS == 0);
    atomic_fetch_add(&play->reads, 1);
}

static void *read_on(void *arg)
{
    struct play *play = arg;
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    for (uint32_t turn = 0; !atomic_load(&play->stop); turn++)
        look(play, play->c, hits, turn);
    paua_hits_close(hits);
    return NULL;
}

/* Another process, which follows. */
static void follow(void *arg)
{
    struct play *play = arg;
    paua_db *db = world_open(play->path, (paua_open_opts){.read_only = true});
    paua_collection *c = world_collection(db, "c");
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    for (uint32_t turn = 0; !atomic_load(&play->stop); turn++)
        look(play, c, hits, turn);
    world_validate(c);
    paua_hits_close(hits);
    paua_collection_close(c);
    paua_close(db);
}

static void play_begin(struct play *play)
{
    paua_db *db;

    world_make(play->path);
    db = world_open(play->path, (paua_open_opts){.create = true});
    create(db, &play->c);
    write_number(play->c, 0, true);
    extra_rows(play->c, 0);
    paua_collection_close(play->c);
    paua_close(db);
}

static void all_rows_have_one_number_whoever_looks(void **state)
{
    struct play *play = world_share(sizeof *play);
    pthread_t threads[READERS + 2];
    pid_t follower;
    paua_db *db;

    (void)state;
    play_begin(play);
    follower = world_fork(follow, play);
    db = world_open(play->path, (paua_open_opts){.durability = PAUA_OFF});
    play->c = world_collection(db, "c");
    CHECK(pthread_create(&threads[0], NULL, write_on, play) == 0);
    CHECK(pthread_create(&threads[1], NULL, change_fields, play) == 0);
    for (uint32_t i = 2; i < READERS + 2; i++)
        CHECK(pthread_create(&threads[i], NULL, read_on, play) == 0);
    world_sleep_ms(world_whole() ? WHOLE_MS : SAMPLE_MS);
    atomic_store(&play->stop, true);
    for (uint32_t i = 0; i < READERS + 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    assert_true(world_wait(follower));
    print_message("%lld commits, %llu changes of fields, %llu reads\n",
                  (long long)atomic_load(&play->round),
                  (unsigned long long)atomic_load(&play->changes),
                  (unsigned long long)atomic_load(&play->reads));
    assert_true(atomic_load(&play->round) > 0 && atomic_load(&play->reads) > 0);
    world_validate(play->c);
    paua_collection_close(play->c);
    paua_close(db);
    world_check(play->path);
    world_remove(play->path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_have_one_number_whoever_looks),
    };

    return cmocka_run_group_tests_name("concurrency/fields", tests, NULL, NULL);
}
