/* velo_digits.c: see velo_digits.h.
 *
 * Charge: a track's path in the silicon is cut into steps; each step's share of the charge is spread by diffusion over
 * at most two columns and two rows. The charge of a track has Gumbel's distribution, which is near
 * Landau's and takes two logarithms. Pixels collect charge in whole electrons, so that no order of tracks matters, and
 * are read out where that plus noise is above threshold. Numbers: 200 um of silicon, 1000 electrons of threshold, some
 * 100 of noise (VeloPix; LHCb-TDR-013). Then 8-connected pixels are joined.
 */
#include "velo_digits.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 24, PIXELS_MAX = 32, DIGIT_BITS = 9, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

static const float step_length = 0.036f;   /* mm, in the pixels' plane */
static const float diffusion = 0.012f;     /* mm: how far from a border charge is still shared */
static const float charge_mode = 14600.0f; /* electrons, a straight crossing's most probable charge */
static const float charge_width = 1700.0f; /* of its distribution */
static const int32_t threshold = 1000, noise = 100;
static const int32_t charge_kept = 25;  /* electrons; smaller shares are dropped */
static const float noise_pixels = 1.5f; /* an event, in the whole detector */

/* --------------------------------------------------------------------------------------------------- charge */

/* Of places within the sensor. */
static uint32_t column_at(const struct velo_description *v, float per_pixel, float lx) {
  const uint32_t chip_columns = VELO_CHIP_COLUMNS;
  const uint32_t chip = (lx >= v->column_edge[chip_columns]) + (lx >= v->column_edge[2 * chip_columns]);
  const float u = lx - v->column_edge[chip * chip_columns] - (chip > 0 ? v->wide_pixel - v->pixel : 0.0f);
  const uint32_t in_chip = u <= 0.0f ? 0 : (uint32_t)(int32_t)(u * per_pixel);
  return chip * chip_columns + (in_chip < chip_columns ? in_chip : chip_columns - 1);
}

/* How much of a charge at `place` is collected beyond the nearest of two borders; *side says beyond which. */
static float share_beyond(float place, float low, float high, int *side) {
  const float to_low = place - low, to_high = high - place;
  *side = to_low < to_high ? -1 : 1;
  const float rest = 1.0f - sl_max_f32(sl_min_f32(to_low, to_high), 0.0f) * (1.0f / diffusion);
  return rest > 0.0f ? 0.5f * rest * rest : 0.0f;
}

/* Charges of one hit, pixel by pixel; few enough for a search. */
struct spot {
  uint32_t count;
  uint32_t address[PIXELS_MAX];
  float electrons[PIXELS_MAX];
};

static void add_charge(struct spot *spot, uint32_t address, float electrons) {
  for (uint32_t i = spot->count; i > 0; i--) {
    if (spot->address[i - 1] != address) continue;
    spot->electrons[i - 1] = spot->electrons[i - 1] + electrons;
    return;
  }
  if (spot->count == PIXELS_MAX) return;
  spot->address[spot->count] = address;
  spot->electrons[spot->count++] = electrons;
}

static int keep_charge(struct sim_velo_digits *d, uint32_t address, float electrons, uint32_t particle) {
  const int32_t whole = sl_to_i32(electrons + 0.5f);
  if (whole < charge_kept) return SL_OK;
  struct sim_charge *c = SIM_APPEND(&d->charges);
  if (!c) return SL_ENOMEM;
  *c = (struct sim_charge){address, whole, particle};
  return SL_OK;
}

