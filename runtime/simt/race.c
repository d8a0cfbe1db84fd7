/* race.c: checks one access of a thread; see race.h. */
#include "simt/race.h"

#include <string.h>

static const struct simt_thread *running(const struct race *r) {
  return &r->machine->thread[r->machine->block.thread_index.x];
}

/* ------------------------------------------------------------------------------------------------ ordering */

static uint32_t warp_of(const struct race *r, uint32_t thread) { return thread / r->machine->settings.warp_size; }

/* Returns 1 if the earlier access is ordered before the present access of this thread. */
static int is_ordered(const struct race *r, struct race_record before, uint32_t thread) {
  const struct simt_machine *m = r->machine;
  if (before.time == 0) return 1;
  if (race_block_of(before) != m->block.block_index.x) return 0;
  if (before.time < m->barrier_time || race_thread_of(before) == thread) return 1;
  const uint32_t warp = warp_of(r, thread);
  return warp_of(r, race_thread_of(before)) == warp && before.time < m->warps[warp].synced;
}

static int is_same_warp(const struct race *r, struct race_record a, struct race_record b) {
  return race_block_of(a) == race_block_of(b) && warp_of(r, race_thread_of(a)) == warp_of(r, race_thread_of(b));
}

static void record_recent(const struct race *r, struct race_record recent[RACE_RECENT], struct race_record now) {
  const uint32_t thread = race_thread_of(now);
  if (is_ordered(r, recent[0], thread)) {
    recent[0] = now;
    if (is_ordered(r, recent[1], thread)) recent[1].time = 0;
  } else if (is_ordered(r, recent[1], thread) ||
             (is_same_warp(r, recent[0], recent[1]) && !is_same_warp(r, recent[0], now))) {
    recent[1] = now;
  }
}

/* ----------------------------------------------------------------------------------------------- histories */

struct access {
  const char *memory;
  uint64_t bytes;
  uint32_t kind, location;
  struct race_record now;
  struct race_record other; /* the first unordered access */
  uint32_t other_kind;
};

static void compare(const struct race *r, struct access *a, struct race_record before, uint32_t kind) {
  if (a->other.time || is_ordered(r, before, race_thread_of(a->now))) return;
  a->other = before;
  a->other_kind = kind;
}

static void compare_all(const struct race *r, struct access *a, const struct race_history *h) {
  for (int i = 0; i < RACE_RECENT && a->kind & SL_RACE_WRITE; i++) compare(r, a, h->reads[i], SL_RACE_READ);
  for (int i = 0; i < RACE_RECENT && !(a->kind & SL_RACE_ATOMIC); i++)
    compare(r, a, h->atomics[i], SL_RACE_WRITE | SL_RACE_ATOMIC);
  compare(r, a, h->write, SL_RACE_WRITE);
}

/* A write replaces the history: an access ordered after the write is ordered after all earlier accesses, or a race with
 * them was reported. */
static void record(const struct race *r, struct access *a, struct race_history *h) {
  compare_all(r, a, h);
  if (a->kind == (SL_RACE_WRITE | SL_RACE_ATOMIC)) {
    record_recent(r, h->atomics, a->now);
  } else if (a->kind & SL_RACE_WRITE) {
    *h = (struct race_history){.write = a->now};
  } else if (!(a->kind & SL_RACE_ATOMIC)) { /* of an atomic, only the write part is recorded */
    record_recent(r, h->reads, a->now);
  }
}

/* Returns the histories of the word's bytes, created as copies of the word's history; NULL if there is no room. */
static struct race_history *split(struct race_device *d, struct race_cell *cell) {
  if (cell->bytes == 0) {
    if (d->bytes_taken + RACE_WORD >= RACE_BYTES_MAX) return NULL;
    cell->bytes = 1 + d->bytes_taken;
    d->bytes_taken += RACE_WORD;
    for (int i = 0; i < RACE_WORD; i++) d->bytes[cell->bytes - 1 + i] = cell->word;
  }
  return &d->bytes[cell->bytes - 1];
}

static void record_word(const struct race *r, struct access *a, struct race_cell *cell, uint32_t first, uint32_t end) {
  struct race_device *d = r->device;
  if (cell->generation != d->generation) *cell = (struct race_cell){.generation = d->generation};
  struct race_history *bytes = cell->bytes || end - first < RACE_WORD ? split(d, cell) : NULL;
  if (!bytes) {
    record(r, a, &cell->word);
    return;
  }
  for (uint32_t i = first; i < end; i++) record(r, a, &bytes[i]);
}

