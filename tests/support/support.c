#include "support/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "db/validate.h"
#include "kernel/kernel.h"

paua_error test_err;

void test_dir_make(struct test_dir *dir)
{
    const char *base = getenv("TMPDIR");

    if (base == NULL || strlen(base) > 40) base = "/tmp";
    snprintf(dir->path, sizeof dir->path, "%s/paua-test-XXXXXX", base);
    assert_non_null(mkdtemp(dir->path));
}

/* Calls each(path, arg) for each entry of a directory. */
static void entries_each(const char *path, void (*each)(const char *path, void *arg), void *arg)
{
    DIR *handle = opendir(path);
    struct dirent *entry;
    char name[512];

    if (handle == NULL) return;
    while ((entry = readdir(handle)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        each(name, arg);
    }
    closedir(handle);
}

static void entry_remove(const char *path, void *arg)
{
    if (unlink(path) == 0) return;
    entries_each(path, entry_remove, arg);
    rmdir(path);
}

void test_dir_remove(struct test_dir *dir) { entry_remove(dir->path, NULL); }

static void entry_count(const char *path, void *arg)
{
    struct stat s;

    if (stat(path, &s) == 0 && S_ISREG(s.st_mode)) *(uint64_t *)arg += (uint64_t)s.st_size;
}

uint64_t test_dir_nbytes(const struct test_dir *dir)
{
    uint64_t nbytes = 0;

    entries_each(dir->path, entry_count, &nbytes);
    return nbytes;
}

static void entry_copy(const char *path, void *arg)
{
    char to[512], buffer[4096];
    int in = open(path, O_RDONLY), out;
    ssize_t n;

    snprintf(to, sizeof to, "%s%s", (const char *)arg, strrchr(path, '/'));
    out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0644);
    assert_true(in >= 0 && out >= 0);
    while ((n = read(in, buffer, sizeof buffer)) > 0)
        assert_int_equal(write(out, buffer, (size_t)n), n);
    assert_int_equal(n, 0);
    close(in);
    close(out);
}

void test_dir_copy(const char *from, const char *to)
{
    assert_int_equal(mkdir(to, 0755), 0);
    entries_each(from, entry_copy, (void *)(uintptr_t)to);
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint32_t test_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((test_random(state) >> 32) * n >> 32);
}

void test_random_floats(uint64_t *state, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (float)(int32_t)(test_random(state) >> 40) * 0x1p-23f - 1.0f;
}

double test_distance(paua_metric metric, const float *a, const float *b, uint32_t dim)
{
    double dot = 0, na = 0, nb = 0, l2 = 0;

    for (uint32_t i = 0; i < dim; i++) {
        double x = a[i], y = b[i];

        dot += x * y;
        na += x * x;
        nb += y * y;
        l2 += (x - y) * (x - y);
    }
    if (metric == PAUA_L2) return l2;
    if (metric == PAUA_IP) return -dot;
    if (na == 0 || nb == 0) return na == nb ? 0 : 1;
    return 1 - dot / sqrt(na) / sqrt(nb);
}

float test_half(float value)
{
    uint16_t half;

    kernels_portable.f16_from_f32(&value, 1, &half);
    kernels_portable.f32_from_f16(&half, 1, &value);
    return value;
}

bool test_sweep_whole(void)
{
    const char *sweep = getenv("PAUA_SWEEP");

    return sweep != NULL && strcmp(sweep, "whole") == 0;
}

bool test_sampled(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return !test_sweep_whole();
#else
    return false;
#endif
}

paua_db *test_open(const struct test_dir *dir)
{
    paua_open_opts opts = {
        .size = sizeof opts, .create = true, .durability = PAUA_OFF, .no_background = true};
    paua_db *db = NULL;

    assert_ok(paua_open(dir->path, &opts, &db, &test_err));
    return db;
}

paua_db *test_open_memory(void)
{
    paua_open_opts opts = {.size = sizeof opts, .in_memory = true, .no_background = true};
    paua_db *db = NULL;

    assert_ok(paua_open(NULL, &opts, &db, &test_err));
    return db;
}

paua_collection *test_create(paua_db *db, const char *name, const struct test_schema *schema)
{
    paua_index_params index = schema->index;
    paua_vector_field fields[2] = {
        {.name = "vector",
         .dim = schema->dim,
         .metric = schema->metric,
         .precision = schema->precision,
         .originals = schema->originals},
        {.name = "second", .dim = schema->dim2, .metric = PAUA_L2, .precision = PAUA_FP32}};
    paua_schema s = {.size = sizeof s,
                     .key_kind = schema->key_kind,
                     .document = schema->document,
                     .fields = fields,
                     .field_count = schema->dim2 == 0 ? 1 : 2};
    paua_collection *c = NULL;

    if (index.kind == PAUA_INDEX_DEFAULT) index.kind = PAUA_INDEX_NONE;
    fields[0].index = fields[1].index = index;
    assert_ok(paua_collection_create(db, name, &s, &c, &test_err));
    return c;
}

void test_insert_u64(paua_collection *c, uint64_t first, size_t n, const float *vectors)
{
    uint64_t *keys = malloc((n + 1) * sizeof keys[0]);
    paua_vectors v = {.data = vectors};
    paua_rows rows = test_rows(test_u64(keys, n), &v, NULL);

    assert_non_null(keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = first + i;
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    free(keys);
}

void test_delete_u64(paua_collection *c, uint64_t key)
{
    paua_keys keys = test_u64(&key, 1);

    assert_ok(paua_delete(c, &keys, NULL, NULL, &test_err));
}

uint64_t test_count(paua_collection *c)
{
    paua_stats stats = {.size = sizeof stats};

    assert_ok(paua_collection_stats(c, &stats, &test_err));
    return stats.rows;
}

bool test_fetch_u64(paua_collection *c, uint64_t key, float *vector)
{
    paua_keys keys = test_u64(&key, 1);
    const paua_record *record = NULL;
    paua_cursor *cursor = NULL;
    bool found;

    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_non_null(record);
    found = record->found;
    if (found) assert_true(record->key.u64 == key);
    if (found && vector != NULL)
        memcpy(vector, record->vectors[0],
               paua_collection_schema(c)->fields[0].dim * sizeof(float));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    paua_cursor_close(cursor);
    return found;
}

size_t test_search_u64(paua_collection *c, const float *query, uint32_t k, uint64_t *keys,
                       double *distances)
{
    paua_search_opts opts = {.size = sizeof opts, .k = k};
    paua_hits *hits = NULL;
    size_t count;

    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, query, 1, 0, &opts, hits, &test_err));
    count = paua_hits_count(hits, 0);
    for (size_t i = 0; i < count; i++) {
        paua_hit hit = paua_hits_at(hits, 0, i);

        if (keys != NULL) keys[i] = hit.key.u64;
        if (distances != NULL) distances[i] = hit.distance;
    }
    paua_hits_close(hits);
    return count;
}

static void problem_print(void *arg, const char *file, const char *what)
{
    (void)arg;
    print_error("%s: %s\n", file == NULL ? "view" : file, what);
}

void test_validate(paua_collection *c)
{
    struct validate v = {.report = problem_print};
    struct view *view = collection_peek(c);

    assert_int_equal(view_validate(view, &v), PAUA_OK);
    assert_int_equal(v.problems, 0);
    view_unref(view);
}
