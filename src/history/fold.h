/* fold.h - text without its letter case, and the way back (fold.c). */
#ifndef PAUA_HISTORY_FOLD_H
#define PAUA_HISTORY_FOLD_H

#include <stdbool.h>

#include "history/heap.h"

struct fold {
    struct heap *heap;
    char *text;
    uint32_t *from; /* for each byte where its character began in the source; nbytes + 1 entries */
    size_t nbytes;
    size_t text_capacity;
    size_t from_capacity;
    bool same_length; /* ASCII: byte for byte, and `from` is not filled */
};

void fold_init(struct fold *f, struct heap *heap);
void fold_free(struct fold *f);

/* Folds valid UTF-8; false when out of memory. */
bool fold_text(struct fold *f, const char *text, size_t nbytes);

/* Whether bytes [begin, end) of the folded text are whole characters of the source; stores which.
 * */
bool fold_source(const struct fold *f, size_t begin, size_t end, size_t *from, size_t *to);

/* A letter, digit or underscore: what words are made of. The character that begins at text[at]. */
bool fold_word_at(const char *text, size_t nbytes, size_t at);
/* The same for the character that ends before text[at]; at > 0. */
bool fold_word_before(const char *text, size_t at);

#endif
