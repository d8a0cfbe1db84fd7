/* tally.h: what every check against truth does alike: which events it can use, counted and reported, and ratios. */
#ifndef TRUTH_TALLY_H
#define TRUTH_TALLY_H

#include <sluice/plugin.h>

struct tally {
  const char *truth; /* what is decoded, for messages: "MC particles" */
  uint64_t events;   /* checked */
  uint64_t error_events, malformed_events, events_without_truth;
};

/* Whether the runtime or the source gave the event up; such events have nothing to check. */
int tally_has_error(struct tally *t, const struct sl_event *event);

/* After decoding the truth of an event, with that result and reason: 1 if it is to be checked, 0 if not, SL_ENOMEM.
 * Says what is malformed, up to a number of events. `has_truth`: there are banks. */
int tally_decoded(struct tally *t, const struct sl_services *s, const struct sl_event *event, int result, int has_truth,
                  const char *reason);

/* The counts, as keys of the report. */
void tally_report(const struct tally *t, const struct sl_report *r);
/* A warning for each kind of event that was not checked. */
void tally_warn(const struct tally *t, const struct sl_services *s);

/* Particles of a category of them, and their tracks. */
struct category_counts {
  uint64_t reconstructible, reconstructed, clones, matches;
  double purity_sum, hit_efficiency_sum; /* over matches */
};

/* A particle of the category, with so many tracks. */
void category_add(struct category_counts *n, uint32_t tracks);
/* An object of the report's array, and a line if there are any. */
void category_report(const struct category_counts *n, const char *name, const struct sl_report *r);

/* 0 where there is nothing to divide by. */
static inline double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0;
}

/* Statistical error of a rate found as k of n: the standard deviation of what it may be, if before any was as likely as
 * any other. That is the binomial error for large k and n - k, and never 0. NaN where n is 0. */
double rate_error(uint64_t k, uint64_t n);

/* Registers the sink NAME with the functions NAME_open, NAME_consume, NAME_finish and NAME_close. */
#define CHECK_SINK(NAME, STATE, DOC)                                                                   \
  static const struct sl_sink NAME##_functions = {                                                     \
      .open = NAME##_open, .consume = NAME##_consume, .finish = NAME##_finish, .close = NAME##_close}; \
  SL_SINK(NAME, DOC, struct STATE, NAME##_functions)

#endif
