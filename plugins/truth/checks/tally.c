/* tally.c: see tally.h. */
#include "tally.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

enum { MESSAGES_MAX = 10 };

int tally_has_error(struct tally *t, const struct sl_event *event) {
  if (event->error == SL_EVENT_OK) return 0;
  t->error_events++;
  return 1;
}

static void warn_malformed(struct tally *t, const struct sl_services *s, const struct sl_event *event,
                           const char *reason) {
  if (t->malformed_events++ < MESSAGES_MAX)
    s->message(s->context, SL_WARNING, "run %" PRIu32 " event %" PRIu64 ": malformed %s: %s", event->run, event->number,
               t->truth, reason);
}

int tally_decoded(struct tally *t, const struct sl_services *s, const struct sl_event *event, int result, int has_truth,
                  const char *reason) {
  if (result == SL_ENOMEM) return SL_ENOMEM;
  if (result != SL_OK)
    warn_malformed(t, s, event, reason);
  else if (!has_truth)
    t->events_without_truth++;
  else
    t->events++;
  return result == SL_OK && has_truth;
}

void tally_report(const struct tally *t, const struct sl_report *r) {
  r->integer(r->context, "events", (int64_t)t->events);
  r->integer(r->context, "error_events", (int64_t)t->error_events);
  r->integer(r->context, "malformed_events", (int64_t)t->malformed_events);
  r->integer(r->context, "events_without_truth", (int64_t)t->events_without_truth);
}

void tally_warn(const struct tally *t, const struct sl_services *s) {
  if (t->malformed_events > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " %s with malformed %s %s not checked", t->malformed_events,
               sl_plural(t->malformed_events, "event", "events"), t->truth,
               sl_plural(t->malformed_events, "was", "were"));
  if (t->events_without_truth > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " %s without %s %s not checked", t->events_without_truth,
               sl_plural(t->events_without_truth, "event", "events"), t->truth,
               sl_plural(t->events_without_truth, "was", "were"));
}

double rate_error(uint64_t k, uint64_t n) {
  const double a = (double)k + 1, b = (double)(n - k) + 1, sum = a + b;
  return n > 0 ? sqrt(a * b / (sum + 1)) / sum : (double)NAN;
}

void category_add(struct category_counts *n, uint32_t tracks) {
  n->reconstructible++;
  if (tracks == 0) return;
  n->reconstructed++;
  n->clones += tracks - 1;
}

void category_report(const struct category_counts *n, const char *name, const struct sl_report *r) {
  const double efficiency = ratio((double)n->reconstructed, (double)n->reconstructible);
  const double error = rate_error(n->reconstructed, n->reconstructible);
  const double purity = ratio(n->purity_sum, (double)n->matches);
  const double hit_efficiency = ratio(n->hit_efficiency_sum, (double)n->matches);
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", name);
  r->integer(r->context, "reconstructible", (int64_t)n->reconstructible);
  r->integer(r->context, "reconstructed", (int64_t)n->reconstructed);
  r->integer(r->context, "clones", (int64_t)n->clones);
  r->number(r->context, "efficiency", efficiency);
  r->number(r->context, "error", error);
  r->number(r->context, "purity", purity);
  r->number(r->context, "hit_efficiency", hit_efficiency);
  r->end_object(r->context);
  if (n->reconstructible == 0) return;
  r->line(r->context,
          "%-34s %7" PRIu64 " / %-7" PRIu64 " %6.2f +- %5.2f %%  clones %5.2f %%  purity %6.2f %%  hits %6.2f %%", name,
          n->reconstructed, n->reconstructible, 100 * efficiency, 100 * error,
          100 * ratio((double)n->clones, (double)(n->reconstructed + n->clones)), 100 * purity, 100 * hit_efficiency);
}
