/* summary.c: the summary of a run, as a table and as JSON. */
#include "base/json.h"
#include "base/locale.h"
#include "base/text_file.h"
#include "report/origin.h"
#include "session/inspect.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 12.3 k, 4.56 M: three or four digits and a prefix. */
static const char *with_prefix(double value, char *text, size_t size) {
  static const char *const prefixes[] = {"", " k", " M", " G", " T"};
  unsigned p = 0;
  while (value >= 9999.5 && p < 4) {
    value /= 1000;
    p++;
  }
  snprintf(text, size, value < 10 && p > 0 ? "%.2f%s" : value < 100 && p > 0 ? "%.1f%s" : "%.0f%s", value, prefixes[p]);
  return text;
}

static const char *as_bytes(uint64_t bytes, char *text, size_t size) {
  if (bytes < 10240)
    snprintf(text, size, "%" PRIu64 " B", bytes);
  else if (bytes < 10u * 1024 * 1024)
    snprintf(text, size, "%.1f KiB", (double)bytes / 1024);
  else
    snprintf(text, size, "%.1f MiB", (double)bytes / (1024 * 1024));
  return text;
}

static double arena_ratio(const struct sl_summary *sum) {
  return sum->live_bytes_max ? (double)sum->arena_bytes / (double)sum->live_bytes_max : 1.0;
}

/* Bytes per event that a node reads or writes. */
static void write_traffic(uint64_t bytes, uint64_t events, FILE *file) {
  if (bytes == UINT64_MAX || events == 0)
    fprintf(file, " %9s", "-");
  else
    fprintf(file, " %9.0f", (double)bytes / (double)events);
}

static void write_node_time(const struct sl_time_summary *t, FILE *file) {
  fprintf(file, "  %-20s %-28s %9" PRIu64 " %11" PRIu64, t->node, t->algorithm, t->calls, t->events);
  if (t->events)
    fprintf(file, " %9.3f", 1e6 * t->seconds / (double)t->events);
  else
    fprintf(file, " %9s", "-");
  fprintf(file, "%c%10.1f", t->launch_nodes > 1 ? '~' : ' ', 1e3 * t->seconds);
  if (t->where == SL_TIME_IN_THREADS)
    fprintf(file, " %6.1f%%", 100 * t->share);
  else
    fprintf(file, " %7s", "-");
  write_traffic(t->bytes_in, t->events, file);
  write_traffic(t->bytes_out, t->events, file);
  fprintf(file, "\n");
}

/* A row without a node. */
static void write_time(const char *what, double seconds, double share, FILE *file) {
  fprintf(file, "  %-80s %10.1f %6.1f%%\n", what, 1e3 * seconds, 100 * share);
}

/* The time of the threads of the slots: the rows with a share add up to it. */
static void write_times(const struct sl_session *s, FILE *file) {
  const struct sl_summary *sum = sl_session_summary(s);
  double seconds = 0, share = 0;
  int shares = 0, on_device = 0;
  char text[80];
  fprintf(file, "\n  %-20s %-28s %9s %11s %9s %10s %7s %9s %9s\n", "node", "algorithm", "calls", "events", "us/event",
          "ms", "share", "B in", "B out");
  for (uint32_t i = 0; i < sum->time_count; i++) {
    const struct sl_time_summary *t = &sum->times[i];
    if (t->where == SL_TIME_IN_THREADS) seconds += t->seconds, share += t->share;
    if (t->node) write_node_time(t, file);
    shares |= t->launch_nodes > 1;
    on_device |= t->where == SL_TIME_ON_DEVICE;
  }
  for (uint32_t i = 0; i < sum->time_count; i++)
    if (sum->times[i].where == SL_TIME_IN_THREADS && !sum->times[i].node)
      write_time(sum->times[i].what, sum->times[i].seconds, sum->times[i].share, file);
  snprintf(text, sizeof text, "sum, of %u %s for %.1f ms", sum->slots, sl_plural(sum->slots, "thread", "threads"),
           1e3 * sum->seconds);
  write_time(text, seconds, share, file);
  if (shares) fprintf(file, "  ~ an equal share of the time of a family: its nodes run in one launch\n");
  if (on_device)
    fprintf(file,
            "  - kernels run on the device, in parallel to the threads; bytes of nodes on lists are not known there\n");
}

