/* simulate_sipm.c: waveforms.simulate_sipm, waveforms of a silicon photomultiplier with their truth (README.md): a
 * Poisson-distributed number of pulses of single photoelectrons, which begin anywhere in the waveform, and white noise.
 * The defaults of the pulses and of the noise were fitted to 60 waveforms of LEGEND's test data.
 * An event depends on seed, event number and properties alone. Cost: a random normal number for each sample. */
#include "simulation.h"
#include "waveform.h"

#define MOST 1e9

#define SL_ARGS simulate_sipm_args
#define SIMULATE_SIPM(M)                                                                                          \
  SIMULATION_ARGUMENTS(M)                                                                                         \
  M(U32, samples, 6000, 1, 16777216, "", "number of samples of a waveform")                                       \
  M(F64, pulses, 5, 0, 10000, "", "mean number of pulses of a waveform")                                          \
  M(F64, amplitude, 60, 0, 65535, "ADC", "height of the pulse of one photoelectron")                              \
  M(F64, rise_ns, 20, 0.001, MOST, "ns", "time constant of the rise of pulses")                                   \
  M(F64, fall_ns, 450, 0.001, MOST, "ns", "time constant of the fall of pulses")                                  \
  M(F64, baseline, 8000, 0, 65535, "ADC", "mean baseline")                                                        \
  M(F64, baseline_spread, 30, 0, 65535, "ADC", "largest deviation of an event's baseline from the mean baseline") \
  M(F64, white, 4.2, 0, 65535, "ADC", "standard deviation of white noise")                                        \
  M(F64, flicker, 0, 0, 65535, "ADC", "standard deviation of each of the six processes of flicker noise")
SL_HOST_ARGUMENTS(simulate_sipm, SIMULATE_SIPM);

/* The truth has the first pulse in order of time, and the number of the others. */
static void simulate_event(const void *args, uint64_t event, double *x, struct simulated_pulse *pulse) {
  const struct simulate_sipm_args *a = (const struct simulate_sipm_args *)args;
  struct random_numbers r = random_numbers_begin(a->seed, event, RANDOM_PULSE);
  struct pulse p = {.rise = a->rise_ns / a->period_ns, .decay = a->fall_ns / a->period_ns};
  const double baseline = random_uniform(&r, a->baseline - a->baseline_spread, a->baseline + a->baseline_spread);
  const double scale = a->amplitude / pulse_maximum(&p);
  const uint32_t count = random_poisson(&r, a->pulses);
  for (uint32_t i = 0; i < a->samples; i++) x[i] = baseline;
  for (uint32_t k = 0; k < count; k++) {
    p.begin = random_uniform(&r, 0, a->samples);
    waveform_add_pulse(x, a->samples, &p, scale);
    if (k == 0 || p.begin < pulse->begin) pulse->begin = p.begin;
  }
  if (count == 0) return;
  pulse->amplitude = a->amplitude;
  pulse->rise = p.rise;
  pulse->pile_up = count - 1;
}

static int check(const struct sl_services *s, const void *args) {
  const struct simulate_sipm_args *a = (const struct simulate_sipm_args *)args;
  return SIMULATION_CHECK(s, a->rise_ns < a->fall_ns, "rise_ns: it is %g, expected less than fall_ns, %g", a->rise_ns,
                          a->fall_ns);
}

static int open_source(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)inputs; /* a source without `probe` has no inputs */
  return simulation_open((struct simulation *)state, s, ((const struct simulate_sipm_args *)args)->samples);
}

static int fill_slice(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  const struct simulate_sipm_args *a = (const struct simulate_sipm_args *)args;
  const struct noise noise = {.white = a->white, .flicker = a->flicker};
  const struct simulation_call call = {a, simulate_event, &a->traces, &a->truth, a->seed, a->events, &noise};
  return simulation_fill((struct simulation *)state, s, &call, fill);
}

static const struct sl_source functions = {.open = open_source, .fill = fill_slice, .close = simulation_close};
SL_SOURCE(simulate_sipm, "simulated waveforms of a silicon photomultiplier", struct simulation, functions,
          SL_CHECK(check));
