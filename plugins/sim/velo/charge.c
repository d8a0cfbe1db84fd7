/* charge.c: charge of hits in the VELO pixels.
 * Hits are processed in portions, stage by stage, in loops without branches, which the compiler vectorises:
 *   1. Charge of a hit: Gumbel distribution, which is close to Landau's and needs two logarithms.
 *   2. Steps: the path in the silicon is divided into steps of equal charge, mostly one.
 *   3. Sharing: diffusion spreads the charge of a step over at most two columns and two rows.
 *   4. Sum of the charges of a hit per pixel.
 * Numbers: 200 um of silicon, threshold of 1000 electrons, noise of 100 electrons (VeloPix; LHCb-TDR-013). */
#include "charge.h"

enum { PORTION = 64, STEPS_MAX = 24, PIXELS_MAX = 4 * STEPS_MAX };

static const float step_length = 0.036f;   /* mm, in the sensor plane */
static const float diffusion = 0.012f;     /* mm: distance from a border within which charge is shared */
static const float charge_mode = 14600.0f; /* electrons, most probable charge at normal incidence */
static const float charge_width = 1700.0f; /* width of the distribution */
static const int32_t charge_min = 25;      /* electrons; smaller shares are dropped */
static const float noise_pixels = 1.5f;    /* per event, in the whole detector */

struct portion {
  uint32_t hit_count, step_count;
  uint32_t hits[PORTION]; /* index in the event */
  float chance[PORTION];  /* uniform in (0, 1) */
  float dx[PORTION], dy[PORTION];
  float electrons[PORTION]; /* charge of each step */
  float part[PORTION];      /* 1 / steps */
  uint32_t steps[PORTION];

  /* Per step: its middle, its charge, and the charge in the pixel there (0), the next pixel in x (1), in y (2), and
   * in both (3). */
  float lx[PORTION * STEPS_MAX], ly[PORTION * STEPS_MAX], charge[PORTION * STEPS_MAX];
  uint32_t sensor[PORTION * STEPS_MAX];
  uint32_t address[4][PORTION * STEPS_MAX];
  float share[4][PORTION * STEPS_MAX];
};

/* ------------------------------------------------------------------------------------------------ the stages */

/* Draws the hits from `first` on that are detected; returns the first hit of the next portion. */
static uint32_t take_hits(const struct sim_event *event, float efficiency, uint32_t first, struct portion *p) {
  const uint32_t end = event->velo_hits.count;
  uint32_t i = first, count = 0;
  while (i < end && count + SIM_RANDOM_LANES <= PORTION) {
    const struct sim_random r = sim_event_random(event, SIM_FOR_VELO_HIT, i);
    uint32_t words[4][SIM_RANDOM_LANES];
    sim_random_lanes(&r, words);
    for (uint32_t l = 0; l < SIM_RANDOM_LANES && i < end; l++, i++) {
      p->hits[count] = i;
      p->chance[count] = sim_uniform_of(words[2][l]);
      p->dx[count] = event->velo_hits.at[i].slope_x;
      p->dy[count] = event->velo_hits.at[i].slope_y;
      count += sim_uniform_of(words[3][l]) < efficiency;
    }
  }
  p->hit_count = count;
  return i;
}

static void charge_hits(const struct velo_description *v, struct portion *p) {
  const float silicon = v->silicon;
  for (uint32_t k = 0; k < p->hit_count; k++) {
    const float slope_x = p->dx[k], slope_y = p->dy[k];
    const float slant = sqrtf(1.0f + slope_x * slope_x + slope_y * slope_y);
    const float deviation = -sl_logf(-sl_logf(p->chance[k])); /* Gumbel's distribution: mode 0, width 1 */
    const float electrons = slant * (charge_mode + charge_width * deviation);
    const float dx = silicon * slope_x, dy = silicon * slope_y;
    const float steps = sl_min_f32(sqrtf(dx * dx + dy * dy) / step_length, (float)(STEPS_MAX - 1));
    p->steps[k] = (uint32_t)(1 + (int32_t)steps);
    p->part[k] = 1.0f / (float)(1 + (int32_t)steps);
    p->electrons[k] = electrons * p->part[k];
    p->dx[k] = dx;
    p->dy[k] = dy;
  }
}

