/* codes_write.c - making a file of codes.
 *
 * Training reads a sample; then every row is read once, encoded, and its refine codes are appended,
 * while its walk codes and factors stay in memory and follow. Threads take blocks of rows in turn
 * and append them in the same turn: whoever is early waits. So the file has the same bytes whatever
 * their number, and no more is in flight than a block a thread.
 * No thread waits for a block that nobody has taken: where parallel_run runs the share of a thread
 * that could not be started, that share finds only blocks whose turn comes.
 *
 *   REFINE | MODEL | MEAN | ROTATED_MEAN | MATRIX_* | WALK | WALK_FACTORS | REFINE_FACTORS
 *
 * Memory: walk codes, 16 or 32 bytes of factors a row, and a thread's 1 MiB of rows and their
 * codes: 44 MB at the most for 100,000 rows of 768 dimensions, training included. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "index/codes_private.h"
#include "index/sections.h"

#define BLOCK_NBYTES (UINT32_C(1) << 20) /* of floats */
#define BLOCK_ROWS_MIN 16u
#define BLOCK_ROWS_MAX 512u

struct encoding {
    const struct codes_target *target;
    const struct model_source *source;
    const struct model *model;
    struct file_writer *writer;
    uint32_t threads, block_rows, block_count;
    uint8_t *walk;         /* owned, the whole plane */
    float *walk_factors;   /* owned */
    float *refine_factors; /* owned; NULL without a refine plane */
    _Atomic uint32_t next; /* block that nobody has taken */
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t moved;
    uint32_t turn;      /* block that is appended next */
    paua_status status; /* the first failure */
    paua_error err;
};

/* One thread's room. */
struct room {
    struct model_scratch scratch;
    float *rows;
    uint8_t *refine;
};

static bool room_make(const struct encoding *e, struct room *room)
{
    size_t floats = (size_t)e->block_rows * e->source->dim;

    *room = (struct room){.rows = mem_aligned(64, floats * sizeof room->rows[0])};
    room->refine = mem_alloc((size_t)e->block_rows * e->model->refine.layout.nbytes + 1);
    return room->rows != NULL && room->refine != NULL &&
           model_scratch_init(&room->scratch, e->model);
}

static void room_free_all(struct room *room)
{
    model_scratch_free(&room->scratch);
    mem_free(room->rows);
    mem_free(room->refine);
}

static bool canceled(const struct encoding *e)
{
    return e->source->cancel != NULL &&
           __atomic_load_n(&e->source->cancel->requested, __ATOMIC_RELAXED) != 0;
}

static uint32_t rows_of(const struct encoding *e, uint32_t block)
{
    uint32_t left = e->source->count - block * e->block_rows;

    return left < e->block_rows ? left : e->block_rows;
}

static paua_status block_encode(struct encoding *e, struct room *room, uint32_t block,
                                paua_error *err)
{
    size_t first = (size_t)block * e->block_rows;
    uint32_t n = rows_of(e, block);
    bool refined = e->refine_factors != NULL;
    paua_status status;

    if (canceled(e)) return error_set(err, PAUA_ECANCELED, "encoding was canceled");
    status = e->source->rows(e->source->arg, (uint32_t)first, n, room->rows, err);
    if (status != PAUA_OK) return status;
    model_encode(e->model, room->rows, n, &room->scratch,
                 e->walk + first * e->model->walk.layout.nbytes,
                 e->walk_factors + first * CODE_FACTORS, refined ? room->refine : NULL,
                 refined ? e->refine_factors + first * CODE_FACTORS : NULL);
    return PAUA_OK;
}

/* Waits for the block's turn and appends it; with a failure, ends it for all. False when no more
 * blocks are wanted. */
static bool block_append(struct encoding *e, const struct room *room, uint32_t block,
                         paua_status status, const paua_error *why)
{
    bool going;

    pthread_mutex_lock(&e->mutex);
    while (status == PAUA_OK && e->status == PAUA_OK && e->turn != block)
        pthread_cond_wait(&e->moved, &e->mutex);
    if (e->status == PAUA_OK && status != PAUA_OK) {
        e->status = status;
        e->err = *why;
    } else if (e->status == PAUA_OK) {
        e->status =
            file_writer_append(e->writer, room->refine,
                               (size_t)rows_of(e, block) * e->model->refine.layout.nbytes, &e->err);
        e->turn++;
    }
    going = e->status == PAUA_OK;
    pthread_cond_broadcast(&e->moved);
    pthread_mutex_unlock(&e->mutex);
    return going;
}

/* From the calling thread. */
static void progress(const struct encoding *e, uint64_t done)
{
    if (e->target->progress != NULL)
        e->target->progress(e->target->progress_arg, "encoding", done, e->source->count);
}

static void encode_blocks(void *arg, uint32_t worker)
{
    struct encoding *e = arg;
    struct room room;
    paua_error err = {0};
    bool ready = room_make(e, &room), going = true;

    while (going) {
        uint32_t block = atomic_fetch_add(&e->next, 1);
        paua_status status;

        if (block >= e->block_count) break;
        status = ready ? block_encode(e, &room, block, &err) : error_set_nomem(&err);
        going = block_append(e, &room, block, status, &err);
        if (worker == e->threads - 1) progress(e, (uint64_t)block * e->block_rows);
    }
    room_free_all(&room);
}

