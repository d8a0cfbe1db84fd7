/* waveforms.cusp_filter: cusp filter, or cusp filter of zero area, at the outputs with all samples, without products of
 * all taps (cusp.h); by one block per waveform. x: samples less the baseline. A convolution with c at sample t is
 *
 *   gain (sums of x e^(+-i/sigma) over the rise and the fall)  +  sum of x over the flat top  -  ratio (sums of x p)
 *
 *   1. The sums at the first or the last t, by groups of 32 threads.
 *   2. From one t to the next, a sum changes by a factor and by the samples at both ends of its part, which are copied
 *      to shared memory. Sums with e^(+i/sigma) go in the direction in which the factor is below 1, so that errors
 *      fade. 32 lanes take a chunk of outputs each, as if the sums before it were 0; these sums then go from lane to
 *      lane, and are added.
 *   3. out[n] = C[n + K - 1] - exp(-1 / tau) C'[n + K - 2], C the convolution, C' that without its last product.
 *
 * Determinism: sums of 32 parts and a fixed tree; sums of integers are exact up to 2^53.
 * Cost per waveform: 2 (with zero area 5) products per sample of a slope, about 30 per output.
 */
#include "cusp.h"

enum { RISING, FALLING, SLOPES };              /* parts of the kernel beside the flat top; their number */
enum { LATER, EARLIER, INTEGERS, DIRECTIONS }; /* groups of step 2 */
enum { CHUNKS = 32 };

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
  M(TABLE, weights, f64, "e^(+-i/sigma) / e^(L/sigma) of the rise and of the fall, by ascending sample")             \
  M(TABLE, powers, f64, "e^(-i/sigma) for the steps of a chunk, from i = 0 on")
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

/* Samples by which the convolution at sample first + k differs from the one before, by place_of: the last sample of the
 * rise, the sample before the rise, the sample before the flat top of the convolution before, the sample before the
 * kernel, and the last sample of the fall. */
struct ends {
  const int32_t *now, *before_rise, *before_flat, *before_all, *fall;
};
enum { ENDS = 5 };

/* Outputs k = 1, 2, ... are in chunks of `steps`, a chunk for each lane: step i of all lanes side by side. */
#define STEPS_OF(length) (((length) + CHUNKS - 1) / CHUNKS)
static SL_DEVICE uint32_t place_of(uint32_t k, uint32_t steps) { return (k - 1) % steps * CHUNKS + (k - 1) / steps; }

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

/* Sum over `count` samples; all threads of a group call it. */
static SL_DEVICE int64_t plain_sum(const struct waveform *w, int32_t begin, uint32_t count) {
  struct sl_sum64 s = sl_sum64_zero();
  for (uint32_t base = begin < 0 ? 1 : 0; base < count; base += 32) {
    const uint16_t *__restrict__ value = w->value + (begin + (int32_t)base);
    SL_FOR_LANES32_BELOW (j, count - base) sl_sum64_add(&s, j, (double)((int32_t)value[j] - w->baseline));
  }
  return (int64_t)sl_group_sum64_total(&s);
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
  struct moments slope[SLOPES];
  int64_t flat;
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
  SL_FOR_GROUPS (part, SLOPES, 32) {
    const uint32_t is_part = part < SLOPES && c->ratio != 0.0;
    const struct moments m = sum_moments(w, part_begin(c, part, w->first), is_part ? slope_count(c, part) : 0);
    if (part < SLOPES && sl_group_lane(32) == 0) to->slope[part] = m;
  }
  SL_FOR_GROUPS (task, 1, 32) {
    const int64_t flat = plain_sum(w, w->first - (int32_t)(c->rise + c->flat), task == 0 ? c->flat + 1 : 0);
    if (task == 0 && sl_group_lane(32) == 0) to->flat = flat;
  }
}

/* Copies the samples at the ends of the parts to `memory`, which has ENDS rows of CHUNKS steps; 0 beyond `length`. */
static SL_DEVICE struct ends copy_ends(const struct cusp_filter_args *a, const struct waveform *w, int32_t *memory) {
  const struct cusp *c = &a->shape;
  const int32_t back[ENDS] = {0, (int32_t)c->rise, (int32_t)(c->rise + c->flat) + 1, (int32_t)c->taps,
                              (int32_t)(c->taps - c->fall)};
  const uint32_t steps = STEPS_OF(a->length), row = steps * CHUNKS;
  SL_UNROLL
  for (uint32_t e = 0; e < ENDS; e++) {
    const int32_t begin = w->first - back[e];
    for (uint32_t place = threadIdx.x; place < row; place += blockDim.x) {
      const uint32_t k = place % CHUNKS * steps + place / CHUNKS + 1;
      const int32_t at = begin + (int32_t)k;
      memory[e * row + place] = at < 0 || k > a->length ? 0 : (int32_t)w->value[at] - w->baseline;
    }
  }
  const struct ends ends = {memory, memory + row, memory + 2 * row, memory + 3 * row, memory + 4 * row};
  return ends;
}

