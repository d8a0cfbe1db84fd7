/* annealing_reference.c: see annealing_reference.h. */
#include "annealing_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The defaults of the algorithm's properties. */
static const double cooling = 0.6, t_min = 10, t_purge = 10, t_stop = 0.5, size = 0.06, d0 = 3, dz = 5, z_merge = 0.1;
static const double unique_weight = 0.8, delta_high = 0.1, delta_low = 0.01, epsilon = 0.01, min_weight = 2.5;
static const double beam_spot = 0.035, gap = 2;
enum { MAX_ITERATIONS = 128 };
enum { WHOLE = 384, WINDOW = 128 }; /* largest undivided part, and least window, in tracks */

static const struct annealed *in;
static double z[ANNEALED_MAX], rho[ANNEALED_MAX], critical[ANNEALED_MAX];
static double (*q)[ANNEALED_TRACKS]; /* shares of each prototype and track */
static uint32_t prototypes;
static double beta, rho_0;

/* An update, with exponents relative to the largest. */
static void assign(void) {
  for (uint32_t i = 0; i < in->count; i++) {
    double a[ANNEALED_MAX], noise = rho_0 > 0 ? log(rho_0) - beta * dz * dz : -HUGE_VAL, highest = noise, sum = 0;
    for (uint32_t k = 0; k < prototypes; k++) {
      a[k] = log(rho[k]) - beta * in->weight[i] * (in->z[i] - z[k]) * (in->z[i] - z[k]);
      highest = fmax(highest, a[k]);
    }
    for (uint32_t k = 0; k < prototypes; k++) sum += q[k][i] = exp(a[k] - highest);
    sum += exp(noise - highest);
    for (uint32_t k = 0; k < prototypes; k++) q[k][i] /= sum;
  }
}

static double update(void) {
  double longest = 0;
  assign();
  for (uint32_t k = 0; k < prototypes; k++) {
    double s_p = 0, s_pq = 0, s_w = 0, s_wz = 0, s_e = 0;
    for (uint32_t i = 0; i < in->count; i++) {
      const double pqw = in->prior[i] * q[k][i] * in->weight[i], d = in->z[i] - z[k];
      s_p += in->prior[i];
      s_pq += in->prior[i] * q[k][i];
      s_w += pqw;
      s_wz += pqw * in->z[i];
      s_e += pqw * in->weight[i] * d * d;
    }
    const double to = s_w > 0 ? s_wz / s_w : z[k];
    longest = fmax(longest, fabs(to - z[k]));
    z[k] = to;
    rho[k] = s_pq / s_p;
    critical[k] = s_w > 0 ? 2 * s_e / s_w : 0;
  }
  return longest;
}

static void thermalise(double delta) {
  for (int i = 0; i < MAX_ITERATIONS && !(update() < delta); i++) continue;
}

static void take_out(uint32_t k) {
  for (prototypes--; k < prototypes; k++) z[k] = z[k + 1], rho[k] = rho[k + 1];
}

static void merge_all(void) {
  for (;;) {
    uint32_t closest = 0;
    for (uint32_t k = 1; k < prototypes; k++)
      if (z[k] - z[k - 1] < (closest ? z[closest] - z[closest - 1] : z_merge)) closest = k;
    if (closest == 0) return;
    const double mass = rho[closest - 1] + rho[closest];
    z[closest - 1] = (rho[closest - 1] * z[closest - 1] + rho[closest] * z[closest]) / mass;
    rho[closest - 1] = mass;
    rho[closest] = rho[closest - 1];
    z[closest] = z[closest - 1];
    take_out(closest);
    update();
  }
}

