/* tensor.c: arrays in the memory of kept batches as DLPack tensors, and copies of memory of other libraries.
 *
 * The structs are those of DLPack's ABI, versions 0 and 1: https://dmlc.github.io/dlpack/latest/c_api.html. The deleter
 * is a function of this library, so that it may be called in any thread, and after the interpreter of a language has
 * ended.
 */
#include "base/diagnostics.h"
#include "base/locale.h"
#include "keep/keep.h"
#include "plugin/tables.h"

#include <sluice/sluice.h>

#include <stdlib.h>
#include <string.h>

enum { VERSION_MAJOR = 1, VERSION_MINOR = 0 };

struct dl_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits; /* code: enum below */
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
enum { DL_INT, DL_UINT, DL_FLOAT };

struct dl_managed {
  struct dl_tensor tensor;
  void *manager;
  void (*deleter)(struct dl_managed *self);
};

struct dl_versioned {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags; /* 0: writable, not a copy */
  struct dl_tensor tensor;
};

/* A tensor in either form, with its shape and strides. */
struct exported {
  union {
    struct dl_managed managed;
    struct dl_versioned versioned;
  } as; /* first: its address is that of the struct */
  int64_t shape[SL_TENSOR_AXES_MAX], strides[SL_TENSOR_AXES_MAX];
};

static void delete_managed(struct dl_managed *self) {
  sl_kept_batch_release(self->manager);
  free(self);
}

static void delete_versioned(struct dl_versioned *self) {
  sl_kept_batch_release(self->manager);
  free(self);
}

static uint8_t code_of(uint32_t type) {
  if (type == SL_TYPE_f32 || type == SL_TYPE_f64) return DL_FLOAT;
  return type == SL_TYPE_i8 || type == SL_TYPE_i16 || type == SL_TYPE_i32 || type == SL_TYPE_i64 ? DL_INT : DL_UINT;
}

static int is_valid(const struct sl_tensor *t) {
  if (t->size != sizeof *t || t->type > SL_TYPE_f64 || t->axis_count > SL_TENSOR_AXES_MAX) return 0;
  for (uint32_t i = 0; i < t->axis_count; i++)
    if (t->shape[i] < 0) return 0;
  return 1;
}

void *sl_kept_batch_tensor(struct sl_kept_batch *kept, const struct sl_tensor *t) {
  struct exported *e = is_valid(t) ? calloc(1, sizeof *e) : NULL;
  if (!e) return NULL;
  int64_t stride = 1;
  for (uint32_t i = t->axis_count; i-- > 0;) {
    e->shape[i] = t->shape[i];
    e->strides[i] = stride;
    stride *= t->shape[i] > 0 ? t->shape[i] : 1;
  }
  const struct sl_kept_memory *memory = sl_kept_batch_memory(kept);
  const struct dl_tensor tensor = {.data = t->values,
                                   .device_type = (int32_t)memory->kind,
                                   .device_id = (int32_t)memory->device,
                                   .ndim = (int32_t)t->axis_count,
                                   .code = code_of(t->type),
                                   .bits = (uint8_t)(8 * sl_type_bytes(t->type)),
                                   .lanes = 1,
                                   .shape = e->shape,
                                   .strides = e->strides};
  if (t->is_versioned)
    e->as.versioned = (struct dl_versioned){VERSION_MAJOR, VERSION_MINOR, kept, delete_versioned, 0, tensor};
  else
    e->as.managed = (struct dl_managed){tensor, kept, delete_managed};
  sl_kept_batch_retain(kept);
  return e;
}

void sl_tensor_delete(void *tensor, uint32_t is_versioned) {
  struct dl_managed *managed = tensor;
  struct dl_versioned *versioned = tensor;
  if (is_versioned && versioned->deleter) versioned->deleter(versioned);
  if (!is_versioned && managed->deleter) managed->deleter(managed);
}

/* ------------------------------------------------------------------------------------ memory of other libraries */

static int refuse(struct sl_diagnostics *d, const char *reason) {
  sl_diagnose(d, SL_ERROR, NULL, NULL, "copy the array to host memory first", "memory of a device cannot be read: %s",
              reason);
  return SL_EINVAL;
}

int sl_device_download(uint32_t kind, void *to, const void *from, uint64_t bytes, struct sl_diagnostics *d) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  char reason[512] = "no backend has this kind of memory";
  const char *target = kind == SL_MEMORY_CUDA ? "cuda" : kind == SL_MEMORY_ROCM ? "hip" : NULL;
  const struct sl_backend *backend = target ? sl_backend_load(target, reason, sizeof reason) : NULL;
  struct sl_device *device = NULL;
  uint32_t index = 0;
  if (!backend || backend->open(0, &device, reason, sizeof reason) < 0) return refuse(d, reason);
  backend->close(device);
  if (backend->device_of(from, &index) < 0) return refuse(d, "no device has memory at this address");
  if (backend->open(index, &device, reason, sizeof reason) < 0) return refuse(d, reason);
  int status = backend->settle_device(device);
  if (status == SL_OK) status = backend->download_now(device, to, from, bytes);
  if (status < 0)
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "memory of %s:%u could not be copied: %s", target, index,
                backend->error(device));
  backend->close(device);
  return status;
}
