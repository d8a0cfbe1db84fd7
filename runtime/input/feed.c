/* feed.c: events from memory, passed from the threads of a program to the source that packs them.
 *
 * A ring of entries. The stages of an entry are counted from the start of the feed:
 *   delivered <= packed <= taken <= given
 * The program gets the memory of an entry back when it is packed; the slot of the ring is free when its events are
 * delivered. A giving thread blocks while entries_max entries are not packed. The ring grows with packed entries in
 * flight, which the slots bound. One lock, never held while a callback runs or bytes are copied.
 */
#include "input/feed.h"

#include "base/locale.h"
#include "base/processor.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { DEFAULT_ENTRIES = 4096, RELEASED_TOGETHER = 64 };

struct ring_entry {
  struct sl_feed_entry entry;
  void *owner;
  uint64_t events_end; /* packed entries: number of events of this and all earlier entries */
};

struct sl_feed {
  struct sl_feed_options options;
  struct sl_feed_calls calls;
  pthread_mutex_t lock;
  pthread_cond_t has_room, has_entries, has_delivered;
  uint32_t waiting_for_room, waiting_for_entries, waiting_for_delivery;
  uint32_t holders; /* the program and at most one session */
  uint32_t was_attached, has_ended, is_over;
  struct ring_entry *ring;
  uint64_t capacity; /* a power of two, or 0 */
  uint64_t given, taken, packed, delivered;
  uint64_t events_packed, events_delivered;
};

static struct ring_entry *ring_entry_of(const struct sl_feed *feed, uint64_t index) {
  return &feed->ring[index & (feed->capacity - 1)];
}

/* ------------------------------------------------------------------------------------------------- waiting */

static struct timespec deadline_after(uint64_t ns) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  ns += (uint64_t)at.tv_nsec;
  at.tv_sec += (time_t)(ns / 1000000000u);
  at.tv_nsec = (long)(ns % 1000000000u);
  return at;
}

/* Waits, with the lock held. `deadline` NULL: no limit. Returns 0 after the deadline. */
static int wait_for(struct sl_feed *feed, pthread_cond_t *what, uint32_t *waiting, const struct timespec *deadline) {
  ++*waiting;
  const int error =
      deadline ? pthread_cond_timedwait(what, &feed->lock, deadline) : pthread_cond_wait(what, &feed->lock);
  --*waiting;
  return error == 0;
}

static const struct timespec *deadline_of(int32_t timeout_ms, struct timespec *at) {
  if (timeout_ms < 0) return NULL;
  *at = deadline_after((uint64_t)timeout_ms * 1000000u);
  return at;
}

/* ---------------------------------------------------------------------------------------------- the source */

static int take(void *context, struct sl_feed_entry *entries, uint32_t count, uint64_t wait_us, uint32_t *taken) {
  struct sl_feed *feed = context;
  pthread_mutex_lock(&feed->lock);
  if (wait_us > 0 && feed->taken == feed->given && !feed->has_ended) {
    const struct timespec deadline = deadline_after(wait_us * 1000u);
    while (feed->taken == feed->given && !feed->has_ended)
      if (!wait_for(feed, &feed->has_entries, &feed->waiting_for_entries, &deadline)) break;
  }
  const uint64_t there = feed->given - feed->taken;
  *taken = there < count ? (uint32_t)there : count;
  for (uint32_t i = 0; i < *taken; i++) entries[i] = ring_entry_of(feed, feed->taken + i)->entry;
  feed->taken += *taken;
  const int more = *taken > 0 || !feed->has_ended;
  pthread_mutex_unlock(&feed->lock);
  return more;
}

/* Removes entries with all events delivered from the ring. With the lock held. */
static void leave(struct sl_feed *feed) {
  const uint64_t before = feed->delivered;
  while (feed->delivered < feed->packed && ring_entry_of(feed, feed->delivered)->events_end <= feed->events_delivered)
    feed->delivered++;
  if (feed->delivered != before && feed->waiting_for_delivery > 0) pthread_cond_broadcast(&feed->has_delivered);
}

/* Releases the next `count` packed entries. The callback that returns the memory is called before any thread can see
 * the entries as packed. */
