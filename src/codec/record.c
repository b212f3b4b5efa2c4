/* record.c - the envelope: magic, version, checksum. The layout is in record.h.
 *
 * The checksum leaves out the first twelve bytes, which are compared with constants instead: of
 * them only the version may differ without being damage. */
#include "codec/record.h"

#include "base/crc32c.h"

#define AT_CRC 8u

paua_status record_open(const void *bytes, size_t length, uint32_t magic, uint16_t version,
                        struct reader *r)
{
    struct reader draft = reader_over(bytes, length);
    uint16_t stored_version;

    assert(r != NULL);
    if (length < RECORD_HEADER_NBYTES) return PAUA_ECORRUPT;
    if (reader_u32(&draft) != magic) return PAUA_ECORRUPT;
    stored_version = reader_u16(&draft);
    if (reader_u16(&draft) != 0) return PAUA_ECORRUPT;
    if (reader_u32(&draft) != crc32c(0, draft.at, reader_left(&draft))) return PAUA_ECORRUPT;
    if (stored_version != version) return PAUA_EVERSION;

    *r = draft;
    return PAUA_OK;
}

void record_begin(struct writer *w, uint32_t magic, uint16_t version)
{
    assert(w->length == 0);
    writer_u32(w, magic);
    writer_u16(w, version);
    writer_u16(w, 0);
    writer_u32(w, 0);
}

paua_status record_end(struct writer *w)
{
    if (w->failed) return PAUA_ENOMEM;
    assert(w->length >= RECORD_HEADER_NBYTES);
    bytes_put(w->bytes + AT_CRC,
              crc32c(0, w->bytes + RECORD_HEADER_NBYTES, w->length - RECORD_HEADER_NBYTES), 4);
    return PAUA_OK;
}

uint32_t record_crc(const void *bytes)
{
    return (uint32_t)bytes_get((const uint8_t *)bytes + AT_CRC, 4);
}
