/* waveforms.extremes: smallest and largest value of a window and the first index of each, by one block per waveform.
 *
 * On a CPU the extremes of 32 samples at a time, then a search of the first sample that is equal to each of them.
 * Elsewhere each thread keeps its extremes with their indices, and the block combines them.
 *
 * Determinism: extremes do not depend on an order; the value is that of the first index, as 0 and -0 are equal.
 * Cost per sample: reads it once, on a CPU up to the extremes once more.
 */
#include "waveform_lanes.h"

#define SL_ARGS extremes_args
#define EXTREMES(M)                                                                                       \
  M(OPTIONAL_IN, traces, waveforms_traces, "value", "waveforms as digitised; either these or `series`")   \
  M(OPTIONAL_IN, series, waveforms_series, "value valid", "filtered waveforms; either these or `traces`") \
  M(OUT, extremes, waveforms_extremes, "of the window; indices count from the beginning of the waveform") \
  M(U32, begin, 0, 0, SAMPLES_MAX, "samples", "index of the first sample of the window")                  \
  M(U32, length, 0, 0, SAMPLES_MAX, "samples", "number of samples of the window; 0: up to the end of the waveform")
SL_ARGUMENTS(extremes, EXTREMES);

/* A row of traces or of series; the other pointer is NULL. */
struct row {
  const uint16_t *trace;
  const float *series;
};

static SL_DEVICE float value_at(const struct row *row, uint32_t i) {
  return row->trace ? (float)row->trace[i] : row->series[i];
}

#if defined(SL_TARGET_CPU)
static sl_f32s values_at(const struct row *row, uint32_t i, uint32_t count) {
  float values[SL_LANES];
  if (!row->trace) return sl_f32s_load(row->series + i, count);
  if (count == SL_LANES) return f32s_from_u16(row->trace + i);
  SL_FOR_LANES (j) values[j] = (float)row->trace[i + (j < count ? j : count - 1)];
  return sl_f32s_in(values);
}

static void find_values(const struct row *row, uint32_t begin, uint32_t end, float *smallest, float *largest) {
  enum { CHAINS = 4, step = SL_LANES }; /* independent comparisons, which a CPU overlaps */
  sl_f32s low[CHAINS], high[CHAINS];
  for (uint32_t c = 0; c < CHAINS; c++) low[c] = high[c] = sl_f32s_of(value_at(row, begin));
  uint32_t i = begin;
  for (; i + (CHAINS - 1) * step + SL_LANES <= end; i += CHAINS * step) {
    SL_UNROLL
    for (uint32_t c = 0; c < CHAINS; c++) {
      const sl_f32s v = values_at(row, i + c * step, SL_LANES);
      low[c] = sl_f32s_min(v, low[c]);
      high[c] = sl_f32s_max(v, high[c]);
    }
  }
  for (; i < end; i += step) {
    const sl_f32s v = values_at(row, i, sl_lane_count(end - i));
    low[0] = sl_f32s_min(v, low[0]);
    high[0] = sl_f32s_max(v, high[0]);
  }
  for (uint32_t c = 1; c < CHAINS; c++) {
    low[0] = sl_f32s_min(low[c], low[0]);
    high[0] = sl_f32s_max(high[c], high[0]);
  }
  float lows[SL_LANES], highs[SL_LANES];
  sl_f32s_out(lows, low[0]);
  sl_f32s_out(highs, high[0]);
  SL_FOR_LANES (j) {
    lows[0] = sl_min_f32(lows[j], lows[0]);
    highs[0] = sl_max_f32(highs[j], highs[0]);
  }
  *smallest = lows[0];
  *largest = highs[0];
}

/* First index with this value, which exists. */
static uint32_t find_index(const struct row *row, uint32_t begin, uint32_t end, float value) {
  const sl_f32s wanted = sl_f32s_of(value);
  uint32_t i = begin, lane = NOT_FOUND;
  for (; i < end && lane == NOT_FOUND; i += SL_LANES)
    lane = first_lane(SL_MASK(values_at(row, i, sl_lane_count(end - i)) == wanted));
  return i - SL_LANES + lane;
}

static void find_indices(const struct row *row, uint32_t begin, uint32_t end, uint32_t *minimum, uint32_t *maximum) {
  float smallest, largest;
  find_values(row, begin, end, &smallest, &largest);
  *minimum = find_index(row, begin, end, smallest);
  *maximum = find_index(row, begin, end, largest);
}
#else
static SL_DEVICE void find_indices(const struct row *row, uint32_t begin, uint32_t end, uint32_t *minimum,
                                   uint32_t *maximum) {
  uint64_t low = UINT64_MAX, high = UINT64_MAX; /* order of the value, index */
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const uint32_t order = order_of(value_at(row, i));
    const uint64_t up = (uint64_t)order << 32 | i, down = (uint64_t)~order << 32 | i;
    low = up < low ? up : low;
    high = down < high ? down : high;
  }
  *minimum = (uint32_t)sl_block_min_u64(low);
  *maximum = (uint32_t)sl_block_min_u64(high);
}
#endif

static SL_DEVICE void find(const struct extremes_args *a, uint32_t event, const struct row row) {
  const uint32_t samples = row.trace ? a->traces.samples : a->series.length;
  const uint32_t end = a->begin + window_length(a->begin, a->length, samples);
  uint32_t first_minimum, first_maximum;
  find_indices(&row, a->begin, end, &first_minimum, &first_maximum);
  const uint32_t is_valid = row.trace || a->series.valid[event];
  if (threadIdx.x == 0) {
    a->extremes.minimum[event] = is_valid ? value_at(&row, first_minimum) : 0.0f;
    a->extremes.maximum[event] = is_valid ? value_at(&row, first_maximum) : 0.0f;
    a->extremes.first_minimum[event] = is_valid ? (int32_t)first_minimum : -1;
    a->extremes.first_maximum[event] = is_valid ? (int32_t)first_maximum : -1;
    a->extremes.valid[event] = is_valid ? ALL_VALID : 0;
  }
}

SL_KERNEL(find_extremes, struct extremes_args) {
  SL_FOR_EVENTS (event, a.events) {
    if (a.traces.value) {
      const struct row row = {a.traces.value + (size_t)event * a.traces.samples, NULL};
      find(&a, event, row);
    } else {
      const struct row row = {NULL, a.series.value + (size_t)event * a.series.length};
      find(&a, event, row);
    }
  }
}

static int run(const struct sl_launch *l, const struct extremes_args *a) {
  return SL_LAUNCH(l, find_extremes, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct extremes_args *a = (const struct extremes_args *)args;
  const uint32_t traces = a->traces.samples, series = a->series.length; /* 0: not connected */
  if (!traces != !series) return window_check(s, a->begin, a->length, traces ? traces : series, 1);
  s->message(s->context, SL_ERROR, "one of the inputs `traces` and `series` is expected; %s connected",
             traces ? "both are" : "none is");
  return SL_EINVAL;
}

SL_ALGORITHM(extremes, "smallest and largest value of a window of a waveform, and where they are", 256, run,
             SL_CHECK(check));