static void record_memory(const struct race *r, struct access *a, const struct race_shadow *shadow) {
  const uint64_t begin = (uint64_t)(a->memory - shadow->memory), end = begin + a->bytes;
  for (uint64_t word = begin / RACE_WORD; word * RACE_WORD < end; word++) {
    const uint64_t at = word * RACE_WORD;
    record_word(r, a, &shadow->cells[word], begin > at ? (uint32_t)(begin - at) : 0,
                end < at + RACE_WORD ? (uint32_t)(end - at) : RACE_WORD);
  }
}

/* ------------------------------------------------------------------------------------------------- written */

static uint64_t count_written(const struct race_shadow *s, uint64_t first, uint64_t bytes) {
  uint64_t count = 0;
  for (uint64_t i = first; i < first + bytes; i++) count += s->written[i / 8] >> i % 8 & 1u;
  return count;
}

/* A struct is copied as a whole, including padding without values: for accesses larger than a word, one written byte is
 * enough. */
int race_is_written(const struct race_shadow *s, uint64_t first, uint64_t bytes) {
  if (bytes == RACE_WORD && first % RACE_WORD == 0) return (s->written[first / 8] >> first % 8 & 0xFu) == 0xFu;
  const uint64_t count = count_written(s, first, bytes);
  return bytes <= RACE_WORD ? count == bytes : count > 0;
}

/* ----------------------------------------------------------------------------------------------- the access */

static struct race_event event_of(const struct race *r, const struct access *a, uint32_t kind) {
  return (struct race_event){.kind = kind,
                             .access = a->kind,
                             .location = a->location,
                             .thread = r->machine->block.thread_index.x,
                             .block = r->machine->block.block_index.x,
                             .memory = a->memory,
                             .bytes = a->bytes,
                             .other = a->other,
                             .other_access = a->other_kind};
}

void race_settle(struct race *r) {
  const struct race_pending *p = &r->pending;
  if (p->event.bytes == 0) return;
  if (memcmp(p->before, p->event.memory, p->event.bytes) != 0) race_found(r, &p->event);
  r->pending.event.bytes = 0;
}

static void found_race(struct race *r, const struct access *a) {
  const struct race_event e = event_of(r, a, RACE_NO_BARRIER);
  if (a->kind == SL_RACE_WRITE && a->other_kind == SL_RACE_WRITE && a->bytes <= sizeof r->pending.before) {
    memcpy(r->pending.before, a->memory, a->bytes);
    r->pending.event = e;
    return;
  }
  race_found(r, &e);
}

/* Returns the number of a code location: its index in the hash table. */
static uint32_t find_location(struct race_device *d, const void *code) {
  const uintptr_t hash = (uintptr_t)code * UINT64_C(0x9E3779B97F4A7C15) >> 32;
  uint32_t i = (uint32_t)hash % RACE_LOCATIONS;
  if (i == 0) i = 1;
  while (d->locations[i].code != code && d->locations[i].code) i = i + 1 < RACE_LOCATIONS ? i + 1 : 1;
  if (!d->locations[i].code && d->location_count < RACE_LOCATIONS - RACE_LOCATIONS / 8) {
    d->locations[i].code = code;
    d->location_count++;
  }
  return i;
}

static int is_within(const struct race_range *range, uintptr_t begin, uint64_t bytes) {
  return range && begin >= range->begin && begin + bytes <= range->end;
}

/* Returns 1 for memory that a thread may always use: its own stack and the emulator's data about it. */
static int is_own(const struct race *r, const char *memory) {
  const struct simt_machine *m = r->machine;
  const struct sl_fiber *f = &running(r)->fiber;
  return (uintptr_t)(memory - f->stack) < f->stack_bytes || (uintptr_t)(memory - (const char *)m) < sizeof *m ||
         (uintptr_t)(memory - (const char *)m->api) < sizeof *m->api || memory == (const char *)m->launch->block;
}

/* Returns the range of the access if the node may use it in this way; otherwise reports the access and returns NULL. */
static const struct race_range *find_permitted_range(struct race *r, struct access *a) {
  struct race_location *location = &r->device->locations[a->location];
  const uintptr_t begin = (uintptr_t)a->memory;
  const uint32_t right = a->kind & SL_RACE_WRITE ? SL_RACE_MAY_WRITE : SL_RACE_MAY_READ;
  if (location->node != r->node_number || !is_within(location->range, begin, a->bytes)) {
    location->range = race_range_at(r, begin);
    location->node = r->node_number;
  }
  if (is_within(location->range, begin, a->bytes) && location->range->rights & right) return location->range;
  const struct race_event e = event_of(
      r, a, is_within(location->range, begin, a->bytes) && location->range->rights ? RACE_INPUT : RACE_OUTSIDE);
  location->range = NULL;
  race_found(r, &e);
  return NULL;
}

