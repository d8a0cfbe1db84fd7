/* sink_driver.h: drives a sink of raw banks, such as io.mdf_sink, on what a source (source_driver.h) delivers. */
#ifndef TEST_SINK_DRIVER_H
#define TEST_SINK_DRIVER_H

#include "source_driver.h"

struct sink_driver {
  const char *path;       /* as with -o */
  uint32_t flip_error_of; /* the event, counted from 1, that a kernel is said to have refused; 0 for none */
  uint32_t list_every;    /* its list: each so many events from the first on, without those in error; 0: no list */
  uint32_t kill_after;    /* so many events the process kills itself; 0 for never */
  /* What it reported. */
  int64_t events, bytes, left_out, with_errors, banks_left_out, headers_lost;
  uint32_t finished;
  /* Private. */
  const struct sl_algorithm *algorithm;
  struct sl_plugin *expanded; /* owns it */
  void *library, *args, *state;
  uint32_t opened, consumed, within;
};

void sink_start(struct sink_driver *k, const char *algorithm);
void sink_stop(struct sink_driver *k);
void sink_set(struct sink_driver *k, const char *property, double value);
void sink_set_text(struct sink_driver *k, const char *property, const char *value);

/* Reads `data` with the source and writes it to `path` with the sink: 0, or the first error of either, after which the
 * sink is not finished, but closed. Messages of both are the source's. */
int sink_copy(struct sink_driver *k, struct driver *source, const void *data, size_t size, const char *path);

int sink_copy_file(struct sink_driver *k, struct driver *source, const char *input, const char *path);

struct bytes read_whole(const char *path);

#endif
