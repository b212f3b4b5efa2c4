/* paua.h - the public API of libpaua: an embedded database of vectors and documents.
 *
 * A database is a directory (or lives in memory). It holds collections; a collection holds rows; a
 * row has one key, one vector for each of the collection's vector fields, and perhaps a document.
 *
 * Status    Every call that can fail returns paua_status: 0 on success, negative on failure. On
 *           failure nothing changed: out-parameters are untouched and the database is as it was.
 * Errors    The last parameter of such a call is a caller-owned paua_error, or NULL. On failure it
 *           tells a person what went wrong, where, and what to do. Nothing is ever printed.
 * Handles   Opaque. Freed by the matching paua_X_close(); closing NULL does nothing. Collections
 *           must be closed before their database. Hits and cursors may outlive both.
 * Threads   paua_db and paua_collection may be used by many threads at once. A paua_hits or a
 *           paua_cursor belongs to one thread at a time.
 * Fork      After a fork, every call in the child on an inherited handle fails (PAUA_EFORKED). The
 *           locks stay held until the child, too, has ended or called exec.
 * Strings   UTF-8. Input strings and arrays are borrowed for the length of the call.
 * Options   Structs of options begin with `size` (sizeof as the caller compiled it); zero means
 *           the default for every other field; NULL means all defaults. Fields are only appended.
 *           */
#ifndef PAUA_PAUA_H
#define PAUA_PAUA_H

#include <paua/paua_filter.h>
#include <paua/paua_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct paua_db paua_db;
typedef struct paua_collection paua_collection;
typedef struct paua_hits paua_hits;
typedef struct paua_cursor paua_cursor;

/* ---------------------------------------------------------------------------------------------
 * Database */

typedef enum paua_durability {
    PAUA_FULL = 0, /* a write is durable when its call returns */
    PAUA_BATCH,    /* always consistent; power loss may take the last batch_ms, kill -9 nothing */
    PAUA_OFF       /* consistent after kill -9; power loss may destroy the database */
} paua_durability;

typedef enum paua_verify {
    PAUA_VERIFY_TOUCH = 0, /* each 64 KiB page is checked once, when first read by this handle */
    PAUA_VERIFY_HEADER     /* headers, footers and records only; pages are left to paua_check */
} paua_verify;

typedef struct paua_open_opts {
    size_t size;
    bool create;                /* make the database if there is none in the directory */
    bool read_only;             /* never writes, not even locks; SQLite may leave -wal and -shm */
    bool in_memory;             /* path is ignored; nothing outlives the handle */
    bool no_mmap;               /* read with pread: slower, smaller, and safe from truncation */
    bool lean;                  /* leave refine codes in their files: slower, smaller */
    bool map_originals;         /* compare candidates with mapped originals: faster, larger */
    paua_durability durability; /* default PAUA_FULL */
    paua_verify verify;         /* default PAUA_VERIFY_TOUCH */
    uint32_t batch_ms;          /* PAUA_BATCH: the longest unsynced time; default 100 */
    uint32_t busy_ms;           /* wait for another process's commit; default 60,000 */
    bool no_background;         /* no maintenance thread: merge only in paua_optimize */
} paua_open_opts;

/* Opens a database directory.
 *
 *   path   the directory, borrowed; ignored for in_memory (may be NULL then).
 *   db     receives the handle; close it with paua_close().
 *
 * Errors: PAUA_ENOTFOUND (no database there and create not set), PAUA_EINVAL (the path is not a
 * paua database), PAUA_EVERSION, PAUA_ECORRUPT (also: data files, but no catalogue), PAUA_EREADONLY
 * (read-only medium and read_only not set), PAUA_ENOTSUP (network file system opened for writing),
 * PAUA_EIO, PAUA_ENOMEM.
 * Where the medium is read-only and no writer is at work, the database is opened immutable.
 * A file that is cut short while it is mapped raises SIGBUS when touched: no_mmap avoids it.
 * Cost: a few file reads; collections are opened on demand. */
PAUA_API paua_status paua_open(const char *path, const paua_open_opts *opts, paua_db **db,
                               paua_error *err);

/* Closes; waits for background work. All its collections must be closed. NULL does nothing. */
PAUA_API void paua_close(paua_db *db);

/* Makes all that has been committed durable, whatever the durability. */
PAUA_API paua_status paua_flush(paua_db *db, paua_error *err);