static void check_access(struct race *r, struct access *a) {
  struct race_shadow *shadow = race_shadow_in_block(r, a->memory, a->bytes);
  if (!shadow) {
    if (race_is_constant(r, a->memory, a->kind)) return;
    const struct race_range *range = find_permitted_range(r, a);
    shadow = range ? range->shadow : NULL;
    if (!shadow) return;
  }
  const uint64_t first = (uint64_t)(a->memory - shadow->memory);
  if (a->kind & SL_RACE_WRITE) {
    race_mark(shadow, first, a->bytes, 1);
  } else if (!race_is_written(shadow, first, a->bytes)) {
    const struct race_event e = event_of(r, a, RACE_UNWRITTEN);
    race_found(r, &e);
  }
  record_memory(r, a, shadow);
  if (a->other.time) found_race(r, a);
}

/* Records a write of a node that is not checked itself. */
static void record_write(struct race *r, const char *memory, uint64_t bytes) {
  struct race_shadow *shadow = race_shadow_at(r, memory);
  if (!shadow) return;
  const uint64_t first = (uint64_t)(memory - shadow->memory);
  if (first + bytes <= shadow->bytes) race_mark(shadow, first, bytes, 1);
}

void race_access(const struct sl_race_api *api, const void *code, const void *memory, uint64_t bytes, uint32_t kind) {
  struct race *r = (struct race *)(uintptr_t)api;
  if (r->pending.event.bytes) race_settle(r);
  if (r->node && r->node->is_upstream) {
    if (kind & SL_RACE_WRITE && !is_own(r, memory)) record_write(r, memory, bytes);
    return;
  }
  if (bytes == 0 || is_own(r, memory)) return;
  if ((kind & (SL_RACE_READ | SL_RACE_WRITE)) == (SL_RACE_READ | SL_RACE_WRITE)) {
    race_access(api, code, memory, bytes, kind & ~(uint32_t)SL_RACE_WRITE);
    kind &= ~(uint32_t)SL_RACE_READ;
  }
  const struct simt_machine *m = r->machine;
  const uint32_t location = find_location(r->device, code);
  const struct race_record now = {m->time, m->block.thread_index.x | m->block.block_index.x << RACE_THREAD_BITS |
                                               location << (RACE_THREAD_BITS + RACE_BLOCK_BITS)};
  struct access a = {memory, bytes, kind, location, now, {0, 0}, 0};
  check_access(r, &a);
}

/* Copying bytes without values is not an error; the copy has no values either. */
void race_copy(const struct sl_race_api *api, const void *code, void *to, const void *from, uint64_t bytes) {
  struct race *r = (struct race *)(uintptr_t)api;
  const struct race_shadow *source = is_own(r, from) ? NULL : race_shadow_at(r, from);
  race_access(api, code, from, bytes, SL_RACE_READ);
  race_access(api, code, to, bytes, SL_RACE_WRITE);
  struct race_shadow *target = is_own(r, to) ? NULL : race_shadow_at(r, to);
  if (!source || !target || (uint64_t)((char *)to - target->memory) + bytes > target->bytes ||
      (uint64_t)((const char *)from - source->memory) + bytes > source->bytes)
    return;
  for (uint64_t i = 0; i < bytes; i++)
    race_mark(target, (uint64_t)((char *)to - target->memory) + i, 1,
              count_written(source, (uint64_t)((const char *)from - source->memory) + i, 1) != 0);
}

/* ------------------------------------------------------------------------------------------------- launches */

static int watch_launch(struct simt_machine *m) {
  struct race *r = m->race;
  r->device->generation++;
  r->device->bytes_taken = 0;
  r->shared = race_shadow_shared(r, m->launch->shared_begin, m->launch->shared_end);
  r->dynamic = m->block.shared ? race_shadow_open(r->device, m->block.shared, m->launch->shared_bytes) : NULL;
  return r->shared && (r->dynamic || !m->block.shared) ? SL_OK : SL_ENOMEM;
}

static void watch_block(struct simt_machine *m) {
  struct race *r = m->race;
  race_settle(r);
  race_mark_unused(r->shared);
  if (r->dynamic) race_mark_unused(r->dynamic);
}

static void watch_end(struct simt_machine *m) {
  struct race *r = m->race;
  race_settle(r);
  if (r->dynamic) race_release(r->device, r->dynamic->memory, 0);
  r->dynamic = NULL;
}

const struct simt_watch race_watch = {watch_launch, watch_block, watch_end};
