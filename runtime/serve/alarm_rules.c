/* alarm_rules.c: see alarm_rules.h. */
#include "serve/alarm_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[SL_ALARM_KINDS] = {"errors", "silent", "disk", "ratio", "rate"};
static const struct sl_alarm_rule defaults[] = {
    {.kind = SL_ALARM_ERRORS, .low = NAN, .high = 0.01},
    {.kind = SL_ALARM_SILENT, .low = NAN, .high = 60},
    {.kind = SL_ALARM_DISK, .low = 0.05, .high = NAN},
    {.kind = SL_ALARM_RATIO, .low = 0.5, .high = 2},
};
enum { DEFAULTS = sizeof defaults / sizeof defaults[0] };
static const char hint[] =
    "errors=1%, silent=60, disk=5% or disk=10GiB, ratio=0.5..2, rate:PATTERN=1%..5% or "
    "rate:PATTERN=..100Hz; errors=off and so on";

const char *sl_alarm_kind_name(uint32_t kind) { return kinds[kind]; }

/* A number and its unit. Returns 0 if the text begins with no finite number that is at least 0. */
static int read_number(const char **text, double *value) {
  char *end = NULL;
  *value = (**text >= '0' && **text <= '9') || **text == '.' ? strtod(*text, &end) : 0;
  if (!end || end == *text || !isfinite(*value)) return 0;
  *text = end;
  return 1;
}

struct unit {
  const char *name;
  double factor;
  uint32_t is_absolute;
};
static const struct unit rate_units[] = {{"%", 0.01, 0}, {"Hz", 1, 1}, {"kHz", 1e3, 1}, {"MHz", 1e6, 1}};
static const struct unit disk_units[] = {{"%", 0.01, 0},      {"B", 1, 1},         {"KiB", 1024, 1},
                                         {"MiB", 1 << 20, 1}, {"GiB", 1 << 30, 1}, {"TiB", 1024. * (1 << 30), 1}};
static const struct unit error_units[] = {{"%", 0.01, 0}};
static const struct unit second_units[] = {{"", 1, 0}, {"s", 1, 0}};
static const struct unit ratio_units[] = {{"", 1, 0}};
#define UNITS(table) table, sizeof(table) / sizeof(table)[0]
static const struct {
  const struct unit *at;
  size_t count;
} units[SL_ALARM_KINDS] = {
    {UNITS(error_units)}, {UNITS(second_units)}, {UNITS(disk_units)}, {UNITS(ratio_units)}, {UNITS(rate_units)}};

/* Applies the unit, which is the rest of the text. Returns 0 if there is no such unit. */
static int apply_unit(struct sl_alarm_rule *rule, const char *text) {
  for (size_t i = 0; i < units[rule->kind].count; i++) {
    const struct unit *unit = &units[rule->kind].at[i];
    if (strcmp(unit->name, text) != 0) continue;
    rule->low *= unit->factor;
    rule->high *= unit->factor;
    rule->is_absolute = unit->is_absolute;
    return 1;
  }
  return 0;
}

/* "LOW..HIGH" with one unit after HIGH, or the same unit after both. */
static int read_range(struct sl_alarm_rule *rule, const char *text) {
  const char *dots = strstr(text, "..");
  char before[40];
  if (!dots || (size_t)(dots - text) >= sizeof before) return 0;
  memcpy(before, text, (size_t)(dots - text)); /* a number ends before the dots */
  before[dots - text] = '\0';
  const char *low = before, *high = dots + 2;
  if (*low && !read_number(&low, &rule->low)) return 0;
  if (*high && !read_number(&high, &rule->high)) return 0;
  const int has_high = isfinite(rule->high);
  if (*low && has_high && strcmp(low, high) != 0) return 0;
  return (isfinite(rule->low) || has_high) && !(rule->low > rule->high) && apply_unit(rule, has_high ? high : low);
}

static int read_limit(struct sl_alarm_rule *rule, const char *text) {
  const int has_range = rule->kind == SL_ALARM_RATE || rule->kind == SL_ALARM_RATIO;
  rule->low = rule->high = NAN;
  if (has_range) return read_range(rule, text);
  return read_number(&text, rule->kind == SL_ALARM_DISK ? &rule->low : &rule->high) && apply_unit(rule, text);
}

/* Reads one text, which is changed: the pattern becomes a part of it. Returns 0 if it is wrong. */
static int read_rule(struct sl_alarm_rules *r, char *copy, const char *given) {
  struct sl_alarm_rule rule = {.text = given};
  char *equals = strrchr(copy, '='), *colon = strchr(copy, ':');
  if (!equals) return 0;
  *equals = '\0';
  if (colon && colon < equals) {
    *colon = '\0';
    rule.pattern = colon + 1;
  }
  while (rule.kind < SL_ALARM_KINDS && strcmp(kinds[rule.kind], copy) != 0) rule.kind++;
  if (rule.kind == SL_ALARM_KINDS || (rule.kind == SL_ALARM_RATE) != (rule.pattern && *rule.pattern)) return 0;
  const int is_off = rule.kind != SL_ALARM_RATE && strcmp(equals + 1, "off") == 0;
  if (is_off) rule.low = rule.high = NAN;
  if (!is_off && !read_limit(&rule, equals + 1)) return 0;
  if (rule.kind == SL_ALARM_RATE)
    r->at[r->count++] = rule;
  else
    r->at[rule.kind] = rule;
  return 1;
}

int sl_alarm_rules_read(struct sl_alarm_rules *r, const char *const *texts, struct sl_diagnostics *d) {
  size_t count = 0;
  int status = SL_OK;
  while (texts && texts[count]) count++;
  *r = (struct sl_alarm_rules){.at = calloc(2 * count + DEFAULTS + 1, sizeof *r->at),
                               .texts = calloc(2 * count + 1, sizeof *r->texts)};
  if (!r->at || !r->texts) status = SL_ENOMEM;
  if (status == SL_OK) memcpy(r->at, defaults, sizeof defaults);
  r->count = DEFAULTS;
  for (size_t i = 0; i < count && status == SL_OK; i++) {
    char *given = r->texts[2 * i] = strdup(texts[i]), *copy = r->texts[2 * i + 1] = strdup(texts[i]);
    if (!given || !copy) status = SL_ENOMEM;
    if (status < 0 || read_rule(r, copy, given)) continue;
    sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "--alarm %s: not a limit", texts[i]);
    status = SL_EINVAL;
  }
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(status));
  return status;
}

void sl_alarm_rules_close(struct sl_alarm_rules *r) {
  for (size_t i = 0; r->texts && r->texts[i]; i++) free(r->texts[i]);
  free(r->texts);
  free(r->at);
  *r = (struct sl_alarm_rules){0};
}
