/* page_file.c - reading pages from a history's files.
 *
 * What a page says of itself in its file must be what the catalogue said of it, or it is damaged.
 * A page that was compressed against its group's first one needs that one's bytes: the last such
 * frame is kept, since a walk reads a group's pages one after the other, and the scratch knows its
 * payload by the frame's serial.
 * Lock order: a page's, the file's, the scratch's. */
#include "archive/page_file.h"

#include "base/error.h"
#include "base/memory.h"

static void release(struct page_store *store)
{
    struct page_file *file = (struct page_file *)(void *)store;

    frame_unref(file->key);
    fd_close(file->fd);
    pthread_mutex_destroy(&file->mutex);
    mem_free(file);
}

paua_status page_file_read(struct page_file *file, uint64_t at, uint32_t nbytes,
                           struct stored_page *page, uint8_t **bytes, const uint8_t **data)
{
    size_t length = STORED_PAGE_NBYTES + (size_t)nbytes;
    uint8_t *read = mem_alloc(length);
    struct reader r;
    bool intact;
    paua_status status;

    if (read == NULL) return PAUA_ENOMEM;
    status = fd_pread(file->fd, file->name, read, length, at, NULL);
    if (status == PAUA_OK) {
        r = reader_over(read, length);
        status = stored_page_decode(&r, page, data, &intact);
        if (status == PAUA_OK && (!intact || page->nbytes != nbytes)) status = PAUA_ECORRUPT;
    }
    if (status != PAUA_OK)
        mem_free(read);
    else
        *bytes = read;
    return status;
}

/* The head of the page at `at`, for its length. */
static paua_status read_head(struct page_file *file, uint64_t at, struct stored_page *page)
{
    uint8_t bytes[STORED_PAGE_NBYTES];
    struct reader r;
    uint64_t hash;
    paua_status status = fd_pread(file->fd, file->name, bytes, sizeof bytes, at, NULL);

    if (status != PAUA_OK) return status;
    r = reader_over(bytes, sizeof bytes);
    return stored_head_decode(&r, page, &hash);
}

static paua_status load_key(struct page_file *file, struct heap *heap,
                            paua_history_scratch *scratch, uint64_t at)
{
    const uint8_t *data = NULL;
    uint8_t *bytes = NULL;
    struct stored_page page;
    struct frame *frame;
    paua_status status = read_head(file, at, &page);

    if (status == PAUA_OK && page.form != STORED_ZSTD) status = PAUA_ECORRUPT;
    if (status == PAUA_OK) status = page_file_read(file, at, page.nbytes, &page, &bytes, &data);
    if (status != PAUA_OK) return status;
    scratch_lock(scratch);
    frame = frame_adopt(scratch, heap, &page.head, NULL, data, page.nbytes);
    scratch_unlock(scratch);
    mem_free(bytes);
    if (frame == NULL) return PAUA_ENOMEM;
    frame_unref(file->key);
    file->key = frame;
    file->key_at = at;
    return PAUA_OK;
}

paua_status page_file_key(struct page_file *file, struct heap *heap, paua_history_scratch *scratch,
                          uint64_t at, struct frame **key)
{
    paua_status status = PAUA_OK;

    pthread_mutex_lock(&file->mutex);
    if (file->key == NULL || file->key_at != at) status = load_key(file, heap, scratch, at);
    if (status == PAUA_OK) *key = frame_ref(file->key);
    pthread_mutex_unlock(&file->mutex);
    return status;
}

/* Rows of a page whose bytes have been read. */
static paua_status restore(struct page_file *file, const struct page *page,
                           const struct stored_page *stored, const uint8_t *data, uint64_t key_at,
                           paua_history_scratch *scratch, const struct sought *sought,
                           struct block **block)
{
    struct frame *key = NULL, *frame;
    paua_status status = PAUA_OK;

    if (stored->form == STORED_PLAIN) {
        scratch_lock(scratch);
        status =
            frame_block(scratch, page->heap, data, stored->nbytes, &stored->head, sought, block);
        scratch_unlock(scratch);
        return status;
    }
    if (stored->form == STORED_ZSTD_KEYED)
        status = page_file_key(file, page->heap, scratch, key_at, &key);
    if (status != PAUA_OK) return status;
    scratch_lock(scratch);
    frame = frame_adopt(scratch, page->heap, &stored->head, key, data, stored->nbytes);
    scratch_unlock(scratch);
    status = frame == NULL ? PAUA_ENOMEM
                           : frame_restore(scratch, frame, page_origin(page), sought, block);
    frame_unref(frame);
    frame_unref(key);
    return status;
}

