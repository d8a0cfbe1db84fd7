/* machine.h: shared by the emulator's files: the threads of a block and their states. */
#ifndef SL_SIMT_MACHINE_H
#define SL_SIMT_MACHINE_H

#include "simt/fiber.h"
#include "simt/simt.h"

#include <sluice/simt_abi.h>

enum { SIMT_MAX_THREADS = 1024, SIMT_MAX_WARPS = SIMT_MAX_THREADS / 32, SIMT_MESSAGE_BYTES = 1536 };

/* Bytes before and after the memory of sl_shared_memory() that must not change. */
enum { SIMT_GUARD_BYTES = 64 };

enum { SIMT_READY, SIMT_AT_BARRIER, SIMT_AT_WARP, SIMT_RETURNED };

struct simt_thread {
  struct sl_fiber fiber;
  struct simt_machine *machine;
  uint32_t index, state;
  const struct sl_simt_site *site;       /* site where it waits */
  const struct sl_simt_site *collective; /* collective in which it is, while it is not running */
  uint32_t operation, lane;              /* of a warp operation */
  uint64_t value, result;
};

struct simt_warp {
  uint32_t waiting, returned, threads;
  uint32_t synced; /* time of the last sl_warp_sync() of its threads */
};

struct simt_machine;

/* Callbacks for race detection: simt/race.h. */
struct simt_watch {
  int (*launch)(struct simt_machine *m); /* before the first block; may return SL_ENOMEM */
  void (*block)(struct simt_machine *m); /* before each block: shared memory holds no values */
  void (*end)(struct simt_machine *m);   /* at the end of the launch */
};

struct sl_device {
  uint64_t seed;
  uint32_t warp_size, shared_bytes;
};

/* The emulator of a stream. */
struct simt_machine {
  struct sl_stream stream; /* first members of struct sl_simt_stream and struct sl_race_stream */
  const struct sl_simt_api *api;
  struct simt_machine *self;
  void *race; /* state of the race detection; NULL: off */
  const struct simt_watch *watch;
  struct sl_device settings;
  uint64_t launches, random;
  struct sl_fiber host; /* the stack of the launching thread */
  const struct sl_simt_launch *launch;
  struct sl_simt_block block;
  uint32_t threads, opened; /* threads of a block; threads that have a stack */
  uint32_t waiting, returned, ready_count;
  uint32_t ready[SIMT_MAX_THREADS];
  struct simt_warp warps[SIMT_MAX_WARPS];
  struct simt_thread thread[SIMT_MAX_THREADS];
  uint32_t time, barrier_time; /* in the launch: number of times threads have met; value at the block's last barrier */
  uint64_t poison;
  unsigned char *shared_memory;     /* of sl_shared_memory(), between two guards; NULL: none was requested yet */
  uint64_t shared_capacity;         /* its size without guards */
  char message[SIMT_MESSAGE_BYTES]; /* not empty: the block failed */
};

/* machine.c. Runs one block of machine->launch; block.block_index, block_dim and grid_dim must be set, and the threads
 * must have stacks. Returns 0, or SL_EDEVICE with a message. */
int simt_block_run(struct simt_machine *m);
void simt_barrier(struct sl_simt_block *block, const struct sl_simt_site *site);
uint64_t simt_warp(struct sl_simt_block *block, const struct sl_simt_site *site, uint32_t operation, uint64_t value,
                   uint32_t lane);
void simt_pause(struct sl_simt_block *block);
/* Discards the block because the running thread cannot continue; the reason is in machine->message. */
void simt_drop(struct simt_machine *m) __attribute__((noreturn));
/* Returns the next random number below `limit`. */
uint32_t simt_draw(struct simt_machine *m, uint32_t limit);

/* describe.c. For a stuck block: writes to machine->message which threads wait where. */
void simt_describe(struct simt_machine *m);

#endif
