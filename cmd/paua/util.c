/* util.c - exit statuses, errors, memory, time and signals of the command line. */
#include "util.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"

paua_cancel interrupt_cancel;
static volatile sig_atomic_t interrupt_seen;

#define MESSAGE_NBYTES 2048

static void print_line(const char *prefix, const char *format, va_list list)
{
    char message[MESSAGE_NBYTES];
    int length = vsnprintf(message, sizeof message, format, list);
    size_t used = length < 0 ? 0 : (size_t)length;

    if (used >= sizeof message) used = sizeof message - 1;
    fflush(stdout);
    flockfile(stderr);
    fputs(prefix, stderr);
    text_print(stderr, message, used, TEXT_NO_LIMIT);
    fputc('\n', stderr);
    funlockfile(stderr);
}

int fail(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    print_line("paua: ", format, list);
    va_end(list);
    return EXIT_FAILED;
}

int usage(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    print_line("paua: ", format, list);
    va_end(list);
    return EXIT_USAGE;
}

int fail_with(const paua_error *err)
{
    if (err->message[0] != 0) return fail("%s", err->message);
    return fail("%s", paua_strstatus(err->status));
}

void note(bool quiet, const char *format, ...)
{
    va_list list;

    if (quiet) return;
    va_start(list, format);
    print_line("paua: ", format, list);
    va_end(list);
}

static void *checked(void *memory)
{
    if (memory == NULL) exit(fail("out of memory, in this process, use smaller batches"));
    return memory;
}

void *cmd_alloc(size_t count, size_t nbytes)
{
    return checked(calloc(count == 0 ? 1 : count, nbytes == 0 ? 1 : nbytes));
}

void *cmd_grow(void *old, size_t count, size_t nbytes)
{
    return checked(reallocarray(old, count == 0 ? 1 : count, nbytes));
}

char *cmd_strdup(const char *text) { return checked(strdup(text)); }

char *cmd_format(const char *format, ...)
{
    char *text = NULL;
    va_list list;
    int length;

    va_start(list, format);
    length = vasprintf(&text, format, list);
    va_end(list);
    return checked(length < 0 ? NULL : text);
}

double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *human_bytes(uint64_t nbytes, char out[HUMAN_NBYTES])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)nbytes;
    size_t unit = 0;

    if (nbytes < 1024) {
        snprintf(out, HUMAN_NBYTES, "%u B", (unsigned)nbytes);
        return out;
    }
    for (value /= 1024; value >= 1023.95 && unit + 1 < COUNT_OF(units); unit++)
        value /= 1024;
    snprintf(out, HUMAN_NBYTES, "%.1f %s", value, units[unit]);
    return out;
}

const char *human_rows(uint64_t count, char out[HUMAN_NBYTES])
{
    snprintf(out, HUMAN_NBYTES, "%llu row%s", (unsigned long long)count, count == 1 ? "" : "s");
    return out;
}

double six_digits(double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

bool parse_u64(const char *text, size_t nbytes, uint64_t *value)
{
    uint64_t sum = 0;

    if (nbytes == 0) return false;
    for (size_t i = 0; i < nbytes; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9) return false;
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupt_seen = 1;
    paua_cancel_request(&interrupt_cancel);
}

void interrupt_watch(void)
{
    /* SA_RESETHAND: the second signal ends the program, whatever it is doing. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupted(void) { return interrupt_seen != 0; }
