/* outfile.c - a file that appears under its name only when it is whole. */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

static bool refuse(struct fault *fault, const char *what, const char *name)
{
    fault_set(fault, "cannot %s %s, %s, check the directory and its free space", what, name,
              strerror(errno));
    return false;
}

bool outfile_open(struct outfile *out, const char *path, struct fault *fault)
{
    struct outfile draft = {.name = path};
    struct stat about;
    int fd;

    if (strcmp(path, "-") == 0) {
        *out = (struct outfile){.name = "standard output", .stream = stdout};
        return true;
    }
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        draft.stream = fopen(path, "we");
        if (draft.stream == NULL) return refuse(fault, "write", path);
        *out = draft;
        return true;
    }
    draft.temporary = cmd_format("%s.%ld.part", path, (long)getpid());
    fd = open(draft.temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    draft.stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (draft.stream == NULL) {
        refuse(fault, "write", draft.temporary);
        free(draft.temporary);
        return false;
    }
    draft.path = cmd_strdup(path);
    *out = draft;
    return true;
}

bool outfile_commit(struct outfile *out, struct fault *fault)
{
    bool ok = fflush(out->stream) == 0 && ferror(out->stream) == 0;

    if (ok && out->path != NULL) ok = fsync(fileno(out->stream)) == 0;
    if (ok && out->path != NULL) ok = rename(out->temporary, out->path) == 0;
    if (!ok) {
        refuse(fault, "write", out->name);
        outfile_abort(out);
        return false;
    }
    free(out->temporary);
    out->temporary = NULL;
    outfile_abort(out);
    return true;
}

void outfile_abort(struct outfile *out)
{
    if (out->stream == NULL) return;
    if (out->stream != stdout) fclose(out->stream);
    if (out->temporary != NULL) unlink(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (struct outfile){0};
}