/* A step's charge at (lx, ly). */
static void deposit(const struct velo_description *v, float per_pixel, struct spot *spot, uint32_t sensor, float lx,
                    float ly, float electrons) {
  const float height = VELO_SENSOR_ROWS * v->pixel;
  if (!(lx >= 0.0f && lx < v->column_edge[VELO_SENSOR_COLUMNS] && ly >= 0.0f && ly < height)) return;
  const uint32_t column = column_at(v, per_pixel, lx);
  uint32_t row = (uint32_t)(int32_t)(ly * per_pixel);
  if (row >= VELO_SENSOR_ROWS) row = VELO_SENSOR_ROWS - 1;
  int side_x, side_y;
  float beyond_x = share_beyond(lx, v->column_edge[column], v->column_edge[column + 1], &side_x);
  float beyond_y = share_beyond(ly, (float)row * v->pixel, (float)(row + 1) * v->pixel, &side_y);
  const int32_t other_column = (int32_t)column + side_x, other_row = (int32_t)row + side_y;
  if (other_column < 0 || other_column >= VELO_SENSOR_COLUMNS) beyond_x = 0.0f;
  if (other_row < 0 || other_row >= VELO_SENSOR_ROWS) beyond_y = 0.0f;
  if (beyond_x == 0.0f && beyond_y == 0.0f) {
    add_charge(spot, sim_pixel_address(sensor, column, row), electrons);
    return;
  }
  for (int i = 0; i < 4; i++) {
    const int in_x = i & 1, in_y = i >> 1;
    const float share = (in_x ? beyond_x : 1.0f - beyond_x) * (in_y ? beyond_y : 1.0f - beyond_y);
    if (share <= 0.0f) continue;
    const uint32_t c = in_x ? (uint32_t)other_column : column, r = in_y ? (uint32_t)other_row : row;
    add_charge(spot, sim_pixel_address(sensor, c, r), share * electrons);
  }
}

static int add_hit(const struct velo_description *v, float efficiency, const struct sim_event *event, uint32_t index,
                   struct sim_velo_digits *d) {
  const struct sim_velo_hit *hit = &event->velo_hits.at[index];
  struct sim_random r = sim_event_random(event, SIM_FOR_VELO_HIT, index);
  if (sim_uniform(&r) >= efficiency) return SL_OK;
  const float slant = sqrtf(1.0f + hit->slope_x * hit->slope_x + hit->slope_y * hit->slope_y);
  const float more = -sl_logf(sim_exponential(&r)); /* Gumbel's distribution: mode 0, width 1 */
  const float electrons = slant * (charge_mode + charge_width * more);
  const float dx = v->silicon * hit->slope_x, dy = v->silicon * hit->slope_y;
  const float length = sqrtf(dx * dx + dy * dy);
  uint32_t steps = 1 + sl_to_u32(length / step_length);
  if (steps > STEPS_MAX) steps = STEPS_MAX;
  const float part = 1.0f / (float)steps, each = electrons * part, per_pixel = 1.0f / v->pixel;
  struct spot spot;
  spot.count = 0;
  for (uint32_t i = 0; i < steps; i++) {
    const float along = ((float)i + 0.5f) * part - 0.5f;
    deposit(v, per_pixel, &spot, hit->sensor, hit->lx + along * dx, hit->ly + along * dy, each);
  }
  int status = SL_OK;
  for (uint32_t i = 0; i < spot.count && status == SL_OK; i++)
    status = keep_charge(d, spot.address[i], spot.electrons[i], hit->particle);
  return status;
}

static int add_noise(const struct sim_event *event, struct sim_velo_digits *d) {
  struct sim_random r = sim_event_random(event, SIM_FOR_VELO_NOISE, 0);
  const uint32_t count = sim_poisson(&r, noise_pixels);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t sensor = sim_random_u32(&r) % VELO_SENSORS, column = sim_random_u32(&r) % VELO_SENSOR_COLUMNS;
    const uint32_t address = sim_pixel_address(sensor, column, sim_random_u32(&r) % VELO_SENSOR_ROWS);
    if (keep_charge(d, address, 2.0f * (float)threshold, UINT32_MAX) < 0) return SL_ENOMEM;
  }
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- pixels */

