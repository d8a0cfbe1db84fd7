/* rotation.c: --rotate: sinks complete their files and begin new ones, all of them at the same event.
 *
 * Whether a rotation is due is checked before each part of a slice is delivered, and once a second, so that a file can
 * exceed its size by one part. For rotation by run, slices are run in parts that end where the run number changes
 * (execute.c). A path is a pattern: %04d is the number of the file, and %Y and so on the time when it was begun.
 */
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

static const char time_letters[] = "YmdHMSj";

/* Returns the number of characters of a counter (%04d) that begins here, or 0. */
static size_t counter_length(const char *text) {
  if (text[0] != '%' || text[1] != '0' || !isdigit((unsigned char)text[2]) || text[2] == '0' || text[3] != 'd')
    return 0;
  return 4;
}

/* Returns what is wrong with a pattern, or NULL. */
static const char *fault_of(const char *pattern) {
  int counters = 0;
  for (const char *c = pattern; *c; c++) {
    if (*c != '%') continue;
    const size_t counter = counter_length(c);
    counters += counter > 0;
    if (counter > 0)
      c += counter - 1;
    else if (c[1] != '%' && (c[1] == '\0' || !strchr(time_letters, c[1])))
      return "% is followed by one of Y m d H M S j, by 01d to 09d for the number of the file, or by %";
    else
      c++;
  }
  return counters > 0 ? NULL : "it needs %04d, the number of the file";
}

/* Writes the path of file `number`, begun at `begin_s`. Returns 0 if it is too long. */
static int expand(const char *pattern, uint64_t number, time_t begin_s, char path[PATH_MAX]) {
  struct tm utc;
  size_t used = 0;
  gmtime_r(&begin_s, &utc);
  for (const char *c = pattern; *c; c++) {
    char part[64] = {*c, '\0'};
    const size_t counter = counter_length(c);
    if (counter > 0) {
      snprintf(part, sizeof part, "%0*" PRIu64, c[2] - '0', number);
      c += counter - 1;
    } else if (*c == '%' && c[1] != '%') {
      const char format[] = {'%', *++c, '\0'};
      (void)strftime(part, sizeof part, format, &utc);
    } else if (*c == '%') {
      c++;
    }
    const size_t length = strlen(part);
    if (used + length >= PATH_MAX) return 0;
    memcpy(path + used, part, length);
    used += length;
  }
  path[used] = '\0';
  return 1;
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

static int check_pattern(const struct sl_rotation *r, const struct sl_location *location, const char *node,
                         const char *option, const char *pattern) {
  const char *fault = fault_of(pattern);
  if (!fault) return SL_OK;
  sl_diagnose(r->setup->diagnostics, SL_ERROR, location, node, "NAME-%Y%m%dT%H%M%S-%04d.EXTENSION",
              "%s%s: with --rotate, a path is a pattern: %s", option, pattern, fault);
  return SL_EINVAL;
}

/* Checks the paths that properties of a sink name. */
static int check_sink(const struct sl_rotation *r, const struct sl_node *node) {
  const struct sl_algorithm *a = node->algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_member *member = &a->members[m];
    const struct sl_location *at = &node->value_locations[m];
    if (member->kind != SL_MEMBER_PROPERTY || !(member->flags & SL_FLAG_WRITTEN) || !*node->values[m].text) continue;
    const int status = check_pattern(r, at->file ? at : &node->location, node->name, "path: ", node->values[m].text);
    if (status < 0) return status;
  }
  return SL_OK;
}

int sl_rotation_open(struct sl_rotation *r) {
  const struct sl_setup *s = r->setup;
  if (!s->options.rotate) return SL_OK;
  int status = read_option(r);
  for (uint32_t i = 0; status == SL_OK && i < s->graph->order_count; i++) {
    const struct sl_node *node = &s->graph->nodes[s->graph->order[i]];
    if (node->algorithm->kind == SL_KIND_SINK) status = check_sink(r, node);
  }
  if (status == SL_OK && s->options.output_path) status = check_pattern(r, NULL, NULL, "-o ", s->options.output_path);
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

int sl_rotation_add(struct sl_rotation *r, const char *pattern, const char *path, struct sl_output *output) {
  struct sl_rotated_file *larger = realloc(r->files, (r->file_count + 1) * sizeof *larger);
  if (!larger) return SL_ENOMEM;
  r->files = larger;
  struct sl_rotated_file *file = &r->files[r->file_count];
  file->output = output;
  file->pattern = strdup(pattern);
  snprintf(file->path, sizeof file->path, "%s", path);
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

void sl_rotation_glob(const char *pattern, int is_pattern, char *glob_text) {
  char *to = glob_text;
  for (const char *c = pattern; *c; c++) {
    const size_t counter = is_pattern ? counter_length(c) : 0;
    if (counter > 0 || (is_pattern && *c == '%' && c[1] != '%')) {
      *to++ = '*';
      c += counter > 0 ? counter - 1 : 1;
      continue;
    }
    if (is_pattern && *c == '%') c++;
    if (strchr("*?[\\", *c)) *to++ = '\\';
    *to++ = *c;
  }
  memcpy(to, ".part*", sizeof ".part*");
}

void sl_rotation_close(struct sl_rotation *r) {
  for (uint32_t i = 0; i < r->complete_count; i++) sl_output_complete_free(&r->complete[i]);
  free(r->complete);
  for (uint32_t i = 0; i < r->file_count; i++) free(r->files[i].pattern);
  free(r->files);
}

/* ----------------------------------------------------------------------------------------------- while it runs */

static int rotate(struct sl_rotation *r) {
  r->number++;
  r->first_event = r->delivery->events;
  sl_rotation_begin(r);
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