static void make_steps(const struct sim_event *event, struct portion *p) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < p->hit_count; k++) {
    const struct sim_velo_hit *hit = &event->velo_hits.at[p->hits[k]];
    for (uint32_t i = 0; i < p->steps[k]; i++, count++) {
      const float along = ((float)i + 0.5f) * p->part[k] - 0.5f;
      p->lx[count] = hit->lx + along * p->dx[k];
      p->ly[count] = hit->ly + along * p->dy[k];
      p->charge[count] = p->electrons[k];
      p->sensor[count] = hit->sensor;
    }
  }
  p->step_count = count;
}

/* Column at `lx` inside the sensor; the second and third chip begin at `second` and `third`. */
static inline uint32_t column_at(float lx, float second, float third, float wider, float per_pixel) {
  const int32_t chip = (lx >= second) + (lx >= third);
  const float begin = lx >= third ? third : lx >= second ? second : 0.0f, u = lx - begin - (chip > 0 ? wider : 0.0f);
  const int32_t in_chip = (int32_t)(sl_max_f32(u, 0.0f) * per_pixel), last = VELO_CHIP_COLUMNS - 1;
  return (uint32_t)(chip * VELO_CHIP_COLUMNS + (in_chip < last ? in_chip : last));
}

/* Fraction of a charge that is collected beyond a border at this distance. */
static inline float share_beyond(float distance) {
  const float rest = sl_max_f32(1.0f - sl_max_f32(distance, 0.0f) * (1.0f / diffusion), 0.0f);
  return 0.5f * rest * rest;
}

/* Pixels around each step and their charges; no charge outside of the sensor. */
static void share_steps(const struct velo_description *v, struct portion *p) {
  const float pixel = v->pixel, per_pixel = 1.0f / pixel, wider = v->wide_pixel - v->pixel;
  const float width = v->column_edge[VELO_SENSOR_COLUMNS], height = VELO_SENSOR_ROWS * pixel;
  const float second = v->column_edge[VELO_CHIP_COLUMNS], third = v->column_edge[2 * VELO_CHIP_COLUMNS];
  const float far_away = 1.0f;
  const uint32_t last_column = VELO_SENSOR_COLUMNS - 1, last_row = VELO_SENSOR_ROWS - 1;
  for (uint32_t k = 0; k < p->step_count; k++) {
    const float x = p->lx[k], y = p->ly[k], whole = p->charge[k];
    const int is_inside = (x >= 0.0f) & (x < width) & (y >= 0.0f) & (y < height);
    const float lx = is_inside ? x : 0.0f, ly = is_inside ? y : 0.0f, charge = is_inside ? whole : 0.0f;
    const uint32_t column = column_at(lx, second, third, wider, per_pixel);
    const uint32_t row_there = (uint32_t)(int32_t)(ly * per_pixel), row = row_there < last_row ? row_there : last_row;
    const float left = lx - v->column_edge[column], right = v->column_edge[column + 1] - lx;
    const float below = ly - (float)(int32_t)row * pixel, above = (float)(int32_t)(row + 1) * pixel - ly;
    const int to_left = left < right, to_below = below < above;
    const int has_column = column != (to_left ? 0 : last_column), has_row = row != (to_below ? 0 : last_row);
    const float beyond_x = share_beyond(has_column ? sl_min_f32(left, right) : far_away);
    const float beyond_y = share_beyond(has_row ? sl_min_f32(below, above) : far_away);
    const uint32_t other_column = to_left ? column - 1 : column + 1, other_row = to_below ? row - 1 : row + 1;
    const uint32_t sensor = p->sensor[k];
    p->address[0][k] = sim_pixel_address(sensor, column, row);
    p->address[1][k] = sim_pixel_address(sensor, other_column, row);
    p->address[2][k] = sim_pixel_address(sensor, column, other_row);
    p->address[3][k] = sim_pixel_address(sensor, other_column, other_row);
    p->share[0][k] = (1.0f - beyond_x) * (1.0f - beyond_y) * charge;
    p->share[1][k] = beyond_x * (1.0f - beyond_y) * charge;
    p->share[2][k] = (1.0f - beyond_x) * beyond_y * charge;
    p->share[3][k] = beyond_x * beyond_y * charge;
  }
}

