/* ut.compass: for each VELO track the hits in the UT that go with it best, and from the kick between the two a first
 * momentum (README.md, "Tracks").
 *
 * Pairs of hits of layers 0 and 2 whose line has about the slope of the VELO track, and if these are few those of
 * layers 3 and 1, are completed by the nearest hits of the other two layers, and fitted together with the track. Of all
 * the best is kept: by number of hits, chi2, and the order of the pairs. It is fitted once more, and kept if its
 * momentum and the quality of the fit are what true tracks have.
 *
 * A thread a track that has windows enough, of which a block lists an event's, so that no lane waits for tracks
 * without. Reads 100 bytes a track and some 15 hits of 14 bytes, again and again but from the caches; writes 21 bytes a
 * track.
 */
#include "compass_fit.h"
#include "magnet/event_model.h"
#include "velo/event_model.h"

enum { COMPASS_LIST = 1024 }; /* tracks listed at a time */

#define SL_ARGS compass_args
#define COMPASS(M)                                                                                \
  M(IN, selected, ut_selected_tracks, "", "tracks to search for")                                 \
  M(IN, windows, ut_windows, "first count", "where to search")                                    \
  M(IN, states, velo_end_states, "offsets x y z tx ty", "of all VELO tracks")                     \
  M(IN, hits, ut_hits, "offsets x z sector", "the hits that the windows speak of")                \
  M(IN, geometry, ut_geometry, "pitch", "of the strips")                                          \
  M(IN, groups, ut_sector_groups, "layer_slope", "of the strips")                                 \
  M(IN, tables, ut_magnet_tables, "field_integral constants", "what the magnet does")             \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                   \
  M(OUT, candidates, ut_track_candidates, "for each selected track", SL_SHARES_OFFSETS(selected)) \
  M(U32, max_pairs, 16, 1, 1000, "", "pairs of hits of a track that are tried, at most")          \
  M(F32, max_slope_difference, 0.018, 0.0, 1.0, "", "between a pair's line and the VELO track")   \
  M(F32, max_distance, 0.8, 0.0, 100.0, "mm", "between a pair's line and a further hit")          \
  M(F32, sigma_slope, 1e-4, 1e-6, 1.0, "", "how well the VELO track's slope is known")            \
  M(F32, max_chi2, 1280.0, 0.0, 1e9, "", "of the first fit, over the number of hits less one")    \
  M(F32, min_momentum, 1500.0, 0.0, 1e6, "MeV", "smallest momentum that is kept")                 \
  M(F32, min_pt, 400.0, 0.0, 1e6, "MeV", "smallest transverse momentum that is kept")             \
  M(F32, min_quality, -0.5, -1e9, 1e9, "", "smallest value of the discriminant that is kept")     \
  M(TABLE, weights, f32, "of a hit by sector, 1/mm2")
SL_ARGUMENTS(compass, COMPASS);

static int prepare(const struct sl_services *s, void *args) {
  struct compass_args *a = (struct compass_args *)args;
  float *weights = (float *)s->make_table(s->context, "weights", UT_SECTORS);
  if (!weights) return SL_ENOMEM;
  for (uint32_t i = 0; i < UT_SECTORS; i++) weights[i] = 12.0f / (a->geometry.pitch[i] * a->geometry.pitch[i]);
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- search */

/* What is searched for a track, and the best so far. */
struct compass_search {
  struct compass_line line;
  const uint16_t *first, *count; /* windows */
  const float *x, *z;            /* of the event's hits */
  const uint16_t *sector;
  uint32_t pairs;
  uint32_t best_count;
  float best_chi2;
  uint16_t best[UT_LAYERS]; /* hits by layer, or NO_HIT */
};
enum { NO_HIT = UINT16_MAX };

/* x of a hit where the track is in y. */
static SL_DEVICE float compass_x(const struct compass_args *a, const struct compass_search *s, uint32_t layer,
                                 uint32_t hit) {
  return s->x[hit] + (s->line.y + s->line.ty * (s->z[hit] - s->line.z)) * a->groups.layer_slope[layer];
}

/* The hit of a layer's windows that is nearest to the line, or NO_HIT. */
static SL_DEVICE uint16_t nearest_hit(const struct compass_args *a, const struct compass_search *s, uint32_t layer,
                                      float x, float z, float tx) {
  float nearest = a->max_distance;
  uint16_t found = NO_HIT;
  for (uint32_t w = UT_LAYER_WINDOWS * layer; w < UT_LAYER_WINDOWS * (layer + 1); w++) {
    const uint32_t end = s->first[w] + s->count[w];
    for (uint32_t hit = s->first[w]; hit < end; hit++) {
      const float distance = sl_abs_f32(compass_x(a, s, layer, hit) - (x + tx * (s->z[hit] - z)));
      if (distance >= nearest) continue;
      nearest = distance;
      found = (uint16_t)hit;
    }
  }
  return found;
}

static SL_DEVICE struct compass_hits gather(const struct compass_args *a, const struct compass_search *s,
                                            const uint16_t *chosen) {
  struct compass_hits hits;
  hits.count = 0;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const uint32_t hit = chosen[layer];
    if (hit == NO_HIT) continue;
    hits.x[hits.count] = compass_x(a, s, layer, hit);
    hits.z[hits.count] = s->z[hit];
    hits.weight[hits.count] = a->weights[s->sector[hit]];
    hits.slope[hits.count] = a->groups.layer_slope[layer];
    hits.count++;
  }
  return hits;
}

