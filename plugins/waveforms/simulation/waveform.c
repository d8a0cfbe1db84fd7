/* waveform.c: see waveform.h. */
#include "waveform.h"

#include <math.h>

enum { BASELINE_SAMPLES = 500, FLICKER_PROCESSES = 6 };

struct random_numbers random_numbers_begin(uint64_t seed, uint64_t event, uint32_t stream) {
  return (struct random_numbers){.stream = random_begin(seed, event, stream), .used = 4 * RANDOM_LANES};
}

double random_uniform(struct random_numbers *r, double low, double high) {
  if (r->used == 4 * RANDOM_LANES) {
    random_words(&r->stream, r->words);
    r->used = 0;
  }
  const uint32_t word = r->words[r->used % 4][r->used / 4];
  r->used++;
  return low + (high - low) * random_uniform_of(word);
}

uint32_t random_poisson(struct random_numbers *r, double mean) {
  double left = mean + sl_log(random_uniform(r, 0, 1));
  uint32_t count = 0;
  while (left > 0) {
    left += sl_log(random_uniform(r, 0, 1));
    count++;
  }
  return count;
}

/* ---------------------------------------------------------------------------------------------------- pulses */

/* Adds scale * exp(-u / decay) from sample `first` on, for which u is `after`; ends where it is 1e-30 of the scale. */
static void add_exponential(double *x, uint32_t samples, uint32_t first, double after, double decay, double scale) {
  const double factor = sl_exp(-1.0 / decay);
  double value = sl_exp(-after / decay);
  for (uint32_t i = first; i < samples && value > 1e-30; i++) {
    x[i] += scale * value;
    value *= factor;
  }
}

void waveform_add_pulse(double *x, uint32_t samples, const struct pulse *p, double scale) {
  const double first = p->begin > 0.0 ? ceil(p->begin) : 0.0;
  if (first >= samples) return;
  add_exponential(x, samples, (uint32_t)first, first - p->begin, p->decay, scale);
  add_exponential(x, samples, (uint32_t)first, first - p->begin, p->rise, -scale);
}

double pulse_step(const struct pulse *p) {
  const double a = sl_exp(-1.0 / p->decay), b = sl_exp(-1.0 / p->rise), phi = ceil(p->begin) - p->begin;
  const double less_b = -sl_expm1(-1.0 / p->rise);
  return sl_exp(-phi / p->decay) - sl_exp(-phi / p->rise) * (1.0 - (a - b) / less_b);
}

double pulse_maximum(const struct pulse *p) {
  const double at = sl_log(p->decay / p->rise) * p->decay * p->rise / (p->decay - p->rise);
  return sl_exp(-at / p->decay) - sl_exp(-at / p->rise);
}

/* ----------------------------------------------------------------------------------------------------- noise */

/* First-order processes v[i] = rho v[i - 1] + scale g, g normal, started in equilibrium: v[-1] = start. */
struct processes {
  double rho[FLICKER_PROCESSES], scale[FLICKER_PROCESSES], value[FLICKER_PROCESSES];
};

static void add_white(double *x, uint32_t samples, double deviation, struct random_stream stream) {
  double g[RANDOM_NORMALS];
  for (uint32_t first = 0; first < samples; first += RANDOM_NORMALS) {
    const uint32_t count = samples - first < RANDOM_NORMALS ? samples - first : RANDOM_NORMALS;
    random_normals(&stream, g);
    for (uint32_t i = 0; i < count; i++) x[first + i] += deviation * g[i];
  }
}

static void add_parallel(double *x, uint32_t samples, const struct noise *n, double start,
                         struct random_stream stream) {
  const double a = sl_exp(-1.0 / n->decay);
  double g[RANDOM_NORMALS], value = n->parallel / sl_sqrt(-sl_expm1(-2.0 / n->decay)) * start;
  for (uint32_t first = 0; first < samples; first += RANDOM_NORMALS) {
    const uint32_t count = samples - first < RANDOM_NORMALS ? samples - first : RANDOM_NORMALS;
    random_normals(&stream, g);
    for (uint32_t i = 0; i < count; i++) {
      value = a * value + n->parallel * g[i];
      x[first + i] += value;
    }
  }
}

static void add_flicker(double *x, uint32_t samples, struct processes *p, struct random_stream *streams) {
  double g[FLICKER_PROCESSES][RANDOM_NORMALS];
  for (uint32_t first = 0; first < samples; first += RANDOM_NORMALS) {
    const uint32_t count = samples - first < RANDOM_NORMALS ? samples - first : RANDOM_NORMALS;
    for (uint32_t k = 0; k < FLICKER_PROCESSES; k++) random_normals(&streams[k], g[k]);
    for (uint32_t i = 0; i < count; i++) {
      double sum = 0;
      for (uint32_t k = 0; k < FLICKER_PROCESSES; k++) {
        p->value[k] = p->rho[k] * p->value[k] + p->scale[k] * g[k][i];
        sum += p->value[k];
      }
      x[first + i] += sum;
    }
  }
}

/* Process k = 1 to 6 has a correlation length of 4^k samples. */
static void begin_flicker(struct processes *p, double deviation, const double *start) {
  double length = 1;
  for (uint32_t k = 0; k < FLICKER_PROCESSES; k++) {
    length *= 4;
    p->rho[k] = sl_exp(-1.0 / length);
    p->scale[k] = deviation * sl_sqrt(-sl_expm1(-2.0 / length));
    p->value[k] = deviation * start[k];
  }
}

void waveform_add_noise(double *x, uint32_t samples, const struct noise *n, uint64_t seed, uint64_t event) {
  struct random_stream start_stream = random_begin(seed, event, RANDOM_START), streams[FLICKER_PROCESSES];
  double start[RANDOM_NORMALS];
  struct processes flicker;
  random_normals(&start_stream, start);
  if (n->white > 0) add_white(x, samples, n->white, random_begin(seed, event, RANDOM_WHITE));
  if (n->flicker > 0) {
    begin_flicker(&flicker, n->flicker, start);
    for (uint32_t k = 0; k < FLICKER_PROCESSES; k++) streams[k] = random_begin(seed, event, RANDOM_FLICKER + k);
    add_flicker(x, samples, &flicker, streams);
  }
  if (n->parallel > 0)
    add_parallel(x, samples, n, start[FLICKER_PROCESSES], random_begin(seed, event, RANDOM_PARALLEL));
}

/* ---------------------------------------------------------------------------------------------------- digits */

void waveform_digitise(const double *x, uint32_t samples, uint16_t *value) {
  for (uint32_t i = 0; i < samples; i++) value[i] = (uint16_t)(int32_t)(sl_clamp_f64(x[i], 0.0, 65535.0) + 0.5);
}

uint16_t waveform_baseline(const uint16_t *value, uint32_t samples) {
  const uint32_t count = samples < BASELINE_SAMPLES ? samples : BASELINE_SAMPLES;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += value[i];
  if (count == 0) return 0;
  return (uint16_t)((2 * sum + count) / (2 * count));
}
