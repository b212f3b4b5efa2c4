/* cmd_rm.c - paua rm. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "keys.h"
#include "where.h"

#define BATCH_ROWS 8192u

static const struct option_spec options[] = {
    {"keys", 0, "FILE", "delete the keys in this file, one a line (- is standard input)"},
    {"where", 'w', "FILTER", "delete the rows for which it is true, see paua-filter(7)"},
    {NULL, 0, NULL, NULL},
};

static const char text[] = "Deletes rows by key, or those for which a filter is true. Keys that do "
                           "not exist are counted, the\n"
                           "others deleted all the same, and the exit status is 1. \"paua "
                           "optimize\" gives the space back.";

struct removal {
    uint64_t deleted;
    uint64_t missing;
};

static int remove_batch(const struct session *session, struct key_list *list, size_t from,
                        size_t count, struct removal *removal)
{
    paua_keys keys = key_list_view(list, from, count);
    paua_status *statuses = cmd_alloc(count, sizeof *statuses);
    paua_error err = {.row = PAUA_NO_ROW};
    paua_status status = paua_delete(session->collection, &keys, NULL, statuses, &err);
    int rc = EXIT_OK;

    if (status != PAUA_OK && status != PAUA_EPARTIAL) rc = fail_with(&err);
    for (size_t i = 0; i < count && rc == EXIT_OK; i++) {
        if (statuses[i] == PAUA_OK)
            removal->deleted++;
        else if (statuses[i] == PAUA_ENOTFOUND)
            removal->missing++;
        else
            rc = fail("key %zu: %s", from + i, paua_strstatus(statuses[i]));
    }
    free(statuses);
    return rc;
}

static int take_keys(const struct cli *cli, struct key_list *list)
{
    const char *path = args_value(&cli->args, "keys");
    struct fault fault;

    for (size_t i = 1; i < cli->args.operand_count; i++) {
        const char *key = cli->args.operands[i];
        if (!key_list_add(list, key, strlen(key), &fault)) return usage("%s", fault.text);
    }
    if (path != NULL && !key_list_add_file(list, path, &fault)) return fail("%s", fault.text);
    return EXIT_OK;
}

static int remove_all(const struct cli *cli, const struct session *session, struct key_list *list)
{
    struct removal removal = {0};
    int rc = take_keys(cli, list);

    for (size_t from = 0; from < list->count && rc == EXIT_OK; from += BATCH_ROWS) {
        size_t left = list->count - from;
        rc = remove_batch(session, list, from, left < BATCH_ROWS ? left : BATCH_ROWS, &removal);
    }
    if (rc != EXIT_OK) return rc;
    if (cli->json)
        json_line(json_pack("{s:I, s:I}", "deleted", (json_int_t)removal.deleted, "missing",
                            (json_int_t)removal.missing));
    if (removal.missing == 0) return EXIT_OK;
    if (removal.deleted == 0)
        return fail("none of %zu keys found, in collection \"%s\", nothing was deleted",
                    list->count, paua_collection_name(session->collection));
    return fail("%llu of %zu keys not found, in collection \"%s\", the others were deleted",
                (unsigned long long)removal.missing, list->count,
                paua_collection_name(session->collection));
}

static int remove_where(struct cli *cli)
{
    char rows[HUMAN_NBYTES];
    struct session session;
    paua_filter *filter;
    uint64_t deleted;
    paua_error err;
    int rc = where_parse(args_value(&cli->args, "where"), &filter);

    if (rc != EXIT_OK) return rc;
    rc = session_open(cli, OPEN_WRITE, cli->args.operands[0], &session);
    if (rc == EXIT_OK) {
        if (paua_delete_where(session.collection, filter, &deleted, &err) != PAUA_OK)
            rc = fail_with(&err);
        else if (cli->json)
            json_line(json_pack("{s:I}", "deleted", (json_int_t)deleted));
        else if (!cli->quiet)
            printf("%s deleted\n", human_rows(deleted, rows));
        session_close(&session);
    }
    paua_filter_free(filter);
    return rc;
}

static int run(struct cli *cli)
{
    struct session session;
    struct key_list list;
    int ways = (cli->args.operand_count > 1 ? 1 : 0) + (args_has(&cli->args, "keys") ? 1 : 0) +
               (args_has(&cli->args, "where") ? 1 : 0);
    int rc;

    if (ways != 1) return usage("rm: give one of keys, --keys FILE, --where FILTER");
    if (args_has(&cli->args, "where")) return remove_where(cli);
    rc = session_open(cli, OPEN_WRITE, cli->args.operands[0], &session);
    if (rc != EXIT_OK) return rc;
    key_list_begin(&list, session.schema);
    rc = remove_all(cli, &session, &list);
    key_list_free(&list);
    session_close(&session);
    return rc;
}

const struct command cmd_rm = {
    .name = "rm",
    .operands = "COLLECTION KEY... | --keys FILE | --where FILTER",
    .summary = "delete rows by key, or by filter",
    .text = text,
    .examples = "  paua rm docs 17 42\n  paua rm pages --keys old.txt\n  paua rm docs --where "
                "'year < 1900'",
    .options = options,
    .operand_min = 1,
    .operand_max = OPERANDS_ANY,
    .run = run,
};
