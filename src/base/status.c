/* status.c - the parts of the public API that need no handle. */
#include <paua/paua.h>

const char *paua_strstatus(int status)
{
    switch (status) {
    case PAUA_OK:
        return "ok";
#define PAUA_X(name, number, text)                                                                 \
    case number:                                                                                   \
        return text;
        PAUA_STATUS_LIST(PAUA_X)
#undef PAUA_X
    default:
        return "unknown status";
    }
}

const char *paua_version(void) { return PAUA_VERSION; }

/* A plain store to the public int32_t: atomic, lock-free, and allowed in a signal handler. */
void paua_cancel_request(paua_cancel *cancel)
{
    __atomic_store_n(&cancel->requested, 1, __ATOMIC_RELEASE);
}
