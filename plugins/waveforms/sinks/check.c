/* check.c: waveforms.check, energies, time points and pulses compared with the simulated ones (README.md).
 *   energies  bias and full width at half maximum of value - amplitude
 *   times     median and rms of index - begin
 *   pulses    number of found pulses and of true ones
 * Mean and rms are those of the values within 4 rms of the mean, found by iteration from the median and the robust
 * width; values beyond are counted. Differences are kept until the end of the run, of at most `compared_max` pulses.
 * Events with an error are counted, but not compared. */
#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <waveforms/event_model.h>

#define SL_ARGS check_args
#define CHECK(M)                                                                                                   \
  M(IN, truth, waveforms_truth, "amplitude begin pile_up", "true pulses")                                          \
  M(LIST_IN, values, waveforms_values, "value valid", "energies in ADC, which are compared with true amplitudes")  \
  M(LIST_IN, maxima, waveforms_extremes, "maximum valid", "extremes with an energy in ADC as their maximum")       \
  M(LIST_IN, points, waveforms_points, "index", "time points, which are compared with the begins of true pulses")  \
  M(OPTIONAL_IN, pulses, waveforms_pulses, "offsets", "pulses; their number is compared with that of true pulses") \
  M(F64, adc_per_kev, 7, 1e-6, 1e6, "ADC/keV", "amplitude of a pulse of 1 keV")                                    \
  M(F64, period_ns, 16, 0.001, 1e9, "ns", "sampling period")                                                       \
  M(U64, compared_max, 1000000, 1, 1000000000, "", "number of pulses that are compared; further ones are counted")
SL_HOST_ARGUMENTS(check, CHECK);

enum { SIGMAS = 4, ITERATIONS_MAX = 100 };
enum { MAXIMUM_IS_VALID = 2 }; /* bit of the field `maximum` */

/* Differences of one input of a list port. */
struct differences {
  char *name;
  double *values;
  uint64_t count, capacity;
};

struct check {
  struct differences *of_values, *of_points;
  uint32_t value_count, point_count; /* value_count: of both ports with energies */
  double adc_per_kev, period_ns;
  uint64_t events, error_events, pulses_true, pulses_compared, compared_max; /* pulses_true: events with a pulse */
  double amplitude_sum;                                                      /* of the compared pulses */
  uint64_t found_total, true_total;                                          /* of the port `pulses` */
  uint32_t counts_pulses;
};

/* ------------------------------------------------------------------------------------------------ statistics */

struct statistics {
  uint64_t inside;  /* number of values within SIGMAS rms of their mean */
  double mean, rms; /* of these values */
  double median, rms_of_all;
};

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

