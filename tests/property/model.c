#include "property/model.h"

#include <math.h>
#include <stdio.h>

#include "kernel/kernel.h"

static char key_text[KEYS][1024];

static uint64_t number_of(uint32_t id)
{
    return id % 3 == 0 ? id : id % 3 == 1 ? UINT64_MAX - id : (uint64_t)id << 33;
}

static paua_bytes string_of(uint32_t id)
{
    int padding = id % 9 == 0 ? 900 : (int)(id % 7) + 1;
    int nbytes = snprintf(key_text[id], sizeof key_text[id], "%*u", padding, id);

    return (paua_bytes){key_text[id], (size_t)nbytes};
}

/* The vector that is the key of an id, exact in half precision. */
static void vector_of(uint32_t id, float vector[DIM])
{
    for (uint32_t i = 0; i < DIM; i++)
        vector[i] = (float)((id * (i + 1)) % KEYS) / KEYS;
    vector[0] = (float)id / KEYS - 0.5f;
}

paua_keys model_keys(const struct replica *m, const uint32_t *ids, size_t n)
{
    static uint64_t numbers[4 * KEYS];
    static paua_bytes strings[4 * KEYS];
    static float vectors[4 * KEYS * DIM];

    assert_true(n <= 4 * KEYS);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = number_of(ids[i]);
        strings[i] = string_of(ids[i]);
        vector_of(ids[i], vectors + i * DIM);
    }
    switch (m->schema.key_kind) {
    case PAUA_KEY_U64:
        return (paua_keys){.count = n, .u64 = numbers};
    case PAUA_KEY_STRING:
        return (paua_keys){.count = n, .strings = strings};
    default:
        return (paua_keys){.count = n, .vectors = vectors};
    }
}

static void stored_vector(const struct replica *m, uint32_t id, uint8_t bytes[DIM * 4])
{
    float vector[DIM];
    uint16_t halves[DIM];

    vector_of(id, vector);
    if (m->schema.precision == PAUA_FP32) {
        memcpy(bytes, vector, sizeof vector);
        return;
    }
    kernels_portable.f16_from_f32(vector, DIM, halves);
    memcpy(bytes, halves, sizeof halves);
}

/* Does the key that paua gives belong to this id? */
static bool key_is(const struct replica *m, const paua_key *key, uint32_t id)
{
    uint8_t bytes[DIM * 4];
    paua_bytes string;
    size_t nbytes = m->schema.precision == PAUA_FP32 ? DIM * 4 : DIM * 2;

    if (m->schema.key_kind == PAUA_KEY_U64) return key->u64 == number_of(id);
    if (m->schema.key_kind == PAUA_KEY_STRING) {
        string = string_of(id);
        return key->bytes.nbytes == string.nbytes &&
               memcmp(key->bytes.data, string.data, string.nbytes) == 0;
    }
    stored_vector(m, id, bytes);
    return key->bytes.nbytes == nbytes && memcmp(key->bytes.data, bytes, nbytes) == 0;
}

static uint32_t id_of(const struct replica *m, const paua_key *key)
{
    for (uint32_t id = 0; id < KEYS; id++)
        if (key_is(m, key, id)) return id;
    fail_msg("a key that was never written");
    return 0;
}

static int key_order(const struct replica *m, uint32_t a, uint32_t b)
{
    uint8_t x[DIM * 4] = {0}, y[DIM * 4] = {0};
    paua_bytes s = string_of(a), t = string_of(b);
    int order;

    if (m->schema.key_kind == PAUA_KEY_U64)
        return number_of(a) < number_of(b) ? -1 : number_of(a) > number_of(b);
    if (m->schema.key_kind == PAUA_KEY_VECTOR) {
        stored_vector(m, a, x);
        stored_vector(m, b, y);
        return memcmp(x, y, sizeof x);
    }
    order = memcmp(s.data, t.data, s.nbytes < t.nbytes ? s.nbytes : t.nbytes);
    return order != 0 ? order : s.nbytes < t.nbytes ? -1 : s.nbytes > t.nbytes;
}

/* The text that a document's number stands for. */
static paua_bytes document_of(uint32_t number, char *room)
{
    size_t nbytes = number % 6 == 0 ? 0 : number % 97 == 1 ? 66000 + number % 1000 : number % 200;

    if (number == NO_DOCUMENT) return (paua_bytes){0};
    for (size_t i = 0; i < nbytes; i++)
        room[i] = (char)('a' + (number + i * 11) % 26);
    return (paua_bytes){room, nbytes};
}

