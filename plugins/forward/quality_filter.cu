/* forward.quality_filter: selects the best candidate of each track if it is good enough, and resolves tracks that share
 * hits (README.md, "Candidates").
 *   1. List the candidates of an event that have enough hits, in any order.
 *   2. Fit a straight line in y through the stereo hits; compare its slope with the track's, and compute Q.
 *   3. Select the candidate with the smallest Q; ties: the first one.
 *   4. Find the smallest Q on each hit; drop tracks with too many hits on which another track is much better.
 * Parallelism: one block per event, one thread per listed candidate, then one thread per track.
 * Determinism: the best candidate is the minimum of a key (Q, index), and the best of a hit the minimum of Q; neither
 * depends on the order of threads.
 * Cost: reads 1 byte per candidate, 48 more per listed candidate and 10 per hit; writes 8 per listed candidate and 57
 * per track.
 */
#include "forward_math.h"

#include <sluice/kernel.h>

enum {
  QUALITY_LIST = 1024,  /* candidates per list */
  COUNTS_AT_A_TIME = 8, /* hit counts that a thread loads at once */
  LINE_NUMBERS = 2,     /* numbers per line: y and slope */
  HITS_MAX = 7168       /* hits of an event in shared memory */
};

/* A line in y takes two degrees of freedom. Each hit count from nine on has its own factor. */
enum { LINE_HITS = 2, FIRST_FACTOR = 9, FACTORS = 4 };

#define SL_ARGS quality_filter_args
#define QUALITY_FILTER(M)                                                                                         \
  M(IN, inputs, forward_inputs, "offsets tx ty", "tracks at the end of the UT")                                   \
  M(IN, hits, scifi_hits, "offsets id x z", "hits of the fibre tracker")                                          \
  M(IN, candidates, forward_candidates, "", "candidates of the tracks")                                           \
  M(IN, forward, forward_constants, "dxdy constants", "slope of the fibres, and constants")                       \
  M(OUT, best, forward_best_candidates, "best candidate of each track", SL_SHARES_OFFSETS(inputs))                \
  M(U32, min_hits, 9, 9, 12, "", "least number of hits of a candidate")                                           \
  M(U32, min_hits_any_slope, 11, 9, 13, "", "number of hits from which on any slope in y is accepted")            \
  M(F32, max_slope_difference, 0.02, 0.0, 10.0, "",                                                               \
    "largest difference of dy/dz to the track at the end of the UT, for candidates with fewer hits than "         \
    "`min_hits_any_slope`")                                                                                       \
  M(F32, x_chi2_scale, 0.02, 1e-9, 1e9, "", "scale of the mean chi2 of the added hits, in units of its limits")   \
  M(F32, y_chi2_scale, 1.0, 1e-3, 1e9, "mm2", "scale of the mean squared residual in y")                          \
  M(F32, slope_error, 1e-3, 1e-9, 10.0, "", "scale of the difference of dy/dz to the track at the end of the UT") \
  M(F32, slope_error_per_bend, 0.02, 0.0, 10.0, "", "addition to it, per change of dx/dz in the magnet")          \
  M(F32_ARRAY, factors, FACTORS, "[40, 8, 2.5, 1]", 0.0, 1e6, "", "factors of Q for 9, 10, 11 and 12 hits")       \
  M(BOOL, is_sum, 0, "Q is the sum of LHCb's trigger, without `x_chi2_scale` and slopes")                         \
  M(F32, max_quality, 1500.0, 0.0, 1e9, "", "upper limit of Q")                                                   \
  M(U32, max_shared_hits, 3, 0, 12, "", "largest number of hits of a track on which another one is much better")  \
  M(F32, shared_ratio, 3.0, 1.0, 1e9, "", "a track is much better if its Q is smaller by more than this factor")  \
  M(SCRATCH, keys, u64, "Q and index of a track's best candidate so far", SL_ONE(SL_ITEMS_TERM(inputs)))          \
  M(SCRATCH, lines, f32, "y and slope of a candidate with enough hits",                                           \
    SL_ONE(SL_ITEMS_SCALED(candidates, LINE_NUMBERS, 1, 0)))                                                      \
  M(SCRATCH, best_of_hits, u32, "smallest Q on a hit, for events that exceed shared memory",                      \
    SL_ONE(SL_ITEMS_TERM(hits)))
SL_ARGUMENTS(quality_filter, QUALITY_FILTER);

static const uint64_t no_key = UINT64_MAX;

