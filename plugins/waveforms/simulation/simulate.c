/* simulate.c: waveforms.simulate, waveforms of a germanium detector with their truth (README.md). An event is
 *   clip(round(B + A h(i - T) / P + further pulses + noise)),  h(u) = exp(-u / tau) - exp(-u / r),
 * with P of pulse_step, so that A is the height of the step after pole-zero cancellation.
 * An event depends on seed, event number and properties alone. Cost: 7 random normal numbers for each sample, 8 with
 * parallel noise. */
#include "simulation.h"
#include "waveform.h"

enum { LINES = 6 };
enum { ENERGY_LINE, ENERGY_LINES, ENERGY_UNIFORM };
#define MOST 1e9

#define SL_ARGS simulate_args
#define SIMULATE(M)                                                                                                   \
  SIMULATION_ARGUMENTS(M)                                                                                             \
  M(U32, samples, 8192, 1, 16777216, "", "number of samples of a waveform")                                           \
  M(ENUM, energy, "line", "energies: one line, several lines on a flat continuum, or uniform", "line lines uniform")  \
  M(F64, line, 2614.5, 0, MOST, "keV", "energy of one line")                                                          \
  M(F64_ARRAY, lines, LINES, "[238.6, 583.2, 727.3, 860.6, 1620.5, 2614.5]", 0, MOST, "keV",                          \
    "energies of several lines")                                                                                      \
  M(F64_ARRAY, intensities, LINES, "[44, 31, 7, 4, 2, 36]", 0, MOST, "", "relative numbers of pulses in `lines`")     \
  M(F64, continuum, 0.5, 0, 1, "", "fraction of pulses of the continuum, from energy_min to energy_max")              \
  M(F64, energy_min, 50, 0, MOST, "keV", "smallest energy of the continuum, and of uniform energies")                 \
  M(F64, energy_max, 2700, 0, MOST, "keV", "largest energy of the continuum, and of uniform energies")                \
  M(F64, adc_per_kev, 7, 1e-6, 1e6, "ADC/keV", "amplitude of a pulse of 1 keV")                                       \
  M(F64, decay_ns, 439368, 1, MOST, "ns", "time constant of the decay of pulses")                                     \
  M(F64, rise_min_ns, 80, 0.001, MOST, "ns", "smallest time constant of the rise of pulses")                          \
  M(F64, rise_max_ns, 300, 0.001, MOST, "ns", "largest time constant of the rise of pulses")                          \
  M(F64, pulse_begin_min, 2896, 0, 16777216, "samples", "earliest begin of the pulse")                                \
  M(F64, pulse_begin_max, 2960, 0, 16777216, "samples", "latest begin of the pulse")                                  \
  M(F64, baseline, 15000, 0, 65535, "ADC", "mean baseline")                                                           \
  M(F64, baseline_spread, 30, 0, 65535, "ADC", "largest deviation of an event's baseline from the mean baseline")     \
  M(F64, white, 10, 0, 65535, "ADC", "standard deviation of white noise; no noise at all leaves filters without t0")  \
  M(F64, flicker, 4, 0, 65535, "ADC", "standard deviation of each of the six processes of flicker noise")             \
  M(F64, parallel, 0, 0, 65535, "ADC", "standard deviation of the steps of parallel noise, from sample to sample")    \
  M(F64, pile_up, 0, 0, 1000, "", "mean number of further pulses, from 3 decay times before the waveform to its end") \
  M(F64, pile_up_energy, 2614.5, 0, MOST, "keV", "largest energy of further pulses; they are uniform from 0")
SL_HOST_ARGUMENTS(simulate, SIMULATE);

/* Energy in keV from two uniform numbers; `select` chooses the line or the continuum. */
static double energy_of(const struct simulate_args *a, double select, double position) {
  const double in_continuum = a->energy_min + (a->energy_max - a->energy_min) * position;
  double sum = 0, before = 0;
  if (a->energy == ENERGY_LINE) return a->line;
  if (a->energy == ENERGY_UNIFORM || select < a->continuum) return in_continuum;
  for (uint32_t k = 0; k < LINES; k++) sum += a->intensities[k];
  const double at = (select - a->continuum) / (1.0 - a->continuum) * sum;
  uint32_t last = 0; /* rounding may leave `at` at the end of the last line with an intensity */
  for (uint32_t k = 0; k < LINES; k++) {
    if (a->intensities[k] > 0) last = k;
    before += a->intensities[k];
    if (at < before) break;
  }
  return a->lines[last];
}

