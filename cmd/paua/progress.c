/* progress.c - one line on stderr that tells how long work still takes.
 *
 * Shown on a terminal once work has lasted a second, redrawn ten times a second, erased at the end:
 * what stays on the screen is the summary. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_COLUMNS 24

void progress_begin(struct progress *progress, const struct cli *cli, const char *unit, bool forced)
{
    bool terminal = isatty(STDERR_FILENO) != 0;

    *progress = (struct progress){.on = !cli->quiet && (terminal || forced),
                                  .terminal = terminal,
                                  .unit = unit,
                                  .start_s = now_s()};
    if (!forced) progress->last_s = progress->start_s + 0.9;
}

static void print_left(double left_s)
{
    unsigned long seconds = (unsigned long)(left_s + 0.5);

    if (seconds >= 3600)
        fprintf(stderr, "  %lu h %02lu min left", seconds / 3600, seconds / 60 % 60);
    else if (seconds >= 60)
        fprintf(stderr, "  %lu min %02lu s left", seconds / 60, seconds % 60);
    else
        fprintf(stderr, "  %lu s left", seconds);
}

static void print_bar(double share)
{
    int full = (int)(share * BAR_COLUMNS);

    fputc('[', stderr);
    for (int i = 0; i < BAR_COLUMNS; i++)
        fputc(i < full ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%  ", 100 * share);
}

void progress_show(struct progress *progress, uint64_t count, uint64_t done, uint64_t total)
{
    double now = progress->on ? now_s() : 0;
    double spent = now - progress->start_s;
    double share = total == 0 ? 0 : (double)done / (double)total;

    if (!progress->on || now - progress->last_s < (progress->terminal ? 0.1 : 1.0)) return;
    if (share > 1) share = 1;
    flockfile(stderr);
    if (progress->terminal) fputs("\r\033[K", stderr);
    if (total != 0) print_bar(share);
    fprintf(stderr, "%llu %s", (unsigned long long)count, progress->unit);
    if (spent > 0.05) fprintf(stderr, "  %.0f %s/s", (double)count / spent, progress->unit);
    if (share > 0.001 && spent > 0.5) print_left(spent * (1 - share) / share);
    if (!progress->terminal) fputc('\n', stderr);
    fflush(stderr);
    funlockfile(stderr);
    progress->shown = progress->terminal;
    progress->last_s = now;
}

void progress_end(struct progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}

void progress_callback(void *progress, const char *what, uint64_t done, uint64_t total)
{
    struct progress *line = progress;

    line->unit = what;
    progress_show(line, done, done, total);
}
