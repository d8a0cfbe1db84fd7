/* mdf_fault.h: what can be wrong with records, banks and packets, and how their numbers are loaded: what mdf.h and
 * mep.h both need. */
#ifndef IO_MDF_FAULT_H
#define IO_MDF_FAULT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  MDF_FAULT_NONE,
  MDF_FAULT_LENGTHS,     /* the three lengths differ, but two of them lead to the next record */
  MDF_FAULT_HEADER_TYPE, /* no known header version, but the lengths lead to the next record */
  MDF_FAULT_SKIPPED,     /* no trustworthy header: these bytes were skipped up to the next one, or the end */
  MDF_FAULT_TRUNCATED,   /* the file ends within the record */
  MDF_FAULT_CHECKSUM,
  MDF_FAULT_DATA_TYPE,   /* holds no raw banks */
  MDF_FAULT_COMPRESSION, /* unknown compression level */
  MDF_FAULT_BLOCK,       /* compressed body: its block header is wrong */
  MDF_FAULT_EXPANSION,   /* compressed body: claims more than its codec can make of it */
  MDF_FAULT_TOO_LARGE,   /* compressed body: larger than the source's property allows */
  MDF_FAULT_DECOMPRESS,  /* compressed body: the codec refuses it */
  MDF_FAULT_MEMORY,      /* compressed body: no memory */
  MDF_FAULT_NO_BANKS,
  MDF_FAULT_BANK_MAGIC,
  MDF_FAULT_BANK_LENGTH,
  MDF_FAULT_TAE,
  /* Packets of the event builder (mep.h) */
  MDF_FAULT_NO_PACKET, /* no trustworthy header: these bytes were skipped up to the next one, or the end */
  MDF_FAULT_PACKET_MAGIC,
  MDF_FAULT_PACKET,       /* its header does not fit its size */
  MDF_FAULT_PACKET_EXTRA, /* bytes after it in its record */
  MDF_FAULT_BLOCK_PLACE,  /* a block, at number `at`, lies outside the packet or in another */
  MDF_FAULT_BLOCK_MAGIC,
  MDF_FAULT_BLOCK_SIZE, /* its fragments do not end where it does */
  MDF_FAULT_BLOCK_SOURCE,
  MDF_FAULT_BLOCK_EVENTS,
  MDF_FAULT_BLOCK_EVENT_ID,
  MDF_FAULT_ODIN /* an event's ODIN fragment is marked broken */
};

/* What is wrong. The meaning of the numbers depends on the kind; mdf_fault_text puts them into words. */
struct mdf_fault {
  uint32_t kind; /* MDF_FAULT_... */
  uint32_t type; /* header type, of skipped bytes */
  uint64_t at;   /* byte within the body, of bank faults */
  uint64_t found, expected, other;
};

/* Puts a fault into words, such as "the checksum is 0x1, computed 0x2". */
void mdf_fault_text(const struct mdf_fault *fault, char *text, size_t text_size);

static inline uint16_t mdf_load_u16(const uint8_t *p) {
  uint16_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

static inline uint32_t mdf_load_u32(const uint8_t *p) {
  uint32_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

#endif
