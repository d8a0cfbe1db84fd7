/* light.c: light of passages in the SciFi channels. For each passage:
 *   1. Cross the tilted plane of its layer, and convert to the layer's coordinates: U across the fibres, V along them.
 *      They determine module, mat and SiPM.
 *   2. Spread the light evenly over the path in the mat, smeared by fibres, glue and cross-talk.
 *   3. Divide the photoelectrons among channels, each with its own fluctuation.
 * Passages are processed in portions, in loops without branches, which the compiler vectorises. Numbers: 16
 * photoelectrons per crossing (LHCb tracker upgrade TDR, CERN-LHCC-2014-001); the others are tuned to the cluster
 * sizes of full simulation. */
#include "light.h"

static const float photons = 16.0f;      /* most probable number at normal incidence */
static const float photons_width = 2.5f; /* width of the distribution */
static const float photons_max = 400.0f;
static const float spread = 0.205f;     /* mm: half width of the light of a point */
static const float delta_share = 0.04f; /* fraction of crossings with a delta electron */
static const float delta_length = 0.3f; /* mm, mean extra length on either side */
static const float slow = 1000.0f;      /* MeV: slower particles bend and scatter in a mat, some along it */
static const float flat = 0.15f;        /* fraction of their crossings with extra light */
static const float flat_length = 1.3f;
static const float noise_clusters = 449;  /* per event */
static const float noise_singles = 0.23f; /* fraction of one channel; the others have two */

/* A layer, in single precision. */
struct layer {
  float z, sine, cosine, tangent; /* z on the axis; stereo angle */
  float lean_y;                   /* y of the layer's middle line */
  int32_t station, number, modules;
};

/* Passages from `first` on: random numbers, positions in the layers, and light. */
enum { PORTION = 64 };
struct portion {
  uint32_t first, count;
  int32_t is_seen[PORTION];   /* detected, and inside the fibres */
  float photons[PORTION];     /* at normal incidence */
  float extra[PORTION];       /* mm: extra spread of the light */
  uint32_t bytes[2][PORTION]; /* random bytes of the first channels */
  int32_t quarter[PORTION], module[PORTION];
  float u[PORTION], v[PORTION]; /* from the begin of the module's mats; from the module's middle */
  float electrons[PORTION];
  float outer[PORTION], inner[PORTION], height[PORTION], fall[PORTION]; /* see struct shape */
};

struct light_context {
  const struct scifi_description *scifi;
  const struct sim_event *event;
  struct sim_scifi_lights *lights;
  struct layer layers[SCIFI_LAYERS];
  float lean, cosine; /* tangent and cosine of the tilt */
  float first_module, module_pitch, mat_pitch, half_mats, half_thickness;
  float begin, clear, end; /* |v| where fibres begin, where they begin at the latest, and where they end */
  float u_begin, sipm_pitch, die, die_gap, channel;
  float per_module, per_mat, per_sipm, per_channel; /* 1 / pitch */
};

