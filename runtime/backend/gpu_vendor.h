/* gpu_vendor.h: the names of CUDA and HIP for equivalent functions. */
#ifndef SL_GPU_VENDOR_H
#define SL_GPU_VENDOR_H

#if defined(SL_TARGET_HIP)
#include <hip/hip_runtime.h>
#define GPU(name)          hip##name
#define GPU_HOST_ALLOC     hipHostMalloc
#define GPU_HOST_FREE      hipHostFree
#define GPU_HOST_PORTABLE  hipHostMallocPortable
#define GPU_TARGET         "hip"
#define GPU_MEMORY         SL_MEMORY_ROCM
#define DEVICE_PROPERTIES  hipDeviceProp_t
#define POINTER_ATTRIBUTES hipPointerAttribute_t
#define PROCESSORS_OF      hipDeviceAttributeMultiprocessorCount
#define THREADS_OF         hipDeviceAttributeMaxThreadsPerMultiProcessor
#define SHARED_BYTES_OF    hipDeviceAttributeMaxSharedMemoryPerBlock
/* HIP 6 renamed the member and told managed memory apart. */
#if HIP_VERSION_MAJOR >= 6
#define IS_DEVICE_MEMORY(a) ((a).type == hipMemoryTypeDevice || (a).type == hipMemoryTypeManaged)
#else
#define IS_DEVICE_MEMORY(a) ((a).memoryType == hipMemoryTypeDevice || (a).isManaged)
#endif
#else
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#define GPU(name)           cuda##name
#define GPU_HOST_ALLOC      cudaHostAlloc
#define GPU_HOST_FREE       cudaFreeHost
#define GPU_HOST_PORTABLE   cudaHostAllocPortable
#define GPU_TARGET          "cuda"
#define GPU_MEMORY          SL_MEMORY_CUDA
#define DEVICE_PROPERTIES   cudaDeviceProp
#define POINTER_ATTRIBUTES  cudaPointerAttributes
#define PROCESSORS_OF       cudaDevAttrMultiProcessorCount
#define THREADS_OF          cudaDevAttrMaxThreadsPerMultiProcessor
#define SHARED_BYTES_OF     cudaDevAttrMaxSharedMemoryPerBlockOptin
#define IS_DEVICE_MEMORY(a) ((a).type == cudaMemoryTypeDevice || (a).type == cudaMemoryTypeManaged)
#endif

#endif
