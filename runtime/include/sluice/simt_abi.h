/* simt_abi.h: the interface between a kernel compiled for the emulator (kernel_simt.h) and the emulator (runtime/simt).
 *
 * Frozen by SL_SIMT_VERSION: the emulator accepts every plugin; a plugin refuses an emulator of another version.
 */
#ifndef SLUICE_SIMT_ABI_H
#define SLUICE_SIMT_ABI_H

#include <sluice/plugin.h>

#define SL_SIMT_VERSION 2u

struct sl_dim3 {
  uint32_t x;
};

/* A point in a kernel where threads meet; identified by its address. */
struct sl_simt_site {
  const char *what; /* "__syncthreads()" */
  const char *file;
  uint32_t line, reserved;
};

struct sl_simt_api;

/* The running block, with the indices of its running thread. */
struct sl_simt_block {
  struct sl_dim3 thread_index, block_index, block_dim, grid_dim;
  uint32_t warp_size;        /* 32 or 64 */
  uint32_t atomics_to_pause; /* decremented by atomics; at 0 another thread may run */
  const struct sl_simt_api *api;
  const struct sl_simt_site *collective; /* collective in which the running thread is, or NULL */
  void *shared;                          /* shared memory that the launch requested, or NULL */
};

enum { SL_SIMT_SHUFFLE, SL_SIMT_BALLOT, SL_SIMT_SYNC };

/* Arguments of a launch, from SL_LAUNCH. Borrowed until `launch` returns. */
struct sl_simt_launch {
  uint32_t size;
  uint32_t block_threads;
  const char *kernel;
  void (*thread)(const void *args); /* runs one thread of the kernel */
  const void *args;
  struct sl_simt_block **block; /* set while the kernel runs, NULL after */
  char *shared_begin, *shared_end;
  uint32_t grid_blocks;  /* most blocks */
  uint32_t shared_bytes; /* besides the variables between shared_begin and shared_end */
};

/* `launch` runs all blocks and returns 0 or an error that it has reported through the launch's services. The other
 * functions are for a thread of a running block. They do not return if the block broke a rule: its threads are
 * discarded. */
struct sl_simt_api {
  uint32_t size, version;
  int (*launch)(const struct sl_launch *l, const struct sl_simt_launch *launch);
  /* Waits until all threads of the block are at this site. */
  void (*barrier)(struct sl_simt_block *block, const struct sl_simt_site *site);
  /* Waits until all threads of the warp that have not returned are at this site. Returns, for SHUFFLE: the value of
   * `lane`, poison if that lane has returned or does not exist; for BALLOT: one bit for each lane with a nonzero value;
   * for SYNC: 0. */
  uint64_t (*warp)(struct sl_simt_block *block, const struct sl_simt_site *site, uint32_t operation, uint64_t value,
                   uint32_t lane);
  /* May switch to another thread. */
  void (*pause)(struct sl_simt_block *block);
};

/* The struct that sl_launch.backend points to. The runtime owns the first four members. */
struct sl_simt_stream {
  const void *event_count, *handle, *device, *errors;
  const struct sl_simt_api *api;
  void *machine;
};

SL_STATIC_ASSERT(sizeof(struct sl_simt_site) == 24, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_block) == 48, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_launch) == 64, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_api) == 40, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_simt_stream) == 48, "frozen by SL_SIMT_VERSION");

#endif
