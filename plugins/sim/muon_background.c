/* muon_background.c: see muon_digits.h.
 *
 * Nine tenths of the digits in full simulation come from what is not simulated here: the tails of showers in the
 * calorimeters, neutrons that are captured and the electrons that their photons knock out, secondary particles of the
 * beam pipe and of the collimators behind it. It is added as short traces: each hadron that comes to the ECAL's face
 * brings some into each station, as many as its momentum says, around the place that it points to; a table, which is
 * tuned to full simulation, has how many in each region. They come later than particles from the collision, some of
 * them after a crossing before this one.
 */
#include "muon_digits.h"

static const float momentum_min = 500.0f; /* MeV */
static const float gev = 1000.0f;
static const float spread = 350.0f; /* mm, mean distance from the hadron's line, exponential */
static const float length_x[MUON_STATIONS] = {9.0f, 6.5f, 6.0f, 6.0f}; /* mm, mean, exponential */
static const float length_y[MUON_STATIONS] = {14.0f, 5.0f, 5.0f, 5.0f};
static const float shower_share = 0.06f, shower_factor = 7.0f; /* some are several times as wide and high */
static const float middle_time = 7.0f, delay = 3.5f;           /* in units of digits */
static const float early_share = 0.08f, times = 16.0f;         /* of crossings before: at any time */

/* Traces for each GeV of a hadron that points into the region. */
static const float traces_a_gev[MUON_STATIONS][MUON_REGIONS] = {{0.0279f, 0.0301f, 0.0357f, 0.0423f},
                                                                {0.0143f, 0.0096f, 0.0183f, 0.0438f},
                                                                {0.0108f, 0.0045f, 0.0018f, 0.0072f},
                                                                {0.0043f, 0.0044f, 0.0034f, 0.0123f}};

static float largest_of(const float rates[MUON_REGIONS]) {
  float largest = 0.0f;
  for (uint32_t i = 0; i < MUON_REGIONS; i++) largest = sl_max_f32(largest, rates[i]);
  return largest;
}

static void add_trace(const struct sim_settings *settings, const struct muon_description *muon, uint32_t station,
                      const struct sim_passage *hadron, float largest, struct sim_random *r,
                      struct sim_muon_digits *d) {
  struct sim_muon_crossing crossings[SIM_MUON_CROSSINGS_MAX];
  float sine, cosine;
  const float z = sim_muon_station_z[station], way = z - hadron->z, distance = spread * sim_exponential(r);
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  const float x = hadron->x + hadron->tx * way + distance * cosine;
  const float y = hadron->y + hadron->ty * way + distance * sine;
  const struct sim_muon_line line = {x, y, z, 0.0f, 0.0f};
  const float is_kept = largest * sim_uniform(r), is_early = sim_uniform(r);
  const float half = sim_uniform(r) < shower_share ? 0.5f * shower_factor : 0.5f;
  const float half_u = half * length_x[station] * sim_exponential(r),
              half_v = half * length_y[station] * sim_exponential(r);
  const float time = is_early < early_share ? times * sim_uniform(r) : middle_time + delay * sim_exponential(r);
  const uint32_t count = sim_muon_cross(muon, d->readout, station, &line, crossings);
  if (count == 0 || is_kept >= traces_a_gev[station][crossings[0].chamber->region]) return;
  const struct sim_muon_crossing *c = &crossings[0];
  const struct sim_muon_trace trace = {station, c->u - half_u, c->u + half_u, c->v - half_v, c->v + half_v, time};
  sim_muon_fire(settings, muon, c->chamber, &trace, r, d);
}

static int is_hadron(const struct sim_event *event, const struct sim_passage *p) {
  return event->particles.at[p->particle].species->is_hadron && p->p >= momentum_min;
}

void sim_muon_add_background(const struct sim_settings *settings, const struct muon_description *muon,
                             const struct sim_event *event, struct sim_muon_digits *d) {
  float largest[MUON_STATIONS];
  for (uint32_t k = 0; k < MUON_STATIONS; k++) largest[k] = largest_of(traces_a_gev[k]);
  for (uint32_t i = 0; i < event->passages[SIM_IN_ECAL].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_ECAL].at[i];
    if (!is_hadron(event, p)) continue;
    struct sim_random r = sim_event_random(event, SIM_FOR_MUON_NOISE, p->particle);
    for (uint32_t station = 0; station < MUON_STATIONS; station++)
      for (uint32_t n = sim_poisson(&r, largest[station] * p->p / gev); n > 0; n--)
        add_trace(settings, muon, station, p, largest[station], &r, d);
  }
}
