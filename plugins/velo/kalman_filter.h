/* kalman_filter.h: what the versions of the filter share. Private to the plugin. */
#ifndef VELO_KALMAN_FILTER_H
#define VELO_KALMAN_FILTER_H

#include "velo/event_model.h"

#include <sluice/kernel.h>

/* Variance of a hit in x and in y, in mm^2, and the plane of the downstream state, in mm. */
#define KALMAN_HIT_VARIANCE 1.5625e-4f
#define KALMAN_END_Z        770.0f
/* Below this tx^2 + ty^2 a track is parallel to the beam line, which then has no nearest point. */
#define KALMAN_PARALLEL 1e-12f

struct kalman_filter_args {
  struct sl_events events;
  struct velo_tracks_view tracks;
  struct velo_geometry_view geometry;
  struct velo_beamline_states beamline_states;
  struct velo_end_states end_states;
  float noise, noise_per_slope2;
  uint32_t *order; /* of the version shaped for the CPU: an event's tracks, by length */
};

#if defined(SL_TARGET_CPU)
int kalman_filter_tuned(const struct sl_launch *l, const void *args);
#define KALMAN_FILTER_TUNED kalman_filter_tuned
#else
#define KALMAN_FILTER_TUNED NULL
#endif

#endif
