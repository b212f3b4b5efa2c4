/* replay.c - the directory that a crash leaves, from a log.
 *
 * Names and files are two things, as on a disk: syncing a file makes its bytes durable, syncing the
 * directory its names. Each entry of the log is kept, kept in part or lost; what is kept happens in
 * order to an image in memory, which is then written out. Real file systems lose less than
 * CRASH_POWER_STRICT (a name usually comes with the file's sync), and nothing else than
 * CRASH_POWER_MIXED can. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/folder.h"
#include "crash/log.h"

#define NAMES_MAX 128u

enum fate { LOST, LENGTH_ONLY, HALF, WHOLE };

struct blob {
    uint8_t *bytes;
    size_t nbytes;
};

struct image {
    struct blob *files;
    struct {
        char name[48];
        uint32_t file;
    } names[NAMES_MAX];
    size_t name_count;
};

static void blob_resize(struct blob *blob, size_t nbytes)
{
    if (nbytes > blob->nbytes) {
        blob->bytes = realloc(blob->bytes, nbytes);
        if (blob->bytes == NULL) abort();
        memset(blob->bytes + blob->nbytes, 0, nbytes - blob->nbytes);
    }
    blob->nbytes = nbytes;
}

static void blob_write(struct blob *blob, const struct log_entry *e, enum fate fate)
{
    size_t n = fate == HALF ? e->nbytes / 2 : fate == WHOLE ? e->nbytes : 0;
    size_t end = (size_t)e->offset + (fate == LENGTH_ONLY ? e->nbytes : n);

    if (end > blob->nbytes) blob_resize(blob, end);
    if (n > 0) memcpy(blob->bytes + e->offset, e->bytes, n);
}

static size_t name_find(const struct image *image, const char *name)
{
    size_t i = 0;

    while (i < image->name_count && strcmp(image->names[i].name, name) != 0)
        i++;
    return i;
}

static void name_put(struct image *image, const char *name, uint32_t file)
{
    size_t i = name_find(image, name);

    if (i == image->name_count) image->name_count++;
    assert(image->name_count <= NAMES_MAX);
    strcpy(image->names[i].name, name);
    image->names[i].file = file;
}

static void name_remove(struct image *image, size_t i)
{
    image->names[i] = image->names[--image->name_count];
}

static void apply(struct image *image, const struct log_entry *e, enum fate fate)
{
    size_t at;

    if (fate == LOST) return;
    switch (e->op) {
    case LOG_CREATE:
        name_put(image, e->name, e->file);
        break;
    case LOG_WRITE:
        blob_write(&image->files[e->file], e, fate);
        break;
    case LOG_TRUNCATE:
        blob_resize(&image->files[e->file], (size_t)e->offset);
        break;
    case LOG_RENAME:
        at = name_find(image, e->name);
        assert(at < image->name_count);
        name_put(image, e->to, image->names[at].file);
        name_remove(image, at);
        break;
    case LOG_UNLINK:
        at = name_find(image, e->name);
        if (at < image->name_count) name_remove(image, at);
        break;
    case LOG_SYNC:
    case LOG_SYNC_NAMES:
    case LOG_MARK:
        break;
    }
}

static bool is_name(enum log_op op)
{
    return op == LOG_CREATE || op == LOG_RENAME || op == LOG_UNLINK;
}

static uint32_t chance(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static enum fate fate_unsynced(const struct log_entry *e, enum crash crash, uint64_t *seed)
{
    if (crash == CRASH_POWER_STRICT) return LOST;
    if (crash == CRASH_POWER_NAMES) return e->op == LOG_WRITE ? LENGTH_ONLY : WHOLE;
    if (e->op == LOG_WRITE) return (enum fate)(chance(seed) % 4);
    return chance(seed) % 2 == 0 ? WHOLE : LOST;
}

/* From the end to the beginning, since a sync speaks of what was before it. Names of one directory
 * are journaled: those that are kept are a beginning of those that were not synced. */
static void fates(const struct log *log, size_t count, enum crash crash, enum fate *fate)
{
    bool *file_synced = calloc(log->file_count + 1u, sizeof *file_synced), names_synced = false;
    uint64_t seed = count;
    size_t names_kept = count - chance(&seed) % (count < 40 ? count : 40);

    if (file_synced == NULL) abort();
    for (size_t i = count; i-- > 0;) {
        const struct log_entry *e = &log->entries[i];
        bool durable = is_name(e->op) ? names_synced : file_synced[e->file];

        if (e->op == LOG_SYNC) file_synced[e->file] = true;
        if (e->op == LOG_SYNC_NAMES) names_synced = true;
        fate[i] = WHOLE;
        if (durable || crash <= CRASH_KILLED_TORN) continue;
        if (crash == CRASH_POWER_MIXED && is_name(e->op))
            fate[i] = i < names_kept ? WHOLE : LOST;
        else
            fate[i] = fate_unsynced(e, crash, &seed);
    }
    free(file_synced);
}

static void image_store(const struct image *image, const char *path)
{
    folder_make(path);
    for (size_t i = 0; i < image->name_count; i++) {
        const struct blob *blob = &image->files[image->names[i].file];
        char name[512];

        snprintf(name, sizeof name, "%s/%s", path, image->names[i].name);
        folder_write(name, blob->bytes, blob->nbytes);
    }
}

void log_replay(const struct log *log, size_t count, enum crash crash, const char *path)
{
    struct image image = {.files = calloc(log->file_count + 1u, sizeof(struct blob))};
    enum fate *fate = calloc(count + 1, sizeof *fate);

    if (image.files == NULL || fate == NULL) abort();
    fates(log, count, crash, fate);
    for (size_t i = 0; i < count; i++)
        apply(&image, &log->entries[i], fate[i]);
    if (crash == CRASH_KILLED_TORN && count < log->count && log->entries[count].op == LOG_WRITE)
        apply(&image, &log->entries[count], HALF);
    image_store(&image, path);
    for (uint32_t f = 0; f < log->file_count; f++)
        free(image.files[f].bytes);
    free(image.files);
    free(fate);
}
