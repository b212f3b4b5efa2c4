/* bench_metadata.c - paua bench metadata: runs the program that measures the column layer alone.
 *
 * Columns are internal, and this program sees nothing but the public API; so the measurement is a
 * program of its own (bench/metadata), which lies beside this one, where the build put it, or where
 * it was installed. It takes this one's place, and its output is this one's. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define PROGRAM "paua-bench-metadata"

/* The folder of this program's file, without a slash at its end. */
static int own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    if (length <= 0) return fail("cannot find this program's own file");
    folder[length] = '\0';
    slash = strrchr(folder, '/');
    if (slash != NULL) *slash = '\0';
    return EXIT_OK;
}

int bench_metadata(struct cli *cli)
{
    static const char *const places[] = {"", "/bench/metadata", "/../libexec/paua"};
    static const char *const passed[] = {"rows", "keys", "values", "shape"};
    char *words[2 * COUNT_OF(passed) + 2] = {cmd_strdup(PROGRAM)};
    char folder[PATH_MAX];
    size_t count = 1;
    const char *shape = args_value(&cli->args, "shape");
    int status = EXIT_OK;

    if (shape != NULL && strcmp(shape, "collection") == 0) return bench_metadata_rows(cli);
    status = own_folder(folder);
    if (status != EXIT_OK) return status;
    for (size_t i = 0; i < COUNT_OF(passed); i++) {
        if (!args_has(&cli->args, passed[i])) continue;
        words[count++] = cmd_format("--%s", passed[i]);
        words[count++] = cmd_strdup(args_value(&cli->args, passed[i]));
    }
    for (size_t i = 0; i < COUNT_OF(places); i++)
        execv(cmd_format("%s%s/%s", folder, places[i], PROGRAM), words);
    return fail("cannot run %s, build it (ninja bench/metadata/%s) or install it", PROGRAM,
                PROGRAM);
}
