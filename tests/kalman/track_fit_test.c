/* track_fit_test.c: kalman.fit against fit_reference.h; removal of hits; tracks without UT, with few hits, and with
 * values that are not finite. */
#include "fit_reference.h"
#include "forward/event_model.h"
#include "ut/event_model.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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

/* ------------------------------------------------------------------------------------------------- sample */

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

static struct sl_test *fit_new(const struct sample *s, int with_ut) {
  struct sl_test *t = sl_test_new(KALMAN_PLUGIN, "fit");
  const uint32_t velo_hits = s->velo_offsets[TRACKS], hits = s->hit_offsets[TRACKS], ut_tracks = s->ut_events[EVENTS];
  const uint32_t ut_hits = s->ut_offsets[ut_tracks], scifi = event_scifi[EVENTS];
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
    sl_test_input(t, "ut_tracks", "offsets", s->ut_events, EVENTS + 1);
    sl_test_input(t, "ut_tracks", "hit_offsets", s->ut_offsets, ut_tracks + 1);
    sl_test_input(t, "ut_tracks", "hit_id", s->ut_id, ut_hits);
    sl_test_input(t, "ut_tracks", "hit_x", s->ut_x, ut_hits);
    sl_test_input(t, "ut_tracks", "hit_z", s->ut_z, ut_hits);
    sl_test_input(t, "ut_tracks", "hit_sector", s->ut_sector, ut_hits);
    sl_test_input(t, "ut_geometry", "pitch", s->pitch, UT_SECTORS);
    sl_test_input(t, "ut_groups", "layer_slope", ut_slopes, UT_LAYERS);
  }
  sl_test_input(t, "scifi_hits", "offsets", event_scifi, EVENTS + 1);
  sl_test_input(t, "scifi_hits", "x", s->scifi_x, scifi);
  sl_test_input(t, "scifi_hits", "z", s->scifi_z, scifi);
  sl_test_input(t, "scifi_hits", "pseudo_size", s->size, scifi);
  sl_test_input(t, "geometry", "beam", s->beam, 2);
  sl_test_input(t, "scifi_geometry", "dxdy", s->dxdy, SCIFI_MAT_TABLE);
  sl_test_input(t, "scifi_geometry", "dzdy", s->dzdy, SCIFI_MAT_TABLE);
  sl_test_input(t, "magnet", "sign", s->polarity, 1);
  for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
    sl_test_input(t, "kalman", fields[f], constant(fields[f]), sl_test_output_count(constants, "kalman", fields[f]));
  return t;
}

static double state_of(const struct sl_test *t, const char *field, uint32_t i) {
  return (double)((const float *)sl_test_output(t, "states", field))[i];
}
static double fit_of(const struct sl_test *t, const char *field, uint32_t i) {
  return (double)((const float *)sl_test_output(t, "fits", field))[i];
}
static uint32_t ndof_of(const struct sl_test *t, uint32_t i) {
  return ((const uint32_t *)sl_test_output(t, "states", "ndof"))[i];
}
static uint64_t removed_of(const struct sl_test *t, uint32_t i) {
  return ((const uint64_t *)sl_test_output(t, "fits", "removed"))[i];
}

/* ------------------------------------------------------------------------------------------- the reference */

/* Differences from the reference; most tracks must be within the limit. */
struct difference {
  const char *name;
  double limit, most, worst;
  uint32_t above;
};
enum { D_QOP, D_C44, D_CHI2, D_BEAM, D_BEAM_ERROR, D_ECAL, DIFFERENCES };

static void take(struct difference *d, double value) {
  assert_true(isfinite(value));
  d->above += fabs(value) > d->limit;
  d->worst = fmax(d->worst, fabs(value));
}