typedef struct paua_backup_opts {
    size_t size;
    bool link; /* hard links for sealed files (same file system); default copies or reflinks */
    paua_progress_fn progress;
    void *progress_arg;
    const paua_cancel *cancel;
} paua_backup_opts;

/* Copies one consistent state of the database into a new directory while writes go on.
 * Errors: PAUA_EEXISTS (destination exists and is not an empty directory), PAUA_EIO,
 * PAUA_ENOSPACE, PAUA_ECANCELED; the destination is removed on failure. */
PAUA_API paua_status paua_backup(paua_db *db, const char *destination, const paua_backup_opts *opts,
                                 paua_error *err);

/* One thing that paua_check found. All strings live until the callback returns. */
typedef struct paua_finding {
    bool fatal;         /* data is lost or unreadable; otherwise a note, e.g. a stray file */
    const char *file;   /* file name inside the database */
    const char *what;   /* what is wrong */
    const char *advice; /* what to do */
} paua_finding;

typedef struct paua_check_opts {
    size_t size;
    bool rebuild; /* make a new catalogue from the sealed segments when the old one is lost */
    paua_progress_fn progress;
    void *progress_arg;
    void (*finding)(void *arg, const paua_finding *finding); /* may be NULL */
    void *finding_arg;
} paua_check_opts;

/* Reads every byte of a database and tests every checksum and invariant.
 *
 * Returns PAUA_OK if all is well, PAUA_ECORRUPT if anything fatal was found (each finding has been
 * reported), or an error that kept it from looking. Works beside writers and on damaged databases.
 * rebuild: the catalogue is moved aside to catalog.sqlite.damaged and made anew from the footers of
 * sealed files; rows that were not sealed yet are lost, and deleted rows that were still stored are
 * back, which is reported. Segments that cannot be opened are reported and left out, and the next
 * opening for writing removes their files. Needs that nobody has the database open. Cost: reads the
 * whole database once. */
PAUA_API paua_status paua_check(const char *path, const paua_check_opts *opts, paua_error *err);

/* ---------------------------------------------------------------------------------------------
 * Collections */

typedef enum paua_key_kind {
    PAUA_KEY_U64 = 0, /* any 64-bit number */
    PAUA_KEY_STRING,  /* 1 to 1,024 bytes of UTF-8 */
    PAUA_KEY_VECTOR   /* the stored bits of the first vector field are the key */
} paua_key_kind;

typedef enum paua_metric {
    PAUA_METRIC_DEFAULT = 0, /* in a query: the field's own; in a schema: cosine */
    PAUA_L2,                 /* squared Euclidean distance, sum (a-b)^2 */
    PAUA_IP,                 /* negated inner product, -sum a*b */
    PAUA_COSINE              /* 1 - cosine; 1 to a zero vector, 0 between two zero vectors */
} paua_metric;

/* How near a search without `exact` comes, and what it keeps in memory for that. A segment of more
 * than PAUA_INDEX_ROWS_MIN rows gets codes of at most so many bytes a row when it is optimized (and
 * factors, 32 bytes); until then, and in smaller segments, rows are compared with their
 * originals. */
typedef enum paua_precision {
    PAUA_FP32 = 0, /* codes of dim / 2 bytes; the best candidates compared with fp32 originals */
    PAUA_FP16,     /* the same with fp16 originals */
    PAUA_INT8,     /* codes of at most dim bytes (never below 16) decide */
    PAUA_INT4,     /* dim / 2 */
    PAUA_INT2      /* dim / 4 */
} paua_precision;

#define PAUA_INDEX_ROWS_MIN 1000u

/* How the vectors themselves are stored, for exact search, refinement, fetching and merging. */
typedef enum paua_originals {
    PAUA_ORIGINALS_DEFAULT = 0, /* fp16 for PAUA_FP16, fp32 for the others */
    PAUA_ORIGINALS_FP32,        /* 4 bytes a component */
    PAUA_ORIGINALS_FP16,        /* IEEE half, rounded to nearest even; beyond +-65,504 refused */
    PAUA_ORIGINALS_NONE         /* not kept once a segment has codes; what is fetched is decoded */
} paua_originals;

