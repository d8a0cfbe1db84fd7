/* forward.create_tracks: grows a SciFi track candidate from each triplet (README.md, "Candidates").
 *   1. create_tracks_count: count the triplets of each event; a scan turns the counts into offsets.
 *   2. create_tracks_lay_out: list the candidates of an event, compute the curve through each triplet, and for each
 *      track and stereo layer the coefficients of the shift of y.
 *   3. create_tracks_grow: bisect the nine other layers of a candidate, add the nearest hit of each layer if it is near
 *      enough, and empty candidates with too few hits.
 * Parallelism: SL_LANES candidates of the slice at a time (sluice/lanes.h).
 * Cost: reads 100 bytes per track and x of some 60 hits per candidate; writes 49 bytes per candidate.
 */
#include "forward_math.h"

#include <sluice/lanes.h>

enum { NO_HIT = SCIFI_HITS_MAX };
enum { SHIFTS = SCIFI_X_LAYERS, SHIFT_NUMBERS = 3 };

/* Largest number of candidates of one event: 20 triplets for each of 8,192 tracks. The budget is smaller, because most
 * tracks have few triplets. */
enum { CANDIDATES_MAX = FORWARD_TRIPLETS_MAX * 8192 };
#define CANDIDATES_CAPACITY \
  SL_MIN(SL_ITEMS_SCALED(inputs, FORWARD_TRIPLETS_MAX, 1, 0), SL_BUDGET_TERM(candidates_per_event, CANDIDATES_MAX))

#define SL_ARGS create_tracks_args
#define CREATE_TRACKS(M)                                                                                     \
  M(IN, inputs, forward_inputs, "offsets x y tx ty", "tracks at the end of the UT")                          \
  M(IN, hits, scifi_hits, "offsets x", "hits of the fibre tracker")                                          \
  M(IN, windows, forward_windows, "first count", "search windows of the tracks in all layers")               \
  M(IN, triplets, forward_triplets, "count triplet", "triplets of the tracks")                               \
  M(IN, forward, forward_constants, "z_layer dxdy y_shift constants",                                        \
    "constants of tracks in the magnet and the fibre tracker")                                               \
  M(OUT, candidates, forward_candidates, "one candidate for each triplet", SL_ITEMS(CANDIDATES_CAPACITY))    \
  M(U32, min_hits, 9, 3, 12, "", "least number of hits of a candidate; others are emptied")                  \
  M(F32, max_chi2_x, 0.5, 0.0, 1e6, "mm2", "upper limit of the squared distance of a hit in an x layer")     \
  M(F32, max_chi2_stereo, 50.0, 0.0, 1e6, "mm2",                                                             \
    "upper limit of the squared distance of a hit in a stereo layer, divided by |tx| + |ty|")                \
  M(BUDGET, candidates_per_event, 1100, 1, 100000, "room for candidates, per event on average over a slice") \
  M(SHARED_SCRATCH, words, u32, "triplet of a candidate", CANDIDATES_CAPACITY)                               \
  M(SHARED_SCRATCH, items, u32, "track of a candidate, as index in the slice", CANDIDATES_CAPACITY)          \
  M(SHARED_SCRATCH, hits_begin, u32, "first hit of a track's event", SL_ONE(SL_ITEMS_TERM(inputs)))          \
  M(SCRATCH, shifts, f32, "coefficients of the shift of y in the stereo layers of a track",                  \
    SL_ONE(SL_ITEMS_SCALED(inputs, SHIFTS *SHIFT_NUMBERS, 1, 0)))
SL_ARGUMENTS(create_tracks, CREATE_TRACKS);

/* A triplet has hits in three x layers; the other three x layers and six stereo layers are searched. */
enum { TRIPLET_HITS = 3, SEARCHED_X = 3, SEARCHED = SEARCHED_X + SCIFI_X_LAYERS };

/* 1 if a triplet is in the second x layers of stations; 1 if it is in right windows. */
SL_LANES_FUNCTION sl_i32s is_odd(sl_i32s words) { return words >> 18 & 1; }
SL_LANES_FUNCTION sl_i32s is_right(sl_i32s words) { return words >> 19 & 1; }

/* Tracks, triplets and curves of SL_LANES candidates. */
struct seeds {
  sl_i32s item, words;
  float a[SL_LANES], b[SL_LANES], c[SL_LANES], r[SL_LANES];
};

