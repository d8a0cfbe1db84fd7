/* digits.c: see digits.h.
 *
 * The charges of hits (charge.c) are sorted by pixel, without moving those of equal pixels, and added up; since
 * they are whole electrons, no order matters. Pixels are read out where their charge plus noise is above the threshold.
 * Then 8-connected pixels are joined.
 */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 9, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

static const int32_t threshold = SIM_VELO_THRESHOLD, noise = 100; /* electrons */

/* --------------------------------------------------------------------------------------------------- pixels */

/* By address, keeping the order of equal ones: a radix sort, least digit first. */
static int sort_charges(struct sim_velo_digits *d) {
  uint32_t place[PASSES][DIGITS + 1] = {{0}};
  const uint32_t n = d->charges.count;
  if (!sim_reserve((void **)&d->sorted.at, &d->sorted.capacity, n, sizeof *d->sorted.at)) return SL_ENOMEM;
  for (uint32_t i = 0; i < n; i++)
    for (int pass = 0; pass < PASSES; pass++)
      place[pass][(d->charges.at[i].address >> DIGIT_BITS * pass & (DIGITS - 1)) + 1]++;
  for (int pass = 0; pass < PASSES; pass++) {
    const struct sim_charge *from = pass % 2 ? d->sorted.at : d->charges.at;
    struct sim_charge *to = pass % 2 ? d->charges.at : d->sorted.at;
    for (uint32_t k = 0; k < DIGITS; k++) place[pass][k + 1] += place[pass][k];
    for (uint32_t i = 0; i < n; i++) to[place[pass][from[i].address >> DIGIT_BITS * pass & (DIGITS - 1)]++] = from[i];
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

/* Of columns, which go on from one sensor to the next with a gap, and rows. */
static int are_neighbours(uint32_t a, uint32_t b) {
  const uint32_t column_a = 2 * (a >> SIM_PIXEL_SP_COLUMN) + (a >> 2 & 1);
  const uint32_t column_b = 2 * (b >> SIM_PIXEL_SP_COLUMN) + (b >> 2 & 1);
  return (column_b - column_a + 1 < 3) & (sim_pixel_row(b) - sim_pixel_row(a) + 1 < 3);
}

/* Neighbours are at most one super-pixel column apart, so that their addresses are close. */
static void join_pixels(struct sim_velo_digits *d) {
  struct sim_pixel *pixels = d->pixels.at;
  for (uint32_t i = 0; i < d->pixels.count; i++) pixels[i].cluster = i;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    const uint32_t last = ((pixels[i].address >> SIM_PIXEL_SP_COLUMN) + 2) << SIM_PIXEL_SP_COLUMN;
    for (uint32_t j = i + 1; j < d->pixels.count && pixels[j].address < last; j++)
      if (are_neighbours(pixels[i].address, pixels[j].address)) join(pixels, i, j);
  }
}

/* Numbers the sets by their first pixels. */
static int number_clusters(struct sim_velo_digits *d) {
  struct sim_pixel *pixels = d->pixels.at;
  if (!sim_reserve((void **)&d->clusters.at, &d->clusters.capacity, d->pixels.count, sizeof *d->clusters.at))
    return SL_ENOMEM;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    struct sim_pixel *p = &pixels[i];
    const int is_first = p->cluster == i;
    const uint32_t earlier = pixels[p->cluster].cluster; /* of an earlier pixel: numbered already */
    d->clusters.at[d->clusters.count] =
        (struct sim_cluster){.sensor = sim_pixel_sensor(p->address), .last_linked = UINT32_MAX};
    p->cluster = is_first ? d->clusters.count : earlier;
    d->clusters.count += is_first;
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
  for (uint32_t i = 0; i < d->links.count; i++) { /* by particle, so that its repetitions follow one another */
    const struct sim_link link = d->links.at[i];
    struct sim_cluster *c = &d->clusters.at[link.cluster];
    d->links.at[kept] = link;
    kept += c->last_linked != link.particle;
    c->last_linked = link.particle;
  }
  d->links.count = kept;
  return SL_OK;
}

int sim_velo_digitise(const struct velo_description *v, float efficiency, const struct sim_event *event,
                      struct sim_velo_digits *d) {
  d->charges.count = d->sorted.count = d->pixels.count = d->clusters.count = d->links.count = 0;
  int status = sim_velo_charge(v, efficiency, event, &d->charges);
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
