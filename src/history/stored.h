/* stored.h - heads of a stored history and of its pages (docs/FORMAT-HISTORY.md). */
#ifndef PAUA_HISTORY_STORED_H
#define PAUA_HISTORY_STORED_H

#include <stdbool.h>

#include <paua/paua_history.h>

#include "base/bytes.h"
#include "history/frame.h"

#define STORED_HISTORY_NBYTES 48u
#define STORED_PAGE_NBYTES 80u

struct stored_history {
    uint64_t next_id;
    uint64_t row_count;
    int64_t last_time;
    uint32_t page_count;
    bool has_tail;
};

enum stored_form {
    STORED_PLAIN = 0, /* the payload itself */
    STORED_ZSTD,
    STORED_ZSTD_KEYED, /* against the payload of the page key_distance before */
};

struct stored_page {
    enum stored_form form;
    bool is_tail;
    bool last_soft;
    bool has_gaps;
    uint32_t key_distance; /* 1 to 7 if keyed, otherwise 0 */
    uint32_t nbytes;       /* that follow the head */
    uint64_t last_id;
    int64_t last_time;
    struct frame_head head;
};

void stored_history_encode(const struct stored_history *history, struct writer *w);
void stored_page_encode(const struct stored_page *page, const void *bytes, struct writer *w);

/* Heads from the front of a reader, checked by themselves. PAUA_ECORRUPT, PAUA_EVERSION. */
paua_status stored_history_decode(struct reader *r, struct stored_history *history);

/* The head alone; the hash of the bytes behind it is stored in *data_hash. PAUA_ECORRUPT,
 * PAUA_EVERSION. */
paua_status stored_head_decode(struct reader *r, struct stored_page *page, uint64_t *data_hash);

/* Stores the page's bytes too, borrowed, and whether they are as they were written: a head that
 * holds beside bytes that do not is a hole whose extent is known. */
paua_status stored_page_decode(struct reader *r, struct stored_page *page, const uint8_t **bytes,
                               bool *intact);

#endif
