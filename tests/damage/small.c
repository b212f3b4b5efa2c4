/* small.c - making the database of small.h, and its bytes. */
#include "damage/small.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/filehead.h"
#include "db/db.h"

#define ROWS_MAX 160u

static const paua_vector_field word_fields[] = {
    {.name = "meaning", .dim = 6, .metric = PAUA_COSINE, .precision = PAUA_FP16},
    {.name = "place", .dim = 3, .metric = PAUA_L2, .precision = PAUA_FP32}};
static const paua_vector_field number_fields[] = {
    {.name = "v", .dim = 5, .metric = PAUA_L2, .precision = PAUA_FP32}};

static void create(paua_db *db, const char *name, paua_collection **collection)
{
    bool words = strcmp(name, "words") == 0;
    paua_schema schema = {.size = sizeof schema,
                          .key_kind = words ? PAUA_KEY_STRING : PAUA_KEY_U64,
                          .document = words ? PAUA_DOCUMENT_TEXT : PAUA_DOCUMENT_BYTES,
                          .fields = words ? word_fields : number_fields,
                          .field_count = words ? 2 : 1};

    MUST(paua_collection_create(db, name, &schema, collection, &err));
}

/* Small quarters: exact in either precision. */
static void fill(float *vector, uint32_t dim, uint32_t number, uint32_t salt)
{
    for (uint32_t i = 0; i < dim; i++)
        vector[i] = (float)((number * (i + 3) * salt + i) % 127) / 4;
}

/* Inserts rows first .. first + count - 1 of either collection in one call; every ninth has no
 * document. */
static void insert(paua_collection *collection, uint32_t first, uint32_t count)
{
    static char names[ROWS_MAX][16], texts[ROWS_MAX][64];
    static float a[ROWS_MAX * 6], b[ROWS_MAX * 3];
    static uint64_t numbers[ROWS_MAX];
    static paua_bytes strings[ROWS_MAX], documents[ROWS_MAX];
    const paua_schema *schema = paua_collection_schema(collection);
    paua_vectors vectors[2] = {{.data = a}, {.data = b}};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = count, .u64 = numbers, .strings = strings},
                      .vectors = vectors,
                      .vectors_count = schema->field_count,
                      .documents = documents};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = first + i;
        int name = snprintf(names[i], sizeof names[i], "w%03u", n);
        int text = snprintf(texts[i], sizeof texts[i], "row %u says %.*s", n, (int)(n % 23),
                            "something of its own, at length");

        numbers[i] = n;
        strings[i] = (paua_bytes){names[i], (size_t)name};
        documents[i] = n % 9 == 0 ? (paua_bytes){0} : (paua_bytes){texts[i], (size_t)text};
        fill(a + i * schema->fields[0].dim, schema->fields[0].dim, n, 7);
        fill(b + i * 3, 3, n, 11);
    }
    MUST(paua_insert(collection, &rows, NULL, NULL, &err));
}

static void delete_every(paua_collection *collection, uint32_t first, uint32_t end, uint32_t step)
{
    for (uint32_t n = first; n < end; n += step) {
        char name[16];
        uint64_t number = n;
        paua_bytes string = {name, (size_t)snprintf(name, sizeof name, "w%03u", n)};
        paua_keys keys = {.count = 1, .u64 = &number, .strings = &string};

        MUST(paua_delete(collection, &keys, NULL, NULL, &err));
    }
}

static void seal(paua_collection *collection)
{
    pthread_mutex_lock(&collection->write_mutex);
    MUST(seal_tail(collection, &err));
    pthread_mutex_unlock(&collection->write_mutex);
}

static void finish(paua_collection *words, paua_collection *numbers)
{
    delete_every(words, 3, 120, 11);
    seal(words); /* stores the deletions */
    insert(words, 180, 20);
    insert(words, 200, 1);
    delete_every(words, 121, 201, 17);
    delete_every(numbers, 0, 100, 2);
    MUST(paua_optimize(numbers, NULL, &err));
    insert(numbers, 120, 15);
    delete_every(numbers, 1, 130, 38);
}

