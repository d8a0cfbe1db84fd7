/* create_tracks.cpu.c: forward.create_tracks shaped for a CPU; same results as create_tracks.cu.
 *
 * The triplets of a track that are on one side are taken eight at a time, a lane each, and all nine layers are bisected
 * at a time, so that loads of one do not wait for those of another. One in five has hits enough: all candidates of an
 * event are cleared first, and only those written. How y shifts in stereo layers is found for all tracks of an event,
 * layer by layer.
 */
#include "create_tracks.h"

#include "sorted_lanes.h"

enum { SIDES = 2 };

/* Those triplets of a track that are on one side, by their places among its triplets. */
struct side {
  uint32_t count;
  uint32_t place[FORWARD_TRIPLETS_MAX + LANES];
};

/* A track on one side. */
struct search {
  struct forward_state state;
  float max_chi2_stereo;
  const float *x;                /* of the event's hits */
  const uint16_t *first, *count; /* windows; those on the side are every other one */
  const uint32_t *triplets;
  const float *shifts;              /* of the track; the next number is `tracks` further on */
  uint32_t tracks, candidate, most; /* hits of a window, at most */
};

/* Eight triplets that grow. */
struct lanes {
  i32x8 is_odd;
  i32x8 seed[TRIPLET_HITS];               /* hits */
  struct sorted_lanes searches[SEARCHED]; /* windows, and where hits should be: the x layers first */
  float a[LANES], b[LANES], c[LANES], r[LANES];
};

/* The same, grown. */
struct grown {
  uint32_t hits[SCIFI_LAYERS][LANES]; /* by layer; NO_HIT: none */
  uint32_t count[LANES];
  float chi2_x[LANES], chi2_stereo[LANES];
};

/* What x layers of a station are to odd and even triplets. */
VECTOR_INLINE i32x8 by_kind(i32x8 is_odd, const uint16_t *values, uint32_t if_odd, uint32_t if_even) {
  return i32x8_select(is_odd, i32x8_of(values[FORWARD_LAYER_WINDOWS * if_odd]),
                      i32x8_of(values[FORWARD_LAYER_WINDOWS * if_even]));
}

/* From the reference plane to an x layer of a station, for odd and even triplets. */
VECTOR_INLINE void depths(const struct create_tracks_args *a, i32x8 is_odd, uint32_t if_odd, uint32_t if_even,
                          float *d) {
  const float z_reference = a->forward.constants[FORWARD_Z_REFERENCE];
  const f32x8 odd = f32x8_of(a->forward.z_layer[forward_x_layer(if_odd)] - z_reference);
  const f32x8 even = f32x8_of(a->forward.z_layer[forward_x_layer(if_even)] - z_reference);
  f32x8_store(d, f32x8_select(is_odd, odd, even));
}

/* The curves through eight triplets. */
VECTOR_INLINE void open_lanes(const struct create_tracks_args *a, const struct search *s, const uint32_t *place,
                              struct lanes *l) {
  const float z_reference = a->forward.constants[FORWARD_Z_REFERENCE];
  const i32x8 words = (i32x8)u32x8_gather(s->triplets, i32x8_load((const int32_t *)place));
  float d[TRIPLET_HITS][LANES], x[TRIPLET_HITS][LANES];
  l->is_odd = -(words >> 18 & 1);
  SL_UNROLL for (uint32_t k = 0; k < TRIPLET_HITS; k++) {
    l->seed[k] = by_kind(l->is_odd, s->first, 2 * k + 1, 2 * k) + (words >> (12 - 6 * (int32_t)k) & 63);
    f32x8_store(x[k], f32x8_gather(s->x, l->seed[k]));
    depths(a, l->is_odd, 2 * k + 1, 2 * k, d[k]);
  }
  for (uint32_t j = 0; j < LANES; j++) {
    const float of_d[TRIPLET_HITS] = {d[0][j], d[1][j], d[2][j]}, of_x[TRIPLET_HITS] = {x[0][j], x[1][j], x[2][j]};
    const float y = s->state.y + s->state.ty * (of_d[1] + z_reference - s->state.z);
    const struct forward_curve curve = forward_curve_through(of_d, of_x, forward_curve_r(&a->forward, of_x[1], y));
    l->a[j] = curve.a;
    l->b[j] = curve.b;
    l->c[j] = curve.c;
    l->r[j] = curve.r;
  }
}

