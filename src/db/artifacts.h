/* artifacts.h - codes, graphs and ordered values as views hold them, and definitions of indexes.
 *
 * An artifact's file is opened with the view that names it, so that another process may drop it
 * while the view lives; its arrays are checked and mapped by the first search that needs them.
 * Everything here is reference-counted, shared between views, and immutable but for that first
 * opening. Any thread. */
#ifndef PAUA_DB_ARTIFACTS_H
#define PAUA_DB_ARTIFACTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec/index_record.h"
#include "codec/schema.h"
#include "index/codes.h"
#include "index/graph_file.h"
#include "index/value_index.h"

struct artifact_file {
    _Atomic uint32_t refs;
    struct artifact record;
    struct data_file *file;
    bool lean;
    pthread_mutex_t mutex; /* while opening; no other lock is taken under it */
    _Atomic(struct codes *) codes;
    _Atomic(struct graph_file *) graph;
    _Atomic(struct value_index *) values;
};

/* Those of one segment, any field, in the order of their file numbers. */
struct artifacts {
    _Atomic uint32_t refs;
    uint32_t count;
    struct artifact_file *files[];
};

/* The indexes of a collection, by number. */
struct index_list {
    _Atomic uint32_t refs;
    uint32_t count;
    struct index_definition items[];
};

struct artifact_opts {
    struct data_file_opts file;
    bool lean;
};

/* Opens the file, takes no more than header and footer; PAUA_ECORRUPT and others as for any sealed
 * file. */
paua_status artifact_open(struct dir *dir, const struct schema *schema,
                          const struct artifact *record, struct artifact_opts opts,
                          struct artifact_file **artifact, paua_error *err);
struct artifact_file *artifact_ref(struct artifact_file *artifact);
void artifact_unref(struct artifact_file *artifact); /* NULL does nothing */

/* The arrays, borrowed while the artifact lives. PAUA_ECORRUPT names the file. */
paua_status artifact_codes(struct artifact_file *artifact, const struct codes **codes,
                           paua_error *err);
paua_status artifact_graph(struct artifact_file *artifact, const struct codes *codes,
                           const struct graph **graph, paua_error *err);
paua_status artifact_values(struct artifact_file *artifact, const struct value_index **values,
                            paua_error *err);

/* NULL when out of memory; references to the files are taken over by the caller's filling. */
struct artifacts *artifacts_new(uint32_t count);
struct artifacts *artifacts_ref(struct artifacts *artifacts);
void artifacts_unref(struct artifacts *artifacts);
/* A copy with one more file (its reference is taken over on success), or without those of an index
 * number and field (`index` 0: codes). */
struct artifacts *artifacts_with(const struct artifacts *artifacts, struct artifact_file *added);
struct artifacts *artifacts_without(const struct artifacts *artifacts, uint32_t field,
                                    uint32_t index);
/* A copy without the ordered values of a field, or, `field` being 0, of any. */
struct artifacts *artifacts_without_values(const struct artifacts *artifacts, uint32_t field);
/* Codes (index 0), or the graph or values of an index; NULL: none. artifacts may be NULL. */
struct artifact_file *artifacts_find(const struct artifacts *artifacts, uint32_t field,
                                     uint32_t index);

struct index_list *index_list_new(uint32_t count);
struct index_list *index_list_ref(struct index_list *list);
void index_list_unref(struct index_list *list);
/* The first index of a vector field, or the one of this name; NULL: none. list may be NULL. */
const struct index_definition *index_list_find(const struct index_list *list, uint32_t field,
                                               const char *name);

/* Removes an artifact's file, best effort. */
void artifact_unlink(struct dir *dir, const struct artifact *record);

#endif
