/* maintenance.c - the one background thread of a database that is open for writing: it merges after
 * seals, and under PAUA_BATCH syncs what has been committed, every batch_ms. Its failures are not
 * reported: what it could not do is still to be done by the next seal, flush or optimize. */
#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "db/db.h"

struct maintenance {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stop;
    bool wanted; /* something was sealed */
};

/* The next collection after `c` (the first for NULL), kept from closing until released. */
static struct paua_collection *next_busy(paua_db *db, struct paua_collection *c)
{
    struct paua_collection *next;

    pthread_mutex_lock(&db->mutex);
    next = c == NULL ? db->collections : c->next;
    if (next != NULL) next->busy++;
    if (c != NULL && --c->busy == 0) pthread_cond_broadcast(&db->idle);
    pthread_mutex_unlock(&db->mutex);
    return next;
}

static bool stopping(struct maintenance *m)
{
    bool stop;

    pthread_mutex_lock(&m->mutex);
    stop = m->stop;
    pthread_mutex_unlock(&m->mutex);
    return stop;
}

static bool unsynced(struct paua_collection *c)
{
    struct view *view = collection_peek(c);
    bool is;

    pthread_mutex_lock(&c->write_mutex);
    is = c->durable_sequence < view->head.last_sequence;
    pthread_mutex_unlock(&c->write_mutex);
    view_unref(view);
    return is;
}

static void round_run(paua_db *db, bool merge)
{
    bool sync = false, did;

    for (struct paua_collection *c = next_busy(db, NULL); c != NULL; c = next_busy(db, c)) {
        if (!atomic_load(&c->writing) || stopping(db->maintenance)) continue;
        if (db->opts.durability == PAUA_BATCH && unsynced(c))
            sync = collection_sync(c, NULL) == PAUA_OK || sync;
        if (merge && !db->opts.no_background) {
            const paua_optimize_opts opts = {
                .size = sizeof opts, .threads = 1, .cancel = &c->background};

            merge_run(c, MERGE_BACKGROUND, &opts, &did, NULL);
        }
    }
    if (db->opts.durability == PAUA_BATCH && atomic_exchange(&db->histories_unsynced, false))
        sync = true;
    if (sync) db_sync_catalog(db, NULL);
}

static void wait_for_work(paua_db *db, struct maintenance *m)
{
    struct timespec until;

    if (db->opts.durability != PAUA_BATCH) {
        pthread_cond_wait(&m->changed, &m->mutex);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += db->opts.batch_ms / 1000;
    until.tv_nsec += (long)(db->opts.batch_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&m->changed, &m->mutex, &until);
}

static void *thread_run(void *arg)
{
    paua_db *db = arg;
    struct maintenance *m = db->maintenance;

    pthread_mutex_lock(&m->mutex);
    while (!m->stop) {
        bool merge;

        if (!m->wanted) wait_for_work(db, m);
        if (m->stop) break;
        merge = m->wanted;
        m->wanted = false;
        pthread_mutex_unlock(&m->mutex);
        round_run(db, merge);
        pthread_mutex_lock(&m->mutex);
    }
    pthread_mutex_unlock(&m->mutex);
    return NULL;
}

paua_status maintenance_start(paua_db *db, paua_error *err)
{
    struct maintenance *m = mem_zalloc(1, sizeof *m);
    sigset_t all, before;
    int failed;

    if (m == NULL) return error_set_nomem(err);
    pthread_mutex_init(&m->mutex, NULL);
    clock_cond_init(&m->changed);
    db->maintenance = m;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's business */
    failed = pthread_create(&m->thread, NULL, thread_run, db);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed == 0) return PAUA_OK;
    db->maintenance = NULL;
    mem_free(m);
    return error_set_errno(err, failed, "maintenance", "starting a thread");
}

void maintenance_wake(paua_db *db)
{
    if (db->maintenance == NULL) return;
    pthread_mutex_lock(&db->maintenance->mutex);
    db->maintenance->wanted = true;
    pthread_cond_signal(&db->maintenance->changed);
    pthread_mutex_unlock(&db->maintenance->mutex);
}

void maintenance_stop(paua_db *db)
{
    struct maintenance *m = db->maintenance;

    pthread_mutex_lock(&m->mutex);
    m->stop = true;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->mutex);
    pthread_join(m->thread, NULL);
    pthread_mutex_destroy(&m->mutex);
    pthread_cond_destroy(&m->changed);
    mem_free(m);
    db->maintenance = NULL;
}
