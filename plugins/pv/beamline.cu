/* pv.beamline: primary vertices around the peaks of a histogram along the beam line (README.md, "Peaks").
 *   1. Add each track near the beam line to the histogram as a narrow bell of area 1.
 *   2. Find runs of bins that are not empty and together hold enough tracks.
 *   3. Separate the peaks of a run where the content dips deep enough; each peak with enough tracks is a seed for
 *      fit.h.
 *   4. Sort the seeds by bin; an event with more seeds than PV_MAX_VERTICES is refused.
 * Parallelism: one block per event. One thread per track (8 bins on average; 32 threads for wide bells), then per share
 * of the 3392 bins, then per run (some 20 bins). The histogram is in shared memory (13.6 kB).
 * Determinism: the content is integer, so the order of additions does not matter.
 * Cost: reads 28 bytes per track and writes 4 per seed.
 */
#include "fit.h"
#include "prepare.h"

enum {
  BINS = 3392,
  MAX_RUNS = BINS / 2,
  VECTOR = 8,      /* bins per vector of a CPU */
  WIDE = 34,       /* bells of at least this many bins are filled by a group */
  MAX_WIDE = 64,   /* wide bells per event */
  SCALE_BITS = 20, /* log2 of the content that a track adds */
  SCALE_STEP = 4,  /* reduction of SCALE_BITS where a bin might overflow */
};

#define BELL_SIGMAS 2.64575131f /* sqrt(7): half width of the bell in standard deviations */

/* Limits of content, if a track adds 1 << SCALE_BITS. */
struct beamline_region {
  uint64_t empty;        /* a bin with less content is empty */
  uint64_t seed_doubled; /* lower limit of twice the integral of a seed */
};

struct beamline_limits {
  uint32_t bins, gas_cell_bins; /* number of bins, and of the first bins that are in the gas cell */
  struct beamline_region gas_cell, collisions;
  uint64_t dip; /* lower limit of a dip */
};

#define SL_ARGS beamline_args
#define BEAMLINE(M)                                                                                      \
  M(F32, bin_width, 0.25, 0.001, 100.0, "mm", "width of the bins of the histogram from z_min to z_max")  \
  M(F32, max_z_error, 1.5, 0.001, 1000.0, "mm", "largest error in z of a track in the histogram")        \
  M(F32, max_z_error_fixed_target, 10.0, 0.001, 1000.0, "mm",                                            \
    "largest error in z of a track in the histogram in the gas cell")                                    \
  M(F32, max_beam_chi2, 10.0, 0.0, 1e9, "", "largest chi2 to the beam line of a track in the histogram") \
  M(F32, min_dip_density, 3.0, 0.0, 1e6, "1/mm", "least depth of the dip between two peaks")             \
  M(F32, min_tracks_in_seed, 2.5, 0.0, 1e6, "", "lower limit of the number of tracks of a seed")         \
  M(F32, min_tracks_in_seed_fixed_target, 1.75, 0.0, 1e6, "",                                            \
    "lower limit of the number of tracks of a seed in the gas cell")                                     \
  M(COMPUTED, limits, struct beamline_limits, "number of bins, and limits in units of their content")
PV_FINDER(beamline, BEAMLINE);

struct beamline_shared {
  uint32_t content[BINS];
  uint16_t run_begin[MAX_RUNS];
  uint32_t run_count, seed_count, wide_count;
  uint32_t wide[MAX_WIDE];
  uint16_t seed_bin[PV_MAX_VERTICES];
};

/* A maximum of a run, between two minima. */
struct beamline_peak {
  uint32_t bin, value;
  uint64_t begin_doubled; /* twice the integral of the run up to the minimum before the peak */
};

/* ---------------------------------------------------------------------------------------------- histogram */

/* The bell of a track: bins `first` to `last`, total content `scale`. */
struct beamline_bell {
  float z, z_min, bin_width, inverse_width; /* 1 / half width of the bell */
  int32_t first, last;
  uint32_t scale;
};

