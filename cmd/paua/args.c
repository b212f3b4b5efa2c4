/* args.c - parses the command line by tables (see args.h). */
#include "args.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

#define WORD_MAX 64u
#define WORDS_MAX 64u

const struct option_spec global_options[] = {
    {"dir", 'd', "DIR", "the database; default $PAUA_DB, else ./paua.db"},
    {"json", 0, NULL, "print JSON, one object a line"},
    {"durability", 0, "full|batch|off", "when writes are durable; default full"},
    {"no-mmap", 0, NULL, "read files with pread instead of mapping them"},
    {"verify", 0, "full|header", "check every page when first read, or headers only"},
    {"quiet", 'q', NULL, "no notes and no progress"},
    {"help", 'h', NULL, "show help and exit"},
    {NULL, 0, NULL, NULL},
};

static const struct option_spec no_options[] = {{NULL, 0, NULL, NULL}};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Edit distance with swaps of neighbours (Damerau, restricted), by three rows of the table. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t a_length = strnlen(a, WORD_MAX), b_length = strnlen(b, WORD_MAX);

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = smaller(change, smaller(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *nearest_word(const char *word, const char *const *words, size_t count)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, words[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = words[i];
        }
    }
    /* Half of a word mistyped is another word. */
    if (best == NULL || best_distance > (strlen(best) + 1) / 2 || best_distance > 3) return NULL;
    return best;
}

static const struct option_spec *find_long(const struct option_spec *specs, const char *name,
                                           size_t length)
{
    for (; specs->name != NULL; specs++) {
        if (strlen(specs->name) == length && memcmp(specs->name, name, length) == 0) return specs;
    }
    return NULL;
}

static const struct option_spec *find_letter(const struct option_spec *specs, char letter)
{
    for (; specs->name != NULL; specs++) {
        if (specs->letter == letter) return specs;
    }
    return NULL;
}

static const struct option_spec *options_of(const struct command *command)
{
    return command == NULL || command->options == NULL ? no_options : command->options;
}

static int unknown_long(const struct command *command, const char *name, size_t length)
{
    const struct option_spec *tables[] = {options_of(command), global_options};
    const char *words[WORDS_MAX];
    char typed[WORD_MAX + 1];
    size_t count = 0;
    const char *near;

    for (size_t t = 0; t < COUNT_OF(tables); t++) {
        for (const struct option_spec *s = tables[t]; s->name != NULL && count < WORDS_MAX; s++)
            words[count++] = s->name;
    }
    length = smaller(length, WORD_MAX);
    memcpy(typed, name, length);
    typed[length] = 0;
    near = nearest_word(typed, words, count);
    if (near != NULL) return usage("unknown option --%s, did you mean --%s?", typed, near);
    return usage("unknown option --%s, see paua help%s%s", typed, command ? " " : "",
                 command ? command->name : "");
}

static void add_use(struct args *args, const struct option_spec *spec, const char *value)
{
    args->uses[args->use_count++] = (struct option_use){.spec = spec, .value = value};
}

/* words[0] begins with "--". *used: words taken. */
static int parse_long(const struct command *command, int count, char **words, struct args *args,
                      int *used)
{
    const char *name = words[0] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct option_spec *spec = find_long(options_of(command), name, length);

    if (spec == NULL) spec = find_long(global_options, name, length);
    if (spec == NULL) return unknown_long(command, name, length);
    *used = 1;
    if (spec->value == NULL) {
        if (equals != NULL)
            return usage("option --%s takes no value, drop \"%s\"", spec->name, equals);
        add_use(args, spec, NULL);
        return EXIT_OK;
    }
    if (equals == NULL && count < 2)
        return usage("option --%s needs a value: --%s %s", spec->name, spec->name, spec->value);
    if (equals == NULL) *used = 2;
    add_use(args, spec, equals != NULL ? equals + 1 : words[1]);
    return EXIT_OK;
}

/* words[0] is "-x..." with x not '-': one letter, its value in the rest or the next word. */
static int parse_letter(const struct command *command, int count, char **words, struct args *args,
                        int *used)
{
    char letter = words[0][1];
    const char *rest = words[0] + 2;
    const struct option_spec *spec = find_letter(options_of(command), letter);

    if (spec == NULL) spec = find_letter(global_options, letter);
    if (spec == NULL)
        return usage(
            "unknown option %s, see paua help%s%s (use -- before operands that begin with -)",
            words[0], command ? " " : "", command ? command->name : "");
    *used = 1;
    if (spec->value == NULL) {
        if (rest[0] != 0) return usage("option -%c takes no value, drop \"%s\"", letter, rest);
        add_use(args, spec, NULL);
        return EXIT_OK;
    }
    if (rest[0] == 0 && count < 2)
        return usage("option -%c needs a value: -%c %s", letter, letter, spec->value);
    if (rest[0] == 0) *used = 2;
    add_use(args, spec, rest[0] != 0 ? rest : words[1]);
    return EXIT_OK;
}