/* ---- batches ---- */

static void row_make(const struct replica *m, uint64_t *seed, struct call *b, size_t i)
{
    b->ids[i] = test_random_below(seed, KEYS);
    test_random_floats(seed, b->first + i * DIM, DIM);
    test_random_floats(seed, b->second + i * DIM2, DIM2);
    b->documents[i] =
        test_random_below(seed, 3) == 0 ? NO_DOCUMENT : test_random_below(seed, 1000000);
    if (m->schema.key_kind == PAUA_KEY_VECTOR) vector_of(b->ids[i], b->first + i * DIM);
    if (test_random_below(seed, 50) == 0) b->first[i * DIM + test_random_below(seed, DIM)] = NAN;
    if (test_random_below(seed, 50) == 0)
        b->second[i * DIM2 + test_random_below(seed, DIM2)] = INFINITY;
    if (m->schema.document == PAUA_DOCUMENT_NONE && test_random_below(seed, 20) != 0)
        b->documents[i] = NO_DOCUMENT;
}

void call_make(const struct replica *m, uint64_t *seed, struct call *b)
{
    b->op = (enum model_op)test_random_below(seed, 4);
    b->n = test_random_below(seed, 3) == 0 ? 1 : 1 + test_random_below(seed, BATCH_MAX);
    b->all_or_nothing = test_random_below(seed, 4) == 0;
    b->give_first = b->op == MODEL_INSERT || test_random_below(seed, 4) != 0;
    b->give_second = b->op == MODEL_INSERT || test_random_below(seed, 4) != 0;
    b->give_documents = test_random_below(seed, 4) != 0;
    for (size_t i = 0; i < b->n; i++)
        row_make(m, seed, b, i);
}