/* Content of the bell up to and including bin `i`. */
static SL_DEVICE uint32_t bell_up_to(const struct beamline_bell *b, int32_t i) {
  const float edge = b->z_min + (float)(i + 1) * b->bin_width;
  const float xi = (edge - b->z) * b->inverse_width, eta = 1.0f - xi * xi;
  const float below = 0.5f + xi * (0.5f + eta * (0.25f + 0.1875f * eta));
  const uint32_t rounded = (uint32_t)sl_to_i32(below * (float)b->scale + 0.5f);
  const uint32_t inside = i < b->last ? rounded : b->scale;
  return i < b->first ? 0 : inside;
}

/* Bell of a track at `z` with error 1 / inverse_error. */
static SL_DEVICE struct beamline_bell bell_of(const struct beamline_args *a, float z, float inverse_error,
                                              uint32_t scale) {
  const float middle = (z - a->z_min) / a->bin_width, half_width = BELL_SIGMAS / (inverse_error * a->bin_width);
  const int32_t begin = sl_to_i32(middle - half_width), end = sl_to_i32(middle + half_width);
  const int32_t bins = (int32_t)a->limits.bins;
  struct beamline_bell bell;
  bell.z = z;
  bell.z_min = a->z_min;
  bell.bin_width = a->bin_width;
  bell.inverse_width = inverse_error * (1.0f / BELL_SIGMAS);
  bell.first = begin > 1 ? begin : 1;
  bell.last = end < bins - 2 ? end : bins - 2;
  bell.scale = scale;
  return bell;
}

/* Adds a bell to the content. */
static SL_DEVICE void fill(const struct beamline_bell *bell, uint32_t *content) {
  if (blockDim.x == 1) { /* in vectors: bins outside the bell add 0 */
    for (int32_t i = bell->first / VECTOR * VECTOR; bell->first <= bell->last && i <= bell->last; i += VECTOR)
      for (int32_t j = 0; j < VECTOR; j++) content[i + j] += bell_up_to(bell, i + j) - bell_up_to(bell, i + j - 1);
    return;
  }
  uint32_t before = 0;
  for (int32_t i = bell->first; i <= bell->last; i++) {
    const uint32_t up_to = bell_up_to(bell, i);
    atomicAdd(&content[i], up_to - before);
    before = up_to;
  }
}

static SL_DEVICE float inverse_error_of(const struct pv_tracks *t, uint32_t i) {
  return sl_sqrtf(t->tx[i] * t->tx[i] * t->wx[i] + t->ty[i] * t->ty[i] * t->wy[i]);
}

/* Adds the tracks, except wide bells, which are noted while there is room, so that no thread takes long. */
static SL_DEVICE void fill_histogram(const struct beamline_args *a, const struct pv_tracks *t, const float *beam,
                                     struct beamline_shared *shared, uint32_t scale) {
  for (uint32_t i = threadIdx.x; i < t->count; i += blockDim.x) {
    const float x = t->x[i] - beam[0], y = t->y[i] - beam[1];
    const float beam_chi2 = x * x * t->wx[i] + y * y * t->wy[i];
    const float inverse_error = inverse_error_of(t, i);
    const float max_error = t->z[i] < a->fixed_target_z ? a->max_z_error_fixed_target : a->max_z_error;
    if (!(t->z[i] > a->z_min && beam_chi2 < a->max_beam_chi2 && inverse_error * max_error > 1.0f)) continue;
    const struct beamline_bell bell = bell_of(a, t->z[i], inverse_error, scale);
    const uint32_t is_wide = blockDim.x > 1 && bell.last - bell.first >= WIDE ? 1 : 0;
    const uint32_t place = is_wide ? atomicAdd(&shared->wide_count, 1u) : MAX_WIDE;
    if (place < MAX_WIDE)
      shared->wide[place] = i;
    else
      fill(&bell, shared->content);
  }
}

