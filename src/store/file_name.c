/* file_name.c - the names of data files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/file_writer.h"

#define TEMPORARY ".tmp"

void file_name(char name[FILE_NAME_NBYTES], uint64_t number, enum file_kind kind)
{
    snprintf(name, FILE_NAME_NBYTES, "%06" PRIu64 "%s", number, file_kind_suffix(kind));
}

/* Parsing reads loosely and then asks whether that is how we would have written it, so that no
 * second spelling ("17.f32", "000017.f32.tmp.tmp", a number that overflows) names one of our files.
 * */
bool file_name_parse(const char *name, uint64_t *number, enum file_kind *kind, bool *temporary)
{
    static const enum file_kind kinds[] = {FILE_VECTORS_F32, FILE_VECTORS_F16, FILE_HEAP,
                                           FILE_KEYS,        FILE_CODES,       FILE_GRAPH,
                                           FILE_COLUMNS,     FILE_PAGES,       FILE_VALUES};
    char written[FILE_NAME_NBYTES];
    uint64_t value = 0;
    size_t length;

    for (const char *at = name; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        file_name(written, value, kinds[i]);
        length = strlen(written);
        if (strncmp(name, written, length) != 0) continue;
        if (name[length] != '\0' && strcmp(name + length, TEMPORARY) != 0) continue;
        *number = value;
        *kind = kinds[i];
        *temporary = name[length] != '\0';
        return true;
    }
    return false;
}
