/* cmd_get.c - paua get. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "keys.h"
#include "record_print.h"

static const struct option_spec options[] = {
    {"no-vector", 0, NULL, "leave the vectors out"},
    {"fields", 0, "A,B", "only these fields"},
    {NULL, 0, NULL, NULL},
};

static const char text[] = "Prints the rows of the given keys, all from one snapshot. With --json "
                           "each row is a line that\n"
                           "import can read. Keys of vector collections are JSON arrays. Exit "
                           "status 1 if a key is missing.";

static int print_all(const struct cli *cli, const struct session *session, paua_cursor *cursor)
{
    bool vectors = !args_has(&cli->args, "no-vector");
    struct outfile out = {.stream = stdout, .name = "standard output"};
    struct writer_state writer = {.out = &out, .schema = session->schema, .no_vector = !vectors};
    const paua_record *record;
    paua_error err;
    int rc = EXIT_OK;

    writer.fields = paua_cursor_fields(cursor, &writer.field_count);
    for (size_t i = 0;; i++) {
        if (paua_cursor_next(cursor, &record, &err) != PAUA_OK) return fail_with(&err);
        if (record == NULL) return rc;
        if (!record->found)
            rc = fail("key %s not found, in collection \"%s\", check the key",
                      cli->args.operands[i + 1], paua_collection_name(session->collection));
        else if (cli->json)
            writer_jsonl.row(&writer, record);
        else
            record_print(&writer, record);
    }
}

static int get(const struct cli *cli, const struct session *session, struct key_list *list)
{
    paua_read_opts opts = {.size = sizeof opts, .no_vectors = args_has(&cli->args, "no-vector")};
    struct field_names names;
    paua_keys keys;
    paua_cursor *cursor;
    paua_error err;
    struct fault fault;
    int rc;

    for (size_t i = 1; i < cli->args.operand_count; i++) {
        const char *key = cli->args.operands[i];
        if (!key_list_add(list, key, strlen(key), &fault)) return usage("%s", fault.text);
    }
    keys = key_list_view(list, 0, list->count);
    field_names_take(&cli->args, &names);
    opts.fields = names.names;
    opts.field_count = names.count;
    if (paua_fetch(session->collection, &keys, &opts, &cursor, &err) == PAUA_OK) {
        rc = print_all(cli, session, cursor);
        paua_cursor_close(cursor);
    } else {
        rc = fail_with(&err);
    }
    field_names_free(&names);
    return rc;
}

static int run(struct cli *cli)
{
    struct session session;
    struct key_list list;
    int rc = session_open(cli, OPEN_READ, cli->args.operands[0], &session);

    if (rc != EXIT_OK) return rc;
    key_list_begin(&list, session.schema);
    rc = get(cli, &session, &list);
    key_list_free(&list);
    session_close(&session);
    return rc;
}

const struct command cmd_get = {
    .name = "get",
    .operands = "COLLECTION KEY...",
    .summary = "print rows by key",
    .text = text,
    .examples = "  paua get docs 17 42\n  paua get pages a/b.html --no-vector --json",
    .options = options,
    .operand_min = 2,
    .operand_max = OPERANDS_ANY,
    .run = run,
};
