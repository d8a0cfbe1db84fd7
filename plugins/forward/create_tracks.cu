/* forward.create_tracks: from each triplet a track, with the hits of the other layers that are nearest to it
 * (README.md, "Candidates").
 *
 * Count, scan, write: the candidates of an event are laid out side by side, those of a track's triplets one after
 * another; a thread each for a candidate's curve, which leaves the search more registers, and one a track and stereo
 * layer finds how y shifts there, which they share. Then a thread a candidate of the slice: where its hits should be
 * follows from the triplet alone, so that all nine layers are searched at once.
 *
 * Reads 100 bytes a track, and of a candidate some 60 hits' x, which stay in the caches; writes 49 bytes a candidate.
 */
#include "create_tracks.h"

/* A triplet, the curve through its hits, and the track that it is of. */
struct seed {
  uint32_t item, word;
  struct forward_state state;
  struct forward_curve curve;
};

/* Its hit in a station. */
static SL_DEVICE uint32_t seed_hit(const struct create_tracks_args *a, uint32_t item, uint32_t word, uint32_t station) {
  const uint32_t w = FORWARD_LAYER_WINDOWS * (2 * station + is_odd(word)) + is_right(word);
  return a->windows.first[(size_t)item * FORWARD_WINDOWS + w] + (word >> (12 - 6 * station) & 63);
}

static SL_DEVICE void write_curve(const struct create_tracks_args *a, uint32_t candidate,
                                  const struct forward_curve *curve) {
  a->candidates.a[candidate] = curve->a;
  a->candidates.b[candidate] = curve->b;
  a->candidates.c[candidate] = curve->c;
  a->candidates.r[candidate] = curve->r;
}

/* The curve through a triplet, as if all its candidate's hits were found. `hits_begin`: where its event's hits do. */
static SL_DEVICE void write_seed(const struct create_tracks_args *a, uint32_t item, uint32_t word, uint32_t hits_begin,
                                 uint32_t candidate) {
  const struct forward_state state = state_of(a, item);
  const float z_reference = a->forward.constants[FORWARD_Z_REFERENCE];
  float d[TRIPLET_HITS], seed_x[TRIPLET_HITS];
  SL_UNROLL for (uint32_t k = 0; k < TRIPLET_HITS; k++) {
    seed_x[k] = a->hits.x[hits_begin + seed_hit(a, item, word, k)];
    d[k] = a->forward.z_layer[forward_x_layer(2 * k + is_odd(word))] - z_reference;
  }
  const float y = state.y + state.ty * (d[1] + z_reference - state.z);
  const struct forward_curve curve = forward_curve_through(d, seed_x, forward_curve_r(&a->forward, seed_x[1], y));
  write_curve(a, candidate, &curve);
}

static SL_DEVICE struct seed open_seed(const struct create_tracks_args *a, uint32_t item, uint32_t candidate) {
  struct seed s;
  s.item = item;
  s.word = a->words[candidate];
  s.state = state_of(a, item);
  s.curve.a = a->candidates.a[candidate];
  s.curve.b = a->candidates.b[candidate];
  s.curve.c = a->candidates.c[candidate];
  s.curve.r = a->candidates.r[candidate];
  return s;
}

/* Where the hit of the i-th stereo layer should be. */
static SL_DEVICE float stereo_x(const struct create_tracks_args *a, const struct seed *s, uint32_t i) {
  const uint32_t layer = forward_stereo_layer(i);
  const float z = a->forward.z_layer[layer],
              x = forward_curve_x(&s->curve, z - a->forward.constants[FORWARD_Z_REFERENCE]);
  const float *from = a->shifts + SHIFT_NUMBERS * ((size_t)s->item * SHIFTS + i);
  struct forward_y_shift shift;
  shift.first = from[0];
  shift.second = from[1];
  shift.third = from[2];
  return x + -a->forward.dxdy[layer] * forward_shifted_y(&s->state, &shift, z, x);
}

/* Where hits are looked for, the x layers first: a window's hits in the slice, and the place to which they should be
 * near. */
struct search {
  uint32_t begin[SEARCHED], end[SEARCHED];
  float x[SEARCHED];
};

static SL_DEVICE struct search open_search(const struct create_tracks_args *a, const struct seed *seed) {
  const uint32_t hits_begin = a->hits_begin[seed->item];
  const size_t windows = (size_t)seed->item * FORWARD_WINDOWS + is_right(seed->word);
  const size_t x_windows = windows + (is_odd(seed->word) ? 0u : (uint32_t)FORWARD_LAYER_WINDOWS);
  struct search s;
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
    const uint32_t is_stereo = k >= SEARCHED_X, i = is_stereo ? k - SEARCHED_X : 2 * k + 1 - is_odd(seed->word);
    const size_t w = is_stereo ? windows + (FORWARD_LAYER_WINDOWS * (k - SEARCHED_X) + 2)
                               : x_windows + 2 * FORWARD_LAYER_WINDOWS * (size_t)k;
    const float d = a->forward.z_layer[forward_x_layer(i)] - a->forward.constants[FORWARD_Z_REFERENCE];
    const uint32_t count = a->windows.count[w];
    s.begin[k] = hits_begin + (count > 0 ? a->windows.first[w] : 1u); /* behind a hit that there is */
    s.end[k] = s.begin[k] + count;
    s.x[k] = is_stereo ? stereo_x(a, seed, i) : forward_curve_x(&seed->curve, d);
  }
  return s;
}

