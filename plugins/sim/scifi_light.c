/* scifi_light.c: the light that passages leave in the channels of the fibre tracker.
 *
 * A passage is met where it crosses its layer's plane, which leans, and turned into the layer's own coordinates: U
 * across the fibres, V along them. They tell module, mat and SiPM. The light is spread evenly over the way through the
 * mat and, around it, over what fibres, glue and cross-talk make of a point; each channel gets its share of the
 * photoelectrons, which fluctuates. Numbers: 16 photoelectrons a crossing are the aim of the LHCb tracker upgrade TDR,
 * CERN-LHCC-2014-001; the rest is tuned to the sizes of clusters of full simulation.
 *
 * Passages are taken in portions, whose random numbers and logarithms are made in loops without branches, which the
 * compiler turns into vector instructions.
 */
#include "scifi_digits.h"

static const float photons = 16.0f;      /* of a straight crossing: the most probable number */
static const float photons_width = 2.5f; /* of its distribution */
static const float photons_max = 400.0f;
static const float spread = 0.205f;        /* mm: how far light gets from its place */
static const float knock_on = 0.04f;       /* of the crossings: an electron takes light farther */
static const float knock_on_length = 0.3f; /* mm, on either side, on average */
static const float slow = 1000.0f;         /* MeV: below, particles bend and scatter in a mat, some along it */
static const float flat = 0.15f;           /* of the crossings by such a particle, likewise */
static const float flat_length = 0.8f;
static const float noise_clusters = 449;  /* an event */
static const float noise_singles = 0.23f; /* of them: a channel; else two */

/* A layer, in float. */
struct layer {
  float z, sine, cosine, tangent; /* z on the axis; of the stereo angle */
  float lean_y;                   /* y of the layer's middle line */
  uint32_t station, number, modules;
};

/* Passages from `first` on, and what chance gives each of them. */
enum { PORTION = 64 };
struct portion {
  uint32_t first, count;
  uint32_t is_seen[PORTION];
  float photons[PORTION];     /* of a straight crossing */
  float farther[PORTION];     /* how far light gets besides, mm */
  uint32_t bytes[2][PORTION]; /* for the channels */
};

