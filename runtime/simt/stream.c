/* stream.c: settings and streams of the emulator, and launches. See simt.h. */
#include "simt/machine.h"

#include <sluice/simt_race.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 256 << 10, MAX_GRID_BLOCKS = 5 }; /* STACK_BYTES is address space: unused pages cost nothing */
enum { SHARED_BYTES_MAX = 1 << 20 };

#define SAME_OFFSET(member, theirs)                                                                  \
  SL_STATIC_ASSERT(offsetof(struct simt_machine, member) == offsetof(struct sl_simt_stream, theirs), \
                   "frozen by the ABI")
SAME_OFFSET(stream.event_count, event_count);
SAME_OFFSET(stream.device, device);
SAME_OFFSET(api, api);
SAME_OFFSET(self, machine);
SL_STATIC_ASSERT(offsetof(struct simt_machine, race) == offsetof(struct sl_race_stream, race), "frozen by the ABI");

/* -------------------------------------------------------------------------------------------------- settings */

int sl_simt_device_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size) {
  *device = NULL;
  if (index != 0) {
    snprintf(reason, reason_size, "there is one emulator, number 0");
    return SL_EDEVICE;
  }
  *device = malloc(sizeof **device);
  if (!*device) {
    snprintf(reason, reason_size, "out of memory");
    return SL_ENOMEM;
  }
  **device = (struct sl_device){.seed = 1, .warp_size = 32, .shared_bytes = SL_HOST_SHARED_BYTES};
  return SL_OK;
}

void sl_simt_device_close(struct sl_device *device) { free(device); }

int sl_simt_device_set(struct sl_device *device, const char *key, const char *value, char *reason, size_t reason_size) {
  const int is_seed = strcmp(key, "seed") == 0, is_warp = strcmp(key, "warp") == 0;
  if (!is_seed && !is_warp && strcmp(key, "shared") != 0) {
    snprintf(reason, reason_size, "simt has no setting '%s'; it has seed, warp and shared", key);
    return SL_EINVAL;
  }
  char *end = NULL;
  errno = 0;
  const unsigned long long number = strtoull(value, &end, 10);
  const int is_valid = is_seed || (is_warp ? number == 32 || number == 64 : number <= SHARED_BYTES_MAX);
  if (value[0] < '0' || value[0] > '9' || *end || errno || !is_valid) {
    snprintf(reason, reason_size, "simt.%s cannot be '%s'; it is %s", key, value,
             is_seed   ? "a number from 0 to 18446744073709551615"
             : is_warp ? "32 or 64"
                       : "a number of bytes from 0 to 1048576");
    return SL_EINVAL;
  }
  if (is_seed)
    device->seed = number;
  else
    *(is_warp ? &device->warp_size : &device->shared_bytes) = (uint32_t)number;
  return SL_OK;
}

uint32_t sl_simt_shared_bytes(struct sl_device *device) { return device->shared_bytes; }

void sl_simt_device_describe(struct sl_device *device, char *text, size_t size) {
  snprintf(text, size, "emulator, seed %llu, warps of %u", (unsigned long long)device->seed, device->warp_size);
}

/* ---------------------------------------------------------------------------------------------------- launch */

static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;

static int open_threads(struct simt_machine *m, uint32_t threads) {
  for (; m->opened < threads; m->opened++)
    if (sl_fiber_open(&m->thread[m->opened].fiber, STACK_BYTES) < 0) return SL_ENOMEM;
  return SL_OK;
}

static int open_shared(struct simt_machine *m, uint64_t bytes) {
  if (bytes > m->shared_capacity) {
    const uint64_t rounded = (bytes + SIMT_GUARD_BYTES - 1) / SIMT_GUARD_BYTES * SIMT_GUARD_BYTES;
    unsigned char *memory = aligned_alloc(SIMT_GUARD_BYTES, rounded + 2ull * SIMT_GUARD_BYTES);
    if (!memory) return SL_ENOMEM;
    free(m->shared_memory);
    m->shared_memory = memory;
    m->shared_capacity = bytes;
  }
  m->block.shared = bytes ? m->shared_memory + SIMT_GUARD_BYTES : NULL;
  return SL_OK;
}

