/* momenta.h: momenta of tracks compared with the true ones, in bins of the true momentum. */
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
  struct spread pull[MOMENTUM_BINS + 1]; /* (q/p - true q/p) / error */
};

/* Adds a track of a particle; counted if the particle is charged, not an electron, and has all these flags. `range`
 * is the range of the spreads; it must be the same in all calls. */
void momenta_add(struct momenta *m, double range, const struct mc_particle *particle, uint32_t flags, double qop);

/* Adds the pull of a track of such a particle, with the variance of its q/p. The report counts variances that are not
 * positive as ignored. */
void momenta_add_pull(struct momenta *m, const struct mc_particle *particle, uint32_t flags, double qop,
                      double variance);

/* Writes the array `momentum` of a report, and a line for each bin with tracks; the pulls, too, if there
 * are any. */
void momenta_report(const struct momenta *m, double range, const struct sl_report *r);

#endif
