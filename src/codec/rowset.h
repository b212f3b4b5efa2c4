/* rowset.h - a set of row positions (uint32) as stored (magic "PROW"), in and out of a roaring
 * bitmap (CRoaring). Two forms, the shorter is written: run lengths (varint gap, varint length - 1,
 * alternating), or a plain bitset from the first to the last member. Used for deleted rows and for
 * the ids that a rewritten file still holds. We do not read roaring's own format from disk, since
 * CRoaring 0.2.66 trusts its contents. */
#ifndef PAUA_CODEC_ROWSET_H
#define PAUA_CODEC_ROWSET_H

#include <paua/paua.h>

#include <roaring/roaring.h>

#include "base/bytes.h"

paua_status rowset_encode(const roaring_bitmap_t *set, struct writer *w);

/* limit: every member must be below it. Allocates at most a bitmap of the set's own size. *set is
 * owned by the caller (roaring_bitmap_free). PAUA_ECORRUPT, PAUA_EVERSION, PAUA_ENOMEM. */
paua_status rowset_decode(const void *bytes, size_t length, uint64_t limit, roaring_bitmap_t **set);

/* The same into a plain bitmap: sets bit r of word r / 64 for each member r, and leaves the others
 * as they are; *members: how many there are. One pass over the bytes, and no allocation; on failure
 * (PAUA_ECORRUPT, PAUA_EVERSION) some bits below the limit may have been set. */
paua_status rowset_mark(const void *bytes, size_t length, uint64_t limit, uint64_t *words,
                        uint64_t *members);

#endif
