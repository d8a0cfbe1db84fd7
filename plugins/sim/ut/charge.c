/* charge.c: charge of particles in the UT strips. For each passage:
 *   1. Find the sectors that its straight line crosses. Staves and sensors overlap, so that there may be two.
 *   2. Draw the charge: Landau distribution for 0.25 mm of silicon and the path in it, over beta^2.
 *   3. Spread it evenly along the path, smeared by diffusion. A charge so large that it implies a delta electron: the
 *      excess is spread to the side, up to the range of such an electron.
 *   4. Couple a fraction of each strip's charge to both neighbours.
 * Lorentz drift is neglected: at some 0.1 T it is a few um over the thickness. Numbers: README.md, "The UT". */
#include "charge.h"

enum { SECTORS_MAX = 6, SPREAD_STRIPS = 24 };

static const float mode = 20.9f;            /* ADC counts, most probable charge at normal incidence */
static const float landau_width = 1.55f;    /* ADC counts per unit of the Landau distribution */
static const float diffusion = 0.005f;      /* mm: largest diffusion, with a triangular distribution */
static const float coupled = 0.045f;        /* fraction of a strip's charge, to each side */
static const float beta2_min = 0.05f;       /* lower limit: slower particles stop in the sensor */
static const float electron_from = 15.0f;   /* ADC counts above the mode for a track of a delta electron */
static const float electron_range = 0.009f; /* mm to the side for electron_from counts, some 50 keV */
static const float electron_range_max = 0.3f;
static const float charge_min = 0.15f;     /* ADC counts; smaller shares are dropped */
static const float noise_clusters = 66.8f; /* per event, in the whole detector */
static const float noise_higher = 0.078f;  /* fraction with one count more than the threshold */

/* ------------------------------------------------------------------------------------------------ the sectors */

/* A passage in the frame of its layer (ut/description.h). */
struct line {
  const struct sim_passage *p;
  float w, v, slope_w, slope_v; /* at the passage's z */
};

struct crossing {
  uint32_t sector;
  float across; /* distance from the middle of the sector */
};

struct crossings {
  struct crossing at[SECTORS_MAX];
  uint32_t count;
};

static int is_in_hole(const struct ut_description *ut, const struct sim_passage *p, float dz) {
  const float x = p->x + p->tx * dz, y = p->y + p->ty * dz;
  return x * x + y * y < ut->hole * ut->hole;
}

static void try_sectors(const struct ut_description *ut, const struct line *l, uint32_t first, uint32_t end,
                        struct crossings *found) {
  for (uint32_t i = first; i < end; i++) {
    const struct ut_sector_description *s = &ut->sectors[i];
    const float dz = s->z - l->p->z;
    const float across = l->w + l->slope_w * dz - s->w, along = l->v + l->slope_v * dz - s->v;
    const int is_inside = sl_abs_f32(across) < s->half_width && sl_abs_f32(along) < s->half_length;
    if (is_inside && !is_in_hole(ut, l->p, dz) && found->count < SECTORS_MAX)
      found->at[found->count++] = (struct crossing){i, across};
  }
}

/* Tests the sectors of the rows on a stave that the line may cross. */
static void try_stave(const struct ut_description *ut, const struct line *l, uint32_t side, uint32_t stave,
                      struct crossings *found) {
  const uint32_t layer = l->p->layer;
  const float depth = ut->stave_depth + ut->sensor_depth, reach = 0.5f * ut->length + depth * sl_abs_f32(l->slope_v);
  if (sl_abs_f32(l->w - ut->stave_w[layer][side][stave]) > 0.5f * ut->width + depth * sl_abs_f32(l->slope_w)) return;
  const float v = l->v - ut->stave_v[layer][side][stave];
  const uint16_t *first = ut->first_sector[layer][side][stave];
  const float low = (v - reach) / ut->step + 0.5f * (UT_ROWS - 1), high = (v + reach) / ut->step + 0.5f * (UT_ROWS - 1);
  const int32_t from = sl_to_i32(sl_max_f32(low, -1.0f) + 1.0f), to = sl_to_i32(sl_min_f32(high, UT_ROWS - 1) + 1.0f);
  for (int32_t row = from; row < to; row++) try_sectors(ut, l, first[row], first[row + 1], found);
}

