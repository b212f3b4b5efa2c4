/* data_file.c - reading data files.
 *
 * A sealed file is mapped whole and its descriptor closed (but that of some files of vectors and
 * codes), so that a database may have more files than descriptors. Where it is not mapped (no_mmap,
 * or the kernel refused) the descriptor stays and every read is a pread. A growing file is mapped
 * beyond its end, which is legal as long as nobody touches it: `readable` is how much of it the
 * file had when last asked, and only a read past that asks again (fstat) before it touches more.
 * What has outgrown the map is read by pread.
 *
 * Verification: one bit a 64 KiB page, set once the page has matched the footer's checksum. The
 * bits are only ever set, and the bytes they speak of never change, so relaxed loads suffice; two
 * threads that meet at a page both verify it. A page is never verified twice otherwise, and a scan
 * of verified pages costs one load a page.
 *
 * Limits: a file cut short while it is mapped raises SIGBUS when touched.
 * Memory: the footer (4 bytes a page, and the descriptions), one bit a page.
 * Rejected: borrowing the footer from the map - it was verified once, and another process could
 * change it under the decoders afterwards. */
#include "store/data_file.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"
#include "store/data_file_private.h"
#include "store/file_writer.h"

#define GROWING_ROOM_NBYTES (UINT64_C(128) << 20)
#define DESCRIPTORS_KEPT 512 /* half of what a process has by default */
#define MAP_UNIT_NBYTES (UINT64_C(2) << 20)

static paua_status damaged(const struct data_file *file, const char *what, paua_error *err)
{
    return error_set(err, PAUA_ECORRUPT, "%s: %s; restore it from a backup", file->name, what);
}

static struct data_file *file_new(uint64_t number, enum file_kind kind, struct data_file_opts opts)
{
    struct data_file *file = mem_zalloc(1, sizeof *file);

    if (file == NULL) return NULL;
    atomic_init(&file->refs, 1);
    atomic_init(&file->readable, 0);
    file->fd = -1;
    file->opts = opts;
    file_name(file->name, number, kind);
    return file;
}

static void file_free(struct data_file *file)
{
    if (file->map != NULL) munmap(file->map, file->map_nbytes);
    fd_close(file->fd);
    mem_free(file->footer_bytes);
    mem_free(file->footer);
    mem_free(file->verified);
    mem_free(file);
}

struct data_file *data_file_ref(struct data_file *file)
{
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    return file;
}

void data_file_unref(struct data_file *file)
{
    if (file == NULL) return;
    if (atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) == 1) file_free(file);
}

static paua_status read_header(struct data_file *file, paua_error *err)
{
    uint8_t bytes[FILE_HEADER_NBYTES];
    paua_status status = fd_pread(file->fd, file->name, bytes, sizeof bytes, 0, err);

    if (status != PAUA_OK) return status;
    status = file_header_decode(bytes, sizeof bytes, &file->header);
    if (status == PAUA_EVERSION)
        return error_set(err, status,
                         "%s: was written by a newer version of paua; use that version",
                         file->name);
    if (status != PAUA_OK) return damaged(file, "its header is damaged", err);
    return PAUA_OK;
}

static paua_status expect_header(const struct data_file *file, const struct file_header *want,
                                 paua_error *err)
{
    const struct file_header *found = &file->header;

    if (found->number != want->number || found->kind != want->kind)
        return error_set(err, PAUA_ECORRUPT,
                         "%s: holds file %llu's bytes; files were exchanged, restore a backup",
                         file->name, (unsigned long long)found->number);
    if (found->collection != want->collection || found->field != want->field)
        return damaged(file, "belongs to another collection or field", err);
    if (found->row_nbytes != want->row_nbytes || found->dim != want->dim)
        return damaged(file, "has vectors of another dimension or precision", err);
    return PAUA_OK;
}