/* Each launch has its own random sequence, independent of the numbers drawn by earlier launches. */
static void seed_launch(struct simt_machine *m) {
  m->random = m->settings.seed * 0xD1342543DE82EF95u + m->launches++ * 0xAF251AF3B0F025B5u;
}

/* Draws a small, varying number of blocks, so that each processes several events. */
static uint32_t draw_grid(struct simt_machine *m, uint32_t blocks) {
  const uint32_t most = blocks < MAX_GRID_BLOCKS ? blocks : MAX_GRID_BLOCKS;
  const uint32_t drawn = 1 + simt_draw(m, most);
  return m->watch ? most : drawn; /* race detection needs at least two blocks to find conflicts between blocks */
}

static int run_blocks(struct simt_machine *m) {
  uint32_t order[MAX_GRID_BLOCKS] = {0};
  const uint32_t blocks = m->block.grid_dim.x;
  for (uint32_t i = 0; i < blocks; i++) {
    const uint32_t j = simt_draw(m, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  int status = SL_OK;
  for (uint32_t i = 0; i < blocks && status == SL_OK; i++) {
    m->block.block_index.x = order[i];
    status = simt_block_run(m);
  }
  return status;
}

static const struct sl_simt_api simt_api;

static int launch_locked(struct simt_machine *m, const struct sl_simt_launch *launch) {
  if (open_threads(m, launch->block_threads) < 0) return SL_ENOMEM;
  seed_launch(m);
  m->launch = launch;
  m->threads = launch->block_threads;
  m->host = (struct sl_fiber){.stack = NULL};
  m->block = (struct sl_simt_block){.block_dim = {launch->block_threads},
                                    .grid_dim = {draw_grid(m, launch->grid_blocks)},
                                    .warp_size = m->settings.warp_size,
                                    .api = &simt_api};
  m->time = 0;
  int status = open_shared(m, launch->shared_bytes);
  if (status == SL_OK && m->watch) status = m->watch->launch(m);
  if (status < 0) return status;
  *launch->block = &m->block;
  status = run_blocks(m);
  *launch->block = NULL;
  if (m->watch) m->watch->end(m);
  return status;
}

static int simt_launch(const struct sl_launch *l, const struct sl_simt_launch *launch) {
  const struct sl_services *s = l->services;
  struct simt_machine *m = ((const struct sl_simt_stream *)l->backend)->machine;
  if (launch->block_threads == 0 || launch->block_threads % 32 || launch->block_threads > SIMT_MAX_THREADS) {
    s->message(s->context, SL_ERROR, "kernel %s: a block has a multiple of 32 threads, up to %d, not %u",
               launch->kernel, SIMT_MAX_THREADS, launch->block_threads);
    return SL_EINVAL;
  }
  pthread_mutex_lock(&one_launch);
  const int status = launch_locked(m, launch);
  pthread_mutex_unlock(&one_launch);
  if (status == SL_EDEVICE) s->message(s->context, SL_ERROR, "%s", m->message);
  if (status == SL_ENOMEM)
    s->message(s->context, SL_ERROR, "kernel %s: no memory for a block of %u threads", launch->kernel,
               launch->block_threads);
  return status;
}

static const struct sl_simt_api simt_api = {
    sizeof(struct sl_simt_api), SL_SIMT_VERSION, simt_launch, simt_barrier, simt_warp, simt_pause};

/* --------------------------------------------------------------------------------------------------- streams */

struct sl_stream *sl_simt_stream_open(struct sl_device *device) {
  struct simt_machine *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->stream.device = device;
  m->api = &simt_api;
  m->self = m;
  m->settings = *device;
  return &m->stream;
}

void sl_simt_stream_close(struct sl_stream *stream) {
  if (!stream) return;
  struct simt_machine *m = (struct simt_machine *)(void *)stream;
  for (uint32_t i = 0; i < m->opened; i++) sl_fiber_close(&m->thread[i].fiber);
  free(m->shared_memory);
  free(m);
}