/* The first hit of each window that is not before the place that is looked for, or its end. A bisection in all of them
 * at a time, so that loads do not wait for each other. A step beyond the end is to the end: if the last hit is before
 * the place, all are. */
static SL_DEVICE void bisect(const struct search *s, const float *x, uint32_t *at) {
  uint32_t most = 0, step = 1;
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
    at[k] = s->begin[k];
    most = s->end[k] - s->begin[k] > most ? s->end[k] - s->begin[k] : most;
  }
  while (2 * step <= most) step *= 2;
  for (; step > 0; step /= 2) {
    uint32_t to[SEARCHED];
    float before[SEARCHED];
    SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
      to[k] = at[k] + step < s->end[k] ? at[k] + step : s->end[k];
      before[k] = x[(size_t)to[k] - 1];
    }
    SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) at[k] = before[k] < s->x[k] ? to[k] : at[k];
  }
}

/* A hit, and the square of its distance from where it should be. */
struct near_hit {
  uint32_t hit;
  float chi2;
};

/* The nearer one of the hits before and behind the place; of two that are as near, the one before. At an infinite
 * distance if there is none. */
static SL_DEVICE struct near_hit nearer_hit(const struct search *s, const float *x, uint32_t k, uint32_t at) {
  const float infinity = sl_f32_from_bits(0x7f800000u);
  const float off_before = at > s->begin[k] ? s->x[k] - x[(size_t)at - 1] : infinity;
  const float off_behind = at < s->end[k] ? x[at] - s->x[k] : infinity;
  const uint32_t is_behind = off_behind < off_before;
  const float off = is_behind ? off_behind : off_before;
  struct near_hit found;
  found.hit = at - (is_behind ? 0u : 1u);
  found.chi2 = off * off;
  return found;
}

/* Four hits, which a GPU stores at once. */
struct four_hits {
  uint16_t of[4];
} __attribute__((aligned(8)));
SL_STATIC_ASSERT(SCIFI_TRACK_HITS_MAX % 4 == 0, "a candidate's hits are whole fours");

static SL_DEVICE void write_no_hits(const struct create_tracks_args *a, uint32_t candidate) {
  const struct four_hits none = {{0, 0, 0, 0}};
  struct four_hits *hits = (struct four_hits *)(void *)(a->candidates.hits + SCIFI_TRACK_HITS_MAX * (size_t)candidate);
  SL_UNROLL for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX / 4; h++) hits[h] = none;
}

/* By layer; NO_HIT: none. */
static SL_DEVICE void write_hits(const struct create_tracks_args *a, uint32_t candidate, const uint32_t *by_layer) {
  uint16_t *hits = a->candidates.hits + SCIFI_TRACK_HITS_MAX * (size_t)candidate;
  uint32_t count = 0;
  write_no_hits(a, candidate); /* those behind the last one */
  SL_UNROLL for (uint32_t layer = 0; layer < SCIFI_LAYERS; layer++) if (by_layer[layer] != NO_HIT) hits[count++] =
      (uint16_t)by_layer[layer];
  a->candidates.hit_count[candidate] = (uint8_t)count;
}

static SL_DEVICE void write_none(const struct create_tracks_args *a, uint32_t candidate) {
  const struct forward_curve none = {0.0f, 0.0f, 0.0f, 0.0f};
  write_no_hits(a, candidate);
  a->candidates.hit_count[candidate] = 0;
  a->candidates.quality[candidate] = 0.0f;
  write_curve(a, candidate, &none);
}

static SL_DEVICE void grow(const struct create_tracks_args *a, const struct seed *seed, uint32_t candidate) {
  const float *x = a->hits.x;
  const float max_chi2_stereo = a->max_chi2_stereo * (sl_abs_f32(seed->state.tx) + sl_abs_f32(seed->state.ty));
  const struct search search = open_search(a, seed);
  const uint32_t hits_begin = a->hits_begin[seed->item];
  uint32_t at[SEARCHED], hits[SEARCHED], by_layer[SCIFI_LAYERS], count = TRIPLET_HITS;
  float chi2_x = 0.0f, chi2_stereo = 0.0f;
  bisect(&search, x, at);
  SL_UNROLL for (uint32_t k = 0; k < SEARCHED; k++) {
    const struct near_hit found = nearer_hit(&search, x, k, at[k]);
    const uint32_t is_near = found.chi2 < (k < SEARCHED_X ? a->max_chi2_x : max_chi2_stereo);
    const float chi2 = is_near ? found.chi2 : 0.0f;
    hits[k] = is_near ? found.hit - hits_begin : NO_HIT;
    count += is_near;
    chi2_x += k < SEARCHED_X ? chi2 : 0.0f;
    chi2_stereo += k < SEARCHED_X ? 0.0f : chi2;
  }
  if (count < a->min_hits) return write_none(a, candidate);
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    by_layer[forward_x_layer(i)] =
        i % 2 == is_odd(seed->word) ? seed_hit(a, seed->item, seed->word, i / 2) : hits[i / 2];
    by_layer[forward_stereo_layer(i)] = hits[SEARCHED_X + i];
  }
  write_hits(a, candidate, by_layer);
  /* Where the limit is 0 there is nothing to divide. */
  a->candidates.quality[candidate] =
      (chi2_x > 0.0f ? chi2_x / a->max_chi2_x : 0.0f) + (chi2_stereo > 0.0f ? chi2_stereo / max_chi2_stereo : 0.0f);
}

