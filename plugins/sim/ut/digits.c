/* digits.c: see digits.h.
 *   1. Sort the charges of particles (charge.c) by strip with a stable sort and add them up; integer sums do not depend
 *      on order.
 *   2. Add noise, which depends on event and strip alone, and convert to ADC counts.
 *   3. Make clusters of version 3, which the readout sends.
 *   4. Link particles to the clusters of version 3, or to the clusters decoded from strips of version 4
 *      (ut/bank_words.h). */
#include "digits.h"

#include "ut/bank_words.h"

#include <stdlib.h>

enum { DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, PASSES = 2, CHIP_STRIPS = 128, NOISE_STRIPS = 4 };

static const float noise = 1.45f;         /* ADC counts */
static const int32_t trace = 77;          /* charge of a particle that makes a link: a fifth of the threshold */
static const int32_t neighbours_max = 15; /* largest value in version 3 */

/* --------------------------------------------------------------------------------------------------- strips */

/* Stable radix sort by address, least significant digit first; two passes, so that the result is in `charges` again. */
static int sort_charges(struct sim_ut_digits *d) {
  uint32_t offset[PASSES][DIGITS + 1] = {{0}};
  const uint32_t n = d->charges.count;
  if (!sim_reserve((void **)&d->sorted.at, &d->sorted.capacity, n, sizeof *d->sorted.at)) return SL_ENOMEM;
  for (uint32_t i = 0; i < n; i++)
    for (int pass = 0; pass < PASSES; pass++)
      offset[pass][(d->charges.at[i].address >> DIGIT_BITS * pass & (DIGITS - 1)) + 1]++;
  for (int pass = 0; pass < PASSES; pass++) {
    const struct sim_ut_charge *from = pass % 2 ? d->sorted.at : d->charges.at;
    struct sim_ut_charge *to = pass % 2 ? d->charges.at : d->sorted.at;
    for (uint32_t k = 0; k < DIGITS; k++) offset[pass][k + 1] += offset[pass][k];
    for (uint32_t i = 0; i < n; i++) to[offset[pass][from[i].address >> DIGIT_BITS * pass & (DIGITS - 1)]++] = from[i];
  }
  return SL_OK;
}

/* Noise of four adjacent strips, from one block. */
struct noise {
  const struct sim_event *event;
  uint32_t group; /* current group of strips, or UINT32_MAX */
  uint32_t words[NOISE_STRIPS];
};

/* Noise of a strip: an approximately normal number, the sum of four uniform ones, limited to 3.4 standard
 * deviations. Larger noise makes clusters of its own (charge.c). */
static int32_t noise_of(struct noise *n, uint32_t address) {
  const float width_of_sum = 147.8f;
  if (address / NOISE_STRIPS != n->group) {
    struct sim_random r = sim_event_random(n->event, SIM_FOR_UT_NOISE, 1);
    r.counter[0] = n->group = address / NOISE_STRIPS;
    sl_philox_4x32_10(r.key, r.counter, n->words);
  }
  const uint32_t word = n->words[address % NOISE_STRIPS];
  const int32_t sum = (int32_t)((word & 0xFF) + (word >> 8 & 0xFF) + (word >> 16 & 0xFF) + (word >> 24)) - 510;
  return sl_to_i32((float)sum * (noise / width_of_sum * (float)SIM_UT_CHARGE_UNIT));
}

/* Rounds to the nearest count. */
static int32_t adc_of(int32_t charge) {
  const int32_t half = SIM_UT_CHARGE_UNIT / 2, far_up = 1 << 20; /* makes the dividend positive */
  const int32_t adc = (charge + half + far_up) / SIM_UT_CHARGE_UNIT - far_up / SIM_UT_CHARGE_UNIT;
  return adc < SIM_UT_ADC_MAX ? adc : SIM_UT_ADC_MAX;
}

/* Hit strips of a sector beyond the capacity of version 4 are lost: their value is set just below the threshold. */
static int32_t adc_in_sector(const struct sim_ut_digits *d, uint32_t address, int32_t adc, uint32_t *hits) {
  const int is_first =
      d->strips.count == 0 || sim_ut_sector(d->strips.at[d->strips.count - 1].address) != sim_ut_sector(address);
  if (is_first) *hits = 0;
  if (adc < SIM_UT_THRESHOLD) return adc;
  return (*hits)++ < UT_V4_LANE_HITS_MAX ? adc : SIM_UT_THRESHOLD - 1;
}

