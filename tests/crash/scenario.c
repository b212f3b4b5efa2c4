/* scenario.c - see scenario.h. The schema has a vector of each precision, so that a row lies in
 * three files, and documents from none to one that is longer than a page. */
#include "crash/scenario.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDE 4u
#define NARROW 3u
#define LONG_KEY 7u
#define LONG_NBYTES 70000u

#define DECODED_ERROR 25.0 /* of "narrow" in the collection with indexes, its values below 1024 */
#define SEARCH_STEP 389u   /* one row in so many is searched for, each time others */
#define EF 2000u           /* the graphs are poor, made fast: walk all of them */

static const char *const names[COLLECTIONS] = {"first", "second", "indexed"};
static const char *const index_names[INDEXES] = {"wide", "narrow", "extra"};

#define WITHOUT                                                                                    \
    {                                                                                              \
        .kind = PAUA_INDEX_NONE                                                                    \
    }
#define VAMANA                                                                                     \
    {                                                                                              \
        .kind = PAUA_INDEX_VAMANA, .degree = 8, .list = 16, .occlusion = 32                        \
    }

static const paua_vector_field plain_fields[] = {
    {.name = "wide", .dim = WIDE, .metric = PAUA_L2, .index = WITHOUT},
    {.name = "narrow", .dim = NARROW, .metric = PAUA_L2, .precision = PAUA_FP16, .index = WITHOUT},
};

static const paua_vector_field indexed_fields[] = {
    {.name = "wide", .dim = WIDE, .metric = PAUA_L2, .precision = PAUA_INT8, .index = VAMANA},
    {.name = "narrow",
     .dim = NARROW,
     .metric = PAUA_L2,
     .precision = PAUA_INT8,
     .originals = PAUA_ORIGINALS_NONE,
     .index = {.kind = PAUA_INDEX_FLAT}},
};

static const paua_index_params extra = VAMANA;

/* One thread: what a scenario does is the same each time. */
static const paua_optimize_opts alone = {.size = sizeof alone, .threads = 1};

static paua_status create_run(uint32_t c, struct world *world, paua_error *err)
{
    paua_schema schema = {.size = sizeof schema,
                          .fields = c == INDEXED ? indexed_fields : plain_fields,
                          .field_count = 2};

    return paua_collection_create(world->db, names[c], &schema, &world->collections[c], err);
}

paua_status world_attach(struct world *world, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (uint32_t c = 0; c < COLLECTIONS && status == PAUA_OK; c++) {
        if (world->collections[c] != NULL) continue;
        status = paua_collection_open(world->db, names[c], &world->collections[c], err);
        if (status == PAUA_ENOTFOUND) status = PAUA_OK;
    }
    return status;
}

paua_status world_open(struct world *world, bool create, paua_error *err)
{
    paua_open_opts opts = {.size = sizeof opts,
                           .create = create,
                           .durability = world->durability,
                           .no_background = true,
                           .batch_ms = 3600000};
    paua_status status = paua_open(world->path, &opts, &world->db, err);

    if (status == PAUA_OK) status = world_attach(world, err);
    if (status != PAUA_OK) world_close(world);
    return status;
}

void world_close(struct world *world)
{
    for (uint32_t c = 0; c < COLLECTIONS; c++) {
        paua_collection_close(world->collections[c]);
        world->collections[c] = NULL;
    }
    paua_close(world->db);
    world->db = NULL;
}

static bool has_document(uint64_t key) { return key % 3 != 0 && (key < 200 || key > 16000); }

static bool takes(const struct step *step, const struct row *row)
{
    bool there = row->vector != 0;

    if (step->kind == STEP_INSERT) return !there;
    return step->kind == STEP_UPSERT || there;
}

void step_expect(const struct step *step, uint16_t version, struct model *model)
{
    struct table *table = &model->tables[step->collection];

    if (step->kind == STEP_CREATE) table->exists = true;
    if (step->kind == STEP_CREATE && step->collection == INDEXED)
        table->indexes = 1 << INDEX_WIDE | 1 << INDEX_NARROW;
    if (step->kind == STEP_INDEX) table->indexes |= 1 << INDEX_EXTRA;
    if (step->kind == STEP_UNINDEX) table->indexes &= (uint8_t) ~(1u << step->first);
    if (step->kind == STEP_DROP) memset(table, 0, sizeof *table);
    if (step->kind < STEP_INSERT || step->kind > STEP_DELETE) return;
    for (uint64_t key = step->first; key <= step->last; key++) {
        struct row *row = &table->rows[key];

        if (!takes(step, row)) continue;
        if (step->kind != STEP_DOCUMENTS) row->vector = step->kind == STEP_DELETE ? 0 : version;
        if (step->kind == STEP_DELETE)
            row->document = 0;
        else if (has_document(key))
            row->document = version;
    }
}

