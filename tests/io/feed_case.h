/* feed_case.h: what tests of events from memory share: 300 events, as banks, packets and a file; a run in a thread of
 * its own, fed or from a file; what the program got back. */
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

/* Of a group of tests: the events, as MDF bodies among other forms. */
int make_events(void **state);
int free_events(void **state);
struct sl_feed_event event_of(uint32_t e); /* whose owner is */
const void *owner_of(uint32_t e);
/* `count` of them from `first` on, or fewer, as a packet. */
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
  atomic_int answer; /* of on_batch */
};

struct sl_options options_of(const char *graph);
void start(struct run *run, const struct sl_options *options, struct sl_feed *feed);
struct result finish(struct run *run);
void assert_clean(struct result *result); /* nothing was told; frees it */
void assert_told(struct result *result, const char *text);
/* What a file of the events, or a copy of it, gives, read `passes` times. */
struct result run_file(const char *path, uint32_t passes);
uint64_t digest_of_file(uint32_t passes);

/* What on_release got, in order. */
struct released {
  atomic_uint count;
  void *owners[2 * EVENTS];
};

struct sl_feed *new_feed(struct released *released, uint32_t entries_max);
/* All events; the first has that index. */
void give_all(struct sl_feed *feed, uint64_t index);

#endif
