/* fuzz_mep.c: io.mep_source on damaged input: first the reader of packets in memory, with checks of what it guarantees,
 * then the source itself on a file with the input. */
#define _GNU_SOURCE
#include "format/mep.h"
#include "format/mep_file.h"
#include "fuzz_source.h"

SL_DECLARE(mep_source);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t touch_fragments(const struct mep_packet *p) {
  struct mep_block *blocks = calloc(p->block_count, sizeof *blocks);
  struct mdf_fault fault;
  uint32_t sum = 0;
  if (mep_packet_blocks(p, blocks, &fault) == 0)
    for (uint32_t i = 0; i < p->block_count; i++) {
      const struct mep_block *b = &blocks[i];
      require(b->event_count == blocks[0].event_count && b->end <= p->bytes);
      require(b->fragments + b->fragment_bytes <= p->data + p->bytes);
      for (uint64_t k = 0; k < b->fragment_bytes; k++) sum += b->fragments[k];
      for (uint32_t e = 0; e < b->event_count; e++) sum += b->types[e];
    }
  free(blocks);
  return sum;
}

static void read_packets(const uint8_t *data, size_t size) {
  struct mdf_reader reader = mdf_reader_start(data, size);
  struct mdf_record record;
  struct mep_packet packet;
  struct mdf_fault fault;
  uint64_t end = 0, id;
  uint32_t count;
  char text[256];
  while (mep_next(&reader, &record)) {
    require(record.offset == end && record.bytes > 0 && record.bytes <= size - end);
    end += record.bytes;
    mdf_fault_text(&record.fault, text, sizeof text);
    const uint8_t *body = data + record.offset;
    if (mep_packet_claims(body, record.bytes, &count, &id)) require(count > 0);
    if (record.fault.kind != MDF_FAULT_NONE) continue;
    if (mep_packet_open(body, record.bytes, &packet, &fault) == 0) touch_fragments(&packet);
  }
  require(end == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct mep_packet packet;
  struct mdf_fault fault;
  read_packets(data, size);
  if (mep_packet_open(data, size, &packet, &fault) == 0) touch_fragments(&packet); /* the prototype format too */
  run_source_on(&sl_algorithm_mep_source, data, size);
  return 0;
}