static int make_strips(const struct sim_event *event, struct sim_ut_digits *d) {
  const int32_t charge_max = 2 * SIM_UT_ADC_MAX * SIM_UT_CHARGE_UNIT; /* far beyond the range of the ADC */
  uint32_t hits = 0;
  struct noise n = {.event = event, .group = UINT32_MAX};
  if (!sim_reserve((void **)&d->strips.at, &d->strips.capacity, d->charges.count, sizeof *d->strips.at))
    return SL_ENOMEM;
  for (uint32_t i = 0, next; i < d->charges.count; i = next) {
    const uint32_t address = d->charges.at[i].address;
    int32_t charge = noise_of(&n, address), least = -charge_max;
    for (next = i; next < d->charges.count && d->charges.at[next].address == address; next++) {
      const struct sim_ut_charge *c = &d->charges.at[next];
      if (c->particle == SIM_UT_NO_PARTICLE)
        least = c->charge > least ? c->charge : least;
      else
        charge += c->charge < charge_max ? c->charge : charge_max;
      charge = charge < charge_max ? charge : charge_max;
    }
    const int32_t adc = adc_in_sector(d, address, adc_of(charge > least ? charge : least), &hits);
    d->strips.at[d->strips.count++] = (struct sim_ut_strip){address, adc, i, next - i};
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- clusters */

static int is_hit(const struct sim_ut_strip *s) { return s->adc >= SIM_UT_THRESHOLD; }

/* End of the run of hit strips from `first` on: at most `longest` strips in one block of `block` strips. */
static uint32_t end_of_run(const struct sim_ut_digits *d, uint32_t first, uint32_t longest, uint32_t block) {
  const struct sim_ut_strip *s = d->strips.at;
  uint32_t i = first + 1;
  while (i < d->strips.count && i - first < longest && is_hit(&s[i]) && s[i].address == s[i - 1].address + 1 &&
         s[i].address / block == s[first].address / block)
    i++;
  return i;
}

/* ADC counts of the strip next to strip `i` in direction `step`, if it is in the same sector. */
static int32_t neighbour_adc(const struct sim_ut_digits *d, struct noise *n, uint32_t i, int32_t step) {
  const struct sim_ut_strip *s = &d->strips.at[i];
  const uint32_t address = s->address + (uint32_t)step;
  if (sim_ut_sector(address) != sim_ut_sector(s->address)) return 0;
  const uint32_t neighbour = i + (uint32_t)step; /* wraps before the first strip */
  if (neighbour < d->strips.count && d->strips.at[neighbour].address == address) return d->strips.at[neighbour].adc;
  return adc_of(noise_of(n, address));
}

/* Centre: mean strip, weighted by ADC counts, rounded to quarters of a strip but never up to the next strip. */
static struct sim_ut_cluster make_cluster(const struct sim_ut_digits *d, struct noise *n, uint32_t first,
                                          uint32_t end) {
  struct sim_ut_cluster c = {.first = first, .count = end - first, .sum = d->strips.at[first].adc};
  int32_t moment = 0;
  for (uint32_t i = first + 1; i < end; i++) {
    c.sum += d->strips.at[i].adc;
    moment += d->strips.at[i].adc * (int32_t)(i - first);
  }
  const int32_t whole = moment / c.sum, quarters = (8 * (moment - whole * c.sum) + c.sum) / (2 * c.sum);
  c.address = d->strips.at[first].address + (uint32_t)whole;
  c.quarters = quarters < 4 ? (uint32_t)quarters : 3;
  c.neighbours = neighbour_adc(d, n, first, -1) + neighbour_adc(d, n, end - 1, 1);
  if (c.neighbours > neighbours_max) c.neighbours = neighbours_max;
  return c;
}

static int make_clusters(const struct sim_event *event, struct sim_ut_digits *d) {
  struct noise n = {.event = event, .group = UINT32_MAX};
  for (uint32_t i = 0, end; i < d->strips.count; i = end) {
    end = i + 1;
    if (!is_hit(&d->strips.at[i])) continue;
    end = end_of_run(d, i, UT_V3_CLUSTER_STRIPS_MAX, CHIP_STRIPS);
    struct sim_ut_cluster *c = SIM_APPEND(&d->clusters);
    if (!c) return SL_ENOMEM;
    *c = make_cluster(d, &n, i, end);
  }
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- links */

static int is_linked(const struct sim_event *event, uint32_t from, uint32_t particle) {
  for (uint32_t i = from; i < event->links[SIM_IN_UT].count; i++)
    if (event->links[SIM_IN_UT].at[i].particle == particle) return 1;
  return 0;
}

/* Links the particles with enough charge in the strips [first, end) to the id. */
static int link_strips(struct sim_event *event, const struct sim_ut_digits *d, uint32_t first, uint32_t end,
                       uint32_t id) {
  const uint32_t from = event->links[SIM_IN_UT].count;
  const uint32_t begin = d->strips.at[first].first, last = d->strips.at[end - 1].first + d->strips.at[end - 1].count;
  for (uint32_t k = begin; k < last; k++) {
    const struct sim_ut_charge *c = &d->charges.at[k];
    if (c->own < trace || is_linked(event, from, (uint32_t)c->particle)) continue;
    struct sim_id_link *link = SIM_APPEND(&event->links[SIM_IN_UT]);
    if (!link) return SL_ENOMEM;
    *link = (struct sim_id_link){(uint32_t)c->particle, id};
  }
  return SL_OK;
}

static int link_clusters(const struct ut_description *ut, struct sim_event *event, const struct sim_ut_digits *d) {
  int status = SL_OK;
  for (uint32_t i = 0; i < d->clusters.count && status == SL_OK; i++) {
    const struct sim_ut_cluster *c = &d->clusters.at[i];
    const uint32_t id = ut_id(3, ut->sectors[sim_ut_sector(c->address)].channel, sim_ut_strip(c->address));
    status = link_strips(event, d, c->first, c->first + c->count, id);
  }
  return status;
}

/* Links the clusters that the decoding of version 4 makes. */
static int link_runs(const struct ut_description *ut, struct sim_event *event, const struct sim_ut_digits *d) {
  int status = SL_OK;
  for (uint32_t i = 0, end; i < d->strips.count && status == SL_OK; i = end) {
    end = i + 1;
    if (!is_hit(&d->strips.at[i])) continue;
    uint32_t weight = 0, sum = 0;
    end = end_of_run(d, i, UT_SECTOR_STRIPS, UT_SECTOR_STRIPS);
    for (uint32_t k = i; k < end; k++) {
      weight += (uint32_t)d->strips.at[k].adc;
      sum += (uint32_t)d->strips.at[k].adc * sim_ut_strip(d->strips.at[k].address);
    }
    if (end - i > UT_V4_CLUSTER_STRIPS_MAX || weight == 0) continue;
    const uint32_t channel = ut->sectors[sim_ut_sector(d->strips.at[i].address)].channel;
    status = link_strips(event, d, i, end, ut_id(4, channel, (2 * sum + weight) / (2 * weight)));
  }
  return status;
}

int sim_ut_digitise(const struct ut_description *ut, const struct sim_settings *settings, uint32_t version,
                    struct sim_event *event, struct sim_ut_digits *d) {
  d->charges.count = d->strips.count = d->clusters.count = 0;
  event->links[SIM_IN_UT].count = 0;
  int status = sim_ut_charge(ut, settings->ut_efficiency, event, &d->charges);
  if (status == SL_OK) status = sort_charges(d);
  if (status == SL_OK) status = make_strips(event, d);
  if (status == SL_OK) status = make_clusters(event, d);
  if (status < 0) return status;
  return version == 4 ? link_runs(ut, event, d) : link_clusters(ut, event, d);
}

void sim_ut_digits_free(struct sim_ut_digits *d) {
  free(d->charges.at);
  free(d->sorted.at);
  free(d->strips.at);
  free(d->clusters.at);
  *d = (struct sim_ut_digits){.charges = {0}};
}