static void vectors_make(uint64_t key, uint16_t version, float *wide, float *narrow)
{
    wide[0] = (float)key;
    wide[1] = (float)version;
    wide[2] = (float)(key % 97) / 8.0f;
    wide[3] = (float)(key * 31 % 1009) - 500.0f;
    narrow[0] = (float)(key % 1024);
    narrow[1] = (float)version;
    narrow[2] = (float)(key * 7 % 512) / 4.0f;
}

static size_t document_make(uint64_t key, uint16_t version, char *text)
{
    size_t n = (size_t)sprintf(text, "%" PRIu64 " %u ", key, version);
    size_t nbytes = n + (key == LONG_KEY ? LONG_NBYTES : (key * 7 + version) % 90);

    for (; n < nbytes; n++)
        text[n] = (char)('a' + (key + n * version) % 26);
    return n;
}

/* Arrays for one call of a write. */
struct call {
    uint64_t *keys;
    float *wide, *narrow;
    paua_bytes *documents;
    char *text;
    size_t count;
};

static void call_free(struct call *call)
{
    free(call->keys);
    free(call->wide);
    free(call->narrow);
    free(call->documents);
    free(call->text);
}

static void call_make(const struct step *step, uint16_t version, const struct model *model,
                      struct call *call)
{
    size_t most = (size_t)(step->last - step->first + 1), at = 0;

    *call = (struct call){.keys = malloc(most * sizeof call->keys[0]),
                          .wide = malloc(most * WIDE * sizeof(float)),
                          .narrow = malloc(most * NARROW * sizeof(float)),
                          .documents = calloc(most, sizeof call->documents[0]),
                          .text = malloc(most * 120 + LONG_NBYTES)};
    assert(call->keys && call->wide && call->narrow && call->documents && call->text);
    for (uint64_t key = step->first; key <= step->last; key++) {
        size_t i = call->count;

        if (!takes(step, &model->tables[step->collection].rows[key])) continue;
        call->keys[i] = key;
        vectors_make(key, version, call->wide + i * WIDE, call->narrow + i * NARROW);
        if (has_document(key)) {
            size_t n = document_make(key, version, call->text + at);

            call->documents[i] = (paua_bytes){call->text + at, n};
            at += n;
        }
        call->count++;
    }
}

static paua_status write_run(const struct step *step, uint16_t version, const struct model *model,
                             paua_collection *c, paua_error *err)
{
    static const paua_write_opts whole = {.size = sizeof whole, .all_or_nothing = true};
    struct call call;
    paua_status status;

    call_make(step, version, model, &call);
    paua_vectors vectors[] = {{.data = call.wide}, {.data = call.narrow}};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = call.count, .u64 = call.keys},
                      .vectors = vectors,
                      .vectors_count = step->kind == STEP_DOCUMENTS ? 0 : 2,
                      .documents = call.documents};
    if (step->kind == STEP_INSERT)
        status = paua_insert(c, &rows, &whole, NULL, err);
    else if (step->kind == STEP_DELETE)
        status = paua_delete(c, &rows.keys, &whole, NULL, err);
    else
        status = paua_upsert(c, &rows, NULL, NULL, err);
    call_free(&call);
    return status;
}