/* Adds the noted wide bells: one group per track, each thread every 32nd bin. */
static SL_DEVICE void fill_wide(const struct beamline_args *a, const struct pv_tracks *t,
                                struct beamline_shared *shared, uint32_t scale) {
  const uint32_t count = shared->wide_count < MAX_WIDE ? shared->wide_count : MAX_WIDE;
  SL_FOR_GROUPS (w, count, 32) {
    if (w >= count) break;
    const uint32_t track = shared->wide[w];
    const struct beamline_bell bell = bell_of(a, t->z[track], inverse_error_of(t, track), scale);
    for (int32_t i = bell.first + (int32_t)sl_group_lane(32); i <= bell.last; i += (int32_t)SL_GROUP(32))
      atomicAdd(&shared->content[i], bell_up_to(&bell, i) - bell_up_to(&bell, i - 1));
  }
}

/* -------------------------------------------------------------------------------------------------- peaks */

/* Limits for an event with a smaller content per track. */
static SL_DEVICE struct beamline_limits scale_limits(const struct beamline_limits *limits, uint32_t scale_bits) {
  const uint32_t down = SCALE_BITS - scale_bits;
  struct beamline_limits l = *limits;
  l.gas_cell.empty = (l.gas_cell.empty + ((uint64_t)1 << down) - 1) >> down;
  l.collisions.empty = (l.collisions.empty + ((uint64_t)1 << down) - 1) >> down;
  l.gas_cell.seed_doubled >>= down;
  l.collisions.seed_doubled >>= down;
  l.dip >>= down;
  return l;
}

static SL_DEVICE uint32_t is_empty(const struct beamline_limits *l, const uint32_t *content, uint32_t bin) {
  return content[bin] < (bin < l->gas_cell_bins ? l->gas_cell.empty : l->collisions.empty) ? 1 : 0;
}

/* 1 if the integral is enough for a seed that ends before bin `end`. */
static SL_DEVICE uint32_t is_enough(const struct beamline_limits *l, uint64_t integral_doubled, uint32_t end) {
  return integral_doubled > (end < l->gas_cell_bins ? l->gas_cell.seed_doubled : l->collisions.seed_doubled) ? 1 : 0;
}

/* Notes the first bins of runs. The first bin and the last bin are empty. */
static SL_DEVICE void note_runs(const struct beamline_limits *l, struct beamline_shared *shared) {
  for (uint32_t i = threadIdx.x; i < l->bins; i += blockDim.x) {
    if (blockDim.x == 1 && i % VECTOR == 0) { /* most bins have no content at all */
      uint32_t some = 0;
      for (uint32_t j = 0; j < VECTOR; j++) some |= shared->content[i + j];
      if (!some) {
        i += VECTOR - 1;
        continue;
      }
    }
    if (!is_empty(l, shared->content, i) && is_empty(l, shared->content, i - 1))
      shared->run_begin[atomicAdd(&shared->run_count, 1u)] = (uint16_t)i;
  }
}

/* Notes a seed. Seeds beyond PV_MAX_VERTICES are only counted. */
static SL_DEVICE void note_seed(struct beamline_shared *shared, uint32_t bin) {
  const uint32_t place = atomicAdd(&shared->seed_count, 1u);
  if (place < PV_MAX_VERTICES) shared->seed_bin[place] = (uint16_t)bin;
}

/* A run, from bin `begin` to before bin `end`. The content of all bins of an event fits 32 bits. */
struct beamline_run {
  const uint32_t *content;
  uint32_t begin, end;
};

/* A position in a run. */
struct beamline_place {
  uint32_t bin, value, next; /* content of the bin and of the next bin; 0 at the end */
  uint32_t before;           /* content of all earlier bins */
};

static SL_DEVICE void go_on(const struct beamline_run *run, struct beamline_place *place) {
  place->before += place->value;
  place->value = place->next;
  place->bin++;
  place->next = place->bin + 1 < run->end ? run->content[place->bin + 1] : 0;
}

static SL_DEVICE uint64_t doubled_up_to(const struct beamline_place *place) {
  return 2 * (uint64_t)place->before + place->value;
}