/* -------------------------------------------------------------------------------------------------- charges */

/* Appends a charge if it is not too small; the caller has made room. */
static inline void add_charge(struct sim_charges *charges, uint32_t address, float electrons, uint32_t particle) {
  const int32_t whole = sl_to_i32(electrons + 0.5f);
  charges->at[charges->count] = (struct sim_charge){address, whole, particle};
  charges->count += whole >= charge_min;
}

/* Adds up the charges of `count` steps per pixel, with a linear search over few pixels. */
static void add_steps(const struct portion *p, uint32_t first, uint32_t count, uint32_t particle,
                      struct sim_charges *charges) {
  uint32_t address[PIXELS_MAX], shares = 0, pixels = 0;
  float electrons[PIXELS_MAX];
  for (uint32_t k = first; k < first + count; k++) {
    for (int i = 0; i < 4; i++) {
      address[shares] = p->address[i][k];
      electrons[shares] = p->share[i][k];
      shares += p->share[i][k] > 0.0f;
    }
  }
  for (uint32_t k = 0; k < shares; k++) { /* entries before `pixels` are of different pixels */
    uint32_t i = pixels;
    while (i > 0 && address[i - 1] != address[k]) i--;
    if (i > 0) {
      electrons[i - 1] = electrons[i - 1] + electrons[k];
    } else {
      address[pixels] = address[k];
      electrons[pixels++] = electrons[k];
    }
  }
  for (uint32_t i = 0; i < pixels; i++) add_charge(charges, address[i], electrons[i], particle);
}

static int add_portion(const struct sim_event *event, const struct portion *p, struct sim_charges *charges) {
  const uint32_t room = PORTION * PIXELS_MAX;
  if (!sim_reserve((void **)&charges->at, &charges->capacity, charges->count + room, sizeof *charges->at))
    return SL_ENOMEM;
  for (uint32_t k = 0, step = 0; k < p->hit_count; step += p->steps[k++]) {
    const uint32_t particle = event->velo_hits.at[p->hits[k]].particle;
    if (p->steps[k] == 1)
      for (int i = 0; i < 4; i++) add_charge(charges, p->address[i][step], p->share[i][step], particle);
    else
      add_steps(p, step, p->steps[k], particle, charges);
  }
  return SL_OK;
}

static int add_noise(const struct sim_event *event, struct sim_charges *charges) {
  struct sim_random r = sim_event_random(event, SIM_FOR_VELO_NOISE, 0);
  const uint32_t count = sim_poisson(&r, noise_pixels);
  if (!sim_reserve((void **)&charges->at, &charges->capacity, charges->count + count, sizeof *charges->at))
    return SL_ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t sensor = sim_random_u32(&r) % VELO_SENSORS, column = sim_random_u32(&r) % VELO_SENSOR_COLUMNS;
    const uint32_t address = sim_pixel_address(sensor, column, sim_random_u32(&r) % VELO_SENSOR_ROWS);
    add_charge(charges, address, 2.0f * (float)SIM_VELO_THRESHOLD, UINT32_MAX);
  }
  return SL_OK;
}

int sim_velo_charge(const struct velo_description *v, float efficiency, const struct sim_event *event,
                    struct sim_charges *charges) {
  struct portion p = {.hit_count = 0};
  int status = SL_OK;
  for (uint32_t first = 0; first < event->velo_hits.count && status == SL_OK;) {
    first = take_hits(event, efficiency, first, &p);
    charge_hits(v, &p);
    make_steps(event, &p);
    share_steps(v, &p);
    status = add_portion(event, &p, charges);
  }
  return status == SL_OK ? add_noise(event, charges) : status;
}
