/* cli.c - opening databases and collections, names of enumerations, JSON lines. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"

const char *const metric_names[] = {"default", "l2", "ip", "cosine", NULL};
const char *const precision_names[] = {"fp32", "fp16", "int8", "int4", "int2", NULL};
const char *const originals_names[] = {"default", "fp32", "fp16", "none", NULL};
const char *const vector_index_names[] = {"default", "vamana", "flat", "none", NULL};
const char *const index_kind_names[] = {"default", "vamana", "flat", "none",
                                        "bitmap",  "sorted", NULL};
const char *const key_names[] = {"u64", "string", "vector", NULL};
const char *const document_names[] = {"text", "bytes", "none", NULL};

const char cli_default_dir[] = "./paua.db";

bool cli_personal_dir(struct cli *cli)
{
    static char path[4096];
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length;

    if (cli->dir != cli_default_dir) return true;
    if (data != NULL && data[0] == '/')
        length = snprintf(path, sizeof path, "%s/paua", data);
    else
        length = snprintf(path, sizeof path, "%s/.local/share/paua", home != NULL ? home : "");
    if (length >= (int)sizeof path) {
        fail("the path of the home directory is too long, give -d DIR");
        return false;
    }
    umask(077);
    for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            fail("%s: cannot be made, %s, give -d DIR", path, strerror(errno));
            return false;
        }
        *at = '/';
    }
    cli->dir = path;
    return true;
}

int cli_open(const struct cli *cli, enum open_for purpose, paua_db **db)
{
    paua_open_opts opts = cli->open;
    paua_error err;

    opts.create = purpose == OPEN_CREATE;
    opts.read_only = purpose == OPEN_READ;
    if (paua_open(cli->dir, &opts, db, &err) == PAUA_OK) return EXIT_OK;
    return fail_with(&err);
}

int session_open(const struct cli *cli, enum open_for purpose, const char *collection,
                 struct session *session)
{
    struct session draft = {0};
    paua_error err;
    int rc = cli_open(cli, purpose, &draft.db);

    if (rc != EXIT_OK) return rc;
    if (paua_collection_open(draft.db, collection, &draft.collection, &err) != PAUA_OK) {
        paua_close(draft.db);
        return fail_with(&err);
    }
    draft.schema = paua_collection_schema(draft.collection);
    *session = draft;
    return EXIT_OK;
}

void session_close(struct session *session)
{
    paua_collection_close(session->collection);
    paua_close(session->db);
    *session = (struct session){0};
}

bool session_field(const struct session *session, const char *name, size_t *field)
{
    const paua_schema *schema = session->schema;

    if (name == NULL) {
        *field = 0;
        return true;
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        if (strcmp(schema->fields[i].name, name) != 0) continue;
        *field = i;
        return true;
    }
    fail("no vector field \"%s\", in collection \"%s\", see paua info %s", name,
         paua_collection_name(session->collection), paua_collection_name(session->collection));
    return false;
}

json_t *json_made(json_t *object)
{
    if (object == NULL) exit(fail("out of memory, making JSON, use smaller batches"));
    return object;
}

void json_line(json_t *object)
{
    json_dumpf(json_made(object), stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    putchar('\n');
    json_decref(object);
}

json_t *json_u64(uint64_t value)
{
    char digits[24];

    if (value <= INT64_MAX) return json_made(json_integer((json_int_t)value));
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return json_made(json_string(digits));
}

json_t *json_text(const void *bytes, size_t nbytes)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const uint8_t *text = bytes;
    json_t *string = json_stringn(bytes, nbytes);
    char *mended;
    size_t length = 0;
    uint32_t point;

    if (string != NULL) return string;
    mended = cmd_alloc(nbytes, 3);
    for (size_t at = 0; at < nbytes;) {
        size_t step = text_decode(text + at, nbytes - at, &point);
        memcpy(mended + length, step == 0 ? (const void *)replacement : text + at,
               step == 0 ? 3 : step);
        length += step == 0 ? 3 : step;
        at += step == 0 ? 1 : step;
    }
    string = json_made(json_stringn(mended, length));
    free(mended);
    return string;
}

json_t *json_word(const char *text) { return json_text(text, strlen(text)); }

uint64_t stats_disk_nbytes(const paua_stats *stats)
{
    return stats->vector_nbytes + stats->document_nbytes + stats->key_nbytes + stats->code_nbytes +
           stats->graph_nbytes;
}

static void add_name(void *arg, const char *name)
{
    struct name_list *list = arg;

    list->names = cmd_grow(list->names, list->count + 1, sizeof *list->names);
    list->names[list->count++] = cmd_strdup(name);
}

int name_list_read(paua_db *db, struct name_list *list)
{
    paua_error err;

    *list = (struct name_list){0};
    if (paua_collection_list(db, add_name, list, &err) == PAUA_OK) return EXIT_OK;
    name_list_free(list);
    return fail_with(&err);
}

void name_list_free(struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct name_list){0};
}