static SL_DEVICE struct forward_curve curve_of(const struct seeds *s, uint32_t j) {
  const struct forward_curve curve = {s->a[j], s->b[j], s->c[j], s->r[j]};
  return curve;
}

/* Index in the slice of the triplets' hits in a station. `windows`: first windows of the tracks' side. */
SL_LANES_FUNCTION sl_i32s seed_hit(const struct create_tracks_args *a, sl_i32s hits_begin, sl_i32s windows,
                                   sl_i32s words, uint32_t station) {
  const sl_i32s w = windows + FORWARD_LAYER_WINDOWS * (is_odd(words) + sl_i32s_of(2 * station));
  return hits_begin + sl_u16s_gather(a->windows.first, w) + (words >> (12 - 6 * (int32_t)station) & 63);
}

SL_LANES_FUNCTION sl_i32s side_windows(sl_i32s item, sl_i32s words) {
  return item * (int32_t)FORWARD_WINDOWS + is_right(words);
}

/* Distance from the reference plane to an x layer of a station: the second layer where is_second is set. */
SL_LANES_FUNCTION void depths(const struct create_tracks_args *a, sl_i32s is_second, uint32_t station, float *d) {
  const sl_f32s z =
      sl_f32s_either(is_second, a->forward.z_layer, forward_x_layer(2 * station + 1), forward_x_layer(2 * station));
  sl_f32s_out(d, z - a->forward.constants[FORWARD_Z_REFERENCE]);
}

SL_LANES_FUNCTION void write_curves(const struct create_tracks_args *a, const struct seeds *s, sl_i32s is_accepted,
                                    uint32_t candidate, uint32_t count) {
  const sl_f32s none = sl_f32s_of(0.0f);
  sl_f32s_store(a->candidates.a + candidate, sl_f32s_select(is_accepted, sl_f32s_in(s->a), none), count);
  sl_f32s_store(a->candidates.b + candidate, sl_f32s_select(is_accepted, sl_f32s_in(s->b), none), count);
  sl_f32s_store(a->candidates.c + candidate, sl_f32s_select(is_accepted, sl_f32s_in(s->c), none), count);
  sl_f32s_store(a->candidates.r + candidate, sl_f32s_select(is_accepted, sl_f32s_in(s->r), none), count);
}

/* Writes the curves through triplets, for all candidates. */
SL_LANES_FUNCTION void write_seeds(const struct create_tracks_args *a, sl_i32s item, sl_i32s words, uint32_t hits_begin,
                                   uint32_t candidate, uint32_t count) {
  const float z_reference = a->forward.constants[FORWARD_Z_REFERENCE];
  const sl_i32s windows = side_windows(item, words), is_second = SL_MASK(is_odd(words) > 0);
  float d[TRIPLET_HITS][SL_LANES], x[TRIPLET_HITS][SL_LANES], track_y[SL_LANES], ty[SL_LANES];
  struct seeds s;
  SL_UNROLL for (uint32_t k = 0; k < TRIPLET_HITS; k++) {
    sl_f32s_out(x[k], sl_f32s_gather(a->hits.x, seed_hit(a, sl_i32s_of(hits_begin), windows, words, k)));
    depths(a, is_second, k, d[k]);
  }
  sl_f32s_out(track_y, sl_f32s_gather(a->inputs.y, item));
  sl_f32s_out(ty, sl_f32s_gather(a->inputs.ty, item));
  SL_FOR_LANES (j) {
    const float of_d[TRIPLET_HITS] = {d[0][j], d[1][j], d[2][j]}, of_x[TRIPLET_HITS] = {x[0][j], x[1][j], x[2][j]};
    const float y = track_y[j] + ty[j] * (of_d[1] + z_reference - a->forward.constants[FORWARD_Z_UT]);
    const struct forward_curve curve = forward_curve_through(of_d, of_x, forward_curve_r(&a->forward, of_x[1], y));
    s.a[j] = curve.a;
    s.b[j] = curve.b;
    s.c[j] = curve.c;
    s.r[j] = curve.r;
  }
  write_curves(a, &s, sl_i32s_of(UINT32_MAX), candidate, count);
}