/* By address, keeping the order of equal ones: a radix sort, least digit first. */
static int sort_charges(struct sim_velo_digits *d) {
  const uint32_t n = d->charges.count;
  if (!sim_reserve((void **)&d->sorted.at, &d->sorted.capacity, n, sizeof *d->sorted.at)) return SL_ENOMEM;
  for (int pass = 0; pass < PASSES; pass++) {
    uint32_t place[DIGITS + 1] = {0};
    const struct sim_charge *from = pass % 2 ? d->sorted.at : d->charges.at;
    struct sim_charge *to = pass % 2 ? d->charges.at : d->sorted.at;
    for (uint32_t i = 0; i < n; i++) place[(from[i].address >> DIGIT_BITS * pass & (DIGITS - 1)) + 1]++;
    for (uint32_t k = 0; k < DIGITS; k++) place[k + 1] += place[k];
    for (uint32_t i = 0; i < n; i++) to[place[from[i].address >> DIGIT_BITS * pass & (DIGITS - 1)]++] = from[i];
  }
  d->sorted.count = n;
  return SL_OK;
}

/* Noise matters only near the threshold, so that few pixels need a random number; it depends on their address alone. */
static int is_over_threshold(const struct sim_event *event, uint32_t address, int32_t electrons) {
  if (electrons < threshold - 4 * noise) return 0;
  if (electrons > threshold + 4 * noise) return 1;
  struct sim_random r = sim_event_random(event, SIM_FOR_VELO_NOISE, 1);
  r.counter[0] = address;
  return electrons + sl_to_i32((float)noise * sim_normal(&r)) > threshold;
}

static int find_pixels(const struct sim_event *event, struct sim_velo_digits *d) {
  for (uint32_t i = 0, next; i < d->sorted.count; i = next) {
    const uint32_t address = d->sorted.at[i].address;
    int32_t electrons = 0;
    for (next = i; next < d->sorted.count && d->sorted.at[next].address == address; next++)
      electrons += d->sorted.at[next].electrons;
    if (!is_over_threshold(event, address, electrons)) continue;
    struct sim_pixel *p = SIM_APPEND(&d->pixels);
    if (!p) return SL_ENOMEM;
    *p = (struct sim_pixel){address, UINT32_MAX, i, next - i};
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- clusters */

/* The first pixel of the set that pixel i is in; `cluster` holds a pixel of the same set with a smaller index. */
static uint32_t root_of(const struct sim_pixel *pixels, uint32_t i) {
  while (pixels[i].cluster != i) i = pixels[i].cluster;
  return i;
}

static void join(struct sim_pixel *pixels, uint32_t i, uint32_t j) {
  const uint32_t a = root_of(pixels, i), b = root_of(pixels, j);
  if (a < b)
    pixels[b].cluster = a;
  else
    pixels[a].cluster = b;
}

static int are_neighbours(uint32_t a, uint32_t b) {
  const int32_t columns = (int32_t)sim_pixel_column(a) - (int32_t)sim_pixel_column(b);
  const int32_t rows = (int32_t)sim_pixel_row(a) - (int32_t)sim_pixel_row(b);
  return columns >= -1 && columns <= 1 && rows >= -1 && rows <= 1;
}

/* Neighbours are at most one super-pixel column apart, so that their addresses are close. */
static void join_pixels(struct sim_velo_digits *d) {
  struct sim_pixel *pixels = d->pixels.at;
  for (uint32_t i = 0; i < d->pixels.count; i++) pixels[i].cluster = i;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    const uint32_t sensor = sim_pixel_sensor(pixels[i].address);
    const uint32_t last = ((pixels[i].address >> SIM_PIXEL_SP_COLUMN) + 2) << SIM_PIXEL_SP_COLUMN;
    for (uint32_t j = i + 1; j < d->pixels.count && pixels[j].address < last; j++)
      if (sim_pixel_sensor(pixels[j].address) == sensor && are_neighbours(pixels[i].address, pixels[j].address))
        join(pixels, i, j);
  }
}

/* Numbers the sets by their first pixels. */
static int number_clusters(struct sim_velo_digits *d) {
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    struct sim_pixel *p = &d->pixels.at[i];
    if (p->cluster == i) {
      struct sim_cluster *c = SIM_APPEND(&d->clusters);
      if (!c) return SL_ENOMEM;
      *c = (struct sim_cluster){.sensor = sim_pixel_sensor(p->address)};
      p->cluster = d->clusters.count - 1;
    } else {
      p->cluster = d->pixels.at[p->cluster].cluster; /* an earlier pixel, numbered already */
    }
    struct sim_cluster *c = &d->clusters.at[p->cluster];
    c->pixel_count++;
    c->columns += sim_pixel_column(p->address);
    c->rows += sim_pixel_row(p->address);
  }
  return SL_OK;
}

