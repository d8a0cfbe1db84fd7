/* feed_case.h: shared by the tests of events from memory: 300 events as banks, packets and a file; a run in its own
 * thread, from a feed or a file; the entries that the run released. */
#ifndef FEED_CASE_H
#define FEED_CASE_H

#include "mep_writer.h"

#include <sluice/sluice.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 300, PACKET_EVENTS = 40 };

extern const char feed_count_graph[], feed_copy_graph[];

/* Group setup: makes the events, as MDF bodies among other forms. */
int make_events(void **state);
int free_events(void **state);
struct sl_feed_event event_of(uint32_t e); /* its owner is owner_of(e) */
const void *owner_of(uint32_t e);
/* Returns a packet of `count` events from `first` on, or fewer at the end. */
struct bytes packet_of(uint32_t first, uint32_t count);

struct result {
  int status;
  uint64_t digest, events, error_events;
  char *messages;
};

struct run {
  struct sl_options options;
  struct sl_diagnostics *diagnostics;
  struct sl_session *session;
  pthread_t thread;
  int status;
  atomic_uint delivered;
  atomic_int answer; /* result of on_batch */
};

struct sl_options options_of(const char *graph);
void start(struct run *run, const struct sl_options *options, struct sl_feed *feed);
struct result finish(struct run *run);
void assert_clean(struct result *result); /* checks that no message was reported; frees the result */
void assert_reported(struct result *result, const char *text);
/* Runs a file of the events, or a copy of it, `passes` times. */
struct result run_file(const char *path, uint32_t passes);
uint64_t digest_of_file(uint32_t passes);

/* Owners passed to on_release, in order. */
struct released {
  atomic_uint count;
  void *owners[2 * EVENTS];
};

struct sl_feed *new_feed(struct released *released, uint32_t entries_max);
/* Gives all events; the first must get index `index`. */
void give_all(struct sl_feed *feed, uint64_t index);

#endif
