/* fit_reference.h: the Kalman fit of a long track in double precision, with matrices, as in textbooks. */
#ifndef TEST_KALMAN_FIT_REFERENCE_H
#define TEST_KALMAN_FIT_REFERENCE_H

#include "kalman/description.h"
#include "kalman/event_model.h"

#include <math.h>
#include <string.h>

enum { REF_VELO_MAX = 26, REF_VELO = 0, REF_UT = 1, REF_SCIFI = 2 };

/* Hits of a track: VELO hits by ascending z; the others by plane, with variance 0 where there is none. */
struct ref_track {
  double qop;
  int velo_count;
  double velo[REF_VELO_MAX][3];
  struct {
    double x, z, dxdy, dzdy, variance;
  } hit[KALMAN_LEGS];
};

/* Constants: of the legs in double precision, the others as kalman.constants gives them. */
struct ref_constants {
  const struct kalman_description *legs;
  double polarity, beam[2], noise[KALMAN_LEGS][KALMAN_LEG_NOISES], energy_loss[KALMAN_LEGS];
  double max_increment;
  int max_removed;
};

/* A measurement in the order of the filter; layer: as in kalman_residuals. */
struct ref_measurement {
  int layer, is_removed;
  double residual, variance, z;
};

struct ref_fit {
  double state[5], c44, chi2[3]; /* state: at the last plane */
  int hits[3], ndof;
  uint64_t removed;
  double beam[5], c_x[3], c_y[3]; /* x, y, z, tx, ty at the beam line; variances xx, xt, tt */
  double worst;
  int worst_bit;
  int measured;
  struct ref_measurement measurement[2 * REF_VELO_MAX + KALMAN_LEGS];
};

/* Appends a measurement. Returns its chi2. */
static double ref_note(struct ref_fit *fit, struct ref_measurement m) {
  fit->measurement[fit->measured++] = m;
  return m.residual * m.residual / m.variance;
}

/* A projection: v = (u, t), c = covariance uu, ut, tt. */
static void ref_predict(double v[2], double c[3], double dz, double noise, double lever, double covariance) {
  v[0] += v[1] * dz;
  c[0] += 2 * dz * c[1] + dz * dz * c[2] + noise * dz * dz * lever * lever;
  c[1] += dz * c[2] + noise * dz * covariance;
  c[2] += noise;
}

static struct ref_measurement ref_update(double v[2], double c[3], double hit) {
  const double variance = c[0] + 0.0125 * 0.0125, r = hit - v[0], k = c[0] / variance, l = c[1] / variance;
  v[0] += k * r;
  v[1] += l * r;
  c[2] -= l * c[1];
  c[1] *= 1 - k;
  c[0] *= 1 - k;
  return (struct ref_measurement){.residual = r, .variance = variance};
}

static double ref_velo_noise(const double hit[3], double t, double qop) {
  const double a = hit[0] + hit[1], b = hit[1] - hit[0], n2 = 1 + t * t;
  const int is_foil = (b > -15 && a >= 0 && a < 15) || (b < 15 && a > -15 && a <= 0);
  return pow(n2, 2.5) * qop * qop * (1.48 + (is_foil ? 0.6 : 0));
}