static int leaves_trace(const struct sim_charge *c) {
  return c->particle != UINT32_MAX && c->electrons >= threshold / 5;
}

/* Where each particle's links begin, with room for one a pixel: counts, then their sums. */
static int place_links(struct sim_velo_digits *d, uint32_t particles) {
  if (!sim_reserve((void **)&d->places.at, &d->places.capacity, particles + 1, sizeof *d->places.at)) return SL_ENOMEM;
  memset(d->places.at, 0, (particles + 1) * sizeof *d->places.at);
  for (uint32_t i = 0; i < d->pixels.count; i++)
    for (uint32_t k = d->pixels.at[i].first; k < d->pixels.at[i].first + d->pixels.at[i].count; k++)
      if (leaves_trace(&d->sorted.at[k])) d->places.at[d->sorted.at[k].particle + 1]++;
  for (uint32_t i = 0; i < particles; i++) d->places.at[i + 1] += d->places.at[i];
  d->links.count = d->places.at[particles];
  return sim_reserve((void **)&d->links.at, &d->links.capacity, d->links.count, sizeof *d->links.at) ? SL_OK
                                                                                                     : SL_ENOMEM;
}

static int is_linked(const struct sim_link *links, uint32_t end, struct sim_link link) {
  for (uint32_t i = end; i > 0 && links[i - 1].particle == link.particle; i--)
    if (links[i - 1].cluster == link.cluster) return 1;
  return 0;
}

/* A particle is linked to the clusters of the pixels in which it left a fifth of the threshold. */
static int link_particles(struct sim_velo_digits *d, uint32_t particles) {
  const int status = place_links(d, particles);
  if (status < 0) return status;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    const struct sim_pixel *p = &d->pixels.at[i];
    for (uint32_t k = p->first; k < p->first + p->count; k++) {
      const struct sim_charge *c = &d->sorted.at[k];
      if (leaves_trace(c)) d->links.at[d->places.at[c->particle]++] = (struct sim_link){c->particle, p->cluster};
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < d->links.count; i++)
    if (!is_linked(d->links.at, kept, d->links.at[i])) d->links.at[kept++] = d->links.at[i];
  d->links.count = kept;
  return SL_OK;
}

int sim_velo_digitise(const struct velo_description *v, float efficiency, const struct sim_event *event,
                      struct sim_velo_digits *d) {
  d->charges.count = d->sorted.count = d->pixels.count = d->clusters.count = d->links.count = 0;
  int status = SL_OK;
  for (uint32_t i = 0; i < event->velo_hits.count && status == SL_OK; i++) status = add_hit(v, efficiency, event, i, d);
  if (status == SL_OK) status = add_noise(event, d);
  if (status == SL_OK) status = sort_charges(d);
  if (status == SL_OK) status = find_pixels(event, d);
  if (status == SL_OK) join_pixels(d);
  if (status == SL_OK) status = number_clusters(d);
  if (status == SL_OK) status = link_particles(d, event->particles.count);
  return status;
}

void sim_velo_digits_free(struct sim_velo_digits *d) {
  free(d->charges.at);
  free(d->sorted.at);
  free(d->pixels.at);
  free(d->clusters.at);
  free(d->links.at);
  free(d->places.at);
  *d = (struct sim_velo_digits){.charges = {0}};
}
