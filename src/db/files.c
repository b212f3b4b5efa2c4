/* files.c - see files.h. */
#include "db/files.h"

#include "store/file_writer.h"

struct file_header files_vector_header(const struct schema *schema, uint32_t field, uint64_t number)
{
    const struct schema_field *f = &schema->fields[field];

    return (struct file_header){
        .kind = f->originals == PAUA_ORIGINALS_FP16 ? FILE_VECTORS_F16 : FILE_VECTORS_F32,
        .number = number,
        .collection = schema->collection,
        .field = field,
        .row_nbytes = (uint32_t)schema_row_nbytes(f),
        .dim = f->dim,
    };
}

struct file_header files_heap_header(const struct schema *schema, uint64_t number)
{
    return (struct file_header){
        .kind = FILE_HEAP, .number = number, .collection = schema->collection};
}

struct file_header files_keys_header(const struct schema *schema, uint64_t number)
{
    return (struct file_header){
        .kind = FILE_KEYS, .number = number, .collection = schema->collection};
}

struct file_header files_artifact_header(const struct schema *schema,
                                         const struct artifact *artifact)
{
    return (struct file_header){
        .kind = artifact_file_kind(artifact),
        .number = artifact->file.number,
        .collection = schema->collection,
        .field = artifact->field,
        .dim = artifact->values ? 0 : schema->fields[artifact->field].dim,
    };
}

void files_unlink(struct dir *dir, uint64_t number, enum file_kind kind)
{
    char name[FILE_NAME_NBYTES];

    if (number == 0) return;
    file_name(name, number, kind);
    dir_unlink(dir, name, NULL);
}

void files_unlink_part(struct dir *dir, const struct schema *schema, const struct part *part)
{
    for (uint32_t f = 0; f < schema->field_count; f++)
        files_unlink(dir, part->vectors[f].number,
                     files_vector_header(schema, f, part->vectors[f].number).kind);
    files_unlink(dir, part->heap.number, FILE_HEAP);
}

void files_unlink_tail(struct dir *dir, const struct schema *schema, const struct head *head)
{
    struct part tail = {.heap.number = head->tail_heap};

    for (uint32_t f = 0; f < schema->field_count; f++)
        tail.vectors[f].number = head->tail_vectors[f];
    files_unlink_part(dir, schema, &tail);
}
