/* rotation.c: --rotate: sinks complete their files and begin new ones, all of them at the same event.
 *
 * Whether a rotation is due is checked before each part of a slice is delivered, and once a second, so that a file can
 * exceed its size by one part. For rotation by run, slices are run in parts that end where the run number changes
 * (execute.c). A path is a pattern: %04d is the number of the file, and %Y and so on the time when it was begun.
 */
#define _GNU_SOURCE
#include "results/rotation.h"

#include "base/clock.h"
#include "execute/delivery.h"
#include "results/outputs.h"
#include "results/sinks.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------- the option */

struct unit {
  const char *name;
  double factor;
  int is_time;
};

static const struct unit units[] = {{"B", 1, 0},        {"kB", 1e3, 0},     {"MB", 1e6, 0},     {"GB", 1e9, 0},
                                    {"TB", 1e12, 0},    {"KiB", 0x1p10, 0}, {"MiB", 0x1p20, 0}, {"GiB", 0x1p30, 0},
                                    {"TiB", 0x1p40, 0}, {"s", 1e9, 1},      {"min", 60e9, 1},   {"h", 3600e9, 1},
                                    {"d", 86400e9, 1}};

static int refuse_option(const struct sl_rotation *r, const char *word, int length, const char *why) {
  sl_diagnose(r->setup->diagnostics, SL_ERROR, NULL, NULL, "--rotate 1GiB,10min,run", "--rotate: `%.*s`: %s", length,
              word, why);
  return SL_EINVAL;
}

/* Reads one of "1GiB", "10min" and "run". */
static int read_word(struct sl_rotation *r, const char *word, int length) {
  char text[32];
  if (length == 3 && strncmp(word, "run", 3) == 0) {
    if (r->by_run++) return refuse_option(r, word, length, "is given twice");
    return SL_OK;
  }
  snprintf(text, sizeof text, "%.*s", length, word);
  char *end = text;
  const double value = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
  for (size_t u = 0; end != text && u < sizeof units / sizeof units[0]; u++) {
    if (strcmp(end, units[u].name) != 0) continue;
    uint64_t *to = units[u].is_time ? &r->ns : &r->bytes;
    const double scaled = value * units[u].factor;
    if (*to) return refuse_option(r, word, length, units[u].is_time ? "a second time" : "a second size");
    if (!(scaled >= (units[u].is_time ? 1e9 : 1) && scaled < 0x1p62))
      return refuse_option(r, word, length, units[u].is_time ? "at least 1s is needed" : "at least 1B is needed");
    *to = (uint64_t)scaled;
    return SL_OK;
  }
  return refuse_option(r, word, length,
                       "a size (B kB MB GB TB KiB MiB GiB TiB), a time (s min h d) or `run` is expected");
}

static int read_option(struct sl_rotation *r) {
  const char *word = r->setup->options.rotate;
  for (;;) {
    const size_t length = strcspn(word, ",");
    const int status = read_word(r, word, (int)length);
    if (status < 0 || word[length] == '\0') return status;
    word += length + 1;
  }
}

/* ---------------------------------------------------------------------------------------------------- patterns */

/* An element of a pattern: a character; %04d, the number of the file with at least `digits` digits; or %Y and so on, a
 * time with `digits` digits. */
struct element {
  enum { CHARACTER, COUNTER, TIME } kind;
  char letter;
  int digits;
};

/* Returns the rest of the pattern after its first element, or NULL if that is wrong. */
static const char *next_element(const char *pattern, struct element *e) {
  static const char letters[] = "YjmdHMS";
  const char letter = pattern[0] == '%' ? pattern[1] : '\0';
  *e = (struct element){.kind = CHARACTER, .letter = pattern[0]};
  if (pattern[0] != '%') return pattern + 1;
  if (letter == '%') return pattern + 2;
  if (letter != '\0' && strchr(letters, letter)) {
    *e = (struct element){TIME, letter, letter == 'Y' ? 4 : letter == 'j' ? 3 : 2};
    return pattern + 2;
  }
  if (letter != '0' || pattern[2] < '1' || pattern[2] > '9' || pattern[3] != 'd') return NULL;
  *e = (struct element){COUNTER, 'd', pattern[2] - '0'};
  return pattern + 4;
}

