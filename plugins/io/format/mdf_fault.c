/* mdf_fault.c: texts of the faults of records, banks and packets. */
#include "mdf.h"

#include <inttypes.h>
#include <stdio.h>

void mdf_fault_text(const struct mdf_fault *f, char *text, size_t n) {
  switch (f->kind) {
    case MDF_FAULT_LENGTHS:
      snprintf(text, n, "the record's three lengths differ: %" PRIu64 ", %" PRIu64 ", %" PRIu64, f->found, f->expected,
               f->other);
      break;
    case MDF_FAULT_HEADER_TYPE:
      snprintf(text, n, "unknown header type 0x%02" PRIx64, f->found);
      break;
    case MDF_FAULT_SKIPPED:
      snprintf(text, n,
               "no readable record header (lengths %" PRIu64 ", %" PRIu64 ", %" PRIu64
               ", header type 0x%02x); skipped %" PRIu64 " bytes",
               f->found, f->expected, f->other, f->type, f->at);
      break;
    case MDF_FAULT_TRUNCATED:
      if (f->expected == 0)
        snprintf(text, n, "the file ends within a record header, after %" PRIu64 " bytes of it", f->found);
      else
        snprintf(text, n, "the file ends after %" PRIu64 " of the record's %" PRIu64 " bytes", f->found, f->expected);
      break;
    case MDF_FAULT_CHECKSUM:
      snprintf(text, n, "the checksum is 0x%08" PRIx64 ", computed 0x%08" PRIx64, f->found, f->expected);
      break;
    case MDF_FAULT_DATA_TYPE:
      snprintf(text, n, "data type %" PRIu64 " is not %s (%" PRIu64 ")", f->found,
               f->expected == MDF_DATA_MEP ? "MEP" : "raw banks", f->expected);
      break;
    case MDF_FAULT_COMPRESSION:
      snprintf(text, n, "unknown compression level %" PRIu64, f->found);
      break;
    case MDF_FAULT_BLOCK:
      snprintf(text, n,
               "the compressed body is not one block (codec 0x%04" PRIx64 ", %" PRIu64 " bytes of %" PRIu64 ")",
               f->other, f->found, f->expected);
      break;
    case MDF_FAULT_EXPANSION:
      snprintf(text, n,
               "the body header gives %" PRIu64 " bytes uncompressed, but its codec can produce at most %" PRIu64
               " from %" PRIu64 " compressed bytes",
               f->found, f->expected, f->other);
      break;
    case MDF_FAULT_TOO_LARGE:
      snprintf(text, n,
               "the body has %" PRIu64 " bytes uncompressed, the limit is %" PRIu64
               " (a higher uncompressed_bytes allows more)",
               f->found, f->expected);
      break;
    case MDF_FAULT_DECOMPRESS:
      snprintf(text, n, "the compressed body cannot be decompressed");
      break;
    case MDF_FAULT_MEMORY:
      snprintf(text, n, "no memory for %" PRIu64 " decompressed bytes", f->found);
      break;
    case MDF_FAULT_NO_BANKS:
      snprintf(text, n, "the record has no banks");
      break;
    case MDF_FAULT_BANK_MAGIC:
      snprintf(text, n, "bank at byte %" PRIu64 " of the body: magic 0x%04" PRIx64 ", expected 0xcbcb", f->at,
               f->found);
      break;
    case MDF_FAULT_BANK_LENGTH:
      snprintf(text, n, "bank at byte %" PRIu64 " of the body: length %" PRIu64 ", expected 8 to %" PRIu64, f->at,
               f->found, f->other);
      break;
    case MDF_FAULT_TAE:
      snprintf(text, n, "the TAE header lists no central crossing within the record");
      break;
    case MDF_FAULT_NO_PACKET:
      snprintf(text, n, "no readable packet (magic 0x%04" PRIx64 "); skipped %" PRIu64 " bytes", f->found, f->at);
      break;
    case MDF_FAULT_PACKET_MAGIC:
      snprintf(text, n, "not a packet: magic 0x%04" PRIx64 ", expected 0x%04" PRIx64, f->found, f->expected);
      break;
    case MDF_FAULT_PACKET:
      snprintf(text, n, "the header of a packet of %" PRIu64 " blocks gives %" PRIu64 " bytes, expected %" PRIu64,
               f->other, f->found, f->expected);
      break;
    case MDF_FAULT_PACKET_EXTRA:
      snprintf(text, n, "the packet ends after %" PRIu64 " of the record's %" PRIu64 " bytes", f->found, f->expected);
      break;
    case MDF_FAULT_BLOCK_BOUNDS:
      snprintf(text, n,
               "block %" PRIu64 " of the packet, at byte %" PRIu64 " of %" PRIu64
               ", extends beyond the packet or overlaps another block",
               f->at, f->found, f->expected);
      break;
    case MDF_FAULT_BLOCK_MAGIC:
      snprintf(text, n, "block %" PRIu64 " of the packet: magic 0x%04" PRIx64 ", expected 0x%04" PRIx64, f->at,
               f->found, f->expected);
      break;
    case MDF_FAULT_BLOCK_SIZE:
      snprintf(text, n,
               "block %" PRIu64 " of the packet: the sizes of its fragments do not add up to %" PRIu64 " bytes", f->at,
               f->expected);
      break;
    case MDF_FAULT_BLOCK_SOURCE:
      snprintf(text, n,
               "block %" PRIu64 " of the packet: source 0x%04" PRIx64 ", but the packet header lists 0x%04" PRIx64,
               f->at, f->found, f->expected);
      break;
    case MDF_FAULT_BLOCK_EVENTS:
      snprintf(text, n, "block %" PRIu64 " of the packet: %" PRIu64 " fragments, the first block has %" PRIu64, f->at,
               f->found, f->expected);
      break;
    case MDF_FAULT_BLOCK_EVENT_ID:
      snprintf(text, n, "block %" PRIu64 " of the packet: first event id %" PRIu64 ", the first block has %" PRIu64,
               f->at, f->found, f->expected);
      break;
    case MDF_FAULT_ODIN:
      snprintf(text, n, "the ODIN fragment is marked broken (type %" PRIu64 ")", f->found);
      break;
    default:
      snprintf(text, n, "no fault");
      break;
  }
}