/* Finds and checks the footer of a file of `length` bytes. footer_crc of ref is filled in. */
static paua_status read_footer(struct data_file *file, uint64_t length, struct file_ref *ref,
                               paua_error *err)
{
    uint8_t bytes[FILE_TRAILER_NBYTES];
    struct file_trailer trailer;
    paua_status status;

    if (length < FILE_HEADER_NBYTES + RECORD_HEADER_NBYTES + FILE_TRAILER_NBYTES)
        return damaged(file, "is too short for a sealed file", err);
    length -= FILE_TRAILER_NBYTES;
    status = fd_pread(file->fd, file->name, bytes, sizeof bytes, length, err);
    if (status != PAUA_OK) return status;
    status = file_trailer_decode(bytes, sizeof bytes, &trailer);
    if (status != PAUA_OK) return damaged(file, "is not sealed, or its trailer is damaged", err);
    if (trailer.footer_offset + trailer.footer_nbytes != length)
        return damaged(file, "its trailer points elsewhere", err);

    file->footer_nbytes = trailer.footer_nbytes;
    file->footer_bytes = mem_alloc(file->footer_nbytes);
    file->footer = mem_zalloc(1, sizeof *file->footer);
    if (file->footer_bytes == NULL || file->footer == NULL) return error_set_nomem(err);
    status = fd_pread(file->fd, file->name, file->footer_bytes, file->footer_nbytes,
                      trailer.footer_offset, err);
    if (status != PAUA_OK) return status;
    status = file_footer_decode(file->footer_bytes, file->footer_nbytes, file->footer);
    if (status == PAUA_EVERSION)
        return error_set(err, status, "%s: was sealed by a newer version of paua; use that version",
                         file->name);
    if (status != PAUA_OK) return damaged(file, "its footer is damaged", err);
    if (record_crc(file->footer_bytes) != trailer.footer_crc)
        return damaged(file, "its footer and trailer do not belong together", err);
    if (file->footer->data_nbytes != trailer.footer_offset - FILE_HEADER_NBYTES)
        return damaged(file, "its footer speaks of another amount of data", err);
    ref->footer_crc = trailer.footer_crc;
    return PAUA_OK;
}

/* A refused map is no failure: the descriptor stays, and reads are slower. */
static void map_file(struct data_file *file, uint64_t nbytes)
{
    void *map;

    if (file->opts.no_mmap || nbytes > SIZE_MAX) return;
    map = mmap(NULL, (size_t)nbytes, PROT_READ, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED) return;
    file->map = map;
    file->map_nbytes = (size_t)nbytes;
}

/* Single vectors and codes are read by pread even where the file is mapped, since pages of a map
 * count as this process's memory; unless descriptors may become scarce. */
static bool keeps_descriptor(const struct data_file *file)
{
    enum file_kind kind = file->header.kind;

    return (kind == FILE_VECTORS_F32 || kind == FILE_VECTORS_F16 || kind == FILE_CODES) &&
           file->fd < DESCRIPTORS_KEPT;
}

static paua_status open_sealed(struct data_file *file, uint64_t length, struct file_ref *ref,
                               paua_error *err)
{
    paua_status status = read_footer(file, length, ref, err);

    if (status != PAUA_OK) return status;
    if (file->opts.verify == PAUA_VERIFY_TOUCH) {
        file->verified_count = file->footer->page_count / PAGES_PER_WORD + 1;
        file->verified = mem_zalloc(file->verified_count, sizeof *file->verified);
        if (file->verified == NULL) return error_set_nomem(err);
    }
    ref->nbytes = length;
    atomic_store_explicit(&file->readable, file->footer->data_nbytes, memory_order_relaxed);
    map_file(file, length);
    if (file->map != NULL && !keeps_descriptor(file)) {
        fd_close(file->fd);
        file->fd = -1;
    }
    return PAUA_OK;
}

static paua_status open_expected(struct data_file *file, struct dir *dir,
                                 const struct file_header *expected, const struct file_ref *ref,
                                 paua_error *err)
{
    struct file_ref found = {.number = expected->number};
    uint64_t length;
    paua_status status = dir_open_file(dir, file->name, DIR_READ, &file->fd, err);

    if (status == PAUA_ENOTFOUND) return damaged(file, "is missing", err);
    if (status == PAUA_OK) status = fd_length(file->fd, file->name, &length, err);
    if (status != PAUA_OK) return status;
    if (length != ref->nbytes)
        return error_set(err, PAUA_ECORRUPT,
                         "%s: is %llu bytes long instead of %llu; restore it from a backup",
                         file->name, (unsigned long long)length, (unsigned long long)ref->nbytes);
    status = read_header(file, err);
    if (status == PAUA_OK) status = expect_header(file, expected, err);
    if (status == PAUA_OK) status = open_sealed(file, length, &found, err);
    if (status != PAUA_OK) return status;
    if (found.footer_crc != ref->footer_crc)
        return damaged(file, "is not the file that the catalogue knows (an older copy?)", err);
    return PAUA_OK;
}

paua_status data_file_open_sealed(struct dir *dir, const struct file_header *expected,
                                  const struct file_ref *ref, struct data_file_opts opts,
                                  struct data_file **file, paua_error *err)
{
    struct data_file *opened = file_new(expected->number, expected->kind, opts);
    paua_status status;

    if (opened == NULL) return error_set_nomem(err);
    status = open_expected(opened, dir, expected, ref, err);
    if (status != PAUA_OK) {
        file_free(opened);
        return status;
    }
    *file = opened;
    return PAUA_OK;
}

