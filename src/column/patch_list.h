/* patch_list.h - patches of one field: what sets share, and how they are made. */
#ifndef PAUA_COLUMN_PATCH_LIST_H
#define PAUA_COLUMN_PATCH_LIST_H

#include <stdatomic.h>

#include "column/patches.h"

#define PATCH_NULL UINT32_MAX      /* lengths: the value is NULL ... */
#define PATCH_KEY (UINT32_MAX - 1) /* ... or a key */

/* Immutable once made. Arrays lie behind the struct, in the same block. */
struct patch_list {
    atomic_uint refs;
    uint32_t field;
    uint32_t count;
    uint64_t nbytes;   /* of byte strings */
    uint64_t *values;  /* the key, or where the bytes begin */
    uint32_t *rows;    /* rising */
    uint32_t *lengths; /* of the bytes, PATCH_NULL or PATCH_KEY */
    uint8_t *bytes;
};

struct patches {
    atomic_uint refs;
    uint32_t count;
    struct patch_list *lists[]; /* by field, rising; none is empty */
};

/* A list is made in two runs of the same calls: with list NULL they only count. */
struct patch_maker {
    struct patch_list *list;
    uint32_t count;
    uint64_t nbytes;
};

void patch_make_add(struct patch_maker *maker, uint32_t row, const struct cell *cell);
/* After the first run: allocates the list; false when out of memory. */
bool patch_make_list(struct patch_maker *maker, uint32_t field);
void patch_list_unref(struct patch_list *list); /* NULL does nothing */
static inline struct patch_list *patch_list_ref(struct patch_list *list)
{
    atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
    return list;
}
/* The i-th patch's value. */
void patch_list_cell(const struct patch_list *list, uint32_t i, struct cell *cell);
/* The index of a row, or of where it would be. */
uint32_t patch_list_at(const struct patch_list *list, uint32_t row);

/* Room for up to `count` lists; NULL when out of memory. */
struct patches *patches_new(uint32_t count);
/* Takes over a list unless it is NULL or empty. */
void patches_add(struct patches *patches, struct patch_list *list);
/* The set, or NULL after freeing one without lists. */
struct patches *patches_done(struct patches *patches);
struct patch_list *patches_list(const struct patches *patches, uint32_t field); /* or NULL */

#endif
