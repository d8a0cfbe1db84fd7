/* simt_abi.h: what a kernel compiled for the emulator (kernel_simt.h) and the emulator (runtime/simt) know of each
 * other.
 *
 * Frozen by SL_SIMT_VERSION: the emulator refuses no plugin, a plugin refuses an emulator of another version.
 */
#ifndef SLUICE_SIMT_ABI_H
#define SLUICE_SIMT_ABI_H

#include <sluice/plugin.h>

#define SL_SIMT_VERSION 2u

struct sl_dim3 {
  uint32_t x;
};

/* A place in a kernel where threads meet; known by its address. */
struct sl_simt_site {
  const char *what; /* "__syncthreads()" */
  const char *file;
  uint32_t line, reserved;
};

struct sl_simt_api;

/* The running block, as its running thread sees it. */
struct sl_simt_block {
  struct sl_dim3 thread_index, block_index, block_dim, grid_dim;
  uint32_t warp_size;        /* 32 or 64 */
  uint32_t atomics_to_pause; /* counted down by atomics; at 0 another thread may run */
  const struct sl_simt_api *api;
  const struct sl_simt_site *collective; /* that the running thread is in, or NULL */
};

enum { SL_SIMT_SHUFFLE, SL_SIMT_BALLOT, SL_SIMT_SYNC };

/* What SL_LAUNCH gives. All is borrowed until `launch` returns. */
struct sl_simt_launch {
  uint32_t size;
  uint32_t block_threads;
  const char *kernel;
  void (*thread)(const void *args); /* one thread of the kernel */
  const void *args;
  struct sl_simt_block **block; /* set while the kernel runs, NULL after */
  char *shared_begin, *shared_end;
  uint32_t grid_blocks; /* at most */
  uint32_t reserved;
};

/* `launch` runs all blocks and returns 0 or an error, whose text went to the launch's services. The others are for a
 * thread of a running block. None of them returns to a block that broke a rule: its threads are dropped. */
struct sl_simt_api {
  uint32_t size, version;
  int (*launch)(const struct sl_launch *l, const struct sl_simt_launch *launch);
  /* Waits for all threads of the block at this site. */
  void (*barrier)(struct sl_simt_block *block, const struct sl_simt_site *site);
  /* Waits at this site for all threads of the warp that have not returned. SHUFFLE: the value of `lane`, poison if it
   * has returned or does not exist. BALLOT: a bit for each lane whose value is not 0. SYNC: 0. */
  uint64_t (*warp)(struct sl_simt_block *block, const struct sl_simt_site *site, uint32_t operation, uint64_t value,
                   uint32_t lane);
  /* Lets another thread run, perhaps. */
  void (*pause)(struct sl_simt_block *block);
};

/* What sl_launch.backend points to. The first four are the runtime's. */
struct sl_simt_stream {
  const void *event_count, *handle, *device, *errors;
  const struct sl_simt_api *api;
  void *machine;
};

SL_STATIC_ASSERT(sizeof(struct sl_simt_site) == 24, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_block) == 40, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_launch) == 64, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_api) == 40, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_stream) == 48, "frozen by SL_SIMT_VERSION");

#endif