/* Loads `count` candidates; further lanes repeat the last one. */
SL_LANES_FUNCTION void open_seeds(const struct create_tracks_args *a, uint32_t candidate, uint32_t count,
                                  struct seeds *s) {
  s->item = sl_i32s_load((const int32_t *)a->items + candidate, count);
  s->words = sl_i32s_load((const int32_t *)a->words + candidate, count);
  sl_f32s_out(s->a, sl_f32s_load(a->candidates.a + candidate, count));
  sl_f32s_out(s->b, sl_f32s_load(a->candidates.b + candidate, count));
  sl_f32s_out(s->c, sl_f32s_load(a->candidates.c + candidate, count));
  sl_f32s_out(s->r, sl_f32s_load(a->candidates.r + candidate, count));
}

/* --------------------------------------------------------------------------------------------------- search */

/* States of tracks at FORWARD_Z_UT. */
struct states {
  float x[SL_LANES], y[SL_LANES], tx[SL_LANES], ty[SL_LANES];
};

static SL_DEVICE struct forward_state state_of(const struct create_tracks_args *a, const struct states *s, uint32_t j) {
  const struct forward_state state = {s->x[j], s->y[j], a->forward.constants[FORWARD_Z_UT], s->tx[j], s->ty[j]};
  return state;
}

SL_LANES_FUNCTION void open_states(const struct create_tracks_args *a, sl_i32s item, struct states *s) {
  sl_f32s_out(s->x, sl_f32s_gather(a->inputs.x, item));
  sl_f32s_out(s->y, sl_f32s_gather(a->inputs.y, item));
  sl_f32s_out(s->tx, sl_f32s_gather(a->inputs.tx, item));
  sl_f32s_out(s->ty, sl_f32s_gather(a->inputs.ty, item));
}

/* x of the curves in the x layer of a station that has no triplet hit. */
SL_LANES_FUNCTION sl_f32s x_in_layer(const struct create_tracks_args *a, const struct seeds *s, uint32_t station) {
  float d[SL_LANES], x[SL_LANES];
  depths(a, SL_MASK(is_odd(s->words) == 0), station, d);
  SL_FOR_LANES (j) {
    const struct forward_curve curve = curve_of(s, j);
    x[j] = forward_curve_x(&curve, d[j]);
  }
  return sl_f32s_in(x);
}

/* Predicted x of hits in the i-th stereo layer. */
SL_LANES_FUNCTION sl_f32s x_in_stereo_layer(const struct create_tracks_args *a, const struct seeds *s,
                                            const struct states *states, uint32_t i) {
  const uint32_t layer = forward_stereo_layer(i);
  const float z = a->forward.z_layer[layer], d = z - a->forward.constants[FORWARD_Z_REFERENCE];
  float x[SL_LANES], numbers[SHIFT_NUMBERS][SL_LANES];
  SL_UNROLL for (uint32_t n = 0; n < SHIFT_NUMBERS; n++)
      sl_f32s_out(numbers[n], sl_f32s_gather(a->shifts + SHIFT_NUMBERS * i + n, s->item * (SHIFTS * SHIFT_NUMBERS)));
  SL_FOR_LANES (j) {
    const struct forward_curve curve = curve_of(s, j);
    const struct forward_state state = state_of(a, states, j);
    const struct forward_y_shift shift = {numbers[0][j], numbers[1][j], numbers[2][j]};
    const float straight = forward_curve_x(&curve, d);
    x[j] = straight + -a->forward.dxdy[layer] * forward_shifted_y(&state, &shift, z, straight);
  }
  return sl_f32s_in(x);
}

/* Windows of the searched layers, x layers first, with the predicted x. */
SL_LANES_FUNCTION void open_searches(const struct create_tracks_args *a, const struct seeds *s,
                                     const struct states *states, sl_i32s hits_begin, struct sl_bisection *searches) {
  const sl_i32s windows = side_windows(s->item, s->words), other = 1 - is_odd(s->words);
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
    const uint32_t is_stereo = k >= SEARCHED_X, i = is_stereo ? k - SEARCHED_X : 2 * k;
    const sl_i32s w = windows + sl_i32s_of(FORWARD_LAYER_WINDOWS * i) +
                      (is_stereo ? sl_i32s_of(2) : other * (int32_t)FORWARD_LAYER_WINDOWS);
    const sl_i32s count = sl_u16s_gather(a->windows.count, w);
    const sl_i32s first = sl_u16s_gather(a->windows.first, w) & SL_MASK(count > 0); /* an existing hit */
    searches[k] = sl_bisection_of(hits_begin + first, count,
                                  is_stereo ? x_in_stereo_layer(a, s, states, i) : x_in_layer(a, s, k));
  }
}

