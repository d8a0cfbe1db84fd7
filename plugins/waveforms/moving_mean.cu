/* waveforms.moving_mean: means over a window of `length` values that ends (left) or begins (right) at each value, in
 * several passes, by one block per waveform. Beyond an end of the waveform, its last value is repeated.
 *
 * A pass takes a part of the waveform at a time:
 *   1. Copy its values and those of the window beside it. Parts are taken so that each is read before it is written.
 *   2. Sums of 1, 2, 4, 8, ... values by doubling. The total has the sums of the lengths that add up to `length`,
 *      shortest first.
 *
 * Determinism: the additions of a value depend on `length` alone. Cost per value and pass: log2(length) additions.
 */
#include "windows.h"

enum {
#if defined(SL_TARGET_CPU)
  PART = 512, /* values in the cache */
#else
  PART = 2048, /* fewer barriers */
#endif
  PASSES_MAX = 32
};

struct moving_mean_passes {
  uint32_t count, is_right; /* is_right: one bit for each pass */
};

#define SL_ARGS moving_mean_args
#define MOVING_MEAN(M)                                                                                            \
  M(IN, series, waveforms_series, "", "waveforms")                                                                \
  M(U32, length, 48, 1, 6000, "", "number of values of a mean; less than the values of a waveform")               \
  M(STRING, passes, "left right left",                                                                            \
    "for each pass `left`: the window ends at the value; or `right`: it begins there")                            \
  M(OUT, means, waveforms_series, "as many values as `series`", SL_DIMENSIONS(SL_DIMENSION_TERM(series, length))) \
  M(COMPUTED, directions, struct moving_mean_passes, "directions of the passes")
SL_ARGUMENTS(moving_mean, MOVING_MEAN);

/* Copies the `count` values from index `begin` on; beyond the ends the first and the last value. */
static SL_DEVICE void copy(const float *__restrict__ from, uint32_t values, int32_t begin, uint32_t count,
                           float *__restrict__ to) {
  const uint32_t before = begin < 0 ? (uint32_t)-begin : 0, left = (uint32_t)((int32_t)values - begin);
  const uint32_t inside = (left < count ? left : count) - before;
  const float first = from[0], last = from[values - 1], *__restrict__ at = from + (begin + (int32_t)before);
  float *__restrict__ to_inside = to + before;
  for (uint32_t i = threadIdx.x; i < before; i += blockDim.x) to[i] = first;
  for (uint32_t i = threadIdx.x; i < inside; i += blockDim.x) to_inside[i] = at[i];
  for (uint32_t i = before + inside + threadIdx.x; i < count; i += blockDim.x) to[i] = last;
}

static SL_DEVICE void add_two(const float *__restrict__ sum, uint32_t size, float *__restrict__ to, uint32_t count) {
  const float *__restrict__ second = sum + size;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = sum[i] + second[i];
}

/* Twice add_two. */
static SL_DEVICE void add_four(const float *__restrict__ sum, uint32_t size, float *__restrict__ to, uint32_t count) {
  const float *__restrict__ b = sum + size, *__restrict__ c = b + size, *__restrict__ d = c + size;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = (sum[i] + b[i]) + (c[i] + d[i]);
}

/* to = (total + a) factor; `total` may be `to`, and NULL for 0. */
static SL_DEVICE void add_scaled(const float *total, const float *__restrict__ a, float factor, float *to,
                                 uint32_t count) {
  if (total)
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = (total[i] + a[i]) * factor;
  else
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = a[i] * factor;
}

/* Means of the values [first, first + count) of a pass. The shared memory has the sums of the present and of the next
 * length, and the total. */
static SL_DEVICE void average(const float *from, float *to, uint32_t values, uint32_t first, uint32_t count,
                              uint32_t length, uint32_t is_right, float *shared) {
  float *sum = shared, *next = sum + PART + length, *total = next + PART + length;
  uint32_t left = count + length - 1, done = 0, size = 1; /* sums that are left; values in the total, and in a sum */
  __syncthreads();                                        /* of the part before */
  copy(from, values, is_right ? (int32_t)first : (int32_t)first - (int32_t)(length - 1), left, sum);
  __syncthreads();
  for (;;) { /* the same for all threads */
    if (length & size) {
      const uint32_t is_last = done + size == length;
      add_scaled(done ? total : NULL, sum + done, is_last ? 1.0f / (float)length : 1.0f, is_last ? to + first : total,
                 count);
      done += size;
      if (is_last) break;
    }
    if (length & size || length & 2 * size) {
      left -= size;
      add_two(sum, size, next, left);
      size *= 2;
    } else {
      left -= 3 * size;
      add_four(sum, size, next, left);
      size *= 4;
    }
    __syncthreads();
    float *const other = sum;
    sum = next;
    next = other;
  }
}

SL_KERNEL(average_series, struct moving_mean_args) {
  float *shared = (float *)sl_shared_memory();
  const uint32_t values = a.series.length, parts = (values + PART - 1) / PART;
  SL_FOR_EVENTS (event, a.events) {
    const float *series = a.series.value + (size_t)event * values;
    float *means = a.means.value + (size_t)event * values;
    for (uint32_t pass = 0; pass < a.directions.count; pass++) {
      const uint32_t is_right = a.directions.is_right >> pass & 1;
      for (uint32_t p = 0; p < parts; p++) {
        const uint32_t first = PART * (is_right ? p : parts - 1 - p), count = values - first;
        average(pass ? means : series, means, values, first, count < PART ? count : PART, a.length, is_right, shared);
      }
    }
    if (threadIdx.x == 0) a.means.valid[event] = a.series.valid[event];
  }
}

static int run(const struct sl_launch *l, const struct moving_mean_args *a) {
  const uint64_t bytes = (3 * (uint64_t)PART + 2 * (uint64_t)a->length) * sizeof(float);
  return SL_LAUNCH(l, average_series, sl_grid_with_shared(SL_PER_EVENT, bytes), *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct moving_mean_args *a = (const struct moving_mean_args *)args;
  if (a->length < a->series.length) return SL_OK;
  s->message(s->context, SL_ERROR, "length: a mean of %u values; waveforms have %u, and a mean must have less",
             a->length, a->series.length);
  return SL_EINVAL;
}

static int prepare(const struct sl_services *s, void *args) {
  struct moving_mean_args *a = (struct moving_mean_args *)args;
  static const char *const names[] = {"left", "right"};
  for (const char *word = a->passes + strspn(a->passes, " ,"); *word; word += strspn(word, " ,")) {
    const size_t bytes = strcspn(word, " ,");
    uint32_t direction = 0;
    while (direction < 2 && (strlen(names[direction]) != bytes || strncmp(word, names[direction], bytes) != 0))
      direction++;
    if (direction == 2 || a->directions.count == PASSES_MAX) {
      s->message(s->context, SL_ERROR, "passes+%u: %s", (uint32_t)(word - a->passes),
                 direction == 2 ? "`left` or `right` is expected" : "more than 32 passes");
      return SL_EINVAL;
    }
    a->directions.is_right |= direction << a->directions.count++;
    word += bytes;
  }
  if (a->directions.count > 0) return SL_OK;
  s->message(s->context, SL_ERROR, "passes: at least one pass is expected, `left` or `right`");
  return SL_EINVAL;
}

SL_ALGORITHM(moving_mean, "moving means of a waveform, in several passes", 256, run, SL_CHECK(check),
             SL_PREPARE(prepare));
