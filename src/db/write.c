/* write.c - the four writes, and the queue in which waiting calls become one commit.
 *
 * A call joins the queue. If nobody leads, it leads: takes what is queued, commits it as one group,
 * and wakes the others, each on a semaphore of its own, so that they do not fight for one lock.
 * While a leader syncs, calls gather for the next group. Those that were just
 * woken need a moment to come back, so a leader waits for as many as came last time, but no longer
 * than an eighth of what the last commit took: a lone caller never waits.
 *
 * Source: group commit as in DeWitt et al., Implementation Techniques for Main Memory Database
 * Systems, SIGMOD 1984. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "db/write.h"

#define GROUP_ROWS_MAX 16384u
#define CALL_ROWS_MAX (1u << 20)
#define LEAD_TURNS 8u
#define WAKE_FANOUT 2u

static void request_fail(struct write_request *r, paua_status status, const paua_error *err)
{
    r->result = status;
    r->refusal = *err;
    r->deleted = 0;
    for (size_t i = 0; r->row_status != NULL && i < r->keys->count; i++)
        r->row_status[i] = status;
}

/* Stages and commits a list of requests together. Their results are set on success only. */
static paua_status commit_list(struct paua_collection *c, struct write_request *list,
                               paua_error *err)
{
    struct group g;
    paua_status status = writer_open_files(c, err);

    if (status == PAUA_OK) status = group_begin(&g, c, err);
    if (status != PAUA_OK) return status;
    for (struct write_request *r = list; r != NULL; r = r->next) {
        r->refused = 0;
        stage_request(&g, r);
    }
    if (group_has_work(&g)) status = group_commit(&g, err);
    group_end(&g, status == PAUA_OK);
    return status;
}

/* One request that fails (a full disk, say) must not fail its neighbours: each gets its own try. */
static void commit_each(struct paua_collection *c, struct write_request *list)
{
    for (struct write_request *next, *r = list; r != NULL; r = next) {
        paua_error err = {.row = PAUA_NO_ROW};
        paua_status status;

        next = r->next;
        r->next = NULL;
        status = db_check_writable(c->db, &err);
        if (status == PAUA_OK) status = commit_list(c, r, &err);
        if (status != PAUA_OK) request_fail(r, status, &err);
        r->next = next;
    }
}

static void group_run(struct paua_collection *c, struct write_request *list)
{
    paua_error err = {.row = PAUA_NO_ROW};
    struct view *view;
    uint64_t start;
    paua_status status;

    pthread_mutex_lock(&c->write_mutex);
    start = clock_now_ns();
    status = db_check_writable(c->db, &err);
    if (status == PAUA_OK) status = writer_begin(c, &err);
    if (status == PAUA_OK) status = commit_list(c, list, &err);
    if (status != PAUA_OK && list->next != NULL && atomic_load(&c->writing))
        commit_each(c, list);
    else if (status != PAUA_OK)
        for (struct write_request *r = list; r != NULL; r = r->next)
            request_fail(r, status, &err);
    c->commit_ns = clock_now_ns() - start;
    if (atomic_load(&c->writing) && !db_poisoned(c->db)) {
        view = collection_peek(c);
        /* The rows are committed: if sealing fails now, the next write tries again. */
        if (seal_due(view) && seal_tail(c, NULL) == PAUA_OK) maintenance_wake(c->db);
        view_unref(view);
    }
    pthread_mutex_unlock(&c->write_mutex);
}

/* With queue_mutex held: waits a little for callers of the last group to come back. */
static void gather(struct paua_collection *c)
{
    struct timespec until;
    uint64_t wait_ns = c->commit_ns / 8;

    if (c->last_group <= 1 || c->queue_count >= c->last_group) return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(wait_ns < 1000000 ? wait_ns : 1000000);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (c->queue_count < c->last_group)
        if (pthread_cond_timedwait(&c->queue_full, &c->queue_mutex, &until) == ETIMEDOUT) break;
}

/* A filter sees no row that is staged beside it, so what deletes by one is a group of its own. */
static bool joins(const struct write_request *first, const struct write_request *next)
{
    return first->op != WRITE_DELETE_WHERE && next->op != WRITE_DELETE_WHERE;
}

