/* sweep.c - see sweep.h. */
#include "damage/sweep.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 20u
#define ROOM_NBYTES (UINT64_C(8) << 20)

/* In memory that the children share with the parent. */
struct progress {
    _Atomic uint32_t next;
    _Atomic bool skipped;
    uint32_t tally[VERDICTS];
    uint32_t tried;
};

static const char *const verdict_names[VERDICTS] = {"harmless",
                                                    "read errors",
                                                    "READ ERRORS THAT NAME ANOTHER FILE",
                                                    "read errors that the check misses",
                                                    "found by the check alone",
                                                    "UNNOTICED",
                                                    "CRASHES",
                                                    "HANGS"};

/* Nothing may ask for more than all files together hold, and some small change: 8 MiB more than
 * the process has now. Not for maps, which are addresses only, nor under sanitizers. */
static void limit_memory(bool on)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)on;
#else
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    struct rlimit limit;

    CHECK(statm != NULL && fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = on ? pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM_NBYTES : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
}

static bool right(const struct sweep *sweep, const struct transcript *read)
{
    return transcript_equal(read, sweep->reference) ||
           (sweep->also != NULL && transcript_equal(read, sweep->also));
}

struct naming {
    const char *file; /* NULL: any will do */
    bool named;
};

static void finding_look(void *arg, const paua_finding *finding)
{
    struct naming *n = arg;

    if (n->file != NULL && finding->fatal && strcmp(finding->file, n->file) == 0) n->named = true;
}

/* The verdict on a reader that was told of damage. */
static enum verdict judge_error(const struct naming *n, paua_status checked, bool named)
{
    if (checked == PAUA_OK) return READ_ONLY;
    return n->file == NULL || (n->named && named) ? READ_ERROR : MISNAMED;
}

/* Reads everything, in one of several ways by turns, and runs the check. */
static enum verdict judge(const struct sweep *sweep, uint32_t index, const char *path,
                          struct transcript *read)
{
    paua_open_opts opts = {
        .read_only = true, .no_mmap = index % 2 == 0, .lean = index % 4 / 2 == 0};
    struct naming naming = {sweep->file_of == NULL ? NULL : sweep->file_of(sweep, index), false};
    paua_check_opts check = {.size = sizeof check, .finding = finding_look, .finding_arg = &naming};
    paua_error err = {.message = ""};
    paua_status status, checked;
    bool named;

    if (sweep->trusting || index % 8 == 7)
        opts.verify = PAUA_VERIFY_HEADER; /* pages are left to the check */
    limit_memory(opts.no_mmap);
    status = transcript_read(read, path, opts, ROWS_IN_ORDER, &err);
    limit_memory(true);
    named = naming.file != NULL && strstr(err.message, naming.file) != NULL;

    CHECK(status == PAUA_OK || (status == err.status && err.message[0] != '\0'));
    CHECK(status != PAUA_ENOMEM);
    checked = paua_check(path, &check, &err);
    CHECK(checked == PAUA_OK || err.message[0] != '\0');
    CHECK(checked != PAUA_ENOMEM);
    limit_memory(false);
    if (status != PAUA_OK) return judge_error(&naming, checked, named);
    if (right(sweep, read)) return HARMLESS;
    return checked != PAUA_OK && opts.verify == PAUA_VERIFY_HEADER ? CHECK_ONLY : UNNOTICED;
}

static void files_are_kept(const struct sweep *sweep, const char *path, const struct image *damaged)
{
    (void)sweep;
    for (size_t i = 0; i < damaged->count; i++) {
        char full[320];

        if (!image_is_data(&damaged->files[i])) continue;
        snprintf(full, sizeof full, "%s/%s", path, damaged->files[i].name);
        CHECK(access(full, F_OK) == 0);
    }
}

/* Writes back what is there already, and merges: either fails, or all rows stay as they were. */
static paua_status rewrite(paua_db *db, const char *name, paua_error *err)
{
    static const char key[] = "w005";
    static const uint64_t number = 5;
    paua_bytes string = {key, 4};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = 1, .u64 = &number, .strings = &string}};
    paua_collection *collection;
    paua_status status = paua_collection_open(db, name, &collection, err);

    if (status != PAUA_OK) return status == PAUA_ENOTFOUND ? PAUA_OK : status;
    status = paua_update(collection, &rows, NULL, NULL, err);
    if (status == PAUA_OK) status = paua_optimize(collection, NULL, err);
    paua_collection_close(collection);
    return status;
}

