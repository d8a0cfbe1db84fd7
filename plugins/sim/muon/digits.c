/* digits.c: see digits.h. A passage is extrapolated as a straight line to the layers of its station and leaves a
 * trace in each chamber that it crosses. A digit is a channel hit by traces, with the earliest time. */
#include "digits.h"

#include "transport/planes.h"

#include <stdlib.h>
#include <string.h>

static const float gap_depth = 14.0f;    /* mm: half of the distance from the first to the last gas gap */
static const float middle_time = 7.0f;   /* time units; particle at the speed of light */
static const float unit_ns = 25.0f / 16; /* length of a time unit */

/* -------------------------------------------------------------------------------------------------- passages */

/* Delay relative to light from the origin. */
static float lateness(const struct sim_passage *p) {
  return p->time_ns - sqrtf(p->x * p->x + p->y * p->y + p->z * p->z) / SIM_MM_PER_NS;
}

static void add_passage(const struct sim_settings *settings, const struct muon_description *muon,
                        const struct sim_event *event, const struct sim_passage *p, struct sim_muon_digits *d) {
  struct sim_muon_crossing crossings[SIM_MUON_CROSSINGS_MAX];
  const struct sim_muon_line line = {p->x, p->y, p->z, p->tx, p->ty};
  const uint32_t count = sim_muon_cross(muon, d->readout, p->layer, &line, crossings);
  struct sim_random r = sim_event_random(event, SIM_FOR_MUON_HIT, p->particle * MUON_STATIONS + p->layer);
  for (uint32_t i = 0; i < count; i++) {
    const struct sim_muon_crossing *c = &crossings[i];
    const float du = gap_depth * fabsf(c->slope_u), dv = gap_depth * fabsf(c->slope_v);
    const struct sim_muon_trace trace = {p->layer,  c->u - du, c->u + du,
                                         c->v - dv, c->v + dv, middle_time + lateness(p) / unit_ns};
    sim_muon_fire(muon, settings->muon_efficiency, c->chamber, &trace, &r, d->readout);
  }
}

/* ---------------------------------------------------------------------------------------------- background */

/* Nine tenths of the digits of full simulation are background that is not simulated here: tails of calorimeter
 * showers, electrons from the capture of neutrons, secondary particles of the beam pipe and the collimators. It is
 * added as short traces. For each hadron at the face of the ECAL and each station, the number is proportional to its
 * momentum, with a rate per region that is tuned to full simulation; positions are at about the distance of the
 * hadron's line from the beam, at any azimuth. The traces are later than particles of the collision; a few are from
 * earlier crossings. */
static const float momentum_min = 500.0f; /* MeV */
static const float gev = 1000.0f;
static const float spread = 350.0f; /* mm, mean distance from there, exponential in area */
static const float length_x[MUON_STATIONS] = {10.0f, 8.0f, 6.0f, 6.0f}; /* mm, mean, exponential */
static const float length_y[MUON_STATIONS] = {14.0f, 5.0f, 5.0f, 5.0f};
static const float shower_share = 0.09f, shower_factor = 7.0f; /* fraction of larger traces, and their scale */
static const float delay = 3.5f;                               /* time units */
static const float early_share = 0.08f, times = 16.0f;         /* fraction from earlier crossings, at a uniform time */

/* Traces per GeV of a hadron that points into the region. */
static const float traces_per_gev[MUON_STATIONS][MUON_REGIONS] = {{0.0210f, 0.0258f, 0.0335f, 0.0330f},
                                                                  {0.0105f, 0.0082f, 0.0169f, 0.0333f},
                                                                  {0.0103f, 0.0050f, 0.0018f, 0.0072f},
                                                                  {0.0052f, 0.0055f, 0.0041f, 0.0123f}};

static float largest_of(const float rates[MUON_REGIONS]) {
  float largest = 0.0f;
  for (uint32_t i = 0; i < MUON_REGIONS; i++) largest = sl_max_f32(largest, rates[i]);
  return largest;
}

