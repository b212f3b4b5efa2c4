/* file_writer.c - appending to a data file, and going back.
 *
 * Everything that an append changes, except bytes, is in struct state: how much data there is, the
 * checksum of the page that is not full yet and that of what came after the mark. Checksums of full
 * pages are an array that only grows. So mark and rewind copy one struct; a page that was completed
 * after the mark is simply computed again.
 * The buffer holds the last `buffered` bytes of the data; the file has those before. It is only
 * emptied once they are written, hence a failed write loses nothing that lies before the mark, and
 * rewinding keeps the part of the buffer that does.
 *
 *   file      | header |  data in the file        | leftovers, overwritten
 *   buffer                                 | buffered |
 *                        mark ^                       ^ state.nbytes
 *
 * Whole pages that meet an empty buffer are written from where they are: an import's batch of
 * megabytes is not copied. The extent's checksum is a second pass over bytes that are in the cache
 * anyway; combining page checksums would save it and cost a page of algebra.
 * Memory: 64 KiB, and 4 bytes a page (19 KB for 300 MB). */
#include "store/file_writer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"
#include "store/sys.h"

#define CRC_NBYTES 4u

struct state {
    uint64_t nbytes;     /* of data */
    uint32_t page_crc;   /* of the data in the last page, if that is not full */
    uint32_t extent_crc; /* of the data after the mark */
};

struct file_writer {
    struct dir *dir;
    int fd;
    struct file_header header;
    bool temporary; /* its name ends in .tmp */
    bool sealed;
    char name[FILE_NAME_NBYTES];
    struct state now;
    struct state mark;
    uint8_t *buffer; /* owned, FILE_PAGE_NBYTES */
    size_t buffered;
    uint8_t *crcs; /* owned; u32 little-endian each, as the footer stores them */
    size_t crcs_capacity;
};

static size_t page_of(uint64_t offset) { return (size_t)(offset / FILE_PAGE_NBYTES); }

/* Offset in the file of the first byte that it does not have yet. */
static uint64_t write_offset(const struct file_writer *writer)
{
    return FILE_HEADER_NBYTES + writer->now.nbytes - writer->buffered;
}

static bool reserve_crcs(struct file_writer *writer, uint64_t nbytes)
{
    void *crcs = writer->crcs;

    if (mem_grow(&crcs, &writer->crcs_capacity, (page_of(nbytes) + 1) * CRC_NBYTES, 1) != 0)
        return false;
    writer->crcs = crcs;
    return true;
}

/* Counts bytes in: the checksums and the length. crcs has room. */
static void pass(struct file_writer *writer, const uint8_t *bytes, size_t nbytes)
{
    struct state *s = &writer->now;

    s->extent_crc = crc32c(s->extent_crc, bytes, nbytes);
    while (nbytes > 0) {
        size_t left = FILE_PAGE_NBYTES - (size_t)(s->nbytes % FILE_PAGE_NBYTES);
        size_t n = nbytes < left ? nbytes : left;

        s->page_crc = crc32c(s->page_crc, bytes, n);
        if (n == left) {
            bytes_put(writer->crcs + page_of(s->nbytes) * CRC_NBYTES, s->page_crc, CRC_NBYTES);
            s->page_crc = 0;
        }
        s->nbytes += n;
        bytes += n;
        nbytes -= n;
    }
}

static struct file_writer *writer_new(struct dir *dir, const struct file_header *header)
{
    struct file_writer *writer = mem_zalloc(1, sizeof *writer);

    if (writer == NULL) return NULL;
    writer->dir = dir;
    writer->fd = -1;
    writer->header = *header;
    file_name(writer->name, header->number, header->kind);
    writer->buffer = mem_alloc(FILE_PAGE_NBYTES);
    if (writer->buffer == NULL) {
        mem_free(writer);
        return NULL;
    }
    return writer;
}

static void writer_free_all(struct file_writer *writer)
{
    fd_close(writer->fd);
    mem_free(writer->buffer);
    mem_free(writer->crcs);
    mem_free(writer);
}

void file_writer_close(struct file_writer *writer)
{
    if (writer == NULL) return;
    if (writer->temporary) dir_unlink(writer->dir, writer->name, NULL);
    writer_free_all(writer);
}