/* Quantile of sorted values, interpolated. */
static double quantile(const double *sorted, uint64_t count, double fraction) {
  const double at = fraction * (double)(count - 1);
  const uint64_t below = (uint64_t)at, above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

/* Mean and rms of the values within `distance` of `centre`. */
static struct statistics inside_of(const double *values, uint64_t count, double centre, double distance) {
  struct statistics s = {0};
  double squares = 0;
  for (uint64_t i = 0; i < count; i++)
    if (fabs(values[i] - centre) <= distance) {
      s.inside++;
      s.mean += values[i];
    }
  s.mean /= (double)s.inside; /* the centre has a value near it */
  for (uint64_t i = 0; i < count; i++)
    if (fabs(values[i] - centre) <= distance) squares += (values[i] - s.mean) * (values[i] - s.mean);
  s.rms = sqrt(squares / (double)s.inside);
  return s;
}

/* Sorts the values. Without values all results are NaN. */
static struct statistics statistics_of(struct differences *d) {
  struct statistics s = {0, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
  if (d->count == 0) return s;
  qsort(d->values, d->count, sizeof *d->values, compare);
  const double median = quantile(d->values, d->count, 0.5);
  const double width = 0.5 * (quantile(d->values, d->count, 0.841345) - quantile(d->values, d->count, 0.158655));
  const double rms_of_all = inside_of(d->values, d->count, median, INFINITY).rms;
  uint64_t before = 0;
  s = inside_of(d->values, d->count, median, SIGMAS * width);
  for (uint32_t k = 0; k < ITERATIONS_MAX && s.inside != before; k++) {
    before = s.inside;
    s = inside_of(d->values, d->count, s.mean, SIGMAS * s.rms + 1e-9 * fabs(s.mean)); /* the mean is rounded */
  }
  s.median = median;
  s.rms_of_all = rms_of_all;
  return s;
}

/* Statistical error of the fraction k / n: the standard deviation of the posterior with a uniform prior, which is not 0
 * if all or none are found. */
static double fraction_error(uint64_t k, uint64_t n) {
  const double a = (double)k + 1, b = (double)(n - k) + 1, sum = a + b;
  return sqrt(a * b / (sum + 1)) / sum;
}

/* ------------------------------------------------------------------------------------------------- the sink */

/* Room for one more value. */
static int reserve(struct differences *d) {
  if (d->count < d->capacity) return SL_OK;
  const uint64_t larger = d->capacity * 2 + 1024;
  double *values = (double *)realloc(d->values, larger * sizeof *values);
  if (!values) return SL_ENOMEM;
  d->values = values;
  d->capacity = larger;
  return SL_OK;
}

static int add(struct differences *d, double difference) {
  if (reserve(d)) return SL_ENOMEM;
  d->values[d->count++] = difference;
  return SL_OK;
}

/* Copies the name: that of the graph may change before the report. Returns 0 if out of memory. */
static int name_input(struct differences *d, const char *name) {
  const size_t bytes = strlen(name) + 1;
  d->name = (char *)malloc(bytes);
  if (d->name) memcpy(d->name, name, bytes);
  return d->name != NULL;
}

static int check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  const struct check_args *a = (const struct check_args *)args;
  struct check *c = (struct check *)state;
  (void)output_path;
  *c = (struct check){.value_count = a->values.count + a->maxima.count,
                      .point_count = a->points.count,
                      .adc_per_kev = a->adc_per_kev,
                      .period_ns = a->period_ns,
                      .compared_max = a->compared_max};
  c->of_values = (struct differences *)calloc((size_t)c->value_count + 1, sizeof *c->of_values);
  c->of_points = (struct differences *)calloc((size_t)c->point_count + 1, sizeof *c->of_points);
  int has_names = c->of_values && c->of_points;
  for (uint32_t k = 0; has_names && k < c->value_count; k++)
    has_names =
        name_input(&c->of_values[k], k < a->values.count ? a->values.names[k] : a->maxima.names[k - a->values.count]);
  for (uint32_t k = 0; has_names && k < c->point_count; k++)
    has_names = name_input(&c->of_points[k], a->points.names[k]);
  if (has_names) return SL_OK;
  s->message(s->context, SL_ERROR, "out of memory");
  return SL_ENOMEM;
}

static void free_inputs(struct differences *inputs, uint32_t count) {
  for (uint32_t k = 0; inputs && k < count; k++) {
    free(inputs[k].values);
    free(inputs[k].name);
  }
  free(inputs);
}

static void check_close(void *state) {
  struct check *c = (struct check *)state;
  free_inputs(c->of_values, c->value_count);
  free_inputs(c->of_points, c->point_count);
}

/* Compares the results of an event with its pulse. */
static int compare_event(struct check *c, const struct check_args *a, uint32_t event) {
  const double amplitude = (double)a->truth.amplitude[event], begin = a->truth.begin[event];
  int status = SL_OK;
  c->pulses_compared++;
  c->amplitude_sum += amplitude;
  for (uint32_t k = 0; k < a->values.count && status == SL_OK; k++)
    if (a->values.at[k].valid[event] & 1u)
      status = add(&c->of_values[k], (double)a->values.at[k].value[event] - amplitude);
  for (uint32_t k = 0; k < a->maxima.count && status == SL_OK; k++)
    if (a->maxima.at[k].valid[event] & MAXIMUM_IS_VALID)
      status = add(&c->of_values[a->values.count + k], (double)a->maxima.at[k].maximum[event] - amplitude);
  for (uint32_t k = 0; k < c->point_count && status == SL_OK; k++)
    if (a->points.at[k].index[event] >= 0)
      status = add(&c->of_points[k], ((double)a->points.at[k].index[event] - begin) * c->period_ns);
  return status;
}

static int check_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  const struct check_args *a = (const struct check_args *)args;
  struct check *c = (struct check *)state;
  c->counts_pulses = a->pulses.offsets != NULL;
  SL_FOR_BATCH (event, batch) {
    if (batch->events[event].error != SL_EVENT_OK) {
      c->error_events++;
      continue;
    }
    const uint32_t has_pulse = a->truth.amplitude[event] > 0 ? 1u : 0u;
    c->events++;
    c->pulses_true += has_pulse;
    if (a->pulses.offsets) {
      c->found_total += a->pulses.offsets[event + 1] - a->pulses.offsets[event];
      c->true_total += has_pulse ? 1 + (uint64_t)a->truth.pile_up[event] : 0;
    }
    if (!has_pulse || c->pulses_compared == c->compared_max) continue;
    const int status = compare_event(c, a, event);
    if (status < 0) {
      s->message(s->context, SL_ERROR, "compared_max: out of memory after %" PRIu64 " pulses", c->pulses_compared);
      return status;
    }
  }
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- the report */

/* Begins an object with the figures that energies and times have in common. */
static void begin_report(const struct sl_report *r, const struct check *c, const struct differences *d,
                         const struct statistics *s) {
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", d->name);
  r->integer(r->context, "found", (int64_t)d->count);
  r->number(r->context, "efficiency", (double)d->count / (double)c->pulses_compared);
  r->number(r->context, "efficiency_error", fraction_error(d->count, c->pulses_compared));
  r->integer(r->context, "beyond_4_sigma", (int64_t)(d->count - s->inside));
}

static void report_energy(const struct sl_report *r, const struct check *c, struct differences *d) {
  const struct statistics s = statistics_of(d);
  const double inside = (double)s.inside, percent = 100 * (double)c->pulses_compared / c->amplitude_sum;
  const double bias = percent * s.mean, bias_error = percent * s.rms / sqrt(inside);
  const double width = 2.355 * s.rms / c->adc_per_kev, width_error = width / sqrt(2 * inside);
  begin_report(r, c, d, &s);
  r->number(r->context, "bias_percent", bias);
  r->number(r->context, "bias_error", bias_error);
  r->number(r->context, "fwhm_kev", width);
  r->number(r->context, "fwhm_error", width_error);
  r->end_object(r->context);
  r->line(r->context,
          "%-12s bias %+.4f +- %.4f %%, FWHM %.3f +- %.3f keV, %" PRIu64 " of %" PRIu64
          " beyond 4 sigma, efficiency %.2f +- %.2f %%",
          d->name, bias, bias_error, width, width_error, d->count - s.inside, d->count,
          100 * (double)d->count / (double)c->pulses_compared, 100 * fraction_error(d->count, c->pulses_compared));
}

static void report_time(const struct sl_report *r, const struct check *c, struct differences *d) {
  const struct statistics s = statistics_of(d);
  const double rms_error = s.rms_of_all / sqrt(2 * (double)d->count);
  begin_report(r, c, d, &s);
  r->number(r->context, "median_ns", s.median);
  r->number(r->context, "rms_ns", s.rms_of_all);
  r->number(r->context, "rms_error", rms_error);
  r->number(r->context, "rms_within_4_sigma_ns", s.rms);
  r->end_object(r->context);
  r->line(r->context,
          "%-12s median %+.1f ns, rms %.1f +- %.1f ns, %.1f ns without %" PRIu64 " of %" PRIu64
          " beyond 4 sigma, efficiency %.2f +- %.2f %%",
          d->name, s.median, s.rms_of_all, rms_error, s.rms, d->count - s.inside, d->count,
          100 * (double)d->count / (double)c->pulses_compared, 100 * fraction_error(d->count, c->pulses_compared));
}

static int check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct check *c = (struct check *)state;
  r->integer(r->context, "events", (int64_t)c->events);
  r->integer(r->context, "error_events", (int64_t)c->error_events);
  r->integer(r->context, "pulses", (int64_t)c->pulses_true);
  r->integer(r->context, "pulses_compared", (int64_t)c->pulses_compared);
  r->begin_array(r->context, "energies");
  for (uint32_t k = 0; k < c->value_count && c->pulses_compared > 0; k++) report_energy(r, c, &c->of_values[k]);
  r->end_array(r->context);
  r->begin_array(r->context, "times");
  for (uint32_t k = 0; k < c->point_count && c->pulses_compared > 0; k++) report_time(r, c, &c->of_points[k]);
  r->end_array(r->context);
  if (c->counts_pulses) {
    r->integer(r->context, "found_pulses", (int64_t)c->found_total);
    r->integer(r->context, "true_pulses", (int64_t)c->true_total);
    r->line(r->context, "%-12s %" PRIu64 " found, %" PRIu64 " true, %.4f +- %.4f found for each true one", "pulses",
            c->found_total, c->true_total, (double)c->found_total / (double)c->true_total,
            sqrt((double)c->found_total) / (double)c->true_total);
  }
  if (c->pulses_compared < c->pulses_true)
    s->message(s->context, SL_WARNING,
               "compared_max: the first %" PRIu64 " pulses of %" PRIu64 " were compared with the truth",
               c->pulses_compared, c->pulses_true);
  if (c->error_events > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " %s with an error %s not compared with the truth", c->error_events,
               sl_plural(c->error_events, "event", "events"), sl_plural(c->error_events, "was", "were"));
  return SL_OK;
}

static const struct sl_sink functions = {
    .open = check_open, .consume = check_consume, .finish = check_finish, .close = check_close};
SL_SINK(check, "energies, time points and pulses compared with the simulated ones", struct check, functions);