void small_make(const char *path, struct image *early)
{
    paua_open_opts opts = {.create = true, .no_background = true};
    paua_db *db = world_open(path, opts);
    paua_collection *words, *numbers;

    create(db, "words", &words);
    create(db, "numbers", &numbers);
    insert(words, 0, 120);
    seal(words);
    insert(words, 120, 50);
    seal(words);
    insert(words, 170, 10);
    insert(numbers, 0, 120);
    seal(numbers);
    if (early != NULL) {
        paua_collection_close(words);
        paua_collection_close(numbers);
        paua_close(db);
        image_take(early, path);
        opts.create = false;
        db = world_open(path, opts);
        words = world_collection(db, "words");
        numbers = world_collection(db, "numbers");
    }
    finish(words, numbers);
    paua_collection_close(words);
    paua_collection_close(numbers);
    paua_close(db);
}

void small_make_sealed(const char *path)
{
    paua_db *db = world_open(path, (paua_open_opts){.create = true, .no_background = true});
    paua_collection *words, *numbers;

    create(db, "words", &words);
    create(db, "numbers", &numbers);
    insert(words, 0, 120);
    insert(words, 120, 60);
    insert(numbers, 0, 120);
    delete_every(numbers, 0, 100, 2);
    paua_collection_close(words);
    paua_collection_close(numbers);
    paua_close(db);
}

void small_write_more(paua_db *db)
{
    paua_collection *numbers = world_collection(db, "numbers");

    insert(numbers, 140, 1);
    paua_collection_close(numbers);
}

static void file_take(struct image *image, const char *path, const char *name)
{
    struct image_file *file = &image->files[image->count++];
    char full[320];
    struct stat s;
    FILE *stream;

    CHECK(image->count <= IMAGE_FILES_MAX);
    CHECK(strlen(name) < sizeof file->name);
    snprintf(full, sizeof full, "%s/%s", path, name);
    CHECK(stat(full, &s) == 0);
    strcpy(file->name, name);
    file->nbytes = (size_t)s.st_size;
    file->bytes = malloc(file->nbytes + 1);
    stream = fopen(full, "rb");
    CHECK(file->bytes != NULL && stream != NULL);
    CHECK(fread(file->bytes, 1, file->nbytes, stream) == file->nbytes);
    fclose(stream);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct image_file *)a)->name, ((const struct image_file *)b)->name);
}

void image_take(struct image *image, const char *path)
{
    DIR *stream = opendir(path);
    struct dirent *entry;

    CHECK(stream != NULL);
    image->count = 0;
    while ((entry = readdir(stream)) != NULL)
        if (entry->d_name[0] != '.') file_take(image, path, entry->d_name);
    closedir(stream);
    qsort(image->files, image->count, sizeof image->files[0], by_name);
}

void image_free(struct image *image)
{
    for (size_t i = 0; i < image->count; i++)
        free(image->files[i].bytes);
    image->count = 0;
}

size_t image_nbytes(const struct image *image)
{
    size_t nbytes = 0;

    for (size_t i = 0; i < image->count; i++)
        nbytes += image->files[i].nbytes;
    return nbytes;
}

struct image_file *image_find(struct image *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++)
        if (strcmp(image->files[i].name, name) == 0) return &image->files[i];
    return NULL;
}

bool image_is_data(const struct image_file *file)
{
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    return file_name_parse(file->name, &number, &kind, &temporary);
}

bool image_is_catalog(const struct image_file *file)
{
    return strcmp(file->name, CATALOG_NAME) == 0;
}

bool image_is_sealed(const struct image_file *file)
{
    struct file_trailer trailer;

    return image_is_data(file) && file->nbytes > FILE_HEADER_NBYTES + FILE_TRAILER_NBYTES &&
           file_trailer_decode(file->bytes + file->nbytes - FILE_TRAILER_NBYTES,
                               FILE_TRAILER_NBYTES, &trailer) == PAUA_OK;
}

void image_put_file(const char *path, const char *name, const void *bytes, size_t nbytes)
{
    char full[320];
    int fd;

    snprintf(full, sizeof full, "%s/%s", path, name);
    fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, bytes, nbytes) == (ssize_t)nbytes);
    close(fd);
}

void image_put(const struct image *image, const char *path)
{
    world_remove(path);
    CHECK(mkdir(path, 0755) == 0);
    for (size_t i = 0; i < image->count; i++)
        image_put_file(path, image->files[i].name, image->files[i].bytes, image->files[i].nbytes);
}
