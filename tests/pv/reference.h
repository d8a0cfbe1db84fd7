/* reference.h: plain version of pv.beamline (plugins/pv/README.md) in double precision. */
#ifndef TEST_PV_REFERENCE_H
#define TEST_PV_REFERENCE_H

#include "states.h"

enum { REFERENCE_MAX = 4000 };

struct reference_vertex {
  double x, y, z, c_xx, c_xy, c_yy, c_xz, c_yz, c_zz, chi2, weight;
  uint32_t tracks;
};

struct reference {
  uint32_t seed_count, vertex_count;
  double seed_z[REFERENCE_MAX];
  struct reference_vertex vertex[REFERENCE_MAX];
};

/* Runs on one event of the slice. */
void reference_find(const struct states *s, uint32_t event, struct reference *r);

/* Runs the fit alone, from r->seed_z: for every finder. */
void reference_fit(const struct states *s, uint32_t event, struct reference *r);

#endif
