/* near.c - names of fields that are near a mistyped one, by edit distance.
 *
 * Levenshtein's distance on bytes, in which a letter of the other case costs nothing. A name is
 * near if a third of the mistyped one's bytes, and at least one, need to change. Only run for an
 * error message: O(fields x length^2), a field's name having 255 bytes at most. */
#include "filter/near.h"

#include <stdio.h>
#include <string.h>

#include "filter/tree.h"

#define NAME_NBYTES_MAX 255u
#define NEAR_COUNT 3u

static unsigned lower(char c) { return c >= 'A' && c <= 'Z' ? (unsigned)c + 32 : (unsigned char)c; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t distance(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
    size_t row[NAME_NBYTES_MAX + 1];

    for (size_t j = 0; j <= b_nbytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_nbytes; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_nbytes; j++) {
            size_t changed = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));

            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_nbytes];
}

struct near {
    const char *name;
    size_t distance;
};

/* Keeps the nearest, in order; of equal ones the first. */
static void keep(struct near kept[NEAR_COUNT], const char *name, size_t far)
{
    struct near next = {name, far};

    for (size_t i = 0; i < NEAR_COUNT; i++) {
        struct near old = kept[i];

        if (old.name != NULL && old.distance <= next.distance) continue;
        kept[i] = next;
        if (old.name == NULL) return;
        next = old;
    }
}

void near_names(const struct filter_fields *fields, const char *name, size_t nbytes,
                char list[NEAR_NBYTES])
{
    struct near kept[NEAR_COUNT] = {{NULL, 0}};
    size_t limit = nbytes / 3 > 1 ? nbytes / 3 : 1, used = 0;
    const char *other;

    list[0] = '\0';
    if (fields->name == NULL || nbytes > NAME_NBYTES_MAX) return;
    for (uint32_t i = 0; (other = fields->name(fields->arg, i)) != NULL; i++) {
        size_t length = strlen(other), far;

        if (length > NAME_NBYTES_MAX || length > nbytes + limit || nbytes > length + limit)
            continue;
        far = distance(name, nbytes, other, length);
        if (far <= limit) keep(kept, other, far);
    }
    for (size_t i = 0; i < NEAR_COUNT && kept[i].name != NULL; i++) {
        bool last = i + 1 == NEAR_COUNT || kept[i + 1].name == NULL;
        char excerpt[EXCERPT_NBYTES];

        name_excerpt(kept[i].name, strlen(kept[i].name), excerpt);
        used += (size_t)snprintf(list + used, NEAR_NBYTES - used, "%s%s%s",
                                 i == 0 ? "; did you mean " : (last ? " or " : ", "), excerpt,
                                 last ? "?" : "");
    }
}
