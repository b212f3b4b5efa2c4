/* data_file_private.h - the handle, shared by opening (data_file.c) and reading (data_file_read.c).
 * */
#ifndef PAUA_STORE_DATA_FILE_PRIVATE_H
#define PAUA_STORE_DATA_FILE_PRIVATE_H

#include <stdatomic.h>

#include "store/data_file.h"
#include "store/file_writer.h"

#define PAGES_PER_WORD 64u

struct data_file {
    uint8_t *map; /* from the start of the file; NULL: not mapped */
    size_t map_nbytes;
    _Atomic uint64_t readable;  /* bytes of data known to be in the file */
    _Atomic uint64_t *verified; /* owned; one bit a page; NULL: pages are not verified */
    size_t verified_count;      /* words */
    struct file_footer *footer; /* owned, borrows from footer_bytes; NULL: growing */
    uint8_t *footer_bytes;      /* owned */
    size_t footer_nbytes;
    int fd; /* -1: closed, since the map suffices */
    atomic_uint refs;
    struct data_file_opts opts;
    struct file_header header;
    char name[FILE_NAME_NBYTES];
};

#endif
