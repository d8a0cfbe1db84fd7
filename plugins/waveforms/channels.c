/* channels.c: waveforms.channels, the constants of channels from a table in CSV, or one decay time for all channels.
 *
 *   channel,tau_ns
 *   1084803,439368
 *
 * Further columns are not read; empty lines and lines that begin with # are skipped. decay = 1 - exp(-1/tau), tau in
 * samples; a tau of 0 gives 1: a running sum.
 */
#include "waveforms/event_model.h"

#include <sluice/math64.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS channels_args
#define CHANNELS(M)                                                                                                 \
  M(OUT, channels, waveforms_channels, "decay of the pulses of each channel, and for all others")                   \
  M(FILE_IN, path, "", "", "CSV file with the columns channel and tau_ns; empty: none")                             \
  M(F64, tau_ns, 439368, 0, 1e15, "ns", "decay time of the channels that the file does not list; 0: a running sum") \
  M(F64, period_ns, 16, 1e-3, 1e9, "ns", "sampling period")
SL_HOST_ARGUMENTS(channels, CHANNELS);

enum { COLUMNS_MAX = 64, LINE_BYTES = 4096 };

struct channel {
  uint32_t number, line;
  double tau_ns;
};

struct table {
  const struct sl_services *services;
  const char *path;
  struct channel *channels;
  uint32_t count, capacity, line;
  int32_t columns[2]; /* of channel and tau_ns; -1: not found */
};

static const char *const column_names[2] = {"channel", "tau_ns"};

static int refuse(const struct table *t, const char *expected, const char *found, size_t bytes) {
  t->services->message(t->services->context, SL_ERROR, "path: %s:%u: %s is expected; found \"%.*s\"", t->path, t->line,
                       expected, (int)(bytes < 40 ? bytes : 40), found);
  return SL_EFORMAT;
}

/* Splits a line at commas, without blanks around the parts. Returns their number. */
static uint32_t split(char *line, char *parts[COLUMNS_MAX]) {
  uint32_t count = 0;
  for (char *next = line; next && count < COLUMNS_MAX;) {
    char *part = next + strspn(next, " \t"), *comma = strchr(part, ',');
    next = comma ? comma + 1 : NULL;
    char *end = comma ? comma : part + strlen(part);
    while (end > part && strchr(" \t\r\n", end[-1])) end--;
    *end = '\0';
    parts[count++] = part;
  }
  return count;
}

static int read_header(struct table *t, char *const parts[COLUMNS_MAX], uint32_t count) {
  for (uint32_t c = 0; c < 2; c++) {
    t->columns[c] = -1;
    for (uint32_t i = count; i > 0; i--)
      if (strcmp(parts[i - 1], column_names[c]) == 0) t->columns[c] = (int32_t)i - 1;
    if (t->columns[c] < 0)
      return refuse(t, c ? "a column tau_ns in the first line" : "a column channel in the first line", parts[0],
                    strlen(parts[0]));
  }
  return SL_OK;
}

static int add_channel(struct table *t, char *const parts[COLUMNS_MAX], uint32_t count) {
  const char *text[2];
  char *end[2];
  for (uint32_t c = 0; c < 2; c++) text[c] = t->columns[c] < (int32_t)count ? parts[t->columns[c]] : "";
  errno = 0;
  const unsigned long long number = strtoull(text[0], &end[0], 10);
  if (text[0][0] < '0' || text[0][0] > '9' || *end[0] || errno || number >= WAVEFORMS_ANY_CHANNEL)
    return refuse(t, "a number of a channel, below 4294967295,", text[0], strlen(text[0]));
  const double tau_ns = strtod(text[1], &end[1]);
  if (((text[1][0] < '0' || text[1][0] > '9') && text[1][0] != '.') || *end[1] || !(tau_ns >= 0 && tau_ns <= 1e15))
    return refuse(t, "a decay time in ns from 0 to 1e15", text[1], strlen(text[1]));
  if (t->count == t->capacity) {
    const uint32_t capacity = t->capacity ? 2 * t->capacity : 64;
    struct channel *larger = realloc(t->channels, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    t->channels = larger;
    t->capacity = capacity;
  }
  t->channels[t->count++] = (struct channel){(uint32_t)number, t->line, tau_ns};
  return SL_OK;
}

static int read_lines(struct table *t, FILE *file) {
  char line[LINE_BYTES], *parts[COLUMNS_MAX];
  uint32_t has_header = 0;
  while (fgets(line, sizeof line, file)) {
    t->line++;
    if (!strchr(line, '\n') && !feof(file)) return refuse(t, "a line of less than 4096 bytes", line, strlen(line));
    if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#') continue;
    const uint32_t count = split(line, parts);
    const int status = has_header ? add_channel(t, parts, count) : read_header(t, parts, count);
    if (status < 0) return status;
    has_header = 1;
  }
  if (ferror(file)) {
    t->services->message(t->services->context, SL_ERROR, "path: %s: %s", t->path, strerror(errno));
    return SL_EIO;
  }
  return has_header ? SL_OK : refuse(t, "a first line with the columns channel and tau_ns", "", 0);
}

static int compare(const void *a, const void *b) {
  const struct channel *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

/* Reads the file, in ascending order of channels. */
static int read_table(struct table *t) {
  FILE *file = fopen(t->path, "r");
  if (!file) {
    t->services->message(t->services->context, SL_ERROR, "path: %s: %s", t->path, strerror(errno));
    return SL_EIO;
  }
  const int status = read_lines(t, file);
  fclose(file);
  if (status < 0) return status;
  if (t->count > 0) qsort(t->channels, t->count, sizeof *t->channels, compare);
  for (uint32_t i = 1; i < t->count; i++) {
    if (t->channels[i].number != t->channels[i - 1].number) continue;
    t->services->message(t->services->context, SL_ERROR, "path: %s:%u: channel %u is already in line %u", t->path,
                         t->channels[i].line, t->channels[i].number, t->channels[i - 1].line);
    return SL_EFORMAT;
  }
  return SL_OK;
}

static double decay_of(const struct channels_args *a, double tau_ns) {
  return tau_ns > 0 ? -sl_expm1(-a->period_ns / tau_ns) : 1.0;
}

static int make_from(const struct channels_args *a, const struct table *t) {
  const struct sl_services *s = t->services;
  uint32_t *number = (uint32_t *)s->make_array(s->context, "channels", "number", (uint64_t)t->count + 1);
  double *decay = (double *)s->make_array(s->context, "channels", "decay", (uint64_t)t->count + 1);
  if (!number || !decay) return SL_ENOMEM;
  for (uint32_t i = 0; i < t->count; i++) {
    number[i] = t->channels[i].number;
    decay[i] = decay_of(a, t->channels[i].tau_ns);
  }
  number[t->count] = WAVEFORMS_ANY_CHANNEL;
  decay[t->count] = decay_of(a, a->tau_ns);
  return SL_OK;
}

static int make(const struct sl_services *s, const struct channels_args *a) {
  struct table t = {.services = s, .path = a->path};
  int status = a->path[0] ? read_table(&t) : SL_OK;
  if (status == SL_OK) status = make_from(a, &t);
  free(t.channels);
  return status;
}

SL_CONSTANT(channels, "decay of the pulses of each channel, from a table", make);
