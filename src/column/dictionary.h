/* dictionary.h - distinct byte strings of a column that grows: codes from 1 on, by arrival. */
#ifndef PAUA_COLUMN_DICTIONARY_H
#define PAUA_COLUMN_DICTIONARY_H

#include "column/pool.h"
#include "column/view.h"

struct dictionary {
    struct pool *pool; /* borrowed; holds the values */
    uint32_t *places;  /* of the value of code i + 1 */
    size_t capacity;
    uint32_t count;
    uint32_t *slots;     /* open addressing, linear: codes, 0: free */
    uint32_t slot_count; /* a power of two, or 0 */
};

/* The code of a value, which is added if it is new; 0 when out of memory. */
uint32_t dictionary_intern(struct dictionary *d, const uint8_t *data, size_t nbytes);
/* The code of a value, or 0. */
uint32_t dictionary_find(const struct dictionary *d, const uint8_t *data, size_t nbytes);
/* The codes of n values (0: absent), up to the first that is new or has one above code_most: how
 * many there are. */
uint32_t dictionary_find_many(const struct dictionary *d, const struct cell *values, uint32_t n,
                              uint32_t code_most, uint32_t *codes);
/* Forgets codes above `count` (the pool keeps their bytes). */
void dictionary_rewind(struct dictionary *d, uint32_t count);
struct dictionary_view dictionary_look(const struct dictionary *d);
size_t dictionary_nbytes(const struct dictionary *d);
void dictionary_free(struct dictionary *d);

#endif
