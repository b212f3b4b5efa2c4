/* cmd_import.c - paua import. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "commands.h"
#include "import.h"

static const struct option_spec options[] = {
    {"format", 0, "fvecs|bvecs|npy|jsonl|csv", "format of the files; default by suffix"},
    {"documents", 0, "FILE", "documents; line i belongs to row i, an empty line is none"},
    {"keys", 0, "FILE", "keys; line i belongs to row i"},
    {"first-key", 0, "N", "without keys, u64 keys count up from N; default 0"},
    {"field", 0, "NAME", "vector field of fvecs, bvecs, npy; default the first"},
    {"batch", 0, "ROWS", "rows a commit; default about 4 MiB of vectors"},
    {"limit", 0, "N", "stop after N rows"},
    {"upsert", 0, NULL, "replace rows whose key exists, or parts of them"},
    {"add-fields", 0, NULL, "jsonl, csv: add the fields that the collection does not have"},
    {"keep-going", 0, NULL, "leave out malformed rows instead of stopping"},
    {"progress", 0, NULL, "show progress without a terminal too"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Imports rows from files, or from standard input (\"-\", or no FILE).\n"
    "\n"
    "fvecs, bvecs  each row is its dimension as int32, then floats or bytes.\n"
    "npy           a matrix of <f2, <f4 or <f8 in C order.\n"
    "jsonl         {\"key\": 7, \"vector\": [1, 2], \"document\": \"text\", \"year\": 1999} a "
    "line; "
    "several\n"
    "              vectors as \"vectors\": {\"name\": [1, 2]}; fields as other members, or in\n"
    "              \"fields\": {\"year\": 1999}; documents of bytes are base64, bytes in fields\n"
    "              {\"base64\": \"...\"}; u64 keys above 2^63-1 are strings of digits.\n"
    "csv           the first line names the columns: key, vector (a JSON array), document, fields; "
    "an\n"
    "              empty cell is not given, \"\" is an empty string.\n"
    "\n"
    "Fields must be the collection's, unless it is dynamic or --add-fields is given: then those "
    "that\n"
    "are new are added and named, with the type that suits all rows: int64, double, bool, string, "
    "bytes\n"
    "or arrays of these. In CSV, what is quoted, and what is no plain number (007, +49), is a "
    "string.\n"
    "With --upsert rows may give fields alone.\n"
    "\n"
    "A malformed file names its row and byte, and nothing of it is imported; a stream stops at "
    "its\n"
    "first bad row. Each batch is committed as a whole. After a kill or Ctrl-C the same command\n"
    "continues: rows whose key exists with the same content count as already there, and a key "
    "with\n"
    "other content is refused unless --upsert is given. Exit status 1 if any row was refused.";

static const char examples[] =
    "  paua import docs base.fvecs --documents base.txt\n"
    "  paua import docs vectors.npy --keys ids.txt --upsert\n"
    "  zstd -dc rows.jsonl.zst | paua import docs --format jsonl --keep-going";

static const struct file_format *format_of(const struct args *args, const char *path)
{
    const char *name = args_value(args, "format");
    const struct file_format *format = name != NULL ? format_by_name(name) : format_by_suffix(path);

    if (format != NULL) return format;
    if (name != NULL)
        usage("option --format: \"%s\" is not known, use fvecs, bvecs, npy, jsonl or csv", name);
    else
        usage("cannot tell the format of %s, give --format fvecs|bvecs|npy|jsonl|csv",
              strcmp(path, "-") == 0 ? "standard input" : path);
    return NULL;
}

static const char *path_at(const struct args *args, size_t i)
{
    return args->operand_count < 2 ? "-" : args->operands[1 + i];
}

static size_t path_count(const struct args *args)
{
    return args->operand_count < 2 ? 1 : args->operand_count - 1;
}

/* Size of all files together; 0 if one has none. */
static uint64_t total_nbytes(const struct args *args)
{
    uint64_t total = 0;

    for (size_t i = 0; i < path_count(args); i++) {
        struct stat about;
        if (strcmp(path_at(args, i), "-") == 0) return 0;
        if (stat(path_at(args, i), &about) != 0 || !S_ISREG(about.st_mode)) return 0;
        total += (uint64_t)about.st_size;
    }
    return total;
}

/* What the schema allows of the options. */
static int check_schema(const struct import *import, const struct args *args)
{
    const paua_schema *schema = import->session->schema;
    const char *name = paua_collection_name(import->session->collection);
    bool plain = false;

    for (size_t i = 0; i < path_count(args); i++)
        plain |= format_of(args, path_at(args, i)) != &format_jsonl &&
                 format_of(args, path_at(args, i)) != &format_csv;
    if (args_has(args, "keys") && schema->key_kind == PAUA_KEY_VECTOR)
        return usage("option --keys: the vectors are the keys, of collection \"%s\", drop it",
                     name);
    if (args_has(args, "first-key") && schema->key_kind != PAUA_KEY_U64)
        return usage("option --first-key: keys are not u64, of collection \"%s\", drop it", name);
    if (plain && schema->key_kind == PAUA_KEY_STRING && !args_has(args, "keys"))
        return usage("keys are strings, of collection \"%s\", give --keys FILE", name);
    if (plain && schema->field_count > 1 && !import->upsert)
        return usage("collection \"%s\" has %zu vector fields, import jsonl with \"vectors\", or "
                     "one field of existing rows by --upsert --field NAME",
                     name, schema->field_count);
    if (args_has(args, "documents") && schema->document == PAUA_DOCUMENT_NONE)
        return usage("option --documents: collection \"%s\" keeps no documents, drop it", name);
    return EXIT_OK;
}

