/* cmd_create.c - paua create. */
#include <stdlib.h>

#include "cli.h"
#include "commands.h"
#include "field.h"
#include "field_table.h"

static const struct option_spec options[] = {
    {"dim", 0, "N", "components of the vectors, 1 to 65535"},
    {"metric", 0, "cosine|l2|ip", "distance of searches; default cosine"},
    {"precision", 0, "fp32|fp16|int8|int4|int2", "how near searches come; default fp32"},
    {"originals", 0, "fp32|fp16|none", "how vectors are kept; default fp32, or fp16 for fp16"},
    {"index", 0, "vamana|flat|none", "how searches find candidates; default vamana"},
    INDEX_NUMBER_OPTIONS,
    {"field", 0, "NAME:DIM[:...]", "a named vector field; repeat for several"},
    {"column", 0, "NAME:TYPE", "a field of the rows, e.g. year:int16; repeat for several"},
    {"dynamic", 0, NULL, "fields appear with the first row that has them"},
    {"key", 0, "u64|string|vector", "kind of the keys; default u64"},
    {"document", 0, "text|bytes|none", "what documents hold; default text"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Creates a collection, and the database if its directory is missing. A collection holds rows "
    "of\n"
    "one key, one vector for each field, and perhaps a document. Give --dim for a single field, or "
    "for\n"
    "each of several\n"
    "--field " FIELD_FORM ";\n"
    "the options of one field are its defaults. Searches use the first field unless told "
    "otherwise.\n"
    "With --key vector the vector itself is the key.\n"
    "\n"
    "fp32, fp16        codes of half a byte a component find, and originals decide.\n"
    "int8, int4, int2  codes of at most 1, 1/2 or 1/4 byte a component decide.\n"
    "\n"
    "Codes and graphs are made when \"paua optimize\" or the maintenance of a writer merges more "
    "than\n"
    "1,000 rows; until then, and with --index none, rows are compared with their originals. With\n"
    "--originals none (int8, int4, int2) what is fetched later is decoded from the codes, of unit "
    "length\n"
    "under cosine.\n"
    "\n"
    "Rows may have fields besides: --column declares one of a TYPE (bool, int8 to int64, uint8 to\n"
    "uint64, float, double, string, bytes, timestamp, \"array of\" these); --dynamic lets fields "
    "appear\n"
    "with the first row that has them. \"paua field\" changes them later.";

static const char examples[] =
    "  paua create docs --dim 768 --precision int4 --column year:int16 --column lang:string\n"
    "  paua create pages --key string --field title:384 --field body:768:ip:int8:fp16:flat\n"
    "  paua -d /data/my.paua create images --dim 512 --metric l2 --degree 32 --document none";

struct definition {
    paua_vector_field fields[PAUA_VECTOR_FIELDS_MAX];
    char *specs[PAUA_VECTOR_FIELDS_MAX]; /* own the names */
    size_t count;
};

static int take_fields(const struct args *args, const paua_vector_field *model,
                       struct definition *definition)
{
    const char *given;

    for (size_t i = 0; (given = args_value_at(args, "field", i)) != NULL; i++) {
        if (i == PAUA_VECTOR_FIELDS_MAX)
            return usage("option --field: too many fields, at most %u", PAUA_VECTOR_FIELDS_MAX);
        definition->fields[i] = *model;
        definition->specs[i] = cmd_strdup(given);
        definition->count = i + 1;
        if (!field_parse(definition->specs[i], &definition->fields[i]))
            return usage("option --field: \"%s\" is not " FIELD_FORM ", DIM 1 to %u", given,
                         PAUA_DIM_MAX);
    }
    return EXIT_OK;
}

static int take_definition(const struct args *args, struct definition *definition)
{
    paua_vector_field model = {.name = "vector", .metric = PAUA_COSINE};
    int rc = EXIT_OK;

    if (!field_take_options(args, &model) || !args_u32(args, "dim", 1, PAUA_DIM_MAX, &model.dim))
        return EXIT_USAGE;
    if ((model.dim == 0) == !args_has(args, "field"))
        return usage("give either --dim N or --field NAME:DIM, see paua help create");
    if (model.dim == 0) {
        rc = take_fields(args, &model, definition);
    } else {
        definition->fields[0] = model;
        definition->count = 1;
    }
    if (rc != EXIT_OK) return rc;
    return field_settle_numbers(args, definition->fields, definition->count) ? EXIT_OK : EXIT_USAGE;
}

struct columns {
    paua_field *fields;
    char **specs; /* own the names */
    size_t count;
};

static int take_columns(const struct args *args, struct columns *columns)
{
    const char *given;

    while (args_value_at(args, "column", columns->count) != NULL)
        columns->count++;
    columns->fields = cmd_alloc(columns->count + 1, sizeof *columns->fields);
    columns->specs = cmd_alloc(columns->count + 1, sizeof *columns->specs);
    for (size_t i = 0; i < columns->count; i++)
        columns->specs[i] = NULL;
    for (size_t i = 0; (given = args_value_at(args, "column", i)) != NULL; i++) {
        columns->specs[i] = cmd_strdup(given);
        if (!field_parse_typed("column", columns->specs[i], &columns->fields[i])) return EXIT_USAGE;
    }
    return EXIT_OK;
}

static void columns_free(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->specs[i]);
    free(columns->specs);
    free(columns->fields);
}

static int create(struct cli *cli, const paua_schema *schema)
{
    const char *name = cli->args.operands[0];
    paua_collection *collection;
    paua_db *db;
    paua_error err;
    int rc = cli_open(cli, OPEN_CREATE, &db);

    if (rc != EXIT_OK) return rc;
    if (paua_collection_create(db, name, schema, &collection, &err) == PAUA_OK) {
        paua_collection_close(collection);
        if (cli->json)
            json_line(json_pack("{s:o, s:b}", "collection", json_word(name), "created", 1));
    } else {
        rc = fail_with(&err);
    }
    paua_close(db);
    return rc;
}

static int run(struct cli *cli)
{
    struct definition definition = {0};
    struct columns columns = {0};
    uint32_t key = PAUA_KEY_U64, document = PAUA_DOCUMENT_TEXT;
    int rc = EXIT_USAGE;

    if (args_choice(&cli->args, "key", key_names, &key) &&
        args_choice(&cli->args, "document", document_names, &document))
        rc = take_definition(&cli->args, &definition);
    if (rc == EXIT_OK) rc = take_columns(&cli->args, &columns);
    if (rc == EXIT_OK) {
        paua_schema schema = {.size = sizeof schema,
                              .key_kind = (paua_key_kind)key,
                              .document = (paua_document_kind)document,
                              .fields = definition.fields,
                              .field_count = definition.count,
                              .columns = columns.fields,
                              .column_count = columns.count,
                              .dynamic = args_has(&cli->args, "dynamic")};
        rc = create(cli, &schema);
    }
    for (size_t i = 0; i < PAUA_VECTOR_FIELDS_MAX; i++)
        free(definition.specs[i]);
    columns_free(&columns);
    return rc;
}

const struct command cmd_create = {
    .name = "create",
    .operands = "NAME",
    .summary = "create a collection, and the database if it is missing",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