/* With queue_mutex held: takes requests up to a group's size, at least one. */
static struct write_request *queue_take(struct paua_collection *c)
{
    struct write_request *first = c->queue, *last = first;
    size_t rows = first->keys->count;

    c->last_group = 1;
    while (last->next != NULL && joins(first, last->next) &&
           rows + last->next->keys->count <= GROUP_ROWS_MAX) {
        last = last->next;
        rows += last->keys->count;
        c->last_group++;
    }
    c->queue = last->next;
    if (c->queue == NULL) c->queue_end = &c->queue;
    c->queue_count -= c->last_group;
    last->next = NULL;
    return first;
}

/* Wakes n finished calls: a few directly, each of which wakes its share of the rest, so that
 * whoever wakes them can go on. A call that is woken may be gone at once. */
static void wake(struct write_request *list, uint32_t n)
{
    uint32_t share = (n + WAKE_FANOUT - 1) / WAKE_FANOUT;

    while (list != NULL) {
        struct write_request *head = list, *last = list;

        head->rest_count = 0;
        while (head->rest_count + 1 < share && last->next != NULL) {
            last = last->next;
            head->rest_count++;
        }
        list = last->next;
        last->next = NULL;
        head->rest = head->next;
        head->done = true;
        sem_post(&head->wake);
    }
}

/* Takes its own call out of the list that it led; the others are to be woken. */
static struct write_request *without(struct write_request *list, struct write_request *own,
                                     uint32_t *n)
{
    struct write_request **at = &list;

    *n = 0;
    while (*at != NULL) {
        if (*at == own) {
            *at = own->next;
            continue;
        }
        at = &(*at)->next;
        ++*n;
    }
    return list;
}

/* Commits what is queued, for some groups on end: the next commit starts while those before are
 * being woken. Then a call that waits takes over, so that this one can return. */
static void lead(struct paua_collection *c, struct write_request *own)
{
    bool more = true;

    for (uint32_t turn = 1; more; turn++) {
        struct write_request *list;
        uint32_t n;

        gather(c);
        list = queue_take(c);
        pthread_mutex_unlock(&c->queue_mutex);
        group_run(c, list);
        list = without(list, own, &n);
        pthread_mutex_lock(&c->queue_mutex);
        c->leading = c->queue != NULL;
        more = c->leading && turn < LEAD_TURNS;
        if (c->leading && !more) sem_post(&c->queue->wake);
        pthread_mutex_unlock(&c->queue_mutex);
        wake(list, n);
        if (more) pthread_mutex_lock(&c->queue_mutex);
    }
}

static paua_status write_run(struct paua_collection *c, struct write_request *r)
{
    bool first;

    sem_init(&r->wake, 0, 0);
    pthread_mutex_lock(&c->queue_mutex);
    *c->queue_end = r;
    c->queue_end = &r->next;
    c->queue_count++;
    if (c->queue_count == c->last_group) pthread_cond_signal(&c->queue_full);
    first = !c->leading;
    c->leading = true;
    if (!first) {
        pthread_mutex_unlock(&c->queue_mutex);
        while (sem_wait(&r->wake) != 0)
            continue; /* a signal */
        if (!r->done) pthread_mutex_lock(&c->queue_mutex);
    }
    if (r->done)
        wake(r->rest, r->rest_count);
    else
        lead(c, r);
    sem_destroy(&r->wake);
    if (r->result != PAUA_OK && r->err != NULL) *r->err = r->refusal;
    return r->result;
}

static paua_status count_check(const paua_keys *keys, paua_error *err)
{
    if (keys->count > CALL_ROWS_MAX)
        return error_set(err, PAUA_EINVAL, "%zu rows in one call; give at most %u", keys->count,
                         CALL_ROWS_MAX);
    return PAUA_OK;
}

