/* delays.c: by how many samples each frequency arrives later than the highest one, for each dispersion measure DM:
 * t = 4148.808 s MHz^2 cm3/pc * DM * (1/f^2 - 1/f_max^2), Lorimer and Kramer, Handbook of Pulsar Astronomy, 2005.
 */
#include <bursts/event_model.h>

#define SL_ARGS delays_args
#define DELAYS(M)                                                          \
  M(OUT, delays, bursts_delays, "delays of all channels")                  \
  M(U32, channels, 128, 1, 65536, "", "number of frequency channels")      \
  M(F64, first_mhz, 1500, 1, 1e6, "MHz", "frequency of the first channel") \
  M(F64, step_mhz, -2, -1e3, 1e3, "MHz", "distance of two channels")       \
  M(F64, sample_s, 4e-3, 1e-9, 1, "s", "sampling period")                  \
  M(U32, trials, 64, 1, 65536, "", "number of dispersion measures")        \
  M(F64, dm_step, 8, 0, 1e4, "pc/cm3", "distance of two dispersion measures, the first is 0")
SL_HOST_ARGUMENTS(delays, DELAYS);

static double frequency(const struct delays_args *a, uint32_t channel) { return a->first_mhz + channel * a->step_mhz; }

static int check(const struct sl_services *s, const void *args) {
  const struct delays_args *a = (const struct delays_args *)args;
  if (frequency(a, a->channels - 1) > 0) return SL_OK;
  s->message(s->context, SL_ERROR, "step_mhz: the frequency of channel %u is %g MHz", a->channels - 1,
             frequency(a, a->channels - 1));
  return SL_EINVAL;
}

static int make(const struct sl_services *s, const struct delays_args *a) {
  const double last = frequency(a, a->channels - 1), highest = a->first_mhz > last ? a->first_mhz : last;
  uint32_t *delay = (uint32_t *)s->make_array(s->context, "delays", "delay", (uint64_t)a->trials * a->channels);
  float *measure = (float *)s->make_array(s->context, "delays", "measure", a->trials);
  uint32_t *longest = (uint32_t *)s->make_array(s->context, "delays", "longest", 1);
  if (!delay || !measure || !longest) return SL_ENOMEM;
  for (uint32_t trial = 0; trial < a->trials; trial++) {
    measure[trial] = (float)(trial * a->dm_step);
    for (uint32_t c = 0; c < a->channels; c++) {
      const double f = frequency(a, c);
      const double seconds = 4148.808 * trial * a->dm_step * (1 / (f * f) - 1 / (highest * highest));
      const double samples = seconds / a->sample_s + 0.5;
      if (samples > 1e9) {
        s->message(s->context, SL_ERROR, "dm_step: a delay of %g samples is too long", samples);
        return SL_EINVAL;
      }
      delay[(uint64_t)trial * a->channels + c] = (uint32_t)samples;
      if (*longest < (uint32_t)samples) *longest = (uint32_t)samples;
    }
  }
  return SL_OK;
}

SL_CONSTANT(delays, "delays of radio waves by dispersion", make, SL_CHECK(check));
