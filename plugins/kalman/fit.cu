/* kalman.fit: Kalman fit of long tracks through VELO, UT, magnet and SciFi: momentum, states at the beam line and in
 * front of the ECAL (README.md, "Fit").
 *   1. Filter of the VELO hits away from the beam, straight line to the end of the VELO.
 *   2. Sixteen legs from plane to plane: transport, scattering, update with the hit of the plane.
 *   3. If the worst hit is too far off: the same without it, accepted if chi2 / ndof falls; at most twice.
 *   4. Filter of the VELO hits towards the beam with the fitted momentum, to the closest approach to the beam line.
 * Determinism: tracks are independent; hits are used in the order of z.
 * Parallelism: one thread per track; on a CPU eight tracks in vector lanes, where a track that ends makes room for the
 * next one.
 */
#include "fit_tracks.h"
#include "forward/event_model.h"
#include "kalman/event_model.h"
#include "magnet/event_model.h"
#include "selections/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#define SL_ARGS fit_args
#define FIT(M)                                                                                                        \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit hit_id", "long tracks")                 \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_x hit_y hit_z", "VELO tracks with hits by descending z")   \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id hit_x hit_z hit_sector",                           \
    "UT tracks to which ut_track refers; if not connected: no UT hits")                                               \
  M(IN, scifi_hits, scifi_hits, "offsets x z pseudo_size", "SciFi hits to which hit refers")                          \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                                 \
  M(OPTIONAL_IN, ut_geometry, ut_geometry, "pitch", "pitch of the strips; needed for UT hits")                        \
  M(OPTIONAL_IN, ut_groups, ut_sector_groups, "layer_slope", "slopes of the strips; needed for UT hits")              \
  M(IN, scifi_geometry, scifi_geometry, "dxdy dzdy", "slopes of the fibres")                                          \
  M(IN, magnet, magnet_polarity, "sign", "polarity of the magnet")                                                    \
  M(IN, kalman, kalman_constants, "", "transport, scattering, energy loss and resolution")                            \
  M(OUT, states, long_states, "one state per track", SL_SHARES_OFFSETS(tracks))                                       \
  M(OUT, fits, kalman_fits, "one fit per track", SL_SHARES_OFFSETS(tracks))                                           \
  M(F32, hit_error, 0.0125, 1e-6, 10.0, "mm", "standard deviation of a VELO hit in x and in y")                       \
  M(F32, slope_variance, 0.01, 1e-9, 1.0, "", "initial variance of the slopes")                                       \
  M(F32, scattering, 1.48, 0.0, 1e6, "MeV2",                                                                          \
    "between VELO hits: slope variance from scattering, times p^2, at slope 0")                                       \
  M(F32, scattering_foil, 0.6, 0.0, 1e6, "MeV2", "addition to `scattering` for hits near the RF foil")                \
  M(F32, lever, 0.643, 0.0, 1.0, "", "between VELO hits: position deviation / (slope deviation * distance)")          \
  M(F32, lever_covariance, 0.526, 0.0, 1.0, "",                                                                       \
    "between VELO hits: covariance of position and slope / (slope variance * distance)")                              \
  M(F32, beam_scattering, 2.91, 0.0, 1e6, "MeV2",                                                                     \
    "last hit to beam line: slope variance from scattering, times p^2, at slope 0")                                   \
  M(F32, beam_lever, 0.808, 0.0, 1.0, "", "last hit to beam line: position deviation / (slope deviation * distance)") \
  M(F32, beam_lever_covariance, 0.793, 0.0, 1.0, "",                                                                  \
    "last hit to beam line: covariance of position and slope / (slope variance * distance)")                          \
  M(F32, foil_width, 15.0, 0.0, 1e3, "mm", "half width of the region near the RF foil, in x + y and y - x")           \
  M(F32, velo_energy_loss, 0.8, 0.0, 1e3, "MeV", "energy loss in the VELO per hit")                                   \
  M(F32, energy_loss_error, 5.0, 0.0, 1e3, "MeV", "standard deviation of the energy loss; adds to the error of q/p")  \
  M(F32, prior, 0.05, 1e-6, 1.0, "", "standard deviation of q/p of the input tracks, relative")                       \
  M(F32, max_increment, 9.0, 0.0, 1e9, "", "chi2 of a hit above which the track is fitted again without it")          \
  M(U32, max_removed, 2, 0, 2, "", "number of hits of a track that may be removed")                                   \
  M(U32, min_velo_hits, 3, 2, 26, "", "number of VELO hits that must remain when one is removed")                     \
  M(U32, min_ut_hits, 2, 0, 4, "", "number of UT hits that must remain when one is removed")                          \
  M(U32, min_scifi_hits, 9, 0, 12, "", "number of SciFi hits that must remain when one is removed")                   \
  M(F32, ecal_z, 12602.9, 9403.0, 20000.0, "mm", "z of the state in front of the ECAL")