static void describe(const struct scifi_description *d, struct light_context *m) {
  for (uint32_t i = 0; i < SCIFI_LAYERS; i++) {
    const struct scifi_station *station = &d->station[i / SCIFI_STATION_LAYERS];
    const struct scifi_layer *layer = &d->layer[i % SCIFI_STATION_LAYERS];
    m->layers[i] = (struct layer){.z = (float)(station->z + layer->z / d->tilt_cosine),
                                  .sine = (float)layer->sine,
                                  .cosine = (float)layer->cosine,
                                  .tangent = (float)(layer->sine / layer->cosine),
                                  .lean_y = (float)(-layer->z * d->tilt_sine),
                                  .station = (int32_t)i / SCIFI_STATION_LAYERS,
                                  .number = (int32_t)i % SCIFI_STATION_LAYERS,
                                  .modules = (int32_t)station->modules};
  }
  m->lean = (float)(d->tilt_sine / d->tilt_cosine);
  m->cosine = (float)d->tilt_cosine;
  m->first_module = (float)d->first_module;
  m->module_pitch = (float)d->module_pitch;
  m->mat_pitch = (float)d->mat_pitch;
  m->half_mats = (float)(0.5 * SCIFI_MODULE_MATS * d->mat_pitch);
  m->half_thickness = (float)(0.5 * d->mat_thickness);
  m->begin = (float)d->fibre_begin;
  m->clear = m->begin + sl_max_f32((float)d->hole_upright, sl_max_f32((float)d->hole_away, (float)d->hole_towards));
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

/* Distribution of light: the convolution of two uniform distributions. */
struct shape {
  float middle, outer, inner; /* middle; half widths of the whole and of the flat part */
  float height, fall;         /* density of the flat part; half of its decrease per mm outside */
};

/* Integral of the distribution up to u, minus one half. */
static inline float part_below(const struct shape *s, float u) {
  const float from = u - s->middle, distance = sl_min_f32(sl_abs_f32(from), s->outer);
  const float beyond = sl_max_f32(distance - s->inner, 0.0f);
  return sl_copysign_f32(s->height * distance - s->fall * beyond * beyond, from);
}

/* Random bytes, one per channel of a passage; the first eight are in the portion. */
enum { BLOCK = 8 };
struct channel_bytes {
  uint32_t words[2];
  uint32_t passage, blocks; /* number of blocks used */
};

static inline void next_block(const struct sim_event *event, struct channel_bytes *b) {
  if (b->blocks > 0) {
    struct sim_random r = sim_event_random(event, SIM_FOR_SCIFI_HIT, b->passage);
    uint32_t numbers[4];
    r.counter[0] = b->blocks;
    sl_philox_4x32_10(r.key, r.counter, numbers);
    b->words[0] = numbers[0];
    b->words[1] = numbers[1];
  }
  b->blocks++;
}

/* Channel at position q in a SiPM. */
static inline int32_t channel_at(const struct light_context *m, float q) {
  const float in_dies = sl_min_f32(q, sl_max_f32(q - m->die_gap, m->die)) * m->per_channel;
  return (int32_t)sl_clamp_f32(in_dies, 0.0f, SCIFI_SIPM_CHANNELS - 1);
}

/* Light in the channels of a block, from `first` on: mean, plus a fluctuation with a uniform distribution. */
static inline void share_block(const struct light_context *m, const struct shape *shape, float electrons, int32_t first,
                               const uint32_t words[2], uint32_t share[BLOCK]) {
  const float channel = m->channel, die_gap = m->die_gap, scale = SIM_SCIFI_PHOTON;
  const uint32_t low = words[0], high = words[1];
  for (int32_t k = 0; k < BLOCK; k++) {
    const int32_t c = first + k;
    const float begin = (float)c * channel + (c < SCIFI_DIE_CHANNELS ? 0.0f : die_gap);
    const float part = part_below(shape, begin + channel) - part_below(shape, begin);
    const float mean = sl_max_f32(electrons * part, 0.0f);
    const uint32_t byte = (k < 4 ? low : high) >> 8 * (k & 3) & 0xFF;
    const float fluctuation = ((float)(int32_t)byte - 127.5f) * (1.0f / 73.9f); /* variance 1 */
    share[k] = (uint32_t)(int32_t)(sl_max_f32(mean + sqrtf(mean) * fluctuation, 0.0f) * scale);
  }
}

/* Adds the light in a SiPM that begins at u = 0. `electrons` is the total of the shape. The caller has made room. */
static void add_light(struct light_context *m, const struct shape *shape, float electrons, struct channel_bytes *bytes,
                      struct sim_scifi_light light) {
  struct sim_scifi_lights *lights = m->lights;
  const int32_t first = channel_at(m, shape->middle - shape->outer), last = channel_at(m, shape->middle + shape->outer);
  light.first_channel = (uint32_t)first;
  light.first_share = lights->shares.count;
  light.count = (uint32_t)(last - first + 1);
  lights->list.at[lights->list.count++] = light;
  for (int32_t c = first; c <= last; c += BLOCK) {
    next_block(m->event, bytes);
    share_block(m, shape, electrons, c, bytes->words, lights->shares.at + lights->shares.count + (c - first));
  }
  lights->shares.count += light.count;
}

/* ------------------------------------------------------------------------------------------------ passages */

/* Passages and their layers, in vector layout. */
struct lines {
  float x[PORTION], y[PORTION], tx[PORTION], ty[PORTION];
  float dz[PORTION]; /* along z, from the passage to the plane of its layer */
  float sine[PORTION], cosine[PORTION], tangent[PORTION], lean_y[PORTION];
  int32_t number[PORTION], modules[PORTION];
};

static void load_lines(const struct light_context *m, const struct portion *of, struct lines *to) {
  const struct sim_passage *passages = m->event->passages[SIM_IN_SCIFI].at + of->first;
  for (uint32_t k = 0; k < of->count; k++) {
    const struct sim_passage *p = &passages[k];
    const struct layer *layer = &m->layers[p->layer];
    to->x[k] = p->x;
    to->y[k] = p->y;
    to->tx[k] = p->tx;
    to->ty[k] = p->ty;
    to->dz[k] = layer->z + m->lean * p->y - p->z;
    to->sine[k] = layer->sine;
    to->cosine[k] = layer->cosine;
    to->tangent[k] = layer->tangent;
    to->lean_y[k] = layer->lean_y;
    to->number[k] = layer->number;
    to->modules[k] = layer->modules;
  }
}

/* Computes positions in the layers and shapes. The second loop has the divisions by values that are limited to a
 * constant; in the first loop the compiler would split them into branches. */
static void locate(const struct light_context *m, struct portion *to) {
  enum { MODULES_MAX = 15 }; /* more than any station has */
  struct lines l;
  float wide[PORTION], narrow[PORTION];
  load_lines(m, to, &l);
  for (uint32_t k = 0; k < to->count; k++) {
    const float dz = l.dz[k] / (1.0f - m->lean * l.ty[k]);
    const float x = l.x[k] + l.tx[k] * dz, y = (l.y[k] + l.ty[k] * dz - l.lean_y[k]) / m->cosine;
    const float across = x * l.cosine[k] - y * l.sine[k], along = x * l.sine[k] + y * l.cosine[k];
    const float beside = (sl_abs_f32(across) - m->first_module) * m->per_module + 0.5f;
    const int32_t number = (int32_t)beside, outside = number > 0 ? number : 0;
    const int32_t module = outside < MODULES_MAX ? outside : MODULES_MAX;
    const float middle = sl_copysign_f32(m->first_module + m->module_pitch * (float)module, across);
    const float v = along - middle * l.tangent[k];
    const int32_t is_right = across > 0.0f, is_top = v > 0.0f;
    const float sign = (float)(1 - 2 * ((l.number[k] & 1) ^ is_top)); /* scifi_u_sign */
    const float slope = sign * (l.tx[k] * l.cosine[k] - l.ty[k] * l.sine[k]);
    const float slant = sqrtf(1.0f + l.tx[k] * l.tx[k] + l.ty[k] * l.ty[k]);
    to->quarter[k] = is_right | is_top << 1;
    to->module[k] = module;
    to->u[k] = sign * (across - middle) + m->half_mats;
    to->v[k] = sl_abs_f32(v);
    const float length = slant + to->extra[k] / m->half_thickness;
    to->electrons[k] = sl_min_f32(length * to->photons[k], photons_max);
    const float half_way = m->half_thickness * sl_abs_f32(slope) + to->extra[k];
    wide[k] = sl_max_f32(half_way, spread);
    narrow[k] = sl_max_f32(sl_min_f32(half_way, spread), 1e-3f);
    to->is_seen[k] &= (module < l.modules[k]) & (sl_abs_f32(v) < m->end);
  }
  for (uint32_t k = 0; k < to->count; k++) {
    to->outer[k] = wide[k] + narrow[k];
    to->inner[k] = wide[k] - narrow[k];
    to->height[k] = 0.5f / wide[k];
    to->fall[k] = 0.125f / (wide[k] * narrow[k]);
  }
}

static void light_mat(struct light_context *m, const struct portion *portion, uint32_t k, int32_t mat,
                      struct channel_bytes *bytes) {
  const struct sim_passage *p = &m->event->passages[SIM_IN_SCIFI].at[portion->first + k];
  const struct layer *layer = &m->layers[p->layer];
  const struct scifi_mat_address at = {(uint32_t)layer->station, (uint32_t)layer->number, (uint32_t)portion->quarter[k],
                                       (uint32_t)portion->module[k], (uint32_t)mat};
  struct shape shape = {0.0f, portion->outer[k], portion->inner[k], portion->height[k], portion->fall[k]};
  const float in_mat = portion->u[k] - ((float)mat + 0.5f) * m->mat_pitch - m->u_begin;
  if (portion->v[k] < m->clear && portion->v[k] < m->begin + (float)scifi_hole(m->scifi, &at)) return;
  const float lowest = (in_mat - shape.outer) * m->per_sipm, highest = (in_mat + shape.outer) * m->per_sipm;
  struct sim_scifi_light light = {.particle = p->particle};
  for (int32_t i = (int32_t)sl_clamp_f32(lowest, 0.0f, SCIFI_MAT_SIPMS); i < SCIFI_MAT_SIPMS && (float)i < highest;
       i++) {
    shape.middle = in_mat - (float)i * m->sipm_pitch;
    light.sipm = scifi_mat_index(&at) * SCIFI_MAT_SIPMS + (uint32_t)i;
    add_light(m, &shape, portion->electrons[k], bytes, light);
  }
}

static int light_passage(struct light_context *m, const struct portion *p, uint32_t k) {
  enum { LIGHTS = SCIFI_MODULE_MATS * SCIFI_MAT_SIPMS, SHARES = LIGHTS * SCIFI_SIPM_CHANNELS + BLOCK }; /* at most */
  struct sim_scifi_lights *lights = m->lights;
  if (!sim_reserve((void **)&lights->list.at, &lights->list.capacity, lights->list.count + LIGHTS,
                   sizeof *lights->list.at) ||
      !sim_reserve((void **)&lights->shares.at, &lights->shares.capacity, lights->shares.count + SHARES,
                   sizeof *lights->shares.at))
    return SL_ENOMEM;
  struct channel_bytes bytes = {{p->bytes[0][k], p->bytes[1][k]}, p->first + k, 0};
  const float lowest = (p->u[k] - p->outer[k]) * m->per_mat, highest = (p->u[k] + p->outer[k]) * m->per_mat;
  for (int32_t mat = (int32_t)sl_clamp_f32(lowest, 0.0f, SCIFI_MODULE_MATS);
       mat < SCIFI_MODULE_MATS && (float)mat < highest; mat++)
    light_mat(m, p, k, mat, &bytes);
  return SL_OK;
}

/* Draws random numbers. One uniform number decides about detection and, at its smallest values, gives the extra
 * spread. */
static void draw(const struct sim_event *event, float efficiency, struct portion *p) {
  const struct sim_passage *passages = event->passages[SIM_IN_SCIFI].at + p->first;
  float seen[PORTION], amount[PORTION], extra_below[PORTION], length[PORTION];
  for (uint32_t k = 0; k < PORTION; k++) {
    const int is_slow = k < p->count && passages[k].p < slow;
    extra_below[k] = sl_max_f32(efficiency * (is_slow ? flat : delta_share), 1e-9f);
    length[k] = is_slow ? flat_length : delta_length;
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
    const float deviation = -sl_logf(-sl_logf(amount[k])); /* Gumbel distribution: mode 0, width 1 */
    p->photons[k] = sl_max_f32(photons + photons_width * deviation, 1.0f);
    p->extra[k] = -length[k] * sl_logf(sl_min_f32(seen[k] / extra_below[k], 1.0f));
    p->is_seen[k] = seen[k] < efficiency;
  }
}

/* --------------------------------------------------------------------------------------------------- noise */

/* Noise of the SiPMs, in random channels: single cells, or two neighbouring ones, over the thresholds. */
static int add_noise(const struct light_context *m) {
  struct sim_scifi_lights *lights = m->lights;
  struct sim_random r = sim_event_random(m->event, SIM_FOR_SCIFI_NOISE, 0);
  for (uint32_t left = sim_poisson(&r, noise_clusters); left > 0;) {
    const uint32_t bits = sim_random_u32(&r), sipm = bits % SIM_SCIFI_SIPMS;
    const uint32_t quarter = sipm / (SCIFI_MAT_SIPMS << (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT)), module = sipm >> 4 & 7;
    if (module >= (uint32_t)m->layers[quarter / SCIFI_LAYER_QUARTERS].modules) continue; /* no such SiPM */
    const uint32_t width = sim_uniform(&r) < noise_singles ? 1 : 2;
    const uint32_t first = sim_random_u32(&r) % (SCIFI_SIPM_CHANNELS + 1 - width);
    const struct sim_scifi_light light = {sipm, SIM_SCIFI_NOISE, first, lights->shares.count, width};
    for (uint32_t i = 0; i < width; i++) {
      uint32_t *share = SIM_APPEND(&lights->shares);
      if (!share) return SL_ENOMEM;
      *share = width == 1 ? 5 * SIM_SCIFI_PHOTON : 3 * SIM_SCIFI_PHOTON;
    }
    struct sim_scifi_light *to = SIM_APPEND(&lights->list);
    if (!to) return SL_ENOMEM;
    *to = light;
    left--;
  }
  return SL_OK;
}

int sim_scifi_light(const struct scifi_description *scifi, float efficiency, const struct sim_event *event,
                    struct sim_scifi_lights *lights) {
  struct light_context m = {.scifi = scifi, .event = event, .lights = lights};
  struct portion p;
  const uint32_t count = event->passages[SIM_IN_SCIFI].count;
  int status = SL_OK;
  describe(scifi, &m);
  for (uint32_t first = 0; first < count && status == SL_OK; first += PORTION) {
    p.first = first;
    p.count = count - first < PORTION ? count - first : PORTION;
    draw(event, efficiency, &p);
    locate(&m, &p);
    for (uint32_t k = 0; k < p.count && status == SL_OK; k++)
      if (p.is_seen[k]) status = light_passage(&m, &p, k);
  }
  return status == SL_OK ? add_noise(&m) : status;
}
