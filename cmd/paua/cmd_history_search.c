/* cmd_history_search.c - paua history search: lines that match, as grep prints them.
 *
 * A match is shown with the logical line that it begins in, soft-wrapped rows joined; the number is
 * that of the line's first row. Matches of one line are collected before it is printed, so a line
 * appears once, with all of them marked. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history_cli.h"

#define SLICE_ROWS 100000u

struct span {
    size_t begin, end; /* bytes of the line's text */
};

struct search {
    const struct cli *cli;
    const char *name;
    paua_history_view *view;
    bool colours, count_only;
    uint64_t context, max;
    uint64_t lines;   /* that matched so far */
    uint64_t printed; /* rows before this one have been printed, or passed over */
    bool any_printed;

    bool has_line; /* the line at hand */
    uint64_t first, row_count;
    struct span *spans;
    size_t span_count;
    paua_error err;
};

struct line {
    char *text;
    size_t nbytes;
    uint64_t id;
    int64_t time_ms;
    uint64_t damaged_rows;
};

static bool take_line(void *arg, uint64_t index, const paua_history_row *row)
{
    struct line *line = arg;

    (void)index;
    line->text = cmd_alloc(1, row->text_nbytes + 1u);
    memcpy(line->text, row->text, row->text_nbytes);
    line->nbytes = row->text_nbytes;
    line->id = row->id;
    line->time_ms = row->time_ms;
    line->damaged_rows = row->damaged_rows;
    return false;
}

static bool read_line(struct search *s, uint64_t first, uint64_t count, struct line *line)
{
    const paua_history_range range = {
        .size = sizeof range, .first = first, .count = count, .lines = true, .holes = true};

    *line = (struct line){.text = NULL};
    return paua_history_view_each(s->view, &range, take_line, line, &s->err) == PAUA_OK &&
           line->text != NULL;
}

static void print_part(const char *text, size_t nbytes, const char *colour)
{
    if (colour != NULL) printf("\x1b[%sm", colour);
    fwrite(text, 1, nbytes, stdout);
    if (colour != NULL) fputs("\x1b[m", stdout);
}

static void print_prefix(const struct search *s, uint64_t id, char separator)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, id);
    print_part(s->name, strlen(s->name), s->colours ? "35" : NULL);
    print_part("/", 1, s->colours ? "36" : NULL);
    print_part(number, strlen(number), s->colours ? "32" : NULL);
    print_part(&separator, 1, s->colours ? "36" : NULL);
}

static void print_line(const struct search *s, const struct line *line, const struct span *spans,
                       size_t count)
{
    size_t at = 0;

    print_prefix(s, line->id, count > 0 ? ':' : '-');
    for (size_t i = 0; i < count; i++) {
        size_t end = spans[i].end < line->nbytes ? spans[i].end : line->nbytes;

        if (spans[i].begin >= end || spans[i].begin < at) continue;
        fwrite(line->text + at, 1, spans[i].begin - at, stdout);
        print_part(line->text + spans[i].begin, end - spans[i].begin, s->colours ? "01;31" : NULL);
        at = end;
    }
    fwrite(line->text + at, 1, line->nbytes - at, stdout);
    putchar('\n');
}

/* Prints lines that begin in rows [first, end), without marks. */
static bool print_context(struct search *s, uint64_t first, uint64_t end)
{
    uint64_t begin = 0, count = 0;
    struct line line;

    while (first < end) {
        if (paua_history_view_line(s->view, first, &begin, &count, NULL) != PAUA_OK) count = 1;
        if (!read_line(s, first, count, &line)) return false;
        if (line.damaged_rows == 0) print_line(s, &line, NULL, 0);
        free(line.text);
        first += count > 0 ? count : 1;
    }
    return true;
}

/* The first row of the line so many lines before `row`, but not before `low`. */
static uint64_t lines_before(const struct search *s, uint64_t row, uint64_t low)
{
    uint64_t first, count;

    for (uint64_t i = 0; i < s->context && row > low; i++) {
        if (paua_history_view_line(s->view, row - 1, &first, &count, NULL) != PAUA_OK) break;
        row = first > low ? first : low;
    }
    return row;
}