SL_ARGUMENTS(fit, FIT);

static const float least_slope2 = 1e-6f; /* a track with a smaller tx^2 + ty^2 is not extrapolated to the beam */

/* --------------------------------------------------------------------------------------------------- input */

static SL_DEVICE void take_ut_hits(const struct fit_args *a, uint32_t event, uint32_t track, struct fit_tracks *t,
                                   uint32_t lane) {
  if (!a->ut_tracks.offsets || !a->ut_geometry.pitch || !a->ut_groups.layer_slope ||
      a->tracks.ut_track[track] == FORWARD_NO_TRACK)
    return;
  const uint32_t ut_track = a->ut_tracks.offsets[event] + a->tracks.ut_track[track];
  for (uint32_t h = a->ut_tracks.hit_offsets[ut_track]; h < a->ut_tracks.hit_offsets[ut_track + 1]; h++) {
    const uint32_t layer = a->ut_tracks.hit_id[h] >> UT_LAYER_BIT & 3;
    const float pitch = a->ut_geometry.pitch[a->ut_tracks.hit_sector[h]];
    if (t->variance[layer][lane] != 0.0f) continue; /* the first hit of a layer */
    take_hit(t, lane, layer, a->ut_tracks.hit_x[h], a->ut_tracks.hit_z[h], a->ut_groups.layer_slope[layer], 0.0f,
             pitch * pitch / 12.0f * a->kalman.ut_variance[0]);
    t->hits[UT][lane]++;
  }
}