/* Times that are not part of the threads of the slots, on one line. */
static void write_times_apart(const struct sl_session *s, uint32_t where, const char *title, FILE *file) {
  const struct sl_summary *sum = sl_session_summary(s);
  const char *before = title;
  for (uint32_t i = 0; i < sum->time_count; i++) {
    if (sum->times[i].where != where) continue;
    fprintf(file, "%s%s %.1f ms", before, sum->times[i].what, 1e3 * sum->times[i].seconds);
    before = ", ";
  }
  if (before != title) fprintf(file, "\n");
}

static void write_nodes(const struct sl_session *s, FILE *file) {
  const struct sl_summary *sum = sl_session_summary(s);
  char device[128];
  if (sl_session_describe_device(s, device, sizeof device))
    fprintf(file, "\n  times are from events between the nodes' kernels, which ran %s, without the captured graph",
            sl_session_layout(s)->branch_count > 1 ? "step by step, branches in parallel" : "one by one");
  write_times(s, file);
  write_times_apart(s, SL_TIME_BEFORE, "  before the run: ", file);
  write_times_apart(s, SL_TIME_OTHER_THREADS, "  other threads: ", file);
  fprintf(file, "\n  %-44s %12s %12s %7s %10s\n", "buffer", "capacity", "most used", "fill", "overflows");
  for (uint32_t i = 0; i < sum->budget_count; i++) {
    const struct sl_budget_summary *b = &sum->budgets[i];
    fprintf(file, "  %-44s %12" PRIu64 " %12" PRIu64 " %6.1f%% %10" PRIu64 "\n", b->port, b->capacity, b->used_max,
            b->capacity ? 100.0 * (double)b->used_max / (double)b->capacity : 0.0, b->overflows);
  }
}

/* "arena 42.0 MiB instead of 57.3 MiB; forward.tracks_per_event 835 instead of 700 and 3 more" */
static void write_plan_change(const struct sl_plan_change *change, FILE *file) {
  enum { SHOWN = 2 };
  char before[32], after[32];
  fprintf(file, "plan         after event %" PRIu64 ": arena %s instead of %s", change->event,
          as_bytes(change->arena_bytes, after, sizeof after),
          as_bytes(change->arena_bytes_before, before, sizeof before));
  for (uint32_t i = 0; i < change->budget_count && i < SHOWN; i++)
    fprintf(file, "%s%s.%s %u instead of %u", i == 0 ? "; " : ", ", change->budgets[i].node,
            change->budgets[i].property, change->budgets[i].after, change->budgets[i].before);
  if (change->budget_count > SHOWN) fprintf(file, ", and %u more", change->budget_count - SHOWN);
  fprintf(file, "\n");
}

static void write_plan_changes(const struct sl_summary *sum, FILE *file) {
  enum { FIRST = 3 };
  char wanted[32], limit[32];
  const uint32_t count = sum->plan_change_count, last = count > 0 ? count - 1 : 0;
  for (uint32_t i = 0; i < count; i++)
    if (i < FIRST || i == last) write_plan_change(&sum->plan_changes[i], file);
  if (count > FIRST + 1) fprintf(file, "plan         %u more changes: --json\n", count - FIRST - 1);
  if (sum->arena_wanted_bytes > 0 && sum->arena_wanted_bytes < UINT64_MAX)
    fprintf(file, "plan         an arena of %s would avoid overflows, but the memory allows %s per slot\n",
            as_bytes(sum->arena_wanted_bytes, wanted, sizeof wanted),
            as_bytes(sum->arena_limit_bytes, limit, sizeof limit));
}

