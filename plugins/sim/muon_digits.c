/* muon_digits.c: see muon_digits.h.
 *
 * A passage goes on as a straight line to the layers of its station, and is seen in the chambers that it crosses. All
 * pads along its way through a chamber's gas gaps are hit, those next to them, too, where it comes near. What is hit of
 * pads is read out as strips: a digit is one of these, at the time of its first hit.
 */
#include "muon_digits.h"

#include <stdlib.h>
#include <string.h>

static const float gap_depth = 14.0f;    /* mm: half of the way from the first gas gap to the last one */
static const float shared = 1.5f;        /* mm beyond a pad's edge that still induce a signal in it, at most */
static const float strip_share = 0.95f;  /* R1, R2: strips of both kinds are read out from wires and cathodes apart */
static const float middle_time = 7.0f;   /* of what flies at the speed of light, in units */
static const float time_width = 2.4f;    /* of a digit */
static const float unit_ns = 25.0f / 16; /* of time */
static const float mm_a_ns = 299.792458f;
enum { TIMES = 16 };

/* -------------------------------------------------------------------------------------------------- strips */

static void hit_channel(struct sim_muon_digits *d, uint32_t table, const struct muon_place *at, float time) {
  const int32_t t = sl_to_i32(time);
  if (time < 0.0f || t >= TIMES) return; /* of another crossing */
  const uint32_t channel = sim_muon_channel(d->readout, table, at);
  if (channel == SIM_MUON_NO_CHANNEL) return;
  uint8_t *hit = &d->hit[channel];
  if (*hit == 0 || t + 1 < *hit) *hit = (uint8_t)(t + 1);
}

/* All strips of a table over the pads from (low_x, low_y) to (high_x, high_y). */
struct pads {
  uint32_t low_x, high_x, low_y, high_y;
};
static void hit_strips(const struct muon_region *region, uint32_t table, const struct pads *pads,
                       const struct muon_place *chamber, float time, struct sim_random *r, struct sim_muon_digits *d) {
  uint32_t gx, gy;
  muon_grid_of(region, table, d->readout->version, &gx, &gy);
  const uint32_t wide = region->grid_x[MUON_PADS] / gx, high = region->grid_y[MUON_PADS] / gy;
  struct muon_place at = *chamber;
  for (at.y = pads->low_y / high; at.y <= pads->high_y / high; at.y++)
    for (at.x = pads->low_x / wide; at.x <= pads->high_x / wide; at.x++)
      hit_channel(d, table, &at, time + time_width * sim_normal(r));
}

static uint32_t pad_of(float place, float pitch, uint32_t count) {
  const int32_t i = sl_to_i32(place / pitch);
  return place <= 0.0f ? 0 : i >= (int32_t)count ? count - 1 : (uint32_t)i;
}

void sim_muon_fire(const struct sim_settings *settings, const struct muon_description *muon,
                   const struct sim_muon_chamber *c, const struct sim_muon_trace *t, struct sim_random *r,
                   struct sim_muon_digits *d) {
  const struct muon_region *region = &muon->region[t->station][c->region];
  const float pitch_x = 2.0f * c->half_width / (float)c->columns, pitch_y = 2.0f * c->half_height / (float)c->rows;
  const float beyond = shared * sim_uniform(r);
  const struct pads pads = {c->first_x + pad_of(t->low_u - beyond, pitch_x, c->columns),
                            c->first_x + pad_of(t->high_u + beyond, pitch_x, c->columns),
                            c->first_y + pad_of(t->low_v - beyond, pitch_y, c->rows),
                            c->first_y + pad_of(t->high_v + beyond, pitch_y, c->rows)};
  const struct muon_place at = {t->station, c->region, c->quarter, 0, 0};
  uint32_t x[MUON_TABLES], y[MUON_TABLES];
  for (uint32_t table = 0; table < MUON_TABLES; table++)
    muon_grid_of(region, table, d->readout->version, &x[table], &y[table]);
  const int are_pads = x[MUON_X_STRIPS] == x[MUON_Y_STRIPS] && y[MUON_X_STRIPS] == y[MUON_Y_STRIPS];
  const float is_seen = sim_uniform(r), in_x = sim_uniform(r), in_y = sim_uniform(r);
  const float share = c->region < 2 && !are_pads ? strip_share : 1.0f;
  if (is_seen >= settings->muon_efficiency) return;
  if (in_x < share) hit_strips(region, MUON_X_STRIPS, &pads, &at, t->time, r, d);
  if (in_y < share && !are_pads) hit_strips(region, MUON_Y_STRIPS, &pads, &at, t->time, r, d);
}

/* -------------------------------------------------------------------------------------------------- passages */

/* How much later than light from the origin. */
static float lateness(const struct sim_passage *p) {
  return p->time_ns - sqrtf(p->x * p->x + p->y * p->y + p->z * p->z) / mm_a_ns;
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
    sim_muon_fire(settings, muon, c->chamber, &trace, &r, d);
  }
}

/* -------------------------------------------------------------------------------------------------- the event */

static int make_room(const struct muon_description *muon, uint32_t version, struct sim_muon_digits *d) {
  if (d->readout) return SL_OK;
  d->readout = sim_muon_readout_new(muon, version);
  if (!d->readout) return SL_ENOMEM;
  d->hit = (uint8_t *)calloc(d->readout->channel_count + sizeof(uint64_t), 1);
  return d->hit ? SL_OK : SL_ENOMEM;
}

/* Most channels are not hit: eight at a time are passed over. Behind the last channel there are as many that are none.
 */
static int collect(struct sim_muon_digits *d) {
  d->digits.count = 0;
  for (uint32_t i = 0; i < d->readout->channel_count; i += 8) {
    uint64_t eight;
    memcpy(&eight, d->hit + i, sizeof eight);
    if (eight == 0) continue;
    for (uint32_t k = i; k < i + 8; k++) {
      if (d->hit[k] == 0) continue;
      struct sim_muon_digit *digit = SIM_APPEND(&d->digits);
      if (!digit) return SL_ENOMEM;
      *digit = (struct sim_muon_digit){k, d->readout->map.tiles[k], d->hit[k] - 1u};
      d->hit[k] = 0;
    }
  }
  return SL_OK;
}

int sim_muon_digitise(const struct muon_description *muon, const struct sim_settings *settings, uint32_t version,
                      struct sim_event *event, struct sim_muon_digits *d) {
  const int status = make_room(muon, version, d);
  if (status < 0) return status;
  for (uint32_t i = 0; i < event->passages[SIM_IN_MUON].count; i++)
    add_passage(settings, muon, event, &event->passages[SIM_IN_MUON].at[i], d);
  sim_muon_add_background(settings, muon, event, d);
  return collect(d);
}

void sim_muon_digits_free(struct sim_muon_digits *d) {
  sim_muon_readout_free(d->readout);
  free(d->hit);
  free(d->digits.at);
  *d = (struct sim_muon_digits){.readout = NULL};
}
