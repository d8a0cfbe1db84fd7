/* plan.c: `sluice plan`: the memory plan of a graph, as a table or a drawing; and the planner alone, on problems from
 * CSV files. */
#include "cli/cli.h"
#include "cli/summary_file.h"

#include <sluice/planner.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_DEFAULT 60.0

/* ---------------------------------------------------------------------------------------------- of a graph */

static int show(const struct cli_arguments *a, struct sl_session *session) {
  if (a->svg_path && sl_session_claim_output(session, "--svg", a->svg_path, 0) < 0) return CLI_WRONG;
  if (a->svg_path) return cli_write_session(session, a->svg_path, sl_session_write_plan_svg);
  sl_session_write_plan(session, stdout);
  return CLI_OK;
}

/* ------------------------------------------------------------------------------------------- of CSV files */

static int write_csv(const void *allocation, FILE *file) {
  sl_allocation_write_csv(allocation, file);
  return SL_OK;
}

static int write_svg(const void *allocation, FILE *file) { return sl_allocation_write_svg(allocation, file); }

static int write_files(const struct cli_arguments *a, const struct sl_allocation *allocation) {
  int status = a->offsets_path ? cli_write_file(a->offsets_path, write_csv, allocation) : CLI_OK;
  if (status == CLI_OK && a->svg_path) status = cli_write_file(a->svg_path, write_svg, allocation);
  return status;
}

/* "in time" or "in 5 steps". */
static void write_effort(const struct sl_allocation_summary *s, const struct cli_arguments *a, FILE *file) {
  if (a->steps && s->steps >= a->steps)
    fprintf(file, "in %" PRIu64 " %s", s->steps, sl_plural(s->steps, "step", "steps"));
  else
    fprintf(file, "in time");
}

/* "fits 1048576", or why it does not. CLI_FAILED if it does not. */
static int write_verdict(const struct sl_allocation_summary *s, const struct cli_arguments *a, FILE *file) {
  const uint64_t capacity = a->capacity;
  const int fits = capacity == 0 || s->arena_bytes <= capacity;
  if (!fits && capacity < s->least_bytes) {
    fprintf(file, "no plan fits %" PRIu64, capacity);
  } else if (!fits) {
    fprintf(file, "found none that fits %" PRIu64 " ", capacity);
    write_effort(s, a, file);
  } else if (s->optimal) {
    fprintf(file, "proved least");
  } else if (capacity) {
    fprintf(file, "fits %" PRIu64, capacity);
  } else {
    fprintf(file, "no proof ");
    write_effort(s, a, file);
    fprintf(file, " that it is least; at least %" PRIu64 " proved", s->least_bytes);
  }
  fprintf(file, "\n");
  return fits ? CLI_OK : CLI_FAILED;
}

static int path_width(const struct cli_arguments *a) {
  size_t width = 4;
  for (size_t i = 0; i < a->csv_paths.count; i++)
    if (strlen(a->csv_paths.items[i]) > width) width = strlen(a->csv_paths.items[i]);
  return (int)width;
}

static void write_heads(const struct cli_arguments *a, FILE *table) {
  fprintf(table, "%-*s %8s %13s %13s %9s %10s %9s  %s\n", path_width(a), "file", "buffers", "arena", "lower bound",
          "gap", "steps", "seconds", "verdict");
}

/* Solves the problem of one file and prints a row; before the first row the headings. */
static int plan_csv(const struct cli_arguments *a, const char *path, FILE *table, int *rows, struct sl_diagnostics *d) {
  struct sl_allocation *allocation = NULL;
  if (sl_allocation_open(path, d, &allocation) < 0) return CLI_WRONG;
  int status = CLI_FAILED;
  const double seconds = a->seconds > 0 || a->steps ? a->seconds : SECONDS_DEFAULT;
  if (sl_allocation_solve(allocation, a->capacity, seconds, a->steps, d) == SL_OK) {
    const struct sl_allocation_summary s = sl_allocation_summarize(allocation);
    if ((*rows)++ == 0) write_heads(a, table);
    const uint64_t least = s.lower_bound_bytes ? s.lower_bound_bytes : 1;
    fprintf(table, "%-*s %8u %13" PRIu64 " %13" PRIu64 " %7.2f %% %10" PRIu64 " %9.3f  ", path_width(a), path,
            s.buffers, s.arena_bytes, s.lower_bound_bytes,
            100.0 * (double)(s.arena_bytes - s.lower_bound_bytes) / (double)least, s.steps, s.seconds);
    status = write_verdict(&s, a, table);
    const int written = write_files(a, allocation);
    if (status == CLI_OK) status = written;
  }
  sl_allocation_close(allocation);
  return status;
}

static int plan_csvs(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  const int to_stdout =
      (a->offsets_path && strcmp(a->offsets_path, "-") == 0) || (a->svg_path && strcmp(a->svg_path, "-") == 0);
  FILE *table = to_stdout ? stderr : stdout;
  int status = CLI_OK, rows = 0;
  for (size_t i = 0; i < a->csv_paths.count; i++) {
    const int one = plan_csv(a, a->csv_paths.items[i], table, &rows, d);
    if (one > status) status = one;
  }
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  return status;
}