/* Returns what is wrong with a pattern, or NULL. */
static const char *fault_of(const char *pattern) {
  int counters = 0;
  for (struct element e; *pattern; counters += e.kind == COUNTER) {
    pattern = next_element(pattern, &e);
    if (!pattern) return "% is followed by one of Y m d H M S j, by 01d to 09d for the number of the file, or by %";
  }
  return counters > 0 ? NULL : "it needs %04d, the number of the file";
}

/* Writes the path of file `number`, begun at `begin_s`. Returns 0 if it is too long. */
static int expand(const char *pattern, uint64_t number, time_t begin_s, char path[PATH_MAX]) {
  struct tm utc;
  size_t used = 0;
  gmtime_r(&begin_s, &utc);
  for (struct element e; pattern && *pattern;) {
    char part[64];
    pattern = next_element(pattern, &e);
    const char format[] = {'%', e.letter, '\0'};
    if (e.kind == COUNTER)
      snprintf(part, sizeof part, "%0*" PRIu64, e.digits, number);
    else if (e.kind == TIME)
      (void)strftime(part, sizeof part, format, &utc);
    else
      snprintf(part, sizeof part, "%c", e.letter);
    const size_t length = strlen(part);
    if (used + length >= PATH_MAX) return 0;
    memcpy(path + used, part, length);
    used += length;
  }
  path[used] = '\0';
  return 1;
}

char *sl_rotation_glob(const char *pattern, int is_pattern) {
  static const char digit[] = "[0-9]";
  char *text = malloc((2 + sizeof digit * 5) * strlen(pattern) + sizeof ".part*"), *to = text;
  for (struct element e; text && pattern && *pattern;) {
    if (is_pattern) {
      pattern = next_element(pattern, &e);
    } else {
      e = (struct element){.kind = CHARACTER, .letter = *pattern++};
    }
    for (int i = 0; i < e.digits; i++) to = stpcpy(to, digit);
    if (e.kind == COUNTER) *to++ = '*'; /* a number may have more digits */
    if (e.kind != CHARACTER) continue;
    if (strchr("*?[\\", e.letter)) *to++ = '\\';
    *to++ = e.letter;
  }
  if (text) memcpy(to, ".part*", sizeof ".part*");
  return text;
}

int sl_rotation_path(const struct sl_rotation *r, const struct sl_services *s, const char *pattern,
                     char path[PATH_MAX]) {
  const int fits = expand(pattern, r->number, r->begin_s, path);
  if (fits && access(path, F_OK) != 0) return SL_OK;
  if (fits)
    s->message(s->context, SL_ERROR,
               "%s exists: a run with --rotate replaces no file; %%Y%%m%%dT%%H%%M%%S in the pattern is the time", path);
  else
    s->message(s->context, SL_ERROR, "%s: the path is too long", pattern);
  return SL_EINVAL;
}

/* Checks a path of -o (`node` NULL) or of a property. */
static int check_pattern(const struct sl_rotation *r, const struct sl_node *node, uint32_t member,
                         const char *pattern) {
  const char *fault = fault_of(pattern);
  if (!fault) return SL_OK;
  const struct sl_location *value = node ? &node->value_locations[member] : NULL;
  sl_diagnose(r->setup->diagnostics, SL_ERROR, value && !value->file ? &node->location : value,
              node ? node->name : NULL, "NAME-%Y%m%dT%H%M%S-%04d.EXTENSION",
              "%s%s: with --rotate, a path is a pattern: %s", node ? "path: " : "-o ", pattern, fault);
  return SL_EINVAL;
}

static int check_patterns(const struct sl_rotation *r) {
  const struct sl_setup *s = r->setup;
  int status = s->options.output_path ? check_pattern(r, NULL, 0, s->options.output_path) : SL_OK;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const struct sl_node *node = &s->graph->nodes[s->graph->order[i]];
    for (uint32_t m = 0; node->algorithm->kind == SL_KIND_SINK && m < node->algorithm->member_count; m++) {
      const struct sl_member *member = &node->algorithm->members[m];
      const int is_path = member->kind == SL_MEMBER_PROPERTY && (member->flags & SL_FLAG_WRITTEN);
      if (is_path && *node->values[m].text && status == SL_OK) status = check_pattern(r, node, m, node->values[m].text);
    }
  }
  return status;
}

int sl_rotation_open(struct sl_rotation *r) {
  if (!r->setup->options.rotate) return SL_OK;
  int status = read_option(r);
  if (status == SL_OK) status = check_patterns(r);
  if (status == SL_OK) r->setup->splits_runs = (uint32_t)r->by_run;
  return status;
}

