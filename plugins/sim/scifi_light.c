/* scifi_light.c: the light that passages leave in the channels of the fibre tracker.
 *
 * A passage is met where it crosses its layer's plane, which leans, and turned into the layer's own coordinates: U
 * across the fibres, V along them. They tell module, mat and SiPM. The light is spread evenly over the way through the
 * mat and, around it, over what fibres, glue and cross-talk make of a point; each channel gets its share of the
 * photoelectrons, which fluctuates. Numbers: 16 photoelectrons a crossing are the aim of the LHCb tracker upgrade TDR,
 * CERN-LHCC-2014-001; the rest is tuned to the sizes of clusters of full simulation.
 */
#include "scifi_digits.h"

static const float photons = 16.0f;      /* of a straight crossing: the most probable number */
static const float photons_width = 2.5f; /* of its distribution */
static const float photons_max = 400.0f;
static const float spread = 0.15f;        /* mm: how far light gets from its place */
static const float noise_clusters = 436;  /* an event */
static const float noise_singles = 0.23f; /* of them: a channel; else two */

/* A layer, in float. */
struct layer {
  float z, sine, cosine, tangent; /* z on the axis; of the stereo angle */
  float lean_y;                   /* y of the layer's middle line */
  uint32_t station, number, modules;
};

struct light_maker {
  const struct scifi_description *scifi;
  struct sim_scifi_digits *digits;
  struct layer layers[SCIFI_LAYERS];
  float lean, cosine; /* of the tilt: tangent, cosine */
  float first_module, module_pitch, mat_pitch, half_mats, half_thickness;
  float begin, end, u_begin, sipm_pitch, die, die_gap, channel;
  float per_module, per_mat, per_sipm, per_channel; /* 1 / pitch */
};

static void describe(const struct scifi_description *d, struct light_maker *m) {
  for (uint32_t i = 0; i < SCIFI_LAYERS; i++) {
    const struct scifi_station *station = &d->station[i / SCIFI_STATION_LAYERS];
    const struct scifi_layer *layer = &d->layer[i % SCIFI_STATION_LAYERS];
    m->layers[i] = (struct layer){.z = (float)(station->z + layer->z / d->tilt_cosine),
                                  .sine = (float)layer->sine,
                                  .cosine = (float)layer->cosine,
                                  .tangent = (float)(layer->sine / layer->cosine),
                                  .lean_y = (float)(-layer->z * d->tilt_sine),
                                  .station = i / SCIFI_STATION_LAYERS,
                                  .number = i % SCIFI_STATION_LAYERS,
                                  .modules = station->modules};
  }
  m->lean = (float)(d->tilt_sine / d->tilt_cosine);
  m->cosine = (float)d->tilt_cosine;
  m->first_module = (float)d->first_module;
  m->module_pitch = (float)d->module_pitch;
  m->mat_pitch = (float)d->mat_pitch;
  m->half_mats = (float)(0.5 * SCIFI_MODULE_MATS * d->mat_pitch);
  m->half_thickness = (float)(0.5 * d->mat_thickness);
  m->begin = (float)d->fibre_begin;
  m->end = (float)d->fibre_end;
  m->u_begin = (float)d->u_begin;
  m->sipm_pitch = (float)d->sipm_pitch;
  m->die_gap = (float)d->die_gap;
  m->channel = (float)d->channel;
  m->die = SCIFI_DIE_CHANNELS * m->channel;
  m->per_module = 1.0f / m->module_pitch;
  m->per_mat = 1.0f / m->mat_pitch;
  m->per_sipm = 1.0f / m->sipm_pitch;
  m->per_channel = 1.0f / m->channel;
}

/* ----------------------------------------------------------------------------------------------- the light */

/* How light is spread: evenly over two intervals, one smeared by the other. */
struct shape {
  float middle, outer, inner; /* half widths: of all of it, and of where it is even */
  float height, fall;         /* there; half of how it falls beside that */
};

static struct shape shape_of(float half_way) {
  const float wide = sl_max_f32(half_way, spread), narrow = sl_max_f32(sl_min_f32(half_way, spread), 1e-3f);
  return (struct shape){0.0f, wide + narrow, wide - narrow, 0.5f / wide, 0.125f / (wide * narrow)};
}

/* The part of it below u, less one half. */
static inline float part_below(const struct shape *s, float u) {
  const float from = u - s->middle, distance = sl_min_f32(sl_abs_f32(from), s->outer);
  const float beyond = sl_max_f32(distance - s->inner, 0.0f);
  return sl_copysign_f32(s->height * distance - s->fall * beyond * beyond, from);
}

