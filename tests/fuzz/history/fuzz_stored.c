/* fuzz_stored.c - whole histories, as they are and with all hashes made right. An accepted one is
 * valid, and comes back from what it is encoded to; salvaging accepts no less. */
#include "fuzz.h"

#include "history/history.h"
#include "history/stored.h"

static bool collect(void *arg, const void *bytes, size_t nbytes)
{
    writer_bytes(arg, bytes, nbytes);
    return true;
}

static void require_round_trip(paua_history *h)
{
    struct writer w = {0};
    paua_history *again = NULL;
    paua_history_view *v = NULL;

    FUZZ_REQUIRE(paua_history_view_open(h, &v, NULL) == PAUA_OK);
    FUZZ_REQUIRE(paua_history_encode(v, collect, &w, NULL) == PAUA_OK && !w.failed);
    FUZZ_REQUIRE(paua_history_decode(w.bytes, w.length, NULL, &again, NULL, NULL) == PAUA_OK);
    FUZZ_REQUIRE(again->next_id == h->next_id && again->last_time == h->last_time);
    FUZZ_REQUIRE(again->next_ordinal == paua_history_view_rows(v));
    paua_history_view_close(v);
    paua_history_close(again);
    writer_free(&w);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    paua_history_decode_opts opts = {.size = sizeof opts, .salvage = true};
    paua_history *h = NULL;
    uint64_t damaged = 0;

    if (paua_history_decode(data, size, NULL, &h, NULL, NULL) == PAUA_OK) {
        FUZZ_REQUIRE(history_validate(h) == NULL);
        require_round_trip(h);
        paua_history_close(h);
        FUZZ_REQUIRE(paua_history_decode(data, size, &opts, &h, &damaged, NULL) == PAUA_OK);
        FUZZ_REQUIRE(damaged == 0);
        paua_history_close(h);
    } else if (paua_history_decode(data, size, &opts, &h, &damaged, NULL) == PAUA_OK) {
        FUZZ_REQUIRE(damaged > 0);
        FUZZ_REQUIRE(history_validate(h) == NULL);
        paua_history_close(h);
    }
}

/* Makes the hashes of heads and bytes right; a plain page's payload is its bytes. */
static void mend(uint8_t *data, size_t size)
{
    size_t at = STORED_HISTORY_NBYTES;

    if (size < at) return;
    bytes_put(data + at - 8, frame_hash(data, at - 8), 8);
    while (size - at >= STORED_PAGE_NBYTES) {
        uint8_t *head = data + at, *bytes = head + STORED_PAGE_NBYTES;
        uint64_t nbytes = bytes_get(head + 20, 4);

        if (nbytes > size - at - STORED_PAGE_NBYTES) return;
        if (head[5] == STORED_PLAIN) bytes_put(head + 56, frame_hash(bytes, (size_t)nbytes), 8);
        bytes_put(head + 64, frame_hash(bytes, (size_t)nbytes), 8);
        bytes_put(head + 72, frame_hash(head, 72), 8);
        at += STORED_PAGE_NBYTES + (size_t)nbytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);

    try_bytes(copy, size);
    mend(copy, size);
    try_bytes(copy, size);
    free(copy);
    return 0;
}