static void find_sectors(const struct ut_description *ut, const struct sim_passage *p, struct crossings *found) {
  const struct ut_layer_description *layer = &ut->layers[p->layer];
  const float *across = layer->across, *along = layer->along;
  const struct line l = {.p = p,
                         .w = p->x * across[0] + p->y * across[1],
                         .v = p->x * along[0] + p->y * along[1],
                         .slope_w = p->tx * across[0] + p->ty * across[1],
                         .slope_v = p->tx * along[0] + p->ty * along[1]};
  const float place = sl_abs_f32(l.w) / ut->step;
  const int32_t stave = sl_to_i32(sl_min_f32(place, 2.0f * UT_STAVES_MAX));
  const uint32_t side = l.w < 0 ? UT_DOWN : UT_UP;
  found->count = 0;
  for (int32_t k = stave - 1; k <= stave + 1; k++) {
    if (k >= (int32_t)layer->staves) continue;
    if (k >= 0)
      try_stave(ut, &l, side, (uint32_t)k, found);
    else
      try_stave(ut, &l, 1 - side, 0, found);
  }
}

/* -------------------------------------------------------------------------------------------------- the charge */

/* Uniform numbers in (0, 1) of a crossing, from one block: detection, charge, and direction of a delta electron. */
struct chances {
  float seen, charge, side;
};

static struct chances chances_of(const struct sim_event *event, uint32_t passage, uint32_t crossing) {
  struct sim_random r = sim_event_random(event, SIM_FOR_UT_HIT, passage);
  uint32_t words[4];
  float uniform[4];
  r.counter[0] = crossing;
  sl_philox_4x32_10(r.key, r.counter, words);
  for (int i = 0; i < 4; i++) uniform[i] = sim_uniform_of(words[i]);
  return (struct chances){uniform[0], uniform[1], uniform[2]};
}

/* Quantile of the Landau distribution at u, from a table at n / 32 (the first entry at 1/256) that was integrated
 * from the density; beyond the last entry it grows as 1 / (1 - u). */
static float landau(float u) {
  enum { PARTS = 32 };
  static const float quantiles[PARTS] = {-2.35f,  -1.711f, -1.382f, -1.136f, -0.926f, -0.735f, -0.553f, -0.378f,
                                         -0.205f, -0.031f, 0.145f,  0.324f,  0.51f,   0.704f,  0.908f,  1.124f,
                                         1.356f,  1.606f,  1.878f,  2.179f,  2.515f,  2.895f,  3.332f,  3.844f,
                                         4.458f,  5.217f,  6.188f,  7.494f,  9.376f,  12.394f, 18.2f,   34.97f};
  const float beyond_last = 2.97f, at_mode = 0.223f;
  const float place = u * PARTS;
  const int32_t k = (int32_t)place;
  if (k == PARTS - 1) return 1.0f / (1.0f - u) + beyond_last + at_mode;
  return quantiles[k] + (place - (float)k) * (quantiles[k + 1] - quantiles[k]) + at_mode;
}

/* Charge of a particle per strip, from `first` on; one strip before and after those crossed, for coupling. */
struct spread {
  int32_t first, count;
  float own[SPREAD_STRIPS];
};

/* Diffusion has a triangular distribution; this is the second integral of it. */
static float smooth_step_integral(float s) {
  const float below = sl_max_f32(1.0f + s, 0.0f), above = sl_max_f32(1.0f - s, 0.0f);
  return s < 0.0f ? below * below * below * (1.0f / 6.0f) : s + above * above * above * (1.0f / 6.0f);
}

/* Adds `charge`, spread evenly from a to b and smeared by `blur`; lengths in strips. */
static void spread_charge(struct spread *to, float a, float b, float blur, float charge) {
  const float shortest = 0.25f * blur, middle = 0.5f * (a + b) - (float)to->first, widths = 1.0f / blur;
  const float half = sl_max_f32(0.5f * sl_abs_f32(b - a), shortest);
  const float low = (middle - half) * widths, high = (middle + half) * widths, scale = charge * blur / (2.0f * half);
  float before = 0;
  for (int32_t k = 0; k < to->count; k++) {
    const float border = (float)(k + 1) * widths;
    const float up_to = smooth_step_integral(border - low) - smooth_step_integral(border - high);
    to->own[k] = to->own[k] + (up_to - before) * scale;
    before = up_to;
  }
}

/* Covers the strips from `low` to `high` and one more on both sides, up to SPREAD_STRIPS. */
static void begin_spread(struct spread *to, float low, float high) {
  to->first = (int32_t)(low + 1000.0f) - 1000 - 1; /* rounded down */
  to->count = (int32_t)(high + 1000.0f) - 1000 + 2 - to->first;
  if (to->count > SPREAD_STRIPS) to->count = SPREAD_STRIPS;
  for (int32_t k = 0; k < to->count; k++) to->own[k] = 0;
}