typedef enum paua_index_kind {
    PAUA_INDEX_DEFAULT = 0, /* vamana */
    PAUA_INDEX_VAMANA,      /* a graph over the codes */
    PAUA_INDEX_FLAT,        /* every code is compared */
    PAUA_INDEX_NONE,        /* no codes: searches compare every original */
    PAUA_INDEX_BITMAP,      /* of a field that is no vector: the set of rows of each value */
    PAUA_INDEX_SORTED       /* of such a field: its rows, ordered by value */
} paua_index_kind;

#define PAUA_DEGREE_MAX 512u
#define PAUA_LIST_MAX 4096u

/* What index a field has. Zero means the default for each. */
typedef struct paua_index_params {
    paua_index_kind kind;
    uint32_t degree;    /* vamana: most neighbours of a row, 4 to 512; default 64 */
    uint32_t list;      /* vamana: candidates that building keeps, 4 to 4,096; default 100 */
    uint32_t occlusion; /* vamana: candidates that pruning looks at, to 65,536; default 750 */
    float alpha;        /* vamana: slack of pruning, 1 to 2; default 1.2 */
} paua_index_params;

typedef enum paua_document_kind {
    PAUA_DOCUMENT_TEXT = 0, /* UTF-8, checked */
    PAUA_DOCUMENT_BYTES,    /* anything */
    PAUA_DOCUMENT_NONE      /* the collection has no documents */
} paua_document_kind;

#define PAUA_NAME_NBYTES_MAX 255u
#define PAUA_KEY_NBYTES_MAX 1024u
#define PAUA_DOCUMENT_NBYTES_MAX (64u << 20)
#define PAUA_DIM_MAX 65535u
#define PAUA_VECTOR_FIELDS_MAX 16u

typedef struct paua_vector_field {
    const char *name; /* 1 to 255 bytes of UTF-8, no control characters; unique in the schema */
    uint32_t dim;     /* 1 to 65,535 */
    paua_metric metric;
    paua_precision precision;
    paua_originals originals;
    paua_index_params index; /* of the index that is named like the field; paua_index_create() adds
                                more */
} paua_vector_field;

typedef struct paua_schema {
    size_t size;
    paua_key_kind key_kind;
    paua_document_kind document;
    const paua_vector_field *fields; /* the first is the default of searches */
    size_t field_count;              /* 1 to 16 */
    const paua_field *columns;       /* fields of the rows besides; at most 1,024 */
    size_t column_count;
    bool dynamic; /* a write may bring new fields, with the type of their first value (strings and
                     bytes: PAUA_TYPE_MIXED) */
} paua_schema;

/* Creates a collection and opens it.
 *   name   1 to 255 bytes of UTF-8 without control characters.
 * Errors: PAUA_EEXISTS, PAUA_EINVAL (which field, which limit), PAUA_EREADONLY, PAUA_EIO ... */
PAUA_API paua_status paua_collection_create(paua_db *db, const char *name,
                                            const paua_schema *schema, paua_collection **collection,
                                            paua_error *err);

/* Opens an existing collection: PAUA_ENOTFOUND, PAUA_ECORRUPT, PAUA_EIO, PAUA_ENOMEM. Opening one
 * twice gives two handles on one state. Cost: maps its files and replays its unsealed rows. */
PAUA_API paua_status paua_collection_open(paua_db *db, const char *name,
                                          paua_collection **collection, paua_error *err);

PAUA_API void paua_collection_close(paua_collection *collection);

/* Drops a collection and its files. PAUA_ENOTFOUND, PAUA_EBUSY (a writer or an open handle in this
 * process; readers elsewhere keep what they have open). */
PAUA_API paua_status paua_collection_drop(paua_db *db, const char *name, paua_error *err);

/* Calls `each` for each collection, by name. The name lives until `each` returns. */
PAUA_API paua_status paua_collection_list(paua_db *db, void (*each)(void *arg, const char *name),
                                          void *arg, paua_error *err);

/* The schema as created; owned by the handle, valid until it is closed. metric is never DEFAULT.
 * columns is NULL: fields come and go, see paua_field_list(). */
PAUA_API const paua_schema *paua_collection_schema(const paua_collection *collection);
PAUA_API const char *paua_collection_name(const paua_collection *collection);

/* ---------------------------------------------------------------------------------------------
 * Writing */