/* The row behind the last of so many lines from `row` on. */
static uint64_t lines_after(const struct search *s, uint64_t row, uint64_t high)
{
    uint64_t first, count;

    for (uint64_t i = 0; i < s->context && row < high; i++) {
        if (paua_history_view_line(s->view, row, &first, &count, NULL) != PAUA_OK) break;
        row = first + count < high ? first + count : high;
    }
    return row;
}

static void json_match(const struct search *s, const struct line *line)
{
    json_t *matches = json_made(json_array());

    for (size_t i = 0; i < s->span_count; i++)
        json_array_append_new(matches, json_made(json_pack("[I, I]", (json_int_t)s->spans[i].begin,
                                                           (json_int_t)s->spans[i].end)));
    json_line(json_pack("{s:o, s:o, s:o, s:o, s:o}", "history", json_word(s->name), "row",
                        json_u64(line->id), "time_ms", json_u64((uint64_t)line->time_ms), "text",
                        json_text(line->text, line->nbytes), "matches", matches));
}

/* Prints what follows the line before, up to `row`, as far as context goes. */
static bool finish_context(struct search *s, uint64_t row)
{
    uint64_t end = s->any_printed ? lines_after(s, s->printed, row) : s->printed;

    if (s->context == 0 || s->cli->json || s->count_only || end <= s->printed) return true;
    if (!print_context(s, s->printed, end)) return false;
    s->printed = end;
    return true;
}

/* The line at hand is complete. */
static bool flush_line(struct search *s)
{
    uint64_t begin;
    struct line line;

    if (!s->has_line) return true;
    s->has_line = false;
    s->lines++;
    if (s->count_only) return true;
    if (!read_line(s, s->first, s->row_count, &line)) return false;
    if (s->cli->json) {
        json_match(s, &line);
    } else {
        if (!finish_context(s, s->first)) return false;
        begin = s->context == 0 ? s->first : lines_before(s, s->first, s->printed);
        if (s->context > 0 && s->any_printed && begin > s->printed) puts("--");
        if (!print_context(s, begin, s->first)) return false;
        print_line(s, &line, s->spans, s->span_count);
        s->printed = s->first + s->row_count;
        s->any_printed = true;
    }
    free(line.text);
    return true;
}

/* Bytes of text in rows [first, row) of a line. */
static size_t text_before(const struct search *s, uint64_t first, uint64_t row)
{
    size_t nbytes = 0;
    paua_history_row r;

    for (; first < row; first++)
        if (paua_history_view_row(s->view, first, &r, NULL) == PAUA_OK) nbytes += r.text_nbytes;
    return nbytes;
}

static bool take_match(struct search *s, const paua_history_match *match)
{
    uint64_t first = 0, count = 0;
    size_t begin;

    if (paua_history_view_line(s->view, match->row, &first, &count, &s->err) != PAUA_OK)
        return false;
    if (!s->has_line || first != s->first) {
        if (!flush_line(s)) return false;
        s->has_line = s->lines < s->max;
        s->first = first;
        s->row_count = count;
        s->span_count = 0;
        if (!s->has_line) return true;
    }
    begin = text_before(s, first, match->row) + match->text_at;
    s->spans = cmd_grow(s->spans, s->span_count + 1, sizeof *s->spans);
    s->spans[s->span_count++] = (struct span){begin, begin + match->nbytes};
    return true;
}

