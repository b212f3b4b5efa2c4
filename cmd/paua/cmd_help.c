/* cmd_help.c - paua help. */
#include "cli.h"
#include "commands.h"

static int run(struct cli *cli)
{
    const struct command *command;

    if (cli->args.operand_count == 0) {
        help_overview(stdout);
        return EXIT_OK;
    }
    command = command_find(cli->args.operands[0]);
    if (command == NULL) return EXIT_USAGE;
    help_command(stdout, command);
    return EXIT_OK;
}

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "explain a command, with examples",
    .text = "",
    .examples = "  paua help import",
    .operand_max = 1,
    .run = run,
};
