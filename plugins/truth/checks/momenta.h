/* momenta.h: how far the momenta of found tracks are from the true ones, in bins of the true one. */
#ifndef TRUTH_MOMENTA_H
#define TRUTH_MOMENTA_H

#include "association/mc_particles.h"
#include "spread.h"

#include <sluice/plugin.h>

enum { MOMENTUM_BINS = 6, ALL_MOMENTA = MOMENTUM_BINS };

struct momenta {
  struct spread qop[MOMENTUM_BINS + 1]; /* (q/p) / (true q/p) - 1 */
  struct spread p[MOMENTUM_BINS + 1];   /* p / true p - 1 */
  uint64_t right_charges[MOMENTUM_BINS + 1];
};

/* A track of a particle: counted if this is charged, no electron, and has all these flags. `range` is that of the
 * spreads, the same in every call. */
void momenta_add(struct momenta *m, double range, const struct mc_particle *particle, uint32_t flags, double qop);

/* The array `momentum` of a report, and a line for each bin that has tracks. */
void momenta_report(const struct momenta *m, double range, const struct sl_report *r);

#endif
