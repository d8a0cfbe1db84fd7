/* reference.c: see reference.h. The steps are those of plugins/pv/README.md. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 3392 };
static const double z_min = -541, z_max = 307, width = 0.25, gas_cell = -341;

struct track {
  double x, y, z, tx, ty, wx, wy, competition;
};

struct extremum {
  int bin;
  double value, integral;
};

static struct track tracks[STATES_TRACKS];
static uint32_t track_count;
static double beam_x, beam_y;

static void take_tracks(const struct states *s, uint32_t event) {
  beam_x = (double)s->beam[0];
  beam_y = (double)s->beam[1];
  track_count = 0;
  for (uint32_t i = s->offsets[event]; i < s->offsets[event + 1]; i++) {
    const struct track t = {(double)s->x[i],  (double)s->y[i],       (double)s->z[i],       (double)s->tx[i],
                            (double)s->ty[i], 1 / (double)s->c00[i], 1 / (double)s->c11[i], 0};
    tracks[track_count++] = t;
  }
}

/* Peaks: histogram */
static double bell(double u) {
  const double a = sqrt(7), xi = u / a, eta = 1 - xi * xi;
  return 0.5 + xi * (0.5 + eta * (0.25 + 3.0 / 16 * eta));
}

static void fill(double *h) {
  memset(h, 0, BINS * sizeof *h);
  for (uint32_t t = 0; t < track_count; t++) {
    const struct track *p = &tracks[t];
    const double dx = p->x - beam_x, dy = p->y - beam_y;
    const double sigma = 1 / sqrt(p->tx * p->tx * p->wx + p->ty * p->ty * p->wy);
    if (!(p->z > z_min && p->z < z_max) || !(dx * dx * p->wx + dy * dy * p->wy < 10)) continue;
    if (!(sigma < (p->z < gas_cell ? 10 : 1.5))) continue;
    const double b = (p->z - z_min) / width, half = sqrt(7) * sigma / width;
    const int first = (int)fmax(trunc(b - half), 1), last = (int)fmin(trunc(b + half), BINS - 2);
    double below = 0;
    for (int i = first; i <= last; i++) {
      const double up_to = i == last ? 1 : bell((z_min + (i + 1) * width - p->z) / sigma);
      h[i] += up_to - below;
      below = up_to;
    }
  }
}

/* Peaks: seeds */
static int in_gas_cell(int bin) { return z_min + bin * width < gas_cell; }
static int is_empty(const double *h, int bin) { return h[bin] < width / (10 * (in_gas_cell(bin) ? 10 : 1.5)); }
static double min_tracks_in_seed(int bin) { return in_gas_cell(bin) ? 1.75 : 2.5; }

static int find_extrema(const double *h, int begin, int end, struct extremum *list) {
  int n = 0, rising = 1;
  double sum = h[begin];
  list[n++] = (struct extremum){begin, h[begin], h[begin]};
  for (int i = begin; i < end; i++) {
    const int rises = (i + 1 < end ? h[i + 1] : 0) > h[i];
    const struct extremum here = {i, h[i], sum + h[i] / 2};
    if (rising && !rises) {
      if (n == 1) {
        list[n++] = here;
      } else {
        const double d1 = list[n - 2].value - list[n - 1].value, d2 = h[i] - list[n - 1].value;
        if (d1 > 0.75 && d2 > 0.75)
          list[n++] = here;
        else if (d1 > d2)
          n--;
        else
          list[n - 2] = here, n--;
      }
    }
    if (!rising && rises) list[n++] = here;
    rising = rises;
    sum += h[i];
  }
  list[n++] = (struct extremum){end, h[end], sum};
  return n;
}

static void add_seed(const double *h, int m, struct reference *r) {
  const double d1 = h[m] - h[m - 1], d2 = h[m] - h[m + 1];
  r->seed_z[r->seed_count++] = z_min + width * (m + 0.5 + (d1 + d2 > 0 ? 0.5 * (d1 - d2) / (d1 + d2) : 0));
}

static void find_seeds(const double *h, struct reference *r) {
  static struct extremum list[BINS + 2];
  for (int begin = 1; begin < BINS; begin++) {
    if (is_empty(h, begin)) continue;
    int end = begin;
    double sum = 0;
    for (; !is_empty(h, end); end++) sum += h[end];
    if (sum > min_tracks_in_seed(end)) {
      const int n = find_extrema(h, begin, end, list);
      const uint32_t before = r->seed_count;
      for (int m = 1; n > 3 && m < n; m += 2)
        if (list[m + 1].integral - list[m - 1].integral > min_tracks_in_seed(list[m + 1].bin))
          add_seed(h, list[m].bin, r);
      int largest = 1;
      for (int m = 3; m < n; m += 2)
        if (list[m].value > list[largest].value) largest = m;
      if (r->seed_count == before) add_seed(h, list[largest].bin, r);
    }
    begin = end;
  }
}