static bool finite_all(const float *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static void row_store(struct replica *m, const struct call *b, size_t i)
{
    struct model_row *row = &m->rows[b->ids[i]];

    if (!row->live) *row = (struct model_row){.document = NO_DOCUMENT};
    row->live = true;
    row->stamp = ++m->clock;
    for (uint32_t j = 0; j < DIM && b->give_first; j++)
        row->first[j] = m->schema.precision == PAUA_FP16 ? test_half(b->first[i * DIM + j])
                                                         : b->first[i * DIM + j];
    if (b->give_second && m->schema.dim2 != 0)
        memcpy(row->second, b->second + i * DIM2, sizeof row->second);
    if (b->give_documents && b->documents[i] != NO_DOCUMENT) row->document = b->documents[i];
}

static paua_status row_apply(struct replica *m, const struct call *b, size_t i)
{
    struct model_row *row = &m->rows[b->ids[i]];
    bool vector_key = m->schema.key_kind == PAUA_KEY_VECTOR, two = m->schema.dim2 != 0;
    bool document = b->give_documents && b->documents[i] != NO_DOCUMENT;

    if (b->op != MODEL_DELETE && vector_key &&
        (!b->give_first || !finite_all(b->first + i * DIM, DIM)))
        return PAUA_EINVAL;
    if (!row->live && (b->op == MODEL_UPDATE || b->op == MODEL_DELETE)) return PAUA_ENOTFOUND;
    if (row->live && b->op == MODEL_INSERT) return PAUA_EEXISTS;
    if (b->op == MODEL_DELETE) {
        row->live = false;
        return PAUA_OK;
    }
    if (row->live && (!b->give_first || vector_key) && !(two && b->give_second) && !document)
        return PAUA_OK; /* changes nothing */
    if (!row->live && (!b->give_first || (two && !b->give_second))) return PAUA_EINVAL;
    if (b->give_first && !finite_all(b->first + i * DIM, DIM)) return PAUA_EINVAL;
    if (two && b->give_second && !finite_all(b->second + i * DIM2, DIM2)) return PAUA_EINVAL;
    if (document && m->schema.document == PAUA_DOCUMENT_NONE) return PAUA_EINVAL;
    row_store(m, b, i);
    return PAUA_OK;
}

paua_status model_apply(struct replica *m, const struct call *b, paua_status *row_status)
{
    struct replica before = *m;
    paua_status result = PAUA_OK;

    for (size_t i = 0; i < b->n; i++) {
        row_status[i] = row_apply(m, b, i);
        if (row_status[i] == PAUA_OK) continue;
        result = PAUA_EPARTIAL;
        if (!b->all_or_nothing) continue;
        *m = before;
        result = row_status[i];
        for (size_t other = 0; other < b->n; other++)
            if (other != i) row_status[other] = PAUA_ECANCELED;
        break;
    }
    return result;
}

paua_status call_run(const struct replica *m, paua_collection *c, const struct call *b,
                     paua_status *row_status)
{
    static char room[BATCH_MAX][DOCUMENT_NBYTES_MAX];
    paua_bytes documents[BATCH_MAX];
    paua_vectors vectors[2] = {{b->give_first ? b->first : NULL, 0},
                               {b->give_second ? b->second : NULL, 0}};
    paua_rows rows =
        test_rows(model_keys(m, b->ids, b->n), vectors, b->give_documents ? documents : NULL);
    paua_write_opts opts = {.size = sizeof opts, .all_or_nothing = b->all_or_nothing};

    rows.vectors_count = m->schema.dim2 == 0 ? 1 : 2;
    for (size_t i = 0; i < b->n; i++)
        documents[i] = document_of(b->documents[i], room[i]);
    switch (b->op) {
    case MODEL_INSERT:
        return paua_insert(c, &rows, &opts, row_status, &test_err);
    case MODEL_UPSERT:
        return paua_upsert(c, &rows, &opts, row_status, &test_err);
    case MODEL_UPDATE:
        return paua_update(c, &rows, &opts, row_status, &test_err);
    default:
        return paua_delete(c, &rows.keys, &opts, row_status, &test_err);
    }
}

uint32_t model_count(const struct replica *m)
{
    uint32_t count = 0;

    for (uint32_t id = 0; id < KEYS; id++)
        count += m->rows[id].live;
    return count;
}

/* ---- comparing ---- */

static void expect_record(const struct replica *m, const paua_record *record, uint32_t id)
{
    static char room[DOCUMENT_NBYTES_MAX];
    const struct model_row *row = &m->rows[id];
    paua_bytes document = document_of(row->document, room);

    assert_true(key_is(m, &record->key, id));
    assert_memory_equal(record->vectors[0], row->first, sizeof row->first);
    if (m->schema.dim2 != 0)
        assert_memory_equal(record->vectors[1], row->second, sizeof row->second);
    assert_int_equal(record->document.data == NULL, document.data == NULL);
    assert_int_equal(record->document.nbytes, document.nbytes);
    if (document.nbytes > 0)
        assert_memory_equal(record->document.data, document.data, document.nbytes);
}

void expect_rows(const struct replica *m, paua_collection *c)
{
    uint32_t ids[KEYS];
    paua_keys keys;
    const paua_record *record;
    paua_cursor *cursor;

    for (uint32_t i = 0; i < KEYS; i++)
        ids[i] = i * 37 % KEYS;
    keys = model_keys(m, ids, KEYS);
    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        assert_non_null(record);
        assert_int_equal(record->found, m->rows[ids[i]].live);
        if (record->found) expect_record(m, record, ids[i]);
    }
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    paua_cursor_close(cursor);
}

void expect_iteration(const struct replica *m, paua_collection *c)
{
    uint64_t stamp = 0;
    uint32_t count = 0;
    const paua_record *record;
    paua_cursor *cursor;

    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    for (;;) {
        uint32_t id;

        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        if (record == NULL) break;
        id = id_of(m, &record->key);
        assert_true(m->rows[id].live);
        assert_true(m->rows[id].stamp > stamp); /* oldest first, each once */
        stamp = m->rows[id].stamp;
        expect_record(m, record, id);
        count++;
    }
    assert_int_equal(count, model_count(m));
    paua_cursor_close(cursor);
}

struct question {
    uint32_t field, k;
    paua_metric metric;
    float query[DIM];
    bool has_radius;
    double radius;
    bool limited;
    bool allowed[KEYS];
};