/* Notes the seeds of the run that begins at bin `begin`. It steps from a maximum to the next minimum, and so on. A
 * maximum is final when the next maximum far enough above the minimum between them is found. The last minimum is the
 * end of the run. */
static SL_DEVICE void note_seeds_of_run(const struct beamline_limits *l, struct beamline_shared *shared,
                                        uint32_t begin) {
  struct beamline_run run = {shared->content, begin, begin};
  uint32_t sum = 0;
  for (; !is_empty(l, run.content, run.end); run.end++) sum += run.content[run.end];
  if (!is_enough(l, 2 * (uint64_t)sum, run.end)) return;

  struct beamline_place at = {begin, run.content[begin], begin + 1 < run.end ? run.content[begin + 1] : 0, 0};
  struct beamline_place low = at;
  struct beamline_peak peak = {0, 0, 0}, largest = {0, 0, 0};
  uint32_t peaks = 0, seeds = 0;
  for (;;) {
    while (at.bin < run.end && at.next > at.value) go_on(&run, &at);
    const int64_t fall = (int64_t)peak.value - low.value, rise = (int64_t)at.value - low.value;
    const uint32_t ends = at.bin == run.end ? 1 : 0, is_first = peaks == 0 ? 1 : 0;
    const uint32_t is_deep = !ends && !is_first && fall > (int64_t)l->dip && rise > (int64_t)l->dip ? 1 : 0;
    if (ends || is_deep) { /* the last maximum is final */
      const uint64_t right_doubled = doubled_up_to(ends ? &at : &low);
      const uint64_t integral_doubled = right_doubled - peak.begin_doubled;
      if (peak.value > largest.value) largest = peak;
      if ((is_deep || peaks > 1) && is_enough(l, integral_doubled, ends ? run.end : low.bin)) {
        note_seed(shared, peak.bin);
        seeds++;
      }
      peak.begin_doubled = right_doubled;
    }
    if (ends) break;
    peaks += is_first | is_deep;
    if (is_first | is_deep | (fall <= rise ? 1u : 0u)) { /* a new maximum, or a replacement of the last */
      peak.bin = at.bin;
      peak.value = at.value;
    }
    do go_on(&run, &at);
    while (at.bin < run.end && at.next <= at.value);
    low = at;
  }
  if (seeds == 0) note_seed(shared, largest.bin);
}

/* z of a seed, interpolated between the bin of the maximum and its neighbours. */
static SL_DEVICE float seed_position(const struct beamline_args *a, const uint32_t *content, uint32_t bin) {
  const int64_t left = (int64_t)content[bin] - content[bin - 1], right = (int64_t)content[bin] - content[bin + 1];
  const float shift = left + right > 0 ? 0.5f * (float)(left - right) / (float)(left + right) : 0.0f;
  return a->z_min + ((float)bin + 0.5f) * a->bin_width + shift * a->bin_width;
}

static SL_DEVICE void write_seeds(const struct beamline_args *a, const struct beamline_shared *shared, uint32_t event) {
  const uint32_t found = shared->seed_count, count = found > PV_MAX_VERTICES ? 0 : found;
  for (uint32_t s = threadIdx.x; s < count; s += blockDim.x) {
    const uint32_t bin = shared->seed_bin[s];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < count; i++) rank += shared->seed_bin[i] < bin ? 1u : 0u;
    a->seed_z[PV_MAX_VERTICES * event + rank] = seed_position(a, shared->content, bin);
  }
  if (threadIdx.x == 0) a->seed_count[event] = found;
}