/* Integers of a convolution: moments of both slopes, sum over the flat top. */
struct integers {
  struct moments slope[SLOPES];
  int64_t flat;
};

/* Step 2 in shared memory: the sums before each chunk, and by place_of the sums of the chunks alone. Sums with
 * e^(-i/sigma) at output k: later; sums with e^(i/sigma) at output k - 1: earlier. */
struct before_chunks {
  double later[CHUNKS + 1], earlier[CHUNKS + 1];
  struct integers integers[CHUNKS + 1];
};
struct chunks {
  double *later, *earlier;
  int64_t *flat, *parabolas;
  struct before_chunks *before;
};

/* The later sums at output k are q times those at k - 1 and what the samples at the ends add; the falling part less the
 * rising one. */
static SL_DEVICE void go_later(const struct cusp_filter_args *a, const struct ends *x, double *to) {
  const struct cusp_factors *f = &a->factors;
  const double out_of_rise = f->end * f->end;
  double sum[SL_LANES32] = {0};
  for (uint32_t place = 0; place < STEPS_OF(a->length) * CHUNKS; place += CHUNKS)
    SL_FOR_LANES32 (j) {
      const double fallen = f->falling_top * (double)x->fall[place + j] - f->end * (double)x->before_all[place + j];
      const double risen = f->end * (double)x->now[place + j] - out_of_rise * (double)x->before_rise[place + j];
      sum[SL_LANE32(j)] = fma(f->step, sum[SL_LANE32(j)], fallen - risen);
      to[place + j] = sum[SL_LANE32(j)];
    }
}

static SL_DEVICE void go_earlier(const struct cusp_filter_args *a, const struct ends *x, double *to) {
  const struct cusp_factors *f = &a->factors;
  const double end = f->step * f->end;
  double sum[SL_LANES32] = {0};
  for (uint32_t place = STEPS_OF(a->length) * CHUNKS; place > 0; place -= CHUNKS)
    SL_FOR_LANES32 (j) {
      const uint32_t at = place - CHUNKS + j;
      const double risen = f->step * (double)x->before_rise[at] - end * (double)x->now[at];
      const double fallen = end * (double)x->before_all[at] - f->falling_end * (double)x->fall[at];
      sum[SL_LANE32(j)] = fma(f->step, sum[SL_LANE32(j)], risen - fallen);
      to[at] = sum[SL_LANE32(j)];
    }
}

static SL_DEVICE void add_integers(const struct cusp_filter_args *a, const struct ends *x, const struct chunks *to) {
  const struct cusp *c = &a->shape;
  struct integers own[SL_LANES32];
  memset(own, 0, sizeof own);
  for (uint32_t place = 0; place < STEPS_OF(a->length) * CHUNKS; place += CHUNKS)
    SL_FOR_LANES32 (j) {
      const uint32_t at = place + j;
      struct integers *i = &own[SL_LANE32(j)];
      i->flat += x->before_rise[at] - x->before_flat[at];
      to->flat[at] = i->flat;
      if (c->ratio == 0.0) continue;
      shift_moments(x->before_rise[at], x->now[at], c->rise, &i->slope[RISING]);
      shift_moments(x->before_all[at], x->fall[at], c->fall, &i->slope[FALLING]);
      to->parabolas[at] = parabola(&i->slope[RISING], c->rise) + parabola(&i->slope[FALLING], c->rise);
    }
  SL_FOR_LANES32 (j) to->before->integers[j + 1] = own[SL_LANE32(j)];
}

/* Contribution of moments to the moments `steps` later, which have smaller q. */
static SL_DEVICE struct moments later_moments(const struct moments *m, int64_t steps) {
  const struct moments later = {
      {m->sum[0], m->sum[1] - steps * m->sum[0], m->sum[2] - 2 * steps * m->sum[1] + steps * steps * m->sum[0]}};
  return later;
}

/* Computes the sums with which the chunks begin, from lane to lane; by one thread for each direction. */
static SL_DEVICE void pass_on(const struct cusp_filter_args *a, const struct begin_sums *from, uint32_t direction,
                              const struct chunks *of) {
  struct before_chunks *to = of->before;
  const uint32_t steps = STEPS_OF(a->length), last = (steps - 1) * CHUNKS;
  if (direction == LATER) {
    to->later[0] = from->later[FALLING] - from->later[RISING];
    for (uint32_t j = 0; j < CHUNKS; j++) to->later[j + 1] = fma(a->powers[steps], to->later[j], of->later[last + j]);
  } else if (direction == EARLIER) { /* a chunk begins at its last output */
    uint32_t k = a->length, j = (k - 1) / steps;
    to->earlier[j] = from->earlier[RISING] - from->earlier[FALLING];
    for (; j > 0; j--, k = j * steps + steps)
      to->earlier[j - 1] = fma(a->powers[k - j * steps], to->earlier[j], of->earlier[j]);
  } else {
    to->integers[0] = (struct integers){{from->slope[RISING], from->slope[FALLING]}, from->flat};
    for (uint32_t j = 0; j < CHUNKS; j++) {
      struct integers *next = &to->integers[j + 1];
      next->flat += to->integers[j].flat;
      for (uint32_t part = 0; part < SLOPES; part++) {
        const struct moments before = later_moments(&to->integers[j].slope[part], steps);
        for (uint32_t m = 0; m < 3; m++) next->slope[part].sum[m] += before.sum[m];
      }
    }
  }
}