/* Keys for n rows or look-ups; the member that the collection's key kind names is used. */
typedef struct paua_keys {
    size_t count;
    const uint64_t *u64;       /* PAUA_KEY_U64: count numbers */
    const paua_bytes *strings; /* PAUA_KEY_STRING: count strings */
    const float *vectors;      /* PAUA_KEY_VECTOR: count x dim row-major */
    size_t stride;             /* floats from one vector to the next; 0 means dim */
} paua_keys;

/* Vectors of one field: count x dim floats, row-major, `stride` floats apart (0 means dim).
 * data == NULL: not given (paua_update, and paua_upsert on an existing key, keep the old one). */
typedef struct paua_vectors {
    const float *data;
    size_t stride;
} paua_vectors;

/* One field of all rows of a write. */
typedef struct paua_column {
    const char *name;
    const paua_value *values; /* keys.count; PAUA_TYPE_NONE: not given for this row */
} paua_column;

typedef struct paua_rows {
    size_t size;
    paua_keys keys;              /* PAUA_KEY_VECTOR: only count is used; the key is in vectors */
    const paua_vectors *vectors; /* one entry a vector field, in the schema's order */
    size_t vectors_count;        /* fields given: 0 to the schema's field_count */
    const paua_bytes *documents; /* keys.count entries, or NULL for none */
    const paua_column *columns;  /* fields given, in any order; names distinct */
    size_t column_count;
} paua_rows;

typedef struct paua_write_opts {
    size_t size;
    bool all_or_nothing; /* one bad row refuses the whole batch */
    bool replace_fields; /* upsert and update: fields not given become NULL */
} paua_write_opts;

/* The four writes. Each row has its own result: row_status (keys.count entries, may be NULL)
 * receives PAUA_OK or why this row was refused; the others are written all the same unless
 * all_or_nothing is set.
 *
 *   insert   the key must be new (PAUA_EEXISTS); every vector field must be given.
 *   upsert   inserts, or replaces what is given and keeps what is not.
 *   update   the key must exist (PAUA_ENOTFOUND); replaces what is given. With a vector or a
 *            document it costs what an insert does: the row is written anew, with what is kept
 *            copied. Fields alone are patched: the row stays where it is.
 *   delete   the key must exist (PAUA_ENOTFOUND).
 *
 * At most 1,048,576 rows a call (PAUA_EINVAL).
 * Vectors with NaN or infinity are refused with the component's index (PAUA_EINVAL). A key twice
 * in one batch acts in order. Returns PAUA_OK if all rows were written; PAUA_EPARTIAL if some were
 * refused (err describes the first); with all_or_nothing the first refusal's status. PAUA_EBUSY:
 * another process writes this collection (err says who). PAUA_EPOISONED, PAUA_EREADONLY,
 * PAUA_ENOSPACE, PAUA_EIO, PAUA_ENOMEM: nothing was written.
 *
 * With PAUA_FULL the rows are durable on return; calls that wait at the same time share one sync.
 * The first write takes the collection's writer lock, held until the handle is closed. */
PAUA_API paua_status paua_insert(paua_collection *collection, const paua_rows *rows,
                                 const paua_write_opts *opts, paua_status *row_status,
                                 paua_error *err);
PAUA_API paua_status paua_upsert(paua_collection *collection, const paua_rows *rows,
                                 const paua_write_opts *opts, paua_status *row_status,
                                 paua_error *err);
PAUA_API paua_status paua_update(paua_collection *collection, const paua_rows *rows,
                                 const paua_write_opts *opts, paua_status *row_status,
                                 paua_error *err);
PAUA_API paua_status paua_delete(paua_collection *collection, const paua_keys *keys,
                                 const paua_write_opts *opts, paua_status *row_status,
                                 paua_error *err);

typedef struct paua_optimize_opts {
    size_t size;
    uint32_t threads; /* at most so many, 0: all cores; merging, bound by the disk, takes one */
    paua_progress_fn progress;
    void *progress_arg;
    const paua_cancel *cancel;
} paua_optimize_opts;

/* Merges segments, rewrites files over a quarter dead, gives their space back, and builds the
 * indexes of segments that lack them. A large segment that is indexed is left alone until what came
 * after it is a quarter as large. Reads and writes go on meanwhile. Costs nothing but a look at the
 * catalogue if there is nothing to do. Errors as for a write, and PAUA_ECANCELED; on any error the
 * old files stay. */
