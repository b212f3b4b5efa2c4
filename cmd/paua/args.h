/* args.h - the command line as tables: one table of options a command makes the parser, the help
 * and the suggestions.
 *
 * Options are long (--name VALUE or --name=VALUE); a few have a letter (-k 10 or -k10). They may
 * stand before or after operands; "--" ends them; "-" is an operand. Every command also takes the
 * global options. A value is the next word whatever it looks like. */
#ifndef PAUA_CMD_ARGS_H
#define PAUA_CMD_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <paua/paua.h>

struct cli;

struct option_spec {
    const char *name;  /* long name without dashes; NULL ends a table */
    char letter;       /* 0: none */
    const char *value; /* what the help calls its value; NULL: a flag */
    const char *help;
};

struct command {
    const char *name;
    const char *operands; /* for the help, e.g. "COLLECTION KEY..." */
    const char *summary;  /* one line */
    const char *text;     /* paragraphs */
    const char *examples; /* lines */
    const struct option_spec *options;
    size_t operand_min;
    size_t operand_max;
    int (*run)(struct cli *cli);
};

struct option_use {
    const struct option_spec *spec;
    const char *value; /* NULL for a flag */
};

struct args {
    struct option_use *uses; /* in the order given */
    size_t use_count;
    const char **operands;
    size_t operand_count;
};

#define OPERANDS_ANY SIZE_MAX

extern const struct option_spec global_options[];

/* Parses words of which the command's name was already taken; command == NULL: only the global
 * options before the name, *taken says how many words those were. Returns EXIT_OK or EXIT_USAGE
 * with the message printed. args_free() in any case. */
int args_parse(const struct command *command, int count, char **words, struct args *args,
               int *taken);
void args_free(struct args *args);

/* Whether an operand count suits the command; prints and returns EXIT_USAGE if not. */
int args_check_operands(const struct command *command, const struct args *args);

bool args_has(const struct args *args, const char *name);

/* The last value given, or NULL. */
const char *args_value(const struct args *args, const char *name);

/* The i-th value given for a repeatable option, or NULL past the last. */
const char *args_value_at(const struct args *args, const char *name, size_t i);

/* A number within [min, max], or *value untouched if not given. Prints and returns false if it is
 * no such number. */
bool args_u64(const struct args *args, const char *name, uint64_t min, uint64_t max,
              uint64_t *value);
bool args_u32(const struct args *args, const char *name, uint32_t min, uint32_t max,
              uint32_t *value);

/* The same for a number with a fraction. */
bool args_double(const struct args *args, const char *name, double min, double max, double *value);

/* One of a list of words ending in NULL: its index in *choice, untouched if not given. */
bool args_choice(const struct args *args, const char *name, const char *const *words,
                 uint32_t *choice);

/* The nearest of the words to a mistyped one, or NULL if none is near. */
const char *nearest_word(const char *word, const char *const *words, size_t count);

#endif