/* A straight line in y: y at z = 0, slope, and quality of the fit. */
struct y_line {
  float y, ty;
  float chi2; /* sum of squared residuals per degree of freedom, mm2 */
  uint32_t has_all_stations;
};

static SL_DEVICE uint32_t layer_of(uint32_t id) { return (id >> SCIFI_LAYER_BIT & 15) - SCIFI_STATION_LAYERS; }

static SL_DEVICE struct forward_curve curve_of(const struct quality_filter_args *a, uint32_t candidate) {
  struct forward_curve curve;
  curve.a = a->candidates.a[candidate];
  curve.b = a->candidates.b[candidate];
  curve.c = a->candidates.c[candidate];
  curve.r = a->candidates.r[candidate];
  return curve;
}

/* Hits of a candidate, which a GPU loads and stores with three instructions. */
struct twelve_hits {
  uint16_t of[SCIFI_TRACK_HITS_MAX];
} __attribute__((aligned(8)));

static SL_DEVICE struct twelve_hits hits_of(const uint16_t *hits, uint32_t index) {
  return *(const struct twelve_hits *)(const void *)(hits + SCIFI_TRACK_HITS_MAX * (size_t)index);
}

static SL_DEVICE void write_hits(uint16_t *hits, uint32_t index, const struct twelve_hits *written) {
  *(struct twelve_hits *)(void *)(hits + SCIFI_TRACK_HITS_MAX * (size_t)index) = *written;
}
SL_STATIC_ASSERT(sizeof(struct twelve_hits) == 2 * SCIFI_TRACK_HITS_MAX, "the hits of candidates are contiguous");

/* Least-squares fit. d = z - z_reference keeps the numbers small. All twelve entries are loaded at once, with weight 0
 * unless they are stereo hits; and before the first division, since the CUDA compiler does not move loads across it. */
static SL_DEVICE struct y_line fit_y(const struct quality_filter_args *a, uint32_t event, uint32_t candidate) {
  struct y_line line;
  const struct forward_curve curve = curve_of(a, candidate);
  const struct twelve_hits hits = hits_of(a->candidates.hits, candidate);
  const uint32_t event_hits = a->hits.offsets[event], count = a->candidates.hit_count[candidate];
  const float z_reference = a->forward.constants[FORWARD_Z_REFERENCE];
  uint32_t layer[SCIFI_TRACK_HITS_MAX];
  float x[SCIFI_TRACK_HITS_MAX], dxdy[SCIFI_TRACK_HITS_MAX];
  float weight[SCIFI_TRACK_HITS_MAX], d[SCIFI_TRACK_HITS_MAX], y[SCIFI_TRACK_HITS_MAX];
  float points = 0.0f, sum_d = 0.0f, sum_y = 0.0f, sum_dd = 0.0f, sum_dy = 0.0f, squares = 0.0f;
  uint32_t stations = 0;
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_TRACK_HITS_MAX; i++) {
    const uint32_t hit = event_hits + hits.of[i];
    layer[i] = layer_of(a->hits.id[hit]);
    d[i] = a->hits.z[hit] - z_reference;
    x[i] = a->hits.x[hit];
  }
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_TRACK_HITS_MAX; i++) dxdy[i] = a->forward.dxdy[layer[i]];
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_TRACK_HITS_MAX; i++) {
    const uint32_t is_point = i < count && dxdy[i] != 0.0f;
    weight[i] = is_point ? 1.0f : 0.0f;
    y[i] = is_point ? (forward_curve_x(&curve, d[i]) - x[i]) / dxdy[i] : 0.0f;
    stations |= is_point << (layer[i] / SCIFI_STATION_LAYERS);
  }
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_TRACK_HITS_MAX; i++) {
    points += weight[i];
    sum_d += weight[i] * d[i];
    sum_y += y[i];
    sum_dd += weight[i] * d[i] * d[i];
    sum_dy += d[i] * y[i];
  }
  line.has_all_stations = stations == (1u << SCIFI_STATIONS) - 1;
  line.y = line.ty = line.chi2 = 0.0f;
  if (!line.has_all_stations) return line;
  const float mean_d = sum_d / points, mean_y = sum_y / points;
  line.ty = (sum_dy - mean_d * sum_y) / (sum_dd - mean_d * sum_d);
  const float y_reference = mean_y - line.ty * mean_d;
  line.y = y_reference - line.ty * z_reference;
  SL_UNROLL for (uint32_t i = 0; i < SCIFI_TRACK_HITS_MAX; i++) {
    const float off = y[i] - (y_reference + line.ty * d[i]);
    squares += weight[i] * off * off;
  }
  line.chi2 = squares / (points - (float)LINE_HITS);
  return line;
}

