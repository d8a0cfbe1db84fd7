/* sink_driver.h: runs a sink of raw banks, such as io.mdf_sink, on the events that a source (source_driver.h)
 * delivers. */
#ifndef TEST_SINK_DRIVER_H
#define TEST_SINK_DRIVER_H

#include "source_driver.h"

struct sink_driver {
  const char *path;       /* output file, as for -o */
  uint32_t flip_error_of; /* this event, counted from 1, is marked as refused by a kernel; 0: none */
  uint32_t list_every; /* the sink is on a list of every list_every-th event, without events with errors; 0: no list */
  uint32_t kill_after; /* the process kills itself after this number of events; 0: never */
  /* Reported by the sink. */
  int64_t events, bytes, omitted, with_errors, banks_omitted, headers_not_representable;
  uint32_t finished;
  /* Private. */
  const struct sl_algorithm *algorithm;
  struct sl_plugin *expanded; /* owns `algorithm` */
  void *library, *args, *state;
  uint32_t opened, consumed, within;
};

void sink_start(struct sink_driver *k, const char *algorithm);
void sink_stop(struct sink_driver *k);
void sink_set(struct sink_driver *k, const char *property, double value);
void sink_set_text(struct sink_driver *k, const char *property, const char *value);

/* Reads `data` with the source and writes it to `path` with the sink. Returns 0, or the first error of either; the sink
 * is then closed without finish. Messages of both are in `source`. */
int sink_copy(struct sink_driver *k, struct driver *source, const void *data, size_t size, const char *path);

int sink_copy_file(struct sink_driver *k, struct driver *source, const char *input, const char *path);

struct bytes read_whole(const char *path);

#endif