static int split(double theta) {
  double left_z[ANNEALED_MAX], right_z[ANNEALED_MAX], left_share[ANNEALED_MAX];
  int splits[ANNEALED_MAX] = {0}, any = 0;
  const uint32_t room = (in->count < ANNEALED_MAX ? in->count : ANNEALED_MAX);
  update();
  for (uint32_t k = 0; k < prototypes; k++) {
    double l_p = 0, l_w = 0, l_z = 0, r_p = 0, r_w = 0, r_z = 0;
    uint32_t hotter = 0;
    if (!(beta * critical[k] > theta)) continue;
    for (uint32_t j = 0; j < prototypes; j++)
      hotter += critical[j] > critical[k] || (critical[j] == critical[k] && j < k);
    if (hotter >= room - prototypes) continue;
    for (uint32_t i = 0; i < in->count; i++) {
      const double a = fmin(fmax((in->z[i] - z[k]) * sqrt(beta * in->weight[i]), -20), 20), t = 1 / (1 + exp(a));
      const double pq = in->prior[i] * q[k][i], w = in->weight[i];
      l_p += pq * t;
      l_w += pq * t * w;
      l_z += pq * t * w * in->z[i];
      r_p += pq * (1 - t);
      r_w += pq * (1 - t) * w;
      r_z += pq * (1 - t) * w * in->z[i];
    }
    if (!(l_w > 0 && r_w > 0)) continue;
    left_z[k] = l_z / l_w;
    right_z[k] = r_z / r_w;
    left_share[k] = l_p / (l_p + r_p);
    if (k > 0) left_z[k] = fmax(left_z[k], 0.6 * z[k] + 0.4 * z[k - 1]);
    if (k + 1 < prototypes) right_z[k] = fmin(right_z[k], 0.6 * z[k] + 0.4 * z[k + 1]);
    splits[k] = right_z[k] - left_z[k] > epsilon;
    any |= splits[k];
  }
  double new_z[2 * ANNEALED_MAX], new_rho[2 * ANNEALED_MAX];
  uint32_t n = 0;
  for (uint32_t k = 0; k < prototypes; k++) {
    new_z[n] = splits[k] ? left_z[k] : z[k];
    new_rho[n++] = splits[k] ? rho[k] * left_share[k] : rho[k];
    if (!splits[k]) continue;
    new_z[n] = right_z[k];
    new_rho[n++] = rho[k] * (1 - left_share[k]);
  }
  prototypes = n;
  memcpy(z, new_z, n * sizeof z[0]);
  memcpy(rho, new_rho, n * sizeof rho[0]);
  return any;
}

static void cool_to(double temperature) {
  while (beta < 1 / temperature) {
    beta = fmin(beta / cooling, 1 / temperature);
    thermalise(delta_low);
  }
}

static void purge(void) {
  while (prototypes > 1) {
    uint32_t victim = prototypes;
    double least = 0;
    assign();
    for (uint32_t k = 0; k < prototypes; k++) {
      double all = 0;
      uint32_t unique = 0;
      for (uint32_t i = 0; i < in->count; i++) {
        all += q[k][i];
        unique += q[k][i] > unique_weight * rho[k] / (rho[k] + rho_0 * exp(-beta * dz * dz));
      }
      if (unique < 2 && (victim == prototypes || all < least)) victim = k, least = all;
    }
    if (victim == prototypes) return;
    take_out(victim);
    thermalise(delta_low);
  }
}

uint32_t annealed_solve(const struct annealed *tracks, struct annealed_seed seeds[ANNEALED_MAX]) {
  double sum = 0;
  uint32_t n = 1, found = 0;
  in = tracks;
  if (in->count < 2) return 0;
  if (!q) q = malloc(ANNEALED_MAX * sizeof q[0]);
  assert_non_null(q);
  /* 1 and 2 */
  prototypes = 1;
  beta = rho_0 = 0;
  z[0] = in->z[0];
  rho[0] = 1;
  update();
  update();
  double t = critical[0] * cooling;
  while (t >= t_min) {
    t *= cooling;
    n++;
  }
  beta = pow(cooling, n) / t_min;
  thermalise(delta_high);
  /* 3 */
  while (beta < sqrt(cooling) / t_min) {
    merge_all();
    split(1);
    beta /= cooling;
    thermalise(delta_high);
  }
  beta = 1 / t_min;
  /* 4 */
  update();
  merge_all();
  double theta = 1;
  for (int i = 0; i < 10 && split(theta); i++, theta *= 1.1) {
    thermalise(delta_high);
    merge_all();
  }
  /* 5 */
  const double noise = 1.0 / prototypes;
  for (int i = 0; i < 5; i++) {
    rho_0 = i * noise / 5;
    update();
  }
  rho_0 = noise;
  thermalise(delta_low);
  merge_all();
  /* 6 to 8 */
  cool_to(t_purge);
  purge();
  cool_to(t_stop);
  /* 9 */
  assign();
  for (uint32_t k = 0; k < prototypes; k++) {
    uint32_t assigned = 0;
    sum = 0;
    for (uint32_t i = 0; i < in->count; i++) {
      assigned += q[k][i] > 0.5;
      sum += in->prior[i] * q[k][i];
    }
    if (assigned >= 2 && sum >= min_weight) seeds[found++] = (struct annealed_seed){z[k], sum};
  }
  return found;
}