static paua_status open_any(struct data_file *file, struct dir *dir, uint64_t number,
                            enum file_kind kind, struct file_ref *ref, paua_error *err)
{
    uint64_t length;
    paua_status status = dir_open_file(dir, file->name, DIR_READ, &file->fd, err);

    if (status == PAUA_OK) status = fd_length(file->fd, file->name, &length, err);
    if (status == PAUA_OK) status = read_header(file, err);
    if (status != PAUA_OK) return status;
    if (file->header.number != number || file->header.kind != kind)
        return damaged(file, "has another file's header; files were exchanged", err);
    return open_sealed(file, length, ref, err);
}

paua_status data_file_open_any(struct dir *dir, uint64_t number, enum file_kind kind,
                               struct data_file_opts opts, struct data_file **file,
                               struct file_ref *ref, paua_error *err)
{
    struct data_file *opened = file_new(number, kind, opts);
    struct file_ref found = {.number = number};
    paua_status status;

    if (opened == NULL) return error_set_nomem(err);
    status = open_any(opened, dir, number, kind, &found, err);
    if (status != PAUA_OK) {
        file_free(opened);
        return status;
    }
    *file = opened;
    *ref = found;
    return PAUA_OK;
}

static uint64_t growing_room(uint64_t length)
{
    uint64_t room = length < GROWING_ROOM_NBYTES / 2 ? GROWING_ROOM_NBYTES : 2 * length;

    return (room + MAP_UNIT_NBYTES - 1) / MAP_UNIT_NBYTES * MAP_UNIT_NBYTES;
}

static paua_status open_growing(struct data_file *file, struct dir *dir,
                                const struct file_header *expected, paua_error *err)
{
    uint64_t length;
    paua_status status = dir_open_file(dir, file->name, DIR_READ, &file->fd, err);

    if (status == PAUA_ENOTFOUND) return damaged(file, "is missing", err);
    if (status == PAUA_OK) status = fd_length(file->fd, file->name, &length, err);
    if (status == PAUA_OK) status = read_header(file, err);
    if (status == PAUA_OK) status = expect_header(file, expected, err);
    if (status != PAUA_OK) return status;
    map_file(file, growing_room(length));
    return PAUA_OK;
}

paua_status data_file_open_growing(struct dir *dir, const struct file_header *expected,
                                   struct data_file_opts opts, struct data_file **file,
                                   paua_error *err)
{
    struct data_file *opened = file_new(expected->number, expected->kind, opts);
    paua_status status;

    if (opened == NULL) return error_set_nomem(err);
    status = open_growing(opened, dir, expected, err);
    if (status != PAUA_OK) {
        file_free(opened);
        return status;
    }
    *file = opened;
    return PAUA_OK;
}

bool data_file_mapped(const struct data_file *file) { return file->map != NULL; }

const struct file_header *data_file_header(const struct data_file *file) { return &file->header; }

const struct section *data_file_section(const struct data_file *file, enum section_id id)
{
    assert(file->footer != NULL);
    for (uint32_t i = 0; i < file->footer->section_count; i++)
        if (file->footer->sections[i].id == id) return &file->footer->sections[i];
    return NULL;
}

bool data_file_has_section(const struct data_file *file, enum section_id id, uint64_t nbytes)
{
    const struct section *section = data_file_section(file, id);

    return section != NULL && section->nbytes == nbytes;
}

paua_status data_file_refuse(const struct data_file *file, const char *what, paua_error *err)
{
    return error_set(err, PAUA_ECORRUPT, "%s: %s; run paua check, restore from a backup",
                     file->name, what);
}

uint32_t data_file_row_count(const struct data_file *file)
{
    assert(file->footer != NULL);
    return file->footer->row_count;
}

paua_bytes data_file_ids(const struct data_file *file)
{
    assert(file->footer != NULL);
    return file->footer->ids;
}

paua_bytes data_file_manifest(const struct data_file *file)
{
    assert(file->footer != NULL);
    return file->footer->manifest;
}

paua_bytes data_file_schema(const struct data_file *file)
{
    assert(file->footer != NULL);
    return file->footer->schema;
}

const char *data_file_name(const struct data_file *file) { return file->name; }

/* A growing file is mapped with room that has nothing behind it yet. */
size_t data_file_mapped_nbytes(const struct data_file *file)
{
    uint64_t length = FILE_HEADER_NBYTES + atomic_load(&file->readable);

    if (file->footer != NULL || length > file->map_nbytes) return file->map_nbytes;
    return (size_t)length;
}

size_t data_file_heap_nbytes(const struct data_file *file)
{
    return sizeof *file + file->footer_nbytes + (file->footer != NULL ? sizeof *file->footer : 0) +
           file->verified_count * sizeof *file->verified;
}