paua_status file_writer_create(struct dir *dir, const struct file_header *header, bool temporary,
                               struct file_writer **writer, paua_error *err)
{
    struct file_writer *made = writer_new(dir, header);
    uint8_t bytes[FILE_HEADER_NBYTES];
    paua_status status;

    if (made == NULL) return error_set_nomem(err);
    if (temporary) strcat(made->name, ".tmp");
    status = dir_open_file(dir, made->name, DIR_REPLACE, &made->fd, err);
    if (status != PAUA_OK) {
        writer_free_all(made);
        return status;
    }
    made->temporary = temporary;
    file_header_encode(header, bytes);
    status = fd_pwrite(made->fd, made->name, bytes, sizeof bytes, 0, err);
    if (status != PAUA_OK) {
        dir_unlink(dir, made->name, NULL);
        writer_free_all(made);
        return status;
    }
    *writer = made;
    return PAUA_OK;
}

static paua_status check_header(struct file_writer *writer, paua_error *err)
{
    const struct file_header *want = &writer->header;
    struct file_header found;
    uint8_t bytes[FILE_HEADER_NBYTES];
    paua_status status = fd_pread(writer->fd, writer->name, bytes, sizeof bytes, 0, err);

    if (status != PAUA_OK) return status;
    status = file_header_decode(bytes, sizeof bytes, &found);
    if (status == PAUA_EVERSION || (status == PAUA_OK && found.read_compat != 0))
        return error_set(err, PAUA_EVERSION,
                         "%s: was written by a newer version of paua; write with that version",
                         writer->name);
    if (status != PAUA_OK)
        return error_set(err, status, "%s: its header is damaged; check the database",
                         writer->name);
    if (found.number != want->number || found.kind != want->kind ||
        found.collection != want->collection || found.field != want->field ||
        found.row_nbytes != want->row_nbytes || found.dim != want->dim)
        return error_set(err, PAUA_ECORRUPT,
                         "%s: holds another file's data (its header says number %llu, "
                         "collection %u, field %u); check the database",
                         writer->name, (unsigned long long)found.number, found.collection,
                         found.field);
    writer->header = found;
    return PAUA_OK;
}

/* The extents of a file that is read from front to back. */
struct extent_check {
    const struct extent *extents;
    size_t count;
    size_t next;  /* the first that has not been seen to its end */
    size_t bad;   /* the first that did not match, or count */
    uint64_t at;  /* data before this offset has passed */
    uint32_t crc; /* of the part of extents[next] before `at` */
};

static void extent_done(struct extent_check *check, bool good)
{
    if (!good && check->bad == check->count) check->bad = check->next;
    check->next++;
    check->crc = 0;
}

/* Passes the data at check->at. An extent that does not rise has missed some of its bytes already,
 * so its checksum does not match. */
static void extent_pass(struct extent_check *check, const uint8_t *bytes, size_t nbytes)
{
    uint64_t stop = check->at + nbytes;

    while (check->next < check->count) {
        const struct extent *e = &check->extents[check->next];
        uint64_t end = e->offset + e->nbytes;
        uint64_t from = e->offset > check->at ? e->offset : check->at;

        if (e->nbytes == 0) {
            extent_done(check, e->crc == 0);
            continue;
        }
        if (end < e->offset) {
            extent_done(check, false);
            continue;
        }
        if (e->offset >= stop) break;
        if (end > check->at) {
            uint64_t to = end < stop ? end : stop;

            check->crc = crc32c(check->crc, bytes + (from - check->at), (size_t)(to - from));
        }
        if (end > stop) break;
        extent_done(check, check->crc == e->crc);
    }
    check->at = stop;
}

static paua_status read_data(struct file_writer *writer, uint64_t data_nbytes,
                             struct extent_check *check, paua_error *err)
{
    while (writer->now.nbytes < data_nbytes) {
        uint64_t left = data_nbytes - writer->now.nbytes;
        size_t n = left < FILE_PAGE_NBYTES ? (size_t)left : FILE_PAGE_NBYTES;
        paua_status status = fd_pread(writer->fd, writer->name, writer->buffer, n,
                                      FILE_HEADER_NBYTES + writer->now.nbytes, err);

        if (status != PAUA_OK) return status;
        extent_pass(check, writer->buffer, n);
        pass(writer, writer->buffer, n);
    }
    while (check->next < check->count)
        extent_done(check, check->extents[check->next].nbytes == 0 &&
                               check->extents[check->next].crc == 0);
    return PAUA_OK;
}

