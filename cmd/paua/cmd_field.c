/* cmd_field.c - paua field: the fields of a collection's rows. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "field_print.h"
#include "field_table.h"

static const char text[] =
    "ls      lists the fields: type, distinct values (at most so many), nulls, bytes, and how the\n"
    "        chunks of 65,536 rows are kept.\n"
    "add     adds a field; it is null in every row.\n"
    "rename  gives a field another name.\n"
    "retype  changes its type; every value must convert without loss.\n"
    "drop    removes it; \"paua optimize\" gives its space back.\n"
    "\n"
    "TYPE is bool, int8 to int64, uint8 to uint64, float, double, string, bytes, timestamp, or\n"
    "\"array of\" one of these. Searches and writes go on meanwhile.";

static const char examples[] = "  paua field ls docs\n"
                               "  paua field add docs year int16\n"
                               "  paua field add docs tags 'array of string'\n"
                               "  paua field rename docs year published\n"
                               "  paua field retype docs published int32\n"
                               "  paua field drop docs published";

static int run_add(const struct cli *cli, paua_collection *collection)
{
    paua_field field = {cli->args.operands[2], paua_type_parse(cli->args.operands[3])};
    paua_error err;

    if (field.type == 0)
        return usage("field add: unknown type \"%s\", see paua help field", cli->args.operands[3]);
    return paua_field_add(collection, &field, &err) == PAUA_OK ? EXIT_OK : fail_with(&err);
}

static int run_rename(const struct cli *cli, paua_collection *collection)
{
    const char **names = cli->args.operands + 2;
    paua_error err;

    return paua_field_rename(collection, names[0], names[1], &err) == PAUA_OK ? EXIT_OK
                                                                              : fail_with(&err);
}

static int run_retype(const struct cli *cli, paua_collection *collection)
{
    uint32_t type = paua_type_parse(cli->args.operands[3]);
    paua_error err;

    if (type == 0)
        return usage("field retype: unknown type \"%s\", see paua help field",
                     cli->args.operands[3]);
    return paua_field_retype(collection, cli->args.operands[2], type, &err) == PAUA_OK
               ? EXIT_OK
               : fail_with(&err);
}

static int run_drop(const struct cli *cli, paua_collection *collection)
{
    paua_error err;

    return paua_field_drop(collection, cli->args.operands[2], &err) == PAUA_OK ? EXIT_OK
                                                                               : fail_with(&err);
}

static int run_ls(const struct cli *cli, paua_collection *collection)
{
    return field_print_all(cli, collection);
}

static int run(struct cli *cli)
{
    const struct args *args = &cli->args;
    static const struct {
        const char *name;
        const char *operands;
        size_t operand_count; /* the name included */
        enum open_for purpose;
        int (*run)(const struct cli *cli, paua_collection *collection);
    } actions[] = {
        {"ls", "COLLECTION", 2, OPEN_READ, run_ls},
        {"add", "COLLECTION FIELD TYPE", 4, OPEN_WRITE, run_add},
        {"rename", "COLLECTION FIELD NAME", 4, OPEN_WRITE, run_rename},
        {"retype", "COLLECTION FIELD TYPE", 4, OPEN_WRITE, run_retype},
        {"drop", "COLLECTION FIELD", 3, OPEN_WRITE, run_drop},
    };

    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        struct session session;
        int rc;

        if (strcmp(actions[i].name, args->operands[0]) != 0) continue;
        if (args->operand_count != actions[i].operand_count)
            return usage("field %s: too %s arguments, usage: paua field %s %s", actions[i].name,
                         args->operand_count < actions[i].operand_count ? "few" : "many",
                         actions[i].name, actions[i].operands);
        rc = session_open(cli, actions[i].purpose, args->operands[1], &session);
        if (rc != EXIT_OK) return rc;
        rc = actions[i].run(cli, session.collection);
        if (rc == EXIT_OK && cli->json && actions[i].purpose == OPEN_WRITE)
            json_line(json_pack("{s:o, s:s}", "field", json_word(args->operands[2]), "action",
                                actions[i].name));
        session_close(&session);
        return rc;
    }
    return usage("field: unknown action \"%s\", use ls, add, rename, retype or drop",
                 args->operands[0]);
}

const struct command cmd_field = {
    .name = "field",
    .operands = "ls|add|rename|retype|drop COLLECTION [FIELD [TYPE|NAME]]",
    .summary = "list and change the fields of a collection's rows",
    .text = text,
    .examples = examples,
    .operand_min = 1,
    .operand_max = 4,
    .run = run,
};
