/* test_field_indexes.c - readers filter while indexes of fields are made and dropped, patches are
 * written and folded. Every commit exchanges the numbers of two rows, so that whoever looks finds
 * each number once.
 *
 * So few rows are scanned rather than looked up; the linker puts __wrap_value_index_match() in
 * place of value_index_match(), which leaves that estimate out and counts. */
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
#include "index/value_index.h"

#define ROWS 1200u
#define READERS 2u
#define SAMPLE_MS 500u
#define WHOLE_MS 20000u

struct play {
    char path[64];
    _Atomic bool stop;
    _Atomic uint64_t commits, changes, reads;
    paua_collection *c;
};

static _Atomic uint64_t answers; /* of indexes */

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *error);

paua_status __wrap_value_index_match(const struct value_index *index,
                                     const struct column_view *view, const struct column_test *test,
                                     uint64_t *bitmap, bool *done, paua_error *error)
{
    paua_status status = value_index_find(index, view, test, bitmap, done, error);

    if (status == PAUA_OK && *done) atomic_fetch_add(&answers, 1);
    return status;
}

static void create(paua_db *db, paua_collection **c)
{
    static const paua_field columns[] = {{"number", PAUA_TYPE_INT32}, {"word", PAUA_TYPE_STRING}};
    static const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 2};
    static uint64_t keys[ROWS];
    static float vectors[ROWS][2];
    static paua_value numbers[ROWS], words[ROWS];
    const paua_column given[] = {{"number", numbers}, {"word", words}};
    const paua_vectors all = {.data = vectors[0]};
    const paua_rows rows = {.size = sizeof rows,
                            .keys = {.count = ROWS, .u64 = keys},
                            .vectors = &all,
                            .vectors_count = 1,
                            .columns = given,
                            .column_count = 2};

    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = i;
        vectors[i][0] = (float)i;
        numbers[i] = (paua_value){.type = PAUA_TYPE_INT32, .as.i64 = i};
        words[i] =
            (paua_value){.type = PAUA_TYPE_STRING, .as.bytes = {i % 3 != 0 ? "odd" : "three", 3}};
    }
    MUST(paua_collection_create(db, "c", &schema, c, &err));
    MUST(paua_insert(*c, &rows, NULL, NULL, &err));
    MUST(paua_optimize(*c, NULL, &err));
}

/* Two rows change numbers, again and again. */
static void *write_on(void *arg)
{
    static int64_t now[ROWS];
    struct play *play = arg;

    for (uint32_t i = 0; i < ROWS; i++)
        now[i] = i;
    for (uint64_t turn = 1; !atomic_load(&play->stop); turn++) {
        const uint64_t keys[] = {turn * 7 % ROWS, (turn * 7 + 13) % ROWS};
        const paua_value numbers[] = {{.type = PAUA_TYPE_INT32, .as.i64 = now[keys[1]]},
                                      {.type = PAUA_TYPE_INT32, .as.i64 = now[keys[0]]}};
        const paua_column column = {"number", numbers};
        const paua_rows rows = {.size = sizeof rows,
                                .keys = {.count = 2, .u64 = keys},
                                .columns = &column,
                                .column_count = 1};

        MUST(paua_update(play->c, &rows, NULL, NULL, &err));
        now[keys[0]] = numbers[0].as.i64;
        now[keys[1]] = numbers[1].as.i64;
        atomic_fetch_add(&play->commits, 1);
        if (turn % 40 == 0) MUST(paua_optimize(play->c, NULL, &err));
    }
    return NULL;
}

static void *change_indexes(void *arg)
{
    static const paua_index_params bitmap = {.kind = PAUA_INDEX_BITMAP};
    struct play *play = arg;

    while (!atomic_load(&play->stop)) {
        MUST(paua_index_create(play->c, "number", "by_number", NULL, NULL, &err));
        MUST(paua_index_create(play->c, "word", "by_word", &bitmap, NULL, &err));
        world_sleep_ms(5);
        MUST(paua_index_drop(play->c, "by_number", &err));
        MUST(paua_index_create(play->c, "number", "by_number_too", &bitmap, NULL, &err));
        MUST(paua_index_drop(play->c, "by_word", &err));
        world_sleep_ms(2);
        MUST(paua_index_drop(play->c, "by_number_too", &err));
        atomic_fetch_add(&play->changes, 1);
    }
    return NULL;
}

static uint64_t count(paua_collection *c, const char *text)
{
    paua_filter *filter;
    uint64_t found;

    MUST(paua_filter_parse(text, strlen(text), &filter, &err));
    MUST(paua_count(c, filter, &found, &err));
    paua_filter_free(filter);
    return found;
}

static void look(struct play *play, paua_collection *c)
{
    CHECK(count(c, "number = 777") == 1);
    CHECK(count(c, "number BETWEEN 100 AND 199") == 100);
    CHECK(count(c, "number IN (1, 5, 1199, 4000)") == 3);
    CHECK(count(c, "word = 'odd' OR number < 0") == ROWS / 3 * 2);
    CHECK(count(c, "NOT number < 300") == ROWS - 300);
    atomic_fetch_add(&play->reads, 1);
}

static void *read_on(void *arg)
{
    struct play *play = arg;

    while (!atomic_load(&play->stop))
        look(play, play->c);
    return NULL;
}

/* Another process, which follows. */
static void follow(void *arg)
{
    struct play *play = arg;
    paua_db *db = world_open(play->path, (paua_open_opts){.read_only = true});
    paua_collection *c = world_collection(db, "c");

    while (!atomic_load(&play->stop))
        look(play, c);
    world_validate(c);
    paua_collection_close(c);
    paua_close(db);
}

static void filters_find_all_rows_while_indexes_come_and_go(void **state)
{
    static void *(*const doings[])(void *) = {write_on, change_indexes, read_on, read_on};
    struct play *play = world_share(sizeof *play);
    pthread_t threads[READERS + 2];
    pid_t follower;
    paua_db *db;

    (void)state;
    world_make(play->path);
    db = world_open(play->path, (paua_open_opts){.create = true});
    create(db, &play->c);
    paua_collection_close(play->c);
    paua_close(db);
    follower = world_fork(follow, play);
    db = world_open(play->path, (paua_open_opts){.durability = PAUA_OFF});
    play->c = world_collection(db, "c");
    for (uint32_t i = 0; i < READERS + 2; i++)
        CHECK(pthread_create(&threads[i], NULL, doings[i], play) == 0);
    do
        world_sleep_ms(world_whole() ? WHOLE_MS : SAMPLE_MS);
    while (atomic_load(&play->changes) == 0);
    atomic_store(&play->stop, true);
    for (uint32_t i = 0; i < READERS + 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    assert_true(world_wait(follower));
    print_message("%llu commits, %llu changes of indexes, %llu reads, %llu answers\n",
                  (unsigned long long)atomic_load(&play->commits),
                  (unsigned long long)atomic_load(&play->changes),
                  (unsigned long long)atomic_load(&play->reads),
                  (unsigned long long)atomic_load(&answers));
    assert_true(atomic_load(&play->commits) > 0 && atomic_load(&play->reads) > 0);
    assert_true(atomic_load(&play->changes) > 0 && atomic_load(&answers) > 0);
    world_validate(play->c);
    paua_collection_close(play->c);
    paua_close(db);
    world_check(play->path);
    world_remove(play->path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_find_all_rows_while_indexes_come_and_go),
    };

    return cmocka_run_group_tests_name("concurrency/field_indexes", tests, NULL, NULL);
}