static int open_lines(struct source *source, const struct args *args)
{
    const char *keys = args_value(args, "keys");
    const char *documents = args_value(args, "documents");
    struct fault fault;

    if (keys != NULL && !instream_open(&source->keys, keys, &fault)) return fail("%s", fault.text);
    source->has_keys = keys != NULL;
    if (documents != NULL && !instream_open(&source->documents, documents, &fault))
        return fail("%s", fault.text);
    source->has_documents = documents != NULL;
    return EXIT_OK;
}

static void print_summary(const struct import *import, double seconds)
{
    char rows[HUMAN_NBYTES];
    double rate = (double)(import->imported + import->already) / (seconds > 1e-9 ? seconds : 1e-9);

    if (import->cli->json) {
        json_line(json_pack("{s:s, s:I, s:I, s:I, s:o, s:f, s:f}", "collection",
                            paua_collection_name(import->session->collection), "imported",
                            (json_int_t)import->imported, "already_there",
                            (json_int_t)import->already, "refused", (json_int_t)import->refused,
                            "fields_added", field_table_added(&import->source.fields), "seconds",
                            seconds, "rows_per_s", rate));
    } else if (!import->cli->quiet) {
        printf("%s imported, %llu already there, %llu refused, in %.2f s (%.0f rows/s)\n",
               human_rows(import->imported, rows), (unsigned long long)import->already,
               (unsigned long long)import->refused, seconds, rate);
    }
}

static int import_all(struct import *import, const struct args *args)
{
    double start = now_s();
    int rc = open_lines(&import->source, args);

    progress_begin(&import->progress, import->cli, "rows", args_has(args, "progress"));
    import->bytes_total = total_nbytes(args);
    for (size_t i = 0; i < path_count(args) && rc == EXIT_OK; i++) {
        const char *path = path_at(args, i);
        rc = import_file(import, format_of(args, path), path, i + 1 == path_count(args));
    }
    print_summary(import, now_s() - start);
    return rc == EXIT_OK && import->refused > 0 ? EXIT_FAILED : rc;
}

static int run_session(const struct cli *cli, struct session *session)
{
    const struct args *args = &cli->args;
    struct import import = {
        .cli = cli,
        .session = session,
        .source = {.schema = session->schema,
                   .upsert = args_has(args, "upsert"),
                   .fields = {.may_grow = session->schema->dynamic || args_has(args, "add-fields"),
                              .dynamic = session->schema->dynamic}},
        .upsert = args_has(args, "upsert"),
        .keep_going = args_has(args, "keep-going"),
        .limit = UINT64_MAX};
    uint64_t batch = block_default_rows(session->schema);
    int rc;

    if (!args_u64(args, "first-key", 0, UINT64_MAX, &import.source.first_key)) return EXIT_USAGE;
    if (!args_u64(args, "limit", 0, UINT64_MAX - 1, &import.limit)) return EXIT_USAGE;
    if (!args_u64(args, "batch", 1, 1000000, &batch)) return EXIT_USAGE;
    if (!session_field(session, args_value(args, "field"), &import.field)) return EXIT_FAILED;
    rc = check_schema(&import, args);
    if (rc == EXIT_OK) rc = field_table_load(&import.source.fields, session->collection);
    if (rc != EXIT_OK) return rc;

    interrupt_watch();
    block_begin(&import.block, session->schema, batch);
    import.statuses = cmd_alloc(batch, sizeof *import.statuses);
    rc = import_all(&import, args);
    instream_close(&import.source.keys);
    instream_close(&import.source.documents);
    block_free(&import.block);
    field_table_free(&import.source.fields);
    free(import.statuses);
    return rc;
}

static int run(struct cli *cli)
{
    struct session session;
    int rc;

    for (size_t i = 0; i < path_count(&cli->args); i++) {
        if (format_of(&cli->args, path_at(&cli->args, i)) == NULL) return EXIT_USAGE;
    }
    rc = session_open(cli, OPEN_WRITE, cli->args.operands[0], &session);
    if (rc != EXIT_OK) return rc;
    rc = run_session(cli, &session);
    session_close(&session);
    return rc;
}

const struct command cmd_import = {
    .name = "import",
    .operands = "COLLECTION [FILE...|-]",
    .summary = "add rows from fvecs, bvecs, npy, JSON lines or CSV",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = OPERANDS_ANY,
    .run = run,
};
