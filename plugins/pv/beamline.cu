/* beamline.cu: primary vertices around the peaks of a histogram along the beam line (spec velo_pv.md B). */
#include "fit.h"
#include "prepare.h"

struct beamline_args {
  PV_FIT_FIELDS
  float bin_width;
};

SL_KERNEL(beamline_seeds, struct beamline_args) {
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) a.seed_count[event] = 0;
  }
}

static int run(const struct sl_launch *l, const struct beamline_args *a) {
  const struct pv_fit fit = pv_fit_of(a);
  int error = pv_prepare_launch(l, &fit);
  if (!error) error = SL_LAUNCH(l, beamline_seeds, SL_PER_EVENT, *a);
  if (!error) error = pv_fit_launch(l, &fit);
  return error;
}

#define SL_ARGS beamline_args
static const struct sl_member beamline_members[] = {
    PV_FIT_MEMBERS SL_F32(bin_width, 0.25, 0.001, 100.0, "mm", "bins of the histogram"),
};
SL_ALGORITHM(beamline, "primary vertices around the peaks of a histogram along the beam line", 128, run);