PAUA_API paua_status paua_optimize(paua_collection *collection, const paua_optimize_opts *opts,
                                   paua_error *err);

/* Gives a field one more index and builds it for the rows that segments hold; searches and writes
 * go on meanwhile. Indexes of one vector field share its codes. An index of any other field (no
 * array) is used by filters where it saves time, and never changes what they find; rows of the tail
 * and of small segments are scanned.
 *   field   NULL: the first vector field.
 *   name    1 to 255 bytes of UTF-8 without control characters, unique in the collection.
 *   params  kind VAMANA or FLAT, of the field's metric; for a field that is no vector BITMAP (few
 *           thousand values) or SORTED (many values, ranges; the default).
 * Errors: PAUA_EEXISTS, PAUA_ENOTFOUND (no such field), PAUA_EINVAL, PAUA_ECANCELED, and as for a
 * write. If building fails or is canceled the index is defined already, and paua_optimize goes on
 * with it. */
PAUA_API paua_status paua_index_create(paua_collection *collection, const char *field,
                                       const char *name, const paua_index_params *params,
                                       const paua_optimize_opts *opts, paua_error *err);

/* Drops an index and its files; searches that are under way finish with it. Codes go with the last
 * index of a field, unless they are all that is kept of the vectors. PAUA_ENOTFOUND. */
PAUA_API paua_status paua_index_drop(paua_collection *collection, const char *name,
                                     paua_error *err);

typedef struct paua_index {
    const char *name; /* strings live until the callback returns */
    const char *field;
    paua_index_params params;            /* defaults filled in */
    uint64_t rows;                       /* in segments that this index covers */
    uint64_t rows_due;                   /* in segments that it will cover when optimized */
    uint64_t walk_nbytes, refine_nbytes; /* codes of the field, in all segments */
    uint64_t factor_nbytes;              /* their factors and transforms */
    uint64_t graph_nbytes;
    uint64_t values_nbytes; /* bitmap, sorted: files */
} paua_index;

/* Calls `each` for each index, in the order of their making. */
PAUA_API paua_status paua_index_list(paua_collection *collection,
                                     void (*each)(void *arg, const paua_index *index), void *arg,
                                     paua_error *err);

/* ---------------------------------------------------------------------------------------------
 * Reading */

/* A key as stored. Which member counts follows the collection's key kind: u64, or bytes (a string
 * without NUL, or for PAUA_KEY_VECTOR the dim stored components in their stored precision). */
typedef struct paua_key {
    uint64_t u64;
    paua_bytes bytes;
} paua_key;

typedef struct paua_record {
    bool found; /* false only in a fetch, for a key that does not exist */
    paua_key key;
    const float *const *vectors; /* one a field, to its dim floats; NULL if not asked */
    paua_bytes document;         /* data == NULL: none, or not asked */
    const paua_value *values;    /* one a field of paua_cursor_fields(); type NULL if absent */
} paua_record;

typedef struct paua_read_opts {
    size_t size;
    bool no_vectors;
    bool no_document;
    bool no_values;
    const char *const *fields; /* only these, in this order; NULL: all, by their making */
    size_t field_count;
} paua_read_opts;

/* Reads rows by key, in the order of keys, from one snapshot: as many records as keys. */
PAUA_API paua_status paua_fetch(paua_collection *collection, const paua_keys *keys,
                                const paua_read_opts *opts, paua_cursor **cursor, paua_error *err);

/* Walks a snapshot of all rows, oldest first. Writes made meanwhile are not seen. */
PAUA_API paua_status paua_iterate(paua_collection *collection, const paua_read_opts *opts,
                                  paua_cursor **cursor, paua_error *err);

/* Moves to the next record. *record points into the cursor until the next call or its close, and
 * is NULL past the end. PAUA_ECORRUPT or PAUA_EIO name the file; the cursor then stays where it
 * is. */
PAUA_API paua_status paua_cursor_next(paua_cursor *cursor, const paua_record **record,
                                      paua_error *err);
PAUA_API void paua_cursor_close(paua_cursor *cursor);

/* The fields whose values records carry; owned by the cursor. */
PAUA_API const paua_field *paua_cursor_fields(const paua_cursor *cursor, size_t *count);

/* ---------------------------------------------------------------------------------------------
 * Fields and filters: see paua_filter.h for how a filter is made. */