VECTOR_INLINE struct forward_curve lane_curve(const struct lanes *l, uint32_t j) {
  const struct forward_curve curve = {l->a[j], l->b[j], l->c[j], l->r[j]};
  return curve;
}

/* Where their hits should be in the x layers that they are not of. */
VECTOR_INLINE void open_x_layers(const struct create_tracks_args *a, const struct search *s, struct lanes *l) {
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED_X; k++) {
    float d[LANES], x[LANES];
    struct sorted_lanes *searched = &l->searches[k];
    searched->count = by_kind(l->is_odd, s->count, 2 * k, 2 * k + 1);
    searched->first = by_kind(l->is_odd, s->first, 2 * k, 2 * k + 1) & (searched->count > 0);
    depths(a, l->is_odd, 2 * k, 2 * k + 1, d);
    for (uint32_t j = 0; j < LANES; j++) {
      const struct forward_curve curve = lane_curve(l, j);
      x[j] = forward_curve_x(&curve, d[j]);
    }
    searched->place = f32x8_load(x);
  }
}

/* The same in stereo layers. */
VECTOR_INLINE void open_stereo_layers(const struct create_tracks_args *a, const struct search *s, struct lanes *l) {
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint32_t layer = forward_stereo_layer(i), w = FORWARD_LAYER_WINDOWS * i + 2;
    const float z = a->forward.z_layer[layer], d = z - a->forward.constants[FORWARD_Z_REFERENCE];
    const float *from = s->shifts + (size_t)SHIFT_NUMBERS * s->tracks * i;
    const struct forward_y_shift shift = {from[0], from[s->tracks], from[2 * (size_t)s->tracks]};
    float x[LANES];
    for (uint32_t j = 0; j < LANES; j++) {
      const struct forward_curve curve = lane_curve(l, j);
      const float straight = forward_curve_x(&curve, d);
      x[j] = straight + -a->forward.dxdy[layer] * forward_shifted_y(&s->state, &shift, z, straight);
    }
    struct sorted_lanes *searched = &l->searches[SEARCHED_X + i];
    searched->first = i32x8_of(s->count[w] > 0 ? s->first[w] : 0); /* a hit that there is */
    searched->count = i32x8_of(s->count[w]);
    searched->place = f32x8_load(x);
  }
}

/* The squares of the distances of the nearest hits of a layer that are near, else 0, and which they are, else NO_HIT.
 */
VECTOR_INLINE f32x8 nearest(const struct search *s, const struct sorted_lanes *searched, i32x8 behind, f32x8 max_chi2,
                            i32x8 *hits) {
  const f32x8 infinity = f32x8_of(sl_f32_from_bits(0x7f800000u)), place = searched->place;
  const i32x8 has_before = behind > searched->first, has_behind = behind < searched->first + searched->count;
  const f32x8 x_before = f32x8_gather(s->x, behind + has_before); /* where there is none, of a hit of the event */
  const f32x8 x_behind = f32x8_gather(s->x, behind + (has_before & ~has_behind));
  const f32x8 off_before = f32x8_select(has_before, place - x_before, infinity);
  const f32x8 off_behind = f32x8_select(has_behind, x_behind - place, infinity);
  const i32x8 is_behind = off_behind < off_before;
  const f32x8 off = f32x8_select(is_behind, off_behind, off_before), chi2 = off * off;
  const i32x8 is_near = chi2 < max_chi2;
  *hits = i32x8_select(is_near, behind - 1 - is_behind, i32x8_of(NO_HIT));
  return (f32x8)((i32x8)chi2 & is_near);
}