static bool planes_make(struct encoding *e)
{
    size_t rows = e->source->count, factors = rows * CODE_FACTORS * sizeof(float);

    e->walk = mem_aligned(64, rows * e->model->walk.layout.nbytes);
    e->walk_factors = mem_aligned(64, factors);
    if (e->model->refine.layout.nbytes > 0) e->refine_factors = mem_aligned(64, factors);
    return e->walk != NULL && e->walk_factors != NULL &&
           (e->model->refine.layout.nbytes == 0 || e->refine_factors != NULL);
}

static paua_status encode_all(struct encoding *e, paua_error *err)
{
    uint32_t block = BLOCK_NBYTES / (e->source->dim * (uint32_t)sizeof(float));

    if (block < BLOCK_ROWS_MIN) block = BLOCK_ROWS_MIN;
    if (block > BLOCK_ROWS_MAX) block = BLOCK_ROWS_MAX;
    e->block_rows = block;
    e->block_count = (e->source->count - 1) / block + 1;
    e->threads = e->source->threads < e->block_count ? e->source->threads : e->block_count;
    if (!planes_make(e)) return error_set_nomem(err);
    pthread_mutex_init(&e->mutex, NULL);
    pthread_cond_init(&e->moved, NULL);
    parallel_run(e->threads, encode_blocks, e);
    pthread_cond_destroy(&e->moved);
    pthread_mutex_destroy(&e->mutex);
    if (e->status != PAUA_OK && err != NULL) *err = e->err;
    if (e->status == PAUA_OK) progress(e, e->source->count);
    return e->status;
}

static paua_status record_put(struct encoding *e, const struct model_record *record,
                              struct file_footer *footer, paua_error *err)
{
    struct writer w = {0};
    paua_status status =
        model_record_encode(record, &w) == PAUA_OK
            ? sections_put(e->writer, footer, SECTION_MODEL, w.bytes, w.length, err)
            : error_set_nomem(err);

    assert(status != PAUA_OK || w.length >= CODE_SLACK_NBYTES);
    writer_free(&w);
    return status;
}

/* After the refine codes: the record and all other arrays. */
static paua_status arrays_put(struct encoding *e, const struct model_record *record,
                              struct file_footer *footer, paua_error *err)
{
    const struct model *model = e->model;
    const void *const arrays[CODES_ARRAYS] = {
        [CODES_MEAN] = model->mean,
        [CODES_ROTATED_MEAN] = model->rotated_mean,
        [CODES_MATRIX_S8] = model->matrix_s8,
        [CODES_MATRIX_SCALE] = model->matrix_scale,
        [CODES_WALK] = e->walk,
        [CODES_WALK_FACTORS] = e->walk_factors,
        [CODES_REFINE_FACTORS] = e->refine_factors,
    };
    struct codes_shape shapes[CODES_ARRAYS];
    paua_status status;

    codes_shapes(record, shapes);
    assert(file_writer_data_nbytes(e->writer) == shapes[CODES_REFINE].nbytes);
    footer->sections[footer->section_count++] =
        (struct section){.id = SECTION_REFINE, .nbytes = shapes[CODES_REFINE].nbytes};
    status = record_put(e, record, footer, err);
    for (uint32_t i = 0; i < CODES_ARRAYS && status == PAUA_OK; i++)
        if (i != CODES_REFINE)
            status =
                sections_put(e->writer, footer, shapes[i].id, arrays[i], shapes[i].nbytes, err);
    return status;
}

static paua_status finish(struct encoding *e, struct file_ref *ref, paua_error *err)
{
    struct file_footer footer = {.row_count = e->source->count};
    struct model_record record;
    paua_status status;

    if (!model_to_record(e->model, &record)) return error_set_nomem(err);
    record.rows = e->source->count;
    record.source_digest = e->target->source_digest;
    status = arrays_put(e, &record, &footer, err);
    model_record_free(&record);
    if (status != PAUA_OK) return status;
    return sections_seal(e->target->dir, e->writer, &e->target->header, &footer, ref, err);
}

static paua_status write_model(const struct codes_target *target, const struct model_source *source,
                               const struct model *model, struct file_ref *ref, paua_error *err)
{
    struct encoding e = {.target = target, .source = source, .model = model};
    paua_status status = file_writer_create(target->dir, &target->header, true, &e.writer, err);

    if (status != PAUA_OK) return status;
    status = encode_all(&e, err);
    if (status == PAUA_OK) status = finish(&e, ref, err);
    file_writer_close(e.writer);
    mem_free(e.walk);
    mem_free(e.walk_factors);
    mem_free(e.refine_factors);
    return status;
}

paua_status codes_write(const struct codes_target *target, const struct model_source *source,
                        struct file_ref *ref, paua_error *err)
{
    struct model model = {0};
    struct file_ref written;
    paua_status status;

    assert(target->header.kind == FILE_CODES && target->header.dim == source->dim);
    assert(source->count > 0 && source->threads > 0);
    if (target->progress != NULL) target->progress(target->progress_arg, "training", 0, 1);
    status = model_train(source, &model, err);
    if (status == PAUA_OK) status = write_model(target, source, &model, &written, err);
    model_free(&model);
    if (status == PAUA_OK) *ref = written;
    return status;
}