int sl_rotation_check(const struct sl_rotation *r) {
  if (!r->setup->options.rotate || r->file_count > 0) return SL_OK;
  sl_diagnose(r->setup->diagnostics, SL_ERROR, NULL, NULL, "add a sink, such as graphs/output/selected_events.yaml",
              "--rotate has no effect: no sink of this run writes a file");
  return SL_EINVAL;
}

/* ----------------------------------------------------------------------------------------------------- files */

void sl_rotation_begin(struct sl_rotation *r) {
  r->begin_s = time(NULL);
  r->begin_ns = sl_now_ns();
}

int sl_rotation_add(struct sl_rotation *r, const char *pattern, uint32_t entry, struct sl_output *output) {
  struct sl_rotated_file *larger = realloc(r->files, (r->file_count + 1) * sizeof *larger);
  if (!larger) return SL_ENOMEM;
  r->files = larger;
  struct sl_rotated_file *file = &r->files[r->file_count];
  file->output = output;
  file->pattern = strdup(pattern);
  file->entry = entry;
  if (!file->pattern) return SL_ENOMEM;
  r->file_count++;
  return SL_OK;
}

struct sl_rotated_file *sl_rotation_find(const struct sl_rotation *r, const struct sl_output *output) {
  for (uint32_t i = 0; i < r->file_count; i++)
    if (r->files[i].output == output) return &r->files[i];
  return NULL;
}

struct sl_output_complete *sl_rotation_complete(struct sl_rotation *r, int *status) {
  if (!r->setup->options.checkpoint_path) return NULL;
  if (r->complete_count == r->complete_capacity) {
    const uint32_t capacity = 2 * r->complete_capacity + 8;
    struct sl_output_complete *larger = realloc(r->complete, capacity * sizeof *larger);
    if (!larger) {
      *status = SL_ENOMEM;
      return NULL;
    }
    r->complete = larger;
    r->complete_capacity = capacity;
  }
  r->complete[r->complete_count] = (struct sl_output_complete){0};
  return &r->complete[r->complete_count++];
}

static void forget_files(struct sl_rotation *r) {
  for (uint32_t i = 0; i < r->file_count; i++) free(r->files[i].pattern);
  r->file_count = 0;
}

void sl_rotation_close(struct sl_rotation *r) {
  for (uint32_t i = 0; i < r->complete_count; i++) sl_output_complete_free(&r->complete[i]);
  free(r->complete);
  forget_files(r);
  free(r->files);
}

/* ----------------------------------------------------------------------------------------------- while it runs */

/* Begins the next number. */
static void advance(struct sl_rotation *r) {
  r->number++;
  r->first_event = r->delivery->events;
  sl_rotation_begin(r);
}

void sl_rotation_change(struct sl_rotation *r) {
  forget_files(r);
  if (sl_rotation_is_on(r)) advance(r);
}

static int rotate(struct sl_rotation *r) {
  advance(r);
  sl_outputs_update(r->outputs);
  const int status = sl_sinks_rotate(r->sinks);
  sl_outputs_rotate(r->outputs);
  return status == SL_OK ? r->after(r->checkpoint) : status;
}

static int is_full(const struct sl_rotation *r) {
  for (uint32_t i = 0; r->bytes && i < r->file_count; i++)
    if (sl_output_file_bytes(r->files[i].output) >= r->bytes) return 1;
  return 0;
}

/* Files without events are not completed. */
static int is_due(const struct sl_rotation *r, uint64_t now_ns) {
  if (r->delivery->events == r->first_event) return 0;
  return (r->ns && now_ns - r->begin_ns >= r->ns) || is_full(r);
}

/* The run number of an event with an error may be unknown. */
static int begins_run(struct sl_rotation *r, const struct sl_batch *batch, int empty) {
  if (!r->by_run || empty || batch->event_count == 0) return 0;
  const int is_other = r->knows_run && batch->events[0].run != r->run;
  r->run = batch->events[0].run;
  r->knows_run = 1;
  return is_other;
}

static int deliver(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty) {
  struct sl_rotation *r = context;
  (void)slot;
  return begins_run(r, batch, empty) || is_due(r, sl_now_ns()) ? rotate(r) : SL_OK;
}

static int tick(void *context, uint64_t now_ns) {
  struct sl_rotation *r = context;
  return is_due(r, now_ns) ? rotate(r) : SL_OK;
}

const struct sl_observer_calls sl_rotation_observer = {.deliver = deliver, .tick = tick};
