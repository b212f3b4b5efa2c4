/* cli.h - what a subcommand is given, and the helpers most of them share. */
#ifndef PAUA_CMD_CLI_H
#define PAUA_CMD_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <paua/paua.h>

#include "args.h"
#include "util.h"

struct cli {
    const struct command *command;
    struct args args;
    const char *dir;
    bool json;
    bool quiet;
    paua_open_opts open; /* from the global options */
};

/* Every subcommand, in the order of the help. */
extern const struct command *const commands[];
extern const size_t command_count;
const struct command *command_find(const char *name);

/* Help of one command, and the list of all. */
void help_command(FILE *out, const struct command *command);
void help_overview(FILE *out);

/* The directory where neither -d nor PAUA_DB names one. */
extern const char cli_default_dir[];

/* For commands whose data is a person's: that directory becomes $XDG_DATA_HOME/paua, made for its
 * owner alone, and so is what is made in it. Prints and returns false if it cannot be made. */
bool cli_personal_dir(struct cli *cli);

enum open_for {
    OPEN_READ,   /* read-only: no locks, no maintenance */
    OPEN_WRITE,  /* must exist */
    OPEN_CREATE, /* made if missing */
};

/* Opens the database that the global options name. EXIT_OK, or the error was printed. */
int cli_open(const struct cli *cli, enum open_for purpose, paua_db **db);

/* A database and one of its collections together. */
struct session {
    paua_db *db;
    paua_collection *collection;
    const paua_schema *schema; /* of the collection */
};

int session_open(const struct cli *cli, enum open_for purpose, const char *collection,
                 struct session *session);
void session_close(struct session *session);

/* Index of a vector field by name; NULL means the first. Prints and returns false if unknown. */
bool session_field(const struct session *session, const char *name, size_t *field);

/* Prints one object as one line on stdout and gives it up. */
void json_line(json_t *object);

/* A new object from jansson's json_pack format; ends the program if there is no memory. */
json_t *json_made(json_t *object);

/* A JSON integer, or a string of digits above 2^63 - 1, which JSON readers commonly break. */
json_t *json_u64(uint64_t value);

/* A JSON string of bytes: as they are if they are UTF-8, each bad byte as U+FFFD otherwise. */
json_t *json_text(const void *bytes, size_t nbytes);
json_t *json_word(const char *text);

extern const char *const metric_names[];       /* by paua_metric; ends in NULL */
extern const char *const precision_names[];    /* by paua_precision */
extern const char *const originals_names[];    /* by paua_originals; the first is "default" */
extern const char *const index_kind_names[];   /* by paua_index_kind; the same */
extern const char *const vector_index_names[]; /* its beginning: kinds that vectors have */
extern const char *const key_names[];          /* by paua_key_kind */
extern const char *const document_names[];     /* by paua_document_kind */

/* Bytes that the files of one collection take: all but the catalogue. */
uint64_t stats_disk_nbytes(const paua_stats *stats);

/* Names of all collections, in the library's order. */
struct name_list {
    char **names;
    size_t count;
};

int name_list_read(paua_db *db, struct name_list *list);
void name_list_free(struct name_list *list);

#endif
