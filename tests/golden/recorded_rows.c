/* recorded_rows.c - see recorded_rows.h. */
#include "golden/recorded_rows.h"

#include <stdio.h>

paua_history *golden_rows(const char *folder)
{
    static uint8_t bytes[1 << 16];
    const paua_history_decode_opts opts = {.size = sizeof opts};
    paua_history *history;
    char path[4096];
    size_t nbytes;
    FILE *file;

    snprintf(path, sizeof path, "%s/history-v1/history", folder);
    file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s cannot be opened", path);
    nbytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_ok(paua_history_decode(bytes, nbytes, &opts, &history, NULL, &test_err));
    return history;
}

paua_history_new_row golden_line(uint64_t number, char text[32])
{
    int nbytes = snprintf(text, 32, "line %llu", (unsigned long long)number);

    return (paua_history_new_row){.size = sizeof(paua_history_new_row),
                                  .width = 80,
                                  .text = text,
                                  .text_nbytes = (size_t)nbytes,
                                  .time_ms = (int64_t)(5000 + number)};
}