static void write_budgets(const struct sl_session *s, FILE *file) {
  for (uint32_t i = 0; i < sl_session_summary(s)->budget_count; i++) {
    const struct sl_budget_summary *b = &sl_session_summary(s)->budgets[i];
    if (!b->overflows) continue;
    fprintf(file, "budget       %s overflowed %" PRIu64 " %s; ", b->port, b->overflows,
            sl_plural(b->overflows, "time", "times"));
    if (b->needed_max <= b->capacity)
      fprintf(file, "with the last plan it has room for all slices\n");
    else
      fprintf(file, "capacity %" PRIu64 ", a slice would use %" PRIu64 "\n", b->capacity, b->needed_max);
  }
  const char *before = "budget       without overflows: ";
  for (uint32_t i = 0; i < sl_session_summary(s)->budget_count; i++) {
    const struct sl_budget_summary *b = &sl_session_summary(s)->budgets[i];
    if (!*b->advice) continue;
    fprintf(file, "%s%s", before, b->advice);
    before = " ";
  }
  if (*before == ' ') fprintf(file, "\n");
}

static void write_total(const struct sl_total_summary *t, uint64_t i, FILE *file) {
  if (t->is_signed)
    fprintf(file, t->is_signed ? " %" PRId64 : " %" PRIu64, t->values[i]);
  else
    fprintf(file, " %" PRIu64, t->values[i]);
}

/* A line per field with its first values. */
static void write_totals(const struct sl_session *s, FILE *file) {
  enum { SHOWN = 16 };
  for (uint32_t k = 0; k < sl_session_summary(s)->total_count; k++) {
    const struct sl_total_summary *t = &sl_session_summary(s)->totals[k];
    const uint64_t count = (uint64_t)t->entries * t->width;
    fprintf(file, "total        %s.%s:", t->port, t->field);
    for (uint64_t i = 0; i < count && i < SHOWN; i++) write_total(t, i, file);
    if (count > SHOWN) fprintf(file, " ... (%" PRIu64 " in all: --json)", count);
    fprintf(file, "\n");
  }
}

static void write_errors(const struct sl_error_summary *errors, uint32_t count, const char *title, FILE *file) {
  for (uint32_t i = 0; i < count; i++)
    fprintf(file, "%-12s node %s: %s: %" PRIu64 " %s\n", title, errors[i].node, errors[i].reason, errors[i].count,
            sl_plural(errors[i].count, "event", "events"));
}

/* Slices per device, if there are several. */
static void write_devices(const struct sl_summary *sum, FILE *file) {
  for (uint32_t d = 0; sum->device_count > 1 && d < sum->device_count; d++) {
    const struct sl_device_summary *at = &sum->devices[d];
    fprintf(file, "on device    %s: %" PRIu64 " %s in %u %s%s\n", at->name, at->slices,
            sl_plural(at->slices, "slice", "slices"), at->slots, sl_plural(at->slots, "slot", "slots"),
            at->is_lost ? "; it was lost" : "");
  }
}

/* The rates that were measured. */
static void write_rates(const struct sl_session *s, FILE *file) {
  const struct sl_summary *sum = sl_session_summary(s);
  const struct {
    double hz;
    const char *where;
  } rates[] = {{sum->throughput_hz, "in the graph"}, {sum->source_hz, "from the source"}, {sum->wall_hz, "in all"}};
  const char *unit = " events/s";
  char text[32];
  fprintf(file, "rate         ");
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    if (!(rates[i].hz > 0)) continue;
    fprintf(file, "%s%s%s %s", *unit == ' ' ? "" : ", ", with_prefix(rates[i].hz, text, sizeof text), unit,
            rates[i].where);
    unit = "/s";
  }
  if (*unit == ' ') fprintf(file, "none");
  fprintf(file, " (%.3f s, %u %s of %u %s", sum->seconds, sum->slots, sl_plural(sum->slots, "slot", "slots"),
          sum->slice_events, sl_plural(sum->slice_events, "event", "events"));
  if (sl_session_layout(s)->branch_count > 1) fprintf(file, " in %u branches", sl_session_layout(s)->branch_count);
  if (sum->repeat > 1) fprintf(file, ", graph repeated %u times", sum->repeat);
  char device[512];
  if (sum->repeat == 1 && sum->node_count > 0 && sum->events > 0 &&
      sl_session_describe_device(s, device, sizeof device))
    fprintf(file, "; --repeat measures the graph alone");
  fprintf(file, ")\n");
}