static void add_pulse(const struct simulate_args *a, double *x, const struct pulse *p, double amplitude) {
  waveform_add_pulse(x, a->samples, p, amplitude / pulse_step(p));
}

static void simulate_event(const void *args, uint64_t event, double *x, struct simulated_pulse *pulse) {
  const struct simulate_args *a = (const struct simulate_args *)args;
  const double decay = a->decay_ns / a->period_ns, rise_min = a->rise_min_ns / a->period_ns,
               rise_max = a->rise_max_ns / a->period_ns;
  struct random_numbers r = random_numbers_begin(a->seed, event, RANDOM_PULSE);
  const double select = random_uniform(&r, 0, 1), position = random_uniform(&r, 0, 1);
  struct pulse p = {.decay = decay};
  p.rise = random_uniform(&r, rise_min, rise_max);
  p.begin = random_uniform(&r, a->pulse_begin_min, a->pulse_begin_max);
  const double baseline = random_uniform(&r, a->baseline - a->baseline_spread, a->baseline + a->baseline_spread);
  *pulse = (struct simulated_pulse){energy_of(a, select, position) * a->adc_per_kev, p.begin, p.rise, 0};
  for (uint32_t i = 0; i < a->samples; i++) x[i] = baseline;
  add_pulse(a, x, &p, pulse->amplitude);
  r = random_numbers_begin(a->seed, event, RANDOM_PILE_UP);
  pulse->pile_up = random_poisson(&r, a->pile_up);
  for (uint32_t k = 0; k < pulse->pile_up; k++) {
    p.rise = random_uniform(&r, rise_min, rise_max);
    p.begin = random_uniform(&r, -3.0 * decay, a->samples);
    add_pulse(a, x, &p, random_uniform(&r, 0, a->pile_up_energy * a->adc_per_kev));
  }
}

static int check(const struct sl_services *s, const void *args) {
  const struct simulate_args *a = (const struct simulate_args *)args;
  double sum = 0;
  for (uint32_t k = 0; k < LINES; k++) sum += a->intensities[k];
  int status = SIMULATION_CHECK(s, a->rise_min_ns <= a->rise_max_ns, "rise_min_ns: it is %g, more than rise_max_ns, %g",
                                a->rise_min_ns, a->rise_max_ns);
  status |= SIMULATION_CHECK(s, a->rise_max_ns < a->decay_ns, "rise_max_ns: it is %g, expected less than decay_ns, %g",
                             a->rise_max_ns, a->decay_ns);
  status |= SIMULATION_CHECK(s, a->pulse_begin_min <= a->pulse_begin_max,
                             "pulse_begin_min: it is %g, more than pulse_begin_max, %g", a->pulse_begin_min,
                             a->pulse_begin_max);
  status |= SIMULATION_CHECK(s, a->pulse_begin_max < a->samples,
                             "pulse_begin_max: it is %g, expected less than the %u samples of a waveform",
                             a->pulse_begin_max, a->samples);
  status |= SIMULATION_CHECK(s, a->energy_min <= a->energy_max, "energy_min: it is %g, more than energy_max, %g",
                             a->energy_min, a->energy_max);
  status |= SIMULATION_CHECK(s, a->energy != ENERGY_LINES || sum > 0,
                             "intensities: all are 0, expected at least one above 0");
  return status ? SL_EINVAL : SL_OK;
}

static int open_source(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)inputs; /* a source without `probe` has no inputs */
  return simulation_open((struct simulation *)state, s, ((const struct simulate_args *)args)->samples);
}

static int fill_slice(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  const struct simulate_args *a = (const struct simulate_args *)args;
  const struct noise noise = {a->white, a->flicker, a->parallel, a->decay_ns / a->period_ns};
  const struct simulation_call call = {a, simulate_event, &a->traces, &a->truth, a->seed, a->events, &noise};
  return simulation_fill((struct simulation *)state, s, &call, fill);
}

static const struct sl_source functions = {.open = open_source, .fill = fill_slice, .close = simulation_close};
SL_SOURCE(simulate, "simulated waveforms of a germanium detector", struct simulation, functions, SL_CHECK(check));
