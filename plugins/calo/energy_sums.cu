/* calo.energy_sums: sums of energy over the cells of the calorimeter (README.md, "Sums").
 *
 * One block per event, each thread a share of the cells of an area. Determinism: energies are added as integers in
 * units of 1e-8 MeV. The product of a float energy (24 bits) and 1e8 (19 bits and a power of two) is exact in a double;
 * fractions of a unit are cut off. With nominal gains all cells together are below 2^56 units. Cost: reads 60 kB per
 * event, of these 48 kB shared by all events.
 */
#include "cells.h"

#include <sluice/kernel.h>

#define SL_ARGS energy_sums_args
#define ENERGY_SUMS(M)                                                                                    \
  M(IN, cells, calo_cells, "", "values of the cells")                                                     \
  M(IN, geometry, calo_geometry, "pedestal xy gain planes area_first", "geometry and gains of the cells") \
  M(OUT, sums, calo_sums, "sums over all cells")                                                          \
  M(TABLE, sine, f32, "sine of a cell's polar angle at shower maximum, seen from the origin; negative where y <= 0")
SL_ARGUMENTS(energy_sums, ENERGY_SUMS);

/* Values are from -256 to 3839, pedestals below 256. */
enum { ADC_RANGE = 4096 };

/* Sums of a thread, then of the event. */
struct energy_sums {
  uint32_t cells;
  int64_t adc, energy, positive_energy;
};

static SL_DEVICE int64_t units_of(float energy) { return (int64_t)((double)energy * (double)CALO_UNITS_A_MEV); }

/* Adds an area's cells, and their transverse energy above and below y = 0. */
static SL_DEVICE void add_area(const struct energy_sums_args *a, uint32_t event, uint32_t area, struct energy_sums *s,
                               int64_t part_et[2]) {
  const int16_t *adc = a->cells.adc + (size_t)event * CALO_CELLS;
  const uint32_t end = a->geometry.area_first[area + 1];
  for (uint32_t cell = a->geometry.area_first[area] + threadIdx.x; cell < end; cell += blockDim.x) {
    const int32_t value = adc[cell];
    if (value == CALO_NO_ADC) continue;
    const float energy = calo_energy(a->geometry.gain[cell], a->geometry.pedestal[0], value);
    const float sine = a->sine[cell];
    const int64_t et = units_of(energy * sl_abs_f32(sine)), is_above = sine > 0.0f;
    s->cells++;
    s->adc += value;
    s->energy += units_of(energy);
    if (value >= 0) s->positive_energy += units_of(energy);
    part_et[0] += is_above ? et : 0;
    part_et[1] += is_above ? 0 : et;
  }
}

SL_KERNEL(energy_sums_add, struct energy_sums_args) {
  SL_FOR_EVENTS (event, a.events) {
    struct energy_sums s = {0, 0, 0, 0};
    int64_t et = 0;
    for (uint32_t area = 0; area < CALO_AREAS; area++) {
      int64_t part_et[2] = {0, 0};
      add_area(&a, event, area, &s, part_et);
      for (uint32_t below = 0; below < 2; below++) {
        const int64_t sum = sl_block_sum_i64(part_et[below]);
        et += sum;
        if (threadIdx.x == 0) a.sums.part_et[CALO_PARTS * event + CALO_AREAS * below + area] = sum;
      }
    }
    s.cells = sl_block_sum_u32(s.cells);
    s.adc = sl_block_sum_i64(s.adc);
    s.energy = sl_block_sum_i64(s.energy);
    s.positive_energy = sl_block_sum_i64(s.positive_energy);
    if (threadIdx.x > 0) continue;
    a.sums.cells[event] = s.cells;
    a.sums.adc[event] = (int32_t)s.adc;
    a.sums.energy[event] = s.energy;
    a.sums.positive_energy[event] = s.positive_energy;
    a.sums.et[event] = et;
  }
}

static int prepare(const struct sl_services *s, void *args) {
  const struct calo_geometry_view *g = &((const struct energy_sums_args *)args)->geometry;
  float *sine = (float *)s->make_table(s->context, "sine", CALO_CELLS);
  double most = 0; /* MeV */
  if (!sine) return SL_ENOMEM;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    const float x = g->xy[2 * cell], y = g->xy[2 * cell + 1], z = calo_shower_z(g, x, y), r2 = x * x + y * y;
    sine[cell] = sl_copysign_f32(sqrtf(r2 / (r2 + z * z)), y > 0.0f ? 1.0f : -1.0f);
    most += (double)g->gain[cell] * (double)ADC_RANGE;
  }
  if (most * (double)CALO_UNITS_A_MEV < 0x1p62) return SL_OK;
  s->message(s->context, SL_ERROR, "the gains of the geometry are too large: the sum of energies can reach %g MeV",
             most);
  return SL_EINVAL;
}

static int run(const struct sl_launch *l, const struct energy_sums_args *a) {
  return SL_LAUNCH(l, energy_sums_add, SL_PER_EVENT, *a);
}

SL_ALGORITHM(energy_sums, "sums the energy in the calorimeter", 256, run, SL_PREPARE(prepare));
