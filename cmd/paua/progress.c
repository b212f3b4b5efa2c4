/* progress.c - one line on stderr that tells how long work still takes.
 *
 * Shown on a terminal once work has lasted a second, redrawn ten times a second, erased at the end:
 * what stays on the screen is the summary. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
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

/* Whether it is time to draw again. */
static bool due(const struct progress *progress, double now)
{
    return progress->on && now - progress->last_s >= (progress->terminal ? 0.1 : 1.0);
}

/* Begins a line: how much is done, of what. */
static void line_begin(const struct progress *progress, double share, bool known)
{
    flockfile(stderr);
    if (progress->terminal) fputs("\r\033[K", stderr);
    if (known) print_bar(share);
}

static void line_end(struct progress *progress, double share, double now)
{
    double spent = now - progress->start_s;

    if (share > 0.001 && spent > 0.5) print_left(spent * (1 - share) / share);
    if (!progress->terminal) fputc('\n', stderr);
    fflush(stderr);
    funlockfile(stderr);
    progress->shown = progress->terminal;
    progress->last_s = now;
}

static double share_of(uint64_t done, uint64_t total)
{
    if (total == 0) return 0;
    return done < total ? (double)done / (double)total : 1;
}

void progress_show(struct progress *progress, uint64_t count, uint64_t done, uint64_t total)
{
    double now = progress->on ? now_s() : 0;
    double spent = now - progress->start_s;
    double share = share_of(done, total);

    if (!due(progress, now)) return;
    line_begin(progress, share, total != 0);
    fprintf(stderr, "%llu %s", (unsigned long long)count, progress->unit);
    if (spent > 0.05) fprintf(stderr, "  %.0f %s/s", (double)count / spent, progress->unit);
    line_end(progress, share, now);
}

void progress_end(struct progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}

void progress_callback(void *progress, const char *what, uint64_t done, uint64_t total)
{
    struct progress *line = progress;
    double now = line->on ? now_s() : 0;
    double share = share_of(done, total);

    if (line->on && (line->stage == NULL || strcmp(line->stage, what) != 0)) {
        line->stage = what;
        line->start_s = now;
        /* A short stage is shown too, unless the whole work may yet be short. */
        if (!line->terminal || line->shown) line->last_s = 0;
    }
    if (!due(line, now)) return;
    line_begin(line, share, total != 0);
    fputs(what, stderr);
    line_end(line, share, now);
}