/* Adds the hits that are nearest to where they should be, of those that are near. */
VECTOR_INLINE void grow(const struct create_tracks_args *a, const struct search *s, const struct lanes *l,
                        struct grown *g) {
  i32x8 behind[SEARCHED], found[SEARCHED], count = i32x8_of(TRIPLET_HITS);
  f32x8 chi2_x = f32x8_of(0.0f), chi2_stereo = f32x8_of(0.0f);
  forward_bisect_lanes(s->x, l->searches, SEARCHED, 0, s->most, behind);
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
    const f32x8 max_chi2 = f32x8_of(k < SEARCHED_X ? a->max_chi2_x : s->max_chi2_stereo);
    const f32x8 chi2 = nearest(s, &l->searches[k], behind[k], max_chi2, &found[k]);
    count -= found[k] != NO_HIT;
    if (k < SEARCHED_X)
      chi2_x += chi2;
    else
      chi2_stereo += chi2;
  }
  SL_UNROLL for (uint32_t k = 0; k < TRIPLET_HITS; k++) {
    i32x8_store((int32_t *)g->hits[forward_x_layer(2 * k)], i32x8_select(l->is_odd, found[k], l->seed[k]));
    i32x8_store((int32_t *)g->hits[forward_x_layer(2 * k + 1)], i32x8_select(l->is_odd, l->seed[k], found[k]));
  }
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++)
      i32x8_store((int32_t *)g->hits[forward_stereo_layer(i)], found[SEARCHED_X + i]);
  i32x8_store((int32_t *)g->count, count);
  f32x8_store(g->chi2_x, chi2_x);
  f32x8_store(g->chi2_stereo, chi2_stereo);
}

/* Writes a lane's candidate, all of which is 0 so far. */
static void write_lane(const struct create_tracks_args *a, const struct search *s, const struct lanes *l,
                       const struct grown *g, uint32_t j, uint32_t candidate) {
  uint16_t hits[SCIFI_TRACK_HITS_MAX + 1] = {0};
  uint32_t count = 0;
  for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) {
    const uint32_t is_hit = g->hits[layer][j] != NO_HIT;
    hits[count] = is_hit ? (uint16_t)g->hits[layer][j] : 0;
    count += is_hit;
  }
  memcpy(a->candidates.hits + SCIFI_TRACK_HITS_MAX * (size_t)candidate, hits, SCIFI_TRACK_HITS_MAX * sizeof *hits);
  a->candidates.hit_count[candidate] = (uint8_t)count;
  a->candidates.a[candidate] = l->a[j];
  a->candidates.b[candidate] = l->b[j];
  a->candidates.c[candidate] = l->c[j];
  a->candidates.r[candidate] = l->r[j];
  /* Where the limit is 0 there is nothing to divide. */
  a->candidates.quality[candidate] = (g->chi2_x[j] > 0.0f ? g->chi2_x[j] / a->max_chi2_x : 0.0f) +
                                     (g->chi2_stereo[j] > 0.0f ? g->chi2_stereo[j] / s->max_chi2_stereo : 0.0f);
}

static void grow_side(const struct create_tracks_args *a, const struct search *s, struct side *side) {
  for (uint32_t i = 0; i < LANES; i++) side->place[side->count + i] = side->place[side->count - 1];
  for (uint32_t base = 0; base < side->count; base += LANES) {
    const uint32_t size = side->count - base < LANES ? side->count - base : LANES;
    struct lanes l;
    struct grown g;
    open_lanes(a, s, side->place + base, &l);
    open_x_layers(a, s, &l);
    open_stereo_layers(a, s, &l);
    grow(a, s, &l, &g);
    for (uint32_t j = 0; j < size; j++)
      if (g.count[j] >= a->min_hits) write_lane(a, s, &l, &g, j, s->candidate + side->place[base + j]);
  }
}