typedef struct paua_query_opts {
    size_t size;
    const paua_filter *filter; /* NULL: every row */
    const char *order_by;      /* a field; NULL: oldest first. Ties: oldest first */
    bool descending;           /* NULL values come last either way */
    uint64_t offset;           /* rows to skip */
    uint64_t limit;            /* 0: no limit */
    paua_read_opts read;       /* its size may be 0 */
    const paua_cancel *cancel;
} paua_query_opts;

/* The rows that a filter finds, from one snapshot. PAUA_EINVAL: filter, or order by an array. */
PAUA_API paua_status paua_query(paua_collection *collection, const paua_query_opts *opts,
                                paua_cursor **cursor, paua_error *err);

/* How many rows a filter finds (NULL: all). */
PAUA_API paua_status paua_count(paua_collection *collection, const paua_filter *filter,
                                uint64_t *count, paua_error *err);

/* Deletes the rows that a filter finds (NULL is PAUA_EINVAL), all in one commit. *deleted (may be
 * NULL) receives how many. */
PAUA_API paua_status paua_delete_where(paua_collection *collection, const paua_filter *filter,
                                       uint64_t *deleted, paua_error *err);

/* Adds a field (NULL in every row so far), renames one, changes its type, drops one; online, each
 * in one commit. PAUA_EEXISTS, PAUA_ENOTFOUND, PAUA_EINVAL, and as for a write. retype: every
 * stored value must convert without loss (strings to numbers and timestamps by parsing, anything to
 * strings by formatting); the first that does not refuses the change. */
PAUA_API paua_status paua_field_add(paua_collection *collection, const paua_field *field,
                                    paua_error *err);
PAUA_API paua_status paua_field_rename(paua_collection *collection, const char *name,
                                       const char *new_name, paua_error *err);
PAUA_API paua_status paua_field_retype(paua_collection *collection, const char *name, uint32_t type,
                                       paua_error *err);
PAUA_API paua_status paua_field_drop(paua_collection *collection, const char *name,
                                     paua_error *err);

typedef struct paua_field_info {
    paua_field field;  /* the name lives until the callback returns */
    uint64_t distinct; /* at most so many distinct values: summed over segments */
    uint64_t nulls;    /* stored rows without a value */
    uint64_t nbytes;   /* on disk in segments; in memory in the tail */
    uint64_t patches;  /* values that replace others until the next optimize */
    uint32_t constant, sparse, packed, raw, unrepeated; /* chunks of each kind */
} paua_field_info;

/* Calls `each` for each field, in the order of their making. */
PAUA_API paua_status paua_field_list(paua_collection *collection,
                                     void (*each)(void *arg, const paua_field_info *info),
                                     void *arg, paua_error *err);

typedef struct paua_search_opts {
    size_t size;
    uint32_t k;         /* 1 to 2^31-1 rows wanted; 0 is PAUA_EINVAL */
    const char *field;  /* vector field; NULL: the first */
    paua_metric metric; /* PAUA_METRIC_DEFAULT: the field's */
    bool has_radius;
    double radius;            /* only rows with distance <= radius, in the metric's own unit */
    const paua_keys *allowed; /* only these keys (unknown ones are skipped); NULL: all rows */
    uint32_t timeout_ms;      /* PAUA_ETIMEOUT after this long; 0: never */
    uint32_t threads;         /* 0: one for one query, all cores for a batch */
    const paua_cancel *cancel;
    bool exact;        /* compare every original; also what a metric not the field's does */
    bool refine;       /* int8, int4, int2: compare the best candidates with their originals */
    uint32_t ef;       /* vamana: candidates kept, at least k; default max(200, 2 k) */
    const char *index; /* name of the index to use; NULL: the field's first */
    const paua_filter *filter; /* only rows for which it is true; NULL: all */
    const char *group_by;      /* a field: at most group_size rows of each of its values */
    uint32_t group_size;       /* default 1 */
} paua_search_opts;

typedef struct paua_hit {
    paua_key key;    /* borrowed from the hits until they are searched again or closed */
    double distance; /* the metric's unit; smaller is nearer; never NaN */
} paua_hit;

/* Makes an empty set of hits that searches fill; reuse it, since its memory is reused too. */
PAUA_API paua_status paua_hits_open(paua_hits **hits, paua_error *err);
PAUA_API void paua_hits_close(paua_hits *hits);

