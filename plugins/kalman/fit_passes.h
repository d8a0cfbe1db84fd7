/* fit_passes.h: the filter of kalman.fit and kalman.residuals, from the VELO hits to the last layer (README.md, "Fit").
 *   1. take_track: hits of a track.
 *   2. pass_velo: filter of the VELO hits away from the beam, straight line to the end of the VELO.
 *   3. pass_layers: sixteen legs from plane to plane: transport, scattering, update with the hit of the plane.
 * The algorithm includes it after its arguments, struct SL_ARGS with FIT_INPUTS and FIT_PROPERTIES, and after its
 * struct fit_pass with the member `struct fit_state s`; it defines note_velo_hit and use_layer_hit.
 */
#ifndef KALMAN_FIT_PASSES_H
#define KALMAN_FIT_PASSES_H

#include "fit_tracks.h"

/* --------------------------------------------------------------------------------------------------- input */

/* The fit uses the first hit of a track in each layer, among its first 15 hits in the UT and its first 15 in the SciFi.
 */
static SL_DEVICE void take_ut_hits(const struct SL_ARGS *a, uint32_t event, uint32_t track, struct fit_tracks *t,
                                   uint32_t lane) {
  t->ut_begin[lane] = 0;
  if (!a->ut_tracks.offsets || a->tracks.ut_track[track] == FORWARD_NO_TRACK) return;
  const uint32_t ut_track = a->ut_tracks.offsets[event] + a->tracks.ut_track[track];
  const uint32_t begin = a->ut_tracks.hit_offsets[ut_track], end = a->ut_tracks.hit_offsets[ut_track + 1];
  t->ut_begin[lane] = begin;
  for (uint32_t h = begin; h < end; h++) take_layer_hit(t, lane, a->ut_tracks.hit_id[h] >> UT_LAYER_BIT & 3, h - begin);
}

static SL_DEVICE void take_scifi_hits(const struct SL_ARGS *a, uint32_t track, struct fit_tracks *t, uint32_t lane) {
  const uint32_t begin = a->tracks.hit_offsets[track], end = a->tracks.hit_offsets[track + 1];
  t->scifi_begin[lane] = begin;
  for (uint32_t h = begin; h < end; h++) {
    const uint32_t channel = a->tracks.hit_id[h] & ((1u << SCIFI_CHANNEL_BITS) - 1);
    const uint32_t layer = (channel >> SCIFI_LAYER_BIT) - SCIFI_STATION_LAYERS; /* stations count from 1 */
    if (layer < SCIFI_LAYERS) take_layer_hit(t, lane, UT_LAYERS + layer, h - begin);
  }
}

/* The hits of a layer are loaded in three steps, with a leg of the fit between them, so that a GPU does not wait:
 * numbers that say where they are (find_hits), their numbers (load_hits), and what is computed from these (hits_of). */
enum { NO_PLACE = -1 };
struct hit_places {
  int32_t hit[SL_LANES]; /* UT: index of the hit; SciFi: the same relative to the event; or NO_PLACE */
  uint32_t id[SL_LANES]; /* UT: sector; SciFi: hit_id */
};
struct hit_numbers {
  float x[SL_LANES], z[SL_LANES], dxdy[SL_LANES], dzdy[SL_LANES], pitch[SL_LANES]; /* UT: pitch */
  uint32_t size[SL_LANES];                                                         /* SciFi: pseudo_size, or NO_SIZE */
};
enum { NO_SIZE = 255 };

static SL_DEVICE struct hit_places find_hits(const struct SL_ARGS *a, const struct fit_tracks *t, uint32_t layer) {
  struct hit_places p;
  SL_FOR_LANES (j) {
    const uint32_t n = layer < LAYERS ? layer_hit(t, j, layer) : NO_LAYER_HIT;
    p.hit[j] = NO_PLACE;
    p.id[j] = 0;
    if (n == NO_LAYER_HIT) continue;
    if (layer < UT_LAYERS) {
      p.hit[j] = (int32_t)(t->ut_begin[j] + n);
      p.id[j] = a->ut_tracks.hit_sector[p.hit[j]];
    } else {
      p.hit[j] = a->tracks.hit[t->scifi_begin[j] + n];
      p.id[j] = a->tracks.hit_id[t->scifi_begin[j] + n];
    }
  }
  return p;
}

