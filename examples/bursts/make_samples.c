/* make_samples.c: makes a file of power samples with noise and bursts, and prints the bursts as "time_s dm".
 *
 *   make_samples FILE [BURSTS [SEED]]
 *
 * The file ends with a whole block of bursts.yaml.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 128, GAP = 625, STEP = 368, SAMPLES = 512, NOISE = 32, SIGMA = 8, HEIGHT = 8, WIDTH = 2 };
static const double first_mhz = 1500, step_mhz = -2, sample_s = 4e-3;

static uint64_t state;
static uint32_t random_32(void) { /* splitmix64 */
  uint64_t word = state += 0x9E3779B97F4A7C15u;
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
  word = (word ^ word >> 27) * 0x94D049BB133111EBu;
  return (uint32_t)((word ^ word >> 31) >> 32);
}

/* Nearly Gaussian: the sum of twelve uniform numbers. */
static double noise(void) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += random_32() * 0x1p-32;
  return NOISE + SIGMA * sum;
}

static void add_burst(double *power, uint32_t samples, uint32_t time, double dm) {
  for (uint32_t c = 0; c < CHANNELS; c++) {
    const double f = first_mhz + c * step_mhz;
    const double delay = 4148.808 * dm * (1 / (f * f) - 1 / (first_mhz * first_mhz)) / sample_s;
    for (uint32_t t = time + (uint32_t)(delay + 0.5), i = 0; i < WIDTH && t + i < samples; i++)
      power[(size_t)(t + i) * CHANNELS + c] += HEIGHT;
  }
}

int main(int argc, char **argv) {
  const uint32_t bursts = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 20,
                 samples = SAMPLES + ((bursts + 1) * GAP / STEP) * STEP;
  state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  if (argc < 2) {
    fprintf(stderr, "usage: make_samples FILE [BURSTS [SEED]]\n");
    return 2;
  }
  FILE *file = fopen(argv[1], "wb");
  double *power = malloc((size_t)samples * CHANNELS * sizeof *power);
  if (!file || !power) {
    fprintf(stderr, "make_samples: %s: %s\n", argv[1], file ? "no memory" : "cannot be written");
    if (file) fclose(file);
    free(power);
    return 1;
  }
  for (size_t i = 0; i < (size_t)samples * CHANNELS; i++) power[i] = noise();
  for (uint32_t b = 0; b < bursts; b++) {
    const uint32_t time = b * GAP + 20 + random_32() % (GAP - 20);
    const double dm = 20 + random_32() % 480;
    add_burst(power, samples, time, dm);
    printf("%.3f %.0f\n", time * sample_s, dm);
  }
  unsigned char header[40] = "BURSTS1";
  const uint32_t channels = CHANNELS;
  memcpy(header + 8, &channels, sizeof channels);
  memcpy(header + 16, &first_mhz, sizeof first_mhz);
  memcpy(header + 24, &step_mhz, sizeof step_mhz);
  memcpy(header + 32, &sample_s, sizeof sample_s);
  int failed = fwrite(header, sizeof header, 1, file) != 1;
  for (size_t i = 0; i < (size_t)samples * CHANNELS; i++) {
    const double value = power[i] < 0 ? 0 : power[i] > 255 ? 255 : power[i];
    failed |= fputc((int)value, file) == EOF;
  }
  failed |= fclose(file) != 0;
  free(power);
  return failed;
}