static void write_events(const struct sl_summary *sum, FILE *file) {
  fprintf(file, "events       %" PRIu64 ", %" PRIu64 " with %s", sum->events, sum->error_events,
          sl_plural(sum->error_events, "an error", "errors"));
  if (sum->retries)
    fprintf(file, "; %" PRIu64 " %s run again in parts", sum->retries, sl_plural(sum->retries, "slice", "slices"));
  fprintf(file, "\n");
  write_errors(sum->errors, sum->error_count, "error", file);
  write_errors(sum->truncations, sum->truncation_count, "truncated", file);
}

static void write_memory(const struct sl_summary *sum, FILE *file) {
  char a[32], b[32], c[32];
  fprintf(file, "memory       arena %s per slot (%.2f of the least possible), input %s per slice, peak resident %s\n",
          as_bytes(sum->arena_bytes, a, sizeof a), arena_ratio(sum), as_bytes(sum->input_bytes, b, sizeof b),
          as_bytes(sum->peak_rss_bytes, c, sizeof c));
}

static void write_outputs(const struct sl_session *s, FILE *file) {
  const struct sl_summary *sum = sl_session_summary(s);
  for (uint32_t o = 0; o < sum->output_count; o++) {
    const uint64_t items = sum->outputs[o].items;
    fprintf(file, "output       %s: %" PRIu64 " %s", sum->outputs[o].port, items, sl_plural(items, "item", "items"));
    if (sl_session_options(s)->digest) fprintf(file, ", digest %016" PRIx64, sum->outputs[o].digest);
    fprintf(file, "\n");
  }
}

/* The first line of a sink's report, with single blanks, and the number of further lines. */
static void write_result(const char *name, const char *lines, FILE *file) {
  uint64_t more = 0;
  fprintf(file, "result       %s: ", name);
  for (; *lines && *lines != '\n'; lines++)
    if (*lines != ' ' || (lines[1] != ' ' && lines[1] != '\n')) fputc(*lines, file);
  while (*lines && *++lines) {
    more++;
    lines += strcspn(lines, "\n");
  }
  if (more) fprintf(file, " (%" PRIu64 " more %s: --verbose)", more, sl_plural(more, "line", "lines"));
  fprintf(file, "\n");
}

static void write_results(const struct sl_session *s, int is_short, FILE *file) {
  for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++) {
    const char *lines = sl_session_sink_lines(s, n), *name = sl_session_graph(s)->nodes[n].name;
    if (lines && is_short)
      write_result(name, lines, file);
    else if (lines)
      fprintf(file, "\n%s:\n%s", name, lines);
  }
}

static int has_results(const struct sl_session *s) {
  for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++)
    if (sl_session_sink_lines(s, n)) return 1;
  return 0;
}

void sl_session_write_table(const struct sl_session *s, uint32_t details, FILE *file) {
  SL_IN_C_LOCALE();
  const struct sl_summary *sum = sl_session_summary(s);
  const int is_short = (details & SL_TABLE_SHORT) != 0;
  char device[512] = "";
  sl_session_describe_device(s, device, sizeof device);
  sl_origin_write(s, file);
  fprintf(file, "device       %s%s%s\n", sl_session_options(s)->device, *device ? ": " : "", device);
  write_devices(sum, file);
  write_events(sum, file);
  write_rates(s, file);
  write_memory(sum, file);
  write_plan_changes(sum, file);
  if (!is_short) sl_origin_write_constants(s, file);
  if (!is_short || sl_session_options(s)->digest || !has_results(s)) write_outputs(s, file);
  if (!is_short) write_totals(s, file);
  write_budgets(s, file);
  write_results(s, is_short, file);
  if (details & SL_TABLE_PROFILE) write_nodes(s, file);
  if (sum->interrupted)
    fprintf(file, "\nThe run was stopped before its end, after %" PRIu64 " %s.\n", sum->events,
            sl_plural(sum->events, "event", "events"));
  if (sum->error_events)
    fprintf(file, "\n%" PRIu64 " of %" PRIu64 " %s %s an error.\n", sum->error_events, sum->events,
            sl_plural(sum->events, "event", "events"), sl_plural(sum->error_events, "has", "have"));
}

