/* stored.c - heads, byte for byte.
 *
 * A head has a hash of its own, apart from that of the bytes behind it, so that damaged bytes do
 * not hide which rows they were. Numbers are little-endian. */
#include "history/stored.h"

#include "history/payload.h"

#define HISTORY_MAGIC 0x54534850u /* "PHST" */
#define PAGE_MAGIC 0x47504850u    /* "PHPG" */
#define TAIL_MAGIC 0x4C544850u    /* "PHTL" */
#define VERSION 1u
#define LAST_SOFT 1u
#define HAS_GAPS 2u

/* Ends a head that began at `begin` with the hash of it. */
static void seal(struct writer *w, size_t begin)
{
    if (!w->failed) writer_u64(w, frame_hash(w->bytes + begin, w->length - begin));
}

void stored_history_encode(const struct stored_history *history, struct writer *w)
{
    size_t begin = w->length;

    writer_u32(w, HISTORY_MAGIC);
    writer_u16(w, VERSION);
    writer_u16(w, history->has_tail);
    writer_u64(w, history->next_id);
    writer_u64(w, history->row_count);
    writer_u64(w, (uint64_t)history->last_time);
    writer_u32(w, history->page_count);
    writer_u32(w, 0);
    seal(w, begin);
}

void stored_page_encode(const struct stored_page *page, const void *bytes, struct writer *w)
{
    size_t begin = w->length;

    writer_u32(w, page->is_tail ? TAIL_MAGIC : PAGE_MAGIC);
    writer_u8(w, VERSION);
    writer_u8(w, (uint8_t)page->form);
    writer_u8(w, (uint8_t)page->key_distance);
    writer_u8(w, (uint8_t)((page->last_soft ? LAST_SOFT : 0) | (page->has_gaps ? HAS_GAPS : 0)));
    writer_u32(w, page->head.row_count);
    writer_u32(w, 0);
    writer_u32(w, page->head.payload_nbytes);
    writer_u32(w, page->nbytes);
    writer_u64(w, page->head.first_id);
    writer_u64(w, page->last_id);
    writer_u64(w, (uint64_t)page->head.first_time);
    writer_u64(w, (uint64_t)page->last_time);
    writer_u64(w, page->head.hash);
    writer_u64(w, frame_hash(bytes, page->nbytes));
    seal(w, begin);
    writer_bytes(w, bytes, page->nbytes);
}

/* Reads a head's magic, version and hash. A newer version shows only if the hash holds. */
static paua_status open_head(struct reader *r, size_t nbytes, struct reader *fields,
                             uint32_t *magic)
{
    const uint8_t *head = reader_bytes(r, nbytes);

    if (head == NULL) return PAUA_ECORRUPT;
    *fields = reader_over(head, nbytes - 8);
    *magic = reader_u32(fields);
    if (frame_hash(head, nbytes - 8) != bytes_get(head + nbytes - 8, 8)) return PAUA_ECORRUPT;
    return PAUA_OK;
}

paua_status stored_history_decode(struct reader *r, struct stored_history *history)
{
    struct stored_history h = {0};
    struct reader f;
    uint32_t magic, version, tail, reserved;
    paua_status status = open_head(r, STORED_HISTORY_NBYTES, &f, &magic);

    if (status != PAUA_OK || magic != HISTORY_MAGIC) return PAUA_ECORRUPT;
    version = reader_u16(&f);
    if (version > VERSION) return PAUA_EVERSION;
    tail = reader_u16(&f);
    h.next_id = reader_u64(&f);
    h.row_count = reader_u64(&f);
    h.last_time = (int64_t)reader_u64(&f);
    h.page_count = reader_u32(&f);
    reserved = reader_u32(&f);
    if (version == 0 || tail > 1 || reserved != 0) return PAUA_ECORRUPT;
    if (h.next_id == 0 || h.last_time < 0) return PAUA_ECORRUPT;
    h.has_tail = tail == 1;
    *history = h;
    return PAUA_OK;
}

static bool page_sound(const struct stored_page *p)
{
    const struct frame_head *h = &p->head;
    uint64_t steps = (uint64_t)h->row_count - 1;

    if (h->row_count < 1 || h->row_count > BLOCK_ROWS_MAX) return false;
    if (h->first_id == 0 || p->last_id == UINT64_MAX || p->last_id < h->first_id) return false;
    if (p->has_gaps ? p->last_id - h->first_id <= steps : p->last_id - h->first_id != steps)
        return false;
    if (h->first_time < 0 || p->last_time < h->first_time) return false;
    if (h->first_time == 0 && p->last_time != 0) return false;
    if (h->payload_nbytes < 1 || h->payload_nbytes > PAYLOAD_NBYTES_MAX) return false;
    if (p->form == STORED_PLAIN ? p->nbytes != h->payload_nbytes : p->nbytes >= h->payload_nbytes)
        return false;
    if (p->form == STORED_ZSTD_KEYED)
        return !p->is_tail && p->key_distance >= 1 && p->key_distance < FRAME_GROUP;
    return p->key_distance == 0;
}

paua_status stored_head_decode(struct reader *r, struct stored_page *page, uint64_t *data_hash)
{
    struct stored_page p = {0};
    struct reader f;
    uint32_t magic, version, form, flags, reserved;
    uint64_t hash;
    paua_status status = open_head(r, STORED_PAGE_NBYTES, &f, &magic);

    if (status != PAUA_OK || (magic != PAGE_MAGIC && magic != TAIL_MAGIC)) return PAUA_ECORRUPT;
    version = reader_u8(&f);
    if (version > VERSION) return PAUA_EVERSION;
    form = reader_u8(&f);
    p.key_distance = reader_u8(&f);
    flags = reader_u8(&f);
    p.head.row_count = reader_u32(&f);
    reserved = reader_u32(&f);
    p.head.payload_nbytes = reader_u32(&f);
    p.nbytes = reader_u32(&f);
    p.head.first_id = reader_u64(&f);
    p.last_id = reader_u64(&f);
    p.head.first_time = (int64_t)reader_u64(&f);
    p.last_time = (int64_t)reader_u64(&f);
    p.head.hash = reader_u64(&f);
    hash = reader_u64(&f);
    if (version == 0 || form > STORED_ZSTD_KEYED || flags > 3 || reserved != 0)
        return PAUA_ECORRUPT;
    p.form = (enum stored_form)form;
    p.is_tail = magic == TAIL_MAGIC;
    p.last_soft = (flags & LAST_SOFT) != 0;
    p.has_gaps = (flags & HAS_GAPS) != 0;
    if (!page_sound(&p)) return PAUA_ECORRUPT;
    *page = p;
    *data_hash = hash;
    return PAUA_OK;
}

paua_status stored_page_decode(struct reader *r, struct stored_page *page, const uint8_t **bytes,
                               bool *intact)
{
    struct stored_page p;
    const uint8_t *data;
    uint64_t data_hash;
    paua_status status = stored_head_decode(r, &p, &data_hash);

    if (status != PAUA_OK) return status;
    data = reader_bytes(r, p.nbytes);
    if (data == NULL) return PAUA_ECORRUPT;
    *page = p;
    *bytes = data;
    *intact = frame_hash(data, p.nbytes) == data_hash;
    return PAUA_OK;
}
