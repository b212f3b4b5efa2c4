/* page_file.h - a file of a history's sealed pages, as it is read; and one page at a time from it.
 *
 *   header   64 bytes, kind FILE_PAGES; its collection is the history's number
 *   name     of the history (page_name.h)
 *   pages    one behind the other, as docs/FORMAT-HISTORY.md has them: a head, its bytes
 *
 * Where pages begin is in the catalogue's records of groups; what lies behind the length that is
 * committed there is a crash's leftover. Nothing is mapped: a page is read when it is asked for, so
 * that a search holds one page and a file that is cut short is an error. The descriptor stays open,
 * so that a file that retention removes stays readable for those who look at it. */
#ifndef PAUA_ARCHIVE_PAGE_FILE_H
#define PAUA_ARCHIVE_PAGE_FILE_H

#include "archive/page_name.h"
#include "codec/filehead.h"
#include "history/page.h"
#include "history/stored.h"
#include "store/dir.h"
#include "store/file_writer.h"

#define PAGES_BEGIN (FILE_HEADER_NBYTES + PAGE_NAME_NBYTES)

struct page_file {
    struct page_store store; /* first */
    int fd;
    bool writable;
    uint64_t number;
    char name[FILE_NAME_NBYTES];
    pthread_mutex_t mutex; /* of the key that was read last */
    struct frame *key;
    uint64_t key_at;
};

/* Opens a file of a history: one reference. PAUA_ENOTFOUND, PAUA_ECORRUPT (not that file),
 * PAUA_EVERSION, PAUA_EIO, PAUA_ENOMEM. */
paua_status page_file_open(struct dir *dir, uint32_t history, uint64_t number, bool writable,
                           struct page_file **file, paua_error *err);

/* Makes one without pages, PAGES_BEGIN bytes long and synced, and its entry in the directory. */
paua_status page_file_make(struct dir *dir, uint32_t history, const char *history_name,
                           uint64_t number, struct page_file **file, paua_error *err);

/* The name of its history. PAUA_ECORRUPT, PAUA_EVERSION, PAUA_EIO. */
paua_status page_file_history(const struct page_file *file, char name[PAUA_NAME_NBYTES_MAX + 1]);

/* Reads a page's head and bytes; mem_free(*bytes). *data points behind the head. PAUA_ECORRUPT when
 * either is damaged. */
paua_status page_file_read(struct page_file *file, uint64_t at, uint32_t nbytes,
                           struct stored_page *page, uint8_t **bytes, const uint8_t **data);

/* The page at `at` as a frame that others are compressed against; one reference. PAUA_ECORRUPT:
 * damaged, or of no use as a key. */
paua_status page_file_key(struct page_file *file, struct heap *heap, paua_history_scratch *scratch,
                          uint64_t at, struct frame **key);

static inline void page_file_unref(struct page_file *file) /* NULL does nothing */
{
    if (file != NULL) page_store_unref(&file->store);
}

#endif
