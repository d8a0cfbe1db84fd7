/* digits.c: see digits.h.
 *   1. Sort the charges of hits (charge.c) by pixel with a stable sort and add them up; sums of integers do not depend
 *      on order.
 *   2. Select pixels with charge plus noise above the threshold.
 *   3. Join 8-connected pixels to clusters.
 *   4. Link particles to clusters. */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 9, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

static const int32_t threshold = SIM_VELO_THRESHOLD, noise = 100; /* electrons */

/* --------------------------------------------------------------------------------------------------- pixels */

/* Stable radix sort by address, least significant digit first. */
static int sort_charges(struct sim_velo_digits *d) {
  uint32_t offset[PASSES][DIGITS + 1] = {{0}};
  const uint32_t n = d->charges.count;
  if (!sim_reserve((void **)&d->sorted.at, &d->sorted.capacity, n, sizeof *d->sorted.at)) return SL_ENOMEM;
  for (uint32_t i = 0; i < n; i++)
    for (int pass = 0; pass < PASSES; pass++)
      offset[pass][(d->charges.at[i].address >> DIGIT_BITS * pass & (DIGITS - 1)) + 1]++;
  for (int pass = 0; pass < PASSES; pass++) {
    const struct sim_charge *from = pass % 2 ? d->sorted.at : d->charges.at;
    struct sim_charge *to = pass % 2 ? d->charges.at : d->sorted.at;
    for (uint32_t k = 0; k < DIGITS; k++) offset[pass][k + 1] += offset[pass][k];
    for (uint32_t i = 0; i < n; i++) to[offset[pass][from[i].address >> DIGIT_BITS * pass & (DIGITS - 1)]++] = from[i];
  }
  d->sorted.count = n;
  return SL_OK;
}

/* Noise matters only near the threshold, so that few pixels need a random number; it depends on event and address
 * alone. */
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

/* First pixel of the set of pixel i; `cluster` is a pixel of the set with a smaller index, or i itself. */
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

/* Compares columns, numbered through all sensors with a gap between sensors, and rows. */
static int are_neighbours(uint32_t a, uint32_t b) {
  const uint32_t column_a = 2 * (a >> SIM_PIXEL_SP_COLUMN) + (a >> 2 & 1);
  const uint32_t column_b = 2 * (b >> SIM_PIXEL_SP_COLUMN) + (b >> 2 & 1);
  return (column_b - column_a + 1 < 3) & (sim_pixel_row(b) - sim_pixel_row(a) + 1 < 3);
}

/* Neighbours are at most one super-pixel column apart, which limits the range of addresses. */
static void join_pixels(struct sim_velo_digits *d) {
  struct sim_pixel *pixels = d->pixels.at;
  for (uint32_t i = 0; i < d->pixels.count; i++) pixels[i].cluster = i;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    const uint32_t last = ((pixels[i].address >> SIM_PIXEL_SP_COLUMN) + 2) << SIM_PIXEL_SP_COLUMN;
    for (uint32_t j = i + 1; j < d->pixels.count && pixels[j].address < last; j++)
      if (are_neighbours(pixels[i].address, pixels[j].address)) join(pixels, i, j);
  }
}

/* Numbers the sets in the order of their first pixels. */
static int number_clusters(struct sim_velo_digits *d) {
  struct sim_pixel *pixels = d->pixels.at;
  if (!sim_reserve((void **)&d->clusters.at, &d->clusters.capacity, d->pixels.count, sizeof *d->clusters.at))
    return SL_ENOMEM;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    struct sim_pixel *p = &pixels[i];
    const int is_first = p->cluster == i;
    const uint32_t earlier = pixels[p->cluster].cluster; /* this pixel's set is numbered already */
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

/* Offset of each particle's links, with room for one link per pixel: counts, then prefix sums. */
static int allocate_links(struct sim_velo_digits *d, uint32_t particles) {
  if (!sim_reserve((void **)&d->offsets.at, &d->offsets.capacity, particles + 1, sizeof *d->offsets.at))
    return SL_ENOMEM;
  memset(d->offsets.at, 0, (particles + 1) * sizeof *d->offsets.at);
  for (uint32_t i = 0; i < d->pixels.count; i++)
    for (uint32_t k = d->pixels.at[i].first; k < d->pixels.at[i].first + d->pixels.at[i].count; k++)
      if (leaves_trace(&d->sorted.at[k])) d->offsets.at[d->sorted.at[k].particle + 1]++;
  for (uint32_t i = 0; i < particles; i++) d->offsets.at[i + 1] += d->offsets.at[i];
  d->links.count = d->offsets.at[particles];
  return sim_reserve((void **)&d->links.at, &d->links.capacity, d->links.count, sizeof *d->links.at) ? SL_OK
                                                                                                     : SL_ENOMEM;
}

/* Links a particle to the clusters of the pixels in which it left at least a fifth of the threshold. */
static int link_particles(struct sim_velo_digits *d, uint32_t particles) {
  const int status = allocate_links(d, particles);
  if (status < 0) return status;
  for (uint32_t i = 0; i < d->pixels.count; i++) {
    const struct sim_pixel *p = &d->pixels.at[i];
    for (uint32_t k = p->first; k < p->first + p->count; k++) {
      const struct sim_charge *c = &d->sorted.at[k];
      if (leaves_trace(c)) d->links.at[d->offsets.at[c->particle]++] = (struct sim_link){c->particle, p->cluster};
    }
  }
  uint32_t unique_count = 0;
  for (uint32_t i = 0; i < d->links.count; i++) { /* duplicates: links are grouped by particle */
    const struct sim_link link = d->links.at[i];
    struct sim_cluster *c = &d->clusters.at[link.cluster];
    d->links.at[unique_count] = link;
    unique_count += c->last_linked != link.particle;
    c->last_linked = link.particle;
  }
  d->links.count = unique_count;
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
  free(d->offsets.at);
  *d = (struct sim_velo_digits){.charges = {0}};
}