static paua_status reopen(struct file_writer *writer, uint64_t data_nbytes,
                          struct extent_check *check, paua_error *err)
{
    uint64_t length;
    paua_status status = dir_open_file(writer->dir, writer->name, DIR_WRITE, &writer->fd, err);

    if (status == PAUA_OK) status = check_header(writer, err);
    if (status == PAUA_OK) status = fd_length(writer->fd, writer->name, &length, err);
    if (status != PAUA_OK) return status;
    if (length < FILE_HEADER_NBYTES || length - FILE_HEADER_NBYTES < data_nbytes)
        return error_set(err, PAUA_ECORRUPT,
                         "%s: is cut short: %llu bytes, and %llu were committed; restore it from a "
                         "backup",
                         writer->name, (unsigned long long)length,
                         (unsigned long long)data_nbytes + FILE_HEADER_NBYTES);
    if (!reserve_crcs(writer, data_nbytes)) return error_set_nomem(err);
    status = read_data(writer, data_nbytes, check, err);
    file_writer_mark(writer);
    return status;
}

paua_status file_writer_reopen(struct dir *dir, const struct file_header *header,
                               uint64_t data_nbytes, const struct extent *extents,
                               size_t extent_count, struct file_writer **writer, size_t *bad_extent,
                               paua_error *err)
{
    struct extent_check check = {.extents = extents, .count = extent_count, .bad = extent_count};
    struct file_writer *opened = writer_new(dir, header);
    paua_status status;

    if (opened == NULL) return error_set_nomem(err);
    status = reopen(opened, data_nbytes, &check, err);
    if (status != PAUA_OK) {
        writer_free_all(opened);
        return status;
    }
    *bad_extent = check.bad;
    *writer = opened;
    return PAUA_OK;
}

paua_status file_writer_flush(struct file_writer *writer, paua_error *err)
{
    paua_status status;

    assert(!writer->sealed);
    status = fd_pwrite(writer->fd, writer->name, writer->buffer, writer->buffered,
                       write_offset(writer), err);
    if (status == PAUA_OK) writer->buffered = 0;
    return status;
}

paua_status file_writer_append(struct file_writer *writer, const void *bytes, size_t nbytes,
                               paua_error *err)
{
    const uint8_t *at = bytes;
    paua_status status = PAUA_OK;

    assert(!writer->sealed);
    if (!reserve_crcs(writer, writer->now.nbytes + nbytes)) return error_set_nomem(err);
    while (nbytes > 0 && status == PAUA_OK) {
        size_t room = FILE_PAGE_NBYTES - writer->buffered;
        size_t n = nbytes < room ? nbytes : room;

        if (writer->buffered == 0 && nbytes >= FILE_PAGE_NBYTES) {
            n = nbytes - nbytes % FILE_PAGE_NBYTES;
            status = fd_pwrite(writer->fd, writer->name, at, n, write_offset(writer), err);
            if (status != PAUA_OK) return status;
        } else {
            memcpy(writer->buffer + writer->buffered, at, n);
            writer->buffered += n;
        }
        pass(writer, at, n);
        at += n;
        nbytes -= n;
        if (writer->buffered == FILE_PAGE_NBYTES) status = file_writer_flush(writer, err);
    }
    return status;
}

paua_status file_writer_align(struct file_writer *writer, size_t alignment, paua_error *err)
{
    static const uint8_t zeros[512];
    size_t left;
    paua_status status = PAUA_OK;

    assert(alignment > 0 && (alignment & (alignment - 1)) == 0);
    left = (size_t)(-writer->now.nbytes & (alignment - 1));
    while (left > 0 && status == PAUA_OK) {
        size_t n = left < sizeof zeros ? left : sizeof zeros;

        status = file_writer_append(writer, zeros, n, err);
        left -= n;
    }
    return status;
}

uint64_t file_writer_data_nbytes(const struct file_writer *writer) { return writer->now.nbytes; }