static int run_search(struct search *s, const paua_history_search_opts *opts)
{
    paua_history_found found = PAUA_HISTORY_MORE;
    paua_history_search *search;
    paua_history_match match;
    uint64_t damaged = 0;
    bool going = true;

    if (paua_history_search_open(s->view, opts, &search, &s->err) != PAUA_OK)
        return fail_with(&s->err);
    while (going && found != PAUA_HISTORY_DONE && s->lines < s->max && !interrupted()) {
        paua_status status =
            paua_history_search_next(search, SLICE_ROWS, &found, &match, &damaged, &s->err);

        if (status == PAUA_ETIMEOUT)
            fail("%s", s->err.message);
        else
            going = status == PAUA_OK && (found != PAUA_HISTORY_MATCH || take_match(s, &match));
    }
    if (going) going = flush_line(s);
    if (going) going = finish_context(s, paua_history_view_rows(s->view));
    paua_history_search_close(search);
    if (!going) return fail_with(&s->err);
    if (damaged == 0) return EXIT_OK;
    return fail("%s: %" PRIu64 " rows are damaged and were not searched, run paua check", s->name,
                damaged);
}

/* One history; *matched is set if a line of it matched. */
static int search_one(const struct cli *cli, paua_db *db, const char *name,
                      const paua_history_search_opts *opts, bool *matched)
{
    const paua_db_history_opts reading = {.size = sizeof reading, .read_only = true};
    struct search s = {.cli = cli,
                       .name = name,
                       .colours = isatty(STDOUT_FILENO) != 0,
                       .count_only = args_has(&cli->args, "count"),
                       .max = UINT64_MAX};
    paua_db_history *history;
    int rc;

    if (!args_u64(&cli->args, "context", 0, 1000000, &s.context) ||
        !args_u64(&cli->args, "max", 1, UINT64_MAX, &s.max))
        return EXIT_USAGE;
    if (paua_db_history_open(db, name, &reading, &history, &s.err) != PAUA_OK)
        return fail_with(&s.err);
    if (paua_db_history_view_open(history, &s.view, &s.err) == PAUA_OK)
        rc = run_search(&s, opts);
    else
        rc = fail_with(&s.err);
    if (s.count_only && cli->json)
        json_line(json_pack("{s:o, s:o}", "history", json_word(name), "lines", json_u64(s.lines)));
    else if (s.count_only)
        printf("%s:%" PRIu64 "\n", name, s.lines);
    *matched = *matched || s.lines > 0;
    free(s.spans);
    paua_history_view_close(s.view);
    paua_db_history_close(history);
    return rc;
}

static void add_name(void *arg, const paua_db_history_info *info)
{
    struct name_list *list = arg;

    list->names = cmd_grow(list->names, list->count + 1, sizeof *list->names);
    list->names[list->count++] = cmd_strdup(info->name);
}

/* The histories named, or all. */
static int search_all(const struct cli *cli, paua_db *db, const paua_history_search_opts *opts)
{
    const struct args *args = &cli->args;
    struct name_list list = {0};
    bool matched = false;
    paua_error err;
    int rc = EXIT_OK;

    if (args->operand_count == 2 && paua_db_history_list(db, add_name, &list, &err) != PAUA_OK)
        rc = fail_with(&err);
    for (size_t i = 2; i < args->operand_count && rc != EXIT_USAGE; i++) {
        int one = search_one(cli, db, args->operands[i], opts, &matched);

        if (one != EXIT_OK) rc = one;
    }
    for (size_t i = 0; i < list.count && rc != EXIT_USAGE; i++) {
        int one = search_one(cli, db, list.names[i], opts, &matched);

        if (one != EXIT_OK) rc = one;
    }
    name_list_free(&list);
    return rc != EXIT_OK || matched ? rc : EXIT_FAILED;
}

int history_run_search(struct cli *cli)
{
    const struct args *args = &cli->args;
    const char *pattern = args->operands[1];
    const paua_history_search_opts opts = {.size = sizeof opts,
                                           .pattern = pattern,
                                           .pattern_nbytes = strlen(pattern),
                                           .ignore_case = args_has(args, "ignore-case"),
                                           .whole_word = args_has(args, "word"),
                                           .regex = args_has(args, "regex")};
    paua_db *db;
    int rc;

    if (args_has(args, "regex") && args_has(args, "fixed"))
        return usage("options -E and -F: give one of them");
    rc = cli_open(cli, OPEN_READ, &db);
    if (rc != EXIT_OK) return rc;
    interrupt_watch();
    rc = search_all(cli, db, &opts);
    paua_close(db);
    return rc;
}