/* Fits VELO hits in steps of `step`; returns z of the last one. chi2 and the worst hit if `fit` is not NULL. */
static double ref_velo(const struct ref_track *t, uint64_t removed, int step, double qop, double x[2], double cx[3],
                       double y[2], double cy[3], struct ref_fit *fit) {
  int first = -1, last = -1;
  for (int i = 0; i < t->velo_count; i++) {
    const int n = step > 0 ? i : t->velo_count - 1 - i;
    if (removed >> n & 1) continue;
    if (first < 0) first = n;
    last = n;
  }
  const double *f = t->velo[first], *l = t->velo[last], start[3] = {0.0125 * 0.0125, 0, 0.01};
  for (int k = 0; k < 2; k++) {
    double *v = k ? y : x;
    v[0] = f[k];
    v[1] = (l[k] - f[k]) / (l[2] - f[2]);
    memcpy(k ? cy : cx, start, sizeof start);
  }
  const double tx = x[1], ty = y[1];
  double z = f[2];
  for (int n = first + step; n >= 0 && n < t->velo_count; n += step) {
    const double *h = t->velo[n];
    const int is_removed = (int)(removed >> n & 1);
    double increment = 0;
    for (int k = 0; k < 2; k++) {
      double *v = k ? y : x, *c = k ? cy : cx, to[2] = {v[0], v[1]}, c_to[3] = {c[0], c[1], c[2]};
      ref_predict(to, c_to, h[2] - z, ref_velo_noise(h, k ? ty : tx, qop), 0.643, 0.526);
      struct ref_measurement m = ref_update(to, c_to, h[k]);
      m.layer = k, m.is_removed = is_removed, m.z = h[2];
      if (fit) increment += ref_note(fit, m);
      if (is_removed) continue;
      memcpy(v, to, sizeof to);
      memcpy(c, c_to, sizeof c_to);
    }
    if (is_removed) continue;
    z = h[2];
    if (!fit) continue;
    fit->chi2[REF_VELO] += increment;
    if (fit->hits[REF_VELO] > 3 && increment > fit->worst) fit->worst = increment, fit->worst_bit = n;
  }
  return z;
}

static void ref_leg(const struct ref_constants *k, int leg, double velo_loss, double s[5], double c[5][5]) {
  const double f = s[4], loss = (velo_loss + k->energy_loss[leg]) * fabs(f), *noise = k->noise[leg];
  const double begin[5] = {s[0], s[1], s[2], s[3], f * (1 + loss)};
  const int kind = kalman_kind(leg), is_straight = kind == KALMAN_SHORT || kind == KALMAN_GAP;
  const double dz = k->legs->legs[leg].z_end - k->legs->legs[leg].z_begin;
  double j[5][5] = {{0}}, end[4], jacobian[4][5], moved[5][5];
  kalman_transport_plain(leg, &k->legs->legs[leg], k->polarity, begin, end, jacobian);
  for (int i = 0; i < 4; i++)
    for (int m = 0; m < 5; m++) {
      const double straight = i == m ? 1 : i < 2 && i + 2 == m ? dz : 0;
      j[i][m] = m == 4 ? jacobian[i][m] * (1 + 2 * loss) : is_straight ? straight : jacobian[i][m];
    }
  j[4][4] = 1;
  memcpy(s, end, sizeof end);
  memset(moved, 0, sizeof moved);
  for (int i = 0; i < 5; i++)
    for (int m = 0; m < 5; m++)
      for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) moved[i][m] += j[i][a] * c[a][b] * j[m][b];
  const double tx = begin[2], ty = begin[3], n2 = 1 + tx * tx + ty * ty, w = pow(13.6 * f, 2) * pow(n2, 1.5);
  const double q[2][2] = {{w * (1 + tx * tx), w * tx * ty}, {w * tx * ty, w * (1 + ty * ty)}};
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) {
      moved[2 + a][2 + b] += noise[0] * q[a][b];
      moved[a][2 + b] += noise[1] * q[a][b];
      moved[2 + a][b] += noise[1] * q[a][b];
      moved[a][b] += noise[2] * q[a][b];
    }
  memcpy(c, moved, sizeof moved);
}

static struct ref_measurement ref_plane(const struct ref_constants *k, const struct ref_track *t, int leg,
                                        int is_removed, double s[5], double c[5][5]) {
  const double plane_z = (double)(float)k->legs->legs[leg].z_end; /* as in kalman_constants */
  const double dz = t->hit[leg].z + t->hit[leg].dzdy * s[1] - plane_z, a = t->hit[leg].dxdy;
  const double h[5] = {1, -a, dz, 0, 0};
  double ch[5] = {0}, variance = t->hit[leg].variance, residual = t->hit[leg].x + a * dz * s[3];
  for (int i = 0; i < 5; i++) {
    for (int m = 0; m < 5; m++) ch[i] += c[i][m] * h[m];
    residual -= h[i] * s[i];
  }
  for (int i = 0; i < 5; i++) variance += h[i] * ch[i];
  const double z = t->hit[leg].z + t->hit[leg].dzdy * s[1];
  for (int i = 0; i < 5 && !is_removed; i++) {
    s[i] += ch[i] / variance * residual;
    for (int m = 0; m < 5; m++) c[i][m] -= ch[i] * ch[m] / variance;
  }
  return (struct ref_measurement){2 + leg, is_removed, residual, variance, z};
}