static SL_DEVICE void take_scifi_hits(const struct fit_args *a, uint32_t event, uint32_t track, struct fit_tracks *t,
                                      uint32_t lane) {
  for (uint32_t h = a->tracks.hit_offsets[track]; h < a->tracks.hit_offsets[track + 1]; h++) {
    const uint32_t channel = a->tracks.hit_id[h] & ((1u << SCIFI_CHANNEL_BITS) - 1);
    const uint32_t layer = (channel >> SCIFI_LAYER_BIT) - SCIFI_STATION_LAYERS; /* stations count from 1 */
    const uint32_t mat = (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
    const uint32_t hit = a->scifi_hits.offsets[event] + a->tracks.hit[h], size = a->scifi_hits.pseudo_size[hit];
    if (layer >= SCIFI_LAYERS || t->variance[UT_LAYERS + layer][lane] != 0.0f) continue;
    take_hit(t, lane, UT_LAYERS + layer, a->scifi_hits.x[hit], a->scifi_hits.z[hit], a->scifi_geometry.dxdy[mat],
             a->scifi_geometry.dzdy[mat], a->kalman.scifi_variance[size < KALMAN_SIZES ? size : 0]);
    t->hits[SCIFI][lane]++;
  }
}

/* Takes a track into a lane; returns 0 if it has too few VELO hits. */
static SL_DEVICE uint32_t take_track(const struct fit_args *a, uint32_t event, uint32_t track, struct fit_tracks *t,
                                     uint32_t lane) {
  const uint32_t velo_track = a->velo_tracks.offsets[event] + a->tracks.velo_track[track];
  const uint32_t begin = a->velo_tracks.hit_offsets[velo_track], end = a->velo_tracks.hit_offsets[velo_track + 1];
  if (end < begin + 2) return 0;
  t->track[lane] = track;
  t->rounds[lane] = 0;
  t->qop[lane] = a->tracks.qop[track];
  t->velo_end[lane] = (int32_t)end;
  t->velo_count[lane] = (int32_t)(end - begin);
  t->velo_loss[lane] = a->velo_energy_loss * (float)(end - begin);
  t->hits[VELO][lane] = t->velo_count[lane];
  t->hits[UT][lane] = t->hits[SCIFI][lane] = 0;
  for (uint32_t k = 0; k < REMOVED_MAX; k++) t->removed[k][lane] = NO_HIT;
  for (uint32_t layer = 0; layer < LAYERS; layer++) take_hit(t, lane, layer, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f);
  take_ut_hits(a, event, track, t, lane);
  take_scifi_hits(a, event, track, t, lane);
  return 1;
}

/* ---------------------------------------------------------------------------------------------------- VELO */

/* VELO hits of the lanes, without the removed ones; numbers by ascending z. */
struct lane_hits {
  sl_i32s end, first, last, removed[REMOVED_MAX];
  const float *x, *y, *z;
  int32_t most; /* of all lanes */
};

static SL_DEVICE struct lane_hits lane_hits_of(const struct fit_args *a, const struct fit_tracks *t,
                                               const int32_t removed[REMOVED_MAX][SL_LANES]) {
  int32_t first[SL_LANES], last[SL_LANES];
  struct lane_hits hits;
  hits.x = a->velo_tracks.hit_x;
  hits.y = a->velo_tracks.hit_y;
  hits.z = a->velo_tracks.hit_z;
  hits.most = 0;
  SL_FOR_LANES (j) {
    first[j] = 0;
    last[j] = t->velo_count[j] - 1;
    while (first[j] == removed[0][j] || first[j] == removed[1][j]) first[j]++;
    while (last[j] == removed[0][j] || last[j] == removed[1][j]) last[j]--;
    hits.most = t->velo_count[j] > hits.most ? t->velo_count[j] : hits.most;
  }
  hits.end = sl_i32s_in(t->velo_end);
  hits.first = sl_i32s_in(first);
  hits.last = sl_i32s_in(last);
  for (uint32_t k = 0; k < REMOVED_MAX; k++) hits.removed[k] = sl_i32s_in(removed[k]);
  return hits;
}

static SL_DEVICE sl_i32s velo_index(const struct lane_hits *hits, sl_i32s n) { return hits->end - 1 - n; }

/* Scattering between hits, with more near the RF foil: README.md of selections, "Fit". */
static SL_DEVICE sl_f32s velo_scattering(const struct fit_args *a, sl_f32s x, sl_f32s y) {
  const sl_f32s sum = x + y, difference = y - x;
  const float width = a->foil_width;
  const sl_i32s above = SL_MASK(difference > -width) & SL_MASK(sum >= 0.0f) & SL_MASK(sum < width);
  const sl_i32s below = SL_MASK(difference < width) & SL_MASK(sum > -width) & SL_MASK(sum <= 0.0f);
  return a->scattering + sl_f32s_select(above | below, sl_f32s_of(a->scattering_foil), sl_f32s_of(0.0f));
}

static SL_DEVICE struct velo_state velo_begin(const struct fit_args *a, const struct lane_hits *hits, sl_i32s from,
                                              sl_i32s to) {
  const float variance = a->hit_error * a->hit_error;
  const sl_i32s first = velo_index(hits, from), last = velo_index(hits, to);
  const sl_f32s z = sl_f32s_gather(hits->z, first), dz = sl_f32s_gather(hits->z, last) - z;
  struct velo_state s;
  s.x = velo_line_begin(sl_f32s_gather(hits->x, first), sl_f32s_gather(hits->x, last), dz, variance, a->slope_variance);
  s.y = velo_line_begin(sl_f32s_gather(hits->y, first), sl_f32s_gather(hits->y, last), dz, variance, a->slope_variance);
  s.z = z;
  s.chi2 = sl_f32s_of(0.0f);
  return s;
}

/* Moves the lanes to their hit n, if they have it between the begin and the end of the fit. Returns the increments. */
static SL_DEVICE sl_f32s velo_next(const struct fit_args *a, const struct lane_hits *hits, int32_t n, sl_f32s qop2,
                                   sl_i32s is_inside, struct velo_state *s) {
  const sl_i32s number = sl_i32s_of((uint32_t)n);
  const sl_i32s hit = velo_index(hits, sl_i32s_clamp(number, hits->first, hits->last));
  const sl_i32s is_hit = is_inside & SL_MASK(number != hits->removed[0]) & SL_MASK(number != hits->removed[1]);
  const sl_f32s x = sl_f32s_gather(hits->x, hit), y = sl_f32s_gather(hits->y, hit), z = sl_f32s_gather(hits->z, hit);
  const sl_f32s dz = z - s->z;
  struct velo_material m;
  m.scattering = velo_scattering(a, x, y);
  m.lever = a->lever;
  m.lever_covariance = a->lever_covariance;
  struct velo_line line_x = s->x, line_y = s->y;
  const float variance = a->hit_error * a->hit_error;
  const sl_f32s increment = velo_step(&line_x, m, dz, x, variance, qop2) + velo_step(&line_y, m, dz, y, variance, qop2);
  const sl_f32s counted = sl_f32s_select(is_hit, increment, sl_f32s_of(0.0f));
  s->x = velo_line_select(is_hit, line_x, s->x);
  s->y = velo_line_select(is_hit, line_y, s->y);
  s->z = sl_f32s_select(is_hit, z, s->z);
  s->chi2 = s->chi2 + counted;
  return counted;
}

/* -------------------------------------------------------------------------------------------- the whole track */

/* Notes the increment of hit number `n` as the worst, if it is; only hits that may be removed. */
static SL_DEVICE void compare(struct fit_pass *p, sl_f32s increment, int32_t n, sl_i32s may_remove) {
  const sl_i32s is_worst = may_remove & SL_MASK(increment > p->worst);
  p->worst = sl_f32s_select(is_worst, increment, p->worst);
  p->worst_hit = sl_i32s_select(is_worst, sl_i32s_of((uint32_t)n), p->worst_hit);
}

static SL_DEVICE void pass_velo(const struct fit_args *a, const struct fit_tracks *t, struct fit_pass *p) {
  const struct lane_hits hits = lane_hits_of(a, t, t->removed);
  const sl_f32s qop = sl_f32s_in(t->qop), qop2 = qop * qop;
  const sl_i32s may_remove = SL_MASK(sl_i32s_in(t->hits[VELO]) > (int32_t)a->min_velo_hits);
  struct velo_state v = velo_begin(a, &hits, hits.first, hits.last);
  for (int32_t n = 1; n < hits.most; n++) {
    const sl_i32s number = sl_i32s_of((uint32_t)n);
    const sl_f32s increment =
        velo_next(a, &hits, n, qop2, SL_MASK(number > hits.first) & SL_MASK(number <= hits.last), &v);
    if (n < KALMAN_VELO_BITS) compare(p, increment, n, may_remove);
  }
  p->chi2[VELO] = v.chi2;
  struct velo_material none;
  none.scattering = sl_f32s_of(0.0f);
  none.lever = none.lever_covariance = 0.0f;
  const sl_f32s dz = a->kalman.plane_z[KALMAN_V] - v.z, zero = sl_f32s_of(0.0f), prior = a->prior * qop;
  velo_move(&v.x, none, dz, zero);
  velo_move(&v.y, none, dz, zero);
  struct fit_state *s = &p->s;
  s->v[STATE_X] = v.x.u;
  s->v[STATE_Y] = v.y.u;
  s->v[STATE_TX] = v.x.t;
  s->v[STATE_TY] = v.y.t;
  s->v[STATE_QOP] = qop;
  STEPS_UNROLL
  for (int i = 0; i < TRIANGLE; i++) s->c[i] = zero;
  s->c[at(STATE_X, STATE_X)] = v.x.c_uu;
  s->c[at(STATE_TX, STATE_X)] = v.x.c_ut;
  s->c[at(STATE_TX, STATE_TX)] = v.x.c_tt;
  s->c[at(STATE_Y, STATE_Y)] = v.y.c_uu;
  s->c[at(STATE_TY, STATE_Y)] = v.y.c_ut;
  s->c[at(STATE_TY, STATE_TY)] = v.y.c_tt;
  s->c[at(STATE_QOP, STATE_QOP)] = prior * prior;
}

static SL_DEVICE void pass_leg(const struct fit_args *a, int leg, const float *coefficients, sl_f32s velo_loss,
                               struct fit_state *s) {
  const float *scales = a->kalman.scales + leg * KALMAN_LEG_SCALES, *noise = a->kalman.noise + leg * KALMAN_LEG_NOISES;
  const struct kalman_leg_scales l = {scales[0], scales[1], scales[2], scales[3], scales[4], scales[5], scales[6]};
  const float polarity = a->magnet.sign[0];
  const sl_f32s loss = velo_loss + a->kalman.energy_loss[leg];
  switch (kalman_kind(leg)) {
    case KALMAN_FIRST:
      move_state(KALMAN_FIRST, &l, coefficients, polarity, noise, loss, s);
      break;
    case KALMAN_SHORT:
      move_state(KALMAN_SHORT, &l, coefficients, polarity, noise, loss, s);
      break;
    case KALMAN_GAP:
      move_state(KALMAN_GAP, &l, coefficients, polarity, noise, loss, s);
      break;
    default:
      move_state(KALMAN_LONG, &l, coefficients, polarity, noise, loss, s);
      break;
  }
}

static SL_DEVICE void pass_layers(const struct fit_args *a, const struct fit_tracks *t, struct fit_pass *p) {
  const float *coefficients = a->kalman.coefficients;
  const sl_i32s removed[REMOVED_MAX] = {sl_i32s_in(t->removed[0]), sl_i32s_in(t->removed[1])};
  const sl_i32s may_remove[2] = {SL_MASK(sl_i32s_in(t->hits[UT]) > (int32_t)a->min_ut_hits),
                                 SL_MASK(sl_i32s_in(t->hits[SCIFI]) > (int32_t)a->min_scifi_hits)};
  const sl_f32s velo_loss = sl_f32s_in(t->velo_loss);
  p->chi2[UT] = p->chi2[SCIFI] = sl_f32s_of(0.0f);
  SL_ROLLED
  for (int leg = 0; leg < KALMAN_LEGS; leg++) {
    const int32_t n = KALMAN_UT_BIT + leg;
    const int kind = kalman_kind(leg), is_scifi = leg >= UT_LAYERS;
    struct fit_hit hit;
    pass_leg(a, leg, coefficients, velo_loss, &p->s);
    coefficients += 2 * (kalman_term_count(kind, 0) + kalman_term_count(kind, 1));
    hit.variance = sl_f32s_in(t->variance[leg]);
    hit.is_hit = SL_MASK(hit.variance > 0.0f) & SL_MASK(removed[0] != n) & SL_MASK(removed[1] != n);
    if (!sl_lanes_any(hit.is_hit)) continue;
    hit.x = sl_f32s_in(t->x[leg]);
    hit.z = sl_f32s_in(t->z[leg]);
    hit.dxdy = sl_f32s_in(t->dxdy[leg]);
    hit.dzdy = sl_f32s_in(t->dzdy[leg]);
    const sl_f32s increment = update(&hit, a->kalman.plane_z[leg + 1], &p->s);
    if (is_scifi)
      p->chi2[SCIFI] = p->chi2[SCIFI] + increment;
    else
      p->chi2[UT] = p->chi2[UT] + increment;
    compare(p, increment, n, is_scifi ? may_remove[1] : may_remove[0]);
  }
}

static SL_DEVICE void fit_tracks_once(const struct fit_args *a, const struct fit_tracks *t, struct fit_pass *p) {
  p->worst = sl_f32s_of(0.0f);
  p->worst_hit = sl_i32s_of(NO_HIT);
  pass_velo(a, t, p);
  pass_layers(a, t, p);
}

/* ------------------------------------------------------------------------------------------------- outliers */

static SL_DEVICE void take_numbers(const struct fit_args *a, const struct fit_tracks *t, const struct fit_pass *p,
                                   struct fit_numbers *n) {
  const sl_f32s qop = p->s.v[STATE_QOP], loss_error = a->energy_loss_error * (qop * qop);
  struct fit_result *r = &n->result;
  sl_f32s_out(r->qop, qop);
  sl_f32s_out(r->c44, p->s.c[at(STATE_QOP, STATE_QOP)] + loss_error * loss_error);
  sl_f32s_out(r->x, p->s.v[STATE_X]);
  sl_f32s_out(r->y, p->s.v[STATE_Y]);
  sl_f32s_out(r->tx, p->s.v[STATE_TX]);
  sl_f32s_out(r->ty, p->s.v[STATE_TY]);
  for (uint32_t d = 0; d < DETECTORS; d++) sl_f32s_out(r->chi2[d], p->chi2[d]);
  memcpy(r->hits, t->hits, sizeof r->hits);
  memcpy(r->removed, t->removed, sizeof r->removed);
  sl_f32s_out(n->worst, p->worst);
  sl_i32s_out(n->worst_hit, p->worst_hit);
}

/* Accepts or refuses the last fit of a lane. Returns 1 if a hit is to be removed for another fit, 0 at the end. */
static SL_DEVICE uint32_t judge(const struct fit_args *a, struct fit_tracks *t, const struct fit_numbers *n,
                                uint32_t lane) {
  const int32_t ndof = ndof_of(&n->result, lane), ndof_before = ndof_of(&t->accepted, lane);
  const uint32_t round = t->rounds[lane];
  if (round > 0) {
    const float chi2 = chi2_of(&n->result, lane), chi2_before = chi2_of(&t->accepted, lane);
    if (!(ndof > 0 && ndof_before > 0 && chi2 * (float)ndof_before < chi2_before * (float)ndof)) return 0;
  }
  copy_lane(&t->accepted, &n->result, lane);
  if (round >= a->max_removed || !(n->worst[lane] > a->max_increment)) return 0;
  const int32_t hit = n->worst_hit[lane];
  t->removed[round][lane] = hit;
  t->hits[hit < KALMAN_UT_BIT ? VELO : hit < KALMAN_SCIFI_BIT ? UT : SCIFI][lane]--;
  t->rounds[lane] = round + 1;
  return 1;
}

/* --------------------------------------------------------------------------------------------------- output */

/* Fits to the VELO hits towards the beam, with the accepted momentum and hits. */
static SL_DEVICE struct velo_state fit_to_beam(const struct fit_args *a, const struct fit_tracks *t) {
  const struct lane_hits hits = lane_hits_of(a, t, t->accepted.removed);
  const sl_f32s qop = sl_f32s_in(t->accepted.qop), qop2 = qop * qop;
  struct velo_state s = velo_begin(a, &hits, hits.last, hits.first);
  for (int32_t n = hits.most - 2; n >= 0; n--) {
    const sl_i32s number = sl_i32s_of((uint32_t)n);
    velo_next(a, &hits, n, qop2, SL_MASK(number >= hits.first) & SL_MASK(number < hits.last), &s);
  }
  const sl_f32s tx2 = s.x.t * s.x.t, ty2 = s.y.t * s.y.t, slope2 = tx2 + ty2, n2 = 1.0f + slope2;
  const sl_f32s to_beam = ((a->geometry.beam[0] - s.x.u) * s.x.t + (a->geometry.beam[1] - s.y.u) * s.y.t) / slope2;
  const sl_f32s noise = n2 * sl_f32s_sqrt(n2) * qop2 * a->beam_scattering;
  const sl_i32s moves = SL_MASK(slope2 >= least_slope2);
  struct velo_material m;
  m.scattering = sl_f32s_of(0.0f);
  m.lever = a->beam_lever;
  m.lever_covariance = a->beam_lever_covariance;
  struct velo_line x = s.x, y = s.y;
  velo_move(&x, m, to_beam, (1.0f + tx2) * noise);
  velo_move(&y, m, to_beam, (1.0f + ty2) * noise);
  s.x = velo_line_select(moves, x, s.x);
  s.y = velo_line_select(moves, y, s.y);
  s.z = s.z + sl_f32s_select(moves, to_beam, sl_f32s_of(0.0f));
  return s;
}

struct line_numbers {
  float u[SL_LANES], t[SL_LANES], c_uu[SL_LANES], c_ut[SL_LANES], c_tt[SL_LANES];
};
struct beam_numbers {
  struct line_numbers x, y;
  float z[SL_LANES];
};

static SL_DEVICE void take_line(const struct velo_line *line, struct line_numbers *n) {
  sl_f32s_out(n->u, line->u);
  sl_f32s_out(n->t, line->t);
  sl_f32s_out(n->c_uu, line->c_uu);
  sl_f32s_out(n->c_ut, line->c_ut);
  sl_f32s_out(n->c_tt, line->c_tt);
}

static SL_DEVICE float size_of_line(const struct line_numbers *n, uint32_t j) {
  return sl_abs_f32(n->u[j]) + sl_abs_f32(n->t[j]) + sl_abs_f32(n->c_uu[j]) + sl_abs_f32(n->c_ut[j]) +
         sl_abs_f32(n->c_tt[j]);
}

/* Whether all numbers of a lane are finite. */
static SL_DEVICE int is_fitted(const struct beam_numbers *b, const struct fit_result *r, uint32_t j) {
  const float behind = sl_abs_f32(r->x[j]) + sl_abs_f32(r->y[j]) + sl_abs_f32(r->tx[j]) + sl_abs_f32(r->ty[j]);
  const float momentum = sl_abs_f32(r->qop[j]) + sl_abs_f32(r->c44[j]) + sl_abs_f32(chi2_of(r, j));
  return sl_is_finite(size_of_line(&b->x, j) + size_of_line(&b->y, j) + sl_abs_f32(b->z[j]) + behind + momentum);
}

static SL_DEVICE uint64_t bit_of(int32_t hit) { return hit == NO_HIT ? 0 : (uint64_t)1 << hit; }

static SL_DEVICE void write_nothing(const struct fit_args *a, uint32_t i) {
  a->states.x[i] = a->states.y[i] = a->states.z[i] = a->states.tx[i] = a->states.ty[i] = a->states.qop[i] = 0.0f;
  a->states.c00[i] = a->states.c20[i] = a->states.c22[i] = 0.0f;
  a->states.c11[i] = a->states.c31[i] = a->states.c33[i] = a->states.chi2[i] = 0.0f;
  a->states.ndof[i] = 0;
  a->fits.c44[i] = a->fits.velo_chi2[i] = a->fits.ut_chi2[i] = a->fits.scifi_chi2[i] = 0.0f;
  a->fits.velo_hits[i] = a->fits.ut_hits[i] = a->fits.scifi_hits[i] = 0;
  a->fits.removed[i] = 0;
  a->fits.x[i] = a->fits.y[i] = a->fits.tx[i] = a->fits.ty[i] = 0.0f;
}

static SL_DEVICE void write_track(const struct fit_args *a, uint32_t i, const struct beam_numbers *b,
                                  const struct fit_result *r, uint32_t j) {
  const int32_t ndof = ndof_of(r, j);
  const float dz = a->ecal_z - a->kalman.plane_z[KALMAN_PLANES - 1];
  if (!is_fitted(b, r, j)) {
    write_nothing(a, i);
    return;
  }
  a->states.x[i] = b->x.u[j];
  a->states.y[i] = b->y.u[j];
  a->states.z[i] = b->z[j];
  a->states.tx[i] = b->x.t[j];
  a->states.ty[i] = b->y.t[j];
  a->states.qop[i] = r->qop[j];
  a->states.c00[i] = b->x.c_uu[j];
  a->states.c20[i] = b->x.c_ut[j];
  a->states.c22[i] = b->x.c_tt[j];
  a->states.c11[i] = b->y.c_uu[j];
  a->states.c31[i] = b->y.c_ut[j];
  a->states.c33[i] = b->y.c_tt[j];
  a->states.chi2[i] = chi2_of(r, j);
  a->states.ndof[i] = ndof > 0 ? (uint32_t)ndof : 0u;
  a->fits.c44[i] = r->c44[j];
  a->fits.velo_chi2[i] = r->chi2[VELO][j];
  a->fits.ut_chi2[i] = r->chi2[UT][j];
  a->fits.scifi_chi2[i] = r->chi2[SCIFI][j];
  a->fits.velo_hits[i] = (uint8_t)r->hits[VELO][j];
  a->fits.ut_hits[i] = (uint8_t)r->hits[UT][j];
  a->fits.scifi_hits[i] = (uint8_t)r->hits[SCIFI][j];
  a->fits.removed[i] = bit_of(r->removed[0][j]) | bit_of(r->removed[1][j]);
  a->fits.x[i] = r->x[j] + r->tx[j] * dz;
  a->fits.y[i] = r->y[j] + r->ty[j] * dz;
  a->fits.tx[i] = r->tx[j];
  a->fits.ty[i] = r->ty[j];
}

/* Writes the accepted fits of the lanes in `is_ended`. */
static SL_DEVICE void write_tracks(const struct fit_args *a, const struct fit_tracks *t, uint32_t is_ended) {
  const struct velo_state s = fit_to_beam(a, t);
  struct beam_numbers b;
  take_line(&s.x, &b.x);
  take_line(&s.y, &b.y);
  sl_f32s_out(b.z, s.z);
  SL_FOR_LANES (j)
    if (is_ended >> j & 1) write_track(a, t->track[j], &b, &t->accepted, j);
}

#if defined(SL_TARGET_CPU)
/* The next track of the slice that can be fitted. */
struct track_cursor {
  uint32_t index, event, next, end; /* index in the list of events */
};

static uint32_t take_next(const struct fit_args *a, struct track_cursor *c, struct fit_tracks *t, uint32_t lane) {
  for (;;) {
    while (c->next < c->end) {
      const uint32_t track = c->next++;
      if (take_track(a, c->event, track, t, lane)) return 1;
      write_nothing(a, track);
    }
    if (c->index >= *a->events.count) return 0;
    c->event = sl_event_at(&a->events, c->index);
    c->next = a->tracks.offsets[c->event];
    c->end = a->tracks.offsets[c->event + 1];
    c->index += gridDim.x;
  }
}

SL_KERNEL(kalman_fit, struct fit_args) {
  struct track_cursor cursor = {blockIdx.x, 0, 0, 0};
  struct fit_tracks tracks;
  struct fit_pass pass;
  struct fit_numbers numbers;
  uint32_t is_busy = 0, is_used = 0; /* bits of lanes */
  memset(&tracks, 0, sizeof tracks);
  for (;;) {
    uint32_t is_ended = 0;
    SL_FOR_LANES (j)
      if (!(is_busy >> j & 1) && take_next(&a, &cursor, &tracks, j)) is_busy |= 1u << j;
    if (!is_busy) break;
    SL_FOR_LANES (j) { /* lanes that never had a track need readable hits */
      if (is_busy >> j & 1 || is_used >> j & 1) continue;
      tracks.velo_end[j] = tracks.velo_end[0];
      tracks.velo_count[j] = tracks.velo_count[0];
    }
    is_used |= is_busy;
    fit_tracks_once(&a, &tracks, &pass);
    take_numbers(&a, &tracks, &pass, &numbers);
    SL_FOR_LANES (j)
      if (is_busy >> j & 1 && !judge(&a, &tracks, &numbers, j)) is_ended |= 1u << j;
    if (is_ended) write_tracks(&a, &tracks, is_ended);
    is_busy &= ~is_ended;
  }
}
#else
/* The event of a track: the last one that begins at or before it and has tracks. */
static SL_DEVICE uint32_t event_of(const struct fit_args *a, uint32_t track) {
  uint32_t low = 0, high = *a->events.count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (a->tracks.offsets[middle] <= track)
      low = middle;
    else
      high = middle;
  }
  return low;
}

