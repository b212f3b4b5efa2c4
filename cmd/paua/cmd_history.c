/* cmd_history.c - paua history: which action is meant, and the short ones: ls, info, rm, trim. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "history_cli.h"
#include "table.h"

static const struct option_spec options[] = {
    {"names", 0, NULL, "ls: names only, one a line"},
    {"plain", 0, NULL, "show: text only, also on a terminal"},
    {"ansi", 0, NULL, "show: with colours, also into a pipe"},
    {"tail", 0, "N", "show, export: the last N rows only"},
    {"from", 0, "ROW", "show, export: begin at this row"},
    {"lines", 0, "N", "show, export: at most N rows"},
    {"ignore-case", 'i', NULL, "search: upper and lower case are the same"},
    {"word", 'w', NULL, "search: whole words only"},
    {"regex", 'E', NULL, "search: the pattern is a Perl-compatible regular expression"},
    {"fixed", 'F', NULL, "search: the pattern is text (the default)"},
    {"context", 'C', "N", "search: N lines before and after each match too"},
    {"max", 'm', "N", "search: at most N lines of each history"},
    {"count", 'c', NULL, "search: only how many lines match"},
    {"format", 0, "FORMAT", "export: text, ansi, html or jsonl; import: ansi or text"},
    {"output", 'o', "FILE", "export: to a file; default standard output"},
    {"columns", 0, "N", "import: rows wrap at N columns; default 80"},
    {"rows", 0, "N", "trim: keep the last N rows; import: limit of a new history"},
    {"bytes", 0, "N", "trim: keep files of N bytes (k, M, G); import: limit of a new history"},
    {"age", 0, "T", "trim: keep what is younger (s, m, h, d); import: limit of a new history"},
    {"keep", 0, NULL, "trim: from now on too: these are the history's limits"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "ls      lists the histories: rows, bytes of their files, the time of the newest row.\n"
    "info    shows all there is to know of one.\n"
    "show    prints rows, with their colours through $PAGER (less -R) on a terminal.\n"
    "search  prints the lines that match as NAME/ROW:TEXT, of the histories named, or of all. The\n"
    "        exit status is 1 if there are none.\n"
    "export  writes rows as text, ANSI text, an HTML fragment, or a JSON object a row.\n"
    "import  appends lines of a file or of standard input, making the history if there is none.\n"
    "rm      removes histories, and says what went.\n"
    "trim    removes the oldest rows; bytes go by whole files.\n"
    "\n"
    "The database is that of -d or $PAUA_DB, else $XDG_DATA_HOME/paua (~/.local/share/paua). Rows\n"
    "are numbered from 1 for the life of a history.";

static const char examples[] = "  ls -l --color=always | paua history import shell\n"
                               "  paua history show shell --tail 50\n"
                               "  paua history search -i -C 2 error shell\n"
                               "  paua history export shell --format html -o shell.html\n"
                               "  paua history trim shell --age 30d --bytes 100M --keep";

/* ---- ls, info */

static void print_name(void *arg, const paua_db_history_info *info)
{
    (void)arg;
    puts(info->name);
}

static void print_line(void *arg, const paua_db_history_info *info)
{
    (void)arg;
    json_line(history_info_json(info));
}

#define TIME_NBYTES 40u

static const char *time_text(int64_t time_ms, char out[TIME_NBYTES])
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm local;

    if (time_ms == 0 || localtime_r(&seconds, &local) == NULL) return "";
    strftime(out, TIME_NBYTES, "%Y-%m-%d %H:%M:%S", &local);
    return out;
}

static void add_row(void *arg, const paua_db_history_info *info)
{
    struct table *table = arg;
    char size[HUMAN_NBYTES], when[TIME_NBYTES];

    table_cell(table, info->name, strlen(info->name));
    table_cell_format(table, "%" PRIu64, info->rows);
    table_cell_format(table, "%s", human_bytes(info->file_nbytes + info->tail_nbytes, size));
    table_cell_format(table, "%s", time_text(info->last_time_ms, when));
}

