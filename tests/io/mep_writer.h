/* mep_writer.h: writes packets of the event builder in memory, for tests, from the bodies of MDF records. Independent
 * of the plugin: formats and source ids are written out here. */
#ifndef TEST_MEP_WRITER_H
#define TEST_MEP_WRITER_H

#include "mdf_writer.h"

struct packet_style {
  uint32_t is_prototype;
  uint32_t alignment;     /* production: fragments are padded to 1 << alignment bytes */
  uint32_t aligned_start; /* production: so is the first of them */
  uint32_t in_record;     /* with an MDF header of data type 2 in front; of the prototype always */
  uint32_t signed_record; /* with a checksum there */
  uint32_t run;           /* there */
  uint64_t event_id;
  uint8_t padding; /* what stands between fragments */
};

/* Appends a packet of these events; returns where it (or its record) begins. A bank that an event lacks is a missing
 * fragment there. */
size_t add_packet(struct bytes *file, const struct packet_style *style, const struct bytes *bodies, uint32_t count);

/* What stands in a file for the events [first, first + count): as add_simple_record makes them, with a bank of type 33
 * of 0 to 6 bytes besides. */
struct bytes packet_body(uint64_t number);
size_t add_simple_packet(struct bytes *file, const struct packet_style *style, uint64_t first, uint32_t count);
/* The same events as MDF records. */
void add_packet_records(struct bytes *file, uint64_t first, uint32_t count);

#endif
