/* tally.h: common part of all checks against truth: counts of usable events, their report, and ratios. */
#ifndef TRUTH_TALLY_H
#define TRUTH_TALLY_H

#include <sluice/plugin.h>

struct tally {
  const char *truth; /* what is decoded, for messages: "MC particles" */
  uint64_t events;   /* checked */
  uint64_t error_events, malformed_events, events_without_truth;
};

/* Does the event have an error? Counts it; it has nothing to check. */
int tally_has_error(struct tally *t, const struct sl_event *event);

/* Counts an event after the decoding of its truth with `result` and `reason`: returns 1 if it can be checked, 0 if not,
 * or SL_ENOMEM. Warns of malformed truth, for a limited number of events. `has_truth`: the event has banks. */
int tally_decoded(struct tally *t, const struct sl_services *s, const struct sl_event *event, int result, int has_truth,
                  const char *reason);

/* Writes the counts as keys of the report. */
void tally_report(const struct tally *t, const struct sl_report *r);
/* Warns of each kind of event that was not checked. */
void tally_warn(const struct tally *t, const struct sl_services *s);

/* Counts of the particles of a category, and of their tracks. */
struct category_counts {
  uint64_t reconstructible, reconstructed, clones, matches;
  double purity_sum, hit_efficiency_sum; /* over matches */
};

/* Adds a particle of the category with its number of tracks. */
void category_add(struct category_counts *n, uint32_t tracks);
/* Writes an object of the report's array, and a line if the category has particles. */
void category_report(const struct category_counts *n, const char *name, const struct sl_report *r);

/* Returns 0 if the denominator is 0. */
static inline double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0;
}

/* Statistical error of a rate k / n: the standard deviation of the posterior with a uniform prior. It is the
 * binomial error for large k and n - k, and never 0. NaN if n is 0. */
double rate_error(uint64_t k, uint64_t n);

/* Registers the sink NAME with the functions NAME_open, NAME_consume, NAME_finish and NAME_close. */
#define CHECK_SINK(NAME, STATE, DOC)                                                                   \
  static const struct sl_sink NAME##_functions = {                                                     \
      .open = NAME##_open, .consume = NAME##_consume, .finish = NAME##_finish, .close = NAME##_close}; \
  SL_SINK(NAME, DOC, struct STATE, NAME##_functions)

#endif