/* A number with mean 0 and variance 1, between -2.4 and 2.4: two bytes added. */
static float wobble(uint32_t bits) { return ((float)((bits & 0xFF) + (bits >> 8 & 0xFF)) - 255.0f) * (1.0f / 104.5f); }

/* The channel at a place in a SiPM, and where a channel begins there. */
static inline int32_t channel_at(const struct light_maker *m, float q) {
  const float in_dies = sl_min_f32(q, sl_max_f32(q - m->die_gap, m->die));
  const int32_t c = sl_to_i32(in_dies * m->per_channel);
  return c < 0 ? 0 : c < SCIFI_SIPM_CHANNELS ? c : SCIFI_SIPM_CHANNELS - 1;
}
static inline float begin_of(const struct light_maker *m, int32_t c) {
  return (float)c * m->channel + (c < SCIFI_DIE_CHANNELS ? 0.0f : m->die_gap);
}

/* What comes to a SiPM that begins at u = 0. `electrons` are those of the whole shape. */
static int add_light(struct light_maker *m, const struct shape *shape, float electrons, struct sim_random *r,
                     struct sim_scifi_light light) {
  struct sim_scifi_digits *d = m->digits;
  const int32_t first = channel_at(m, shape->middle - shape->outer), last = channel_at(m, shape->middle + shape->outer);
  struct sim_scifi_light *to = SIM_APPEND(&d->lights);
  if (!to || !sim_reserve((void **)&d->shares.at, &d->shares.capacity, d->shares.count + SCIFI_SIPM_CHANNELS,
                          sizeof *d->shares.at))
    return SL_ENOMEM;
  light.first_channel = (uint32_t)first;
  light.first_share = d->shares.count;
  light.count = (uint32_t)(last - first + 1);
  *to = light;
  uint16_t *share = d->shares.at + d->shares.count;
  uint32_t bits = 0;
  float below = part_below(shape, begin_of(m, first));
  for (int32_t c = first; c <= last; c++) {
    const float above = part_below(shape, begin_of(m, c) + m->channel),
                mean = sl_max_f32(electrons * (above - below), 0.0f);
    bits = (c - first) % 2 ? bits >> 16 : sim_random_u32(r);
    const int32_t seen = (int32_t)(sl_max_f32(mean + sqrtf(mean) * wobble(bits), 0.0f) * SIM_SCIFI_PHOTON);
    *share++ = (uint16_t)seen;
    below = c + 1 == SCIFI_DIE_CHANNELS ? part_below(shape, begin_of(m, c + 1)) : above;
  }
  d->shares.count += light.count;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ passages */

/* A passage in its layer: where its module is, from whose middle u and v are. */
struct crossing {
  struct scifi_place place; /* but for the mat */
  float u, v, slope;        /* du along the way, over the thickness */
  float slant;
};

/* 0 if there are no fibres. */
static int find_module(const struct light_maker *m, const struct sim_passage *p, struct crossing *c) {
  const struct layer *layer = &m->layers[p->layer];
  const float way = (layer->z + m->lean * p->y - p->z) / (1.0f - m->lean * p->ty);
  const float x = p->x + p->tx * way, y = (p->y + p->ty * way - layer->lean_y) / m->cosine;
  const float across = x * layer->cosine - y * layer->sine, along = x * layer->sine + y * layer->cosine;
  const float beside = (sl_abs_f32(across) - m->first_module) * m->per_module + 0.5f;
  const uint32_t module = beside > 0.0f ? (uint32_t)sl_to_i32(beside) : 0;
  if (module >= layer->modules) return 0;
  const float middle = sl_copysign_f32(m->first_module + m->module_pitch * (float)module, across);
  c->v = along - middle * layer->tangent;
  const uint32_t quarter = (across > 0.0f ? 1u : 0u) | (c->v > 0.0f ? 2u : 0u);
  const float sign = (float)scifi_u_sign(layer->number, quarter);
  c->place = (struct scifi_place){layer->station, layer->number, quarter, module, 0};
  c->u = sign * (across - middle) + m->half_mats;
  c->v = sl_abs_f32(c->v);
  c->slope = sign * (p->tx * layer->cosine - p->ty * layer->sine);
  c->slant = sqrtf(1.0f + p->tx * p->tx + p->ty * p->ty);
  return c->v < m->end;
}

static int light_mat(struct light_maker *m, const struct crossing *c, struct shape shape, float electrons,
                     uint32_t particle, struct sim_random *r) {
  const float in_mat = c->u - ((float)c->place.mat + 0.5f) * m->mat_pitch - m->u_begin;
  if (c->v < m->begin + (float)scifi_hole(m->scifi, &c->place)) return SL_OK;
  const float lowest = (in_mat - shape.outer) * m->per_sipm, highest = (in_mat + shape.outer) * m->per_sipm;
  struct sim_scifi_light light = {.particle = particle};
  int status = SL_OK;
  for (int32_t k = lowest > 0.0f ? sl_to_i32(lowest) : 0; k < SCIFI_MAT_SIPMS && (float)k < highest; k++) {
    shape.middle = in_mat - (float)k * m->sipm_pitch;
    light.sipm = scifi_mat_index(&c->place) * SCIFI_MAT_SIPMS + (uint32_t)k;
    if (status == SL_OK) status = add_light(m, &shape, electrons, r, light);
  }
  return status;
}

static int light_passage(struct light_maker *m, const struct sim_event *event, uint32_t index, float efficiency) {
  const struct sim_passage *p = &event->passages[SIM_IN_SCIFI].at[index];
  struct crossing c;
  if (!find_module(m, p, &c)) return SL_OK;
  struct sim_random r = sim_event_random(event, SIM_FOR_SCIFI_HIT, index);
  if (sim_uniform(&r) >= efficiency) return SL_OK;
  const float more = -sl_logf(-sl_logf(sim_uniform(&r))); /* Gumbel's distribution: mode 0, width 1 */
  const float electrons = sl_min_f32(c.slant * sl_max_f32(photons + photons_width * more, 1.0f), photons_max);
  const struct shape shape = shape_of(m->half_thickness * sl_abs_f32(c.slope));
  const float lowest = (c.u - shape.outer) * m->per_mat, highest = (c.u + shape.outer) * m->per_mat;
  int status = SL_OK;
  for (int32_t mat = lowest > 0.0f ? sl_to_i32(lowest) : 0; mat < SCIFI_MODULE_MATS && (float)mat < highest; mat++) {
    c.place.mat = (uint32_t)mat;
    if (status == SL_OK) status = light_mat(m, &c, shape, electrons, p->particle, &r);
  }
  return status;
}

/* --------------------------------------------------------------------------------------------------- noise */

/* Of the SiPMs themselves: cells that fire alone, and with a neighbour; over the thresholds, anywhere. */
static int add_noise(struct light_maker *m, const struct sim_event *event) {
  struct sim_scifi_digits *d = m->digits;
  struct sim_random r = sim_event_random(event, SIM_FOR_SCIFI_NOISE, 0);
  for (uint32_t left = sim_poisson(&r, noise_clusters); left > 0;) {
    const uint32_t bits = sim_random_u32(&r), sipm = bits % SIM_SCIFI_SIPMS;
    const uint32_t quarter = sipm / (SCIFI_MAT_SIPMS << (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT)), module = sipm >> 4 & 7;
    if (module >= m->layers[quarter / SCIFI_LAYER_QUARTERS].modules) continue; /* there is no such SiPM */
    const uint32_t width = sim_uniform(&r) < noise_singles ? 1 : 2;
    const uint32_t first = sim_random_u32(&r) % (SCIFI_SIPM_CHANNELS + 1 - width);
    const struct sim_scifi_light light = {sipm, SIM_SCIFI_NOISE, first, d->shares.count, width};
    for (uint32_t i = 0; i < width; i++) {
      uint16_t *share = SIM_APPEND(&d->shares);
      if (!share) return SL_ENOMEM;
      *share = width == 1 ? 5 * SIM_SCIFI_PHOTON : 3 * SIM_SCIFI_PHOTON;
    }
    struct sim_scifi_light *to = SIM_APPEND(&d->lights);
    if (!to) return SL_ENOMEM;
    *to = light;
    left--;
  }
  return SL_OK;
}

int sim_scifi_light(const struct scifi_description *scifi, const struct sim_settings *settings,
                    const struct sim_event *event, struct sim_scifi_digits *digits) {
  struct light_maker m = {.scifi = scifi, .digits = digits};
  int status = SL_OK;
  describe(scifi, &m);
  for (uint32_t i = 0; i < event->passages[SIM_IN_SCIFI].count && status == SL_OK; i++)
    status = light_passage(&m, event, i, settings->scifi_efficiency);
  return status == SL_OK ? add_noise(&m, event) : status;
}
