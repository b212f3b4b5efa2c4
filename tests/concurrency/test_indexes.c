/* test_indexes.c - indexes are built, merged and dropped under backups and under readers in other
 * processes, who go on with the codes and graphs that they have open.
 *
 * "blocks" holds whole blocks of rows with rising keys: the writer adds one at the end and deletes
 * one at the beginning, each in one call. Of "coded" only codes are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "concurrency/world.h"

#define DIM 8u
#define BLOCK 300u
#define BLOCKS 4u /* there at any time, at least */
#define DECODED_ERROR 0.3
#define EF 2000u /* the graphs are poor, made fast: walk all of them */

struct play {
    char path[64];
    _Atomic bool stop;
    _Atomic uint32_t ready, go; /* readers that stand; they may */
    _Atomic uint32_t first;     /* block that is there, and the next one is */
    _Atomic uint64_t reads;
    bool link, no_mmap;
};

static const paua_index_params graph = {PAUA_INDEX_VAMANA, 8, 16, 32, 0};

static void vector_make(uint64_t key, uint32_t field, float vector[DIM])
{
    uint64_t random = (key << 1 | field) * UINT64_C(0x9E3779B97F4A7C15);

    for (uint32_t i = 0; i < DIM; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        vector[i] = (float)(random >> 50) / 2048 - 4;
    }
}

static double distance(const float *a, const float *b)
{
    double sum = 0;

    for (uint32_t i = 0; i < DIM; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

static void block_insert(paua_collection *blocks, uint32_t block)
{
    static uint64_t keys[BLOCK];
    static float kept[BLOCK * DIM], coded[BLOCK * DIM];
    paua_vectors vectors[] = {{.data = kept}, {.data = coded}};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = BLOCK, .u64 = keys},
                      .vectors = vectors,
                      .vectors_count = 2};

    for (uint32_t i = 0; i < BLOCK; i++) {
        keys[i] = (uint64_t)block * BLOCK + i;
        vector_make(keys[i], 0, kept + i * DIM);
        vector_make(keys[i], 1, coded + i * DIM);
    }
    MUST(paua_insert(blocks, &rows, NULL, NULL, &err));
}

static void block_delete(paua_collection *blocks, uint32_t block)
{
    uint64_t numbers[BLOCK];
    paua_keys keys = {.count = BLOCK, .u64 = numbers};

    for (uint32_t i = 0; i < BLOCK; i++)
        numbers[i] = (uint64_t)block * BLOCK + i;
    MUST(paua_delete(blocks, &keys, NULL, NULL, &err));
}

static void blocks_create(paua_db *db, paua_collection **blocks)
{
    const paua_vector_field fields[] = {
        {.name = "kept", .dim = DIM, .metric = PAUA_L2, .index = graph},
        {.name = "coded",
         .dim = DIM,
         .metric = PAUA_L2,
         .precision = PAUA_INT8,
         .originals = PAUA_ORIGINALS_NONE,
         .index = graph}};
    paua_schema schema = {.size = sizeof schema, .fields = fields, .field_count = 2};

    MUST(paua_collection_create(db, "blocks", &schema, blocks, &err));
    for (uint32_t b = 0; b < BLOCKS; b++)
        block_insert(*blocks, b);
}

/* Walks to the end: whole blocks and each row as it was written. Returns the first block. */
static uint64_t walk(paua_cursor *cursor)
{
    const paua_record *record;
    uint64_t rows = 0, first = 0;
    float vector[DIM];

    for (;; rows++) {
        MUST(paua_cursor_next(cursor, &record, &err));
        if (record == NULL) break;
        if (rows == 0) first = record->key.u64;
        CHECK(record->key.u64 == first + rows);
        vector_make(record->key.u64, 0, vector);
        CHECK(memcmp(record->vectors[0], vector, sizeof vector) == 0);
        vector_make(record->key.u64, 1, vector);
        CHECK(distance(record->vectors[1], vector) < DECODED_ERROR);
    }
    CHECK(first % BLOCK == 0 && rows % BLOCK == 0 && rows >= BLOCKS * BLOCK);
    return first / BLOCK;
}

