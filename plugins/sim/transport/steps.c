/* steps.c: see steps.h. */
#include "steps.h"

#include "absorbers.h"
#include "generator/generator.h"
#include "magnet.h"
#include "material.h"

#include <math.h>

static int insert(struct sim_spectrometer *s, uint32_t node, uint32_t is_after_material) {
  int status = SL_OK;
  uint32_t i = s->first_start[is_after_material][node];
  for (; i != SIM_NO_START && status == SL_OK; i = s->starts.at[i].next)
    status = sim_track_batch_add(&s->flock, &s->nodes[node].end, &s->starts.at[i].track);
  return status;
}

static void step_all(struct sim_spectrometer *s, uint32_t node) {
  const uint32_t blocks = (s->flock.count + SIM_LANES - 1) / SIM_LANES;
  for (uint32_t i = 0; i < blocks; i++)
    sim_lanes_step(&s->flock.blocks.at[i], s->nodes[node - 1].end.z, &s->nodes[node].middle, &s->nodes[node].end);
}

/* Decays the track where its proper time ended, within the last step. */
static int decay(struct sim_spectrometer *s, struct sim_event *event, uint32_t lane, uint32_t node) {
  const double z = s->nodes[node].end.z, before = s->nodes[node - 1].end.z;
  const double path = (double)s->flock.blocks.at[lane / SIM_LANES].path[lane % SIM_LANES];
  struct sim_track t;
  sim_track_batch_get(&s->flock, lane, z, &t);
  const double back = (double)(-t.to_decay * t.p / t.mass) / path * (z - before);
  sim_track_advance(&t, back < z - before ? z - back : before, SIM_STEP_ALONE_MAX);
  const struct sim_birth birth = {event->particles.count, node, 0, t.time_ns};
  const struct sim_state at = {(float)t.x, (float)t.y, (float)t.z, (float)t.tx, (float)t.ty, 1.0f};
  const int status = sim_flight_decay(event, t.particle, &at, t.p);
  return status < 0 ? status : sim_spectrometer_add(s, event, &birth);
}

/* Lanes that end: outside of the aperture, or by a decay. */
struct ends {
  int32_t is_gone[SIM_LANES], decays[SIM_LANES];
};

/* Fills `e`; returns the number of lanes that end, unused lanes included. */
static int32_t find_ends(const struct sim_lanes *a, double z, struct ends *e) {
  const double x_max = SIM_APERTURE_X_SLOPE * z + SIM_APERTURE_X_SHIFT;
  const double y_max = SIM_APERTURE_Y_SLOPE * z + SIM_APERTURE_Y_SHIFT;
  int32_t count = 0;
  for (int l = 0; l < SIM_LANES; l++) {
    const int is_inside = (fabs(a->x[l]) < x_max) & (fabs(a->y[l]) < y_max);
    e->is_gone[l] = !(is_inside & (fabs(a->tx[l]) <= SIM_SLOPE_MAX) & (fabs(a->ty[l]) <= SIM_SLOPE_MAX));
    e->decays[l] = (a->unstable[l] > 0.0f) & (a->to_decay[l] <= 0.0f);
    count += e->is_gone[l] | e->decays[l];
  }
  return count;
}

/* Ends tracks in descending order: the track that replaces an ended one has been processed before. */
static int end_tracks(struct sim_spectrometer *s, struct sim_event *event, uint32_t node) {
  const double z = s->nodes[node].end.z;
  for (uint32_t block = (s->flock.count + SIM_LANES - 1) / SIM_LANES; block-- > 0;) {
    struct ends ends;
    if (find_ends(&s->flock.blocks.at[block], z, &ends) == 0) continue;
    for (uint32_t l = SIM_LANES; l-- > 0;) {
      const uint32_t i = block * SIM_LANES + l;
      if (i >= s->flock.count || !(ends.is_gone[l] | ends.decays[l])) continue;
      const int status = ends.is_gone[l] ? SL_OK : decay(s, event, i, node);
      if (status < 0) return status;
      sim_track_batch_remove(&s->flock, i);
    }
  }
  return SL_OK;
}

/* Adds a passage of each track, like sim_add_passage. */
static int add_passages(struct sim_spectrometer *s, struct sim_event *event, uint32_t node) {
  const struct sim_plane *plane = s->nodes[node].plane;
  const float z = (float)plane->z;
  if (plane->detector == SIM_IN_NONE) return SL_OK;
  for (uint32_t i = 0; i < s->flock.count; i++) {
    const struct sim_lanes *a = &s->flock.blocks.at[i / SIM_LANES];
    const uint32_t l = i % SIM_LANES;
    struct sim_passage *p = SIM_APPEND(&event->passages[plane->detector]);
    if (!p) return SL_ENOMEM;
    *p = (struct sim_passage){a->particle[l],  plane->layer,    (float)a->x[l], (float)a->y[l], z,
                              (float)a->tx[l], (float)a->ty[l], a->p[l],        a->time_ns[l]};
  }
  return SL_OK;
}

static int visit(struct sim_spectrometer *s, struct sim_event *event, uint32_t node) {
  int status = SL_OK;
  if (node > 0) {
    step_all(s, node);
    status = end_tracks(s, event, node);
  }
  if (status == SL_OK) status = insert(s, node, 0);
  if (status == SL_OK && s->nodes[node].plane) status = add_passages(s, event, node);
  if (status == SL_OK) status = sim_material_cross(s, event, node);
  return status == SL_OK ? insert(s, node, 1) : status;
}

int sim_spectrometer_run(struct sim_spectrometer *s, struct sim_event *event) {
  int status = sim_spectrometer_begin(s, event);
  for (uint32_t node = 0; node < s->node_count && status == SL_OK; node++) status = visit(s, event, node);
  return status == SL_OK ? sim_absorb(s, event) : status;
}
