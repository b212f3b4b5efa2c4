/* cmd_put.c - paua put. */
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "cli.h"
#include "commands.h"
#include "keys.h"
#include "vector.h"

static const struct option_spec options[] = {
    {"vector", 0, "[FIELD=][...]", "a JSON array; repeat with FIELD= for several fields"},
    {"document", 0, "TEXT|@FILE", "the document, or the file that holds it"},
    {"set", 0, "FIELD=VALUE", "the value of a field; null removes it; repeat for several"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Writes one row. A new key needs every vector field; on an existing key what is given "
    "replaces\n"
    "what was there and the rest stays. In collections of vector keys there is no KEY.";

static const char examples[] =
    "  paua put docs 17 --set year=1999 --set lang=en\n"
    "  paua put docs 17 --vector '[0.1, 0.2, 0.3]' --document 'three numbers'\n"
    "  paua put pages a.html --vector 'title=[1, 0]' --vector 'body=[0, 1]' --document @a.html";

/* Fills one vector of the block's only row from "[FIELD=]JSON". */
static int take_vector(const struct session *session, struct row_block *block, const char *given,
                       uint32_t *fields)
{
    const char *equals = given[0] == '[' ? NULL : strchr(given, '=');
    size_t field = 0;
    struct fault fault;
    char *name;
    bool known;

    if (equals != NULL) {
        name = cmd_strdup(given);
        name[equals - given] = 0;
        known = session_field(session, name, &field);
        free(name);
        if (!known) return EXIT_FAILED;
        given = equals + 1;
    }
    if (!vector_from_text(given, strlen(given), session->schema->fields[field].dim,
                          block_slot(block, field), &fault))
        return fail("option --vector: %s", fault.text);
    *fields |= 1u << field;
    return EXIT_OK;
}

static int read_document(const char *path, uint8_t **bytes, size_t *nbytes)
{
    struct instream in = {0};
    struct fault fault;
    size_t room = 0, used = 0, got = 0;
    uint8_t *buffer = NULL;
    bool ok = instream_open(&in, path, &fault);

    while (ok && used <= PAUA_DOCUMENT_NBYTES_MAX) {
        room = 2 * used + 65536;
        buffer = cmd_grow(buffer, room, 1);
        ok = instream_read(&in, buffer + used, room - used, &got, &fault);
        used += ok ? got : 0;
        if (ok && used < room) break;
    }
    instream_close(&in);
    if (!ok) {
        free(buffer);
        return fail("option --document: %s", fault.text);
    }
    *bytes = buffer;
    *nbytes = used;
    return EXIT_OK;
}

static int take_set(struct row_block *block, struct field_table *fields, const char *given)
{
    const char *equals = strchr(given, '=');
    struct field_entry *entry;
    struct fault fault;
    paua_value *value;
    char *name;

    if (equals == NULL || equals == given)
        return usage("option --set: \"%s\" is not FIELD=VALUE", given);
    name = cmd_strdup(given);
    name[equals - given] = 0;
    entry = field_table_take(fields, name, &fault);
    free(name);
    if (entry == NULL) return fail("option --set: %s", fault.text);
    value = block_value(block, entry->name);
    if (strcmp(equals + 1, "null") == 0) {
        *value = (paua_value){.type = PAUA_TYPE_NULL};
        return EXIT_OK;
    }
    if (!value_from_text(&block->room, entry->type, equals + 1, strlen(equals + 1), value, &fault))
        return fail("option --set: field \"%s\": %s", entry->name, fault.text);
    return EXIT_OK;
}

static int write_row(const struct cli *cli, const struct session *session, struct row_block *block)
{
    paua_rows rows = block_rows(block);
    paua_status status = PAUA_OK;
    paua_error err = {.row = PAUA_NO_ROW};

    if (paua_upsert(session->collection, &rows, NULL, &status, &err) != PAUA_OK)
        return fail_with(&err);
    if (cli->json) json_line(json_pack("{s:b}", "written", 1));
    return EXIT_OK;
}

static int put(const struct cli *cli, const struct session *session, struct row_block *block,
               struct field_table *table)
{
    const struct args *args = &cli->args;
    const char *document = args_value(args, "document");
    paua_bytes bytes = {.data = document, .nbytes = document == NULL ? 0 : strlen(document)};
    uint8_t *file = NULL;
    uint32_t fields = 0;
    const char *given;
    struct fault fault;
    int rc = EXIT_OK;

    if (session->schema->key_kind != PAUA_KEY_VECTOR) {
        if (args->operand_count < 2)
            return usage("put: no key given, usage: paua put COLLECTION KEY");
        if (!key_list_add(&block->keys, args->operands[1], strlen(args->operands[1]), &fault))
            return usage("%s", fault.text);
    } else if (args->operand_count > 1) {
        return usage("put: the vector is the key, of this collection, drop \"%s\"",
                     args->operands[1]);
    }
    for (size_t i = 0; rc == EXIT_OK && (given = args_value_at(args, "vector", i)) != NULL; i++)
        rc = take_vector(session, block, given, &fields);
    for (size_t i = 0; rc == EXIT_OK && (given = args_value_at(args, "set", i)) != NULL; i++)
        rc = take_set(block, table, given);
    if (rc == EXIT_OK && document != NULL && document[0] == '@') {
        rc = read_document(document + 1, &file, &bytes.nbytes);
        bytes.data = file;
    }
    if (rc == EXIT_OK) {
        block_take(block, 0, fields, bytes);
        rc = write_row(cli, session, block);
    }
    free(file);
    return rc;
}

static int run(struct cli *cli)
{
    struct field_table table = {0};
    struct session session;
    struct row_block block;
    int rc;

    if (!args_has(&cli->args, "vector") && !args_has(&cli->args, "document") &&
        !args_has(&cli->args, "set"))
        return usage("put: nothing to write, give --vector, --document or --set");
    rc = session_open(cli, OPEN_WRITE, cli->args.operands[0], &session);
    if (rc != EXIT_OK) return rc;
    block_begin(&block, session.schema, 1);
    table.may_grow = session.schema->dynamic;
    rc = field_table_load(&table, session.collection);
    if (rc == EXIT_OK) rc = put(cli, &session, &block, &table);
    block_free(&block);
    field_table_free(&table);
    session_close(&session);
    return rc;
}

const struct command cmd_put = {
    .name = "put",
    .operands = "COLLECTION [KEY]",
    .summary = "write one row, or parts of it",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 2,
    .run = run,
};
