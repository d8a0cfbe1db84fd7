/* track_sample.h: a sample of long tracks for tests of kalman.fit and kalman.residuals: 600 tracks in four events, the
 * second one empty, with the same hits as input of the reference (fit_reference.h). */
#ifndef TEST_KALMAN_TRACK_SAMPLE_H
#define TEST_KALMAN_TRACK_SAMPLE_H

#include "fit_reference.h"
#include "forward/event_model.h"
#include "ut/event_model.h"

#include <sluice/testing.h>

#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 4, TRACKS = 600, VELO_HITS_MAX = 12, HITS = TRACKS * VELO_HITS_MAX };
static const uint32_t event_tracks[EVENTS + 1] = {0, 210, 210, 213, TRACKS};
static const uint32_t event_scifi[EVENTS + 1] = {0, 210 * 12, 210 * 12, 213 * 12, TRACKS * 12};
static const float ut_slopes[UT_LAYERS] = {0, 0.0875f, -0.0875f, 0};

struct sample {
  uint32_t velo_offsets[TRACKS + 1], velo_track[TRACKS], ut_track[TRACKS], ut_events[EVENTS + 1],
      ut_offsets[TRACKS + 1];
  uint32_t hit_offsets[TRACKS + 1], hit_id[TRACKS * 12], ut_id[TRACKS * 4];
  uint16_t hit[TRACKS * 12], ut_sector[TRACKS * 4];
  uint8_t size[TRACKS * 12];
  float qop[TRACKS], velo_x[HITS], velo_y[HITS], velo_z[HITS], beam[2];
  float ut_x[TRACKS * 4], ut_z[TRACKS * 4], scifi_x[TRACKS * 12], scifi_z[TRACKS * 12];
  float pitch[UT_SECTORS], dxdy[SCIFI_MAT_TABLE], dzdy[SCIFI_MAT_TABLE], polarity[1];
  struct ref_track reference[TRACKS];
  struct ref_constants constants;
};

static struct kalman_description description;
static struct sl_test *constants; /* of kalman.constants, after its run */

static uint64_t random_state;
static double uniform(double low, double high) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(random_state >> 40) / (double)(1u << 24);
}
/* Nearly a Gaussian, of width 1. */
static double gaussian(void) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += uniform(0, 1);
  return sum;
}

static const float *constant(const char *field) { return (const float *)sl_test_output(constants, "kalman", field); }

static int setup(void **state) {
  static const struct kalman_description zero;
  char reason[200];
  FILE *file = fopen(KALMAN_FOLDER "/nominal.kalman", "rb");
  static char text[1 << 20];
  (void)state;
  if (!file) return 1;
  description = zero;
  const size_t bytes = fread(text, 1, sizeof text, file);
  fclose(file);
  if (kalman_read(text, bytes, &description, reason, sizeof reason) != 0) return 1;
  for (int l = 0; l < KALMAN_LEGS; l++) /* as in kalman_constants */
    for (int o = 0; o < KALMAN_OUTPUTS; o++)
      for (int n = 0; n < KALMAN_TERMS_MAX; n++)
        description.legs[l].coefficients[o][n] = (double)(float)description.legs[l].coefficients[o][n];
  constants = sl_test_new(KALMAN_PLUGIN, "constants");
  return sl_test_run(constants);
}

static int teardown(void **state) {
  (void)state;
  sl_test_free(constants);
  return 0;
}

static void add_velo_hits(struct sample *s, uint32_t velo_track, struct ref_track *t, const double state[5]) {
  const uint32_t first = s->velo_offsets[velo_track];
  const int count = 3 + (int)(velo_track % (VELO_HITS_MAX - 2));
  double z = uniform(650, 740);
  t->velo_count = count;
  for (int i = 0; i < count; i++, z -= uniform(25, 40)) {
    const double hit[2] = {state[0] + state[2] * (z - 770) + 0.0125 * gaussian(),
                           state[1] + state[3] * (z - 770) + 0.0125 * gaussian()};
    s->velo_x[first + i] = (float)hit[0], s->velo_y[first + i] = (float)hit[1], s->velo_z[first + i] = (float)z;
    double *to = t->velo[count - 1 - i];
    to[0] = (double)s->velo_x[first + i], to[1] = (double)s->velo_y[first + i], to[2] = (double)s->velo_z[first + i];
  }
  s->velo_offsets[velo_track + 1] = first + (uint32_t)count;
}

/* A hit of the state near its plane, off by `off` standard deviations; the numbers of the input. */
static void make_hit(struct ref_track *t, int leg, const double state[4], double off, float *x, float *z) {
  const double plane = description.legs[leg].z_end, at = plane + uniform(-6, 6);
  const double y = state[1] + state[3] * (at - plane), dxdy = t->hit[leg].dxdy, dzdy = t->hit[leg].dzdy;
  *x = (float)(state[0] + state[2] * (at - plane) - dxdy * y + off * sqrt(t->hit[leg].variance));
  *z = (float)(at - dzdy * y);
  t->hit[leg].x = (double)*x;
  t->hit[leg].z = (double)*z;
}

