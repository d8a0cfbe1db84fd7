/* mdf_fault.h: faults of records, banks and packets, and the functions that load numbers; used by mdf.h and mep.h. */
#ifndef IO_MDF_FAULT_H
#define IO_MDF_FAULT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  MDF_FAULT_NONE,
  MDF_FAULT_LENGTHS,     /* the three lengths differ, but the next record was found by two of them */
  MDF_FAULT_HEADER_TYPE, /* unknown header version, but the next record was found by the lengths */
  MDF_FAULT_SKIPPED,     /* no usable header: the bytes up to the next record, or to the end, were skipped */
  MDF_FAULT_TRUNCATED,   /* the file ends within the record */
  MDF_FAULT_CHECKSUM,
  MDF_FAULT_DATA_TYPE,   /* the record contains another data type than expected */
  MDF_FAULT_COMPRESSION, /* unknown compression level */
  MDF_FAULT_BLOCK,       /* compressed body: wrong block header */
  MDF_FAULT_EXPANSION,   /* compressed body: its size exceeds what the codec can produce */
  MDF_FAULT_TOO_LARGE,   /* compressed body: larger than the property of the source allows */
  MDF_FAULT_DECOMPRESS,  /* compressed body: the codec reports an error */
  MDF_FAULT_MEMORY,      /* compressed body: out of memory */
  MDF_FAULT_NO_BANKS,
  MDF_FAULT_BANK_MAGIC,
  MDF_FAULT_BANK_LENGTH,
  MDF_FAULT_TAE,
  /* Packets of the event builder (mep.h) */
  MDF_FAULT_NO_PACKET, /* no usable header: the bytes up to the next packet, or to the end, were skipped */
  MDF_FAULT_PACKET_MAGIC,
  MDF_FAULT_PACKET,       /* the sizes in its header are inconsistent */
  MDF_FAULT_PACKET_EXTRA, /* more bytes follow it in its record */
  MDF_FAULT_BLOCK_BOUNDS, /* block `at` extends beyond the packet or overlaps another block */
  MDF_FAULT_BLOCK_MAGIC,
  MDF_FAULT_BLOCK_SIZE, /* the sizes of its fragments do not add up to its size */
  MDF_FAULT_BLOCK_SOURCE,
  MDF_FAULT_BLOCK_EVENTS,
  MDF_FAULT_BLOCK_EVENT_ID,
  MDF_FAULT_ODIN /* the ODIN fragment of an event is marked broken */
};

/* One fault. The meaning of the numbers depends on the kind; see mdf_fault_text. */
struct mdf_fault {
  uint32_t kind; /* MDF_FAULT_... */
  uint32_t type; /* header type of skipped bytes */
  uint64_t at;   /* byte within the body for bank faults */
  uint64_t found, expected, other;
};

/* Writes the text of a fault, such as "the checksum is 0x1, computed 0x2". */
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