static paua_status rows_check(const struct schema *schema, const paua_rows *rows, paua_error *err)
{
    paua_status status;

    if (rows == NULL || rows->size < sizeof *rows)
        return error_set(err, PAUA_EINVAL, "paua_rows.size is not set");
    if (rows->vectors_count > schema->field_count ||
        (rows->vectors_count > 0 && rows->vectors == NULL))
        return error_set(err, PAUA_EINVAL, "%zu vector fields given; \"%s\" has %u",
                         rows->vectors_count, schema->name, schema->field_count);
    for (size_t f = 0; f < rows->vectors_count; f++)
        if (rows->vectors[f].stride != 0 && rows->vectors[f].stride < schema->fields[f].dim)
            return error_set(err, PAUA_EINVAL, "vector \"%s\": a stride of %zu is less than %u",
                             schema->fields[f].name, rows->vectors[f].stride,
                             schema->fields[f].dim);
    if (rows->column_count > 0 && rows->columns == NULL)
        return error_set(err, PAUA_EINVAL, "%zu fields given, but no array of them",
                         rows->column_count);
    if (schema->key_kind == PAUA_KEY_VECTOR) return count_check(&rows->keys, err);
    status = keys_check(schema, &rows->keys, err);
    return status == PAUA_OK ? count_check(&rows->keys, err) : status;
}

static paua_status write_start(paua_collection *c, struct write_request *r,
                               const paua_write_opts *opts, paua_error *err)
{
    paua_status status = c == NULL ? error_set(err, PAUA_EINVAL, "the collection handle is NULL")
                                   : db_check_writable(c->db, err);

    if (status != PAUA_OK) return status;
    if (opts != NULL && opts->size < sizeof *opts)
        return error_set(err, PAUA_EINVAL, "paua_write_opts.size is not set");
    r->all_or_nothing = opts != NULL && opts->all_or_nothing;
    r->replace_fields = opts != NULL && opts->replace_fields;
    if (r->op == WRITE_DELETE) {
        status = keys_check(&c->schema, r->keys, err);
        if (status == PAUA_OK) status = count_check(r->keys, err);
    } else {
        status = rows_check(&c->schema, r->rows, err);
        if (status == PAUA_OK) r->keys = &r->rows->keys;
    }
    if (status != PAUA_OK || r->keys->count == 0) return status;
    return write_run(c, r);
}

static struct write_request request(enum write_op op, paua_status *row_status, paua_error *err)
{
    return (struct write_request){.op = op, .row_status = row_status, .err = err};
}

paua_status paua_insert(paua_collection *collection, const paua_rows *rows,
                        const paua_write_opts *opts, paua_status *row_status, paua_error *err)
{
    struct write_request r = request(WRITE_INSERT, row_status, err);

    r.rows = rows;
    return write_start(collection, &r, opts, err);
}

paua_status paua_upsert(paua_collection *collection, const paua_rows *rows,
                        const paua_write_opts *opts, paua_status *row_status, paua_error *err)
{
    struct write_request r = request(WRITE_UPSERT, row_status, err);

    r.rows = rows;
    return write_start(collection, &r, opts, err);
}

paua_status paua_update(paua_collection *collection, const paua_rows *rows,
                        const paua_write_opts *opts, paua_status *row_status, paua_error *err)
{
    struct write_request r = request(WRITE_UPDATE, row_status, err);

    r.rows = rows;
    return write_start(collection, &r, opts, err);
}

paua_status paua_delete(paua_collection *collection, const paua_keys *keys,
                        const paua_write_opts *opts, paua_status *row_status, paua_error *err)
{
    struct write_request r = request(WRITE_DELETE, row_status, err);

    r.keys = keys;
    return write_start(collection, &r, opts, err);
}

paua_status paua_delete_where(paua_collection *collection, const paua_filter *filter,
                              uint64_t *deleted, paua_error *err)
{
    static const paua_keys none;
    struct write_request r = request(WRITE_DELETE_WHERE, NULL, err);
    paua_status status = collection == NULL || filter == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection or the filter is NULL")
                             : db_check_writable(collection->db, err);

    if (status != PAUA_OK) return status;
    r.keys = &none;
    r.filter = filter;
    status = write_run(collection, &r);
    if (status == PAUA_OK && deleted != NULL) *deleted = r.deleted;
    return status;
}
