/* cmd_index.c - paua index: creating, dropping and listing the indexes of a collection. */
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "field.h"
#include "index_print.h"
#include "progress.h"
#include "table.h"

static const struct option_spec options[] = {
    {"field", 0, "NAME", "create: the field; default the first vector field"},
    {"kind", 0, "vamana|flat|bitmap|sorted",
     "create: of vectors a graph (default), or comparing every code; of another field the rows of "
     "each value, or all rows by value (default)"},
    INDEX_NUMBER_OPTIONS,
    {"threads", 0, "N", "create: at most N threads build; default all cores"},
    {"progress", 0, NULL, "create: show progress without a terminal too"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "create  gives a field one more index and builds it; searches and writes go on meanwhile.\n"
    "        After Ctrl-C the index is defined, and \"paua optimize\" goes on with it. The "
    "indexes\n"
    "        of a vector field share its codes; \"paua search --index NAME\" uses one. An index "
    "of\n"
    "        another field (bitmap: up to some thousand values; sorted: many values, and ranges)\n"
    "        is used by filters where it saves time, which takes some hundred thousand rows, and\n"
    "        never changes what they find.\n"
    "drop    removes an index and its files; codes go with the last index of a vector field.\n"
    "ls      lists them: rows covered, rows due (covered once optimized), and bytes of the codes\n"
    "        that walks and refinement read, of factors, of graphs and of ordered values, and\n"
    "        all of these for each row covered.";

static const char examples[] = "  paua index create docs dense --degree 96 --list 200 --threads 8\n"
                               "  paua index create pages scan --field body --kind flat\n"
                               "  paua index create docs by_year --field year --kind sorted\n"
                               "  paua index ls docs --json | jq .graph_bytes\n"
                               "  paua index drop docs dense";

/* ---- create */

/* Finds one index by name in a listing. */
struct wanted {
    const char *name;
    json_t *json;
    uint64_t rows;
    uint64_t nbytes;
};

static void take_wanted(void *arg, const paua_index *index)
{
    struct wanted *wanted = arg;

    if (strcmp(index->name, wanted->name) != 0) return;
    wanted->json = index_json(index);
    wanted->rows = index->rows;
    wanted->nbytes = index_nbytes(index);
}

static int print_created(const struct session *session, const struct cli *cli, double seconds)
{
    struct wanted wanted = {.name = cli->args.operands[2]};
    char size[HUMAN_NBYTES];
    paua_error err;

    if (paua_index_list(session->collection, take_wanted, &wanted, &err) != PAUA_OK)
        return fail_with(&err);
    if (wanted.json != NULL && cli->json) {
        json_object_set_new(wanted.json, "seconds", json_real(six_digits(seconds)));
        json_line(json_incref(wanted.json));
    } else if (wanted.json != NULL && !cli->quiet) {
        printf("%s: %llu rows, %s, %.2f s\n", wanted.name, (unsigned long long)wanted.rows,
               human_bytes(wanted.nbytes, size), seconds);
    }
    json_decref(wanted.json);
    return EXIT_OK;
}

static int create_index(const struct session *session, const struct cli *cli,
                        const paua_index_params *params, uint32_t threads)
{
    struct progress progress;
    paua_optimize_opts opts = {.size = sizeof opts,
                               .threads = threads,
                               .progress = progress_callback,
                               .progress_arg = &progress,
                               .cancel = &interrupt_cancel};
    paua_error err;
    double start = now_s();
    int rc = EXIT_OK;

    interrupt_watch();
    progress_begin(&progress, cli, "rows", args_has(&cli->args, "progress"));
    if (paua_index_create(session->collection, args_value(&cli->args, "field"),
                          cli->args.operands[2], params, &opts, &err) != PAUA_OK)
        rc = fail_with(&err);
    progress_end(&progress);
    return rc == EXIT_OK ? print_created(session, cli, now_s() - start) : rc;
}

static int run_create(struct cli *cli)
{
    const struct args *args = &cli->args;
    paua_vector_field field = {.index = {.kind = PAUA_INDEX_DEFAULT}};
    static const char *const names[] = {"vamana", "flat", "bitmap", "sorted", NULL};
    static const paua_index_kind kinds[] = {PAUA_INDEX_VAMANA, PAUA_INDEX_FLAT, PAUA_INDEX_BITMAP,
                                            PAUA_INDEX_SORTED};
    struct session session;
    uint32_t kind = 0, threads = 0;
    int rc;

    if (!args_choice(args, "kind", names, &kind) || !index_take_numbers(args, &field.index) ||
        !args_u32(args, "threads", 1, 1024, &threads))
        return EXIT_USAGE;
    if (args_has(args, "kind")) field.index.kind = kinds[kind];
    if (!field_settle_numbers(args, &field, 1)) return EXIT_USAGE;
    rc = session_open(cli, OPEN_WRITE, args->operands[1], &session);
    if (rc != EXIT_OK) return rc;
    rc = create_index(&session, cli, &field.index, threads);
    session_close(&session);
    return rc;
}

/* ---- drop */

static int run_drop(struct cli *cli)
{
    const char *name = cli->args.operands[2];
    struct session session;
    paua_error err;
    int rc = session_open(cli, OPEN_WRITE, cli->args.operands[1], &session);

    if (rc != EXIT_OK) return rc;
    if (paua_index_drop(session.collection, name, &err) != PAUA_OK)
        rc = fail_with(&err);
    else if (cli->json)
        json_line(json_pack("{s:o, s:b}", "index", json_word(name), "dropped", 1));
    session_close(&session);
    return rc;
}

/* ---- ls */

static void print_line(void *arg, const paua_index *index)
{
    (void)arg;
    json_line(index_json(index));
}

static void add_bytes(struct table *table, uint64_t nbytes)
{
    char size[HUMAN_NBYTES];

    table_cell_format(table, "%s", human_bytes(nbytes, size));
}

static void add_row(void *arg, const paua_index *index)
{
    struct table *table = arg;
    const char *kind = index_kind_names[index->params.kind];
    char numbers[INDEX_NUMBERS_NBYTES];

    table_cell(table, index->name, strlen(index->name));
    table_cell(table, index->field, strlen(index->field));
    table_cell(table, kind, strlen(kind));
    table_cell_format(table, "%llu", (unsigned long long)index->rows);
    table_cell_format(table, "%llu", (unsigned long long)index->rows_due);
    add_bytes(table, index->walk_nbytes);
    add_bytes(table, index->refine_nbytes);
    add_bytes(table, index->factor_nbytes);
    add_bytes(table, index->graph_nbytes);
    add_bytes(table, index->values_nbytes);
    table_cell_format(table, "%.1f", index_row_nbytes(index));
    table_cell_format(table, "%s", index_numbers(&index->params, numbers));
}

static int run_ls(struct cli *cli)
{
    static const char *const heads[] = {"index",  "field",   "kind",       ">rows",
                                        ">due",   ">walk",   ">refine",    ">factors",
                                        ">graph", ">values", ">bytes/row", "numbers"};
    struct table table = table_begin(heads, COUNT_OF(heads));
    struct session session;
    paua_error err;
    int rc = session_open(cli, OPEN_READ, cli->args.operands[1], &session);

    if (rc != EXIT_OK) return rc;
    if (paua_index_list(session.collection, cli->json ? print_line : add_row, &table, &err) !=
        PAUA_OK)
        rc = fail_with(&err);
    if (table.cell_count > 0) table_end(&table);
    session_close(&session);
    return rc;
}

/* ---- which of them */

/* Only create takes options of its own. */
static bool options_suit(const struct args *args, const char *action)
{
    for (const struct option_spec *spec = options; spec->name != NULL; spec++) {
        if (!args_has(args, spec->name)) continue;
        usage("option --%s: \"index %s\" does not take it, drop it", spec->name, action);
        return false;
    }
    return true;
}

static int run(struct cli *cli)
{
    const struct args *args = &cli->args;
    static const struct {
        const char *name;
        const char *operands;
        size_t operand_count; /* the name included */
        bool takes_options;
        int (*run)(struct cli *cli);
    } actions[] = {
        {"create", "COLLECTION INDEX", 3, true, run_create},
        {"drop", "COLLECTION INDEX", 3, false, run_drop},
        {"ls", "COLLECTION", 2, false, run_ls},
    };

    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (strcmp(actions[i].name, args->operands[0]) != 0) continue;
        if (args->operand_count != actions[i].operand_count)
            return usage("index %s: too %s arguments, usage: paua index %s %s", actions[i].name,
                         args->operand_count < actions[i].operand_count ? "few" : "many",
                         actions[i].name, actions[i].operands);
        if (!actions[i].takes_options && !options_suit(args, actions[i].name)) return EXIT_USAGE;
        return actions[i].run(cli);
    }
    return usage("index: unknown action \"%s\", use create, drop or ls", args->operands[0]);
}

const struct command cmd_index = {
    .name = "index",
    .operands = "create|drop|ls COLLECTION [INDEX]",
    .summary = "create, drop and list the indexes of a collection",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 3,
    .run = run,
};
