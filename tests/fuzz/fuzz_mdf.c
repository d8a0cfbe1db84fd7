/* fuzz_mdf.c: io.mdf_source on hostile bytes: first the reader of records and banks on memory, whose promises are
 * checked, then the source itself on a file that holds them. */
#define _GNU_SOURCE
#include "io/raw_banks.h"
#include "mdf.h"
#include "mdf_decompress.h"

#include <sluice/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

SL_DECLARE(mdf_source);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS_MAX = 3, BANKS_MAX = 16, WORDS_MAX = 64 };

static void require(int condition) {
  if (!condition) abort();
}

/* ------------------------------------------------------------------------------------------------ on memory */

static uint32_t touch_banks(const uint8_t *body, uint64_t body_bytes) {
  struct mdf_fault fault;
  struct mdf_bank bank;
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
    else if (mdf_decompress(&decompressor, &record, body, body_bytes, &bytes, &record.fault) == 0)
      touch_banks(decompressor.bytes, bytes);
  }
  require(end == size);
  mdf_decompressor_free(&decompressor);
}

/* ------------------------------------------------------------------------------------------------ as a source */

static void ignore_message(void *context, uint32_t severity, const char *format, ...) {
  (void)context;
  (void)severity;
  (void)format;
}

static void prepare_member(const struct sl_member *m, char *args) {
  if (m->kind == SL_MEMBER_PROPERTY) {
    const uint32_t value = (uint32_t)m->default_value;
    memcpy(args + m->args_offset, &value, sizeof value);
  } else {
    struct odin_banks *p = (struct odin_banks *)(args + m->args_offset);
    *p = (struct odin_banks){
        malloc(4 * (EVENTS_MAX + 1)), malloc(2 * BANKS_MAX), malloc(BANKS_MAX),     malloc(BANKS_MAX),
        malloc(2 * BANKS_MAX),        malloc(4 * BANKS_MAX), malloc(4 * WORDS_MAX), {BANKS_MAX, 0, NULL},
        {WORDS_MAX, 0, NULL}};
  }
}

static void run_source(const char *args, const char *path) {
  static const struct sl_services services = {.size = sizeof services, .message = ignore_message};
  const struct sl_algorithm *a = &sl_algorithm_mdf_source;
  void *state = calloc(1, a->state_size);
  const struct sl_inputs inputs = {&path, 1, 0, &path};
  int result = a->source->open(state, &services, args, &inputs);
  if (result == 0) result = 1;
  while (result == 1) {
    struct sl_event events[EVENTS_MAX];
    struct sl_fill fill = {.events_max = EVENTS_MAX, .events = events};
    result = a->source->fill(state, &services, args, &fill);
    require(fill.event_count <= EVENTS_MAX && (result != 1 || fill.event_count > 0));
    require(result == 0 || result == 1);
  }
  a->source->close(state);
  free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char *args;
  static int file = -1;
  static char path[40];
  const struct sl_algorithm *a = &sl_algorithm_mdf_source;
  if (!args) {
    args = calloc(1, a->args_size);
    for (uint32_t i = 0; i < a->member_count; i++) prepare_member(&a->members[i], args);
    file = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  }
  read_records(data, size);
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
  run_source(args, path);
  return 0;
}
