/* waveforms.cusp_filter: cusp filter, or cusp filter of zero area, at the outputs with all samples, without products of
 * all taps (cusp.h); by one block per waveform. x: samples less the baseline. A convolution with c at sample t is
 *
 *   gain (sums of x e^(+-i/sigma) over the rise and the fall)  +  sum of x over the flat top  -  ratio (sums of x p)
 *
 *   1. The sums at the first or the last t, by groups of 32 threads.
 *   2. From one t to the next, a sum changes by a factor and by the samples at both ends of its part, which are copied
 *      to shared memory. Sums with e^(+i/
 *      sigma) go in the direction in which the factor is below 1, so that errors fade. Three threads have one direction
 *      each, or the sums of integers.
 *   3. out[n] = C[n + K - 1] - exp(-1 / tau) C'[n + K - 2], C the convolution, C' that without its last product.
 *
 * Determinism: sums of 32 parts and a fixed tree; sums of integers are exact up to 2^53.
 * Cost per waveform: 3 (with zero area 5) products per sample, about 30 per output.
 */
#include "cusp.h"

enum { RISING, FALLING, SLOPES };              /* parts of the kernel beside the flat top; their number */
enum { LATER, EARLIER, INTEGERS, DIRECTIONS }; /* threads of step 2 */

/* With s = sigma: e^(-1/s), e^(-L/s), e^((J - L)/s), e^(-(J + L + 1)/s) for J values of the falling part, c[K-1]. */
struct cusp_factors {
  double step, end, falling_top, falling_end, last;
};

/* sum of x q^k over a part of the kernel, q counted from the earliest sample of the part. */
struct moments {
  int64_t sum[3];
};

#define SL_ARGS cusp_filter_args
#define CUSP_FILTER(M)                                                                                               \
  M(IN, traces, waveforms_traces, "value baseline", "waveforms")                                                     \
  CUSP_PROPERTIES(M)                                                                                                 \
  M(U32, skip, 2100, 0, SAMPLES_MAX, "samples", "number of samples at the end that are not used")                    \
  M(U32, length, 301, 1, 4096, "", "number of outputs; the kernel has `skip` + `length` - 1 taps less than samples") \
  M(OUT, filtered, waveforms_series, "outputs", SL_DIMENSIONS(SL_PROPERTY_TERM(length, 0)))                          \
  M(COMPUTED, shape, struct cusp, "the kernel")                                                                      \
  M(COMPUTED, factors, struct cusp_factors, "factors of the sums from one output to the next")                       \
  M(TABLE, weights, f64, "e^(+-i/sigma) / e^(L/sigma) of the rise and of the fall, by ascending sample")
SL_ARGUMENTS(cusp_filter, CUSP_FILTER);

/* A waveform. Convolutions are needed at samples t from `first` on, one more than outputs. */
struct waveform {
  const uint16_t *value;
  int32_t baseline, first;
};

/* Sample less the baseline; 0 before the waveform. */
static SL_DEVICE double sample(const struct waveform *w, int32_t at) {
  return at < 0 ? 0.0 : (double)((int32_t)w->value[at] - w->baseline);
}

/* The samples at the ends of the parts for the convolutions at samples first + k, in shared memory: the last sample of
 * the rise, and those before the rise, before the flat top, before the kernel, and the last one of the fall. */
struct ends {
  const int32_t *now, *before_rise, *before_flat, *before_all, *fall;
};
enum { ENDS = 5 };

/* First sample of a part of the kernel for the convolution at t. */
static SL_DEVICE int32_t part_begin(const struct cusp *c, uint32_t part, int32_t t) {
  return t - (int32_t)(part == RISING ? c->rise : c->taps) + 1;
}

