/* gpu_arena.h: the arena of a slot on a GPU, part of cuda.cu. Its size changes while other streams run.
 *
 * cudaMalloc and cudaFree would make all streams wait for about a millisecond. Instead the addresses are reserved once,
 * and physical memory is mapped and unmapped at their end in chunks, by functions of the driver, which libcuda.so.1 has
 * and the runtime library does not. Where the driver cannot do this, and on HIP, memory is allocated and freed.
 */
#ifndef SL_GPU_ARENA_H
#define SL_GPU_ARENA_H

#include "backend/backend.h"
#include "backend/gpu_vendor.h"

#include <stdlib.h>

#if !defined(SL_TARGET_HIP)
#include <cuda.h>
#include <dlfcn.h>

/* Functions of the driver. */
struct gpu_mapping {
  CUresult (*granularity)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags);
  CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
  CUresult (*unreserve)(CUdeviceptr, size_t);
  CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
  CUresult (*release)(CUmemGenericAllocationHandle);
  CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
  CUresult (*unmap)(CUdeviceptr, size_t);
  CUresult (*permit)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
};

static int find_mapping(struct gpu_mapping *m) {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD); /* the runtime library has loaded it */
  if (!driver) return 0;
  static const char *const names[] = {"cuMemGetAllocationGranularity",
                                      "cuMemAddressReserve",
                                      "cuMemAddressFree",
                                      "cuMemCreate",
                                      "cuMemRelease",
                                      "cuMemMap",
                                      "cuMemUnmap",
                                      "cuMemSetAccess"};
  void **const functions[] = {(void **)&m->granularity, (void **)&m->reserve, (void **)&m->unreserve,
                              (void **)&m->create,      (void **)&m->release, (void **)&m->map,
                              (void **)&m->unmap,       (void **)&m->permit};
  int found = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    *functions[i] = dlsym(driver, names[i]);
    found = found && *functions[i] != NULL;
  }
  dlclose(driver);
  return found;
}

enum { CHUNK_BYTES = 32 << 20 };

struct gpu_chunk {
  CUmemGenericAllocationHandle handle;
  size_t bytes;
};
#endif

struct sl_arena {
  int device;
  void *memory;
  uint64_t bytes; /* mapped */
#if !defined(SL_TARGET_HIP)
  struct gpu_mapping driver;
  CUmemAllocationProp kind;
  size_t granularity; /* 0: memory is allocated and freed */
  size_t reserved_bytes;
  struct gpu_chunk *chunks; /* in ascending order of their addresses */
  uint32_t chunk_count, chunk_capacity;
#endif
};

#if !defined(SL_TARGET_HIP)

static size_t rounded(const struct sl_arena *a, uint64_t bytes) {
  const uint64_t least = bytes ? bytes : 1;
  return (size_t)((least + a->granularity - 1) / a->granularity * a->granularity);
}

static void unmap_last(struct sl_arena *a) {
  const struct gpu_chunk *chunk = &a->chunks[--a->chunk_count];
  a->bytes -= chunk->bytes;
  (void)a->driver.unmap((CUdeviceptr)a->memory + a->bytes, chunk->bytes);
  (void)a->driver.release(chunk->handle);
}

/* Appends a chunk. Returns 0 if out of memory. */
static int map_chunk(struct sl_arena *a, size_t bytes) {
  const CUdeviceptr at = (CUdeviceptr)a->memory + a->bytes;
  if (a->bytes + bytes > a->reserved_bytes) return 0;
  if (a->chunk_count == a->chunk_capacity) {
    const uint32_t capacity = 2 * a->chunk_capacity + 16;
    struct gpu_chunk *larger = (struct gpu_chunk *)realloc(a->chunks, capacity * sizeof *larger);
    if (!larger) return 0;
    a->chunks = larger;
    a->chunk_capacity = capacity;
  }
  struct gpu_chunk *chunk = &a->chunks[a->chunk_count];
  CUmemAccessDesc access = {};
  access.location = a->kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  chunk->bytes = bytes;
  if (a->driver.create(&chunk->handle, bytes, &a->kind, 0) != CUDA_SUCCESS) return 0;
  if (a->driver.map(at, bytes, 0, chunk->handle, 0) != CUDA_SUCCESS) {
    (void)a->driver.release(chunk->handle);
    return 0;
  }
  a->chunk_count++;
  a->bytes += bytes;
  if (a->driver.permit(at, bytes, &access, 1) == CUDA_SUCCESS) return 1;
  unmap_last(a);
  return 0;
}

/* Adds or removes chunks. Only whole chunks are removed, so that a smaller size always succeeds. */
static void *resize_mapped(struct sl_arena *a, uint64_t bytes) {
  const size_t needed = rounded(a, bytes), most = rounded(a, CHUNK_BYTES);
  const uint32_t before = a->chunk_count;
  while (a->bytes < needed) {
    if (map_chunk(a, needed - a->bytes < most ? needed - a->bytes : most)) continue;
    while (a->chunk_count > before) unmap_last(a);
    return NULL;
  }
  while (a->chunk_count > 0 && a->bytes - a->chunks[a->chunk_count - 1].bytes >= needed) unmap_last(a);
  return a->memory;
}

static int reserve(struct sl_arena *a, uint64_t bytes_max) {
  a->kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  a->kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  a->kind.location.id = a->device;
  if (!find_mapping(&a->driver)) return 0;
  if (a->driver.granularity(&a->granularity, &a->kind, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS) return 0;
  CUdeviceptr at = 0;
  a->reserved_bytes = rounded(a, bytes_max);
  if (a->driver.reserve(&at, a->reserved_bytes, 0, 0, 0) != CUDA_SUCCESS) return 0;
  a->memory = (void *)at;
  return 1;
}
#endif

static struct sl_arena *arena_open(int device, uint64_t bytes_max) {
  struct sl_arena *a = (struct sl_arena *)calloc(1, sizeof *a);
  if (!a) return NULL;
  a->device = device;
#if defined(SL_TARGET_HIP)
  (void)bytes_max;
#else
  if (!reserve(a, bytes_max)) a->granularity = 0;
#endif
  return a;
}

static void *arena_resize(struct sl_arena *a, uint64_t bytes) {
  (void)GPU(SetDevice)(a->device);
#if !defined(SL_TARGET_HIP)
  if (a->granularity) return resize_mapped(a, bytes);
#endif
  void *memory = NULL;
  if (GPU(Malloc)(&memory, bytes ? bytes : 1) != GPU(Success)) {
    (void)GPU(GetLastError)(); /* the run goes on with the present size */
    return NULL;
  }
  (void)GPU(Free)(a->memory);
  a->memory = memory;
  a->bytes = bytes;
  return memory;
}

static void arena_close(struct sl_arena *a) {
  (void)GPU(SetDevice)(a->device);
#if !defined(SL_TARGET_HIP)
  while (a->chunk_count > 0) unmap_last(a);
  free(a->chunks);
  if (a->granularity) (void)a->driver.unreserve((CUdeviceptr)a->memory, a->reserved_bytes);
  if (a->granularity) a->memory = NULL;
#endif
  (void)GPU(Free)(a->memory);
  free(a);
}

#endif