static void compare_track(const struct sl_test *t, uint32_t i, const struct ref_fit *r, struct difference *d) {
  take(&d[D_QOP], (state_of(t, "qop", i) - r->state[4]) / sqrt(r->c44));
  take(&d[D_C44], fit_of(t, "c44", i) / r->c44 - 1);
  take(&d[D_CHI2], (state_of(t, "chi2", i) - ref_chi2(r)) / (1 + ref_chi2(r) / 100));
  take(&d[D_BEAM], (state_of(t, "x", i) - r->beam[0]) / sqrt(r->c_x[0]));
  take(&d[D_BEAM], (state_of(t, "ty", i) - r->beam[4]) / sqrt(r->c_y[2]));
  take(&d[D_BEAM_ERROR], state_of(t, "c00", i) / r->c_x[0] - 1);
  take(&d[D_BEAM_ERROR], state_of(t, "c31", i) / r->c_y[1] - 1);
  take(&d[D_ECAL], fit_of(t, "x", i) - (r->state[0] + r->state[2] * (12602.9 - 9403)));
  take(&d[D_ECAL], fit_of(t, "y", i) - (r->state[1] + r->state[3] * (12602.9 - 9403)));
  assert_int_equal(ndof_of(t, i), r->ndof);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "velo_hits"))[i], r->hits[REF_VELO]);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "ut_hits"))[i], r->hits[REF_UT]);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[i], r->hits[REF_SCIFI]);
  const double parts = fit_of(t, "velo_chi2", i) + fit_of(t, "ut_chi2", i) + fit_of(t, "scifi_chi2", i);
  assert_true(fabs(parts - state_of(t, "chi2", i)) <= 1e-5 * parts);
}

/* Hits with increments next to the limit may differ: at most 1 % of the tracks. Returns the number of removed hits. */
static uint32_t compare_sample(const struct sample *s, uint32_t block) {
  struct difference d[DIFFERENCES] = {{"q/p, in sigma", 5e-4, 5e-3, 0, 0},
                                      {"variance of q/p, relative", 2e-4, 2e-3, 0, 0},
                                      {"chi2, over 1 + chi2 / 100", 0.02, 0.2, 0, 0},
                                      {"state at the beam line, in sigma", 1e-3, 5e-3, 0, 0},
                                      {"covariance at the beam line, relative", 1e-4, 1e-3, 0, 0},
                                      {"position at the ECAL, mm", 1e-2, 5e-2, 0, 0}};
  struct sl_test *t = fit_new(s, 1);
  uint32_t removed = 0, other = 0;
  sl_test_block(t, block);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const struct ref_fit r = ref_fit_track(&s->constants, &s->reference[i]);
    removed += (uint32_t)__builtin_popcountll(r.removed);
    if (removed_of(t, i) != r.removed)
      other++;
    else
      compare_track(t, i, &r, d);
  }
  for (uint32_t k = 0; k < DIFFERENCES; k++)
    if (d[k].above > TRACKS / 100 || d[k].worst > d[k].most)
      fail_msg("%s: %u of %u above %g, worst %g", d[k].name, d[k].above, TRACKS, d[k].limit, d[k].worst);
  if (other > TRACKS / 100) fail_msg("%u of %u tracks have other removed hits", other, TRACKS);
  sl_test_free(t);
  return removed;
}

static void fits_agree_with_double_precision(void **state) {
  static struct sample s;
  (void)state;
  for (uint32_t pass = 0; pass < 4; pass++) {
    make_sample(&s, 5 + pass, pass == 3 ? 0.06 : 0.01);
    const uint32_t removed = compare_sample(&s, 32u << pass);
    assert_true(removed > (pass == 3 ? 300u : 40u) && removed < 2 * TRACKS);
  }
}