/* Finds the k nearest rows to each of n queries: exactly, by comparing with every row, or through
 * the field's index where a segment has one. Distances are exact for fp32 and fp16 and with refine,
 * and estimates from the codes for int8, int4 and int2.
 *
 *   queries   n x dim floats, row-major, `stride` floats apart (0 means dim). NaN or infinity:
 *             PAUA_EINVAL with the query and component.
 *   opts      k is required.
 *   hits      on success n lists, each of min(k, matching rows), by distance, ties by key; as they
 *             were if an argument was refused, empty on another failure. Holds its snapshot until
 *             searched again or closed.
 *
 * All queries see one snapshot. A batch gives the same bits as its queries one by one.
 * Errors: PAUA_EINVAL, PAUA_ENOTFOUND (no such field), PAUA_ETIMEOUT, PAUA_ECANCELED,
 * PAUA_ECORRUPT, PAUA_EIO, PAUA_ENOMEM. Cost: exact, n x rows x dim multiply-adds; one query
 * reads every vector once. Through a graph some ef x degree / 3 comparisons of codes. */
PAUA_API paua_status paua_search(paua_collection *collection, const float *queries, size_t n,
                                 size_t stride, const paua_search_opts *opts, paua_hits *hits,
                                 paua_error *err);

/* Number of queries that the hits answer, and of hits of one query (0 past the end). */
PAUA_API size_t paua_hits_queries(const paua_hits *hits);
PAUA_API size_t paua_hits_count(const paua_hits *hits, size_t query);

/* The i-th nearest of a query; query and i must be in range. */
PAUA_API paua_hit paua_hits_at(const paua_hits *hits, size_t query, size_t i);

/* The value of a field of a hit, from the snapshot that was searched; borrowed until the hits are
 * searched again or closed. PAUA_ENOTFOUND: no such field. */
PAUA_API paua_status paua_hits_value(paua_hits *hits, size_t query, size_t i, const char *field,
                                     paua_value *value, paua_error *err);

/* How a search went. */
typedef struct paua_plan {
    size_t size;
    uint64_t rows;         /* live rows searched through */
    uint64_t matched;      /* that the filter and the allowed keys let pass */
    uint32_t segments;     /* by how they were searched: */
    uint32_t walked;       /* ... through a graph */
    uint32_t scanned;      /* ... by comparing codes of rows that match */
    uint32_t compared;     /* ... by comparing originals */
    uint32_t walked_short; /* walks that ended short, and were done again by scanning */
    double filter_us;      /* time that the filter took */
    char reason[160];      /* why, for a person */
    uint32_t indexed;      /* conditions that indexes of fields answered, over all segments */
} paua_plan;

/* Tells how the search that filled these hits went; plan->size is set by the caller. */
PAUA_API paua_status paua_hits_plan(const paua_hits *hits, paua_plan *plan, paua_error *err);

/* Reads the document of a hit, from the snapshot that was searched. Borrowed until the next call on
 * these hits. */
PAUA_API paua_status paua_hits_document(paua_hits *hits, size_t query, size_t i,
                                        paua_bytes *document, paua_error *err);

/* ---------------------------------------------------------------------------------------------
 * Numbers */

typedef struct paua_stats {
    size_t size;        /* set by the caller */
    uint64_t rows;      /* live */
    uint64_t deleted;   /* dead but still stored */
    uint64_t tail_rows; /* stored in the unsealed tail, dead ones included */
    uint64_t segments;
    uint64_t vector_nbytes;   /* on disk: vector files */
    uint64_t document_nbytes; /* on disk: heap files */
    uint64_t key_nbytes;      /* on disk: key files */
    uint64_t catalog_nbytes;  /* on disk: the catalogue with its log; of the whole database */
    uint64_t code_nbytes;     /* on disk: codes, factors and transforms */
    uint64_t graph_nbytes;    /* on disk: graphs */
    uint64_t mapped_nbytes;   /* address space mapped, resident or not */
    uint64_t heap_nbytes;     /* on the heap: tail keys and tables, deletions, file tables */
    uint64_t column_nbytes;   /* on disk: columns */
    uint64_t patches;         /* field values that replace others until the next optimize */
} paua_stats;

PAUA_API paua_status paua_collection_stats(paua_collection *collection, paua_stats *stats,
                                           paua_error *err);

#ifdef __cplusplus
}
#endif
#endif