struct extent file_writer_extent(const struct file_writer *writer)
{
    return (struct extent){.offset = writer->mark.nbytes,
                           .nbytes = writer->now.nbytes - writer->mark.nbytes,
                           .crc = writer->now.extent_crc};
}

void file_writer_mark(struct file_writer *writer)
{
    writer->now.extent_crc = 0;
    writer->mark = writer->now;
}

void file_writer_rewind(struct file_writer *writer)
{
    uint64_t in_file = writer->now.nbytes - writer->buffered;

    assert(!writer->sealed && writer->mark.nbytes <= writer->now.nbytes);
    writer->buffered = writer->mark.nbytes > in_file ? (size_t)(writer->mark.nbytes - in_file) : 0;
    writer->now = writer->mark;
}

paua_status file_writer_sync(struct file_writer *writer, paua_error *err)
{
    paua_status status = file_writer_flush(writer, err);

    return status == PAUA_OK ? dir_sync_file(writer->dir, writer->fd, writer->name, err) : status;
}

/* Footer and trailer in one buffer. */
static paua_status seal_encode(struct file_writer *writer, struct file_footer *footer,
                               struct writer *out, struct file_ref *ref)
{
    uint64_t nbytes = writer->now.nbytes;
    uint8_t trailer[FILE_TRAILER_NBYTES];
    paua_status status;

    if (!reserve_crcs(writer, nbytes)) return PAUA_ENOMEM;
    if (nbytes % FILE_PAGE_NBYTES != 0)
        bytes_put(writer->crcs + page_of(nbytes) * CRC_NBYTES, writer->now.page_crc, CRC_NBYTES);
    footer->data_nbytes = nbytes;
    footer->page_crcs = writer->crcs;
    footer->page_count = (uint32_t)page_of(nbytes + FILE_PAGE_NBYTES - 1);
    status = file_footer_encode(footer, out);
    if (status != PAUA_OK) return status;

    ref->number = writer->header.number;
    ref->nbytes = FILE_HEADER_NBYTES + nbytes + out->length + FILE_TRAILER_NBYTES;
    ref->footer_crc = record_crc(out->bytes);
    file_trailer_encode(&(struct file_trailer){.footer_offset = FILE_HEADER_NBYTES + nbytes,
                                               .footer_nbytes = (uint32_t)out->length,
                                               .footer_crc = ref->footer_crc},
                        trailer);
    writer_bytes(out, trailer, sizeof trailer);
    return out->failed ? PAUA_ENOMEM : PAUA_OK;
}

static paua_status seal_write(struct file_writer *writer, const struct writer *tail,
                              const struct file_ref *ref, paua_error *err)
{
    paua_status status = file_writer_flush(writer, err);

    if (status == PAUA_OK)
        status = fd_pwrite(writer->fd, writer->name, tail->bytes, tail->length,
                           write_offset(writer), err);
    if (status != PAUA_OK) return status;
    if (sys.ftruncate(writer->fd, (off_t)ref->nbytes) != 0)
        return error_set_errno(err, errno, writer->name, "truncating");
    return dir_sync_file(writer->dir, writer->fd, writer->name, err);
}

paua_status file_writer_seal(struct file_writer *writer, struct file_footer *footer,
                             struct file_ref *ref, paua_error *err)
{
    struct writer tail = {0};
    struct file_ref sealed = {0};
    char name[FILE_NAME_NBYTES];
    paua_status status;

    assert(!writer->sealed);
    status = seal_encode(writer, footer, &tail, &sealed);
    if (status != PAUA_OK)
        error_set(err, status, "%s: sealing: %s", writer->name, paua_strstatus(status));
    if (status == PAUA_OK) status = seal_write(writer, &tail, &sealed, err);
    if (status == PAUA_OK && writer->temporary) {
        file_name(name, writer->header.number, writer->header.kind);
        status = dir_rename(writer->dir, writer->name, name, err);
        if (status == PAUA_OK) {
            memcpy(writer->name, name, sizeof name);
            writer->temporary = false;
        }
    }
    writer_free(&tail);
    if (status != PAUA_OK) return status;
    writer->sealed = true;
    *ref = sealed;
    return PAUA_OK;
}

size_t file_writer_heap_nbytes(const struct file_writer *writer)
{
    return sizeof *writer + FILE_PAGE_NBYTES + writer->crcs_capacity;
}
