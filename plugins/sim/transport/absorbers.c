/* absorbers.c: see absorbers.h.
 * Muons follow straight lines, lose energy and scatter. Multiple scattering changes slope and position together (PDG
 * review "Passage of particles through matter"): with two normal numbers z1, z2 the angle is z2 w and the shift (z1 /
 * sqrt(12) + z2 / 2) w times the depth, with Highland's width w.
 * Hadrons: the range is the sum of two exponentials, the distance to the first interaction (mean: one interaction
 * length) and the tail of the shower (its mean grows with ln p). Within its range the shower is one charged particle
 * with a third of the hadron's momentum and the hadron's index. Electrons and photons end in the ECAL. */
#include "absorbers.h"

static const float momentum_min = 50.0f;                           /* MeV */
static const double slope2_max = 1.0;                              /* tracks with larger slopes, squared, end */
static const float tail_at_1_gev = 0.55f, tail_per_ln_gev = 0.40f; /* interaction lengths */
static const float tail_share = 1.0f / 3.0f;                       /* fraction of the hadron's momentum */
static const float rise_at_1_gev = 1.10f, rise_per_ln_gev = 0.12f; /* energy loss, relative to its minimum */
static const float gev = 1000.0f;

static void move(struct sim_track *t, float z) {
  const double dz = (double)z - t->z;
  const float tx = (float)t->tx, ty = (float)t->ty, m = t->mass / t->p;
  t->x += t->tx * dz;
  t->y += t->ty * dz;
  t->time_ns += (float)dz * sqrtf(1.0f + tx * tx + ty * ty) * sqrtf(1.0f + m * m) / SIM_MM_PER_NS;
  t->z = (double)z;
}

static void scatter(struct sim_track *t, const struct sim_absorber *a, struct sim_random *r) {
  const float thickness = a->radiation_lengths, m = t->mass / t->p;
  const float width = 13.6f * sqrtf(1.0f + m * m) / t->p * sqrtf(thickness) * (1.0f + 0.038f * sl_logf(thickness));
  const float shift_x = sim_normal(r), angle_x = sim_normal(r), shift_y = sim_normal(r), angle_y = sim_normal(r);
  const float shift_scale = 0.288675f; /* 1 / sqrt(12); the angle is applied in the middle of the depth */
  t->x += (double)(shift_scale * shift_x * width * a->depth);
  t->y += (double)(shift_scale * shift_y * width * a->depth);
  t->tx += (double)(angle_x * width);
  t->ty += (double)(angle_y * width);
}

static float momentum_after(const struct sim_track *t, const struct sim_absorber *a) {
  const float energy = sqrtf(t->p * t->p + t->mass * t->mass);
  const float rise = rise_at_1_gev + rise_per_ln_gev * sl_max_f32(sl_logf(t->p / gev), 0.0f);
  const float left = energy - a->loss * rise;
  return left > t->mass ? sqrtf(left * left - t->mass * t->mass) : 0.0f;
}

/* Range of a hadron and its shower in interaction lengths. */
static float hadron_range(float p, struct sim_random *r) {
  const float tail = tail_at_1_gev + tail_per_ln_gev * sl_max_f32(sl_logf(p / gev), 0.0f);
  return sim_exponential(r) + tail * sim_exponential(r);
}

/* Follows one track from the face of the ECAL to the last station that it reaches. */
static int absorb(struct sim_event *event, struct sim_track *t) {
  struct sim_random r = sim_event_random(event, SIM_FOR_ABSORBER, t->particle);
  const int is_muon = (t->kind & SIM_LANE_MUON) != 0;
  float range = is_muon ? 0.0f : hadron_range(t->p, &r);
  if (!is_muon) t->p = t->p * tail_share;
  for (uint32_t i = 0; i < sim_absorber_count; i++) {
    const struct sim_absorber *a = &sim_absorbers[i];
    range = range - a->interaction_lengths;
    if (!is_muon && range <= 0.0f) break;
    const float p = is_muon ? momentum_after(t, a) : t->p;
    move(t, a->z);
    scatter(t, a, &r);
    const double slope2 = t->tx * t->tx + t->ty * t->ty;
    if (p < momentum_min || slope2 > slope2_max) break;
    t->p = p;
    if (a->next_station == SIM_NO_STATION) continue;
    move(t, sim_muon_station_z[a->next_station]);
    const int status = sim_add_passage(event, SIM_IN_MUON, a->next_station, t);
    if (status < 0) return status;
  }
  return SL_OK;
}

int sim_absorb(const struct sim_spectrometer *s, struct sim_event *event) {
  int status = SL_OK;
  for (uint32_t i = 0; i < s->flock.count && status == SL_OK; i++) {
    struct sim_track t;
    sim_track_batch_get(&s->flock, i, s->nodes[s->node_count - 1].end.z, &t);
    if (t.kind & (SIM_LANE_MUON | SIM_LANE_HADRON)) status = absorb(event, &t);
  }
  return status;
}
