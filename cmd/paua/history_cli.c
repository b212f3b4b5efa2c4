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
