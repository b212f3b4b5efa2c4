/* current.c - which view is current, and how a reading process keeps up with a writing one.
 *
 * The process that writes a collection publishes its views itself and never looks at the catalogue.
 * Any other asks SQLite's data_version (a few microseconds) whenever a view is wanted. */
#include "base/error.h"
#include "db/db.h"

struct view *collection_peek(struct paua_collection *c)
{
    struct view *view;

    pthread_mutex_lock(&c->view_mutex);
    view = view_ref(c->view);
    pthread_mutex_unlock(&c->view_mutex);
    return view;
}

void collection_publish(struct paua_collection *c, struct view *view)
{
    struct view *old;

    pthread_mutex_lock(&c->view_mutex);
    old = c->view;
    c->view = view;
    pthread_mutex_unlock(&c->view_mutex);
    view_unref(old);
}

static paua_status version_now(paua_db *db, uint64_t *version, paua_error *err)
{
    struct catalog *catalog = db_lock_reader(db);
    paua_status status = catalog_version(catalog, version, err);

    db_unlock_reader(db);
    return status;
}

/* With refresh_mutex held. */
static paua_status refresh(struct paua_collection *c, paua_error *err)
{
    struct view *view, *old;
    uint64_t version;
    bool torn;
    paua_status status = version_now(c->db, &version, err);

    if (status != PAUA_OK || version == c->seen_version) return status;
    old = collection_peek(c);
    status = load_view(c, old, &view, &torn, err);
    view_unref(old);
    if (status != PAUA_OK) return status;
    collection_publish(c, view);
    c->seen_version = version;
    return PAUA_OK;
}

paua_status collection_view(struct paua_collection *c, struct view **view, paua_error *err)
{
    paua_status status = PAUA_OK;

    if (!dir_in_memory(c->db->dir) && !atomic_load(&c->writing)) {
        pthread_mutex_lock(&c->refresh_mutex);
        if (!atomic_load(&c->writing)) status = refresh(c, err);
        pthread_mutex_unlock(&c->refresh_mutex);
    }
    if (status == PAUA_OK) *view = collection_peek(c);
    return status;
}
