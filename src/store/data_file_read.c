/* data_file_read.c - bytes of a data file, verified when first touched.
 *
 * data_file_read() is what every search runs for each block of rows: in the common case two
 * comparisons and one bit a page. All else is in read_slowly().
 * In a map, a page is verified where it lies, which brings it into the cache just before its rows
 * are compared: the first scan of 300 MB costs a fifth more than the second (62 against 50 ms).
 * Without a map, a page that a read covers whole is verified in the caller's scratch; of others, 64
 * KiB are read into a buffer and the part that was asked for is copied from it, so that the bytes
 * returned are the bytes verified.
 * Rejected: MADV_POPULATE_READ in windows of 4 MiB ahead of the verification - no faster, on ext4,
 * on tmpfs or from a cold cache, since the kernel maps 64 KiB and more at a fault anyway. */
#include <string.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/data_file_private.h"

static bool page_verified(const struct data_file *file, uint64_t page)
{
    uint64_t word =
        atomic_load_explicit(&file->verified[page / PAGES_PER_WORD], memory_order_relaxed);

    return (word >> (page % PAGES_PER_WORD) & 1) != 0;
}

static void set_verified(struct data_file *file, uint64_t page)
{
    if (file->verified == NULL) return;
    atomic_fetch_or_explicit(&file->verified[page / PAGES_PER_WORD],
                             UINT64_C(1) << (page % PAGES_PER_WORD), memory_order_relaxed);
}

static bool all_verified(const struct data_file *file, uint64_t offset, size_t nbytes)
{
    if (file->verified == NULL || nbytes == 0) return true;
    for (uint64_t page = offset / FILE_PAGE_NBYTES;
         page <= (offset + nbytes - 1) / FILE_PAGE_NBYTES; page++)
        if (!page_verified(file, page)) return false;
    return true;
}

static size_t page_nbytes(const struct data_file *file, uint64_t page)
{
    uint64_t left = file->footer->data_nbytes - page * FILE_PAGE_NBYTES;

    return left < FILE_PAGE_NBYTES ? (size_t)left : FILE_PAGE_NBYTES;
}

static paua_status verify_page(struct data_file *file, uint64_t page, const uint8_t *bytes,
                               paua_error *err)
{
    uint32_t crc = crc32c(0, bytes, page_nbytes(file, page));

    if (crc != bytes_get(file->footer->page_crcs + page * 4, 4))
        return error_set(
            err, PAUA_ECORRUPT, "%s: the 64 KiB at byte %llu are damaged; restore it from a backup",
            file->name, (unsigned long long)(FILE_HEADER_NBYTES + page * FILE_PAGE_NBYTES));
    set_verified(file, page);
    return PAUA_OK;
}

static const uint8_t *map_data(const struct data_file *file)
{
    return file->map + FILE_HEADER_NBYTES;
}

static paua_status verify_mapped(struct data_file *file, uint64_t offset, size_t nbytes,
                                 paua_error *err)
{
    uint64_t last = (offset + nbytes - 1) / FILE_PAGE_NBYTES;
    paua_status status = PAUA_OK;

    for (uint64_t page = offset / FILE_PAGE_NBYTES; page <= last && status == PAUA_OK; page++) {
        if (page_verified(file, page)) continue;
        status = verify_page(file, page, map_data(file) + page * FILE_PAGE_NBYTES, err);
    }
    return status;
}

static paua_status pread_data(const struct data_file *file, uint64_t offset, size_t nbytes,
                              void *bytes, paua_error *err)
{
    return fd_pread(file->fd, file->name, bytes, nbytes, FILE_HEADER_NBYTES + offset, err);
}

/* The part of [offset, offset + nbytes) that lies in one page. */
struct slice {
    uint64_t page;
    size_t from; /* in the page */
    size_t nbytes;
};

static struct slice slice_at(uint64_t offset, size_t nbytes)
{
    size_t from = (size_t)(offset % FILE_PAGE_NBYTES);
    size_t left = FILE_PAGE_NBYTES - from;

    return (struct slice){
        .page = offset / FILE_PAGE_NBYTES, .from = from, .nbytes = nbytes < left ? nbytes : left};
}

/* Reads a slice of a page that has not been verified. *buffer is made when first needed. */
static paua_status pread_verify(struct data_file *file, struct slice slice, uint8_t *bytes,
                                uint8_t **buffer, paua_error *err)
{
    size_t whole = page_nbytes(file, slice.page);
    uint8_t *page = bytes;
    paua_status status;

    if (slice.nbytes < whole) {
        if (*buffer == NULL) *buffer = mem_alloc(FILE_PAGE_NBYTES);
        if (*buffer == NULL) return error_set_nomem(err);
        page = *buffer;
    }
    status = pread_data(file, slice.page * FILE_PAGE_NBYTES, whole, page, err);
    if (status == PAUA_OK) status = verify_page(file, slice.page, page, err);
    if (status == PAUA_OK && page != bytes) memcpy(bytes, page + slice.from, slice.nbytes);
    return status;
}