/* The convolution with c at sample first + k. */
static SL_DEVICE double convolution(const struct cusp_filter_args *a, const struct chunks *of, uint32_t k) {
  const struct cusp *c = &a->shape;
  const uint32_t steps = STEPS_OF(a->length), j = k > 0 ? (k - 1) / steps : 0, done = k - j * steps;
  const uint32_t above = k < a->length ? k / steps : (a->length - 1) / steps; /* the chunk with k + 1 */
  const uint32_t end = above * steps + steps < a->length ? above * steps + steps : a->length;
  const struct integers *begin = &of->before->integers[j];
  double later = a->powers[done] * of->before->later[j], earlier = a->powers[end - k] * of->before->earlier[above];
  int64_t flat = begin->flat, parabolas = 0;
  if (k > 0) later += of->later[place_of(k, steps)];
  if (k < a->length) earlier += of->earlier[place_of(k + 1, steps)];
  if (k > 0) flat += of->flat[place_of(k, steps)];
  if (c->ratio != 0.0) {
    for (uint32_t part = 0; part < SLOPES; part++) {
      const struct moments m = later_moments(&begin->slope[part], done);
      parabolas += parabola(&m, c->rise);
    }
    if (k > 0) parabolas += of->parabolas[place_of(k, steps)];
  }
  return c->gain * (later + earlier) + ((double)flat - c->ratio * (double)parabolas);
}

SL_KERNEL(filter_traces, struct cusp_filter_args) {
  __shared__ struct begin_sums sums;
  __shared__ struct before_chunks before;
  const uint32_t outputs = a.length, row = STEPS_OF(outputs) * CHUNKS;
  double *convolutions = (double *)sl_shared_memory(), *later = convolutions + outputs + 1, *earlier = later + row;
  int64_t *flat = (int64_t *)(void *)(earlier + row), *parabolas = flat + row;
  const struct chunks chunks = {later, earlier, flat, parabolas, &before};
  const struct cusp *c = &a.shape;
  const double last_tap = c->decay * a.factors.last; /* of the convolution without its last product */
  SL_FOR_EVENTS (event, a.events) {
    const struct waveform w = {a.traces.value + (size_t)event * a.traces.samples, a.traces.baseline[event],
                               (int32_t)c->taps - 2};
    const struct ends ends = copy_ends(&a, &w, (int32_t *)(void *)(parabolas + row));
    begin(&a, &w, &sums);
    __syncthreads();
    SL_FOR_GROUPS (direction, DIRECTIONS, 32) {
      if (direction == LATER) go_later(&a, &ends, later);
      if (direction == EARLIER) go_earlier(&a, &ends, earlier);
      if (direction == INTEGERS) add_integers(&a, &ends, &chunks);
    }
    __syncthreads();
    SL_FOR_GROUPS (direction, DIRECTIONS, 32)
      if (direction < DIRECTIONS && sl_group_lane(32) == 0) pass_on(&a, &sums, direction, &chunks);
    __syncthreads();
    for (uint32_t k = threadIdx.x; k <= outputs; k += blockDim.x) convolutions[k] = convolution(&a, &chunks, k);
    __syncthreads();
    float *__restrict__ to = a.filtered.value + (size_t)event * outputs;
    for (uint32_t n = threadIdx.x; n < outputs; n += blockDim.x)
      to[n] = (float)(fma(-c->decay, convolutions[n], convolutions[n + 1]) + last_tap * sample(&w, (int32_t)n - 1));
    if (threadIdx.x == 0) a.filtered.valid[event] = 1;
    __syncthreads(); /* before the next event writes to the shared memory */
  }
}

static int run(const struct sl_launch *l, const struct cusp_filter_args *a) {
  const uint64_t row = STEPS_OF(a->length) * CHUNKS;
  const uint64_t bytes =
      ((uint64_t)a->length + 1) * sizeof(double) + row * (4 * sizeof(double) + ENDS * sizeof(int32_t));
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
  const uint32_t steps = STEPS_OF(a->length);
  double *powers = (double *)s->make_table(s->context, "powers", (uint64_t)steps + 1);
  if (!weights || !powers) return SL_ENOMEM;
  a->weights = weights;
  a->powers = powers;
  for (uint32_t i = 0; i <= steps; i++) powers[i] = sl_exp(-(double)i / c->sigma);
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

SL_ALGORITHM(cusp_filter, "cusp filter, or cusp filter of zero area, for energies", 128, run, SL_PREPARE(prepare));