/* Does a page hold what the catalogue says? */
static bool block_is(const struct block *b, const struct page *page)
{
    uint32_t last = b->row_count - 1;

    return b->row_count == page->row_count && block_id(b, 0) == page->first_id &&
           block_id(b, last) == page_last_id(page) && block_time(b, 0) == page_first_time(page) &&
           block_time(b, last) == page_last_time(page) && block_soft(b, last) == page->last_soft &&
           (b->id_steps != NULL) == page->has_gaps;
}

static paua_status load(const struct page_stored *at, const struct page *page,
                        paua_history_scratch *scratch, const struct sought *sought,
                        struct block **block)
{
    struct page_file *file = (struct page_file *)(void *)at->store;
    const uint8_t *data = NULL;
    uint8_t *bytes = NULL;
    struct stored_page stored;
    struct block *b = NULL;
    paua_status status = page_file_read(file, at->at, at->nbytes, &stored, &bytes, &data);

    if (status == PAUA_OK &&
        (stored.head.hash != at->hash || (stored.form == STORED_ZSTD_KEYED) != (at->key_at != 0)))
        status = PAUA_ECORRUPT;
    if (status == PAUA_OK)
        status = restore(file, page, &stored, data, at->key_at, scratch, sought, &b);
    if (status == PAUA_OK && b != NULL && !block_is(b, page)) status = PAUA_ECORRUPT;
    mem_free(bytes);
    if (status == PAUA_OK)
        *block = b;
    else
        block_unref(b);
    return status;
}

static struct file_header header_of(uint32_t history, uint64_t number)
{
    return (struct file_header){.kind = FILE_PAGES, .number = number, .collection = history};
}

static struct page_file *file_new(uint64_t number)
{
    struct page_file *file = mem_zalloc(1, sizeof *file);

    if (file == NULL) return NULL;
    atomic_init(&file->store.refs, 1);
    file->store.load = load;
    file->store.release = release;
    file->fd = -1;
    file->number = number;
    file_name(file->name, number, FILE_PAGES);
    pthread_mutex_init(&file->mutex, NULL);
    return file;
}

static paua_status header_check(const struct page_file *file, uint32_t history, paua_error *err)
{
    uint8_t bytes[FILE_HEADER_NBYTES];
    struct file_header found;
    paua_status status = fd_pread(file->fd, file->name, bytes, sizeof bytes, 0, err);

    if (status != PAUA_OK) return status;
    status = file_header_decode(bytes, sizeof bytes, &found);
    if (status == PAUA_EVERSION)
        return error_set(err, status, "%s: was written by a newer version of paua; use that one",
                         file->name);
    if (status != PAUA_OK || found.kind != FILE_PAGES || found.number != file->number ||
        found.collection != history)
        return error_set(err, PAUA_ECORRUPT,
                         "%s: is not the file of history %u that it should be; restore it from a "
                         "backup",
                         file->name, history);
    return PAUA_OK;
}

paua_status page_file_open(struct dir *dir, uint32_t history, uint64_t number, bool writable,
                           struct page_file **file, paua_error *err)
{
    struct page_file *f = file_new(number);
    paua_status status;

    if (f == NULL) return error_set_nomem(err);
    f->writable = writable;
    status = dir_open_file(dir, f->name, writable ? DIR_WRITE : DIR_READ, &f->fd, err);
    if (status == PAUA_OK) status = header_check(f, history, err);
    if (status != PAUA_OK) {
        page_file_unref(f);
        return status;
    }
    *file = f;
    return PAUA_OK;
}

paua_status page_file_make(struct dir *dir, uint32_t history, const char *history_name,
                           uint64_t number, struct page_file **file, paua_error *err)
{
    struct file_header header = header_of(history, number);
    uint8_t bytes[PAGES_BEGIN];
    struct page_file *f = file_new(number);
    paua_status status;

    if (f == NULL) return error_set_nomem(err);
    f->writable = true;
    file_header_encode(&header, bytes);
    page_name_encode(history_name, bytes + FILE_HEADER_NBYTES);
    status = dir_open_file(dir, f->name, DIR_REPLACE, &f->fd, err);
    if (status == PAUA_OK) {
        status = fd_pwrite(f->fd, f->name, bytes, sizeof bytes, 0, err);
        if (status == PAUA_OK) status = dir_sync_file(dir, f->fd, f->name, err);
        if (status == PAUA_OK) status = dir_sync(dir, err);
        if (status != PAUA_OK) dir_unlink(dir, f->name, NULL);
    }
    if (status != PAUA_OK) {
        page_file_unref(f);
        return status;
    }
    *file = f;
    return PAUA_OK;
}

paua_status page_file_history(const struct page_file *file, char name[PAUA_NAME_NBYTES_MAX + 1])
{
    uint8_t bytes[PAGE_NAME_NBYTES];
    paua_status status =
        fd_pread(file->fd, file->name, bytes, sizeof bytes, FILE_HEADER_NBYTES, NULL);

    return status == PAUA_OK ? page_name_decode(bytes, name) : status;
}
