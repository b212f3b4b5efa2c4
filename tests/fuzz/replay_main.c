/* replay_main.c - runs a fuzz target once over every file of the folders that are named, where
 * there is no libFuzzer to do it. A target that finds something aborts; the last name printed is
 * the file's. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    bool replayed = false;
    long size;

    if (file == NULL) return false;
    if (fseek(file, 0, SEEK_END) != 0) goto done;
    size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) goto done;
    data = malloc((size_t)size + (size == 0));
    if (data == NULL) goto done;
    if (fread(data, 1, (size_t)size, file) != (size_t)size) goto done;
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    replayed = true;
done:
    free(data);
    fclose(file);
    return replayed;
}

/* Number of files replayed, or -1 if the folder or one of its files cannot be read. */
static int replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;

    if (folder == NULL) return -1;
    while (count >= 0 && (entry = readdir(folder)) != NULL) {
        char file[4096];

        if (entry->d_name[0] == '.') continue;
        if (snprintf(file, sizeof file, "%s/%s", path, entry->d_name) >= (int)sizeof file ||
            !replay_file(file))
            count = -1;
        else
            count++;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        if (replay_folder(argv[i]) <= 0) {
            fprintf(stderr, "%s: no files to replay, or not readable\n", argv[i]);
            return 1;
        }
    return 0;
}