SL_KERNEL(create_tracks_count, struct create_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t count = 0;
    for (uint32_t i = a.inputs.offsets[event] + threadIdx.x; i < a.inputs.offsets[event + 1]; i += blockDim.x)
      count += a.triplets.count[i];
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.candidates.offsets[event] = count;
  }
}

/* Tracks whose candidates are laid out at a time: where those of each begin, and of which track each one is. */
enum { LAID_OUT = 256 };
struct layout {
  uint32_t begin[LAID_OUT];
  uint8_t track[(uint32_t)LAID_OUT * FORWARD_TRIPLETS_MAX];
};

/* Fills it for `count` tracks from `first` on; returns how many candidates they have. A thread a track. */
static SL_DEVICE uint32_t fill_layout(const struct create_tracks_args *a, uint32_t first, uint32_t count,
                                      struct layout *to) {
  uint32_t begin = 0;
  SL_FOR_BLOCK (i, count) {
    uint32_t total;
    const uint32_t triplets = i < count ? a->triplets.count[first + i] : 0u;
    const uint32_t place = begin + sl_block_exclusive_scan(triplets, &total);
    if (i < count) to->begin[i] = place;
    for (uint32_t k = 0; k < triplets; k++) to->track[place + k] = (uint8_t)i;
    begin += total;
  }
  __syncthreads();
  return begin;
}

/* The tracks, triplets and curves of an event's candidates. */
static SL_DEVICE void lay_out(const struct create_tracks_args *a, uint32_t event, struct layout *layout) {
  const uint32_t first = a->inputs.offsets[event], count = a->inputs.offsets[event + 1] - first;
  const uint32_t hits_begin = a->hits.offsets[event];
  uint32_t begin = a->candidates.offsets[event];
  for (uint32_t done = 0; done < count; done += LAID_OUT) { /* mostly once */
    const uint32_t tracks = count - done < LAID_OUT ? count - done : (uint32_t)LAID_OUT;
    const uint32_t candidates = fill_layout(a, first + done, tracks, layout);
    for (uint32_t c = threadIdx.x; c < candidates; c += blockDim.x) {
      const uint32_t track = layout->track[c], item = first + done + track, k = c - layout->begin[track];
      const uint32_t word = a->triplets.triplet[(size_t)item * FORWARD_TRIPLETS_MAX + k];
      a->candidates.track[begin + c] = done + track;
      a->items[begin + c] = item;
      a->words[begin + c] = word;
      write_seed(a, item, word, hits_begin, begin + c);
    }
    begin += candidates;
    __syncthreads(); /* the layout is free */
  }
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) a->hits_begin[first + i] = hits_begin;
}

/* A thread a track and stereo layer. */
static SL_DEVICE void find_shifts(const struct create_tracks_args *a, uint32_t event) {
  const uint32_t first = a->inputs.offsets[event], count = a->inputs.offsets[event + 1] - first;
  for (uint32_t k = threadIdx.x; k < SHIFTS * count; k += blockDim.x) {
    const uint32_t item = first + k / SHIFTS;
    if (a->triplets.count[item] == 0) continue;
    const struct forward_state state = state_of(a, item);
    const struct forward_y_shift shift = forward_y_shift_of(&a->forward, &state, forward_stereo_layer(k % SHIFTS));
    float *to = a->shifts + (size_t)SHIFT_NUMBERS * (SHIFTS * (size_t)first + k);
    to[0] = shift.first;
    to[1] = shift.second;
    to[2] = shift.third;
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
  SL_FOR_ITEMS (c, a.events, a.candidates.offsets) {
    const struct seed seed = open_seed(&a, a.items[c], c);
    grow(&a, &seed, c);
  }
}

static int run(const struct sl_launch *l, const struct create_tracks_args *a) {
  int error = SL_LAUNCH(l, create_tracks_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->candidates.offsets, &a->candidates.bound);
  if (!error) error = SL_LAUNCH(l, create_tracks_lay_out, SL_PER_EVENT, *a);
  if (!error) error = SL_LAUNCH(l, create_tracks_grow, SL_PER_ITEM(a->candidates), *a);
  return error;
}

SL_ALGORITHM(create_tracks, "SciFi tracks that grow from triplets", 256, run, SL_CPU_TUNED(create_tracks_tuned));