struct selected {
  double z, weight, prior;
};

/* Compares structs that begin with z. */
static int by_z(const void *a, const void *b) {
  const double *s = a, *t = b;
  return (*s > *t) - (*s < *t);
}

/* Selects the tracks. */
static uint32_t select_tracks(const struct states *s, uint32_t event, struct selected *selected) {
  uint32_t n = 0;
  for (uint32_t i = s->offsets[event]; i < s->offsets[event + 1]; i++) {
    const double tx = (double)s->tx[i], ty = (double)s->ty[i], c00 = (double)s->c00[i], c11 = (double)s->c11[i];
    const double dx = (double)s->x[i] - (double)s->beam[0], dy = (double)s->y[i] - (double)s->beam[1];
    const double slope2 = tx * tx + ty * ty, variance = 1 / (tx * tx / c00 + ty * ty / c11);
    const double place = (double)s->z[i], spot = beam_spot * beam_spot;
    const double limit = place < -341 ? 10 : 2;
    const double p = 1 / (1 + exp(dx * dx / (c00 + spot) + dy * dy / (c11 + spot) - d0 * d0));
    if (!(place >= -541 && place < 307 && variance < limit * limit && p >= 1e-4)) continue;
    const double total = variance + (spot * tx * tx + spot * ty * ty) / (slope2 * slope2) + size * size;
    selected[n++] = (struct selected){place, 1 / total, p};
  }
  qsort(selected, n, sizeof selected[0], by_z);
  return n;
}

/* 1 if no track before i reaches as far downstream as one from i on reaches upstream. With fmax and fmin, gcc 12 ends
 * with an internal error for ARM64. */
static int is_apart(const struct selected *selected, uint32_t n, uint32_t i) {
  double reach = -HUGE_VAL, from = HUGE_VAL;
  for (uint32_t j = 0; j < n; j++) {
    const double error = gap / sqrt(selected[j].weight);
    const double last = selected[j].z + error, first = selected[j].z - error;
    if (j < i)
      reach = last > reach ? last : reach;
    else
      from = first < from ? first : from;
  }
  return reach < from;
}

/* First track of the last window of tracks begin to end - 1. */
static uint32_t last_window(const struct selected *selected, uint32_t begin, uint32_t end) {
  const double length = 2 * gap * (selected[end - 1].z < -341 ? 10 : 2);
  uint32_t farthest = end, first = begin;
  double widest = 0;
  if (end - begin < 2 * WINDOW) return begin;
  for (uint32_t i = end - WINDOW; i >= begin + WINDOW && selected[i].z - selected[begin].z >= length; i--) {
    if (i > begin + WINDOW && selected[end - 1].z - selected[i].z < length) continue;
    if (farthest == end) farthest = i;
    if (farthest - i >= WINDOW / 2 && selected[farthest].z - selected[i].z >= length / 2) break;
    const double width = selected[i + 3].z - selected[i - 4].z;
    if (width > widest) widest = width, first = i;
  }
  return first;
}

/* Seeds of a part, as a whole or by window. */
static uint32_t part_find(const struct selected *selected, uint32_t begin, uint32_t end, struct annealed_seed *seeds) {
  static struct annealed window;
  const int is_whole = end - begin <= WHOLE;
  uint32_t found = 0;
  while (begin < end) {
    const uint32_t first = is_whole ? begin : last_window(selected, begin, end);
    window.count = 0;
    for (uint32_t i = first; i < end; i++, window.count++) {
      window.z[window.count] = selected[i].z;
      window.weight[window.count] = selected[i].weight;
      window.prior[window.count] = selected[i].prior;
    }
    found += annealed_solve(&window, seeds + found);
    end = first;
  }
  return found;
}

void annealed_find(const struct states *s, uint32_t event, struct reference *r) {
  static struct selected selected[ANNEALED_TRACKS];
  static struct annealed_seed seeds[REFERENCE_MAX];
  const uint32_t n = select_tracks(s, event, selected);
  uint32_t found = 0;
  for (uint32_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && !is_apart(selected, n, end);) end++;
    found += part_find(selected, begin, end, seeds + found);
  }
  if (found > PV_MAX_VERTICES) abort(); /* such an event is refused */
  qsort(seeds, found, sizeof seeds[0], by_z);
  r->seed_count = found;
  for (uint32_t k = 0; k < found; k++) r->seed_z[k] = seeds[k].z;
  reference_fit(s, event, r);
}