/* Q of a candidate, or max_quality if it fails a requirement. `change`: change of dx/dz in the magnet. */
static SL_DEVICE float quality_of(const struct quality_filter_args *a, const struct y_line *line, uint32_t candidate,
                                  float ty, float change) {
  const uint32_t hits = a->candidates.hit_count[candidate];
  const float off = line->ty - ty;
  const uint32_t is_straight = sl_abs_f32(off) < a->max_slope_difference;
  if (!line->has_all_stations || !(hits >= a->min_hits_any_slope || is_straight)) return a->max_quality;
  const float factor = a->factors[hits - FIRST_FACTOR], of_y = line->chi2 / a->y_chi2_scale;
  const float of_x = a->candidates.quality[candidate] / (float)(hits - 3);
  if (a->is_sum) return factor * (of_x + of_y);
  const float slope = off / (a->slope_error + a->slope_error_per_bend * sl_abs_f32(change));
  return factor * (1.0f + of_x / a->x_chi2_scale) * sqrtf((1.0f + of_y) * sqrtf(1.0f + slope * slope));
}

static SL_DEVICE void evaluate(const struct quality_filter_args *a, uint32_t event, uint32_t candidate) {
  const uint32_t item = a->inputs.offsets[event] + a->candidates.track[candidate];
  const struct y_line line = fit_y(a, event, candidate);
  const float change = a->candidates.b[candidate] - a->inputs.tx[item];
  const float quality = quality_of(a, &line, candidate, a->inputs.ty[item], change);
  if (!(quality < a->max_quality)) return;
  a->lines[LINE_NUMBERS * (size_t)candidate] = line.y;
  a->lines[LINE_NUMBERS * (size_t)candidate + 1] = line.ty;
  /* Q is not negative, so its bits sort like the number. */
  const uint64_t key = (uint64_t)sl_bits_from_f32(quality) << 32 | (candidate - a->candidates.offsets[event]);
  atomicMin((sl_atomic_u64 *)&a->keys[item], (sl_atomic_u64)key);
}

/* Listed candidates, in any order. */
struct quality_list {
  uint32_t length, candidate[QUALITY_LIST];
};

/* Lists those of `count` candidates from `begin` on that have enough hits, so that no lane is idle. */
static SL_DEVICE void list_long(const struct quality_filter_args *a, uint32_t begin, uint32_t count,
                                struct quality_list *list) {
  if (threadIdx.x == 0) list->length = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += COUNTS_AT_A_TIME * blockDim.x) {
    uint32_t hits[COUNTS_AT_A_TIME] = {0};
    SL_UNROLL
    for (uint32_t k = 0; k < COUNTS_AT_A_TIME; k++)
      if (i + k * blockDim.x < count) hits[k] = a->candidates.hit_count[begin + i + k * blockDim.x];
    SL_UNROLL
    for (uint32_t k = 0; k < COUNTS_AT_A_TIME; k++)
      if (hits[k] >= a->min_hits) list->candidate[atomicAdd(&list->length, 1u)] = begin + i + k * blockDim.x;
  }
  __syncthreads();
}

static SL_DEVICE void evaluate_all(const struct quality_filter_args *a, uint32_t event, struct quality_list *list) {
  const uint32_t begin = a->candidates.offsets[event], end = a->candidates.offsets[event + 1];
  for (uint32_t done = begin; done < end; done += QUALITY_LIST) { /* usually once */
    list_long(a, done, end - done < QUALITY_LIST ? end - done : QUALITY_LIST, list);
    for (uint32_t i = threadIdx.x; i < list->length; i += blockDim.x) evaluate(a, event, list->candidate[i]);
    __syncthreads(); /* the list is free, the keys are complete */
  }
}

static SL_DEVICE void write_none(const struct quality_filter_args *a, uint32_t item) {
  const struct forward_best_candidates *b = &a->best;
  const struct twelve_hits none = {{0}};
  b->hit_count[item] = 0;
  write_hits(b->hits, item, &none);
  b->a[item] = b->b[item] = b->c[item] = b->r[item] = b->y[item] = b->ty[item] = b->quality[item] = 0.0f;
}