static void release(struct sl_feed *feed, uint64_t count, uint64_t events_each) {
  void *owners[RELEASED_TOGETHER];
  while (count > 0) {
    const uint32_t some = count < RELEASED_TOGETHER ? (uint32_t)count : RELEASED_TOGETHER;
    pthread_mutex_lock(&feed->lock);
    for (uint32_t i = 0; i < some; i++) owners[i] = ring_entry_of(feed, feed->packed + i)->owner;
    pthread_mutex_unlock(&feed->lock);
    const locale_t users = sl_locale_begin_callback();
    for (uint32_t i = 0; feed->options.on_release && i < some; i++)
      feed->options.on_release(feed->options.context, owners[i]);
    sl_locale_end_callback(users);
    pthread_mutex_lock(&feed->lock);
    for (uint32_t i = 0; i < some; i++) {
      feed->events_packed += events_each;
      ring_entry_of(feed, feed->packed++)->events_end = feed->events_packed;
    }
    leave(feed);
    if (feed->waiting_for_room > 0) pthread_cond_broadcast(&feed->has_room);
    pthread_mutex_unlock(&feed->lock);
    count -= some;
  }
}

static void packed(void *context, uint64_t count, uint64_t events_each) { release(context, count, events_each); }

/* ------------------------------------------------------------------------------------------------- session */

int sl_feed_attach(struct sl_feed *feed) {
  pthread_mutex_lock(&feed->lock);
  const int is_free = !feed->was_attached;
  if (is_free) feed->holders++;
  feed->was_attached = 1;
  pthread_mutex_unlock(&feed->lock);
  return is_free ? SL_OK : SL_EINVAL;
}

/* Frees the feed if it has no other holder. */
static void let_go(struct sl_feed *feed) {
  pthread_mutex_lock(&feed->lock);
  const int is_last = --feed->holders == 0;
  pthread_mutex_unlock(&feed->lock);
  if (!is_last) return;
  sl_feed_over(feed); /* entries of a feed without a session */
  pthread_mutex_destroy(&feed->lock);
  pthread_cond_destroy(&feed->has_room);
  pthread_cond_destroy(&feed->has_entries);
  pthread_cond_destroy(&feed->has_delivered);
  free(feed->ring);
  free(feed);
}

void sl_feed_detach(struct sl_feed *feed) {
  sl_feed_over(feed);
  let_go(feed);
}

const struct sl_feed_calls *sl_feed_calls_of(const struct sl_feed *feed) { return &feed->calls; }

void sl_feed_delivered(struct sl_feed *feed, uint64_t events) {
  pthread_mutex_lock(&feed->lock);
  feed->events_delivered += events;
  leave(feed);
  pthread_mutex_unlock(&feed->lock);
}

void sl_feed_over(struct sl_feed *feed) {
  pthread_mutex_lock(&feed->lock);
  const uint32_t was_over = feed->is_over;
  const uint64_t left = feed->given - feed->packed;
  feed->is_over = feed->has_ended = 1;
  pthread_cond_broadcast(&feed->has_room);
  pthread_cond_broadcast(&feed->has_delivered);
  pthread_mutex_unlock(&feed->lock);
  if (!was_over) release(feed, left, 1); /* counts as one event, which is never delivered */
}

/* ------------------------------------------------------------------------------------------------- program */

SL_ANY_PROCESSOR struct sl_feed *sl_feed_new(const struct sl_feed_options *options) {
  SL_IN_C_LOCALE(NULL);
  if (options && options->size != sizeof *options) return NULL;
  struct sl_feed *feed = calloc(1, sizeof *feed);
  if (!feed) return NULL;
  if (options) feed->options = *options;
  if (feed->options.entries_max == 0) feed->options.entries_max = DEFAULT_ENTRIES;
  feed->calls = (struct sl_feed_calls){sizeof feed->calls, 0, feed, take, packed};
  feed->holders = 1;
  pthread_mutex_init(&feed->lock, NULL);
  pthread_condattr_t by_monotonic_clock;
  pthread_condattr_init(&by_monotonic_clock);
  pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC);
  pthread_cond_init(&feed->has_room, &by_monotonic_clock);
  pthread_cond_init(&feed->has_entries, &by_monotonic_clock);
  pthread_cond_init(&feed->has_delivered, &by_monotonic_clock);
  pthread_condattr_destroy(&by_monotonic_clock);
  return feed;
}

void sl_feed_end(struct sl_feed *feed) {
  pthread_mutex_lock(&feed->lock);
  feed->has_ended = 1;
  pthread_cond_broadcast(&feed->has_entries);
  pthread_cond_broadcast(&feed->has_room);
  pthread_cond_broadcast(&feed->has_delivered);
  pthread_mutex_unlock(&feed->lock);
}

