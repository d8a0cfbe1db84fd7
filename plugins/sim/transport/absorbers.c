/* absorbers.c: see absorbers.h.
 *
 * Muons go in straight lines, lose energy and scatter, by angle and place (PDG review "Passage of particles through
 * matter": with two normal numbers z1, z2 the angle is z2 w and the shift (z1 / sqrt(12) + z2 / 2) w times the depth).
 * A hadron reaches so far as its first interaction, after an exponential way of one interaction length on average, and
 * the tail of its shower, exponential too, of a length that grows with ln p. What of a shower comes through is one
 * charged particle of a third of the momentum, under the hadron's index. Electrons and photons end in the ECAL.
 */
#include "absorbers.h"

static const float momentum_min = 50.0f;                         /* MeV */
static const double slope2_max = 1.0;                            /* slower and steeper ones end */
static const float tail_at_1_gev = 0.55f, tail_a_ln_gev = 0.40f; /* interaction lengths */
static const float tail_share = 1.0f / 3.0f;                     /* of the hadron's momentum */
static const float rise_at_1_gev = 1.10f, rise_a_ln_gev = 0.12f; /* of the energy loss, over its minimum */
static const float mm_a_ns = 299.792458f, gev = 1000.0f;

static void move(struct sim_track *t, float z) {
  const double dz = (double)z - t->z;
  const float tx = (float)t->tx, ty = (float)t->ty, m = t->mass / t->p;
  t->x += t->tx * dz;
  t->y += t->ty * dz;
  t->time_ns += (float)dz * sqrtf(1.0f + tx * tx + ty * ty) * sqrtf(1.0f + m * m) / mm_a_ns;
  t->z = (double)z;
}

static void scatter(struct sim_track *t, const struct sim_absorber *a, struct sim_random *r) {
  const float thickness = a->radiation_lengths, m = t->mass / t->p;
  const float width = 13.6f * sqrtf(1.0f + m * m) / t->p * sqrtf(thickness) * (1.0f + 0.038f * sl_logf(thickness));
  const float place_x = sim_normal(r), angle_x = sim_normal(r), place_y = sim_normal(r), angle_y = sim_normal(r);
  const float from_place = 0.288675f; /* 1 / sqrt(12); the angle's share is that of a kink in the middle */
  t->x += (double)(from_place * place_x * width * a->depth);
  t->y += (double)(from_place * place_y * width * a->depth);
  t->tx += (double)(angle_x * width);
  t->ty += (double)(angle_y * width);
}

static float momentum_after(const struct sim_track *t, const struct sim_absorber *a) {
  const float energy = sqrtf(t->p * t->p + t->mass * t->mass);
  const float rise = rise_at_1_gev + rise_a_ln_gev * sl_max_f32(sl_logf(t->p / gev), 0.0f);
  const float left = energy - a->loss * rise;
  return left > t->mass ? sqrtf(left * left - t->mass * t->mass) : 0.0f;
}

/* How many interaction lengths a hadron and its shower reach. */
static float reach_of(float p, struct sim_random *r) {
  const float tail = tail_at_1_gev + tail_a_ln_gev * sl_max_f32(sl_logf(p / gev), 0.0f);
  return sim_exponential(r) + tail * sim_exponential(r);
}

/* One track from the ECAL's face on, as far as it comes. */
static int absorb(struct sim_event *event, struct sim_track *t) {
  struct sim_random r = sim_event_random(event, SIM_FOR_ABSORBER, t->particle);
  const int is_muon = (t->kind & SIM_LANE_MUON) != 0;
  float reach = is_muon ? 0.0f : reach_of(t->p, &r);
  if (!is_muon) t->p = t->p * tail_share;
  for (uint32_t i = 0; i < sim_absorber_count; i++) {
    const struct sim_absorber *a = &sim_absorbers[i];
    reach = reach - a->interaction_lengths;
    if (!is_muon && reach <= 0.0f) break;
    const float p = is_muon ? momentum_after(t, a) : t->p;
    move(t, a->z);
    scatter(t, a, &r);
    const double slope2 = t->tx * t->tx + t->ty * t->ty;
    if (p < momentum_min || slope2 > slope2_max) break;
    t->p = p;
    if (a->station_behind == SIM_NO_STATION) continue;
    move(t, sim_muon_station_z[a->station_behind]);
    const int status = sim_pass(event, SIM_IN_MUON, a->station_behind, t);
    if (status < 0) return status;
  }
  return SL_OK;
}

int sim_absorb(const struct sim_spectrometer *s, struct sim_event *event) {
  int status = SL_OK;
  for (uint32_t i = 0; i < s->flock.count && status == SL_OK; i++) {
    struct sim_track t;
    sim_flock_get(&s->flock, i, s->nodes[s->node_count - 1].end.z, &t);
    if (t.kind & (SIM_LANE_MUON | SIM_LANE_HADRON)) status = absorb(event, &t);
  }
  return status;
}
