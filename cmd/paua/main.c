/* main.c - finds the subcommand and runs it. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

const struct command *const commands[] = {
    &cmd_create, &cmd_drop,   &cmd_ls,      &cmd_info,  &cmd_import,  &cmd_export, &cmd_get,
    &cmd_put,    &cmd_rm,     &cmd_search,  &cmd_query, &cmd_field,   &cmd_index,  &cmd_optimize,
    &cmd_check,  &cmd_backup, &cmd_history, &cmd_bench, &cmd_version, &cmd_help,
};
const size_t command_count = COUNT_OF(commands);

const struct command *command_find(const char *name)
{
    const char *names[COUNT_OF(commands)];
    const char *near;

    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
        names[i] = commands[i]->name;
    }
    near = nearest_word(name, names, command_count);
    if (near != NULL)
        usage("unknown command \"%s\", did you mean \"%s\"?", name, near);
    else
        usage("unknown command \"%s\", see paua help", name);
    return NULL;
}

/* Global options: given after the command's name, or else before it. */
static int apply_globals(struct cli *cli, const struct args *args)
{
    static const char *const durabilities[] = {"full", "batch", "off", NULL};
    static const char *const verifies[] = {"full", "header", NULL};
    uint32_t durability = cli->open.durability;
    uint32_t verify = cli->open.verify;

    if (!args_choice(args, "durability", durabilities, &durability)) return EXIT_USAGE;
    if (!args_choice(args, "verify", verifies, &verify)) return EXIT_USAGE;
    cli->open.durability = (paua_durability)durability;
    cli->open.verify = (paua_verify)verify;
    if (args_has(args, "no-mmap")) cli->open.no_mmap = true;
    if (args_has(args, "json")) cli->json = true;
    if (args_has(args, "quiet")) cli->quiet = true;
    if (args_value(args, "dir") != NULL) cli->dir = args_value(args, "dir");
    if (cli->dir[0] == 0) return usage("the database's directory is empty, give -d DIR");
    return EXIT_OK;
}

static int run_command(struct cli *cli, int count, char **words)
{
    int taken = 0;
    int rc = args_parse(cli->command, count, words, &cli->args, &taken);

    if (rc == EXIT_OK) rc = apply_globals(cli, &cli->args);
    if (rc != EXIT_OK) return rc;
    if (args_has(&cli->args, "help")) {
        help_command(stdout, cli->command);
        return EXIT_OK;
    }
    rc = args_check_operands(cli->command, &cli->args);
    return rc == EXIT_OK ? cli->command->run(cli) : rc;
}

static int run_line(struct cli *cli, int count, char **words)
{
    struct args before;
    int taken = 0;
    int rc = args_parse(NULL, count, words, &before, &taken);

    if (rc == EXIT_OK) rc = apply_globals(cli, &before);
    if (rc == EXIT_OK && args_has(&before, "help")) {
        help_overview(stdout);
    } else if (rc == EXIT_OK && taken == count) {
        rc = usage("no command given, see paua help");
    } else if (rc == EXIT_OK) {
        cli->command = command_find(words[taken]);
        rc = cli->command == NULL ? EXIT_USAGE
                                  : run_command(cli, count - taken - 1, words + taken + 1);
    }
    args_free(&before);
    args_free(&cli->args);
    return rc;
}

int main(int argc, char **argv)
{
    const char *dir = getenv("PAUA_DB");
    struct cli cli = {.dir = dir != NULL && dir[0] != 0 ? dir : cli_default_dir,
                      .open = {.size = sizeof(paua_open_opts)}};
    int rc;

    /* Widths of characters (wcwidth) need a UTF-8 locale; numbers keep the dot. */
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) setlocale(LC_CTYPE, "");
    if (argc == 2 && strcmp(argv[1], "--version") == 0) argv[1] += strlen("--");
    rc = run_line(&cli, argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        return fail("cannot write, to standard output, see whether its disk is full");
    return rc;
}