void sl_feed_free(struct sl_feed *feed) {
  if (!feed) return;
  sl_feed_end(feed);
  let_go(feed);
}

/* Makes room in the ring for one more entry. With the lock held. */
static int grow(struct sl_feed *feed) {
  if (feed->given - feed->delivered < feed->capacity) return SL_OK;
  const uint64_t capacity = feed->capacity ? 2 * feed->capacity : 64;
  struct ring_entry *ring = malloc(capacity * sizeof *ring);
  if (!ring) return SL_ENOMEM;
  for (uint64_t i = feed->delivered; i < feed->given; i++) ring[i & (capacity - 1)] = *ring_entry_of(feed, i);
  free(feed->ring);
  feed->ring = ring;
  feed->capacity = capacity;
  return SL_OK;
}

/* Waits for room, with the lock held. Returns 1 if there is room, 0 after the timeout, or SL_EINTERRUPTED. */
static int await_room(struct sl_feed *feed, int32_t timeout_ms) {
  struct timespec at;
  const struct timespec *deadline = NULL;
  int in_time = timeout_ms != 0, is_set = 0;
  while (!feed->has_ended && feed->given - feed->packed >= feed->options.entries_max && in_time) {
    if (!is_set) deadline = deadline_of(timeout_ms, &at);
    is_set = 1;
    in_time = wait_for(feed, &feed->has_room, &feed->waiting_for_room, deadline);
  }
  if (feed->has_ended) return SL_EINTERRUPTED;
  return feed->given - feed->packed < feed->options.entries_max;
}

static int give(struct sl_feed *feed, const struct sl_feed_entry *entry, void *owner, int32_t timeout_ms,
                uint64_t *index) {
  pthread_mutex_lock(&feed->lock);
  int status = await_room(feed, timeout_ms);
  if (status == 1 && grow(feed) < 0) status = SL_ENOMEM;
  if (status == 1) {
    struct ring_entry *slot = ring_entry_of(feed, feed->given);
    *slot = (struct ring_entry){*entry, owner, 0};
    slot->entry.index = feed->given;
    if (index) *index = feed->given;
    feed->given++;
    if (feed->waiting_for_entries > 0) pthread_cond_signal(&feed->has_entries);
  }
  pthread_mutex_unlock(&feed->lock);
  return status;
}

int sl_feed_give_event(struct sl_feed *feed, const struct sl_feed_event *event, int32_t timeout_ms, uint64_t *index) {
  if (!event || event->size != sizeof *event || (event->block_count > 0 && !event->blocks)) return SL_EINVAL;
  const struct sl_feed_entry entry = {
      .blocks = event->blocks, .block_count = event->block_count, .number = event->number, .run = event->run};
  return give(feed, &entry, event->owner, timeout_ms, index);
}

int sl_feed_give_packet(struct sl_feed *feed, const void *packet, uint64_t bytes, void *owner, int32_t timeout_ms,
                        uint64_t *index) {
  if (!packet) return SL_EINVAL;
  const struct sl_feed_entry entry = {.packet = packet, .packet_bytes = bytes};
  return give(feed, &entry, owner, timeout_ms, index);
}

int sl_feed_give_arrays(struct sl_feed *feed, const struct sl_feed_arrays *events, int32_t timeout_ms,
                        uint64_t *index) {
  if (!events || events->size != sizeof *events || !events->arrays) return SL_EINVAL;
  const struct sl_feed_entry entry = {.arrays = events->arrays,
                                      .array_count = events->array_count,
                                      .event_count = events->event_count,
                                      .number = events->number,
                                      .run = events->run};
  return give(feed, &entry, events->owner, timeout_ms, index);
}

int sl_feed_is_arrays(const struct sl_feed *feed) { return feed->options.is_arrays != 0; }

int sl_feed_wait(struct sl_feed *feed, uint64_t index, int32_t timeout_ms) {
  struct timespec at;
  int in_time = timeout_ms != 0;
  const struct timespec *deadline = in_time ? deadline_of(timeout_ms, &at) : NULL;
  pthread_mutex_lock(&feed->lock);
  while (index >= feed->delivered && !feed->is_over && !(feed->has_ended && index >= feed->given) && in_time)
    in_time = wait_for(feed, &feed->has_delivered, &feed->waiting_for_delivery, deadline);
  const int is_delivered = index < feed->delivered;
  const int never = !is_delivered && (feed->is_over || (feed->has_ended && index >= feed->given));
  pthread_mutex_unlock(&feed->lock);
  return never ? SL_EINTERRUPTED : is_delivered;
}
