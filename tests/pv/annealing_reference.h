/* annealing_reference.h: plain version of pv.annealing (plugins/pv/README.md) in double precision. */
#ifndef TEST_PV_ANNEALING_REFERENCE_H
#define TEST_PV_ANNEALING_REFERENCE_H

#include "reference.h"

enum { ANNEALED_TRACKS = 12000, ANNEALED_MAX = 32 };

/* Tracks that are annealed together. */
struct annealed {
  uint32_t count;
  double z[ANNEALED_TRACKS], weight[ANNEALED_TRACKS], prior[ANNEALED_TRACKS];
};

struct annealed_seed {
  double z, weight;
};

/* Runs the schedule with the default properties; returns the number of seeds, by ascending z. */
uint32_t annealed_solve(const struct annealed *tracks, struct annealed_seed seeds[ANNEALED_MAX]);

/* Runs the whole algorithm on one event of the slice. */
void annealed_find(const struct states *s, uint32_t event, struct reference *r);

#endif
