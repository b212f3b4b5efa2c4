/* paua_types.h - what every part of the public API shares: statuses, errors, byte strings, typed
 * values. Included by <paua/paua.h>, which says how statuses and errors are used. */
#ifndef PAUA_PAUA_TYPES_H
#define PAUA_PAUA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAUA_API __attribute__((visibility("default")))

#define PAUA_VERSION "0.1.0"

/* One list makes the enum, the names and the messages. Numbers are ABI: append, never reuse. */
#define PAUA_STATUS_LIST(X)                                                                        \
    X(PAUA_EINVAL, -1, "argument out of range")                                                    \
    X(PAUA_ENOMEM, -2, "out of memory")                                                            \
    X(PAUA_EIO, -3, "the file system refused an operation")                                        \
    X(PAUA_ECORRUPT, -4, "stored bytes break the format")                                          \
    X(PAUA_EVERSION, -5, "written by a newer version of paua")                                     \
    X(PAUA_EBUSY, -6, "another writer holds it")                                                   \
    X(PAUA_ENOTFOUND, -7, "not found")                                                             \
    X(PAUA_EEXISTS, -8, "already exists")                                                          \
    X(PAUA_EREADONLY, -9, "opened read-only, or on a read-only medium")                            \
    X(PAUA_ENOSPACE, -10, "no space left on the device")                                           \
    X(PAUA_ECANCELED, -11, "canceled by the caller")                                               \
    X(PAUA_ETIMEOUT, -12, "the time limit passed")                                                 \
    X(PAUA_EFORKED, -13, "a handle was used in a forked child")                                    \
    X(PAUA_ENOTSUP, -14, "not supported here")                                                     \
    X(PAUA_EPOISONED, -15, "an earlier sync failed; close and reopen")                             \
    X(PAUA_EPARTIAL, -16, "some rows were refused; see their own statuses")

typedef enum paua_status {
    PAUA_OK = 0,
#define PAUA_X(name, number, text) name = number,
    PAUA_STATUS_LIST(PAUA_X)
#undef PAUA_X
} paua_status;

/* Text for a status; never NULL, never freed. Unknown numbers give "unknown status". */
PAUA_API const char *paua_strstatus(int status);

/* Version of the library that runs, e.g. "0.1.0"; static. */
PAUA_API const char *paua_version(void);

/* Instruction tier of the kernels that run: "avx512", "avx2", "neon" or "portable"; static. */
PAUA_API const char *paua_tier(void);

#define PAUA_NO_ROW UINT64_MAX

/* What went wrong, in one line for a person: what, where, what to do. Written only on failure. */
typedef struct paua_error {
    paua_status status;
    uint64_t row;      /* index in the caller's batch of the row at fault, or PAUA_NO_ROW */
    char message[488]; /* NUL-terminated UTF-8, cut at a character's end if too long */
} paua_error;

/* Bytes with their length. data == NULL means "absent"; an empty value has data and nbytes 0. */
typedef struct paua_bytes {
    const void *data;
    size_t nbytes;
} paua_bytes;

/* Asks a running call to stop. Zero-initialize; one may serve many calls. */
typedef struct paua_cancel {
    int32_t requested;
} paua_cancel;

/* Makes every call that was given this cancel return PAUA_ECANCELED soon. Any thread, any signal
 * handler. */
PAUA_API void paua_cancel_request(paua_cancel *cancel);

/* Called now and then, from the calling thread, by long work. what: static text, e.g. "merging". */
typedef void (*paua_progress_fn)(void *arg, const char *what, uint64_t done, uint64_t total);

/* ---------------------------------------------------------------------------------------------
 * Values of fields */

typedef enum paua_type {
    PAUA_TYPE_NONE = 0, /* not given: an update keeps what is stored, an insert stores NULL */
    PAUA_TYPE_NULL,
    PAUA_TYPE_BOOL,
    PAUA_TYPE_INT8,
    PAUA_TYPE_INT16,
    PAUA_TYPE_INT32,
    PAUA_TYPE_INT64,
    PAUA_TYPE_UINT8,
    PAUA_TYPE_UINT16,
    PAUA_TYPE_UINT32,
    PAUA_TYPE_UINT64,
    PAUA_TYPE_FLOAT,
    PAUA_TYPE_DOUBLE,
    PAUA_TYPE_TIMESTAMP, /* nanoseconds since 1970-01-01T00:00:00Z, in i64 */
    PAUA_TYPE_STRING,    /* UTF-8, checked; may hold NUL */
    PAUA_TYPE_BYTES,
    PAUA_TYPE_MIXED,     /* a field's: strings and bytes side by side; a value is one of them */
    PAUA_TYPE_ARRAY = 64 /* PAUA_TYPE_ARRAY | type of the elements, any from BOOL to BYTES */
} paua_type;

/* One value. Input: borrowed for the call. Output: strings, bytes and arrays are borrowed from the
 * cursor or hits that gave it. */
typedef struct paua_value {
    uint16_t type;   /* paua_type, or PAUA_TYPE_ARRAY | type of the elements */
    uint16_t stored; /* output arrays: bytes holds them as they are stored; input: 0 */
    uint32_t count;  /* arrays: elements */
    union {
        bool boolean;
        int64_t i64;  /* every INT and TIMESTAMP */
        uint64_t u64; /* every UINT */
        double f64;   /* FLOAT and DOUBLE */
        paua_bytes bytes;
        const struct paua_value *items; /* arrays given: count elements of the same type */
    } as;
} paua_value;

#define PAUA_FIELDS_MAX 1024u
#define PAUA_VALUE_NBYTES_MAX (64u << 20)

/* The i-th element of an array, given or stored; i < array->count. */
PAUA_API paua_value paua_value_item(const paua_value *array, uint32_t i);

/* "int64", "array of string" ...; static; "unknown type" if there is none. */
PAUA_API const char *paua_type_name(uint32_t type);

/* The reverse, also of SQL's usual names; 0 if unknown. */
PAUA_API uint32_t paua_type_parse(const char *name);

/* RFC 3339 text of a timestamp ("2026-11-30T21:40:00.5Z", 36 bytes at most with its NUL), and the
 * reverse: PAUA_EINVAL. Without an offset UTC is meant; a date alone is its midnight. */
PAUA_API void paua_timestamp_format(int64_t timestamp, char text[36]);
PAUA_API paua_status paua_timestamp_parse(const char *text, size_t nbytes, int64_t *timestamp,
                                          paua_error *err);

/* A field of a collection's rows. Every field may be NULL. */
typedef struct paua_field {
    const char *name; /* 1 to 255 bytes of UTF-8 without control characters; unique */
    uint32_t type;
} paua_field;

#ifdef __cplusplus
}
#endif
#endif