/* Appends the charges of the strips; the caller has made room. */
static void add_charges(const struct spread *from, uint32_t sector, uint32_t particle, struct sim_ut_charges *charges) {
  const float unit = (float)SIM_UT_CHARGE_UNIT;
  for (int32_t k = 0; k < from->count; k++) {
    const int32_t strip = from->first + k;
    const float before = k > 0 ? from->own[k - 1] : 0.0f, after = k + 1 < from->count ? from->own[k + 1] : 0.0f;
    const float charge = (1.0f - 2.0f * coupled) * from->own[k] + coupled * (before + after);
    if (strip < 0 || strip >= UT_SECTOR_STRIPS || charge < charge_min) continue;
    charges->at[charges->count++] =
        (struct sim_ut_charge){sector << SIM_UT_STRIP_BITS | (uint32_t)strip, sl_to_i32(charge * unit + 0.5f),
                               sl_to_i32(from->own[k] * unit + 0.5f), (int32_t)particle};
  }
}

static void charge_sector(const struct ut_description *ut, const struct sim_event *event, const struct sim_passage *p,
                          const struct crossing *c, const struct chances *r, struct sim_ut_charges *charges) {
  const struct ut_sector_description *s = &ut->sectors[c->sector];
  const struct ut_layer_description *layer = &ut->layers[s->layer];
  const float mass = event->particles.at[p->particle].species->mass, p2 = p->p * p->p;
  const float beta2 = sl_max_f32(p2 / (p2 + mass * mass), beta2_min);
  const float path = sqrtf(1.0f + p->tx * p->tx + p->ty * p->ty) / beta2;
  const float deviation = landau_width * landau(r->charge), delta_charge = deviation > electron_from ? deviation : 0.0f;
  const float strips = 1.0f / s->pitch, slope = p->tx * layer->across[0] + p->ty * layer->across[1];
  const float middle = (c->across + s->half_width) * strips, half = 0.5f * ut->thickness * slope * strips;
  const float blur = diffusion * strips;
  const float range = sl_min_f32(electron_range * (delta_charge / electron_from) * sqrtf(delta_charge / electron_from),
                                 electron_range_max);
  const float end = delta_charge > 0.0f ? middle + (2.0f * r->side - 1.0f) * range * strips : middle;
  const float low = sl_min_f32(middle - sl_abs_f32(half), end), high = sl_max_f32(middle + sl_abs_f32(half), end);
  struct spread spread;
  begin_spread(&spread, low - blur, high + blur);
  spread_charge(&spread, middle - half, middle + half, blur,
                sl_max_f32(path * (mode + deviation - delta_charge), 0.0f));
  if (delta_charge > 0.0f) spread_charge(&spread, middle, end, blur, path * delta_charge);
  add_charges(&spread, c->sector, p->particle, charges);
}

/* Noise that exceeds the threshold on its own. */
static int add_noise(const struct sim_event *event, struct sim_ut_charges *charges) {
  struct sim_random r = sim_event_random(event, SIM_FOR_UT_NOISE, 0);
  const uint32_t count = sim_poisson(&r, noise_clusters);
  if (!sim_reserve((void **)&charges->at, &charges->capacity, charges->count + count, sizeof *charges->at))
    return SL_ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t sector = sim_random_u32(&r) % UT_SECTORS, strip = sim_random_u32(&r) % UT_SECTOR_STRIPS;
    const int32_t adc = SIM_UT_THRESHOLD + (sim_uniform(&r) < noise_higher);
    charges->at[charges->count++] =
        (struct sim_ut_charge){sector << SIM_UT_STRIP_BITS | strip, adc * SIM_UT_CHARGE_UNIT, 0, SIM_UT_NO_PARTICLE};
  }
  return SL_OK;
}

int sim_ut_charge(const struct ut_description *ut, float efficiency, const struct sim_event *event,
                  struct sim_ut_charges *charges) {
  for (uint32_t i = 0; i < event->passages[SIM_IN_UT].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_UT].at[i];
    const uint32_t room = charges->count + SECTORS_MAX * SPREAD_STRIPS;
    struct crossings found;
    find_sectors(ut, p, &found);
    if (found.count == 0) continue;
    if (!sim_reserve((void **)&charges->at, &charges->capacity, room, sizeof *charges->at)) return SL_ENOMEM;
    for (uint32_t k = 0; k < found.count; k++) {
      const struct chances r = chances_of(event, i, k);
      if (r.seen < efficiency) charge_sector(ut, event, p, &found.at[k], &r, charges);
    }
  }
  return add_noise(event, charges);
}
