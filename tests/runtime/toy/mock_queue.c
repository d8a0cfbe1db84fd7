/* mock_queue.c: see mock_queue.h. A job is done after all earlier jobs of its stream; an await is done when the other
 * stream has done as many jobs as it had when the index was reached. Streams that await each other form a group, which
 * one thread works on. */
#include "toy/mock_queue.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

enum { GROUP_MAX = 64 };

struct stream;

/* A job, or an await of the first `count` entries of `other`. */
struct entry {
  mock_job *job;
  void *args;
  size_t bytes;
  struct stream *stream, *other;
  uint64_t count;
};

struct entries {
  struct entry *at;
  uint64_t count, capacity;
};

#define NEVER UINT64_MAX

struct stream {
  struct sl_stream base;
  mock_launch *launch; /* used by mock_launch.h */
  struct entries queue;
  uint64_t done;
  int failed;
  uint64_t *reached;
  uint32_t reached_capacity;
  uint64_t finished[MOCK_SLICES];
  struct entries *capturing; /* entries of the stream where the capture began: those of all its streams, in the order of
                              * enqueueing; counts of awaits are relative to the beginning of the capture */
  uint64_t captured; /* number of captured entries of this stream; in a replay: index of the first replayed one */
  struct entries graphs[MOCK_SLICES], open_graph;
  struct stream *leader;             /* of this stream's group */
  struct stream *members[GROUP_MAX]; /* of the group, in its leader */
  uint32_t member_count;
  uint64_t random;
};

static struct stream *of(struct sl_stream *stream) { return (struct stream *)(void *)stream; }

static int append(struct entries *e, const struct entry *entry) {
  if (e->count == e->capacity) {
    const uint64_t capacity = 2 * e->capacity + 64;
    struct entry *at = realloc(e->at, capacity * sizeof *at);
    if (!at) return SL_ENOMEM;
    e->at = at;
    e->capacity = capacity;
  }
  e->at[e->count] = *entry;
  if (entry->bytes > 0) {
    e->at[e->count].args = malloc(entry->bytes);
    if (!e->at[e->count].args) return SL_ENOMEM;
    memcpy(e->at[e->count].args, entry->args, entry->bytes);
  }
  e->count++;
  return SL_OK;
}

static void clear_entries(struct entries *e) {
  for (uint64_t i = 0; i < e->count; i++) free(e->at[i].args);
  free(e->at);
  *e = (struct entries){NULL, 0, 0};
}

static int enqueue(struct stream *s, const struct entry *entry) {
  if (!s->capturing) return append(&s->queue, entry);
  s->captured++;
  return append(s->capturing, entry);
}

static uint64_t length_of(const struct stream *s) { return s->capturing ? s->captured : s->queue.count; }

/* ------------------------------------------------------------------------------------------------ streams */

struct sl_stream *mock_queue_open(mock_launch *launch) {
  struct stream *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->launch = launch;
  s->leader = s;
  s->members[s->member_count++] = s;
  const char *order = getenv("SLUICE_MOCK_ORDER");
  s->random = order ? strtoull(order, NULL, 10) : 0;
  return &s->base;
}

void mock_queue_close(struct sl_stream *stream) {
  struct stream *s = of(stream);
  clear_entries(&s->queue);
  clear_entries(&s->open_graph);
  for (uint32_t f = 0; f < MOCK_SLICES; f++) clear_entries(&s->graphs[f]);
  free(s->reached);
  free(s);
}

int mock_queue_add(struct sl_stream *stream, mock_job *job, const void *args, size_t bytes) {
  return enqueue(of(stream), &(struct entry){job, (void *)(uintptr_t)args, bytes, of(stream), NULL, 0});
}

int mock_queue_reached(struct sl_stream *stream, uint32_t index) {
  struct stream *s = of(stream);
  if (index >= s->reached_capacity) {
    uint64_t *reached = realloc(s->reached, (2 * index + 64) * sizeof *reached);
    if (!reached) return SL_ENOMEM;
    for (uint32_t i = s->reached_capacity; i < 2 * index + 64; i++) reached[i] = NEVER;
    s->reached = reached;
    s->reached_capacity = 2 * index + 64;
  }
  s->reached[index] = length_of(s);
  return SL_OK;
}

static int join_groups(struct stream *into, struct stream *from) {
  if (into == from) return SL_OK;
  if (into->member_count + from->member_count > GROUP_MAX) return SL_EDEVICE;
  for (uint32_t i = 0; i < from->member_count; i++) {
    from->members[i]->leader = into;
    into->members[into->member_count++] = from->members[i];
  }
  return SL_OK;
}

/* An index that was reached outside of a capture cannot be awaited inside it, and vice versa. */
static void set_capturing(struct stream *s, struct entries *entries) {
  s->capturing = entries;
  s->captured = 0;
  for (uint32_t i = 0; i < s->reached_capacity; i++) s->reached[i] = NEVER;
}

