/* cmd_create.c - paua create. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

static const struct option_spec options[] = {
    {"dim", 0, "N", "components of the vectors, 1 to 65535"},
    {"metric", 0, "cosine|l2|ip", "distance of searches; default cosine"},
    {"precision", 0, "fp32|fp16", "how components are stored; default fp32"},
    {"field", 0, "NAME:DIM[:METRIC[:PRECISION]]", "a named vector field; repeat for several"},
    {"key", 0, "u64|string|vector", "kind of the keys; default u64"},
    {"document", 0, "text|bytes|none", "what documents hold; default text"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Creates a collection, and the database if its directory is missing. A collection holds rows "
    "of\n"
    "one key, one vector for each field, and perhaps a document. Give --dim for a single field, "
    "or\n"
    "--field for each of several; searches use the first unless told otherwise. --metric and\n"
    "--precision are the defaults of --field. With --key vector the vector itself is the key.";

static const char examples[] =
    "  paua create docs --dim 768 --precision fp16\n"
    "  paua create pages --key string --field title:384 --field body:768:ip:fp16\n"
    "  paua -d /data/my.paua create images --dim 512 --metric l2 --document none";

struct definition {
    paua_vector_field fields[PAUA_VECTOR_FIELDS_MAX];
    char *specs[PAUA_VECTOR_FIELDS_MAX]; /* own the names */
    size_t count;
};

static bool parse_word(const char *word, const char *const *words, uint32_t *choice)
{
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], word) != 0) continue;
        *choice = i;
        return true;
    }
    return false;
}

/* NAME:DIM[:METRIC[:PRECISION]], taken from the right, so that a name may hold colons. */
static bool parse_field(char *spec, paua_vector_field *field)
{
    char *colon = strrchr(spec, ':');
    uint32_t metric = field->metric, precision = field->precision;
    uint64_t dim = 0;

    if (colon != NULL && parse_word(colon + 1, precision_names, &precision)) {
        *colon = 0;
        colon = strrchr(spec, ':');
        if (colon == NULL || !parse_word(colon + 1, metric_names + 1, &metric)) return false;
        metric++;
        *colon = 0;
        colon = strrchr(spec, ':');
    } else if (colon != NULL && parse_word(colon + 1, metric_names + 1, &metric)) {
        metric++;
        *colon = 0;
        colon = strrchr(spec, ':');
    }
    if (colon == NULL || !parse_u64(colon + 1, strlen(colon + 1), &dim)) return false;
    if (dim < 1 || dim > PAUA_DIM_MAX) return false;
    *colon = 0;
    field->name = spec;
    field->dim = (uint32_t)dim;
    field->metric = (paua_metric)metric;
    field->precision = (paua_precision)precision;
    return true;
}

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
        if (!parse_field(definition->specs[i], &definition->fields[i]))
            return usage("option --field: \"%s\" is not NAME:DIM[:METRIC[:PRECISION]], DIM 1 to %u",
                         given, PAUA_DIM_MAX);
    }
    return EXIT_OK;
}

static int take_definition(const struct args *args, struct definition *definition)
{
    uint32_t metric = PAUA_COSINE - 1, precision = PAUA_FP32;
    uint64_t dim = 0;
    paua_vector_field model = {.name = "vector"};

    if (!args_choice(args, "metric", metric_names + 1, &metric)) return EXIT_USAGE;
    if (!args_choice(args, "precision", precision_names, &precision)) return EXIT_USAGE;
    if (!args_u64(args, "dim", 1, PAUA_DIM_MAX, &dim)) return EXIT_USAGE;
    model.metric = (paua_metric)(metric + 1);
    model.precision = (paua_precision)precision;
    if ((dim == 0) == !args_has(args, "field"))
        return usage("give either --dim N or --field NAME:DIM, see paua help create");
    if (dim == 0) return take_fields(args, &model, definition);
    model.dim = (uint32_t)dim;
    definition->fields[0] = model;
    definition->count = 1;
    return EXIT_OK;
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
    uint32_t key = PAUA_KEY_U64, document = PAUA_DOCUMENT_TEXT;
    int rc = EXIT_USAGE;

    if (args_choice(&cli->args, "key", key_names, &key) &&
        args_choice(&cli->args, "document", document_names, &document))
        rc = take_definition(&cli->args, &definition);
    if (rc == EXIT_OK) {
        paua_schema schema = {.size = sizeof schema,
                              .key_kind = (paua_key_kind)key,
                              .document = (paua_document_kind)document,
                              .fields = definition.fields,
                              .field_count = definition.count};
        rc = create(cli, &schema);
    }
    for (size_t i = 0; i < PAUA_VECTOR_FIELDS_MAX; i++)
        free(definition.specs[i]);
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
