/* fuzz_source.h: common part of the fuzzers of sources: runs a source with small budgets on a file with the given
 * bytes. */
#ifndef FUZZ_SOURCE_H
#define FUZZ_SOURCE_H

#include "bank_ports.h"
#include "fuzz_file.h"

#include <sluice/plugin.h>

#include <io/raw_record.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 3, BANKS_MAX = 16, WORDS_MAX = 64, RECORD_WORDS_MAX = 256 };

static inline void ignore_message(void *context, uint32_t severity, const char *format, ...) {
  (void)context;
  (void)severity;
  (void)format;
}

static inline void prepare_member(const struct sl_member *m, char *args) {
  if (m->kind == SL_MEMBER_PROPERTY) {
    const uint32_t value = (uint32_t)m->default_value;
    memcpy(args + m->args_offset, &value, sizeof value);
  } else if (m->kind == SL_MEMBER_OUT && strcmp(m->name, "record") == 0) {
    struct io_raw_record *r = (struct io_raw_record *)(args + m->args_offset);
    *r = (struct io_raw_record){malloc(4 * (EVENTS_MAX + 1)),
                                malloc(4 * EVENTS_MAX),
                                malloc(4 * EVENTS_MAX),
                                malloc(4 * EVENTS_MAX),
                                malloc(4 * RECORD_WORDS_MAX),
                                {EVENTS_MAX, 1, NULL, 0},
                                {RECORD_WORDS_MAX, RECORD_WORDS_MAX, NULL, 0}};
  } else if (m->kind == SL_MEMBER_OUT) {
    struct io_raw_banks *p = (struct io_raw_banks *)(args + m->args_offset);
    *p = (struct io_raw_banks){.offsets = malloc(4 * (EVENTS_MAX + 1)),
                               .source_id = malloc(2 * BANKS_MAX),
                               .type = malloc(BANKS_MAX),
                               .version = malloc(BANKS_MAX),
                               .size_bytes = malloc(2 * BANKS_MAX),
                               .first_word = malloc(4 * BANKS_MAX),
                               .payload = malloc(4 * WORDS_MAX),
                               .bound = {.capacity = BANKS_MAX, .event_limit = BANKS_MAX},
                               .payload_bound = {.capacity = WORDS_MAX, .event_limit = WORDS_MAX}};
  }
}

/* Runs the steps in reverse order on alternating workers; no result may depend on it. */
enum { FUZZ_WORKERS = 2 };
static inline void run_steps(void *context, uint32_t count, void (*body)(void *work, uint32_t index, uint32_t worker),
                             void *work) {
  (void)context;
  for (uint32_t i = count; i-- > 0;) body(work, i, i % FUZZ_WORKERS);
}

static inline void run_source(const struct sl_algorithm *a, const char *args, const char *path,
                              const struct sl_input_range *range) {
  static const struct sl_services services = {
      .size = sizeof services, .message = ignore_message, .in_parallel = run_steps, .workers = FUZZ_WORKERS};
  void *state = calloc(1, a->state_size);
  const struct sl_inputs inputs = {&path, 1, 0, &path, range};
  int result = a->source->open(state, &services, args, &inputs);
  if (result == 0) result = 1;
  while (result == 1) {
    struct sl_event events[EVENTS_MAX];
    struct sl_fill fill = {.events_max = EVENTS_MAX, .events = events};
    result = a->source->fill(state, &services, args, &fill);
    require(fill.event_count <= EVENTS_MAX && (result != 1 || fill.event_count > 0));
    /* the end of a range inside a record is reported when it is reached */
    require(result == 0 || result == 1 || (range && result == SL_EFORMAT));
  }
  a->source->close(state);
  free(state);
}

/* Content of a file according to its index. */
struct found_parts {
  uint64_t bytes, records, half;
  struct sl_input_range second; /* from the first record in the second half that can begin a part */
};

static inline int add_found(void *context, const struct sl_index_record *record) {
  struct found_parts *found = (struct found_parts *)context;
  require(record->first_byte == found->bytes && record->bytes > 0 && record->events > 0);
  if (record->begins_part && record->first_byte >= found->half && found->second.first_byte == 0)
    found->second = (struct sl_input_range){record->first_byte, 0, found->records};
  found->bytes += record->bytes;
  found->records++;
  return 0;
}

/* The index must cover the file. A range of records of the index and an arbitrary range are read without damage. */
static inline void run_ranges(const struct sl_algorithm *a, const char *args, const char *path, size_t size) {
  struct found_parts found = {.half = size / 2};
  const struct sl_index_calls calls = {sizeof calls, 0, &found, add_found, ignore_message};
  const struct sl_input_range any = {size / 3, size / 5, SL_RECORD_UNKNOWN};
  if (a->source->index(path, &calls) == 0) require(found.bytes == size);
  if (found.second.first_byte != 0) run_source(a, args, path, &found.second);
  run_source(a, args, path, &any);
}

/* The algorithm with ports for all kinds of banks. */
static inline const struct sl_algorithm *with_ports(const struct sl_algorithm *a) {
  const struct sl_plugin alone = {.algorithms = &a, .algorithm_count = 1};
  const struct sl_plugin *expanded = with_bank_ports(&alone);
  require(expanded != NULL);
  return expanded->algorithms[0];
}

static inline void run_source_on(const struct sl_algorithm *source, const uint8_t *data, size_t size) {
  static const struct sl_algorithm *a;
  static char *args;
  static struct fuzz_file file;
  if (!args) {
    a = with_ports(source);
    args = calloc(1, a->args_size);
    sl_open_ports_fill(a, args);
    for (uint32_t i = 0; i < a->member_count; i++) prepare_member(&a->members[i], args);
  }
  const char *path = fuzz_file_of(&file, data, size);
  run_source(a, args, path, NULL);
  run_ranges(a, args, path, size);
}

#endif
