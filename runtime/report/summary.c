/* summary.c: the summary of a run, as a table; as JSON: summary_json.c. */
#include "report/summary.h"

#include "base/locale.h"
#include "constants/conditions.h"
#include "report/origin.h"
#include "session/inspect.h"
#include "zmq/hub.h"

#include <sluice/text.h>

#include <inttypes.h>
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

static void write_resumed(const struct sl_session *s, FILE *file) {
  const uint64_t before = sl_session_earlier_events(s);
  if (before > 0)
    fprintf(file,
            "resumed      after %" PRIu64 " %s; rates, times and results of sinks are those of the events since then\n",
            before, sl_plural(before, "event", "events"));
}

static void write_rotations(const struct sl_session *s, FILE *file) {
  const uint64_t files = sl_session_summary(s)->rotations + 1;
  if (sl_session_options(s)->rotate)
    fprintf(file, "files        %" PRIu64 " %s of each sink (--rotate %s)\n", files, sl_plural(files, "file", "files"),
            sl_session_options(s)->rotate);
}

static void write_memory(const struct sl_summary *sum, FILE *file) {
  char a[32], b[32], c[32];
  fprintf(file, "memory       arena %s per slot (%.2f of the least possible), input %s per slice, peak resident %s\n",
          as_bytes(sum->arena_bytes, a, sizeof a), sl_arena_ratio(sum), as_bytes(sum->input_bytes, b, sizeof b),
          as_bytes(sum->peak_rss_bytes, c, sizeof c));
}

/* "device 0.55 mJ per event, 539 W"; a reason if it was not measured */
static void write_energy_of(const char *what, double joules, const char *missing, const struct sl_energy_summary *e,
                            const char **before, FILE *file) {
  const double per_event = e->events > 0 ? joules / (double)e->events : 0;
  if (joules < 0 && !*missing) return;
  fprintf(file, "%s%s ", *before, what);
  *before = "; ";
  if (joules < 0)
    fprintf(file, "not measured: %s", missing);
  else if (per_event >= 1)
    fprintf(file, "%.2f J per event, %.0f W", per_event, joules / e->seconds);
  else
    fprintf(file, "%.3g mJ per event, %.0f W", 1e3 * per_event, joules / e->seconds);
}

static void write_energy(const struct sl_summary *sum, FILE *file) {
  const struct sl_energy_summary *e = sum->energy;
  const char *before = "energy       ";
  if (!e || !(e->seconds > 0)) return;
  write_energy_of("device", e->device_joules, e->device_missing, e, &before, file);
  write_energy_of("processors", e->host_joules, e->host_missing, e, &before, file);
  if (e->device_joules >= 0 || e->host_joules >= 0) fprintf(file, " (over %.1f s)", e->seconds);
  if (*before == ';') fprintf(file, "\n");
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

/* A line per socket of ZeroMQ. */
static void write_links(const struct sl_session *s, FILE *file) {
  char bytes[32];
  for (const struct sl_zmq_link *l = sl_session_links(s); l; l = l->next) {
    const uint64_t messages = atomic_load(&l->messages), unsent = atomic_load(&l->unsent);
    fprintf(file, "%-12s %s: %" PRIu64 " %s, %s", l->is_input ? "received" : "sent", l->name, messages,
            sl_plural(messages, "message", "messages"), as_bytes(atomic_load(&l->bytes), bytes, sizeof bytes));
    if (l->is_input)
      fprintf(file,
              "; senders: %" PRIu64 ", %" PRIu64 " ended, %" PRIu64 " lost; missing: %" PRIu64 ", repeated: %" PRIu64
              ", refused: %" PRIu64 "\n",
              atomic_load(&l->senders), atomic_load(&l->ended), atomic_load(&l->lost), atomic_load(&l->missing),
              atomic_load(&l->repeated), atomic_load(&l->refused));
    else
      fprintf(file, ", waited %.3f s; not sent: %" PRIu64 "\n", (double)atomic_load(&l->waited_ns) * 1e-9, unsent);
  }
}

/* Number of events of the last configuration. */
static uint64_t last_events(const struct sl_summary *sum) {
  return sum->configuration_count > 0 ? sum->configurations[sum->configuration_count - 1].events : sum->events;
}

/* "configuration 0123456789abcdef from event 1000 on: 500 events, 0 with errors; gec.max 5 -> 6, and 2 more" */
static void write_configuration(const struct sl_configuration_summary *c, FILE *file) {
  enum { SHOWN = 2 };
  const char *line = c->changes ? c->changes : "";
  uint32_t shown = 0, more = 0;
  fprintf(file, "configured   %016" PRIx64 " from event %" PRIu64 " on: %" PRIu64 " %s, %" PRIu64 " with %s",
          c->graph_digest, c->first_event, c->events, sl_plural(c->events, "event", "events"), c->error_events,
          sl_plural(c->error_events, "an error", "errors"));
  for (size_t length; *line; line += length + (line[length] == '\n')) {
    length = strcspn(line, "\n");
    if (shown < SHOWN) fprintf(file, "; %.*s", (int)length, line);
    *(shown < SHOWN ? &shown : &more) += 1;
  }
  if (more > 0) fprintf(file, "; and %u more", more);
  fprintf(file, "\n");
}

/* The configurations, if there were several: the first ones and the last one. */
static void write_configurations(const struct sl_summary *sum, FILE *file) {
  enum { FIRST = 7 };
  const uint32_t count = sum->configuration_count;
  for (uint32_t i = 0; count > 1 && i < count; i++)
    if (i < FIRST || i + 1 == count) write_configuration(&sum->configurations[i], file);
  if (count > FIRST + 1) fprintf(file, "configured   %u more times: --json\n", count - FIRST - 1);
}

/* "conditions   2 runs: 7 from event 0 on, 8 from event 24 on, none for 9 from event 30 on" */
static void write_conditions(const struct sl_session *s, FILE *file) {
  enum { SHOWN = 5 };
  const struct sl_constant_conditions *c = sl_session_conditions(s);
  if (c->value_count == 0) return;
  fprintf(file, "conditions   %u %s:", c->value_count, sl_plural(c->value_count, "run", "runs"));
  for (uint32_t i = 0; i < c->value_count && i < SHOWN; i++)
    fprintf(file, "%s %s%u from event %" PRIu64 " on", i > 0 ? "," : "", c->values[i].reason ? "none for " : "",
            c->values[i].value, c->values[i].first_event);
  if (c->value_count > SHOWN) fprintf(file, ", and %u more: --json", c->value_count - SHOWN);
  fprintf(file, "\n");
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
  write_resumed(s, file);
  write_links(s, file);
  write_rates(s, file);
  write_energy(sum, file);
  write_memory(sum, file);
  write_rotations(s, file);
  write_configurations(sum, file);
  write_conditions(s, file);
  write_plan_changes(sum, file);
  if (!is_short) sl_origin_write_constants(s, file);
  if (!is_short || sl_session_options(s)->digest || !has_results(s)) write_outputs(s, file);
  sl_totals_write(sum, sl_session_identity(s), last_events(sum), is_short, file);
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
