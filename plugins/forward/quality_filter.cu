/* forward.quality_filter: of the candidates of each track the best one, if it is good enough (README.md,
 * "Candidates").
 *
 * The stereo hits of a candidate say where it is in y; a straight line through these must go where the track went. Of
 * what passes, the least Q is the best; of the same, what comes first.
 *
 * A thread a candidate of enough hits, of which a block lists an event's, in any order: the least key of Q and place is
 * the track's. Then a thread a track writes its best one. Reads a byte of each candidate, and of those that are long
 * another 44 and ten bytes of each hit; writes 8 bytes of scratch for each of these, and 57 bytes a track.
 */
#include "forward_math.h"

#include <sluice/kernel.h>

enum {
  QUALITY_LIST = 1024,  /* candidates listed at a time */
  COUNTS_AT_A_TIME = 8, /* that a thread reads before it lists one */
  LINE_NUMBERS = 2      /* that are kept of a line: y and its slope */
};

/* Three points make a line in y, and four hit counts have factors of their own, from nine hits on. */
enum { LINE_HITS = 2, FIRST_FACTOR = 9, FACTORS = 4 };

#define SL_ARGS quality_filter_args
#define QUALITY_FILTER(M)                                                                                          \
  M(IN, inputs, forward_inputs, "offsets ty", "tracks before the magnet")                                          \
  M(IN, hits, scifi_hits, "offsets id x z", "which the candidates have")                                           \
  M(IN, candidates, forward_candidates, "", "of these tracks")                                                     \
  M(IN, forward, forward_constants, "dxdy constants", "of the detector")                                           \
  M(OUT, best, forward_best_candidates, "for each track", SL_SHARES_OFFSETS(inputs))                               \
  M(U32, min_hits, 9, 9, 12, "", "least number of hits")                                                           \
  M(U32, min_hits_any_slope, 11, 9, 13, "", "from so many hits on, any slope in y will do")                        \
  M(F32, max_slope_difference, 0.02, 0.0, 10.0, "", "in y, to the track before the magnet, of candidates of less") \
  M(F32, y_chi2_scale, 800.0, 1e-3, 1e9, "mm2", "what the mean square in y is divided by")                         \
  M(F32_ARRAY, factors, FACTORS, "[5, 1, 0.8, 0.5]", 0.0, 1e6, "", "of Q, for 9, 10, 11 and 12 hits")              \
  M(F32, max_quality, 0.5, 0.0, 1e9, "", "Q is less")                                                              \
  M(SCRATCH, keys, u64, "of the best candidate of each track so far: Q and place", SL_ONE(SL_ITEMS_TERM(inputs)))  \
  M(SCRATCH, lines, f32, "y and slope of the candidates of hits enough",                                           \
    SL_ONE(SL_ITEMS_SCALED(candidates, LINE_NUMBERS, 1, 0)))
SL_ARGUMENTS(quality_filter, QUALITY_FILTER);

static const uint64_t no_key = UINT64_MAX;