/* Nearest hits of a layer and their squared distances; NO_HIT and 0 if none is near enough. Ties: the hit at smaller x.
 * `after`: the first hit that is not below the prediction. */
SL_LANES_FUNCTION sl_f32s nearest(const float *x, const struct sl_bisection *s, sl_i32s after, sl_f32s max_chi2,
                                  sl_i32s hits_begin, sl_i32s *hits) {
  const sl_f32s infinity = sl_f32s_of(sl_f32_from_bits(0x7f800000u));
  const sl_i32s has_before = SL_MASK(after > s->first), has_after = SL_MASK(after < s->end);
  const sl_i32s before = after + has_before, at = sl_i32s_select(has_after, after, before);
  const sl_f32s off_before = sl_f32s_select(has_before, s->limit - sl_f32s_gather(x, before), infinity);
  const sl_f32s off_after = sl_f32s_select(has_after, sl_f32s_gather(x, at) - s->limit, infinity);
  const sl_i32s is_after = SL_MASK(off_after < off_before);
  const sl_f32s distance = sl_f32s_select(is_after, off_after, off_before), chi2 = distance * distance;
  const sl_i32s is_near = SL_MASK(chi2 < max_chi2);
  *hits = sl_i32s_select(is_near, after - 1 - is_after - hits_begin, sl_i32s_of(NO_HIT));
  return sl_f32s_select(is_near, chi2, sl_f32s_of(0.0f));
}

/* ---------------------------------------------------------------------------------------------------- write */

/* Four hits, which a GPU stores with one instruction. */
struct four_hits {
  uint16_t of[4];
} __attribute__((aligned(8)));
SL_STATIC_ASSERT(SCIFI_TRACK_HITS_MAX % 4 == 0, "the hits of a candidate are a multiple of four");

static SL_DEVICE void write_no_hits(const struct create_tracks_args *a, uint32_t candidate) {
  const struct four_hits none = {{0, 0, 0, 0}};
  struct four_hits *hits = (struct four_hits *)(void *)(a->candidates.hits + SCIFI_TRACK_HITS_MAX * (size_t)candidate);
  SL_UNROLL for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX / 4; h++) hits[h] = none;
}

/* Writes the hits of lane j, by layer; NO_HIT: none. */
static SL_DEVICE void write_hits(const struct create_tracks_args *a, uint32_t candidate,
                                 int32_t by_layer[SCIFI_LAYERS][SL_LANES], uint32_t j) {
  uint16_t *hits = a->candidates.hits + SCIFI_TRACK_HITS_MAX * (size_t)candidate;
  uint32_t count = 0;
  if (SL_LANES > 1) { /* without branches */
    uint16_t found[SCIFI_TRACK_HITS_MAX + 1] = {0};
    for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) {
      const uint32_t is_hit = by_layer[layer][j] != NO_HIT ? 1u : 0u;
      found[count] = (uint16_t)(is_hit ? by_layer[layer][j] : 0);
      count += is_hit;
    }
    memcpy(hits, found, SCIFI_TRACK_HITS_MAX * sizeof *hits);
  } else {
    write_no_hits(a, candidate); /* clears the unused entries */
    SL_UNROLL for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) if (by_layer[layer][j] != NO_HIT) hits[count++] =
        (uint16_t)by_layer[layer][j];
  }
  a->candidates.hit_count[candidate] = (uint8_t)count;
}