int args_parse(const struct command *command, int count, char **words, struct args *args,
               int *taken)
{
    bool options_end = false;
    int at = 0;

    *args = (struct args){.uses = cmd_alloc((size_t)count, sizeof *args->uses),
                          .operands = cmd_alloc((size_t)count, sizeof *args->operands)};
    while (at < count) {
        const char *word = words[at];
        int used = 1;
        int rc = EXIT_OK;

        if (options_end || word[0] != '-' || word[1] == 0) {
            if (command == NULL) break;
            args->operands[args->operand_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            options_end = true;
        } else if (word[1] == '-') {
            rc = parse_long(command, count - at, words + at, args, &used);
        } else {
            rc = parse_letter(command, count - at, words + at, args, &used);
        }
        if (rc != EXIT_OK) return rc;
        at += used;
    }
    *taken = at;
    return EXIT_OK;
}

void args_free(struct args *args)
{
    free(args->uses);
    free(args->operands);
    *args = (struct args){0};
}

int args_check_operands(const struct command *command, const struct args *args)
{
    const char *space = command->operands[0] != 0 ? " " : "";

    if (args->operand_count < command->operand_min)
        return usage("%s: too few arguments, usage: paua %s%s%s", command->name, command->name,
                     space, command->operands);
    if (args->operand_count > command->operand_max)
        return usage("%s: unexpected argument \"%s\", usage: paua %s%s%s", command->name,
                     args->operands[command->operand_max], command->name, space, command->operands);
    return EXIT_OK;
}

bool args_has(const struct args *args, const char *name)
{
    for (size_t i = 0; i < args->use_count; i++) {
        if (strcmp(args->uses[i].spec->name, name) == 0) return true;
    }
    return false;
}

/* The last use counts. */
static const struct option_use *last_use(const struct args *args, const char *name)
{
    for (size_t i = args->use_count; i > 0; i--) {
        if (strcmp(args->uses[i - 1].spec->name, name) == 0) return &args->uses[i - 1];
    }
    return NULL;
}

const char *args_value(const struct args *args, const char *name)
{
    const struct option_use *use = last_use(args, name);

    return use == NULL ? NULL : use->value;
}

const char *args_value_at(const struct args *args, const char *name, size_t wanted)
{
    for (size_t i = 0; i < args->use_count; i++) {
        if (strcmp(args->uses[i].spec->name, name) != 0) continue;
        if (wanted == 0) return args->uses[i].value;
        wanted--;
    }
    return NULL;
}

bool args_u64(const struct args *args, const char *name, uint64_t min, uint64_t max,
              uint64_t *value)
{
    const char *text = args_value(args, name);
    uint64_t parsed = 0;

    if (text == NULL) return true;
    if (!parse_u64(text, strlen(text), &parsed) || parsed < min || parsed > max) {
        usage("option %s%s: \"%s\" is not a whole number from %llu to %llu",
              name[1] == 0 ? "-" : "--", name, text, (unsigned long long)min,
              (unsigned long long)max);
        return false;
    }
    *value = parsed;
    return true;
}

bool args_u32(const struct args *args, const char *name, uint32_t min, uint32_t max,
              uint32_t *value)
{
    uint64_t wide = *value;

    if (!args_u64(args, name, min, max, &wide)) return false;
    *value = (uint32_t)wide;
    return true;
}

bool args_double(const struct args *args, const char *name, double min, double max, double *value)
{
    const char *text = args_value(args, name);
    char *end;
    double parsed;

    if (text == NULL) return true;
    parsed = strtod(text, &end);
    /* Written so that NaN fails too. */
    if (end != text && *end == 0 && parsed >= min && parsed <= max) {
        *value = parsed;
        return true;
    }
    usage("option --%s: \"%s\" is not a number from %g to %g", name, text, min, max);
    return false;
}

bool args_choice(const struct args *args, const char *name, const char *const *words,
                 uint32_t *choice)
{
    const char *text = args_value(args, name);
    size_t count = 0;
    const char *near;

    if (text == NULL) return true;
    for (; words[count] != NULL; count++) {
        if (strcmp(words[count], text) != 0) continue;
        *choice = (uint32_t)count;
        return true;
    }
    near = nearest_word(text, words, count);
    if (near != NULL)
        usage("option --%s: \"%s\" is not known, did you mean \"%s\"?", name, text, near);
    else
        usage("option --%s: \"%s\" is not known, give %s", name, text,
              last_use(args, name)->spec->value);
    return false;
}