/* With --csv: refuses an output that is also an input, or that cannot be written. */
static int check_files(const struct cli_arguments *a) {
  const char *csv = a->csv_paths.items[0]; /* with several problems nothing is written */
  int status = cli_check_output("--offsets", a->offsets_path, "--csv", csv);
  if (status == CLI_OK) status = cli_check_output("--svg", a->svg_path, "--csv", csv);
  return status == CLI_OK ? cli_check_output("--svg", a->svg_path, "--offsets", a->offsets_path) : status;
}

static int complain(const char *text) {
  fprintf(stderr, "error: %s\n", text);
  return CLI_WRONG;
}

/* ------------------------------------------------------------------------------------------- of a run */

enum { BUDGET_BYTES = 512 };

/* Sets the budgets of the run, before those of the command line. `texts`: memory for them, to be freed. */
static int set_budgets(struct cli_arguments *b, struct sl_document *run, struct cli_list *sets, char **texts) {
  const yaml_node_t *budgets =
      sl_document_member(run, sl_document_member(run, sl_document_root(run), "plan"), "budgets");
  if (!budgets || budgets->type != YAML_MAPPING_NODE) {
    fprintf(stderr, "error: %s: the run has no plan: it was written by an older version\n", run->path);
    return CLI_WRONG;
  }
  const yaml_node_pair_t *first = budgets->data.mapping.pairs.start, *end = budgets->data.mapping.pairs.top;
  *texts = calloc((size_t)(end - first) + 1, BUDGET_BYTES);
  if (!*texts) return cli_no_memory();
  char *text = *texts;
  for (const yaml_node_pair_t *p = first; p < end; p++, text += BUDGET_BYTES) {
    const char *key = sl_document_text(sl_document_at(run, p->key)),
               *value = sl_document_text(sl_document_at(run, p->value));
    snprintf(text, BUDGET_BYTES, "%s=%s", key ? key : "", value ? value : "");
    if (cli_append(sets, text) != CLI_OK) return CLI_FAILED;
  }
  for (size_t i = 0; i < b->sets.count; i++)
    if (cli_append(sets, b->sets.items[i]) != CLI_OK) return CLI_FAILED;
  b->options.sets = sets->items;
  return CLI_OK;
}

static uint32_t count_in(struct sl_document *run, const char *key) {
  const double number = sl_document_number(sl_document_member(run, sl_document_root(run), key));
  return number > 0 && number < UINT32_MAX ? (uint32_t)number : 0;
}

/* The plan with which a run ended: its graph, device, slots, slice size and budgets, unless the command line has
 * others. */
static int plan_of_run(const struct cli_arguments *a) {
  struct sl_document run = {0};
  struct cli_arguments b = *a;
  struct cli_list sets = {0};
  char *texts = NULL;
  int status = cli_read_summary(&run, a->run_path);
  if (status == CLI_OK) {
    yaml_node_t *root = sl_document_root(&run);
    const char *device = sl_document_text(sl_document_member(&run, root, "device"));
    if (!a->operand) {
      b.options.graph_path = sl_document_text(sl_document_member(&run, root, "graph"));
      b.options.graph_text = sl_document_text(sl_document_member(&run, root, "graph_text"));
      b.options.graph_text_bytes = b.options.graph_text ? strlen(b.options.graph_text) : 0;
    }
    if (device && !cli_is_given(a, "--device")) b.options.device = device;
    if (!b.options.slots) b.options.slots = count_in(&run, "slots");
    if (!b.options.slice_events) b.options.slice_events = count_in(&run, "slice_events");
    status = set_budgets(&b, &run, &sets, &texts);
  }
  if (status == CLI_OK) status = cli_inspect(&b, show);
  free(texts);
  free((void *)sets.items);
  sl_document_close(&run);
  return status;
}

int cli_plan(const struct cli_arguments *a) {
  const size_t csvs = a->csv_paths.count;
  if (!a->operand && csvs == 0 && !a->run_path)
    return complain("`sluice plan` needs a graph, --from RUN.json, or --csv FILE");
  if (csvs > 0 && a->run_path) return complain("`sluice plan` takes --from or --csv, not both");
  if (a->operand && csvs > 0) return complain("`sluice plan` takes a graph or --csv, not both");
  if (csvs == 0 && (a->capacity > 0 || a->seconds > 0 || a->steps > 0 || a->offsets_path))
    return complain("--capacity, --seconds, --steps and --offsets are for `sluice plan --csv FILE`");
  const char *of_graph = csvs > 0 ? cli_given_of(a, CLI_GRAPH | CLI_PLUGINS) : NULL;
  if (of_graph) {
    fprintf(stderr, "error: %s is for graphs, and has no effect with --csv\n", of_graph);
    return CLI_WRONG;
  }
  if (csvs > 1 && (a->offsets_path || a->svg_path))
    return complain("--offsets and --svg take one --csv file at a time");
  if (a->run_path) return plan_of_run(a);
  if (csvs == 0) return cli_inspect(a, show);
  return check_files(a) == CLI_OK ? plan_csvs(a) : CLI_WRONG;
}
