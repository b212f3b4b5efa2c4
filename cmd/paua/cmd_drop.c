/* cmd_drop.c - paua drop. */
#include <string.h>

#include "cli.h"
#include "commands.h"

static int run(struct cli *cli)
{
    const char *name = cli->args.operands[0];
    paua_db *db;
    paua_error err;
    int rc = cli_open(cli, OPEN_WRITE, &db);

    if (rc != EXIT_OK) return rc;
    if (paua_collection_drop(db, name, &err) != PAUA_OK)
        rc = fail_with(&err);
    else if (cli->json)
        json_line(json_pack("{s:o, s:b}", "collection", json_word(name), "dropped", 1));
    paua_close(db);
    return rc;
}

const struct command cmd_drop = {
    .name = "drop",
    .operands = "COLLECTION",
    .summary = "remove a collection with all its rows",
    .text = "Removes a collection and its files, at once and for good. Readers that have it open\n"
            "keep what they see; a collection that is being written cannot be dropped.",
    .examples = "  paua drop docs",
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