/* A straight line in y, with its value at z = 0, and how well it fits. */
struct y_line {
  float y, ty;
  float chi2; /* mean square of what the hits are off, over the number of hits more than the line needs */
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

/* Hits of a candidate, which a GPU loads and stores in three. */
struct twelve_hits {
  uint16_t of[SCIFI_TRACK_HITS_MAX];
} __attribute__((aligned(8)));

static SL_DEVICE struct twelve_hits hits_of(const uint16_t *hits, uint32_t index) {
  return *(const struct twelve_hits *)(const void *)(hits + SCIFI_TRACK_HITS_MAX * (size_t)index);
}

static SL_DEVICE void write_hits(uint16_t *hits, uint32_t index, const struct twelve_hits *written) {
  *(struct twelve_hits *)(void *)(hits + SCIFI_TRACK_HITS_MAX * (size_t)index) = *written;
}
SL_STATIC_ASSERT(sizeof(struct twelve_hits) == 2 * SCIFI_TRACK_HITS_MAX, "hits of candidates follow each other");

/* Least squares. d is z less the reference plane's, so that the numbers are small. All twelve hits are read at once,
 * those that are none or no stereo hits with a weight of 0; and before the first division, behind which a GPU's
 * compiler leaves what it finds there. */
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

/* Of a candidate that may be kept; else max_quality. */
static SL_DEVICE float quality_of(const struct quality_filter_args *a, const struct y_line *line, uint32_t candidate,
                                  float ty) {
  const uint32_t hits = a->candidates.hit_count[candidate];
  const uint32_t is_straight = sl_abs_f32(line->ty - ty) < a->max_slope_difference;
  if (!line->has_all_stations || !(hits >= a->min_hits_any_slope || is_straight)) return a->max_quality;
  const float x_quality = a->candidates.quality[candidate] / (float)(hits - 3);
  return a->factors[hits - FIRST_FACTOR] * (x_quality + line->chi2 / a->y_chi2_scale);
}

static SL_DEVICE void judge(const struct quality_filter_args *a, uint32_t event, uint32_t candidate) {
  const uint32_t item = a->inputs.offsets[event] + a->candidates.track[candidate];
  const struct y_line line = fit_y(a, event, candidate);
  const float quality = quality_of(a, &line, candidate, a->inputs.ty[item]);
  if (!(quality < a->max_quality)) return;
  a->lines[LINE_NUMBERS * (size_t)candidate] = line.y;
  a->lines[LINE_NUMBERS * (size_t)candidate + 1] = line.ty;
  /* Q is not negative, so that its bits are in its order. */
  const uint64_t key = (uint64_t)sl_bits_from_f32(quality) << 32 | (candidate - a->candidates.offsets[event]);
  atomicMin((sl_atomic_u64 *)&a->keys[item], (sl_atomic_u64)key);
}

/* Candidates, in any order. */
struct quality_list {
  uint32_t length, candidate[QUALITY_LIST];
};

/* Lists those of `count` candidates from `begin` on that have hits enough, so that no lane waits for the others. */
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

static SL_DEVICE void judge_all(const struct quality_filter_args *a, uint32_t event, struct quality_list *list) {
  const uint32_t begin = a->candidates.offsets[event], end = a->candidates.offsets[event + 1];
  for (uint32_t done = begin; done < end; done += QUALITY_LIST) { /* mostly once */
    list_long(a, done, end - done < QUALITY_LIST ? end - done : QUALITY_LIST, list);
    for (uint32_t i = threadIdx.x; i < list->length; i += blockDim.x) judge(a, event, list->candidate[i]);
    __syncthreads(); /* the list is free, the keys are there */
  }
}

static SL_DEVICE void write_none(const struct quality_filter_args *a, uint32_t item) {
  const struct forward_best_candidates *b = &a->best;
  const struct twelve_hits none = {{0}};
  b->hit_count[item] = 0;
  write_hits(b->hits, item, &none);
  b->a[item] = b->b[item] = b->c[item] = b->r[item] = b->y[item] = b->ty[item] = b->quality[item] = 0.0f;
}

/* All is read before the first of it is written, so that it is waited for once. */
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

SL_KERNEL_REGISTERS(quality_filter_choose, struct quality_filter_args, 80) {
  __shared__ struct quality_list list;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.inputs.offsets[event], end = a.inputs.offsets[event + 1];
    for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) a.keys[i] = no_key;
    __syncthreads();
    judge_all(&a, event, &list);
    for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const uint64_t key = a.keys[i];
      if (key == no_key)
        write_none(&a, i);
      else
        write_best(&a, event, i, key);
    }
  }
}

static int run(const struct sl_launch *l, const struct quality_filter_args *a) {
  return SL_LAUNCH(l, quality_filter_choose, SL_PER_EVENT, *a);
}

SL_ALGORITHM(quality_filter, "the best SciFi track of each track", 128, run);