static double distance_to(const struct replica *m, const struct question *q, uint32_t id)
{
    return test_distance(q->metric, q->query,
                         q->field == 0 ? m->rows[id].first : m->rows[id].second,
                         q->field == 0 ? DIM : DIM2);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

#define SLACK 1e-5 /* components are below 1: rounding is far below */

/* The k-th smallest distance of the rows that may answer, and how many there are for certain and
 * at most: those within rounding of the radius may go either way. */
static double kth_distance(const struct replica *m, const struct question *q, uint32_t *least,
                           uint32_t *most)
{
    double distances[KEYS];
    uint32_t n = 0;

    *least = *most = 0;
    for (uint32_t id = 0; id < KEYS; id++) {
        double d;

        if (!m->rows[id].live || (q->limited && !q->allowed[id])) continue;
        d = distance_to(m, q, id);
        if (q->has_radius && d > q->radius + SLACK) continue;
        if (!q->has_radius || d < q->radius - SLACK) ++*least;
        ++*most;
        distances[n++] = d;
    }
    qsort(distances, n, sizeof distances[0], by_value);
    return n == 0 ? 0 : distances[(q->k < n ? q->k : n) - 1];
}

static void expect_answer(const struct replica *m, const struct question *q, const paua_hits *hits,
                          size_t query)
{
    uint32_t least, most, last_id = 0;
    double kth = kth_distance(m, q, &least, &most), last = -INFINITY;
    size_t count = paua_hits_count(hits, query);
    bool seen[KEYS] = {false};

    assert_true(count >= (least < q->k ? least : q->k));
    assert_true(count <= (most < q->k ? most : q->k));
    for (size_t i = 0; i < count; i++) {
        paua_hit hit = paua_hits_at(hits, query, i);
        uint32_t id = id_of(m, &hit.key);

        assert_true(m->rows[id].live && !seen[id]);
        assert_true(!q->limited || q->allowed[id]);
        assert_true(!q->has_radius || hit.distance <= q->radius);
        assert_true(fabs(hit.distance - distance_to(m, q, id)) <= SLACK);
        assert_true(hit.distance <= kth + SLACK);
        assert_true(hit.distance > last || (hit.distance == last && key_order(m, last_id, id) < 0));
        seen[id] = true;
        last = hit.distance;
        last_id = id;
    }
}

static void question_make(const struct replica *m, uint64_t *seed, struct question *q)
{
    uint32_t id = test_random_below(seed, KEYS);

    *q = (struct question){.k = 1 + test_random_below(seed, 2 * KEYS)};
    q->field = m->schema.dim2 != 0 ? test_random_below(seed, 2) : 0;
    q->metric = (paua_metric)(1 + test_random_below(seed, 3));
    test_random_floats(seed, q->query, DIM);
    if (m->rows[id].live && test_random_below(seed, 2) == 0)
        memcpy(q->query, q->field == 0 ? m->rows[id].first : m->rows[id].second,
               (q->field == 0 ? DIM : DIM2) * sizeof(float));
    q->has_radius = test_random_below(seed, 3) == 0;
    q->radius = (double)test_random_below(seed, 1000) / 500 - (q->metric == PAUA_IP ? 1 : 0);
    q->limited = test_random_below(seed, 3) == 0;
    for (id = 0; id < KEYS; id++)
        q->allowed[id] = test_random_below(seed, 3) == 0;
}

void expect_search(const struct replica *m, paua_collection *c, uint64_t *seed)
{
    static const size_t counts[] = {1, 1, 3, 9, 40};
    float queries[40 * DIM];
    uint32_t ids[KEYS];
    size_t n = counts[test_random_below(seed, 5)], dim;
    struct question q;
    paua_search_opts opts = {.size = sizeof opts, .threads = test_random_below(seed, 4)};
    paua_keys allowed = {0};
    paua_hits *hits;

    question_make(m, seed, &q);
    dim = q.field == 0 ? DIM : DIM2;
    test_random_floats(seed, queries, n * dim);
    memcpy(queries, q.query, dim * sizeof(float));
    opts.k = q.k;
    opts.field = q.field == 0 ? "vector" : "second";
    opts.metric = q.metric;
    opts.has_radius = q.has_radius;
    opts.radius = q.radius;
    for (uint32_t id = 0; id < KEYS; id++)
        if (q.allowed[id]) ids[allowed.count++] = id;
    allowed = model_keys(m, ids, allowed.count);
    if (q.limited) opts.allowed = &allowed;
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, queries, n, 0, &opts, hits, &test_err));
    for (size_t i = 0; i < n; i++) {
        memcpy(q.query, queries + i * dim, dim * sizeof(float));
        expect_answer(m, &q, hits, i);
    }
    paua_hits_close(hits);
}