static int run_ls(struct cli *cli)
{
    static const char *const heads[] = {"history", ">rows", ">bytes", "newest"};
    struct table table = table_begin(heads, COUNT_OF(heads));
    bool names = args_has(&cli->args, "names");
    paua_error err;
    paua_db *db;
    int rc = cli_open(cli, OPEN_READ, &db);

    if (rc != EXIT_OK) return rc;
    if (paua_db_history_list(db,
                             names       ? print_name
                             : cli->json ? print_line
                                         : add_row,
                             &table, &err) != PAUA_OK)
        rc = fail_with(&err);
    if (table.cell_count > 0) table_end(&table);
    paua_close(db);
    return rc;
}

static void print_limit(const char *name, uint64_t value, const char *unit)
{
    if (value > 0) printf("%-12s %" PRIu64 "%s\n", name, value, unit);
}

static void print_info(const paua_db_history_info *info)
{
    char size[HUMAN_NBYTES], when[TIME_NBYTES];

    printf("%-12s ", "history");
    printf("%s\n", info->name);
    printf("%-12s %" PRIu64 "\n", "rows", info->rows);
    if (info->rows > 0)
        printf("%-12s %" PRIu64 " to %" PRIu64 "\n", "numbers", info->next_id - info->rows,
               info->next_id - 1);
    if (info->first_time_ms > 0)
        printf("%-12s %s\n", "oldest", time_text(info->first_time_ms, when));
    if (info->last_time_ms > 0) printf("%-12s %s\n", "newest", time_text(info->last_time_ms, when));
    printf("%-12s %" PRIu64 " in %" PRIu64 " files, %s\n", "pages", info->pages, info->files,
           human_bytes(info->file_nbytes, size));
    printf("%-12s %s\n", "tail", human_bytes(info->tail_nbytes, size));
    if (info->damaged_rows > 0) printf("%-12s %" PRIu64 "\n", "damaged", info->damaged_rows);
    print_limit("most rows", info->limits.max_rows, "");
    print_limit("most bytes", info->limits.max_nbytes, "");
    print_limit("most age", info->limits.max_age_ms, " ms");
}

static int run_info(struct cli *cli)
{
    struct history_session session;
    paua_db_history_info info = {.size = sizeof info};
    paua_error err;
    int rc = history_session_read(cli, cli->args.operands[1], &session);

    if (rc != EXIT_OK) return rc;
    if (paua_db_history_get_info(session.history, &info, &err) != PAUA_OK)
        rc = fail_with(&err);
    else if (cli->json)
        json_line(history_info_json(&info));
    else
        print_info(&info);
    history_session_close(&session);
    return rc;
}

/* ---- rm, trim */

struct wanted {
    const char *name;
    uint64_t rows, nbytes;
};

static void take_wanted(void *arg, const paua_db_history_info *info)
{
    struct wanted *w = arg;

    if (strcmp(info->name, w->name) != 0) return;
    w->rows = info->rows;
    w->nbytes = info->file_nbytes + info->tail_nbytes;
}

static int remove_one(const struct cli *cli, paua_db *db, const char *name)
{
    struct wanted w = {.name = name};
    char size[HUMAN_NBYTES];
    paua_error err;

    paua_db_history_list(db, take_wanted, &w, NULL); /* only for the words below */
    if (paua_db_history_remove(db, name, &err) != PAUA_OK) return fail_with(&err);
    if (cli->json)
        json_line(json_pack("{s:o, s:o, s:o}", "removed", json_word(name), "rows", json_u64(w.rows),
                            "bytes", json_u64(w.nbytes)));
    else
        note(cli->quiet, "removed %s: %" PRIu64 " rows, %s", name, w.rows,
             human_bytes(w.nbytes, size));
    return EXIT_OK;
}

static int run_rm(struct cli *cli)
{
    paua_db *db;
    int rc = cli_open(cli, OPEN_WRITE, &db);

    if (rc != EXIT_OK) return rc;
    for (size_t i = 1; i < cli->args.operand_count; i++)
        if (remove_one(cli, db, cli->args.operands[i]) != EXIT_OK) rc = EXIT_FAILED;
    paua_close(db);
    return rc;
}