/* Rows of a block that is there are found through the index of each field, or without one. */
static void search(paua_collection *blocks, uint64_t block, paua_hits *hits)
{
    static const char *const fields[] = {"kept", "coded"};

    for (uint64_t key = block * BLOCK; key < (block + 1) * BLOCK; key += 71)
        for (uint32_t f = 0; f < 2; f++) {
            paua_search_opts opts = {.size = sizeof opts, .k = 3, .field = fields[f], .ef = EF};
            float vector[DIM], own[DIM];
            uint64_t found;

            vector_make(key, f, vector);
            MUST(paua_search(blocks, vector, 1, 0, &opts, hits, &err));
            CHECK(paua_hits_count(hits, 0) == 3);
            found = paua_hits_at(hits, 0, 0).key.u64;
            vector_make(found, f, own);
            CHECK(distance(vector, own) < (f == 0 ? 1e-9 : DECODED_ERROR));
        }
}

/* Rounds of inserts, deletions, merges, and an index that comes and goes. */
static void write_on(void *arg)
{
    struct play *play = arg;
    paua_db *db = world_open(play->path, (paua_open_opts){.durability = PAUA_OFF});
    paua_collection *blocks = world_collection(db, "blocks");

    for (uint32_t round = 0; !atomic_load(&play->stop); round++) {
        block_insert(blocks, BLOCKS + round);
        atomic_store(&play->first, round + 1);
        if (round % 3 == 0) MUST(paua_index_create(blocks, "kept", "more", &graph, NULL, &err));
        if (round % 3 == 1) MUST(paua_index_drop(blocks, "kept", &err));
        world_sleep_ms(10); /* for those who look at a block that goes */
        if (round > 0) block_delete(blocks, round - 1);
        MUST(paua_optimize(blocks, NULL, &err));
        if (round % 3 == 1) MUST(paua_index_create(blocks, "kept", "kept", &graph, NULL, &err));
        if (round % 3 == 2) MUST(paua_index_drop(blocks, "more", &err));
    }
    world_validate(blocks);
    paua_collection_close(blocks);
    paua_close(db);
}

static struct play *play_begin(void)
{
    struct play *play = world_share(sizeof *play);
    paua_collection *blocks;
    paua_db *db;

    world_make(play->path);
    db = world_open(play->path, (paua_open_opts){.create = true, .durability = PAUA_OFF});
    blocks_create(db, &blocks);
    paua_collection_close(blocks);
    paua_close(db);
    return play;
}

static void play_end(struct play *play)
{
    world_check(play->path);
    world_remove(play->path);
}