/* Grows the triplets of a track, whose first one is `candidate`. */
static void grow_track(const struct create_tracks_args *a, uint32_t item, const float *x, const float *shifts,
                       uint32_t tracks, uint32_t candidate) {
  const uint32_t triplets = a->triplets.count[item];
  struct side sides[SIDES];
  struct search s;
  s.state = state_of(a, item);
  s.max_chi2_stereo = a->max_chi2_stereo * (sl_abs_f32(s.state.tx) + sl_abs_f32(s.state.ty));
  s.x = x;
  s.triplets = a->triplets.triplet + (size_t)item * FORWARD_TRIPLETS_MAX;
  s.shifts = shifts;
  s.tracks = tracks;
  s.candidate = candidate;
  for (uint32_t side = 0; side < SIDES; side++) sides[side].count = 0;
  for (uint32_t t = 0; t < triplets; t++) {
    struct side *side = &sides[is_right(s.triplets[t])];
    side->place[side->count++] = t;
  }
  for (uint32_t side = 0; side < SIDES; side++) {
    if (sides[side].count == 0) continue;
    s.first = a->windows.first + (size_t)item * FORWARD_WINDOWS + side;
    s.count = a->windows.count + (size_t)item * FORWARD_WINDOWS + side;
    s.most = 0;
    for (uint32_t w = 0; w < FORWARD_WINDOWS; w += SIDES) s.most = s.count[w] > s.most ? s.count[w] : s.most;
    grow_side(a, &s, &sides[side]);
  }
}

/* For each stereo layer three times a number of each track. */
static void find_shifts(const struct create_tracks_args *a, uint32_t first, uint32_t count, float *restrict shifts) {
  for (uint32_t i = 0; i < SHIFTS; i++) {
    float *restrict to = shifts + (size_t)SHIFT_NUMBERS * count * i;
    for (uint32_t t = 0; t < count; t++) {
      const struct forward_state state = state_of(a, first + t);
      const struct forward_y_shift shift = forward_y_shift_of(&a->forward, &state, forward_stereo_layer(i));
      to[t] = shift.first;
      to[count + t] = shift.second;
      to[2 * count + t] = shift.third;
    }
  }
}

static void clear_candidates(const struct create_tracks_args *a, uint32_t begin, uint32_t end) {
  const struct forward_candidates *c = &a->candidates;
  const size_t bytes = (end - begin) * sizeof(float);
  memset(c->hits + SCIFI_TRACK_HITS_MAX * (size_t)begin, 0, SCIFI_TRACK_HITS_MAX * sizeof *c->hits * (end - begin));
  memset(c->hit_count + begin, 0, end - begin);
  memset(c->a + begin, 0, bytes);
  memset(c->b + begin, 0, bytes);
  memset(c->c + begin, 0, bytes);
  memset(c->r + begin, 0, bytes);
  memset(c->quality + begin, 0, bytes);
}

static void grow_event(const struct create_tracks_args *a, uint32_t event) {
  const uint32_t first = a->inputs.offsets[event], count = a->inputs.offsets[event + 1] - first;
  const uint32_t begin = a->candidates.offsets[event], end = a->candidates.offsets[event + 1];
  const float *x = a->hits.x + a->hits.offsets[event];
  float *shifts = a->shifts + (size_t)SHIFT_NUMBERS * SHIFTS * first;
  uint32_t candidate = begin;
  if (begin == end) return;
  clear_candidates(a, begin, end);
  find_shifts(a, first, count, shifts);
  for (uint32_t t = 0; t < count; t++) {
    const uint32_t triplets = a->triplets.count[first + t];
    for (uint32_t k = 0; k < triplets; k++) a->candidates.track[candidate + k] = t;
    if (triplets > 0) grow_track(a, first + t, x, shifts + t, count, candidate);
    candidate += triplets;
  }
}

int create_tracks_tuned(const struct sl_launch *l, const void *args) {
  const struct create_tracks_args *a = (const struct create_tracks_args *)args;
  SL_FOR_EVENTS (event, a->events) {
    uint32_t count = 0;
    for (uint32_t i = a->inputs.offsets[event]; i < a->inputs.offsets[event + 1]; i++) count += a->triplets.count[i];
    a->candidates.offsets[event] = count;
  }
  const int status = l->scan(l, a->candidates.offsets, &a->candidates.bound);
  if (status != SL_OK) return status;
  SL_FOR_EVENTS (event, a->events) grow_event(a, event);
  return SL_OK;
}
