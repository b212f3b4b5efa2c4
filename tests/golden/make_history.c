/* make_history.c - writes the golden history of the format that this library has. Run by hand, once
 * for a format version; what it wrote is committed and never made again.
 *
 *   golden-make-history DIRECTORY */
#include "golden/history_rows.h"

#include <stdio.h>

static void put(const char *folder, const char *name, const void *bytes, size_t nbytes)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    paua_history *h;
    struct test_buffer history;
    struct writer payload = {0};

    if (argc != 2) {
        fprintf(stderr, "usage: golden-make-history DIRECTORY\n");
        return 2;
    }
    h = golden_history();
    history = test_encode(h);
    put(argv[1], "history", history.bytes, history.nbytes);
    for (size_t at = 0; at <= history_page_count(h); at++)
        golden_payload(h, at, &payload);
    put(argv[1], "payloads", payload.bytes, payload.length);
    writer_free(&payload);
    test_buffer_free(&history);
    paua_history_close(h);
    return 0;
}