SL_KERNEL(kalman_fit, struct fit_args) {
  SL_FOR_ITEMS (i, a.events, a.tracks.offsets) {
    const uint32_t event = a.events.numbers ? sl_event - 1 : event_of(&a, i);
    struct fit_tracks tracks;
    struct fit_pass pass;
    struct fit_numbers numbers;
    if (!take_track(&a, event, i, &tracks, 0)) {
      write_nothing(&a, i);
      continue;
    }
    do {
      fit_tracks_once(&a, &tracks, &pass);
      take_numbers(&a, &tracks, &pass, &numbers);
    } while (judge(&a, &tracks, &numbers, 0));
    write_tracks(&a, &tracks, 1);
  }
}
#endif

static int run(const struct sl_launch *l, const struct fit_args *a) {
  if (a->ut_tracks.offsets && (!a->ut_geometry.pitch || !a->ut_groups.layer_slope)) {
    l->services->message(l->services->context, SL_ERROR, "ut_tracks needs ut_geometry and ut_groups, too");
    return SL_EINVAL;
  }
  return SL_LAUNCH(l, kalman_fit, SL_PER_ITEM(a->tracks), *a);
}

SL_ALGORITHM(fit, "Kalman fit of long tracks through VELO, UT and SciFi; gives momenta and states", 64, run);
