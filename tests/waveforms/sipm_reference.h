/* sipm_reference.h: plain versions of sipm_current, half_width and find_pulses for one waveform. */
#ifndef SIPM_REFERENCE_H
#define SIPM_REFERENCE_H

#include <sluice/math64.h>

#include <stdlib.h>

/* Writes samples - lag values. */
static void reference_current(const uint16_t *w, int samples, double sigma, int lag, double *v) {
  const double exact = 4 * sigma + 0.5;
  int radius = (int)(exact + 0.5); /* a half is rounded to the even neighbour */
  if (exact + 0.5 == radius && radius % 2 == 1) radius--;
  double *g = (double *)calloc((size_t)samples, sizeof *g), *taps = (double *)calloc(2 * (size_t)radius + 1, sizeof *g);
  double sum = 0;
  for (int j = -radius; j <= radius; j++) sum += taps[j + radius] = sl_exp(-(double)(j * j) / (2 * sigma * sigma));
  for (int i = 0; i < samples; i++)
    for (int j = -radius; j <= radius; j++) {
      int at = i + j;
      if (at < 0) at = -at;
      if (at > samples - 1) at = 2 * (samples - 1) - at;
      g[i] += taps[j + radius] / sum * w[at];
    }
  for (int i = 0; i + lag < samples; i++) v[i] = (g[i + lag] - g[i]) / lag;
  free(g);
  free(taps);
}

struct reference_width {
  double half_width, position;
  int is_found, has_position;
};

static struct reference_width reference_width(const double *v, int count, int bins) {
  struct reference_width result = {0, 0, 0, 0};
  if (count == 0) return result;
  double low = v[0], high = v[0];
  for (int i = 0; i < count; i++) {
    if (v[i] - v[i] != 0) return result;
    if (v[i] < low) low = v[i];
    if (v[i] > high) high = v[i];
  }
  const double d = (high - low) / bins;
  int *number = (int *)calloc((size_t)bins, sizeof *number), fullest = 0;
  for (int i = 0; i < count; i++)
    if (v[i] < high && (v[i] - low) / d < bins) number[(int)((v[i] - low) / d)]++;
  for (int k = 0; k < bins; k++)
    if (number[k] > number[fullest]) fullest = k;
  int right = fullest, left = 0;
  while (right < bins && (number[right] == 0 || 2 * number[right] > number[fullest])) right++;
  while (2 * number[left] < number[fullest]) left++;
  result.has_position = 1;
  result.position = low + d * fullest;
  if (right < bins) {
    const double to_right = low + d * right - result.position, to_left = result.position - (low + d * left);
    result.is_found = 1;
    result.half_width = to_right > to_left ? to_right : to_left;
  }
  free(number);
  return result;
}

struct reference_pulses {
  int index[64], count, maxima;
};

/* The defaults of find_pulses. The list of maxima is made first, as in the description. */
static struct reference_pulses reference_pulses(const double *v, int count, double half_width, int pulses_max) {
  struct reference_pulses result = {{0}, 0, 0};
  int maxima[64], i = count - 1, kept = 0;
  while (i >= 0) {
    int top = i, bottom;
    for (; i >= 0; i--) { /* a maximum interval */
      if (v[i] > v[top]) top = i;
      if (v[i] < v[top] - 5 && v[top] > 3 * half_width) break;
    }
    if (i < 0) break;
    if (kept < pulses_max && kept < 64) maxima[kept++] = top;
    result.maxima++;
    bottom = i;
    for (; i >= 0; i--) { /* a minimum interval */
      if (v[i] < v[bottom]) bottom = i;
      if (v[i] > v[bottom] + 0.1 && v[bottom] < 0) break;
    }
  }
  for (int k = 0; k < kept; k++) {
    const int first = maxima[k] > 10 ? maxima[k] - 10 : 0,
              end = maxima[k] + 10 < count - 1 ? maxima[k] + 10 : count - 1;
    double lowest = v[first];
    for (int j = first; j < end; j++)
      if (v[j] < lowest) lowest = v[j];
    if (sl_abs_f64(lowest / v[maxima[k]]) < 0.8) result.index[result.count++] = maxima[k];
  }
  return result;
}

#endif
