/* machine.c: runs one block of threads.
 *
 * 1. A thread is ready, running, waiting, or has returned. When the running thread must wait, it picks a ready thread
 *    with the seeded generator and switches to it directly.
 * 2. The last thread to arrive at a barrier or a warp operation makes all threads that wait there ready, including
 *    itself.
 * 3. If no thread is ready and not all have returned, the block is stuck: some threads returned or wait at another
 *    site. The host's stack continues and the fibers are discarded.
 */
#include "simt/machine.h"

#include <stdio.h>
#include <string.h>

enum { PAUSE_EVERY = 8 }; /* atomics between pauses, on average */

uint32_t simt_draw(struct simt_machine *m, uint32_t limit) {
  uint64_t z = m->random += 0x9E3779B97F4A7C15u; /* splitmix64 */
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (uint32_t)(((z ^ z >> 31) >> 32) * limit >> 32);
}

static struct simt_machine *machine_of(struct sl_simt_block *block) {
  return (struct simt_machine *)(void *)((char *)block - offsetof(struct simt_machine, block));
}

static struct simt_thread *running(struct simt_machine *m) { return &m->thread[m->block.thread_index.x]; }

static void make_ready(struct simt_machine *m, struct simt_thread *t) {
  t->state = SIMT_READY;
  m->ready[m->ready_count++] = t->index;
}

static struct simt_thread *take_ready(struct simt_machine *m) {
  if (m->ready_count == 0) return NULL;
  const uint32_t slot = simt_draw(m, m->ready_count), index = m->ready[slot];
  m->ready[slot] = m->ready[--m->ready_count];
  return &m->thread[index];
}

static void set_running(struct simt_machine *m, const struct simt_thread *t) {
  m->block.thread_index.x = t->index;
  m->block.collective = t->collective;
}

void simt_drop(struct simt_machine *m) {
  sl_fiber_switch(&running(m)->fiber, &m->host);
  __builtin_unreachable();
}

/* Suspends the running thread, which has set its state. Returns when the thread is ready and chosen again. */
static void suspend(struct simt_machine *m, struct simt_thread *self) {
  struct simt_thread *next = take_ready(m);
  if (next == self) return;
  self->collective = m->block.collective;
  if (!next) {
    simt_describe(m);
    simt_drop(m);
  }
  set_running(m, next);
  sl_fiber_switch(&self->fiber, &next->fiber);
}

/* ------------------------------------------------------------------------------------------------ barrier */

/* Returns 1 if all threads of [first, end) that have not returned wait at the same site. */
static int all_wait_at_one_site(const struct simt_machine *m, uint32_t first, uint32_t end, uint32_t state) {
  const struct simt_thread *one = NULL;
  for (uint32_t i = first; i < end; i++) {
    const struct simt_thread *t = &m->thread[i];
    if (t->state == SIMT_RETURNED) continue;
    if (t->state != state) return 0;
    if (!one) one = t;
    if (t->site != one->site || t->collective != one->collective) return 0;
  }
  return 1;
}

void simt_barrier(struct sl_simt_block *block, const struct sl_simt_site *site) {
  struct simt_machine *m = machine_of(block);
  struct simt_thread *self = running(m);
  self->site = site;
  self->state = SIMT_AT_BARRIER;
  self->collective = block->collective;
  if (++m->waiting == m->threads && all_wait_at_one_site(m, 0, m->threads, SIMT_AT_BARRIER)) {
    m->waiting = 0;
    m->barrier_time = ++m->time;
    for (uint32_t i = 0; i < m->threads; i++) make_ready(m, &m->thread[i]);
  }
  suspend(m, self);
}

/* -------------------------------------------------------------------------------------------------- warps */

static uint64_t warp_result(const struct simt_machine *m, const struct simt_thread *t, uint32_t first,
                            uint64_t ballot) {
  if (t->operation == SL_SIMT_BALLOT) return ballot;
  if (t->operation == SL_SIMT_SYNC) return 0;
  const uint32_t source = first + t->lane;
  if (t->lane >= m->settings.warp_size || source >= m->threads || m->thread[source].state == SIMT_RETURNED)
    return m->poison;
  return m->thread[source].value;
}

/* Makes the warp's threads ready if all that have not returned wait at the same site. */
static void resolve_warp(struct simt_machine *m, uint32_t index) {
  struct simt_warp *warp = &m->warps[index];
  const uint32_t first = index * m->settings.warp_size, end = first + warp->threads;
  if (warp->waiting == 0 || warp->waiting + warp->returned < warp->threads) return;
  if (!all_wait_at_one_site(m, first, end, SIMT_AT_WARP)) return;
  uint64_t ballot = 0;
  int is_sync = 0; /* equal for all threads */
  for (uint32_t i = first; i < end; i++)
    if (m->thread[i].state == SIMT_AT_WARP && m->thread[i].value) ballot |= (uint64_t)1 << (i - first);
  for (uint32_t i = first; i < end; i++)
    if (m->thread[i].state == SIMT_AT_WARP) {
      is_sync = m->thread[i].operation == SL_SIMT_SYNC;
      m->thread[i].result = warp_result(m, &m->thread[i], first, ballot);
    }
  for (uint32_t i = first; i < end; i++)
    if (m->thread[i].state == SIMT_AT_WARP) make_ready(m, &m->thread[i]);
  warp->waiting = 0;
  if (is_sync) warp->synced = ++m->time;
}

