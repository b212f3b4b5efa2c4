/* fold.h - text without its letter case, and the way back (fold.c). */
#ifndef PAUA_HISTORY_FOLD_H
#define PAUA_HISTORY_FOLD_H

#include <stdbool.h>

#include "history/heap.h"

/* A character that folded to another number of bytes, or to several characters. */
struct fold_seam {
    uint32_t at;     /* where it is in the folded text */
    uint32_t source; /* and in the source */
    uint8_t nbytes;
    uint8_t source_nbytes;
};

struct fold {
    struct heap *heap;
    char *text;
    struct fold_seam *seams; /* everything else has the distance that the one before leaves it */
    size_t nbytes;
    size_t seam_count;
    size_t text_capacity;
    size_t seam_capacity;
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