/* The copy is a database of its own, whatever has become of the original. */
static void backup_once(struct play *play, paua_db *db, paua_hits *hits)
{
    paua_backup_opts opts = {.size = sizeof opts, .link = play->link};
    paua_collection *blocks;
    paua_cursor *cursor;
    char path[96];
    uint64_t first;

    snprintf(path, sizeof path, "%s-backup", play->path);
    MUST(paua_backup(db, path, &opts, &err));
    world_check(path);
    db = world_open(path, (paua_open_opts){.durability = PAUA_OFF});
    blocks = world_collection(db, "blocks");
    MUST(paua_iterate(blocks, NULL, &cursor, &err));
    first = walk(cursor);
    paua_cursor_close(cursor);
    search(blocks, first + 1, hits);
    block_delete(blocks, (uint32_t)first);
    MUST(paua_optimize(blocks, NULL, &err)); /* changes none of the files that are linked */
    search(blocks, first + 1, hits);
    world_validate(blocks);
    paua_collection_close(blocks);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

static void back_up_again_and_again(bool link)
{
    struct play *play = play_begin();
    uint32_t backups = world_whole() ? 60 : 6;
    paua_hits *hits;
    paua_db *db;
    pid_t writer;

    play->link = link;
    writer = world_fork(write_on, play);
    db = world_open(play->path, (paua_open_opts){.no_background = true});
    MUST(paua_hits_open(&hits, &err));
    for (uint32_t i = 0; i < backups; i++) {
        backup_once(play, db, hits);
        world_sleep_ms(i * 37 % 50);
    }
    paua_hits_close(hits);
    paua_close(db);
    atomic_store(&play->stop, true);
    assert_true(world_wait(writer));
    assert_true(atomic_load(&play->first) > 0);
    play_end(play);
}

static void a_copy_made_while_indexes_are_built_is_whole(void **state)
{
    (void)state;
    back_up_again_and_again(false);
}

static void a_linked_copy_made_while_indexes_are_built_is_whole(void **state)
{
    (void)state;
    back_up_again_and_again(true);
}

static void stand(struct play *play, uint32_t turn)
{
    atomic_fetch_add(&play->ready, 1);
    while (atomic_load(&play->go) <= turn)
        world_sleep_ms(1);
}

/* Takes a snapshot whose codes nobody has read yet, waits until its files are gone, and walks. */
static void walk_an_old_view(void *arg)
{
    struct play *play = arg;
    paua_open_opts opts = {.read_only = true, .no_mmap = play->no_mmap};
    paua_db *db = world_open(play->path, opts);
    paua_collection *blocks = world_collection(db, "blocks");
    paua_cursor *cursor;
    paua_hits *hits;

    MUST(paua_iterate(blocks, NULL, &cursor, &err));
    MUST(paua_hits_open(&hits, &err));
    stand(play, 0);
    CHECK(walk(cursor) == 0);
    paua_cursor_close(cursor);
    search(blocks, 1, hits); /* and a search sees what there is now */
    paua_hits_close(hits);
    paua_collection_close(blocks);
    paua_close(db);
}

static void an_old_view_is_whole_though_its_indexes_are_dropped(void **state)
{
    (void)state;
    for (int no_mmap = 0; no_mmap < 2; no_mmap++) {
        struct play *play = play_begin();
        paua_db *db = world_open(play->path, (paua_open_opts){.no_background = true});
        paua_collection *blocks = world_collection(db, "blocks");
        pid_t reader;

        play->no_mmap = no_mmap != 0;
        MUST(paua_optimize(blocks, NULL, &err));
        reader = world_fork(walk_an_old_view, play);
        while (atomic_load(&play->ready) == 0)
            world_sleep_ms(1);
        MUST(paua_index_drop(blocks, "kept", &err));
        MUST(paua_index_drop(blocks, "coded", &err));
        block_delete(blocks, 0);
        block_delete(blocks, 3);
        MUST(paua_optimize(blocks, NULL, &err));
        atomic_store(&play->go, 1);
        assert_true(world_wait(reader));
        paua_collection_close(blocks);
        paua_close(db);
        play_end(play);
    }
}

static void search_on(void *arg)
{
    struct play *play = arg;
    paua_open_opts opts = {.read_only = true, .no_mmap = play->no_mmap};
    paua_db *db = world_open(play->path, opts);
    paua_collection *blocks = world_collection(db, "blocks");
    paua_cursor *cursor;
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    while (!atomic_load(&play->stop)) {
        /* three blocks ahead of what may go next, so it stays for this search */
        search(blocks, atomic_load(&play->first) + 2, hits);
        MUST(paua_iterate(blocks, NULL, &cursor, &err));
        walk(cursor);
        paua_cursor_close(cursor);
        atomic_fetch_add(&play->reads, 1);
    }
    paua_hits_close(hits);
    paua_collection_close(blocks);
    paua_close(db);
}

static void readers_find_every_row_while_indexes_come_and_go(void **state)
{
    struct play *play = play_begin();
    pid_t pids[3];

    (void)state;
    pids[0] = world_fork(write_on, play);
    pids[1] = world_fork(search_on, play);
    play->no_mmap = true;
    pids[2] = world_fork(search_on, play);
    world_sleep_ms(world_whole() ? 8000 : 1500);
    atomic_store(&play->stop, true);
    for (int i = 0; i < 3; i++)
        assert_true(world_wait(pids[i]));
    print_message("%u rounds, %llu reads\n", atomic_load(&play->first),
                  (unsigned long long)atomic_load(&play->reads));
    assert_true(atomic_load(&play->reads) > 0 && atomic_load(&play->first) > 0);
    play_end(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_made_while_indexes_are_built_is_whole),
        cmocka_unit_test(a_linked_copy_made_while_indexes_are_built_is_whole),
        cmocka_unit_test(an_old_view_is_whole_though_its_indexes_are_dropped),
        cmocka_unit_test(readers_find_every_row_while_indexes_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
