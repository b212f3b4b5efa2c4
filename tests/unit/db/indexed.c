/* indexed.c - see indexed.h. */
#include "indexed.h"

#include <dirent.h>

#define CENTRES 60u

static float *clusters_make(void)
{
    float *data = malloc((ROWS + QUERIES) * DIM * sizeof data[0]), centres[CENTRES * DIM];
    uint64_t random = 7;

    assert_non_null(data);
    test_random_floats(&random, centres, CENTRES * DIM);
    for (size_t i = 0; i < ROWS + QUERIES; i++) {
        float noise[DIM];
        const float *centre = centres + test_random_below(&random, CENTRES) * DIM;

        test_random_floats(&random, noise, DIM);
        for (size_t j = 0; j < DIM; j++)
            data[i * DIM + j] = 0.3F + centre[j] / (1 + (float)j / 8) + noise[j] / 4;
    }
    return data;
}

int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){.data = clusters_make()};
    test_dir_make(&f.dir);
    f.db = test_open(&f.dir);
    *state = &f;
    return 0;
}

int teardown(void **state)
{
    struct fixture *f = *state;

    paua_collection_close(f->c);
    paua_close(f->db);
    test_dir_remove(&f->dir);
    free(f->data);
    return 0;
}

const struct test_schema vamana = {.dim = DIM,
                                   .metric = PAUA_L2,
                                   .document = PAUA_DOCUMENT_NONE,
                                   .precision = PAUA_INT8,
                                   .index = {.kind = PAUA_INDEX_VAMANA, .degree = 16}};

void fill(struct fixture *f, const struct test_schema *schema)
{
    f->c = test_create(f->db, "c", schema);
    test_insert_u64(f->c, 0, ROWS, f->data);
    assert_ok(paua_optimize(f->c, NULL, &test_err));
}

void reopen(struct fixture *f, const paua_open_opts *opts)
{
    paua_collection_close(f->c);
    f->c = NULL;
    paua_close(f->db);
    assert_ok(paua_open(f->dir.path, opts, &f->db, &test_err));
    assert_ok(paua_collection_open(f->db, "c", &f->c, &test_err));
}

const float *query(const struct fixture *f, uint32_t i)
{
    return f->data + (ROWS + (size_t)i) * DIM;
}

/* Searches the first QUERIES queries: keys and distances are QUERIES x k; counts one a query. */
void search(struct fixture *f, const paua_search_opts *opts, uint64_t *keys, double *distances,
            size_t *counts)
{
    paua_hits *hits = NULL;

    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(f->c, query(f, 0), QUERIES, 0, opts, hits, &test_err));
    for (size_t q = 0; q < QUERIES; q++) {
        counts[q] = paua_hits_count(hits, q);
        assert_true(counts[q] <= opts->k);
        for (size_t i = 0; i < counts[q]; i++) {
            paua_hit hit = paua_hits_at(hits, q, i);

            keys[q * opts->k + i] = hit.key.u64;
            distances[q * opts->k + i] = hit.distance;
            if (i > 0) assert_true(hit.distance >= distances[q * opts->k + i - 1]);
        }
    }
    paua_hits_close(hits);
}

void find(struct fixture *f, const paua_search_opts *opts, struct found *found)
{
    memset(found, 0, sizeof *found);
    search(f, opts, found->keys, found->distances, found->counts);
}

static double recall(const struct found *truth, const struct found *found)
{
    size_t hit = 0, all = 0;

    for (size_t q = 0; q < QUERIES; q++)
        for (size_t i = 0; i < truth->counts[q]; i++, all++)
            for (size_t j = 0; j < found->counts[q]; j++)
                if (found->keys[q * K + j] == truth->keys[q * K + i]) hit++;
    return (double)hit / (double)all;
}

const paua_search_opts indexed = {.size = sizeof indexed, .k = K};
const paua_search_opts exact = {.size = sizeof exact, .k = K, .exact = true};

double recall_now(struct fixture *f, const paua_search_opts *opts)
{
    struct found truth, found;

    find(f, &exact, &truth);
    find(f, opts, &found);
    return recall(&truth, &found);
}

static void list_each(void *arg, const paua_index *index)
{
    struct listed *l = arg;

    l->count++;
    l->last = *index;
    l->rows += index->rows;
}

struct listed list(struct fixture *f)
{
    struct listed l = {0};

    assert_ok(paua_index_list(f->c, list_each, &l, &test_err));
    return l;
}

size_t files_of(const struct fixture *f, const char *suffix)
{
    DIR *dir = opendir(f->dir.path);
    size_t n = 0;

    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        size_t length = strlen(e->d_name), end = strlen(suffix);

        if (length > end && strcmp(e->d_name + length - end, suffix) == 0) n++;
    }
    closedir(dir);
    return n;
}