/* Sum of weight[q] x[begin + q]; all threads of a group call it. */
static SL_DEVICE double weighted_sum(const struct waveform *w, const double *weight, int32_t begin, uint32_t count) {
  struct sl_sum64 s = sl_sum64_zero();
  const uint32_t skipped = begin < 0 ? 1 : 0; /* the sample before the waveform */
  const uint16_t *__restrict__ value = w->value + (begin + (int32_t)skipped);
  const double *__restrict__ factor = weight + skipped;
  const uint32_t left = count - skipped, whole = left / 32 * 32;
  const int32_t baseline = w->baseline;
  for (uint32_t base = 0; base < whole; base += 32)
    SL_FOR_LANES32 (j) sl_sum64_add(&s, j, factor[base + j] * (double)((int32_t)value[base + j] - baseline));
  SL_FOR_LANES32_BELOW (j, left - whole)
    sl_sum64_add(&s, j, factor[whole + j] * (double)((int32_t)value[whole + j] - baseline));
  return sl_group_sum64_total(&s);
}

/* Sums of x q^k, k = 0, 1, 2, over `count` samples; all threads of a group call it. */
static SL_DEVICE struct moments sum_moments(const struct waveform *w, int32_t begin, uint32_t count) {
  struct sl_sum64 s[3] = {sl_sum64_zero(), sl_sum64_zero(), sl_sum64_zero()};
  struct moments m;
  for (uint32_t base = begin < 0 ? 1 : 0; base < count; base += 32) {
    const uint16_t *__restrict__ value = w->value + (begin + (int32_t)base);
    SL_FOR_LANES32_BELOW (j, count - base) {
      const double x = (double)((int32_t)value[j] - w->baseline), q = (double)(int32_t)(base + j);
      sl_sum64_add(&s[0], j, x);
      sl_sum64_add(&s[1], j, x * q);
      sl_sum64_add(&s[2], j, x * q * q);
    }
  }
  for (uint32_t k = 0; k < 3; k++) m.sum[k] = (int64_t)sl_group_sum64_total(&s[k]);
  return m;
}

/* The moments of the part that begins one sample later: without the sample `first`, and with `next`. */
static SL_DEVICE void shift_moments(int64_t first, int64_t next, uint32_t count, struct moments *m) {
  const int64_t last = (int64_t)count - 1;
  m->sum[2] += m->sum[0] - 2 * m->sum[1] - first + last * last * next;
  m->sum[1] += first - m->sum[0] + last * next;
  m->sum[0] += next - first;
}

/* Sum of x p over the rise or the fall: p = (q + 1) (q + 1 - L) in both. */
static SL_DEVICE int64_t parabola(const struct moments *m, uint32_t rise) {
  const int64_t l = rise;
  return m->sum[2] + (2 - l) * m->sum[1] + (1 - l) * m->sum[0];
}

/* Sums of step 1: for both slopes the sum that goes to later samples and the sum that goes to earlier samples; the
 * moments. */
struct begin_sums {
  double later[SLOPES], earlier[SLOPES];
  struct moments slope[SLOPES], flat;
};

static SL_DEVICE uint32_t slope_count(const struct cusp *c, uint32_t part) {
  return part == RISING ? c->rise : c->fall;
}

/* Step 1. Rows of weights: rising part with e^+, e^-, falling part with e^+, e^-. */
static SL_DEVICE void begin(const struct cusp_filter_args *a, const struct waveform *w, struct begin_sums *to) {
  const struct cusp *c = &a->shape;
  const int32_t last = w->first + (int32_t)a->length;
  SL_FOR_GROUPS (task, 2 * SLOPES, 32) {
    const uint32_t is_task = task < 2 * SLOPES, part = is_task ? task / 2 : 0, is_later = is_task && task % 3 != 0;
    const double *weight = a->weights + (size_t)(is_task ? task : 0) * (c->rise + 1);
    const int32_t t = is_later ? w->first : last;
    const double sum = weighted_sum(w, weight, part_begin(c, part, t), slope_count(c, part));
    if (is_task && sl_group_lane(32) == 0) *(is_later ? &to->later[part] : &to->earlier[part]) = sum;
  }
  SL_FOR_GROUPS (part, SLOPES + 1, 32) {
    const uint32_t is_part = part < SLOPES + 1, is_flat = part >= SLOPES;
    const int32_t from = is_flat ? w->first - (int32_t)(c->rise + c->flat) : part_begin(c, part, w->first);
    const uint32_t count = is_flat ? c->flat + 1 : c->ratio != 0.0 ? slope_count(c, part) : 0;
    const struct moments m = sum_moments(w, from, is_part ? count : 0);
    if (is_part && sl_group_lane(32) == 0) *(is_flat ? &to->flat : &to->slope[part]) = m;
  }
}

