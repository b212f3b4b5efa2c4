/* regex.c - compiling and matching regular expressions with PCRE2.
 *
 * Terminals show what others send, and patterns come from people in a hurry: neither may make a
 * search hang. PCRE2 counts steps and gives up at MATCH_STEPS for each place where a match may
 * begin, some milliseconds; the interpreter (used where the system forbids just-in-time code) also
 * has bounds on depth and memory. Text is known to be valid UTF-8 and is not checked again.
 *
 * Everything but machine code comes from the caller's allocator, which wants sizes back: each block
 * has its size in front. */
#include "history/regex.h"

#include "base/error.h"

#ifdef PAUA_WITH_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MATCH_STEPS 100000u
#define MATCH_DEPTH 10000u
#define MATCH_HEAP_KIB 4096u
#define STACK_NBYTES_MIN ((size_t)32 * 1024)
#define STACK_NBYTES_MAX ((size_t)512 * 1024)

struct regex {
    struct heap *heap;
    pcre2_general_context *memory;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack; /* NULL: no machine code */
};

union sized {
    size_t nbytes;
    max_align_t align;
};

static void *take(size_t nbytes, void *heap)
{
    union sized *block = heap_alloc(heap, sizeof *block + nbytes);

    if (block == NULL) return NULL;
    block->nbytes = sizeof *block + nbytes;
    return block + 1;
}

static void give(void *block, void *heap)
{
    union sized *sized = block;

    if (block != NULL) heap_free(heap, sized - 1, sized[-1].nbytes);
}

void regex_free(struct regex *r)
{
    if (r == NULL) return;
    pcre2_jit_stack_free(r->stack);
    pcre2_match_context_free(r->limits);
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    pcre2_general_context_free(r->memory);
    heap_free(r->heap, r, sizeof *r);
}

/* Machine code, where the system lets us make some. */
static void speed_up(struct regex *r)
{
    if (pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) != 0) return;
    r->stack = pcre2_jit_stack_create(STACK_NBYTES_MIN, STACK_NBYTES_MAX, r->memory);
    if (r->stack != NULL) pcre2_jit_stack_assign(r->limits, NULL, r->stack);
}

static paua_status compile(struct regex *r, const char *pattern, size_t nbytes,
                           const struct regex_opts *opts, paua_error *err)
{
    pcre2_compile_context *context = pcre2_compile_context_create(r->memory);
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C;
    int code;
    PCRE2_SIZE at;

    if (context == NULL) return error_set_nomem(err);
    if (opts->ignore_case) options |= PCRE2_CASELESS;
    if (opts->whole_word) pcre2_set_compile_extra_options(context, PCRE2_EXTRA_MATCH_WORD);
    r->code = pcre2_compile((PCRE2_SPTR)pattern, nbytes, options, &code, &at, context);
    pcre2_compile_context_free(context);
    if (r->code == NULL) {
        PCRE2_UCHAR message[160];

        if (code == PCRE2_ERROR_HEAP_FAILED) return error_set_nomem(err);
        pcre2_get_error_message(code, message, sizeof message);
        return error_set(err, PAUA_EINVAL, "the pattern is wrong at byte %zu: %s", (size_t)at,
                         (const char *)message);
    }
    r->match = pcre2_match_data_create(1, r->memory);
    r->limits = pcre2_match_context_create(r->memory);
    if (r->match == NULL || r->limits == NULL) return error_set_nomem(err);
    pcre2_set_match_limit(r->limits, MATCH_STEPS);
    pcre2_set_depth_limit(r->limits, MATCH_DEPTH);
    pcre2_set_heap_limit(r->limits, MATCH_HEAP_KIB);
    speed_up(r);
    return PAUA_OK;
}

paua_status regex_make(struct heap *heap, const char *pattern, size_t nbytes,
                       const struct regex_opts *opts, struct regex **regex, paua_error *err)
{
    struct regex *r = heap_alloc(heap, sizeof *r);
    paua_status status;

    if (r == NULL) return error_set_nomem(err);
    *r = (struct regex){.heap = heap, .memory = pcre2_general_context_create(take, give, heap)};
    status = r->memory == NULL ? error_set_nomem(err) : compile(r, pattern, nbytes, opts, err);
    if (status != PAUA_OK) {
        regex_free(r);
        return status;
    }
    *regex = r;
    return PAUA_OK;
}

paua_status regex_find(struct regex *r, const char *line, size_t nbytes, size_t from, bool *found,
                       size_t *begin, size_t *end)
{
    while (from < nbytes) {
        int count = pcre2_match(r->code, (PCRE2_SPTR)line, nbytes, from,
                                PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, r->match, r->limits);
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(r->match);

        if (count == PCRE2_ERROR_NOMATCH) break;
        if (count == PCRE2_ERROR_NOMEMORY) return PAUA_ENOMEM;
        if (count < 0) return PAUA_ETIMEOUT;
        if (ends[0] >= from && ends[0] < ends[1]) {
            *begin = ends[0];
            *end = ends[1];
            *found = true;
            return PAUA_OK;
        }
        from = ends[1] > from ? ends[1] : nbytes; /* \K has moved the beginning to the end */
    }
    *found = false;
    return PAUA_OK;
}

#else

paua_status regex_make(struct heap *heap, const char *pattern, size_t nbytes,
                       const struct regex_opts *opts, struct regex **regex, paua_error *err)
{
    (void)heap, (void)pattern, (void)nbytes, (void)opts, (void)regex;
    return error_set(err, PAUA_ENOTSUP, "this library was built without regular expressions");
}

void regex_free(struct regex *regex) { (void)regex; }

paua_status regex_find(struct regex *regex, const char *line, size_t nbytes, size_t from,
                       bool *found, size_t *begin, size_t *end)
{
    (void)regex, (void)line, (void)nbytes, (void)from, (void)begin, (void)end;
    *found = false;
    return PAUA_ENOTSUP;
}

#endif