/* Without wrong hits, chi2 of the SciFi hits is as large as their degrees of freedom. */
static void chi2_is_as_expected(void **state) {
  static struct sample s;
  double chi2 = 0, ndof = 0;
  (void)state;
  make_sample(&s, 9, 0);
  struct sl_test *t = fit_new(&s, 1);
  sl_test_set(t, "max_removed", 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    chi2 += fit_of(t, "scifi_chi2", i);
    ndof += ((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[i] - 1;
    assert_int_equal(removed_of(t, i), 0);
  }
  if (fabs(chi2 / ndof - 1) > 0.05) fail_msg("chi2 / ndof of the SciFi hits is %g", chi2 / ndof);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------- removal */

static uint32_t scifi_hit_of(const struct sample *s, uint32_t track, uint32_t n) {
  return s->hit[s->hit_offsets[track] + n]; /* in event 0 */
}

static void a_hit_far_off_is_removed(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 21, 0);
  /* Track 1: 12 SciFi hits; a hit in layer 7. Track 2: 10; two hits, one may be removed. */
  s.scifi_x[scifi_hit_of(&s, 1, 7)] += 4;
  s.scifi_x[scifi_hit_of(&s, 2, 4)] += 4;
  s.scifi_x[scifi_hit_of(&s, 2, 8)] += 5;
  s.velo_x[s.velo_offsets[9] + 5] += 0.5f;  /* of 12 hits; from the end of largest z */
  s.velo_x[s.velo_offsets[10] + 1] += 0.5f; /* of 3 hits, which must remain */
  struct sl_test *t = fit_new(&s, 1);
  assert_int_equal(s.velo_offsets[10] - s.velo_offsets[9], 12);
  assert_int_equal(s.velo_offsets[11] - s.velo_offsets[10], 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(removed_of(t, 1) >> (KALMAN_SCIFI_BIT + 7) & 1);
  assert_int_equal(__builtin_popcountll(removed_of(t, 2) >> KALMAN_SCIFI_BIT), 1);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[2], 9);
  assert_true(removed_of(t, 9) >> 6 & 1);
  assert_int_equal(removed_of(t, 10) & (((uint64_t)1 << KALMAN_VELO_BITS) - 1), 0);
  sl_test_set(t, "max_removed", 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) assert_int_equal(removed_of(t, i), 0);
  sl_test_free(t);
}

/* A limit of 0 tries every track; a fit is accepted only if chi2 / ndof falls. */
static void a_fit_without_a_hit_is_accepted_if_it_is_better(void **state) {
  static struct sample s;
  uint32_t removed = 0;
  (void)state;
  make_sample(&s, 22, 0);
  struct sl_test *all = fit_new(&s, 1), *tried = fit_new(&s, 1);
  sl_test_set(all, "max_removed", 0);
  sl_test_set(tried, "max_increment", 0);
  assert_int_equal(sl_test_run(all), 0);
  assert_int_equal(sl_test_run(tried), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const double before = state_of(all, "chi2", i) / ndof_of(all, i),
                 after = state_of(tried, "chi2", i) / ndof_of(tried, i);
    removed += removed_of(tried, i) != 0;
    assert_true(removed_of(tried, i) ? after < before : after == before);
  }
  assert_true(removed > TRACKS / 2);
  sl_test_free(all);
  sl_test_free(tried);
}

/* ---------------------------------------------------------------------------------------------- odd tracks */

static void tracks_do_not_need_the_ut(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 31, 0.02);
  struct sl_test *t = fit_new(&s, 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    struct ref_track without = s.reference[i];
    for (int l = 0; l < KALMAN_UT_LAYERS; l++) without.hit[l].variance = 0;
    const struct ref_fit r = ref_fit_track(&s.constants, &without);
    assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "ut_hits"))[i], 0);
    if (removed_of(t, i) == r.removed) assert_true(fabs(state_of(t, "qop", i) - r.state[4]) < 1e-2 * sqrt(r.c44));
  }
  sl_test_free(t);
}

static void ut_tracks_need_their_geometry(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 32, 0);
  struct sl_test *t = fit_new(&s, 0);
  sl_test_input(t, "ut_tracks", "offsets", s.ut_events, EVENTS + 1);
  sl_test_input(t, "ut_tracks", "hit_offsets", s.ut_offsets, s.ut_events[EVENTS] + 1);
  sl_test_input(t, "ut_tracks", "hit_id", s.ut_id, s.ut_offsets[s.ut_events[EVENTS]]);
  sl_test_input(t, "ut_tracks", "hit_x", s.ut_x, s.ut_offsets[s.ut_events[EVENTS]]);
  sl_test_input(t, "ut_tracks", "hit_z", s.ut_z, s.ut_offsets[s.ut_events[EVENTS]]);
  sl_test_input(t, "ut_tracks", "hit_sector", s.ut_sector, s.ut_offsets[s.ut_events[EVENTS]]);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  sl_test_free(t);
}

