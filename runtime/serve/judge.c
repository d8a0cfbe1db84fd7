/* judge.c: see judge.h. Fractions and ratios are those of the last minute. They are outside a limit if they are beyond
 * it by more than SL_ALARM_SIGMA standard deviations, so that few events raise no alarm. */
#include "serve/judge.h"

#include "base/nearest.h"

#include <fnmatch.h>
#include <math.h>

/* An entry, and its counts. */
struct entry {
  const struct sl_total_summary *total;
  const char *name;
  uint32_t index; /* among the entries of all totals */
};

static const struct sl_alarm_rule *rule_of(const struct sl_alarms *a, uint32_t kind) { return &a->rules.at[kind]; }

/* The last rule of rates with a pattern that matches; NULL if there is none. */
static const struct sl_alarm_rule *rule_of_entry(const struct sl_alarms *a, const char *name) {
  const struct sl_alarm_rule *found = NULL;
  for (uint32_t i = 0; i < a->rules.count; i++)
    if (a->rules.at[i].kind == SL_ALARM_RATE && fnmatch(a->rules.at[i].pattern, name, 0) == 0) found = &a->rules.at[i];
  return found;
}

int sl_judge_check(const struct sl_alarms *a, const struct sl_measures *m, struct sl_diagnostics *d) {
  for (uint32_t i = 0; i < a->rules.count; i++) {
    const struct sl_alarm_rule *rule = &a->rules.at[i];
    struct sl_nearest nearest;
    int is_used = rule->kind != SL_ALARM_RATE;
    sl_nearest_begin(&nearest, rule->pattern ? rule->pattern : "");
    for (uint32_t t = 0; t < m->total_count && !is_used; t++) {
      const struct sl_total_summary *total = &m->live.statistics->summary.totals[m->totals[t].total];
      for (uint32_t e = 0; e < total->entries; e++) {
        is_used |= fnmatch(rule->pattern, total->names[e], 0) == 0;
        sl_nearest_offer(&nearest, total->names[e]);
      }
    }
    if (is_used) continue;
    char hint[200] = "the graph needs an output that counts events by name: --with output/rates.yaml";
    const char *name = sl_nearest_result(&nearest);
    if (m->total_count > 0)
      snprintf(hint, sizeof hint, "%s%.150s%s", name ? "did you mean " : "", name ? name : "", name ? "?" : "");
    sl_diagnose(d, SL_ERROR, NULL, NULL, *hint ? hint : NULL,
                "--alarm %s: no output of the graph counts events of such a name", rule->text);
    return SL_EINVAL;
  }
  return SL_OK;
}

static void write_limits(char text[64], const struct sl_alarm_rule *rule, double scale, const char *unit) {
  char low[24] = "", high[24] = "";
  if (isfinite(rule->low)) snprintf(low, sizeof low, "%.4g", rule->low * scale);
  if (isfinite(rule->high)) snprintf(high, sizeof high, "%.4g", rule->high * scale);
  if (*low && *high)
    snprintf(text, 64, "%s to %s%s", low, high, unit);
  else
    snprintf(text, 64, "at %s %s%s", *low ? "least" : "most", *low ? low : high, unit);
}

static void judge_rate(struct sl_alarms *a, const struct sl_measures *m, const struct entry *e) {
  const struct sl_alarm_rule *rule = rule_of_entry(a, e->name);
  struct sl_alarm *alarm = rule ? sl_alarm_of(a, rule, e->name) : NULL;
  if (!alarm) return;
  const double count = (double)sl_recent_change(&m->entries, e->index, SL_RECENT_SECONDS);
  const double events = (double)sl_measures_events(m, SL_RECENT_SECONDS);
  const double seconds = sl_measures_seconds(m, SL_RECENT_SECONDS);
  const double value = rule->is_absolute ? (seconds > 0 ? count / seconds : 0) : events > 0 ? count / events : 0;
  int is_outside = sl_alarm_is_outside(rule, count, events);
  if (rule->is_absolute) {
    const double low = isfinite(rule->low) ? rule->low * seconds : 0;
    const double high = isfinite(rule->high) ? rule->high * seconds : INFINITY;
    is_outside = low - count > SL_ALARM_SIGMA * sqrt(low) || count - high > SL_ALARM_SIGMA * sqrt(high);
  }
  char limits[64];
  write_limits(limits, rule, rule->is_absolute ? 1 : 100, rule->is_absolute ? " Hz" : " %");
  sl_alarm_set(alarm, is_outside, value, m->now_ns, "%s: %.3g%s in the last minute; limit: %s", e->name,
               rule->is_absolute ? value : 100 * value, rule->is_absolute ? " Hz" : " % of the events", limits);
}