/* The fit: affinities */
static double chi2_of(const struct track *t, double x, double y, double z, double *rx, double *ry) {
  *rx = x - t->x - t->tx * (z - t->z);
  *ry = y - t->y - t->ty * (z - t->z);
  return *rx * *rx * t->wx + *ry * *ry * t->wy;
}

/* The fit: a vertex; returns 1 if it is accepted. */
static int fit(double seed_z, struct reference_vertex *v) {
  double rx, ry;
  *v = (struct reference_vertex){.x = beam_x, .y = beam_y, .z = seed_z};
  for (int iteration = 0; iteration < 7; iteration++) {
    double g_x = 0, g_y = 0, g_z = 0, xx = 0, yy = 0, xz = 0, yz = 0, zz = 0, chi2s = 0;
    v->weight = 0;
    v->tracks = 0;
    for (uint32_t i = 0; i < track_count; i++) {
      const struct track *t = &tracks[i];
      if (!(t->z >= z_min && t->z < z_max)) continue;
      const double at_seed = exp(-chi2_of(t, beam_x, beam_y, seed_z, &rx, &ry) / 2);
      const double chi2 = chi2_of(t, v->x, v->y, v->z, &rx, &ry), e = exp(-chi2 / 2);
      if (!(chi2 < 12)) continue;
      v->tracks++;
      const double w = e / (exp(-2) + e + t->competition - at_seed);
      g_x += w * rx * t->wx;
      g_y += w * ry * t->wy;
      g_z -= w * (t->tx * rx * t->wx + t->ty * ry * t->wy);
      xx += w * t->wx;
      yy += w * t->wy;
      xz -= w * t->tx * t->wx;
      yz -= w * t->ty * t->wy;
      zz += w * (t->tx * t->tx * t->wx + t->ty * t->ty * t->wy);
      v->weight += w;
      chi2s += w * chi2;
    }
    const double det = xx * (zz * yy - yz * yz) - xz * xz * yy;
    if (v->tracks < (seed_z < gas_cell ? 3u : 4u) || !(det > 0)) return 0;
    v->c_xx = (zz * yy - yz * yz) / det;
    v->c_xy = xz * yz / det;
    v->c_yy = (zz * xx - xz * xz) / det;
    v->c_xz = -xz * yy / det;
    v->c_yz = -yz * xx / det;
    v->c_zz = xx * yy / det;
    const double d_x = -(v->c_xx * g_x + v->c_xy * g_y + v->c_xz * g_z);
    const double d_y = -(v->c_xy * g_x + v->c_yy * g_y + v->c_yz * g_z);
    const double d_z = -(v->c_xz * g_x + v->c_yz * g_y + v->c_zz * g_z);
    v->x += d_x;
    v->y += d_y;
    v->z += d_z;
    v->chi2 = chi2s + d_x * g_x + d_y * g_y + d_z * g_z;
    if (fabs(d_z) < 0.0005) break;
  }
  const double dx = v->x - beam_x, dy = v->y - beam_y;
  return v->tracks >= (v->z < gas_cell ? 3u : 4u) && dx * dx + dy * dy < 0.3;
}

static int compare_z(const void *a, const void *b) {
  const struct reference_vertex *v = a, *w = b;
  return (v->z > w->z) - (v->z < w->z);
}

void reference_fit(const struct states *s, uint32_t event, struct reference *r) {
  static struct reference_vertex accepted[REFERENCE_MAX];
  double rx, ry;
  uint32_t n = 0;
  take_tracks(s, event);
  for (uint32_t i = 0; i < track_count; i++)
    for (uint32_t k = 0; k < r->seed_count; k++)
      tracks[i].competition += exp(-chi2_of(&tracks[i], beam_x, beam_y, r->seed_z[k], &rx, &ry) / 2);
  for (uint32_t k = 0; k < r->seed_count; k++)
    if (fit(r->seed_z[k], &accepted[n])) n++;
  /* The fit: selection of vertices. */
  r->vertex_count = 0;
  for (uint32_t i = 0; i < n; i++) {
    int dropped = 0;
    for (uint32_t j = 0; j < n; j++) {
      const double dz = accepted[i].z - accepted[j].z, variance = accepted[i].c_zz + accepted[j].c_zz;
      const int loses = accepted[i].weight < accepted[j].weight ||
                        (accepted[i].weight == accepted[j].weight && accepted[i].z > accepted[j].z);
      dropped |= j != i && dz * dz / variance < 25 && loses;
    }
    if (!dropped) r->vertex[r->vertex_count++] = accepted[i];
  }
  qsort(r->vertex, r->vertex_count, sizeof r->vertex[0], compare_z);
}

void reference_find(const struct states *s, uint32_t event, struct reference *r) {
  static double h[BINS + 1];
  take_tracks(s, event);
  fill(h);
  r->seed_count = 0;
  find_seeds(h, r);
  reference_fit(s, event, r);
}
