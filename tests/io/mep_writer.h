/* mep_writer.h: writes packets of the event builder in memory for tests, from the bodies of MDF records. Independent of
 * the plugin: it has its own code for formats and source ids. */
#ifndef TEST_MEP_WRITER_H
#define TEST_MEP_WRITER_H

#include "mdf_writer.h"

struct packet_style {
  uint32_t is_prototype;
  uint32_t alignment;     /* production: fragments are padded to 1 << alignment bytes */
  uint32_t aligned_start; /* production: the first fragment is aligned as well */
  uint32_t in_record;     /* within an MDF record of data type 2; the prototype always is */
  uint32_t signed_record; /* that record has a checksum */
  uint32_t run;           /* run number of that record */
  uint64_t event_id;
  uint8_t padding; /* value of the padding bytes */
};

/* Appends a packet of the events; returns the offset of the packet or its record. A bank that an event lacks is a
 * missing fragment. */
size_t add_packet(struct bytes *file, const struct packet_style *style, const struct bytes *bodies, uint32_t count);

/* Bodies, packet and records of the events [first, first + count): those of add_simple_record, with an additional bank
 * of type 33 of 0 to 6 bytes. */
struct bytes packet_body(uint64_t number);
size_t add_simple_packet(struct bytes *file, const struct packet_style *style, uint64_t first, uint32_t count);
/* Appends the events of add_simple_packet as MDF records. */
void add_packet_records(struct bytes *file, uint64_t first, uint32_t count);

#endif