/* The ratio of the fraction of the last minute to that of the reference. */
static void judge_ratio(struct sl_alarms *a, const struct sl_measures *m, const struct sl_reference *r,
                        const struct entry *e) {
  const struct sl_alarm_rule *rule = rule_of(a, SL_ALARM_RATIO);
  const double expected = m->expected[e->index];
  const double events = (double)sl_measures_events(m, SL_RECENT_SECONDS);
  if (!(expected >= 0) || !(r->events > 0) || events <= 0) return;
  if (!isfinite(rule->low) && !isfinite(rule->high)) return;
  const double count = (double)sl_recent_change(&m->entries, e->index, SL_RECENT_SECONDS);
  const double scale = events / r->events, sigma = sqrt(expected + 1) * scale;
  const double low = isfinite(rule->low) ? rule->low : 0, high = isfinite(rule->high) ? rule->high : INFINITY;
  const double below = low * expected * scale - count, above = count - high * expected * scale;
  const int is_outside = below > SL_ALARM_SIGMA * sqrt(count + 1 + low * low * sigma * sigma) ||
                         above > SL_ALARM_SIGMA * sqrt(count + 1 + high * high * sigma * sigma);
  struct sl_alarm *alarm = sl_alarm_of(a, rule, e->name);
  const double ratio = expected > 0 ? count / (expected * scale) : INFINITY;
  char limits[64];
  write_limits(limits, rule, 1, "");
  if (!alarm) return;
  sl_alarm_set(alarm, is_outside, ratio, m->now_ns, "%s: %.3g times the rate of the reference; limit: %s", e->name,
               ratio, limits);
}

static void judge_entries(struct sl_alarms *a, const struct sl_measures *m, const struct sl_reference *r) {
  for (uint32_t t = 0; t < m->total_count; t++) {
    const struct sl_total_summary *total = &m->live.statistics->summary.totals[m->totals[t].total];
    for (uint32_t i = 0; i < total->entries && m->totals[t].is_rate; i++) {
      const struct entry e = {total, total->names[i], m->totals[t].first_entry + i};
      judge_rate(a, m, &e);
      judge_ratio(a, m, r, &e);
    }
  }
}

static void judge_errors(struct sl_alarms *a, const struct sl_measures *m) {
  const struct sl_alarm_rule *rule = rule_of(a, SL_ALARM_ERRORS);
  struct sl_alarm *alarm = isfinite(rule->high) ? sl_alarm_of(a, rule, "") : NULL;
  const double events = (double)sl_measures_events(m, SL_RECENT_SECONDS);
  const double errors = (double)sl_recent_change(&m->clock, SL_CLOCK_ERRORS, SL_RECENT_SECONDS);
  if (!alarm) return;
  sl_alarm_set(alarm, sl_alarm_is_outside(rule, errors, events), events > 0 ? errors / events : 0, m->now_ns,
               "%.3g %% of the events of the last minute have an error; limit: at most %.3g %%",
               events > 0 ? 100 * errors / events : 0, 100 * rule->high);
}

static void judge_silence(struct sl_alarms *a, const struct sl_measures *m) {
  const struct sl_alarm_rule *rule = rule_of(a, SL_ALARM_SILENT);
  struct sl_alarm *alarm = isfinite(rule->high) ? sl_alarm_of(a, rule, "") : NULL;
  const double seconds = (double)(m->now_ns - m->last_event_ns) * 1e-9;
  if (!alarm) return;
  sl_alarm_set(alarm, seconds > rule->high, seconds, m->now_ns, "no event was delivered for %.0f s; limit: %.0f s",
               seconds, rule->high);
}

static void judge_disks(struct sl_alarms *a, const struct sl_measures *m, const struct sl_disks *disks) {
  const struct sl_alarm_rule *rule = rule_of(a, SL_ALARM_DISK);
  for (uint32_t i = 0; i < disks->count && isfinite(rule->low); i++) {
    const struct sl_disk *disk = &disks->at[i];
    const double fraction = disk->free_bytes / disk->total_bytes;
    const double value = rule->is_absolute ? disk->free_bytes : fraction;
    struct sl_alarm *alarm = sl_alarm_of(a, rule, disk->folder);
    char limits[64];
    write_limits(limits, rule, rule->is_absolute ? 1e-9 : 100, rule->is_absolute ? " GB" : " %");
    if (!alarm) return;
    sl_alarm_set(alarm, value < rule->low, value, m->now_ns, "the disk of %.120s has %.3g GB (%.3g %%) left; limit: %s",
                 disk->folder, disk->free_bytes * 1e-9, 100 * fraction, limits);
  }
}

void sl_judge(struct sl_alarms *a, const struct sl_measures *m, const struct sl_reference *reference,
              const struct sl_disks *disks) {
  pthread_mutex_lock(&a->lock);
  judge_errors(a, m);
  judge_silence(a, m);
  judge_disks(a, m, disks);
  judge_entries(a, m, reference);
  pthread_mutex_unlock(&a->lock);
}

void sl_judge_end(struct sl_alarms *a, uint64_t now_ns) {
  pthread_mutex_lock(&a->lock);
  for (uint32_t i = 0; i < a->count; i++) sl_alarm_set(&a->at[i], 0, a->at[i].value, now_ns, "%s", "");
  pthread_mutex_unlock(&a->lock);
}
