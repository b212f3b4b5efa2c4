/* history_cli.c - histories opened, their rows and figures as JSON, limits as people write them. */
#include "history_cli.h"

#include <string.h>
#include <time.h>

int64_t history_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int open_history(const struct cli *cli, enum open_for purpose, const char *name,
                        const paua_db_history_opts *opts, struct history_session *session)
{
    struct history_session draft = {0};
    paua_error err;
    int rc = cli_open(cli, purpose, &draft.db);

    if (rc != EXIT_OK) return rc;
    if (paua_db_history_open(draft.db, name, opts, &draft.history, &err) != PAUA_OK ||
        (opts->read_only &&
         paua_db_history_view_open(draft.history, &draft.view, &err) != PAUA_OK)) {
        history_session_close(&draft);
        return fail_with(&err);
    }
    *session = draft;
    return EXIT_OK;
}

int history_session_read(const struct cli *cli, const char *name, struct history_session *session)
{
    const paua_db_history_opts opts = {.size = sizeof opts, .read_only = true};

    return open_history(cli, OPEN_READ, name, &opts, session);
}

int history_session_write(const struct cli *cli, const char *name, bool create,
                          const paua_history_limits *limits, struct history_session *session)
{
    paua_db_history_opts opts = {.size = sizeof opts, .create = create};

    if (limits != NULL) opts.limits = *limits;
    return open_history(cli, create ? OPEN_CREATE : OPEN_WRITE, name, &opts, session);
}

void history_session_close(struct history_session *session)
{
    paua_history_view_close(session->view);
    paua_db_history_close(session->history);
    paua_close(session->db);
    *session = (struct history_session){0};
}

json_t *history_info_json(const paua_db_history_info *info)
{
    return json_made(json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "history",
        json_word(info->name), "rows", json_u64(info->rows), "next_id", json_u64(info->next_id),
        "first_time_ms", json_u64((uint64_t)info->first_time_ms), "last_time_ms",
        json_u64((uint64_t)info->last_time_ms), "pages", json_u64(info->pages), "files",
        json_u64(info->files), "file_bytes", json_u64(info->file_nbytes), "tail_bytes",
        json_u64(info->tail_nbytes), "max_rows", json_u64(info->limits.max_rows), "max_bytes",
        json_u64(info->limits.max_nbytes), "max_age_ms", json_u64(info->limits.max_age_ms)));
}

static json_t *colour_json(uint32_t colour)
{
    char text[8];

    if (colour >> 24 == 1) return json_u64(colour & 0xFF);
    snprintf(text, sizeof text, "#%06x", colour & 0xFFFFFF);
    return json_word(text);
}

static void add_colour(json_t *object, const char *key, uint32_t colour)
{
    if (colour != 0) json_object_set_new(object, key, colour_json(colour));
}

static void add_attributes(json_t *object, uint16_t attributes)
{
    static const struct {
        uint16_t bit;
        const char *name;
    } flags[] = {{PAUA_HISTORY_BOLD, "bold"},
                 {PAUA_HISTORY_FAINT, "faint"},
                 {PAUA_HISTORY_ITALIC, "italic"},
                 {PAUA_HISTORY_BLINK, "blink"},
                 {PAUA_HISTORY_RAPID_BLINK, "rapid_blink"},
                 {PAUA_HISTORY_INVERSE, "inverse"},
                 {PAUA_HISTORY_INVISIBLE, "invisible"},
                 {PAUA_HISTORY_STRIKE, "strike"},
                 {PAUA_HISTORY_OVERLINE, "overline"}};
    static const char *const underlines[] = {NULL,     "single", "double", "curly",
                                             "dotted", "dashed", NULL,     NULL};
    const char *underline = underlines[(attributes & PAUA_HISTORY_UNDERLINE_MASK) >> 12];

    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if ((attributes & flags[i].bit) != 0)
            json_object_set_new(object, flags[i].name, json_made(json_true()));
    if (underline != NULL) json_object_set_new(object, "underline", json_word(underline));
}

static json_t *run_json(const paua_history_row *row, uint32_t begin, uint32_t end,
                        const paua_history_style *style)
{
    json_t *object =
        json_made(json_pack("{s:I, s:I}", "begin", (json_int_t)begin, "end", (json_int_t)end));

    add_colour(object, "foreground", style->foreground);
    add_colour(object, "background", style->background);
    add_colour(object, "underline_colour", style->underline_colour);
    add_attributes(object, style->attributes);
    if (style->link > 0 && style->link <= row->link_count) {
        const paua_history_link *link = &row->links[style->link - 1];

        json_object_set_new(object, "link", json_text(link->uri, link->uri_nbytes));
    }
    return object;
}

json_t *history_row_json(const paua_history_row *row)
{
    json_t *object = json_made(json_pack("{s:o}", "row", json_u64(row->id)));
    json_t *styles;
    uint32_t at = 0;

    if (row->damaged_rows > 0) {
        json_object_set_new(object, "damaged_rows", json_u64(row->damaged_rows));
        return object;
    }
    if (row->time_ms != 0) json_object_set_new(object, "time_ms", json_u64((uint64_t)row->time_ms));
    json_object_set_new(object, "width", json_u64(row->width));
    if (row->soft) json_object_set_new(object, "soft", json_made(json_true()));
    json_object_set_new(object, "text", json_text(row->text, row->text_nbytes));
    if (row->run_count == 0) return object;
    styles = json_made(json_array());
    for (uint32_t i = 0; i < row->run_count; i++) {
        const paua_history_run *run = &row->runs[i];

        if (run->style != 0)
            json_array_append_new(styles,
                                  run_json(row, at, at + run->nbytes, &row->styles[run->style]));
        at += run->nbytes;
    }
    json_object_set_new(object, "styles", styles);
    return object;
}

/* A number and perhaps one of these letters, each with its factor; the last is for none. */
static bool take_scaled(const struct args *args, const char *name, const char *letters,
                        const uint64_t *factors, uint64_t *value)
{
    const char *text = args_value(args, name);
    size_t length = text == NULL ? 0 : strlen(text);
    const char *letter;
    uint64_t number, factor = factors[strlen(letters)];

    if (text == NULL) return true;
    letter = length == 0 ? NULL : strchr(letters, text[length - 1]);
    if (letter != NULL) {
        factor = factors[letter - letters];
        length--;
    }
    if (!parse_u64(text, length, &number) || number == 0 || number > UINT64_MAX / factor) {
        usage("option --%s: \"%s\" is not a number above 0, perhaps with one of %s behind it", name,
              text, letters);
        return false;
    }
    *value = number * factor;
    return true;
}

bool history_take_limits(const struct args *args, paua_history_limits *limits)
{
    static const uint64_t kilo[] = {1000, UINT64_C(1000000), UINT64_C(1000000000), 1};
    static const uint64_t binary[] = {1024, UINT64_C(1) << 20, UINT64_C(1) << 30, 1};
    static const uint64_t times[] = {1000, 60000, 3600000, 86400000, 1};

    return take_scaled(args, "rows", "kMG", kilo, &limits->max_rows) &&
           take_scaled(args, "bytes", "kMG", binary, &limits->max_nbytes) &&
           take_scaled(args, "age", "smhd", times, &limits->max_age_ms);
}