static void add_trace(const struct muon_description *muon, float efficiency, uint32_t station,
                      const struct sim_passage *hadron, float largest, struct sim_random *r,
                      struct sim_muon_readout *readout) {
  struct sim_muon_crossing crossings[SIM_MUON_CROSSINGS_MAX];
  float sine, cosine;
  const float z = sim_muon_station_z[station], way = z - hadron->z,
              distance = 0.5f * spread * (sim_exponential(r) + sim_exponential(r));
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  const float line_x = hadron->x + hadron->tx * way, line_y = hadron->y + hadron->ty * way;
  float turn_sine, turn_cosine;
  sl_sincosf(6.28318531f * sim_uniform(r), &turn_sine, &turn_cosine);
  const float x = turn_cosine * line_x - turn_sine * line_y + distance * cosine;
  const float y = turn_sine * line_x + turn_cosine * line_y + distance * sine;
  const struct sim_muon_line line = {x, y, z, 0.0f, 0.0f};
  const float choice = largest * sim_uniform(r), early_choice = sim_uniform(r);
  const float half = sim_uniform(r) < shower_share ? 0.5f * shower_factor : 0.5f;
  const float half_u = half * length_x[station] * sim_exponential(r),
              half_v = half * length_y[station] * sim_exponential(r);
  const float time = early_choice < early_share ? times * sim_uniform(r) : middle_time + delay * sim_exponential(r);
  const uint32_t count = sim_muon_cross(muon, readout, station, &line, crossings);
  if (count == 0 || choice >= traces_per_gev[station][crossings[0].chamber->region]) return;
  const struct sim_muon_crossing *c = &crossings[0];
  const struct sim_muon_trace trace = {station, c->u - half_u, c->u + half_u, c->v - half_v, c->v + half_v, time};
  sim_muon_fire(muon, efficiency, c->chamber, &trace, r, readout);
}

static int is_hadron(const struct sim_event *event, const struct sim_passage *p) {
  return event->particles.at[p->particle].species->is_hadron && p->p >= momentum_min;
}

static void add_background(const struct muon_description *muon, float efficiency, const struct sim_event *event,
                           struct sim_muon_readout *readout) {
  float largest[MUON_STATIONS];
  for (uint32_t k = 0; k < MUON_STATIONS; k++) largest[k] = largest_of(traces_per_gev[k]);
  for (uint32_t i = 0; i < event->passages[SIM_IN_ECAL].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_ECAL].at[i];
    if (!is_hadron(event, p)) continue;
    struct sim_random r = sim_event_random(event, SIM_FOR_MUON_NOISE, p->particle);
    for (uint32_t station = 0; station < MUON_STATIONS; station++)
      for (uint32_t n = sim_poisson(&r, largest[station] * p->p / gev); n > 0; n--)
        add_trace(muon, efficiency, station, p, largest[station], &r, readout);
  }
}

/* -------------------------------------------------------------------------------------------------- the event */

/* Reads the hit channels in groups of eight, since most are not hit. The array has eight more entries than channels. */
static int collect(struct sim_muon_digits *d) {
  d->digits.count = 0;
  for (uint32_t i = 0; i < d->readout->channel_count; i += 8) {
    uint64_t eight;
    memcpy(&eight, d->readout->hit + i, sizeof eight);
    if (eight == 0) continue;
    for (uint32_t k = i; k < i + 8; k++) {
      if (d->readout->hit[k] == 0) continue;
      struct sim_muon_digit *digit = SIM_APPEND(&d->digits);
      if (!digit) return SL_ENOMEM;
      *digit = (struct sim_muon_digit){k, d->readout->map.tiles[k], d->readout->hit[k] - 1u};
      d->readout->hit[k] = 0;
    }
  }
  return SL_OK;
}

int sim_muon_digitise(const struct muon_description *muon, const struct sim_settings *settings, uint32_t version,
                      struct sim_event *event, struct sim_muon_digits *d) {
  if (!d->readout) d->readout = sim_muon_readout_new(muon, version);
  if (!d->readout) return SL_ENOMEM;
  for (uint32_t i = 0; i < event->passages[SIM_IN_MUON].count; i++)
    add_passage(settings, muon, event, &event->passages[SIM_IN_MUON].at[i], d);
  add_background(muon, settings->muon_efficiency, event, d->readout);
  return collect(d);
}

void sim_muon_digits_free(struct sim_muon_digits *d) {
  sim_muon_readout_free(d->readout);
  free(d->digits.at);
  *d = (struct sim_muon_digits){.readout = NULL};
}