SL_KERNEL(beamline_seeds, struct beamline_args) {
  __shared__ struct beamline_shared shared;
  SL_FOR_EVENTS (event, a.events) {
    const struct pv_tracks t = pv_tracks_of(&a.fit, event);
    for (uint32_t i = threadIdx.x; i < BINS; i += blockDim.x) shared.content[i] = 0;
    if (threadIdx.x == 0) shared.run_count = shared.seed_count = shared.wide_count = 0;
    uint32_t scale_bits = SCALE_BITS;
    while (scale_bits > 0 && t.count >> (32 - scale_bits)) scale_bits -= SCALE_STEP;
    const struct beamline_limits limits = scale_limits(&a.limits, scale_bits);
    __syncthreads();
    fill_histogram(&a, &t, a.geometry.beam, &shared, 1u << scale_bits);
    __syncthreads();
    fill_wide(&a, &t, &shared, 1u << scale_bits);
    __syncthreads();
    note_runs(&limits, &shared);
    __syncthreads();
    for (uint32_t r = threadIdx.x; r < shared.run_count; r += blockDim.x)
      note_seeds_of_run(&limits, &shared, shared.run_begin[r]);
    __syncthreads();
    write_seeds(&a, &shared, event);
    __syncthreads(); /* the histogram is free for the next event */
  }
}

/* ---------------------------------------------------------------------------------------------- algorithm */

/* Number of bins, or 0 if it is not a whole number or exceeds the memory. */
static uint32_t bins_of(const struct beamline_args *a) {
  const double bins = ((double)a->z_max - (double)a->z_min) / (double)a->bin_width;
  if (!(bins > 2.5 && bins < (int)BINS + 0.5)) return 0;
  const uint32_t whole = (uint32_t)(bins + 0.5);
  return bins - whole < 1e-3 && whole - bins < 1e-3 ? whole : 0;
}

static int check(const struct sl_services *services, const void *args) {
  const struct beamline_args *a = (const struct beamline_args *)args;
  if (bins_of(a) > 0) return SL_OK;
  services->message(
      services->context, SL_ERROR,
      "from z_min = %g to z_max = %g there are %g bins of bin_width = %g mm: a whole number from 3 to %d is "
      "needed",
      (double)a->z_min, (double)a->z_max, ((double)a->z_max - (double)a->z_min) / (double)a->bin_width,
      (double)a->bin_width, (int)BINS);
  return SL_EINVAL;
}

/* Content of this number of tracks, rounded down. */
static uint64_t content_of(double tracks) { return (uint64_t)(tracks * (1 << SCALE_BITS)); }

/* Least content of a bin that is not empty: a tenth of the widest bell's content per bin width. */
static uint64_t empty_below(double bin_width, double max_z_error) {
  const double tracks = bin_width / (10.0 * max_z_error);
  const uint64_t below = content_of(tracks);
  return (double)below < tracks * (1 << SCALE_BITS) ? below + 1 : below;
}

static int prepare(const struct sl_services *services, void *args) {
  struct beamline_args *a = (struct beamline_args *)args;
  struct beamline_limits l;
  (void)services;
  const double width = (double)a->bin_width;
  l.bins = bins_of(a);
  l.gas_cell_bins = 0;
  while (l.gas_cell_bins < l.bins && a->z_min + (float)l.gas_cell_bins * a->bin_width < a->fixed_target_z)
    l.gas_cell_bins++;
  l.collisions.empty = empty_below(width, (double)a->max_z_error);
  l.gas_cell.empty = empty_below(width, (double)a->max_z_error_fixed_target);
  l.dip = content_of((double)a->min_dip_density * width);
  l.collisions.seed_doubled = content_of(2.0 * (double)a->min_tracks_in_seed);
  l.gas_cell.seed_doubled = content_of(2.0 * (double)a->min_tracks_in_seed_fixed_target);
  a->limits = l;
  return SL_OK;
}

static int run(const struct sl_launch *l, const struct beamline_args *a) {
  int error = pv_prepare_launch(l, &a->fit);
  if (!error) error = SL_LAUNCH(l, beamline_seeds, SL_PER_EVENT, *a);
  if (!error) error = pv_fit_launch(l, &a->fit);
  return error;
}

SL_ALGORITHM(beamline, "finds primary vertices around the peaks of a histogram along the beam line", 128, run,
             SL_CHECK(check), SL_PREPARE(prepare));