int mock_queue_await(struct sl_stream *stream, struct sl_stream *other, uint32_t index) {
  struct stream *s = of(stream), *o = of(other);
  if (index >= o->reached_capacity || o->reached[index] == NEVER) return SL_EDEVICE;
  if (o->capturing && !s->capturing) set_capturing(s, o->capturing);
  if (s->capturing != o->capturing) return SL_EDEVICE;
  const int status = join_groups(o->leader, s->leader);
  return status < 0 ? status : enqueue(s, &(struct entry){NULL, NULL, 0, s, o, o->reached[index]});
}

/* ------------------------------------------------------------------------------------------------ captures */

int mock_queue_capture_begin(struct sl_stream *stream) {
  struct stream *s = of(stream);
  clear_entries(&s->open_graph);
  set_capturing(s, &s->open_graph);
  return SL_OK;
}

/* Returns 1 if the end of the stream comes after all captured entries. Goes back from the end and marks its
 * predecessors. */
static int is_joined(const struct stream *end, const struct entries *g) {
  uint64_t left = g->count;
  uint64_t counted[GROUP_MAX] = {0}, wanted[GROUP_MAX] = {0};
  const struct stream *leader = end->leader;
  for (uint32_t m = 0; m < leader->member_count; m++) {
    counted[m] = leader->members[m]->capturing == g ? leader->members[m]->captured : 0;
    if (leader->members[m] == end) wanted[m] = counted[m];
  }
  for (uint64_t i = g->count; i > 0; i--) {
    const struct entry *e = &g->at[i - 1];
    uint32_t m = 0, o = 0;
    while (leader->members[m] != e->stream) m++;
    while (e->other && leader->members[o] != e->other) o++;
    if (counted[m]-- > wanted[m]) continue; /* not before the end */
    left--;
    if (e->other && wanted[o] < e->count) wanted[o] = e->count;
  }
  return left == 0;
}

int mock_queue_capture_end(struct sl_stream *stream, uint32_t slice_index) {
  struct stream *s = of(stream), *leader = s->leader;
  const int joined = is_joined(s, &s->open_graph);
  for (uint32_t m = 0; m < leader->member_count; m++) set_capturing(leader->members[m], NULL);
  if (!joined) return SL_EDEVICE;
  clear_entries(&s->graphs[slice_index]);
  s->graphs[slice_index] = s->open_graph;
  s->open_graph = (struct entries){NULL, 0, 0};
  return SL_OK;
}

int mock_queue_replay(struct sl_stream *stream, uint32_t slice_index) {
  struct stream *leader = of(stream)->leader;
  const struct entries *entries = &of(stream)->graphs[slice_index];
  for (uint32_t m = 0; m < leader->member_count; m++) leader->members[m]->captured = leader->members[m]->queue.count;
  for (uint64_t i = 0; i < entries->count; i++) {
    struct entry e = entries->at[i];
    if (e.other) e.count += e.other->captured; /* relative to the beginning of the replay */
    const int status = append(&e.stream->queue, &e);
    if (status < 0) return status;
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- running */

static int is_ready(const struct stream *s) {
  if (s->done == s->queue.count) return 0;
  const struct entry *next = &s->queue.at[s->done];
  return !next->other || next->other->done >= next->count;
}

static struct stream *choose(struct stream *leader) {
  const char *order = getenv("SLUICE_MOCK_ORDER");
  struct stream *ready[GROUP_MAX];
  uint32_t count = 0;
  for (uint32_t m = 0; m < leader->member_count; m++)
    if (is_ready(leader->members[m])) ready[count++] = leader->members[m];
  if (count == 0) return NULL;
  if (order && strcmp(order, "first") == 0) return ready[0];
  if (!order || strcmp(order, "last") == 0) return ready[count - 1];
  leader->random = leader->random * 6364136223846793005u + 1442695040888963407u;
  return ready[(leader->random >> 33) % count];
}

static void run_one(struct stream *s) {
  const struct entry *e = &s->queue.at[s->done];
  const int status = e->job ? e->job(e->args) : SL_OK;
  if (status < 0) s->leader->failed = status;
  s->done++;
}

static int run_until(struct stream *s, uint64_t count) {
  while (s->done < count) {
    struct stream *next = choose(s->leader);
    if (!next) return SL_EDEVICE; /* the streams await each other */
    run_one(next);
  }
  return s->leader->failed;
}

void mock_queue_finished(struct sl_stream *stream, uint32_t slice_index) {
  of(stream)->finished[slice_index] = length_of(of(stream));
}

int mock_queue_wait(struct sl_stream *stream, uint32_t slice_index) {
  return run_until(of(stream), of(stream)->finished[slice_index]);
}

int mock_queue_settle(struct sl_stream *stream) { return run_until(of(stream), of(stream)->queue.count); }
