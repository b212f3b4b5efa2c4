/* record.h - the envelope of every record that SQLite or a file's footer holds.
 *
 *   offset size  field
 *        0    4  magic, naming the kind of record
 *        4    2  version of that kind, 1
 *        6    2  reserved, must be 0
 *        8    4  crc32c of the bytes from offset 12 to the end
 *       12       fields of the kind
 *
 * Integers are little-endian. A record is exactly as long as its fields: trailing bytes are an
 * error. An unknown version is PAUA_EVERSION only if the checksum holds, else PAUA_ECORRUPT. */
#ifndef PAUA_CODEC_RECORD_H
#define PAUA_CODEC_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"

#define RECORD_HEADER_NBYTES 12u

/* Opens an envelope: PAUA_OK with *r over the fields, PAUA_ECORRUPT or PAUA_EVERSION. */
paua_status record_open(const void *bytes, size_t length, uint32_t magic, uint16_t version,
                        struct reader *r);

/* Writes the envelope's header into an empty writer; fields follow; record_end closes it. */
void record_begin(struct writer *w, uint32_t magic, uint16_t version);

/* Fills in the checksum. PAUA_OK or PAUA_ENOMEM if any write had failed. */
paua_status record_end(struct writer *w);

/* The stored checksum of a whole record (length >= RECORD_HEADER_NBYTES); for digests over sets of
 * records. */
uint32_t record_crc(const void *bytes);

#endif