/* A pair's first hit, or its second. */
struct compass_point {
  uint32_t layer, hit;
  float x, z;
};

/* Completes the pair, fits it and keeps it if it is the best. */
static SL_DEVICE void try_pair(const struct compass_args *a, struct compass_search *s,
                               const struct compass_point *first, const struct compass_point *second, float tx) {
  uint16_t chosen[UT_LAYERS];
  const uint32_t between = first->layer == 0 ? 1 : 2, behind = first->layer == 0 ? 3 : 0;
  chosen[first->layer] = (uint16_t)first->hit;
  chosen[second->layer] = (uint16_t)second->hit;
  chosen[between] = nearest_hit(a, s, between, first->x, first->z, tx);
  chosen[behind] = nearest_hit(a, s, behind, second->x, second->z, tx);
  const struct compass_hits hits = gather(a, s, chosen);
  if (hits.count < 3 || hits.count < s->best_count) return;
  const float chi2 = compass_kick_fit(&s->line, &hits, a->tables.constants[UT_FIRST_KICK_Z], a->sigma_slope).chi2;
  if (chi2 < a->max_chi2 && (hits.count > s->best_count || chi2 < s->best_chi2)) {
    s->best_count = hits.count;
    s->best_chi2 = chi2;
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) s->best[layer] = chosen[layer];
  }
}

/* Tries the hits of a layer with a first hit, until there were enough pairs. */
static SL_DEVICE void pair_up(const struct compass_args *a, struct compass_search *s, const struct compass_point *first,
                              uint32_t layer) {
  struct compass_point second;
  second.layer = layer;
  for (uint32_t w = UT_LAYER_WINDOWS * layer; w < UT_LAYER_WINDOWS * (layer + 1); w++) {
    const uint32_t end = s->first[w] + s->count[w];
    for (second.hit = s->first[w]; second.hit < end && s->pairs < a->max_pairs; second.hit++) {
      second.x = compass_x(a, s, layer, second.hit);
      second.z = s->z[second.hit];
      const float tx = (second.x - first->x) / (second.z - first->z);
      if (!(sl_abs_f32(tx - s->line.tx) <= a->max_slope_difference)) continue;
      s->pairs++;
      try_pair(a, s, first, &second, tx);
    }
  }
}

static SL_DEVICE void search_from(const struct compass_args *a, struct compass_search *s, uint32_t layer,
                                  uint32_t partner) {
  struct compass_point first;
  first.layer = layer;
  for (uint32_t w = UT_LAYER_WINDOWS * layer; w < UT_LAYER_WINDOWS * (layer + 1); w++) {
    const uint32_t end = s->first[w] + s->count[w];
    for (first.hit = s->first[w]; first.hit < end && s->pairs < a->max_pairs; first.hit++) {
      first.x = compass_x(a, s, layer, first.hit);
      first.z = s->z[first.hit];
      pair_up(a, s, &first, partner);
    }
  }
}

/* ------------------------------------------------------------------------------------------------- selection */

/* Whether a track of this x and slope comes from the material of the beam pipe: it bends away from where it is. `bend`:
 * the sign of the kick. */
static SL_DEVICE uint32_t is_from_the_pipe(const struct compass_fit *fit, float y, float bend, float pt) {
  const float half_width = 48.0f, half_height = 33.0f, steepest = 0.09f + 3e-4f * pt;
  const uint32_t beside = sl_abs_f32(y) < half_height;
  if (bend < 0.0f) return (beside && fit->x > -half_width && fit->x < 0.0f) || fit->tx > steepest;
  if (bend > 0.0f) return (beside && fit->x > 0.0f && fit->x < half_width) || fit->tx < -steepest;
  return 0;
}

/* Tells true tracks from others by momentum and chi2: a linear discriminant for each number of hits. */
static SL_DEVICE float quality(const float *constants, uint32_t hits, float p, float pt, float chi2) {
  const float *c = constants + (hits == 3 ? UT_DISCRIMINANT_3 : UT_DISCRIMINANT_4);
  return c[0] + c[1] * sl_logf(p) + c[2] * sl_logf(pt) + c[3] * sl_logf(chi2);
}

static SL_DEVICE void write_none(const struct compass_args *a, uint32_t item) {
  a->candidates.hit_count[item] = 0;
  for (uint32_t i = 0; i < UT_TRACK_HITS_MAX; i++) a->candidates.hits[UT_TRACK_HITS_MAX * (size_t)item + i] = 0;
  a->candidates.qop[item] = 0.0f;
  a->candidates.x[item] = 0.0f;
  a->candidates.tx[item] = 0.0f;
}

