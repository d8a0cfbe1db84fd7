/* energy.h: the energy that devices and processors use during a run. See energy.c. */
#ifndef SL_ENERGY_H
#define SL_ENERGY_H

#include "execute/observer.h"
#include "execute/setup.h"

#include <pthread.h>

enum { SL_PACKAGES_MAX = 64 };

/* A processor package; the counter wraps. */
struct sl_package {
  char path[96];
  uint64_t range_uj, last_uj, used_uj;
};

struct sl_energy {
  const struct sl_setup *setup;
  int is_on;
  pthread_mutex_t lock; /* protects what follows */
  struct sl_package packages[SL_PACKAGES_MAX];
  uint32_t package_count;
  double device_begin_j[SL_DEVICES_MAX];
  uint64_t begin_ns;
  struct sl_energy_summary summary;
};

/* Finds the counters. `root` is prepended to the paths under /sys: "" except in tests. */
void sl_energy_open(struct sl_energy *e, const struct sl_setup *setup, const char *root);
/* Begins to measure; a second call begins again. */
void sl_energy_begin(struct sl_energy *e);
/* Ends: `events` were processed meanwhile. */
void sl_energy_end(struct sl_energy *e, uint64_t events);
/* Energy since the beginning, during the measurement; negative: not measured. */
void sl_energy_so_far(struct sl_energy *e, double *device_joules, double *host_joules);
/* Reads the counters once a second, so that no wrap is missed. */
extern const struct sl_observer_calls sl_energy_observer;

#endif