paua_status sweep_rewrite(paua_db *db, paua_error *err)
{
    paua_status status = rewrite(db, "words", err);

    return status == PAUA_OK ? rewrite(db, "numbers", err) : status;
}

/* A writer opens the damaged database: no file that was there may go, whatever the catalogue seems
 * to say; and what it can still write must leave the rows as they were. */
static enum verdict judge_writing(const struct sweep *sweep, const char *path,
                                  struct transcript *read)
{
    paua_open_opts opts = {.size = sizeof opts, .no_background = true};
    static struct image damaged;
    paua_error err = {.message = ""};
    paua_db *db;
    paua_status status, written;

    image_take(&damaged, path);
    written = paua_open(path, &opts, &db, &err);
    files_are_kept(sweep, path, &damaged);
    image_free(&damaged);
    if (written == PAUA_OK) {
        written = sweep_rewrite(db, &err);
        paua_close(db);
    }
    opts.read_only = true;
    status = transcript_read(read, path, opts, ROWS_BY_KEY, &err);
    if (status != PAUA_OK) return READ_ERROR;
    if (right(sweep, read)) return HARMLESS;
    if (paua_check(path, NULL, &err) != PAUA_OK) return CHECK_ONLY;
    return written != PAUA_OK ? READ_ERROR : UNNOTICED;
}

struct run {
    struct sweep *sweep;
    struct progress *progress;
    const char *path;
};

static void report(const struct sweep *sweep, uint32_t index, enum verdict verdict)
{
    char text[160] = "";

    if (verdict <= READ_ERROR || verdict == CHECK_ONLY) return;
    sweep->describe(sweep, index, text);
    fprintf(stderr, "%s, %u (%s): %s\n", sweep->name, index, text, verdict_names[verdict]);
}

static void child_run(void *arg)
{
    const struct run *run = arg;
    struct sweep *sweep = run->sweep;
    struct transcript read = {0};
    uint32_t index;

    while ((index = atomic_load(&run->progress->next)) < sweep->count) {
        enum verdict verdict;

        alarm(PATIENCE_S);
        image_put(sweep->image, run->path);
        if (sweep->damage(sweep, index, run->path)) {
            verdict = sweep->write ? judge_writing(sweep, run->path, &read)
                                   : judge(sweep, index, run->path, &read);
            report(sweep, index, verdict);
            run->progress->tally[verdict]++;
            run->progress->tried++;
        }
        atomic_store(&run->progress->next, index + 1);
    }
    alarm(0);
    transcript_free(&read);
}

static void print_tally(const struct sweep *sweep)
{
    fprintf(stderr, "%s: %u tried", sweep->name, sweep->tried);
    for (int v = 0; v < VERDICTS; v++)
        fprintf(stderr, ", %u %s", sweep->tally[v], verdict_names[v]);
    fprintf(stderr, "\n");
}

bool sweep_run(struct sweep *sweep)
{
    struct progress *progress = world_share(sizeof *progress);
    char path[64];
    struct run run = {sweep, progress, path};

    world_make_fast(path);
    while (atomic_load(&progress->next) < sweep->count) {
        pid_t pid = world_fork(child_run, &run);
        uint32_t index;
        int status;

        CHECK(waitpid(pid, &status, 0) == pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        index = atomic_fetch_add(&progress->next, 1);
        progress->tally[WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? HUNG : CRASHED]++;
        progress->tried++;
        report(sweep, index, CRASHED);
    }
    memcpy(sweep->tally, progress->tally, sizeof sweep->tally);
    sweep->tried = progress->tried;
    print_tally(sweep);
    world_remove(path);
    return sweep->tried > 0 && sweep->tally[CRASHED] == 0 && sweep->tally[HUNG] == 0 &&
           sweep->tally[UNNOTICED] == 0 && sweep->tally[MISNAMED] == 0 &&
           sweep->tally[READ_ONLY] == 0;
}