struct light_maker {
  const struct scifi_description *scifi;
  const struct sim_event *event;
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

/* Random numbers for the channels of a passage, a byte each: those for the first eight are in the portion. */
enum { BLOCK = 8 };
struct channel_bytes {
  uint32_t words[2];
  uint32_t passage, blocks; /* so many have been used */
};

static inline void next_block(const struct sim_event *event, struct channel_bytes *b) {
  if (b->blocks > 0) {
    struct sim_random r = sim_event_random(event, SIM_FOR_SCIFI_HIT, b->passage);
    uint32_t numbers[4];
    r.counter[0] = b->blocks;
    philox_4x32_10(r.key, r.counter, numbers);
    b->words[0] = numbers[0];
    b->words[1] = numbers[1];
  }
  b->blocks++;
}

/* The channel at a place in a SiPM. */
static inline int32_t channel_at(const struct light_maker *m, float q) {
  const float in_dies = sl_min_f32(q, sl_max_f32(q - m->die_gap, m->die)) * m->per_channel;
  return (int32_t)sl_clamp_f32(in_dies, 0.0f, SCIFI_SIPM_CHANNELS - 1);
}

/* Shares of so many channels as are in a block, from `first` on: a mean, and its fluctuation by an even distribution.
 */
static inline void share_block(const struct light_maker *m, const struct shape *shape, float electrons, int32_t first,
                               const uint32_t words[2], uint32_t share[BLOCK]) {
  const float channel = m->channel, die_gap = m->die_gap, scale = SIM_SCIFI_PHOTON;
  float bytes[BLOCK];
  for (int32_t k = 0; k < BLOCK; k++) bytes[k] = (float)(int32_t)(words[k / 4] >> 8 * (k % 4) & 0xFF);
  for (int32_t k = 0; k < BLOCK; k++) {
    const int32_t c = first + k;
    const float begin = (float)c * channel + (c < SCIFI_DIE_CHANNELS ? 0.0f : die_gap);
    const float part = part_below(shape, begin + channel) - part_below(shape, begin);
    const float mean = sl_max_f32(electrons * part, 0.0f);
    const float wobble = (bytes[k] - 127.5f) * (1.0f / 73.9f); /* of variance 1 */
    share[k] = (uint32_t)(int32_t)(sl_max_f32(mean + sqrtf(mean) * wobble, 0.0f) * scale);
  }
}

/* What comes to a SiPM that begins at u = 0. `electrons` are those of the whole shape. */
static int add_light(struct light_maker *m, const struct shape *shape, float electrons, struct channel_bytes *bytes,
                     struct sim_scifi_light light) {
  struct sim_scifi_digits *d = m->digits;
  const int32_t first = channel_at(m, shape->middle - shape->outer), last = channel_at(m, shape->middle + shape->outer);
  struct sim_scifi_light *to = SIM_APPEND(&d->lights);
  if (!to || !sim_reserve((void **)&d->shares.at, &d->shares.capacity, d->shares.count + SCIFI_SIPM_CHANNELS + BLOCK,
                          sizeof *d->shares.at))
    return SL_ENOMEM;
  light.first_channel = (uint32_t)first;
  light.first_share = d->shares.count;
  light.count = (uint32_t)(last - first + 1);
  *to = light;
  for (int32_t c = first; c <= last; c += BLOCK) {
    next_block(m->event, bytes);
    share_block(m, shape, electrons, c, bytes->words, d->shares.at + d->shares.count + (c - first));
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
  const uint32_t module = (uint32_t)(int32_t)sl_clamp_f32(beside, 0.0f, 15.0f); /* none has so many */
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
                     uint32_t particle, struct channel_bytes *bytes) {
  const float in_mat = c->u - ((float)c->place.mat + 0.5f) * m->mat_pitch - m->u_begin;
  if (c->v < m->begin + (float)scifi_hole(m->scifi, &c->place)) return SL_OK;
  const float lowest = (in_mat - shape.outer) * m->per_sipm, highest = (in_mat + shape.outer) * m->per_sipm;
  struct sim_scifi_light light = {.particle = particle};
  int status = SL_OK;
  for (int32_t k = (int32_t)sl_clamp_f32(lowest, 0.0f, SCIFI_MAT_SIPMS); k < SCIFI_MAT_SIPMS && (float)k < highest;
       k++) {
    shape.middle = in_mat - (float)k * m->sipm_pitch;
    light.sipm = scifi_mat_index(&c->place) * SCIFI_MAT_SIPMS + (uint32_t)k;
    if (status == SL_OK) status = add_light(m, &shape, electrons, bytes, light);
  }
  return status;
}

static int light_passage(struct light_maker *m, const struct portion *portion, uint32_t k) {
  const struct sim_passage *p = &m->event->passages[SIM_IN_SCIFI].at[portion->first + k];
  struct channel_bytes bytes = {{portion->bytes[0][k], portion->bytes[1][k]}, portion->first + k, 0};
  struct crossing c;
  if (!find_module(m, p, &c)) return SL_OK;
  const float length = c.slant + portion->farther[k] / m->half_thickness;
  const float electrons = sl_min_f32(length * portion->photons[k], photons_max);
  const struct shape shape = shape_of(m->half_thickness * sl_abs_f32(c.slope) + portion->farther[k]);
  const float lowest = (c.u - shape.outer) * m->per_mat, highest = (c.u + shape.outer) * m->per_mat;
  int status = SL_OK;
  int32_t mat = (int32_t)sl_clamp_f32(lowest, 0.0f, SCIFI_MODULE_MATS);
  for (; mat < SCIFI_MODULE_MATS && (float)mat < highest; mat++) {
    c.place.mat = (uint32_t)mat;
    if (status == SL_OK) status = light_mat(m, &c, shape, electrons, p->particle, &bytes);
  }
  return status;
}

/* One uniform number says whether a passage is seen and, the smallest ones, how far light gets besides. */
static void draw(const struct sim_event *event, float efficiency, struct portion *p) {
  const struct sim_passage *passages = event->passages[SIM_IN_SCIFI].at + p->first;
  float seen[PORTION], amount[PORTION], farther_below[PORTION], length[PORTION];
  for (uint32_t k = 0; k < PORTION; k++) {
    const int is_slow = k < p->count && passages[k].p < slow;
    farther_below[k] = sl_max_f32(efficiency * (is_slow ? flat : knock_on), 1e-9f);
    length[k] = is_slow ? flat_length : knock_on_length;
  }
  for (uint32_t k = 0; k < PORTION; k += SIM_RANDOM_LANES) {
    const struct sim_random r = sim_event_random(event, SIM_FOR_SCIFI_HIT, p->first + k);
    uint32_t words[4][SIM_RANDOM_LANES];
    sim_random_lanes(&r, words);
    for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
      seen[k + l] = sim_uniform_of(words[0][l]);
      amount[k + l] = sim_uniform_of(words[1][l]);
      p->bytes[0][k + l] = words[2][l];
      p->bytes[1][k + l] = words[3][l];
    }
  }
  for (uint32_t k = 0; k < PORTION; k++) {
    const float more = -sl_logf(-sl_logf(amount[k])); /* Gumbel's distribution: mode 0, width 1 */
    p->photons[k] = sl_max_f32(photons + photons_width * more, 1.0f);
    p->farther[k] = -length[k] * sl_logf(sl_min_f32(seen[k] / farther_below[k], 1.0f));
    p->is_seen[k] = seen[k] < efficiency;
  }
}

/* --------------------------------------------------------------------------------------------------- noise */

/* Of the SiPMs themselves: cells that fire alone, and with a neighbour; over the thresholds, anywhere. */
static int add_noise(const struct light_maker *m) {
  struct sim_scifi_digits *d = m->digits;
  struct sim_random r = sim_event_random(m->event, SIM_FOR_SCIFI_NOISE, 0);
  for (uint32_t left = sim_poisson(&r, noise_clusters); left > 0;) {
    const uint32_t bits = sim_random_u32(&r), sipm = bits % SIM_SCIFI_SIPMS;
    const uint32_t quarter = sipm / (SCIFI_MAT_SIPMS << (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT)), module = sipm >> 4 & 7;
    if (module >= m->layers[quarter / SCIFI_LAYER_QUARTERS].modules) continue; /* there is no such SiPM */
    const uint32_t width = sim_uniform(&r) < noise_singles ? 1 : 2;
    const uint32_t first = sim_random_u32(&r) % (SCIFI_SIPM_CHANNELS + 1 - width);
    const struct sim_scifi_light light = {sipm, SIM_SCIFI_NOISE, first, d->shares.count, width};
    for (uint32_t i = 0; i < width; i++) {
      uint32_t *share = SIM_APPEND(&d->shares);
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
  struct light_maker m = {.scifi = scifi, .event = event, .digits = digits};
  struct portion p;
  const uint32_t count = event->passages[SIM_IN_SCIFI].count;
  int status = SL_OK;
  describe(scifi, &m);
  for (uint32_t first = 0; first < count && status == SL_OK; first += PORTION) {
    p.first = first;
    p.count = count - first < PORTION ? count - first : PORTION;
    draw(event, settings->scifi_efficiency, &p);
    for (uint32_t k = 0; k < p.count && status == SL_OK; k++)
      if (p.is_seen[k]) status = light_passage(&m, &p, k);
  }
  return status == SL_OK ? add_noise(&m) : status;
}