/* Copies the samples at the ends of the parts to `memory`, which has ENDS rows of length + 1. */
static SL_DEVICE struct ends copy_ends(const struct cusp_filter_args *a, const struct waveform *w, int32_t *memory) {
  const struct cusp *c = &a->shape;
  const int32_t back[ENDS] = {0, (int32_t)c->rise, (int32_t)(c->rise + c->flat), (int32_t)c->taps,
                              (int32_t)(c->taps - c->fall)};
  const uint32_t row = a->length + 1;
  SL_UNROLL
  for (uint32_t e = 0; e < ENDS; e++) {
    const int32_t begin = w->first - back[e];
    for (uint32_t k = threadIdx.x; k < row; k += blockDim.x) {
      const int32_t at = begin + (int32_t)k;
      memory[e * row + k] = at < 0 ? 0 : (int32_t)w->value[at] - w->baseline;
    }
  }
  const struct ends ends = {memory, memory + row, memory + 2 * row, memory + 3 * row, memory + 4 * row};
  return ends;
}

/* Step 2. Each function writes its part of the convolutions at sample first + k to to[k]. */
static SL_DEVICE void go_later(const struct cusp_filter_args *a, const struct ends *x, const struct begin_sums *from,
                               double *to) {
  const struct cusp_factors *f = &a->factors;
  double rising = from->later[RISING], falling = from->later[FALLING];
  to[0] = falling - rising;
  for (uint32_t k = 1; k <= a->length; k++) {
    const double of_rising = f->end * (double)x->now[k] - f->end * f->end * (double)x->before_rise[k];
    const double of_falling = f->falling_top * (double)x->fall[k] - f->end * (double)x->before_all[k];
    rising = fma(f->step, rising, of_rising);
    falling = fma(f->step, falling, of_falling);
    to[k] = falling - rising;
  }
}

static SL_DEVICE void go_earlier(const struct cusp_filter_args *a, const struct ends *x, const struct begin_sums *from,
                                 double *to) {
  const struct cusp_factors *f = &a->factors;
  double rising = from->earlier[RISING], falling = from->earlier[FALLING];
  to[a->length] = rising - falling;
  for (uint32_t k = a->length; k > 0; k--) {
    const double of_rising = f->step * (double)x->before_rise[k] - f->step * f->end * (double)x->now[k];
    const double of_falling = f->step * f->end * (double)x->before_all[k] - f->falling_end * (double)x->fall[k];
    rising = fma(f->step, rising, of_rising);
    falling = fma(f->step, falling, of_falling);
    to[k - 1] = rising - falling;
  }
}

static SL_DEVICE void add_integers(const struct cusp_filter_args *a, const struct ends *x,
                                   const struct begin_sums *from, double *to) {
  const struct cusp *c = &a->shape;
  struct moments rising = from->slope[RISING], falling = from->slope[FALLING];
  int64_t flat = from->flat.sum[0];
  for (uint32_t k = 0;; k++) {
    const int64_t parabolas = c->ratio != 0.0 ? parabola(&rising, c->rise) + parabola(&falling, c->rise) : 0;
    to[k] = (double)flat - c->ratio * (double)parabolas;
    if (k == a->length) break;
    flat += x->before_rise[k + 1] - x->before_flat[k];
    if (c->ratio == 0.0) continue;
    shift_moments(x->before_rise[k + 1], x->now[k + 1], c->rise, &rising);
    shift_moments(x->before_all[k + 1], x->fall[k + 1], c->fall, &falling);
  }
}