/* Tracks from near the origin, with scattering at the planes; `wrong` of the hits are off by up to 30 sigma. */
static void make_sample(struct sample *s, uint64_t seed, double wrong) {
  memset(s, 0, sizeof *s);
  random_state = seed;
  s->beam[0] = 0.1f, s->beam[1] = -0.2f, s->polarity[0] = seed % 2 ? -1 : 1;
  for (uint32_t i = 0; i < UT_SECTORS; i++) s->pitch[i] = i % 3 ? 0.1875f : 0.0935f;
  for (uint32_t i = 0; i < SCIFI_MAT_TABLE; i++) s->dxdy[i] = ut_slopes[i / 128 % 4], s->dzdy[i] = 0.0036f;
  struct ref_constants *k = &s->constants;
  k->legs = &description;
  k->polarity = (double)s->polarity[0];
  k->beam[0] = (double)s->beam[0], k->beam[1] = (double)s->beam[1];
  k->max_increment = 9, k->max_removed = 2;
  for (int l = 0; l < KALMAN_LEGS; l++) {
    k->energy_loss[l] = (double)constant("energy_loss")[l];
    for (int n = 0; n < KALMAN_LEG_NOISES; n++) k->noise[l][n] = (double)constant("noise")[l * KALMAN_LEG_NOISES + n];
  }
  uint32_t hits = 0, ut_tracks = 0, ut_hits = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint32_t first = event_tracks[event];
    s->ut_events[event] = ut_tracks;
    for (uint32_t i = first; i < event_tracks[event + 1]; i++) {
      struct ref_track *t = &s->reference[i];
      const double p = 1 / uniform(1.0 / 60000, 1.0 / 3000), q = i % 2 ? 1 : -1, tx = uniform(-0.2, 0.2),
                   ty = uniform(-0.15, 0.15);
      double state[5] = {770 * tx + gaussian(), 770 * ty + gaussian(), tx, ty, q / p}, end[4], jacobian[4][5];
      s->qop[i] = (float)(q / p * (1 + 0.008 * gaussian()));
      t->qop = (double)s->qop[i];
      s->velo_track[i] = i - first; /* the VELO tracks are in the same order */
      add_velo_hits(s, i, t, state);
      s->hit_offsets[i] = hits;
      s->ut_track[i] = i % 4 ? ut_tracks - s->ut_events[event] : FORWARD_NO_TRACK;
      if (i % 4) s->ut_offsets[ut_tracks] = ut_hits;
      for (int l = 0; l < KALMAN_LEGS; l++) {
        const int layer = l - KALMAN_UT_LAYERS;
        const double loss = (0.8 * t->velo_count + k->energy_loss[l]) / p;
        const double begin[5] = {state[0], state[1], state[2], state[3], state[4] * (1 + loss)};
        const double off = uniform(0, 1) < wrong ? uniform(-30, 30) : gaussian();
        kalman_transport_plain(l, &description.legs[l], k->polarity, begin, end, jacobian);
        const double kick = 13.6 / p * sqrt(k->noise[l][0]), a = kick * gaussian(), b = kick * gaussian();
        const double lever = k->noise[l][1] / k->noise[l][0];
        const double apart = 13.6 / p * sqrt(fmax(k->noise[l][2] - lever * k->noise[l][1], 0));
        state[0] = end[0] + lever * a + apart * gaussian(), state[1] = end[1] + lever * b + apart * gaussian();
        state[2] = end[2] + a, state[3] = end[3] + b;
        if (layer < 0) {
          if (i % 4 == 0 || (i % 8 == 1 && l == 2)) continue;
          s->ut_id[ut_hits] = (uint32_t)l << UT_LAYER_BIT;
          s->ut_sector[ut_hits] = (uint16_t)(ut_hits % UT_SECTORS);
          const double pitch = (double)s->pitch[s->ut_sector[ut_hits]];
          t->hit[l].dxdy = (double)ut_slopes[l];
          t->hit[l].variance = pitch * pitch / 12;
          make_hit(t, l, state, off, &s->ut_x[ut_hits], &s->ut_z[ut_hits]);
          ut_hits++;
        } else {
          const uint32_t in_event = (i - first) * 12 + (uint32_t)layer, at = event_scifi[event] + in_event;
          if (i % 5 == 2 && layer % 6 == 1) continue; /* 10 hits */
          s->size[at] = (uint8_t)(at % 9 == 3 ? 0 : at % 9 >= 4 && at % 7 == 0 ? at % 9 : 4);
          t->hit[l].dxdy = (double)ut_slopes[layer % 4];
          t->hit[l].dzdy = (double)0.0036f;
          t->hit[l].variance = (double)constant("scifi_variance")[s->size[at]];
          make_hit(t, l, state, off, &s->scifi_x[at], &s->scifi_z[at]);
          s->hit[hits] = (uint16_t)in_event;
          s->hit_id[hits] = (uint32_t)SCIFI_LHCB_ID | (uint32_t)(layer / 4 + 1) << SCIFI_STATION_BIT |
                            (uint32_t)(layer % 4) << SCIFI_LAYER_BIT;
          hits++;
        }
      }
      if (i % 4) s->ut_offsets[++ut_tracks] = ut_hits;
    }
  }
  s->hit_offsets[TRACKS] = hits;
  s->ut_events[EVENTS] = ut_tracks;
}