static SL_DEVICE void load_scifi_hit(const struct SL_ARGS *a, uint32_t h, uint32_t id, uint32_t lane,
                                     struct hit_numbers *hit) {
  const uint32_t mat = ((id & ((1u << SCIFI_CHANNEL_BITS) - 1)) >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
  hit->x[lane] = a->scifi_hits.x[h];
  hit->z[lane] = a->scifi_hits.z[h];
  hit->dxdy[lane] = a->scifi_geometry.dxdy[mat];
  hit->dzdy[lane] = a->scifi_geometry.dzdy[mat];
  hit->size[lane] = a->scifi_hits.pseudo_size[h];
}

static SL_DEVICE struct hit_numbers load_hits(const struct SL_ARGS *a, const struct fit_tracks *t,
                                              const struct hit_places *places, uint32_t layer) {
  struct hit_numbers n;
  SL_FOR_LANES (j) {
    const int32_t h = places->hit[j];
    n.x[j] = n.z[j] = n.dxdy[j] = n.dzdy[j] = n.pitch[j] = 0.0f;
    n.size[j] = NO_SIZE;
    if (h == NO_PLACE) continue;
    if (layer < UT_LAYERS) {
      n.x[j] = a->ut_tracks.hit_x[h];
      n.z[j] = a->ut_tracks.hit_z[h];
      n.dxdy[j] = a->ut_groups.layer_slope[layer];
      n.pitch[j] = a->ut_geometry.pitch[places->id[j]];
    } else {
      load_scifi_hit(a, t->scifi_offset[j] + (uint32_t)h, places->id[j], j, &n);
    }
  }
  return n;
}

static SL_DEVICE struct fit_hit hits_of(const struct SL_ARGS *a, const struct hit_numbers *n, uint32_t layer) {
  float variance[SL_LANES];
  struct fit_hit hit;
  SL_FOR_LANES (j)
    variance[j] = layer < UT_LAYERS       ? n->pitch[j] * n->pitch[j] / 12.0f * a->kalman.ut_variance[0]
                  : n->size[j] == NO_SIZE ? 0.0f
                                          : a->kalman.scifi_variance[n->size[j] < KALMAN_SIZES ? n->size[j] : 0];
  hit.x = sl_f32s_in(n->x);
  hit.z = sl_f32s_in(n->z);
  hit.dxdy = sl_f32s_in(n->dxdy);
  hit.dzdy = sl_f32s_in(n->dzdy);
  hit.variance = sl_f32s_in(variance);
  hit.is_hit = SL_MASK(hit.variance > 0.0f);
  return hit;
}

static SL_DEVICE void take_velo_hits(const struct SL_ARGS *a, uint32_t velo_track, struct fit_tracks *t,
                                     uint32_t lane) {
  const uint32_t begin = a->velo_tracks.hit_offsets[velo_track], end = a->velo_tracks.hit_offsets[velo_track + 1];
  t->velo_end[lane] = (int32_t)end;
  t->velo_count[lane] = (int32_t)(end - begin);
}

/* Takes a track of an event into a lane, with all its hits; `velo_track`: index in the slice. */
static SL_DEVICE void take_track(const struct SL_ARGS *a, uint32_t event, uint32_t track, uint32_t velo_track,
                                 struct fit_tracks *t, uint32_t lane) {
  take_velo_hits(a, velo_track, t, lane);
  t->track[lane] = track;
  t->qop[lane] = a->tracks.qop[track];
  t->velo_loss[lane] = a->velo_energy_loss * (float)t->velo_count[lane];
  t->hits[VELO][lane] = t->velo_count[lane];
  t->hits[UT][lane] = t->hits[SCIFI][lane] = 0;
  t->by_layer[lane] = UINT64_MAX;
  t->scifi_offset[lane] = a->scifi_hits.offsets[event];
  take_ut_hits(a, event, track, t, lane);
  take_scifi_hits(a, track, t, lane);
}

/* ---------------------------------------------------------------------------------------------------- VELO */

/* VELO hits of the lanes; numbers by ascending z. */
struct lane_hits {
  sl_i32s end, first, last, highest; /* first, last: of the used hits; highest: of all hits */
  sl_i32s removed[REMOVED_MAX];
  const float *x, *y, *z;
  int32_t most; /* of all lanes */
};

static SL_DEVICE struct lane_hits lane_hits_of(const struct SL_ARGS *a, const struct fit_tracks *t) {
  int32_t first[SL_LANES], last[SL_LANES];
  struct lane_hits hits;
  hits.x = a->velo_tracks.hit_x;
  hits.y = a->velo_tracks.hit_y;
  hits.z = a->velo_tracks.hit_z;
  hits.most = 0;
  SL_FOR_LANES (j) {
    first[j] = first_velo_hit(t, j);
    last[j] = t->velo_count[j] - 1;
    while (last[j] == t->removed[0][j] || last[j] == t->removed[1][j]) last[j]--;
    hits.most = t->velo_count[j] > hits.most ? t->velo_count[j] : hits.most;
  }
  hits.end = sl_i32s_in(t->velo_end);
  hits.first = sl_i32s_in(first);
  hits.last = sl_i32s_in(last);
  hits.highest = sl_i32s_in(t->velo_count) - 1;
  for (uint32_t k = 0; k < REMOVED_MAX; k++) hits.removed[k] = sl_i32s_in(t->removed[k]);
  return hits;
}

static SL_DEVICE sl_i32s velo_index(const struct lane_hits *hits, sl_i32s n) { return hits->end - 1 - n; }

/* Scattering between hits, with more near the RF foil: README.md of selections, "Fit". */
static SL_DEVICE sl_f32s velo_scattering(const struct SL_ARGS *a, sl_f32s x, sl_f32s y) {
  const sl_f32s sum = x + y, difference = y - x;
  const float width = a->foil_width;
  const sl_i32s above = SL_MASK(difference > -width) & SL_MASK(sum >= 0.0f) & SL_MASK(sum < width);
  const sl_i32s below = SL_MASK(difference < width) & SL_MASK(sum > -width) & SL_MASK(sum <= 0.0f);
  return a->scattering + sl_f32s_select(above | below, sl_f32s_of(a->scattering_foil), sl_f32s_of(0.0f));
}

static SL_DEVICE struct velo_state velo_begin(const struct SL_ARGS *a, const struct lane_hits *hits, sl_i32s from,
                                              sl_i32s to, sl_f32s qop) {
  const float variance = a->hit_error * a->hit_error;
  const sl_i32s first = velo_index(hits, from), last = velo_index(hits, to);
  const sl_f32s z = sl_f32s_gather(hits->z, first), dz = sl_f32s_gather(hits->z, last) - z;
  struct velo_state s;
  s.x = velo_line_begin(sl_f32s_gather(hits->x, first), sl_f32s_gather(hits->x, last), dz, variance, a->slope_variance);
  s.y = velo_line_begin(sl_f32s_gather(hits->y, first), sl_f32s_gather(hits->y, last), dz, variance, a->slope_variance);
  s.z = z;
  s.chi2 = sl_f32s_of(0.0f);
  s.noise_x = velo_noise(s.x.t, qop);
  s.noise_y = velo_noise(s.y.t, qop);
  return s;
}

/* Measurements of a VELO hit; chi2: of both, 0 in lanes that do not use it. */
struct velo_measurement {
  struct measurement x, y;
  sl_f32s z, chi2;
};

/* Moves the lanes to their hit n, if they use it and have it between the begin and the end of the fit. */
static SL_DEVICE struct velo_measurement velo_next(const struct SL_ARGS *a, const struct lane_hits *hits, int32_t n,
                                                   sl_i32s is_inside, struct velo_state *s) {
  const sl_i32s number = sl_i32s_of((uint32_t)n);
  const sl_i32s hit = velo_index(hits, sl_i32s_clamp(number, hits->first, hits->highest));
  const sl_i32s is_hit = is_inside & SL_MASK(number != hits->removed[0]) & SL_MASK(number != hits->removed[1]);
  const sl_f32s x = sl_f32s_gather(hits->x, hit), y = sl_f32s_gather(hits->y, hit), z = sl_f32s_gather(hits->z, hit);
  const sl_f32s dz = z - s->z, scattering = velo_scattering(a, x, y);
  const struct velo_material m = {a->lever, a->lever_covariance};
  struct velo_line line_x = s->x, line_y = s->y;
  const float variance = a->hit_error * a->hit_error;
  struct velo_measurement measured;
  measured.x = velo_step(&line_x, m, dz, x, variance, s->noise_x * scattering);
  measured.y = velo_step(&line_y, m, dz, y, variance, s->noise_y * scattering);
  measured.z = z;
  measured.chi2 = sl_f32s_select(is_hit, measured.x.chi2 + measured.y.chi2, sl_f32s_of(0.0f));
  s->x = velo_line_select(is_hit, line_x, s->x);
  s->y = velo_line_select(is_hit, line_y, s->y);
  s->z = sl_f32s_select(is_hit, z, s->z);
  s->chi2 = s->chi2 + measured.chi2;
  return measured;
}

/* -------------------------------------------------------------------------------------------- the whole track */

/* The algorithm's use of the measurements of VELO hit n, from 1 on, in lanes that have it. */
static SL_DEVICE void note_velo_hit(const struct SL_ARGS *a, const struct fit_tracks *t, const struct lane_hits *hits,
                                    int32_t n, const struct velo_measurement *m, struct fit_pass *p);
/* Updates p->s with the hits of the layer at the end of a leg. */
static SL_DEVICE void use_layer_hit(const struct SL_ARGS *a, const struct fit_tracks *t, int leg,
                                    const struct fit_hit *hit, struct fit_pass *p);

/* Filters the VELO hits away from the beam, up to the plane V. Returns their chi2. */
static SL_DEVICE sl_f32s pass_velo(const struct SL_ARGS *a, const struct fit_tracks *t, struct fit_pass *p) {
  const struct lane_hits hits = lane_hits_of(a, t);
  const sl_f32s qop = sl_f32s_in(t->qop);
  struct velo_state v = velo_begin(a, &hits, hits.first, hits.last, qop);
  for (int32_t n = 1; n < hits.most; n++) {
    const sl_i32s number = sl_i32s_of((uint32_t)n);
    const struct velo_measurement m =
        velo_next(a, &hits, n, SL_MASK(number > hits.first) & SL_MASK(number <= hits.last), &v);
    note_velo_hit(a, t, &hits, n, &m, p);
  }
  const struct velo_material none = {0.0f, 0.0f};
  const sl_f32s dz = a->kalman.plane_z[KALMAN_V] - v.z, zero = sl_f32s_of(0.0f), prior = a->prior * qop;
  velo_move(&v.x, none, dz, zero);
  velo_move(&v.y, none, dz, zero);
  struct fit_state *s = &p->s;
  s->v[STATE_X] = v.x.u;
  s->v[STATE_Y] = v.y.u;
  s->v[STATE_TX] = v.x.t;
  s->v[STATE_TY] = v.y.t;
  s->v[STATE_QOP] = qop;
  s->x_rest = zero;
  STEPS_UNROLL
  for (int i = 0; i < TRIANGLE; i++) s->c[i] = zero;
  s->c[at(STATE_X, STATE_X)] = v.x.c_uu;
  s->c[at(STATE_TX, STATE_X)] = v.x.c_ut;
  s->c[at(STATE_TX, STATE_TX)] = v.x.c_tt;
  s->c[at(STATE_Y, STATE_Y)] = v.y.c_uu;
  s->c[at(STATE_TY, STATE_Y)] = v.y.c_ut;
  s->c[at(STATE_TY, STATE_TY)] = v.y.c_tt;
  s->c[at(STATE_QOP, STATE_QOP)] = prior * prior;
  return v.chi2;
}

static SL_DEVICE void pass_leg(const struct SL_ARGS *a, int leg, const float *coefficients, sl_f32s velo_loss,
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

/* Transports the state from plane to plane and updates it with the hits. */
static SL_DEVICE void pass_layers(const struct SL_ARGS *a, const struct fit_tracks *t, struct fit_pass *p) {
  const float *coefficients = a->kalman.coefficients;
  const sl_f32s velo_loss = sl_f32s_in(t->velo_loss);
  struct hit_places places = find_hits(a, t, 0);
  SL_ROLLED
  for (int leg = 0; leg < KALMAN_LEGS; leg++) {
    const int kind = kalman_kind(leg);
    const struct hit_numbers hits = load_hits(a, t, &places, (uint32_t)leg);
    places = find_hits(a, t, (uint32_t)leg + 1);
    pass_leg(a, leg, coefficients, velo_loss, &p->s);
    coefficients += 2 * (kalman_term_count(kind, 0) + kalman_term_count(kind, 1));
    const struct fit_hit hit = hits_of(a, &hits, (uint32_t)leg);
    if (sl_lanes_any(hit.is_hit)) use_layer_hit(a, t, leg, &hit, p);
  }
}

static int check_inputs(const struct sl_launch *l, const struct SL_ARGS *a) {
  if (!a->ut_tracks.offsets || (a->ut_geometry.pitch && a->ut_groups.layer_slope)) return SL_OK;
  l->services->message(l->services->context, SL_ERROR, "ut_tracks needs ut_geometry and ut_groups, too");
  return SL_EINVAL;
}

#endif