static double distance(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

static bool record_is(const paua_record *r, uint64_t key, double error, struct row *row,
                      char why[600])
{
    static char text[LONG_NBYTES + 100];
    float wide[WIDE], narrow[NARROW];
    unsigned version = 0;
    uint64_t written;

    row->vector = (uint16_t)r->vectors[0][1];
    vectors_make(key, row->vector, wide, narrow);
    if (memcmp(wide, r->vectors[0], sizeof wide) != 0 ||
        !(distance(narrow, r->vectors[1], NARROW) <= error)) {
        snprintf(why, 600, "key %" PRIu64 ": vectors that nobody wrote", key);
        return false;
    }
    row->document = 0;
    if (r->document.data == NULL) return true;
    snprintf(text, 40, "%.*s", (int)(r->document.nbytes < 39 ? r->document.nbytes : 39),
             (const char *)r->document.data);
    if (sscanf(text, "%" SCNu64 " %u ", &written, &version) == 2 && written == key &&
        document_make(key, (uint16_t)version, text) == r->document.nbytes &&
        memcmp(text, r->document.data, r->document.nbytes) == 0) {
        row->document = (uint16_t)version;
        return true;
    }
    snprintf(why, 600, "key %" PRIu64 ": a document that nobody wrote", key);
    return false;
}

static double error_of(uint32_t c) { return c == INDEXED ? DECODED_ERROR : 0; }

static bool rows_read(uint32_t number, paua_collection *c, struct table *table, char why[600])
{
    const paua_record *record = NULL;
    paua_cursor *cursor = NULL;
    paua_error err = {.message = ""};
    paua_status status = paua_iterate(c, NULL, &cursor, &err);
    bool good = true;

    if (status == PAUA_OK) status = paua_cursor_next(cursor, &record, &err);
    while (good && status == PAUA_OK && record != NULL) {
        uint64_t key = record->key.u64;

        if (key >= KEYS_MAX || table->rows[key].vector != 0) {
            snprintf(why, 600, "key %" PRIu64 ": unknown, or there twice", key);
            good = false;
        } else {
            good = record_is(record, key, error_of(number), &table->rows[key], why);
        }
        if (good) status = paua_cursor_next(cursor, &record, &err);
    }
    paua_cursor_close(cursor);
    if (status == PAUA_OK) return good;
    snprintf(why, 600, "reading rows: %s", err.message);
    return false;
}

static void index_note(void *arg, const paua_index *index)
{
    for (uint32_t i = 0; i < INDEXES; i++)
        if (strcmp(index->name, index_names[i]) == 0) *(uint8_t *)arg |= (uint8_t)(1u << i);
}

/* The nearest row to one that is there, found through the index of a field if it has one. */
static bool found_by(paua_collection *c, const char *field, const float *query, uint64_t key,
                     paua_hits *hits, char why[600])
{
    paua_search_opts opts = {.size = sizeof opts, .k = 1, .field = field, .refine = true, .ef = EF};
    bool sure = strcmp(field, "wide") == 0; /* of the other only codes may be left */
    paua_error err = {.message = ""};

    if (paua_search(c, query, 1, 0, &opts, hits, &err) != PAUA_OK)
        snprintf(why, 600, "searching %s: %s", field, err.message);
    else if (paua_hits_count(hits, 0) != 1 || (sure && paua_hits_at(hits, 0, 0).key.u64 != key) ||
             !(sqrt(paua_hits_at(hits, 0, 0).distance) <= (sure ? 0 : DECODED_ERROR)))
        snprintf(why, 600, "key %" PRIu64 " is not found by %s", key, field);
    else
        return true;
    return false;
}

static bool indexes_read(paua_collection *c, struct table *table, char why[600])
{
    static uint64_t turn;
    float wide[WIDE], narrow[NARROW];
    paua_error err = {.message = ""};
    paua_hits *hits = NULL;
    bool good = true;

    if (paua_index_list(c, index_note, &table->indexes, &err) != PAUA_OK ||
        paua_hits_open(&hits, &err) != PAUA_OK) {
        snprintf(why, 600, "indexes: %s", err.message);
        return false;
    }
    for (uint64_t key = turn++ * 71 % SEARCH_STEP; good && key < KEYS_MAX; key += SEARCH_STEP) {
        if (table->rows[key].vector == 0) continue;
        vectors_make(key, table->rows[key].vector, wide, narrow);
        good = found_by(c, "wide", wide, key, hits, why) &&
               found_by(c, "narrow", narrow, key, hits, why);
    }
    paua_hits_close(hits);
    return good;
}

static bool table_read(uint32_t number, paua_collection *c, struct table *table, char why[600])
{
    return rows_read(number, c, table, why) && indexes_read(c, table, why);
}

static void due_count(void *arg, const paua_index *index) { *(uint64_t *)arg += index->rows_due; }

bool world_settled(const struct world *world, char why[600])
{
    paua_error err = {.message = ""};
    uint64_t due = 0;
    paua_status status = PAUA_OK;

    if (world->collections[INDEXED] != NULL)
        status = paua_index_list(world->collections[INDEXED], due_count, &due, &err);
    snprintf(why, 600, "indexes lack %" PRIu64 " rows: %s", due, err.message);
    return status == PAUA_OK && due == 0;
}

bool world_read(struct world *world, struct model *found, char why[600])
{
    memset(found, 0, sizeof *found);
    for (uint32_t c = 0; c < COLLECTIONS; c++) {
        if (world->collections[c] == NULL) continue;
        found->tables[c].exists = true;
        if (!table_read(c, world->collections[c], &found->tables[c], why)) return false;
    }
    return true;
}

/* The nearest row to one that exists is that row. */
static paua_status search_run(const struct step *step, const struct model *model,
                              paua_collection *c, paua_error *err)
{
    paua_search_opts opts = {.size = sizeof opts, .k = 3};
    const struct row *row = &model->tables[step->collection].rows[step->first];
    float wide[WIDE], narrow[NARROW];
    paua_hits *hits;
    paua_status status = paua_hits_open(&hits, err);

    if (status != PAUA_OK) return status;
    vectors_make(step->first, row->vector, wide, narrow);
    status = paua_search(c, wide, 1, 0, &opts, hits, err);
    if (status == PAUA_OK &&
        (paua_hits_count(hits, 0) != 3 || paua_hits_at(hits, 0, 0).key.u64 != step->first))
        status = PAUA_ENOTFOUND;
    paua_hits_close(hits);
    return status;
}

static paua_status fetch_run(const struct step *step, const struct model *model, paua_collection *c,
                             paua_error *err)
{
    paua_keys keys = {.count = 2, .u64 = (const uint64_t[]){step->first, step->last}};
    const paua_record *record;
    paua_cursor *cursor;
    paua_status status = paua_fetch(c, &keys, NULL, &cursor, err);
    char why[600];

    if (status != PAUA_OK) return status;
    for (size_t i = 0; i < 2 && status == PAUA_OK; i++) {
        const struct row *want = &model->tables[step->collection].rows[keys.u64[i]];
        struct row row = {0};

        status = paua_cursor_next(cursor, &record, err);
        if (status != PAUA_OK) break;
        if (record->found && !record_is(record, keys.u64[i], error_of(step->collection), &row, why))
            status = PAUA_ENOTFOUND;
        if (memcmp(&row, want, sizeof row) != 0) status = PAUA_ENOTFOUND;
    }
    paua_cursor_close(cursor);
    return status;
}

void world_backup_path(const struct world *world, char path[256])
{
    snprintf(path, 256, "%.240s-backup", world->path);
}

static paua_status backup_run(struct world *world, paua_error *err)
{
    char path[256];

    world_backup_path(world, path);
    return paua_backup(world->db, path, NULL, err);
}

static paua_status drop_run(uint32_t c, struct world *world, paua_error *err)
{
    paua_collection_close(world->collections[c]);
    world->collections[c] = NULL;
    return paua_collection_drop(world->db, names[c], err);
}

paua_status step_run(const struct step *step, uint16_t version, const struct model *model,
                     struct world *world, paua_error *err)
{
    paua_collection *c = world->collections[step->collection];

    switch (step->kind) {
    case STEP_OPEN:
        return world_open(world, true, err);
    case STEP_CREATE:
        return create_run(step->collection, world, err);
    case STEP_OPTIMIZE:
        return paua_optimize(c, &alone, err);
    case STEP_INDEX:
        return paua_index_create(c, "wide", index_names[INDEX_EXTRA], &extra, &alone, err);
    case STEP_UNINDEX:
        return paua_index_drop(c, index_names[step->first], err);
    case STEP_FLUSH:
        return paua_flush(world->db, err);
    case STEP_DROP:
        return drop_run(step->collection, world, err);
    case STEP_CLOSE:
        world_close(world);
        return PAUA_OK;
    case STEP_SEARCH:
        return search_run(step, model, c, err);
    case STEP_FETCH:
        return fetch_run(step, model, c, err);
    case STEP_BACKUP:
        return backup_run(world, err);
    case STEP_CHECK:
        return paua_check(world->path, NULL, err);
    default:
        return write_run(step, version, model, c, err);
    }
}

static void finding_note(void *arg, const paua_finding *finding)
{
    snprintf(arg, 600, "check: %s%s: %s", finding->fatal ? "fatal: " : "", finding->file,
             finding->what);
}

bool path_clean(const char *path, char why[600])
{
    paua_check_opts opts = {.size = sizeof opts, .finding = finding_note, .finding_arg = why};
    paua_error err = {.message = ""};
    paua_status status;

    why[0] = '\0';
    status = paua_check(path, &opts, &err);
    if (status != PAUA_OK && why[0] == '\0') snprintf(why, 600, "check: %s", err.message);
    return status == PAUA_OK && why[0] == '\0';
}
