/* alarms.c: see alarms.h. An alarm begins when a limit is exceeded and ends when it is not. It is shown until it has
 * ended and was acknowledged, so that a short alarm is not missed. If it begins again, it is no longer
 * acknowledged. */
#include "serve/alarms.h"

#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void write_id(char *id, size_t size, const struct sl_alarm_rule *rule, const char *thing) {
  snprintf(id, size, "%s%s%.120s", sl_alarm_kind_name(rule->kind), *thing ? "-" : "", thing);
  for (char *at = id; *at; at++)
    if (!strchr("-._", *at) && !(*at >= '0' && *at <= '9') && !((*at | 32) >= 'a' && (*at | 32) <= 'z')) *at = '_';
}

struct sl_alarm *sl_alarm_of(struct sl_alarms *a, const struct sl_alarm_rule *rule, const char *thing) {
  char id[sizeof a->at->id];
  write_id(id, sizeof id, rule, thing);
  for (uint32_t i = 0; i < a->count; i++)
    if (strcmp(a->at[i].id, id) == 0) {
      a->at[i].rule = rule;
      return &a->at[i];
    }
  if (a->count == a->capacity) {
    const uint32_t capacity = a->capacity ? 2 * a->capacity : 16;
    struct sl_alarm *grown = realloc(a->at, capacity * sizeof *grown);
    if (!grown) return NULL;
    a->at = grown;
    a->capacity = capacity;
  }
  struct sl_alarm *alarm = &a->at[a->count++];
  *alarm = (struct sl_alarm){.rule = rule};
  memcpy(alarm->id, id, sizeof id);
  return alarm;
}

void sl_alarm_set(struct sl_alarm *alarm, int is_active, double value, uint64_t now_ns, const char *format, ...) {
  if (is_active != alarm->is_active) {
    alarm->since_ns = now_ns;
    alarm->is_shown = is_active || !alarm->is_acknowledged;
    alarm->is_acknowledged = 0;
  }
  alarm->is_active = is_active;
  alarm->value = value;
  if (!is_active) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(alarm->text, sizeof alarm->text, format, arguments);
  va_end(arguments);
}

int sl_alarm_acknowledge(struct sl_alarms *a, const char *id) {
  int is_found = 0;
  pthread_mutex_lock(&a->lock);
  for (uint32_t i = 0; i < a->count; i++) {
    struct sl_alarm *alarm = &a->at[i];
    if (!alarm->is_shown || strcmp(alarm->id, id) != 0) continue;
    alarm->is_acknowledged = 1;
    alarm->is_shown = alarm->is_active;
    is_found = 1;
  }
  pthread_mutex_unlock(&a->lock);
  return is_found;
}

void sl_alarms_write_json(struct sl_alarms *a, uint64_t now_ns, struct sl_json *j) {
  sl_json_begin_array(j, "alarms");
  pthread_mutex_lock(&a->lock);
  for (uint32_t i = 0; i < a->count; i++) {
    const struct sl_alarm *alarm = &a->at[i];
    if (!alarm->is_shown) continue;
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "id", alarm->id);
    sl_json_string(j, "kind", sl_alarm_kind_name(alarm->rule->kind));
    sl_json_boolean(j, "active", alarm->is_active);
    sl_json_boolean(j, "acknowledged", alarm->is_acknowledged);
    sl_json_number(j, "since_seconds", floor((double)(now_ns - alarm->since_ns) * 1e-8) / 10);
    sl_json_string(j, "text", alarm->text);
    sl_json_number(j, "value", alarm->value);
    sl_json_number(j, "low", alarm->rule->low);
    sl_json_number(j, "high", alarm->rule->high);
    sl_json_end_object(j);
  }
  pthread_mutex_unlock(&a->lock);
  sl_json_end_array(j);
}

void sl_alarms_write_metrics(struct sl_alarms *a, FILE *file) {
  pthread_mutex_lock(&a->lock);
  if (a->count > 0)
    fputs("# HELP sluice_alarm 1 while the limit of the alarm is exceeded.\n# TYPE sluice_alarm gauge\n", file);
  for (uint32_t i = 0; i < a->count; i++)
    fprintf(file, "sluice_alarm{alarm=\"%s\",kind=\"%s\"} %d\n", a->at[i].id, sl_alarm_kind_name(a->at[i].rule->kind),
            a->at[i].is_active);
  if (a->count > 0)
    fputs(
        "# HELP sluice_alarm_acknowledged 1 if the alarm was acknowledged and is not over.\n"
        "# TYPE sluice_alarm_acknowledged gauge\n",
        file);
  for (uint32_t i = 0; i < a->count; i++)
    fprintf(file, "sluice_alarm_acknowledged{alarm=\"%s\"} %d\n", a->at[i].id,
            a->at[i].is_active && a->at[i].is_acknowledged);
  pthread_mutex_unlock(&a->lock);
}

void sl_alarms_close(struct sl_alarms *a) {
  sl_alarm_rules_close(&a->rules);
  free(a->at);
}

int sl_alarm_is_outside(const struct sl_alarm_rule *rule, double count, double events) {
  if (events <= 0) return 0;
  const double low = isfinite(rule->low) ? rule->low : 0, high = isfinite(rule->high) ? rule->high : 1;
  const double below = low * events - count, above = count - high * events;
  return below > SL_ALARM_SIGMA * sqrt(low * (1 - low) * events) ||
         above > SL_ALARM_SIGMA * sqrt(fmax(high * (1 - high), 0) * events);
}
