/* kernel_simt_test.c: runs the cases of kernel_test.c, kernel_warp_test.c or launch_test.c (CASES) on the emulator,
 * with each seed, warp size and block size. */
#include "simt/simt.h"

#include <sluice/kernel.h>

static struct sl_launch emulator_launch;

int cases_main(void);
#define main cases_main
#include CASES
#undef main

#include <stdarg.h>
#include <stdio.h>

static void add_message(void *context, uint32_t severity, const char *format, ...) {
  (void)context, (void)severity;
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
}

static int run_cases(const char *seed, const char *warp, uint32_t block_threads) {
  static const struct sl_services services = {.size = sizeof(struct sl_services), .message = add_message};
  char reason[128];
  struct sl_device *device;
  if (sl_simt_device_open(0, &device, reason, sizeof reason) != SL_OK) return 1;
  int failures = sl_simt_device_set(device, "seed", seed, reason, sizeof reason) != SL_OK;
  failures += sl_simt_device_set(device, "warp", warp, reason, sizeof reason) != SL_OK;
  struct sl_stream *stream = sl_simt_stream_open(device);
  emulator_launch = (struct sl_launch){.size = sizeof(struct sl_launch),
                                       .block_threads = block_threads,
                                       .grid_blocks = GRID_BLOCKS,
                                       .events_max = 7,
                                       .services = &services,
                                       .backend = stream};
  printf("seed %s, warp %s, block %u\n", seed, warp, block_threads);
  failures += stream ? cases_main() : 1;
  sl_simt_stream_close(stream);
  sl_simt_device_close(device);
  return failures;
}

int main(void) {
  static const char *const seeds[] = {"1", "2", "3"}, *const warps[] = {"32", "64"};
  static const uint32_t blocks[] = {32, 64, 96, 256, 1024};
  int failures = 0;
  for (uint32_t s = 0; s < COUNT(seeds); s++)
    for (uint32_t w = 0; w < COUNT(warps); w++)
      for (uint32_t b = 0; b < COUNT(blocks); b++) failures += run_cases(seeds[s], warps[w], blocks[b]);
  return failures ? 1 : 0;
}
