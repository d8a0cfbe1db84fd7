/* ghost_network.h: the inputs of the network that gives the probability that a forward track is a ghost (README.md,
 * "Ghosts"). For kernels and host code. */
#ifndef FORWARD_GHOST_NETWORK_H
#define FORWARD_GHOST_NETWORK_H

#include "forward/event_model.h"
#include "forward/state.h"

/* Mirrored in x and y, so that tracks that differ only by a reflection have equal inputs. */
#define FORWARD_GHOST_INPUTS(I)                                                        \
  I(z_cross) /* mm: z at which the lines before and after the magnet meet in x */      \
  I(dx)      /* mm: distance of these lines in x at z = 5 m; > 0: towards the bend */  \
  I(dy)      /* mm: distance in y at z = 10 m; > 0: the SciFi track is further out */  \
  I(dtx)                                                                               \
  I(dty)                                                                               \
  I(log_slope2)  /* log of the square of the slope in the VELO */                      \
  I(log_quality) /* log of Q */                                                        \
  I(hits)                                                                              \
  I(shared_hits) /* hits that are on another track, too */                             \
  I(curvature)   /* 1/m: of the SciFi track, per change of dx/dz in the magnet */      \
  I(ut_ratio)    /* q/p of the VELO-UT track divided by that of the track; no UT: 1 */ \
  I(event_hits)  /* SciFi hits of the event: wrong combinations are frequent if many */
#define FORWARD_GHOST_INPUT_(name) FORWARD_GHOST_INPUT_##name,
enum { FORWARD_GHOST_INPUTS(FORWARD_GHOST_INPUT_) FORWARD_GHOST_INPUT_COUNT };

/* A track before (`velo`) and after the magnet: x = x + tx d + a d^2 at d = z - scifi.z, y = y + ty z. `qop`: of the
 * track, `ut_qop`: of its VELO-UT track, or 0. */
struct forward_ghost_track {
  struct forward_state velo, scifi;
  float a, quality, qop, ut_qop;
  uint32_t hits, shared_hits, event_hits;
};

SL_MATH_FUNCTION void forward_ghost_inputs(const struct forward_ghost_track *t, float *inputs) {
  const float z_x = 5000.0f, z_y = 10000.0f, z_cross_max = 10000.0f, least_slope2 = 1e-10f, least_quality = 1e-6f;
  const float least_dtx = 1e-3f, curvature_max = 0.1f, ratio_max = 5.0f, per_metre = 1000.0f;
  const struct forward_state *v = &t->velo, *s = &t->scifi;
  const float dtx = s->tx - v->tx, size = sl_abs_f32(dtx);
  const float side = sl_copysign_f32(1.0f, dtx), height = sl_copysign_f32(1.0f, v->ty);
  const float velo_x0 = v->x - v->z * v->tx, scifi_x0 = s->x - s->z * s->tx;
  const float curvature = side * t->a * per_metre / sl_max_f32(size, least_dtx);
  inputs[FORWARD_GHOST_INPUT_z_cross] =
      dtx == 0.0f ? 0.0f : sl_clamp_f32((velo_x0 - scifi_x0) / dtx, 0.0f, z_cross_max);
  inputs[FORWARD_GHOST_INPUT_dx] = side * ((scifi_x0 + z_x * s->tx) - (velo_x0 + z_x * v->tx));
  inputs[FORWARD_GHOST_INPUT_dy] = height * ((s->y + z_y * s->ty) - (v->y + (z_y - v->z) * v->ty));
  inputs[FORWARD_GHOST_INPUT_dtx] = size;
  inputs[FORWARD_GHOST_INPUT_dty] = height * (s->ty - v->ty);
  inputs[FORWARD_GHOST_INPUT_log_slope2] = sl_logf(sl_max_f32(v->tx * v->tx + v->ty * v->ty, least_slope2));
  inputs[FORWARD_GHOST_INPUT_log_quality] = sl_logf(sl_max_f32(t->quality, least_quality));
  inputs[FORWARD_GHOST_INPUT_hits] = (float)t->hits;
  inputs[FORWARD_GHOST_INPUT_shared_hits] = (float)t->shared_hits;
  inputs[FORWARD_GHOST_INPUT_curvature] = sl_clamp_f32(curvature, -curvature_max, curvature_max);
  inputs[FORWARD_GHOST_INPUT_ut_ratio] =
      t->ut_qop == 0.0f ? 1.0f : sl_clamp_f32(t->ut_qop / t->qop, -ratio_max, ratio_max);
  inputs[FORWARD_GHOST_INPUT_event_hits] = (float)t->event_hits;
}

/* The best candidate of input track `item` as above. */
SL_MATH_FUNCTION struct forward_ghost_track forward_ghost_track_of(const struct forward_inputs_view *tracks,
                                                                   const struct forward_best_candidates_view *best,
                                                                   const struct forward_constants_view *forward,
                                                                   const struct forward_state *velo, uint32_t item) {
  struct forward_ghost_track t;
  t.velo = *velo;
  t.scifi = forward_scifi_state(best, forward, item);
  t.a = best->a[item];
  t.quality = best->quality[item];
  t.qop = 0.0f;
  t.ut_qop = tracks->qop[item];
  t.hits = best->hit_count[item];
  t.shared_hits = 0;
  t.event_hits = 0;
  return t;
}

#endif
