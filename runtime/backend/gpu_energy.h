/* gpu_energy.h: the energy counter of an NVIDIA GPU, part of cuda.cu. It belongs to the management library, NVML, which
 * the driver installs; it is loaded at the first call, so that nothing else depends on it. */
#ifndef SL_GPU_ENERGY_H
#define SL_GPU_ENERGY_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* Functions of NVML; they return 0 on success. Devices are opaque pointers. */
struct nvml {
  int (*init)(void);
  const char *(*error)(int status);
  int (*find)(const char *bus_id, void **device);
  int (*energy)(void *device, unsigned long long *millijoules);
  int is_open;
  char reason[160];
};
static struct nvml nvml;
static pthread_once_t nvml_once = PTHREAD_ONCE_INIT;

static void nvml_open(void) {
  void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (!library) {
    snprintf(nvml.reason, sizeof nvml.reason, "NVML is not installed (libnvidia-ml.so.1)");
    return;
  }
  *(void **)&nvml.init = dlsym(library, "nvmlInit_v2");
  *(void **)&nvml.error = dlsym(library, "nvmlErrorString");
  *(void **)&nvml.find = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
  *(void **)&nvml.energy = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
  if (!nvml.init || !nvml.error || !nvml.find || !nvml.energy) {
    snprintf(nvml.reason, sizeof nvml.reason, "this version of NVML has no energy counters");
    return;
  }
  const int status = nvml.init();
  nvml.is_open = status == 0;
  if (status) snprintf(nvml.reason, sizeof nvml.reason, "NVML: %s", nvml.error(status));
}

/* Returns 0, or -1 with the reason. */
static int nvml_energy(const char *bus_id, double *joules, char *reason, size_t reason_size) {
  void *device = NULL;
  unsigned long long millijoules = 0;
  pthread_once(&nvml_once, nvml_open);
  if (!nvml.is_open) {
    snprintf(reason, reason_size, "%s", nvml.reason);
    return -1;
  }
  int status = nvml.find(bus_id, &device);
  if (status == 0) status = nvml.energy(device, &millijoules);
  if (status) snprintf(reason, reason_size, "NVML: %s", nvml.error(status));
  *joules = 1e-3 * (double)millijoules;
  return status ? -1 : 0;
}

#endif
