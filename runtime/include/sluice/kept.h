/* kept.h: batches that stay in memory after on_batch has returned, on the device that made them. Part of sluice.h.
 *
 *   options.keep_device = 1;
 *   ... in on_batch:
 *   struct sl_kept_batch *kept = NULL;
 *   if (sl_session_keep_batch(session, &kept) == 0) {
 *     const struct sl_kept_memory *m = sl_kept_batch_memory(kept);
 *     ... m->outputs[0].fields[2] is memory of the device m->kind, m->device ...
 *     sl_kept_batch_release(kept);
 *   }
 *
 * Memory. With options.keep_device the results of a slice are packed into memory of the device, which the run does not
 * read: a holder of the batch may also write to it. Fields that only the program reads are not copied to the host:
 * their pointers in struct sl_batch are NULL. Copied are offsets, event lists, fields per slice, totals, and what
 * sinks, digests and --guard read. Targets without a memory of their own (cpu, simt) pack into host memory, and all
 * pointers of struct sl_batch are set.
 *
 * Number. Each slot has memory for two kept batches. If as many batches are kept as the slots have memory for, and the
 * run has a further one to deliver, the run ends with SL_ENOMEM and a message that names the kept batches.
 *
 * Streams. When on_batch is called, the host has waited for the slice: the memory is complete, and work on any stream
 * may read it. The last release ends all use: the run waits for all work that the program has enqueued on the device
 * before it writes to the memory again.
 *
 * Lifetime. A kept batch may outlive a change of the configuration, the run and the session; the device stays open
 * until the last one is released. Texts and collections in `outputs` are valid until the session is closed or the
 * configuration has changed.
 *
 * Threads. All functions may be called from any thread, at the same time, also in callbacks.
 */
#ifndef SLUICE_KEPT_H
#define SLUICE_KEPT_H

#include <sluice/inputs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sl_session;
struct sl_kept_batch;

/* Kinds of memory, with the numbers of DLPack's device types. */
enum { SL_MEMORY_HOST = 1, SL_MEMORY_CUDA = 2, SL_MEMORY_ROCM = 10 };

struct sl_kept_memory {
  uint32_t size;                        /* sizeof(struct sl_kept_memory) */
  uint32_t kind, device;                /* SL_MEMORY_..., and the number of the device; 0 for SL_MEMORY_HOST */
  uint32_t event_count;                 /* as in struct sl_batch */
  uint64_t first_event;                 /* number of events delivered before the batch */
  const struct sl_event *events;        /* in host memory */
  const struct sl_output_view *outputs; /* in the order of sl_batch.outputs. Fields are in memory of `kind`; NULL:
                                         * totals, or a field that the graph does not have. Offsets need not begin at 0,
                                         * and index fields from their first entry on */
  uint32_t output_count, reserved;
};

/* Keeps the present batch: on_batch was called for it and has not returned. Each call adds a holder. SL_EINVAL: there
 * is no such batch, or options.keep_device is 0. Does not wait. */
SL_API int sl_session_keep_batch(struct sl_session *session, struct sl_kept_batch **kept);
/* Returns the memory of the batch. Valid as long as the batch is kept. The run waits for the device before it writes to
 * the memory again; it does not wait if this function was not called. */
SL_API const struct sl_kept_memory *sl_kept_batch_memory(struct sl_kept_batch *kept);
/* Adds a holder, which must release the batch too. */
SL_API void sl_kept_batch_retain(struct sl_kept_batch *kept);
/* Removes a holder; the last one gives the memory back to the run. NULL: does nothing. */
SL_API void sl_kept_batch_release(struct sl_kept_batch *kept);
/* Copies `bytes` bytes of the memory of the batch to host memory. SL_EDEVICE if the device fails. */
SL_API int sl_kept_batch_download(struct sl_kept_batch *kept, void *to, const void *from, uint64_t bytes);

enum { SL_TENSOR_AXES_MAX = 8 };
/* An array in the memory of a kept batch: `type` is SL_TYPE_u8 to SL_TYPE_f64, rows first, without gaps. */
struct sl_tensor {
  uint32_t size; /* sizeof(struct sl_tensor) */
  uint32_t type, axis_count;
  uint32_t is_versioned; /* 1: DLManagedTensorVersioned (DLPack 1.0); 0: DLManagedTensor */
  void *values;          /* may be NULL if it has no values */
  int64_t shape[SL_TENSOR_AXES_MAX];
};
/* Returns a DLPack tensor (DLManagedTensor or DLManagedTensorVersioned), which is a holder of the batch: its `deleter`,
 * called from any thread, releases the batch. NULL: out of memory, or the description is wrong. */
SL_API void *sl_kept_batch_tensor(struct sl_kept_batch *kept, const struct sl_tensor *tensor);
/* Calls the deleter of a DLPack tensor of any library. */
SL_API void sl_tensor_delete(void *tensor, uint32_t is_versioned);

/* Copies memory of a device that another library has allocated to host memory, after all work on the device is done.
 * SL_EINVAL: no backend for this kind of memory, or the memory is not of a device; SL_EDEVICE: the copy failed. */
SL_API int sl_device_download(uint32_t kind, void *to, const void *from, uint64_t bytes, struct sl_diagnostics *d);

#ifdef __cplusplus
}
#endif
#endif