static void json_digest(struct sl_json *j, const char *key, uint64_t digest) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  sl_json_string(j, key, text);
}

static void json_plugins(const struct sl_session *s, struct sl_json *j) {
  sl_json_begin_array(j, "plugins");
  for (size_t i = 0; i < sl_session_setup(s)->registry.entry_count; i++) {
    const struct sl_plugin_entry *e = &sl_session_setup(s)->registry.entries[i];
    int used = 0;
    for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++) used |= sl_session_graph(s)->nodes[n].plugin == e;
    if (!used) continue;
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", e->plugin->name);
    sl_json_string(j, "version", e->plugin->version);
    sl_json_string(j, "target", e->plugin->target);
    sl_json_string(j, "path", e->path);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void json_devices(const struct sl_summary *sum, struct sl_json *j) {
  sl_json_begin_array(j, "devices");
  for (uint32_t d = 0; d < sum->device_count; d++) {
    const struct sl_device_summary *at = &sum->devices[d];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", at->name);
    sl_json_string(j, "description", at->description);
    sl_json_integer(j, "slots", at->slots);
    sl_json_integer(j, "slices", (int64_t)at->slices);
    sl_json_boolean(j, "lost", (int)at->is_lost);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* null if the rate was not measured */
static void json_rate(struct sl_json *j, const char *key, double hz) { sl_json_number(j, key, hz > 0 ? hz : NAN); }

static void json_plan_change(struct sl_json *j, const struct sl_plan_change *change) {
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "reason", change->reason == SL_PLAN_GROWN ? "overflow" : "unused memory");
  sl_json_integer(j, "event", (int64_t)change->event);
  sl_json_integer(j, "arena_bytes_before", (int64_t)change->arena_bytes_before);
  sl_json_integer(j, "arena_bytes", (int64_t)change->arena_bytes);
  sl_json_number(j, "seconds", change->seconds);
  sl_json_begin_object(j, "budgets");
  for (uint32_t i = 0; i < change->budget_count; i++) {
    const struct sl_budget_change *b = &change->budgets[i];
    char name[256];
    snprintf(name, sizeof name, "%s.%s", b->node, b->property);
    sl_json_begin_array(j, name);
    sl_json_integer(j, NULL, b->before);
    sl_json_integer(j, NULL, b->after);
    sl_json_end_array(j);
  }
  sl_json_end_object(j);
  sl_json_end_object(j);
}

/* The plan at the end of the run, with the values of all budgets of kernels, and how it came about. */
static void json_plan(const struct sl_session *s, struct sl_json *j) {
  static const char *const modes[] = {[SL_REPLAN_ON] = "on", [SL_REPLAN_GROW] = "grow", [SL_REPLAN_OFF] = "off"};
  const struct sl_summary *sum = sl_session_summary(s);
  const struct sl_graph *g = sl_session_graph(s);
  const uint64_t limit = sum->arena_limit_bytes, wanted = sum->arena_wanted_bytes;
  sl_json_begin_object(j, "plan");
  sl_json_string(j, "replan", modes[sum->replan]);
  sl_json_number(j, "arena_limit_bytes", limit == UINT64_MAX ? NAN : (double)limit);
  sl_json_number(j, "arena_wanted_bytes", wanted == 0 || wanted == UINT64_MAX ? NAN : (double)wanted);
  sl_json_begin_object(j, "budgets");
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    for (uint32_t m = 0; node->algorithm->kind == SL_KIND_KERNEL && m < node->algorithm->member_count; m++) {
      if (node->algorithm->members[m].kind != SL_MEMBER_PROPERTY) continue;
      if (!(node->algorithm->members[m].flags & SL_FLAG_BUDGET)) continue;
      char name[256];
      snprintf(name, sizeof name, "%s.%s", node->name, node->algorithm->members[m].name);
      sl_json_integer(j, name, *sl_budget(&sl_session_layout(s)->budgets, g->order[i], m));
    }
  }
  sl_json_end_object(j);
  sl_json_begin_array(j, "changes");
  for (uint32_t i = 0; i < sum->plan_change_count; i++) json_plan_change(j, &sum->plan_changes[i]);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void json_counts(const struct sl_session *s, struct sl_json *j) {
  const struct sl_summary *sum = sl_session_summary(s);
  char device[512] = "";
  const int is_device = sl_session_describe_device(s, device, sizeof device);
  sl_json_string(j, "device", sl_session_options(s)->device);
  sl_json_string(j, "device_description", device);
  json_devices(sum, j);
  sl_json_integer(j, "slots", sum->slots);
  sl_json_integer(j, "source_threads", sum->source_threads);
  sl_json_integer(j, "branches", sl_session_layout(s)->branch_count);
  sl_json_integer(j, "slice_events", sum->slice_events);
  sl_json_integer(j, "repeat", sum->repeat);
  sl_json_boolean(j, "interrupted", (int)sum->interrupted);
  sl_json_boolean(j, "failed", (int)sum->failed);
  sl_json_integer(j, "events", (int64_t)sum->events);
  sl_json_integer(j, "error_events", (int64_t)sum->error_events);
  sl_json_integer(j, "retries", (int64_t)sum->retries);
  sl_json_integer(j, "slices", (int64_t)sum->slices);
  sl_json_number(j, "seconds", sum->seconds);
  json_rate(j, "throughput_hz", sum->throughput_hz);
  sl_json_begin_array(j, "stretch_hz");
  for (uint32_t i = 0; i < sum->stretch_count; i++) sl_json_number(j, NULL, sum->stretch_hz[i]);
  sl_json_end_array(j);
  json_rate(j, "source_hz", sum->source_hz);
  json_rate(j, "wall_hz", sum->wall_hz);
  sl_json_integer(j, "bytes_up", (int64_t)sum->bytes_up);
  sl_json_integer(j, "bytes_down", (int64_t)sum->bytes_down);
  sl_json_begin_object(j, "arena");
  sl_json_integer(j, "bytes", (int64_t)sum->arena_bytes);
  sl_json_integer(j, "live_bytes_max", (int64_t)sum->live_bytes_max);
  sl_json_number(j, "ratio", arena_ratio(sum));
  sl_json_end_object(j);
  sl_json_integer(j, "input_bytes", (int64_t)sum->input_bytes);
  sl_json_integer(j, "peak_rss_bytes", (int64_t)sum->peak_rss_bytes);
  sl_json_integer(j, "host_syncs_per_slice", sum->host_syncs_per_slice);
  sl_json_boolean(j, "captured_graph", is_device && !sl_session_options(s)->profile && !sl_session_options(s)->guard);
}

/* The file is null for simulated and fed events; a fed event has its entry in the feed. */
static void json_event(const struct sl_session *s, struct sl_json *j, const struct sl_event *event) {
  const char *const *paths = sl_session_options(s)->input_paths;
  uint32_t count = 0;
  while (paths && paths[count]) count++;
  sl_json_begin_object(j, "first");
  sl_json_integer(j, "run", event->run);
  sl_json_unsigned(j, "event", event->number);
  sl_json_string(j, "file", event->file < count ? paths[event->file] : NULL);
  sl_json_unsigned(j, sl_session_options(s)->feed ? "entry" : "byte", event->offset);
  sl_json_end_object(j);
}

static void json_messages(const struct sl_session *s, struct sl_json *j) {
  const struct sl_diagnostics *d = sl_session_setup(s)->diagnostics;
  sl_json_begin_array(j, "messages");
  for (size_t i = 0; i < sl_diagnostics_count(d); i++) {
    sl_json_begin_object(j, NULL);
    sl_diagnostic_put(sl_diagnostics_at(d, i), j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void json_errors(const struct sl_session *s, const char *key, const struct sl_error_summary *errors,
                        uint32_t count, struct sl_json *j) {
  sl_json_begin_array(j, key);
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_error_summary *e = &errors[i];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "node", e->node);
    sl_json_string(j, "reason", e->reason);
    sl_json_integer(j, "count", (int64_t)e->count);
    json_event(s, j, &e->first);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* null for UINT64_MAX: not known */
static void json_bytes(struct sl_json *j, const char *key, uint64_t bytes) {
  if (bytes == UINT64_MAX)
    sl_json_string(j, key, NULL); /* null */
  else
    sl_json_unsigned(j, key, bytes);
}

static void json_traffic(struct sl_json *j, uint64_t bytes_in, uint64_t bytes_out) {
  json_bytes(j, "bytes_in", bytes_in);
  json_bytes(j, "bytes_out", bytes_out);
}

static void json_times(const struct sl_session *s, struct sl_json *j) {
  static const char *const places[] = {[SL_TIME_IN_THREADS] = "threads",
                                       [SL_TIME_ON_DEVICE] = "device",
                                       [SL_TIME_BEFORE] = "before",
                                       [SL_TIME_OTHER_THREADS] = "other_threads"};
  const struct sl_summary *sum = sl_session_summary(s);
  sl_json_begin_array(j, "times");
  for (uint32_t i = 0; i < sum->time_count; i++) {
    const struct sl_time_summary *t = &sum->times[i];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "where", places[t->where]);
    sl_json_string(j, "what", t->what);
    sl_json_number(j, "seconds", t->where == SL_TIME_ON_DEVICE && t->calls == 0 ? NAN : t->seconds);
    if (t->where == SL_TIME_IN_THREADS) sl_json_number(j, "share", t->share);
    if (t->node) {
      sl_json_string(j, "node", t->node);
      sl_json_string(j, "algorithm", t->algorithm);
      sl_json_integer(j, "calls", (int64_t)t->calls);
      sl_json_integer(j, "events", (int64_t)t->events);
      sl_json_integer(j, "launch_nodes", t->launch_nodes);
      json_traffic(j, t->bytes_in, t->bytes_out);
    }
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void json_tables(const struct sl_session *s, struct sl_json *j) {
  const struct sl_summary *sum = sl_session_summary(s);
  sl_json_begin_array(j, "nodes");
  for (uint32_t i = 0; i < sum->node_count; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", sum->nodes[i].name);
    sl_json_string(j, "algorithm", sum->nodes[i].algorithm);
    sl_json_integer(j, "calls", (int64_t)sum->nodes[i].calls);
    sl_json_integer(j, "events", (int64_t)sum->nodes[i].events);
    const int is_timed = sum->nodes[i].calls > 0; /* if not, it is null */
    sl_json_number(j, "microseconds", is_timed ? sum->nodes[i].microseconds : NAN);
    sl_json_number(j, "share", is_timed ? sum->nodes[i].share : NAN);
    sl_json_integer(j, "launch_nodes", sum->nodes[i].launch_nodes);
    sl_json_begin_array(j, "stretch_us");
    for (uint32_t k = 0; is_timed && k < sum->stretch_count; k++) sl_json_number(j, NULL, sum->nodes[i].stretch_us[k]);
    sl_json_end_array(j);
    json_traffic(j, sum->nodes[i].bytes_in, sum->nodes[i].bytes_out);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_begin_array(j, "outputs");
  for (uint32_t o = 0; o < sum->output_count; o++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "port", sum->outputs[o].port);
    sl_json_integer(j, "items", (int64_t)sum->outputs[o].items);
    if (sl_session_options(s)->digest)
      json_digest(j, "digest", sum->outputs[o].digest);
    else
      sl_json_string(j, "digest", NULL);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_begin_array(j, "budgets");
  for (uint32_t i = 0; i < sum->budget_count; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "port", sum->budgets[i].port);
    sl_json_integer(j, "capacity", (int64_t)sum->budgets[i].capacity);
    sl_json_integer(j, "used_max", (int64_t)sum->budgets[i].used_max);
    sl_json_integer(j, "overflows", (int64_t)sum->budgets[i].overflows);
    sl_json_integer(j, "needed_max", (int64_t)sum->budgets[i].needed_max);
    sl_json_string(j, "advice", *sum->budgets[i].advice ? sum->budgets[i].advice : NULL);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_begin_object(j, "results");
  for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++)
    if (sl_session_sink_json(s, n)) sl_json_raw(j, sl_session_graph(s)->nodes[n].name, sl_session_sink_json(s, n));
  sl_json_end_object(j);
}

static void json_total(struct sl_json *j, const struct sl_total_summary *t, uint64_t value) {
  if (t->is_signed)
    sl_json_integer(j, NULL, (int64_t)value);
  else
    sl_json_unsigned(j, NULL, value);
}

/* {OUTPUT: {FIELD: [value of each entry, or list of values]}} */
static void json_totals(const struct sl_session *s, struct sl_json *j) {
  const struct sl_summary *sum = sl_session_summary(s);
  sl_json_begin_object(j, "totals");
  for (uint32_t k = 0; k < sum->total_count; k++) {
    const struct sl_total_summary *t = &sum->totals[k];
    if (k == 0 || sum->totals[k - 1].port != t->port) sl_json_begin_object(j, t->port);
    sl_json_begin_array(j, t->field);
    for (uint32_t e = 0; e < t->entries; e++) {
      if (t->width > 1) sl_json_begin_array(j, NULL);
      for (uint32_t w = 0; w < t->width; w++) json_total(j, t, t->values[(uint64_t)e * t->width + w]);
      if (t->width > 1) sl_json_end_array(j);
    }
    sl_json_end_array(j);
    if (k + 1 == sum->total_count || sum->totals[k + 1].port != t->port) sl_json_end_object(j);
  }
  sl_json_end_object(j);
}

/* The graph files merged after the graph. */
static void json_with(const struct sl_session *s, struct sl_json *j) {
  const char *const *with = sl_session_options(s)->with_paths;
  sl_json_begin_array(j, "with");
  for (; with && *with; with++) sl_json_string(j, NULL, *with);
  sl_json_end_array(j);
}

int sl_session_write_json(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_summary *sum = sl_session_summary(s);
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_json_string(&j, "sluice_version", sl_version());
  sl_json_string(&j, "commit", sl_commit());
  sl_json_string(&j, "status", sum->status);
  sl_json_integer(&j, "exit", sum->exit_status);
  sl_json_string(&j, "started", sum->started);
  sl_json_string(&j, "graph", sl_session_options(s)->graph_path);
  json_with(s, &j);
  json_digest(&j, "graph_digest", sum->graph_digest);
  sl_json_string(&j, "graph_text", sl_session_graph(s)->text);
  sl_origin_json(s, &j);
  json_plugins(s, &j);
  json_counts(s, &j);
  json_plan(s, &j);
  json_errors(s, "errors", sum->errors, sum->error_count, &j);
  json_errors(s, "truncations", sum->truncations, sum->truncation_count, &j);
  json_messages(s, &j);
  json_times(s, &j);
  json_tables(s, &j);
  json_totals(s, &j);
  sl_json_end_object(&j);
  return sl_json_finish(&j, file);
}

int sl_session_write_report(struct sl_session *s) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_text_file text;
  int failed = !sl_text_open(&text) || sl_session_write_json(s, text.file) < 0;
  failed |= sl_text_close(&text) < 0;
  const int status = sl_session_put_report(s, failed ? NULL : text.text, text.bytes);
  free(text.text);
  return status;
}
