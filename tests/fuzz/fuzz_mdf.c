/* fuzz_mdf.c: io.mdf_source on damaged input: first the reader of records and banks in memory, with checks of what it
 * guarantees, then the source itself on a file with the input. */
#define _GNU_SOURCE
#include "format/mdf.h"
#include "format/mdf_decompress.h"
#include "fuzz_source.h"

SL_DECLARE(mdf_source);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t touch_banks(const uint8_t *body, uint64_t body_bytes) {
  struct mdf_fault fault;
  struct io_bank bank;
  uint64_t position, end, number;
  uint32_t sum = 0, run;
  if (mdf_event_banks(body, body_bytes, &position, &end, &fault)) return 0;
  require(position <= end && end <= body_bytes);
  while (mdf_bank_next(body, end, &position, &bank, &fault) > 0) {
    for (uint32_t i = 0; i < bank.size_bytes; i++) sum += bank.payload[i];
    sum += (uint32_t)mdf_odin_identity(&bank, &run, &number);
  }
  return sum;
}

static void read_records(const uint8_t *data, size_t size) {
  struct mdf_reader reader = mdf_reader_start(data, size);
  struct mdf_decompressor decompressor = {0};
  struct mdf_record record;
  uint64_t end = 0;
  char text[256];
  while (mdf_next(&reader, &record)) {
    require(record.offset == end && record.bytes > 0 && record.bytes <= size - end);
    end += record.bytes;
    mdf_fault_text(&record.fault, text, sizeof text);
    if (record.fault.kind != MDF_FAULT_NONE) continue;
    const uint8_t *body = data + record.offset + record.header_bytes;
    const uint64_t body_bytes = record.bytes - record.header_bytes;
    uint32_t bytes;
    if (record.compression == 0)
      touch_banks(body, body_bytes);
    else if (mdf_decompress(&decompressor, body, body_bytes, &bytes, &record.fault) == 0)
      touch_banks(decompressor.bytes, bytes);
  }
  require(end == size);
  mdf_decompressor_free(&decompressor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_records(data, size);
  run_source_on(&sl_algorithm_mdf_source, data, size);
  return 0;
}