static paua_status pread_pages(struct data_file *file, uint64_t offset, size_t nbytes,
                               uint8_t *bytes, paua_error *err)
{
    uint8_t *buffer = NULL;
    paua_status status = PAUA_OK;

    if (all_verified(file, offset, nbytes)) return pread_data(file, offset, nbytes, bytes, err);
    while (nbytes > 0 && status == PAUA_OK) {
        struct slice slice = slice_at(offset, nbytes);

        status = page_verified(file, slice.page)
                     ? pread_data(file, offset, slice.nbytes, bytes, err)
                     : pread_verify(file, slice, bytes, &buffer, err);
        offset += slice.nbytes;
        bytes += slice.nbytes;
        nbytes -= slice.nbytes;
    }
    mem_free(buffer);
    return status;
}

static bool in_data(const struct data_file *file, uint64_t offset, size_t nbytes)
{
    uint64_t readable = atomic_load_explicit(&file->readable, memory_order_relaxed);

    return offset <= readable && nbytes <= readable - offset;
}

static bool in_map(const struct data_file *file, uint64_t offset, size_t nbytes)
{
    return file->map != NULL && FILE_HEADER_NBYTES + offset + nbytes <= file->map_nbytes;
}

/* PAUA_OK if the file has these bytes; a growing file is asked again. */
static paua_status check_range(struct data_file *file, uint64_t offset, size_t nbytes,
                               paua_error *err)
{
    uint64_t length;
    paua_status status;

    if (in_data(file, offset, nbytes)) return PAUA_OK;
    if (file->footer == NULL) {
        status = fd_length(file->fd, file->name, &length, err);
        if (status != PAUA_OK) return status;
        length = length < FILE_HEADER_NBYTES ? 0 : length - FILE_HEADER_NBYTES;
        atomic_store_explicit(&file->readable, length, memory_order_relaxed);
        if (in_data(file, offset, nbytes)) return PAUA_OK;
    }
    return error_set(err, PAUA_ECORRUPT,
                     "%s: has no bytes %llu to %llu of data; restore it from a backup", file->name,
                     (unsigned long long)offset, (unsigned long long)offset + nbytes);
}

static paua_status read_slowly(struct data_file *file, uint64_t offset, size_t nbytes,
                               void *scratch, const uint8_t **bytes, paua_error *err)
{
    paua_status status = check_range(file, offset, nbytes, err);

    if (status != PAUA_OK) return status;
    if (!in_map(file, offset, nbytes)) {
        status = pread_pages(file, offset, nbytes, scratch, err);
        if (status == PAUA_OK) *bytes = scratch;
        return status;
    }
    if (!all_verified(file, offset, nbytes)) status = verify_mapped(file, offset, nbytes, err);
    if (status == PAUA_OK) *bytes = map_data(file) + offset;
    return status;
}

paua_status data_file_read(struct data_file *file, uint64_t offset, size_t nbytes, void *scratch,
                           const uint8_t **bytes, paua_error *err)
{
    if (in_data(file, offset, nbytes) && in_map(file, offset, nbytes) &&
        all_verified(file, offset, nbytes)) {
        *bytes = map_data(file) + offset;
        return PAUA_OK;
    }
    return read_slowly(file, offset, nbytes, scratch, bytes, err);
}

paua_status data_file_pread(struct data_file *file, uint64_t offset, size_t nbytes, void *bytes,
                            paua_error *err)
{
    const uint8_t *mapped;
    paua_status status;

    if (file->fd < 0) {
        status = data_file_read(file, offset, nbytes, NULL, &mapped, err);
        if (status == PAUA_OK && nbytes > 0) memcpy(bytes, mapped, nbytes);
        return status;
    }
    status = check_range(file, offset, nbytes, err);
    return status == PAUA_OK ? pread_pages(file, offset, nbytes, bytes, err) : status;
}

static paua_status verify_all_unmapped(struct data_file *file, paua_error *err)
{
    uint8_t *buffer = mem_alloc(FILE_PAGE_NBYTES);
    paua_status status = PAUA_OK;

    if (buffer == NULL) return error_set_nomem(err);
    for (uint64_t page = 0; page < file->footer->page_count && status == PAUA_OK; page++) {
        status = pread_data(file, page * FILE_PAGE_NBYTES, page_nbytes(file, page), buffer, err);
        if (status == PAUA_OK) status = verify_page(file, page, buffer, err);
    }
    mem_free(buffer);
    return status;
}

paua_status data_file_verify(struct data_file *file, paua_error *err)
{
    paua_status status = PAUA_OK;

    if (file->footer == NULL) return PAUA_OK;
    if (file->map == NULL) return verify_all_unmapped(file, err);
    for (uint64_t page = 0; page < file->footer->page_count && status == PAUA_OK; page++) {
        status = verify_page(file, page, map_data(file) + page * FILE_PAGE_NBYTES, err);
    }
    return status;
}
