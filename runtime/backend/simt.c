/* simt.c: the backend of target simt, the emulator of a GPU in runtime/simt. Its device is the host: except for kernel
 * launches, it uses the functions of target cpu. Blocks have the node's own size. */
#include "simt/simt.h"

#include "backend/backend.h"

static void *simt_allocate(struct sl_device *device, uint64_t bytes) { return sl_cpu_backend.allocate(device, bytes); }

static void simt_release(struct sl_device *device, void *memory, uint64_t bytes) {
  sl_cpu_backend.release(device, memory, bytes);
}

/* Errors of the emulator are reported through the launch's services. */
static const char *simt_error(struct sl_device *device) { return sl_cpu_backend.error(device); }

static int simt_zero(struct sl_stream *stream, void *memory, uint64_t bytes) {
  return sl_cpu_backend.zero(stream, memory, bytes);
}

static int simt_clear(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
                      uint8_t *byte, uint8_t value) {
  return sl_cpu_backend.clear(stream, ranges, count, bytes_max, byte, value);
}

static int simt_combine(struct sl_stream *stream, const struct sl_combination *combination) {
  return sl_cpu_backend.combine(stream, combination);
}

static int simt_scan(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound) {
  return sl_cpu_backend.scan(l, counts, bound);
}

static int simt_scan_items(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets,
                           const struct sl_bound *bound) {
  return sl_cpu_backend.scan_items(l, counts, offsets, bound);
}

static struct sl_stream *simt_stream_open(struct sl_device *device, uint32_t slots) {
  (void)slots;
  return sl_simt_stream_open(device);
}

const struct sl_backend sl_backend_simt = {.size = sizeof(struct sl_backend),
                                           .target = "simt",
                                           .default_slice_events = 8,
                                           .block_threads = 0,
                                           .slices_in_flight = 1,
                                           .open = sl_simt_device_open,
                                           .close = sl_simt_device_close,
                                           .set = sl_simt_device_set,
                                           .allocate = simt_allocate,
                                           .release = simt_release,
                                           .allocate_host = simt_allocate,
                                           .release_host = simt_release,
                                           .stream_open = simt_stream_open,
                                           .stream_close = sl_simt_stream_close,
                                           .error = simt_error,
                                           .describe = sl_simt_device_describe,
                                           .shared_bytes = sl_simt_shared_bytes,
                                           .zero = simt_zero,
                                           .clear = simt_clear,
                                           .combine = simt_combine,
                                           .scan = simt_scan,
                                           .scan_items = simt_scan_items};