/* Adds hits to `count` candidates. */
SL_LANES_FUNCTION void grow(const struct create_tracks_args *a, uint32_t candidate, uint32_t count) {
  struct seeds seeds;
  struct states states;
  struct sl_bisection searches[SEARCHED];
  sl_i32s after[SEARCHED], found[SEARCHED], hit_count = sl_i32s_of(TRIPLET_HITS);
  sl_f32s chi2_x = sl_f32s_of(0.0f), chi2_stereo = sl_f32s_of(0.0f);
  int32_t by_layer[SCIFI_LAYERS][SL_LANES], is_written[SL_LANES];
  open_seeds(a, candidate, count, &seeds);
  open_states(a, seeds.item, &states);
  const sl_i32s hits_begin = sl_i32s_gather(a->hits_begin, seeds.item);
  const sl_f32s max_chi2_stereo =
      a->max_chi2_stereo * (sl_f32s_abs(sl_f32s_in(states.tx)) + sl_f32s_abs(sl_f32s_in(states.ty)));
  open_searches(a, &seeds, &states, hits_begin, searches);
  sl_bisect(a->hits.x, searches, SEARCHED, 0, after);
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
    const sl_f32s max_chi2 = k < SEARCHED_X ? sl_f32s_of(a->max_chi2_x) : max_chi2_stereo;
    const sl_f32s chi2 = nearest(a->hits.x, &searches[k], after[k], max_chi2, hits_begin, &found[k]);
    hit_count -= SL_MASK(found[k] != NO_HIT);
    if (k < SEARCHED_X)
      chi2_x += chi2;
    else
      chi2_stereo += chi2;
  }
  const sl_i32s is_accepted = SL_MASK(hit_count >= (int32_t)a->min_hits), is_second = SL_MASK(is_odd(seeds.words) > 0);
  const sl_i32s windows = side_windows(seeds.item, seeds.words);
  if (sl_lanes_any(is_accepted)) SL_UNROLL for (uint32_t k = 0; k < TRIPLET_HITS; k++) {
      const sl_i32s own = seed_hit(a, sl_i32s_of(0), windows, seeds.words, k);
      sl_i32s_out(by_layer[forward_x_layer(2 * k)], sl_i32s_select(is_second, found[k], own));
      sl_i32s_out(by_layer[forward_x_layer(2 * k + 1)], sl_i32s_select(is_second, own, found[k]));
    }
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++)
      sl_i32s_out(by_layer[forward_stereo_layer(i)], found[SEARCHED_X + i]);
  sl_i32s_out(is_written, is_accepted);
  for (uint32_t j = 0; j < count; j++) {
    if (is_written[j]) {
      write_hits(a, candidate + j, by_layer, j);
    } else {
      write_no_hits(a, candidate + j);
      a->candidates.hit_count[candidate + j] = 0;
    }
  }
  /* Avoids 0 / 0 if a limit is 0. */
  const sl_f32s none = sl_f32s_of(0.0f);
  const sl_f32s of_x = sl_f32s_select(SL_MASK(chi2_x > 0.0f), chi2_x / a->max_chi2_x, none);
  const sl_f32s of_stereo = sl_f32s_select(SL_MASK(chi2_stereo > 0.0f), chi2_stereo / max_chi2_stereo, none);
  sl_f32s_store(a->candidates.quality + candidate, sl_f32s_select(is_accepted, of_x + of_stereo, none), count);
  if (SL_LANES > 1 || !is_written[0]) write_curves(a, &seeds, is_accepted, candidate, count);
}

/* ------------------------------------------------------------------------------------------------- candidates */

SL_KERNEL(create_tracks_count, struct create_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    for (uint32_t i = a.inputs.offsets[event] + threadIdx.x; i < a.inputs.offsets[event + 1]; i += blockDim.x)
      count += a.triplets.count[i];
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.candidates.offsets[event] = count;
  }
}

/* Layout of up to LAID_OUT tracks: first candidate of each track, and track of each candidate. */
enum { LAID_OUT = 256 };
struct layout {
  uint32_t begin[LAID_OUT];
  uint8_t track[(uint32_t)LAID_OUT * FORWARD_TRIPLETS_MAX];
};

/* Fills the layout of `count` tracks from `first` on; returns the number of candidates. One thread per track. */
static SL_DEVICE uint32_t fill_layout(const struct create_tracks_args *a, uint32_t first, uint32_t count,
                                      struct layout *to) {
  uint32_t begin = 0;
  SL_FOR_BLOCK (i, count) {
    uint32_t total;
    const uint32_t triplets = i < count ? a->triplets.count[first + i] : 0u;
    const uint32_t index = begin + sl_block_exclusive_scan(triplets, &total);
    if (i < count) to->begin[i] = index;
    for (uint32_t k = 0; k < triplets; k++) to->track[index + k] = (uint8_t)i;
    begin += total;
  }
  __syncthreads();
  return begin;
}