static void give_ut_tracks(struct sl_test *t, const struct sample *s) {
  const uint32_t ut_tracks = s->ut_events[EVENTS], ut_hits = s->ut_offsets[ut_tracks];
  sl_test_input(t, "ut_tracks", "offsets", s->ut_events, EVENTS + 1);
  sl_test_input(t, "ut_tracks", "hit_offsets", s->ut_offsets, ut_tracks + 1);
  sl_test_input(t, "ut_tracks", "hit_id", s->ut_id, ut_hits);
  sl_test_input(t, "ut_tracks", "hit_x", s->ut_x, ut_hits);
  sl_test_input(t, "ut_tracks", "hit_z", s->ut_z, ut_hits);
  sl_test_input(t, "ut_tracks", "hit_sector", s->ut_sector, ut_hits);
}

/* An algorithm with the common inputs of kalman.fit and kalman.residuals. */
static struct sl_test *sample_new(const char *algorithm, const struct sample *s, int with_ut) {
  struct sl_test *t = sl_test_new(KALMAN_PLUGIN, algorithm);
  const uint32_t velo_hits = s->velo_offsets[TRACKS], hits = s->hit_offsets[TRACKS], scifi = event_scifi[EVENTS];
  static const char *const fields[] = {"scales",      "coefficients", "plane_z",       "noise",
                                       "energy_loss", "ut_variance",  "scifi_variance"};
  sl_test_events(t, EVENTS);
  sl_test_input(t, "tracks", "offsets", event_tracks, EVENTS + 1);
  sl_test_input(t, "tracks", "hit_offsets", s->hit_offsets, TRACKS + 1);
  sl_test_input(t, "tracks", "velo_track", s->velo_track, TRACKS);
  sl_test_input(t, "tracks", "ut_track", s->ut_track, TRACKS);
  sl_test_input(t, "tracks", "qop", s->qop, TRACKS);
  sl_test_input(t, "tracks", "hit", s->hit, hits);
  sl_test_input(t, "tracks", "hit_id", s->hit_id, hits);
  sl_test_input(t, "velo_tracks", "offsets", event_tracks, EVENTS + 1);
  sl_test_input(t, "velo_tracks", "hit_offsets", s->velo_offsets, TRACKS + 1);
  sl_test_input(t, "velo_tracks", "hit_x", s->velo_x, velo_hits);
  sl_test_input(t, "velo_tracks", "hit_y", s->velo_y, velo_hits);
  sl_test_input(t, "velo_tracks", "hit_z", s->velo_z, velo_hits);
  if (with_ut) {
    give_ut_tracks(t, s);
    sl_test_input(t, "ut_geometry", "pitch", s->pitch, UT_SECTORS);
    sl_test_input(t, "ut_groups", "layer_slope", ut_slopes, UT_LAYERS);
  }
  sl_test_input(t, "scifi_hits", "offsets", event_scifi, EVENTS + 1);
  sl_test_input(t, "scifi_hits", "x", s->scifi_x, scifi);
  sl_test_input(t, "scifi_hits", "z", s->scifi_z, scifi);
  sl_test_input(t, "scifi_hits", "pseudo_size", s->size, scifi);
  sl_test_input(t, "scifi_geometry", "dxdy", s->dxdy, SCIFI_MAT_TABLE);
  sl_test_input(t, "scifi_geometry", "dzdy", s->dzdy, SCIFI_MAT_TABLE);
  sl_test_input(t, "magnet", "sign", s->polarity, 1);
  for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
    sl_test_input(t, "kalman", fields[f], constant(fields[f]), sl_test_output_count(constants, "kalman", fields[f]));
  return t;
}

static struct sl_test *fit_new(const struct sample *s, int with_ut) {
  struct sl_test *t = sample_new("fit", s, with_ut);
  sl_test_input(t, "geometry", "beam", s->beam, 2);
  return t;
}

static uint64_t removed_of(const struct sl_test *t, uint32_t i) {
  return ((const uint64_t *)sl_test_output(t, "fits", "removed"))[i];
}

static uint32_t scifi_hit_of(const struct sample *s, uint32_t track, uint32_t n) {
  return s->hit[s->hit_offsets[track] + n]; /* in event 0 */
}

#endif
