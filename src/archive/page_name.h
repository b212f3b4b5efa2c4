/* page_name.h - whose pages a file of pages has: the name of its history, behind the header.
 *
 *   u8[4] magic "PHNM", u8 version 1, u8 length, u16 reserved, u8[256] name, u64 hash of all before
 *
 * The catalogue says it too. It is here for when the catalogue is lost; nothing else reads it, so
 * damage to it costs no row. A history keeps its name for ever. */
#ifndef PAUA_ARCHIVE_PAGE_NAME_H
#define PAUA_ARCHIVE_PAGE_NAME_H

#include <paua/paua.h>

#include <stddef.h>
#include <stdint.h>

#define PAGE_NAME_NBYTES 272u

/* name: schema_name_valid. */
void page_name_encode(const char *name, uint8_t bytes[PAGE_NAME_NBYTES]);

/* PAUA_ECORRUPT, PAUA_EVERSION; name is then as it was. */
paua_status page_name_decode(const uint8_t bytes[PAGE_NAME_NBYTES],
                             char name[PAUA_NAME_NBYTES_MAX + 1]);

#endif