/* Writes the tracks, triplets and curves of an event's candidates. */
static SL_DEVICE void lay_out(const struct create_tracks_args *a, uint32_t event, struct layout *layout) {
  const uint32_t first = a->inputs.offsets[event], count = a->inputs.offsets[event + 1] - first;
  const uint32_t hits_begin = a->hits.offsets[event];
  uint32_t begin = a->candidates.offsets[event];
  for (uint32_t done = 0; done < count; done += LAID_OUT) { /* usually once */
    const uint32_t tracks = count - done < LAID_OUT ? count - done : (uint32_t)LAID_OUT;
    const uint32_t candidates = fill_layout(a, first + done, tracks, layout);
    for (uint32_t c = SL_LANES * threadIdx.x; c < candidates; c += SL_LANES * blockDim.x) {
      const uint32_t lanes = sl_lane_count(candidates - c);
      int32_t tracks_of[SL_LANES], k[SL_LANES];
      SL_FOR_LANES (j) {
        const uint32_t at = j < lanes ? c + j : candidates - 1;
        tracks_of[j] = layout->track[at];
        k[j] = (int32_t)(at - layout->begin[layout->track[at]]);
      }
      const sl_i32s track = sl_i32s_of(done) + sl_i32s_in(tracks_of), item = sl_i32s_of(first) + track;
      const sl_i32s words = sl_i32s_gather(a->triplets.triplet, item * (int32_t)FORWARD_TRIPLETS_MAX + sl_i32s_in(k));
      sl_i32s_store((int32_t *)a->candidates.track + begin + c, track, lanes);
      sl_i32s_store((int32_t *)a->items + begin + c, item, lanes);
      sl_i32s_store((int32_t *)a->words + begin + c, words, lanes);
      write_seeds(a, item, words, hits_begin, begin + c, lanes);
    }
    begin += candidates;
    __syncthreads(); /* the layout is free */
  }
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) a->hits_begin[first + i] = hits_begin;
}

/* Coefficients of the shift of y in the stereo layers of an event's tracks: SL_LANES tracks and one layer at a time. */
static SL_DEVICE void find_shifts(const struct create_tracks_args *a, uint32_t event) {
  const uint32_t first = a->inputs.offsets[event], count = a->inputs.offsets[event + 1] - first;
  const uint32_t pieces = (count + SL_LANES - 1) / SL_LANES;
  for (uint32_t k = threadIdx.x; k < SHIFTS * pieces; k += blockDim.x) {
    const uint32_t track = k / SHIFTS * SL_LANES, i = k % SHIFTS, lanes = sl_lane_count(count - track);
    float numbers[SHIFT_NUMBERS][SL_LANES];
    struct states states;
    if (SL_LANES == 1 && a->triplets.count[first + track] == 0) continue;
    sl_f32s_out(states.x, sl_f32s_load(a->inputs.x + first + track, lanes));
    sl_f32s_out(states.y, sl_f32s_load(a->inputs.y + first + track, lanes));
    sl_f32s_out(states.tx, sl_f32s_load(a->inputs.tx + first + track, lanes));
    sl_f32s_out(states.ty, sl_f32s_load(a->inputs.ty + first + track, lanes));
    SL_FOR_LANES (j) {
      const struct forward_state state = state_of(a, &states, j);
      const struct forward_y_shift shift = forward_y_shift_of(&a->forward, &state, forward_stereo_layer(i));
      numbers[0][j] = shift.first;
      numbers[1][j] = shift.second;
      numbers[2][j] = shift.third;
    }
    float *to = a->shifts + SHIFT_NUMBERS * (SHIFTS * (size_t)(first + track) + i);
    for (uint32_t j = 0; j < lanes; j++)
      SL_UNROLL for (uint32_t n = 0; n < SHIFT_NUMBERS; n++) to[SHIFT_NUMBERS * SHIFTS * j + n] = numbers[n][j];
  }
}

SL_KERNEL(create_tracks_lay_out, struct create_tracks_args) {
  __shared__ struct layout layout;
  SL_FOR_EVENTS (event, a.events) {
    if (a.candidates.offsets[event] == a.candidates.offsets[event + 1]) continue; /* for the whole block */
    lay_out(&a, event, &layout);
    find_shifts(&a, event);
  }
}

SL_KERNEL(create_tracks_grow, struct create_tracks_args) {
  SL_FOR_ITEMS_LANES (c, count, a.events, a.candidates.offsets) grow(&a, c, count);
}

static int run(const struct sl_launch *l, const struct create_tracks_args *a) {
  int error = SL_COUNT_SCAN(l, create_tracks_count, SL_PER_EVENT, a->candidates.offsets, &a->candidates.bound, *a);
  if (!error) error = SL_LAUNCH(l, create_tracks_lay_out, SL_PER_EVENT, *a);
  if (!error) error = SL_LAUNCH(l, create_tracks_grow, SL_PER_ITEM(a->candidates), *a);
  return error;
}

SL_ALGORITHM(create_tracks, "grows SciFi track candidates from triplets", 256, run);
