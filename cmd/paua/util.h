/* util.h - what every part of the command line needs: exit statuses, errors, memory, time.
 *
 * Memory that cannot be had ends the program: nothing here holds state that an exit could harm,
 * since the library keeps the database consistent at any point. */
#ifndef PAUA_CMD_UTIL_H
#define PAUA_CMD_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <paua/paua.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Prints "paua: TEXT" as one line on stderr, control characters escaped. Returns EXIT_FAILED. */
int fail(const char *format, ...) PRINTF_LIKE(1, 2);

/* The same for a wrong command line. Returns EXIT_USAGE. */
int usage(const char *format, ...) PRINTF_LIKE(1, 2);

/* The same for an error of the library. Returns EXIT_FAILED. */
int fail_with(const paua_error *err);

/* A note to the person, not an error; silent with -q. */
void note(bool quiet, const char *format, ...) PRINTF_LIKE(2, 3);

/* Memory for count items of nbytes each; never NULL. grow keeps what is there. */
void *cmd_alloc(size_t count, size_t nbytes);
void *cmd_grow(void *old, size_t count, size_t nbytes);
char *cmd_strdup(const char *text);
char *cmd_format(const char *format, ...) PRINTF_LIKE(1, 2);

/* Seconds of a clock that never goes back. */
double now_s(void);

/* Text of a byte count, e.g. "12.3 MiB". Returns out. */
#define HUMAN_NBYTES 32
const char *human_bytes(uint64_t nbytes, char out[HUMAN_NBYTES]);

/* "1 row", "2 rows". Returns out. */
const char *human_rows(uint64_t count, char out[HUMAN_NBYTES]);

/* Rounded to six digits: more than any clock or disk is good for, and what a float holds. */
double six_digits(double value);

/* A whole decimal number without sign, spaces or rest; false if it is not one or overflows. */
bool parse_u64(const char *text, size_t nbytes, uint64_t *value);

/* Set by SIGINT or SIGTERM after interrupt_watch(); a second signal kills as usual.
 * interrupt_cancel is what long calls of the library are given. */
void interrupt_watch(void);
bool interrupted(void);
extern paua_cancel interrupt_cancel;

#endif