uint64_t simt_warp(struct sl_simt_block *block, const struct sl_simt_site *site, uint32_t operation, uint64_t value,
                   uint32_t lane) {
  struct simt_machine *m = machine_of(block);
  struct simt_thread *self = running(m);
  self->site = site;
  self->state = SIMT_AT_WARP;
  self->collective = block->collective;
  self->operation = operation;
  self->value = value;
  self->lane = lane;
  m->warps[self->index / m->settings.warp_size].waiting++;
  resolve_warp(m, self->index / m->settings.warp_size);
  suspend(m, self);
  return self->result;
}

/* -------------------------------------------------------------------------------------------------- block */

static void draw_pause(struct simt_machine *m) { m->block.atomics_to_pause = 1 + simt_draw(m, 2 * PAUSE_EVERY - 1); }

void simt_pause(struct sl_simt_block *block) {
  struct simt_machine *m = machine_of(block);
  struct simt_thread *self = running(m);
  draw_pause(m);
  make_ready(m, self);
  suspend(m, self);
}

static void run_thread(void *argument) {
  struct simt_thread *self = argument;
  struct simt_machine *m = self->machine;
  sl_fiber_begin(&m->host);
  m->launch->thread(m->launch->args);
  self->state = SIMT_RETURNED;
  self->collective = NULL;
  m->returned++;
  m->warps[self->index / m->settings.warp_size].returned++;
  resolve_warp(m, self->index / m->settings.warp_size);
  const struct simt_thread *next = take_ready(m);
  if (!next && m->returned < m->threads) simt_describe(m);
  if (next) set_running(m, next);
  sl_fiber_leave(&self->fiber, next ? (struct sl_fiber *)(uintptr_t)&next->fiber : &m->host);
}

/* Chooses the bytes that fill shared memory and represent missing lanes: as floats NaN, 3e38, -3e-16 or 1e16, and large
 * integers. */
static void draw_poison(struct simt_machine *m) {
  static const unsigned char bytes[] = {0xFF, 0x7F, 0xA5, 0x5A};
  memset(&m->poison, bytes[simt_draw(m, sizeof bytes)], sizeof m->poison);
}

static void poison_shared(struct simt_machine *m) {
  const struct sl_simt_launch *launch = m->launch;
  const int byte = (int)(m->poison & 0xFF);
  memset(launch->shared_begin, byte, (size_t)(launch->shared_end - launch->shared_begin));
  if (m->block.shared) memset(m->shared_memory, byte, launch->shared_bytes + 2ull * SIMT_GUARD_BYTES);
}

static int is_poisoned(const struct simt_machine *m, const unsigned char *guard) {
  for (int i = 0; i < SIMT_GUARD_BYTES; i++)
    if (guard[i] != (unsigned char)(m->poison & 0xFF)) return 0;
  return 1;
}

static void check_guards(struct simt_machine *m) {
  if (!m->block.shared || m->message[0]) return;
  const uint32_t bytes = m->launch->shared_bytes;
  const int is_before = !is_poisoned(m, m->shared_memory);
  if (is_before || !is_poisoned(m, m->shared_memory + SIMT_GUARD_BYTES + bytes))
    snprintf(m->message, sizeof m->message,
             "kernel %s, block %u of %u wrote %s of its %u bytes of shared memory (simt.seed=%llu, simt.warp=%u)",
             m->launch->kernel, m->block.block_index.x, m->block.grid_dim.x,
             is_before ? "before the beginning" : "past the end", bytes, (unsigned long long)m->settings.seed,
             m->settings.warp_size);
}

int simt_block_run(struct simt_machine *m) {
  draw_poison(m);
  draw_pause(m);
  poison_shared(m);
  if (m->watch) m->watch->block(m);
  m->barrier_time = ++m->time; /* separates the accesses of consecutive blocks */
  m->waiting = m->returned = m->ready_count = 0;
  m->message[0] = '\0';
  for (uint32_t first = 0, w = 0; first < m->threads; first += m->settings.warp_size, w++)
    m->warps[w] = (struct simt_warp){.threads = m->threads - first < m->settings.warp_size ? m->threads - first
                                                                                           : m->settings.warp_size};
  for (uint32_t i = 0; i < m->threads; i++) {
    struct simt_thread *t = &m->thread[i];
    t->machine = m;
    t->index = i;
    t->site = t->collective = NULL;
    sl_fiber_prepare(&t->fiber, run_thread, t);
    make_ready(m, t);
  }
  struct simt_thread *first = take_ready(m);
  set_running(m, first);
  sl_fiber_switch(&m->host, &first->fiber);
  check_guards(m);
  return m->message[0] ? SL_EDEVICE : SL_OK;
}