/* Fits the best candidate again, and writes it if it passes. */
static SL_DEVICE void finish_track(const struct compass_args *a, const struct compass_search *s, uint32_t item) {
  const float momentum_scale = 1.3f, least_integral = 1e-8f;
  const struct compass_hits hits = gather(a, s, s->best);
  const struct compass_fit kick =
      compass_kick_fit(&s->line, &hits, a->tables.constants[UT_FIRST_KICK_Z], a->sigma_slope);
  const float integral = compass_field_integral(a->tables.field_integral, &s->line);
  if (sl_abs_f32(integral) < least_integral) return write_none(a, item); /* no momentum */
  const float down = -a->tables.constants[UT_KICK_TO_MOMENTUM] / integral;
  const struct compass_fit fit = compass_fast_fit(&s->line, &hits, a->tables.constants, kick.kick * down);
  const float qop = fit.kick * down; /* of a magnet that points down */
  const float steepness = sqrtf(s->line.tx * s->line.tx + s->line.ty * s->line.ty);
  const float p = momentum_scale / sl_max_f32(sl_abs_f32(qop), 1e-9f), pt = p * steepness;
  const float y = s->line.y + s->line.ty * (UT_MIDDLE_Z - s->line.z) + fit.y_offset;
  if (!(p >= a->min_momentum && pt >= a->min_pt) || is_from_the_pipe(&fit, y, -qop, pt) ||
      !(quality(a->tables.constants, hits.count, p, pt, fit.chi2) >= a->min_quality))
    return write_none(a, item);
  uint32_t place = 0;
  uint16_t *to = a->candidates.hits + UT_TRACK_HITS_MAX * (size_t)item;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++)
    if (s->best[layer] != NO_HIT) to[place++] = s->best[layer];
  for (; place < UT_TRACK_HITS_MAX; place++) to[place] = 0;
  a->candidates.hit_count[item] = (uint8_t)hits.count;
  a->candidates.qop[item] = qop * -a->magnet.sign[0];
  a->candidates.x[item] = kick.x;
  a->candidates.tx[item] = kick.tx;
}

/* Whether a track can have three hits, of which two make a pair. */
static SL_DEVICE uint32_t has_windows(const struct compass_args *a, uint32_t item) {
  const uint16_t *count = a->windows.count + (size_t)item * UT_WINDOWS;
  uint32_t has[UT_LAYERS];
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    has[layer] = 0;
    for (uint32_t w = 0; w < UT_LAYER_WINDOWS; w++) has[layer] |= count[UT_LAYER_WINDOWS * layer + w];
  }
  return (has[0] && has[2] && (has[1] || has[3])) || (has[3] && has[1] && (has[0] || has[2]));
}

static SL_DEVICE void find_track(const struct compass_args *a, uint32_t event, uint32_t item) {
  struct compass_search s;
  const uint32_t state = a->states.offsets[event] + a->selected.track[item], hits = a->hits.offsets[event];
  s.line.x = a->states.x[state];
  s.line.y = a->states.y[state];
  s.line.z = a->states.z[state];
  s.line.tx = a->states.tx[state];
  s.line.ty = a->states.ty[state];
  s.first = a->windows.first + (size_t)item * UT_WINDOWS;
  s.count = a->windows.count + (size_t)item * UT_WINDOWS;
  s.x = a->hits.x + hits;
  s.z = a->hits.z + hits;
  s.sector = a->hits.sector + hits;
  s.pairs = 0;
  s.best_count = 0;
  s.best_chi2 = a->max_chi2;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) s.best[layer] = NO_HIT;
  search_from(a, &s, 0, 2);
  search_from(a, &s, 3, 1);
  if (s.best_count == 0)
    write_none(a, item);
  else
    finish_track(a, &s, item);
}

SL_KERNEL(compass_find, struct compass_args) {
  __shared__ uint32_t list[COMPASS_LIST];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.selected.offsets[event], end = a.selected.offsets[event + 1];
    for (uint32_t done = begin; done < end; done += COMPASS_LIST) { /* mostly once */
      const uint32_t count = end - done < COMPASS_LIST ? end - done : COMPASS_LIST;
      uint32_t length = 0;
      SL_FOR_BLOCK (i, count) {
        const uint32_t wanted = i < count && has_windows(&a, done + i);
        const uint32_t place = sl_block_append(wanted, &length);
        if (wanted) list[place] = done + i;
        if (i < count && !wanted) write_none(&a, done + i);
      }
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < length; i += blockDim.x) find_track(&a, event, list[i]);
      __syncthreads(); /* the list is free */
    }
  }
}

static int run(const struct sl_launch *l, const struct compass_args *a) {
  return SL_LAUNCH(l, compass_find, SL_PER_EVENT, *a);
}

SL_ALGORITHM(compass, "UT hits of VELO tracks, and a first momentum", 128, run, SL_PREPARE(prepare));