/* Loads everything before the first store, so that the loads overlap. */
static SL_DEVICE void write_best(const struct quality_filter_args *a, uint32_t event, uint32_t item, uint64_t key) {
  const struct forward_best_candidates *b = &a->best;
  const uint32_t candidate = a->candidates.offsets[event] + (uint32_t)key;
  const struct forward_curve curve = curve_of(a, candidate);
  const struct twelve_hits hits = hits_of(a->candidates.hits, candidate);
  const float y = a->lines[LINE_NUMBERS * (size_t)candidate], ty = a->lines[LINE_NUMBERS * (size_t)candidate + 1];
  b->hit_count[item] = a->candidates.hit_count[candidate];
  write_hits(b->hits, item, &hits);
  b->a[item] = curve.a;
  b->b[item] = curve.b;
  b->c[item] = curve.c;
  b->r[item] = curve.r;
  b->y[item] = y;
  b->ty[item] = ty;
  b->quality[item] = sl_f32_from_bits((uint32_t)(key >> 32));
}

/* Smallest Q of the tracks on each hit of the event, as bits, which sort like the number. All threads of the block must
 * call it. */
static SL_DEVICE void find_best_of_hits(const struct quality_filter_args *a, uint32_t event, uint32_t *best) {
  const uint32_t hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  for (uint32_t h = threadIdx.x; h < hits; h += blockDim.x) best[h] = UINT32_MAX;
  __syncthreads();
  for (uint32_t i = a->inputs.offsets[event] + threadIdx.x; i < a->inputs.offsets[event + 1]; i += blockDim.x) {
    const uint64_t key = a->keys[i];
    if (key == no_key) continue;
    const uint32_t candidate = a->candidates.offsets[event] + (uint32_t)key;
    const struct twelve_hits own = hits_of(a->candidates.hits, candidate);
    const uint32_t count = a->candidates.hit_count[candidate];
    SL_UNROLL for (uint32_t k = 0; k < SCIFI_TRACK_HITS_MAX; k++) if (k < count)
        atomicMin(&best[own.of[k]], (uint32_t)(key >> 32));
  }
  __syncthreads();
}

/* 1 if another track is much better on too many hits of a track. */
static SL_DEVICE uint32_t is_surpassed(const struct quality_filter_args *a, uint32_t event, uint64_t key,
                                       const uint32_t *best) {
  const uint32_t candidate = a->candidates.offsets[event] + (uint32_t)key;
  const struct twelve_hits own = hits_of(a->candidates.hits, candidate);
  const uint32_t count = a->candidates.hit_count[candidate];
  const float quality = sl_f32_from_bits((uint32_t)(key >> 32));
  uint32_t lost = 0;
  SL_UNROLL for (uint32_t k = 0; k < SCIFI_TRACK_HITS_MAX; k++) lost +=
      k < count && sl_f32_from_bits(best[own.of[k]]) * a->shared_ratio < quality ? 1u : 0u;
  return lost > a->max_shared_hits;
}

/* Writes the best candidates of an event's tracks that are not surpassed. `best`: one word per hit. */
static SL_DEVICE void write_event(const struct quality_filter_args *a, uint32_t event, uint32_t *best) {
  const uint32_t begin = a->inputs.offsets[event], end = a->inputs.offsets[event + 1];
  const uint32_t are_shared = a->max_shared_hits < SCIFI_TRACK_HITS_MAX;
  if (are_shared) find_best_of_hits(a, event, best);
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const uint64_t key = a->keys[i];
    if (key == no_key || (are_shared && is_surpassed(a, event, key, best)))
      write_none(a, i);
    else
      write_best(a, event, i, key);
  }
}

SL_KERNEL_REGISTERS(quality_filter_choose, struct quality_filter_args, 80) {
  __shared__ struct quality_list list;
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = a.inputs.offsets[event] + threadIdx.x; i < a.inputs.offsets[event + 1]; i += blockDim.x)
      a.keys[i] = no_key;
    __syncthreads();
    evaluate_all(&a, event, &list);
  }
}

/* A kernel of its own: while candidates are evaluated, the table would displace hits in the cache. */
SL_KERNEL(quality_filter_write, struct quality_filter_args) {
  __shared__ uint32_t best[HITS_MAX];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.hits.offsets[event], is_small = a.hits.offsets[event + 1] - first <= HITS_MAX;
    if (is_small)
      write_event(&a, event, best);
    else
      write_event(&a, event, a.best_of_hits + first);
    __syncthreads(); /* the table is free */
  }
}

static int run(const struct sl_launch *l, const struct quality_filter_args *a) {
  const int error = SL_LAUNCH(l, quality_filter_choose, SL_PER_EVENT, *a);
  return error ? error : SL_LAUNCH(l, quality_filter_write, SL_PER_EVENT, *a);
}

SL_ALGORITHM(quality_filter, "selects the best SciFi track candidate of each track", 128, run);