SL_KERNEL(filter_traces, struct cusp_filter_args) {
  __shared__ struct begin_sums sums;
  const uint32_t outputs = a.length;
  double *later = (double *)sl_shared_memory(), *earlier = later + outputs + 1, *integers = earlier + outputs + 1;
  int32_t *samples = (int32_t *)(integers + outputs + 1);
  const struct cusp *c = &a.shape;
  const double last_tap = c->decay * a.factors.last; /* of the convolution without its last product */
  SL_FOR_EVENTS (event, a.events) {
    const struct waveform w = {a.traces.value + (size_t)event * a.traces.samples, a.traces.baseline[event],
                               (int32_t)c->taps - 2};
    const struct ends ends = copy_ends(&a, &w, samples);
    begin(&a, &w, &sums);
    __syncthreads();
    SL_FOR_GROUPS (direction, DIRECTIONS, 32) {
      if (sl_group_lane(32) > 0) continue;
      if (direction == LATER) go_later(&a, &ends, &sums, later);
      if (direction == EARLIER) go_earlier(&a, &ends, &sums, earlier);
      if (direction == INTEGERS) add_integers(&a, &ends, &sums, integers);
    }
    __syncthreads();
    float *__restrict__ to = a.filtered.value + (size_t)event * outputs;
    for (uint32_t n = threadIdx.x; n < outputs; n += blockDim.x) {
      const double before = c->gain * (later[n] + earlier[n]) + integers[n];
      const double now = c->gain * (later[n + 1] + earlier[n + 1]) + integers[n + 1];
      to[n] = (float)(fma(-c->decay, before, now) + last_tap * sample(&w, (int32_t)n - 1));
    }
    if (threadIdx.x == 0) a.filtered.valid[event] = 1;
    __syncthreads(); /* before the next event writes to the shared memory */
  }
}

static int run(const struct sl_launch *l, const struct cusp_filter_args *a) {
  const uint64_t bytes = ((uint64_t)a->length + 1) * (DIRECTIONS * sizeof(double) + ENDS * sizeof(int32_t));
  return SL_LAUNCH(l, filter_traces, sl_grid_with_shared(SL_PER_EVENT, bytes), *a);
}

static int prepare(const struct sl_services *s, void *args) {
  struct cusp_filter_args *a = (struct cusp_filter_args *)args;
  struct cusp *c = &a->shape;
  const int64_t taps = (int64_t)a->traces.samples - a->skip - a->length + 1;
  const int status = cusp_make(s, taps, a->flat, a->sigma, a->tau, a->zero_area, c);
  if (status < 0) return status;
  const uint32_t row = c->rise + 1;
  double *weights = (double *)s->make_table(s->context, "weights", (uint64_t)2 * SLOPES * row);
  if (!weights) return SL_ENOMEM;
  a->weights = weights;
  for (uint32_t q = 0; q < c->rise; q++) {
    weights[q] = sl_exp(-(q + 1.0) / c->sigma);
    weights[row + q] = sl_exp(-(2.0 * c->rise - 1.0 - q) / c->sigma);
    weights[2 * row + q] = sl_exp((q + 1.0 - c->rise) / c->sigma);
    weights[3 * row + q] = sl_exp(-(q + 1.0 + c->rise) / c->sigma);
  }
  a->factors.step = sl_exp(-1.0 / c->sigma);
  a->factors.end = sl_exp(-(double)c->rise / c->sigma);
  a->factors.falling_top = sl_exp(((double)c->fall - c->rise) / c->sigma);
  a->factors.falling_end = a->factors.step * sl_exp(-((double)c->fall + c->rise) / c->sigma);
  a->factors.last = cusp_value(c, c->taps - 1);
  return SL_OK;
}

SL_ALGORITHM(cusp_filter, "cusp filter, or cusp filter of zero area, for energies", 96, run, SL_PREPARE(prepare));