static struct ref_fit ref_once(const struct ref_constants *k, const struct ref_track *t, uint64_t removed) {
  struct ref_fit fit;
  double x[2], y[2], cx[3], cy[3], c[5][5] = {{0}};
  memset(&fit, 0, sizeof fit);
  fit.removed = removed;
  for (int n = 0; n < t->velo_count; n++) fit.hits[REF_VELO] += !(removed >> n & 1);
  for (int l = 0; l < KALMAN_LEGS; l++)
    fit.hits[l < KALMAN_UT_LAYERS ? REF_UT : REF_SCIFI] +=
        t->hit[l].variance > 0 && !(removed >> (KALMAN_UT_BIT + l) & 1);
  const double dz = k->legs->legs[0].z_begin - ref_velo(t, removed, 1, t->qop, x, cx, y, cy, &fit);
  ref_predict(x, cx, dz, 0, 0, 0);
  ref_predict(y, cy, dz, 0, 0, 0);
  double *s = fit.state;
  s[0] = x[0], s[1] = y[0], s[2] = x[1], s[3] = y[1], s[4] = t->qop;
  c[0][0] = cx[0], c[0][2] = c[2][0] = cx[1], c[2][2] = cx[2];
  c[1][1] = cy[0], c[1][3] = c[3][1] = cy[1], c[3][3] = cy[2];
  c[4][4] = pow(0.05 * t->qop, 2);
  for (int l = 0; l < KALMAN_LEGS; l++) {
    const int detector = l < KALMAN_UT_LAYERS ? REF_UT : REF_SCIFI, least = detector == REF_UT ? 2 : 9;
    ref_leg(k, l, 0.8 * t->velo_count, s, c);
    if (!(t->hit[l].variance > 0)) continue;
    const int is_removed = (int)(removed >> (KALMAN_UT_BIT + l) & 1);
    const double increment = ref_note(&fit, ref_plane(k, t, l, is_removed, s, c));
    if (is_removed) continue;
    fit.chi2[detector] += increment;
    if (fit.hits[detector] > least && increment > fit.worst) fit.worst = increment, fit.worst_bit = KALMAN_UT_BIT + l;
  }
  fit.c44 = c[4][4] + pow(5 * s[4] * s[4], 2);
  fit.ndof = 2 * fit.hits[REF_VELO] + fit.hits[REF_UT] + fit.hits[REF_SCIFI] - 5;
  return fit;
}

static double ref_chi2(const struct ref_fit *f) { return f->chi2[0] + f->chi2[1] + f->chi2[2]; }

static inline struct ref_fit ref_fit_track(const struct ref_constants *k, const struct ref_track *t) {
  struct ref_fit fit = ref_once(k, t, 0);
  for (int round = 0; round < k->max_removed && fit.worst > k->max_increment; round++) {
    const struct ref_fit next = ref_once(k, t, fit.removed | (uint64_t)1 << fit.worst_bit);
    if (!(next.ndof > 0 && fit.ndof > 0 && ref_chi2(&next) * fit.ndof < ref_chi2(&fit) * next.ndof)) break;
    fit = next;
  }
  double x[2], y[2];
  const double qop = fit.state[4], z = ref_velo(t, fit.removed, -1, qop, x, fit.c_x, y, fit.c_y, NULL);
  const double slope2 = x[1] * x[1] + y[1] * y[1], noise = pow(1 + slope2, 1.5) * qop * qop * 2.91;
  const double dz = ((k->beam[0] - x[0]) * x[1] + (k->beam[1] - y[0]) * y[1]) / slope2;
  ref_predict(x, fit.c_x, dz, (1 + x[1] * x[1]) * noise, 0.808, 0.793);
  ref_predict(y, fit.c_y, dz, (1 + y[1] * y[1]) * noise, 0.808, 0.793);
  fit.beam[0] = x[0], fit.beam[1] = y[0], fit.beam[2] = z + dz, fit.beam[3] = x[1], fit.beam[4] = y[1];
  return fit;
}

#endif