static void assert_is_none(const struct sl_test *t, uint32_t i) {
  static const char *const states[] = {"x",   "y",   "z",   "tx",  "ty",  "qop", "c00",
                                       "c20", "c22", "c11", "c31", "c33", "chi2"};
  static const char *const fits[] = {"c44", "velo_chi2", "ut_chi2", "scifi_chi2", "x", "y", "tx", "ty"};
  for (size_t f = 0; f < sizeof states / sizeof states[0]; f++) assert_true(state_of(t, states[f], i) == 0);
  for (size_t f = 0; f < sizeof fits / sizeof fits[0]; f++) assert_true(fit_of(t, fits[f], i) == 0);
  assert_int_equal(ndof_of(t, i), 0);
  assert_int_equal(removed_of(t, i), 0);
  assert_int_equal(((const uint8_t *)sl_test_output(t, "fits", "scifi_hits"))[i], 0);
}

static void a_track_with_a_value_that_is_not_finite_has_zeros(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 41, 0);
  s.qop[0] = NAN, s.qop[1] = INFINITY;
  s.velo_x[s.velo_offsets[2]] = NAN, s.velo_y[s.velo_offsets[3] + 1] = INFINITY;
  s.scifi_x[scifi_hit_of(&s, 4, 3)] = NAN, s.scifi_z[scifi_hit_of(&s, 5, 0)] = INFINITY;
  s.ut_x[s.ut_offsets[s.ut_track[6]]] = NAN;
  struct sl_test *t = fit_new(&s, 1);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 7; i++) assert_is_none(t, i);
  for (uint32_t i = 7; i < TRACKS; i++) assert_true(ndof_of(t, i) > 5 && isfinite(state_of(t, "qop", i)));
  sl_test_free(t);
}

static void tracks_with_less_than_two_velo_hits_have_zeros(void **state) {
  static struct sample s;
  (void)state;
  make_sample(&s, 42, 0);
  s.velo_offsets[1] = 0, s.velo_offsets[2] = 1, s.velo_offsets[3] = 3; /* 0, 1 and 2 hits */
  struct sl_test *t = fit_new(&s, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_is_none(t, 0);
  assert_is_none(t, 1);
  for (uint32_t i = 2; i < TRACKS; i++) assert_true(ndof_of(t, i) > 0 && fit_of(t, "c44", i) > 0);
  sl_test_free(t);
}

/* Events that are not on the list keep what they had; the others have the same fits. */
static void events_are_independent(void **state) {
  static struct sample s;
  static const uint32_t list[] = {0, 3};
  (void)state;
  make_sample(&s, 43, 0.02);
  struct sl_test *all = fit_new(&s, 1), *some = fit_new(&s, 1);
  sl_test_list(some, list, 2);
  assert_int_equal(sl_test_run(all), 0);
  assert_int_equal(sl_test_run(some), 0);
  for (uint32_t i = 0; i < TRACKS; i++)
    if (i < event_tracks[1] || i >= event_tracks[3]) {
      assert_true(state_of(all, "qop", i) == state_of(some, "qop", i));
      assert_true(state_of(all, "chi2", i) == state_of(some, "chi2", i));
    }
  sl_test_free(all);
  sl_test_free(some);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fits_agree_with_double_precision),
      cmocka_unit_test(chi2_is_as_expected),
      cmocka_unit_test(a_hit_far_off_is_removed),
      cmocka_unit_test(a_fit_without_a_hit_is_accepted_if_it_is_better),
      cmocka_unit_test(tracks_do_not_need_the_ut),
      cmocka_unit_test(ut_tracks_need_their_geometry),
      cmocka_unit_test(a_track_with_a_value_that_is_not_finite_has_zeros),
      cmocka_unit_test(tracks_with_less_than_two_velo_hits_have_zeros),
      cmocka_unit_test(events_are_independent),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
