/* help.c - help, made from the tables of commands and options. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* The part before the explanation, e.g. "-d, --dir DIR". */
static void option_left(const struct option_spec *spec, char *left, size_t nbytes)
{
    const char *space = spec->value == NULL ? "" : " ";
    const char *value = spec->value == NULL ? "" : spec->value;

    if (spec->name[1] == 0)
        snprintf(left, nbytes, "-%c%s%s", spec->letter, space, value);
    else if (spec->letter != 0)
        snprintf(left, nbytes, "-%c, --%s%s%s", spec->letter, spec->name, space, value);
    else
        snprintf(left, nbytes, "    --%s%s%s", spec->name, space, value);
}

static void print_options(FILE *out, const struct option_spec *specs)
{
    char left[80];
    size_t width = 0;

    for (const struct option_spec *spec = specs; spec->name != NULL; spec++) {
        option_left(spec, left, sizeof left);
        if (strlen(left) > width) width = strlen(left);
    }
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++) {
        option_left(spec, left, sizeof left);
        fprintf(out, "  %-*s  %s\n", (int)width, left, spec->help);
    }
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "paua %s - %s\n\nUsage: paua %s%s%s%s\n", command->name, command->summary,
            command->name, command->operands[0] != 0 ? " " : "", command->operands,
            command->options != NULL ? " [OPTION...]" : "");
    if (command->text[0] != 0) fprintf(out, "\n%s\n", command->text);
    if (command->options != NULL) {
        fputs("\nOptions:\n", out);
        print_options(out, command->options);
    }
    fputs("\nGlobal options:\n", out);
    print_options(out, global_options);
    if (command->examples[0] != 0) fprintf(out, "\nExamples:\n%s\n", command->examples);
}

void help_overview(FILE *out)
{
    fputs("paua - an embedded database of vectors and documents\n\n"
          "Usage: paua [GLOBAL OPTION...] COMMAND [ARGUMENT...]\n\nCommands:\n",
          out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nGlobal options, anywhere on the line:\n", out);
    print_options(out, global_options);
    fputs("\nExit status: 0 done, 1 failed, 2 wrong command line.\n"
          "\"paua help COMMAND\" explains a command with examples.\n",
          out);
}