static int trim(const struct cli *cli, paua_db_history *history, const paua_history_limits *limits)
{
    paua_db_history_info before = {.size = sizeof before}, after = {.size = sizeof after};
    int64_t now = limits->max_age_ms > 0 ? history_now_ms() : 0;
    char size[HUMAN_NBYTES];
    paua_error err;
    paua_status status = paua_db_history_get_info(history, &before, &err);

    if (status == PAUA_OK)
        status = args_has(&cli->args, "keep")
                     ? paua_db_history_set_limits(history, limits, now, &err)
                     : paua_db_history_trim(history, limits, now, &err);
    if (status == PAUA_OK) status = paua_db_history_get_info(history, &after, &err);
    if (status != PAUA_OK) return fail_with(&err);
    if (cli->json)
        json_line(history_info_json(&after));
    else
        note(cli->quiet, "%s: %" PRIu64 " rows went, %" PRIu64 " are left, %s", after.name,
             before.rows - after.rows, after.rows,
             human_bytes(after.file_nbytes + after.tail_nbytes, size));
    return EXIT_OK;
}

static int run_trim(struct cli *cli)
{
    paua_history_limits limits = {0};
    struct history_session session;
    int rc;

    if (!history_take_limits(&cli->args, &limits)) return EXIT_USAGE;
    if (limits.max_rows == 0 && limits.max_nbytes == 0 && limits.max_age_ms == 0)
        return usage("history trim: nothing to go by, give --rows, --bytes or --age");
    rc = history_session_write(cli, cli->args.operands[1], false, NULL, &session);
    if (rc != EXIT_OK) return rc;
    rc = trim(cli, session.history, &limits);
    history_session_close(&session);
    return rc;
}

/* ---- which of them */

struct action {
    const char *name;
    const char *operands;
    size_t operand_min, operand_max; /* the name included */
    const char *options;             /* that it takes, each with a space before and behind */
    int (*run)(struct cli *cli);
};

static const struct action actions[] = {
    {"ls", "", 1, 1, " names ", run_ls},
    {"info", "NAME", 2, 2, "", run_info},
    {"show", "NAME", 2, 2, " plain ansi tail from lines ", history_run_show},
    {"search", "PATTERN [NAME...]", 2, OPERANDS_ANY,
     " ignore-case word regex fixed context max count ", history_run_search},
    {"export", "NAME", 2, 2, " tail from lines format output ", history_run_export},
    {"import", "NAME [FILE]", 2, 3, " format columns rows bytes age ", history_run_import},
    {"rm", "NAME...", 2, OPERANDS_ANY, "", run_rm},
    {"trim", "NAME", 2, 2, " rows bytes age keep ", run_trim},
};

static bool options_suit(const struct args *args, const struct action *action)
{
    char name[32];

    for (const struct option_spec *spec = options; spec->name != NULL; spec++) {
        snprintf(name, sizeof name, " %s ", spec->name);
        if (!args_has(args, spec->name) || strstr(action->options, name) != NULL) continue;
        usage("option --%s: \"history %s\" does not take it, drop it", spec->name, action->name);
        return false;
    }
    return true;
}

static int run(struct cli *cli)
{
    const struct args *args = &cli->args;

    if (!cli_personal_dir(cli)) return EXIT_FAILED;
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        const struct action *action = &actions[i];

        if (strcmp(action->name, args->operands[0]) != 0) continue;
        if (args->operand_count < action->operand_min || args->operand_count > action->operand_max)
            return usage("history %s: too %s arguments, usage: paua history %s %s", action->name,
                         args->operand_count < action->operand_min ? "few" : "many", action->name,
                         action->operands);
        return options_suit(args, action) ? action->run(cli) : EXIT_USAGE;
    }
    return usage(
        "history: unknown action \"%s\", use ls, info, show, search, export, import, rm or "
        "trim",
        args->operands[0]);
}

const struct command cmd_history = {
    .name = "history",
    .operands = "ls|info|show|search|export|import|rm|trim [NAME]",
    .summary = "list, show, search, export and import terminal histories",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = OPERANDS_ANY,
    .run = run,
};
