/* compare.c: `sluice compare A.json B.json`: the differences between two runs, by size, and the differences of times
 * that are beyond their spread; with --all all values of both runs. graphs.c compares graphs.
 *
 * The spread of a rate or time is the range of the stretches of a repeated run. Two times differ beyond their spread if
 * the ranges do not overlap. With five stretches each this happens for equal times in one of 126 comparisons; with
 * fewer stretches it happens more often, and no judgement is printed. Outputs are compared by digest, reports of checks
 * and sinks value by value.
 */
#include "cli/compare/compare.h"

#include "cli/cli.h"
#include "cli/compare/events.h"
#include "cli/summary_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCHES_MIN = 5 };

/* ------------------------------------------------------------------------------------------------- ranges */

struct range {
  double value, least, most;
  size_t stretches; /* 0: the run was not repeated */
};
static const struct range no_range = {NAN, NAN, NAN, 0};

/* The median and the range of the stretches; without stretches the value alone. */
static struct range range_of(struct sl_document *s, const yaml_node_t *stretches, double value) {
  const size_t count = sl_document_length(stretches);
  struct range r = {value, value, value, 0};
  double *values = count > 1 ? (double *)malloc(count * sizeof *values) : NULL;
  if (!values) return r;
  for (size_t i = 0; i < count; i++) values[i] = sl_document_number(sl_document_item(s, stretches, i));
  cli_sort_numbers(values, count);
  r = (struct range){count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]), values[0],
                     values[count - 1], count};
  free(values);
  return r;
}

enum judgement { WITHIN, BEYOND, UNKNOWN };

static enum judgement judge(const struct range *a, const struct range *b) {
  if (a->stretches < STRETCHES_MIN || b->stretches < STRETCHES_MIN) return UNKNOWN;
  return a->most < b->least || b->most < a->least ? BEYOND : WITHIN;
}

static void write_range(const struct range *r) {
  char text[64];
  if (r->stretches > 1)
    snprintf(text, sizeof text, "%.4g (%.4g-%.4g)", r->value, r->least, r->most);
  else if (isfinite(r->value))
    snprintf(text, sizeof text, "%.4g", r->value);
  else
    snprintf(text, sizeof text, "-");
  printf("  %-28s", text);
}

static void write_row(const char *name, const struct range *a, const struct range *b) {
  static const char *const marks[] = {"", "*", "?"};
  const int in_both = isfinite(a->value) && isfinite(b->value);
  char change[32] = "";
  if (a->value > 0 && isfinite(b->value)) snprintf(change, sizeof change, "%+.1f %%", 100 * (b->value / a->value - 1));
  printf("%-22s", name);
  write_range(a);
  write_range(b);
  printf("  %9s %s\n", change, in_both ? marks[judge(a, b)] : "");
}

/* ------------------------------------------------------------------------------------------------- tables */

static void compare_text(struct sl_document *a, struct sl_document *b, const char *key, int all) {
  const char *x = sl_document_text(sl_document_member(a, sl_document_root(a), key));
  const char *y = sl_document_text(sl_document_member(b, sl_document_root(b), key));
  const int same = x && y ? strcmp(x, y) == 0 : x == y;
  if (all || !same) printf("%-22s  %-28s  %-28s%s\n", key, x ? x : "-", y ? y : "-", same ? "" : "  differs");
}

static struct range rate_of(struct sl_document *s) {
  yaml_node_t *root = sl_document_root(s);
  return range_of(s, sl_document_member(s, root, "stretch_hz"),
                  sl_document_number(sl_document_member(s, root, "throughput_hz")));
}

static void compare_rates(struct sl_document *a, struct sl_document *b, int all) {
  const struct range x = rate_of(a), y = rate_of(b);
  write_row("events/s", &x, &y);
  static const char *const others[] = {"source_hz", "wall_hz"};
  for (size_t i = 0; all && i < sizeof others / sizeof others[0]; i++) {
    const struct range p = range_of(a, NULL, sl_document_number(sl_document_member(a, sl_document_root(a), others[i])));
    const struct range q = range_of(b, NULL, sl_document_number(sl_document_member(b, sl_document_root(b), others[i])));
    write_row(others[i], &p, &q);
  }
}

struct row {
  const char *name;
  struct range a, b;
  double change; /* logarithm of the ratio; 0 if only one run has the node */
};

static struct range node_time(struct sl_document *s, yaml_node_t *node) {
  const double events = sl_document_number(sl_document_member(s, node, "events"));
  const double value = events > 0 ? sl_document_number(sl_document_member(s, node, "microseconds")) / events : NAN;
  return range_of(s, sl_document_member(s, node, "stretch_us"), value);
}

static int by_change(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return (x->change < y->change) - (x->change > y->change);
}

/* Fills `rows`, which has room for the nodes of both runs; returns their number. */
static size_t find_rows(struct sl_document *a, struct sl_document *b, struct row *rows) {
  const yaml_node_t *in_a = sl_document_member(a, sl_document_root(a), "nodes");
  const yaml_node_t *in_b = sl_document_member(b, sl_document_root(b), "nodes");
  size_t count = 0;
  for (size_t i = 0; i < sl_document_length(in_a); i++) {
    yaml_node_t *x = sl_document_item(a, in_a, i);
    const char *name = sl_document_text(sl_document_member(a, x, "name"));
    if (!name) continue;
    yaml_node_t *y = sl_document_find(b, in_b, "name", name);
    struct row *row = &rows[count++];
    *row = (struct row){name, node_time(a, x), y ? node_time(b, y) : no_range, 0};
    const double change = fabs(log(row->b.value / row->a.value));
    row->change = isfinite(change) ? change : 0;
  }
  for (size_t i = 0; i < sl_document_length(in_b); i++) {
    yaml_node_t *y = sl_document_item(b, in_b, i);
    const char *name = sl_document_text(sl_document_member(b, y, "name"));
    if (name && !sl_document_find(a, in_a, "name", name))
      rows[count++] = (struct row){name, no_range, node_time(b, y), 0};
  }
  return count;
}

/* Writes nodes that differ beyond the spread or are in one run only, and the number of the others. */
static void write_rows(const struct row *rows, size_t count) {
  size_t within = 0, unknown = 0;
  printf("\nnode, us/event, by size of the difference\n");
  for (size_t i = 0; i < count; i++) {
    const enum judgement judgement = judge(&rows[i].a, &rows[i].b);
    const int in_both = isfinite(rows[i].a.value) && isfinite(rows[i].b.value);
    if (!in_both || judgement == BEYOND) {
      write_row(rows[i].name, &rows[i].a, &rows[i].b);
    } else {
      within += judgement == WITHIN;
      unknown += judgement == UNKNOWN;
    }
  }
  if (within) printf("%zu within their spread\n", within);
  if (unknown) printf("%zu with too few stretches to tell\n", unknown);
}

static int compare_nodes(struct sl_document *a, struct sl_document *b, int all) {
  const size_t room = sl_document_length(sl_document_member(a, sl_document_root(a), "nodes")) +
                      sl_document_length(sl_document_member(b, sl_document_root(b), "nodes"));
  struct row *rows = calloc(room + 1, sizeof *rows);
  if (!rows) return cli_no_memory();
  const size_t count = find_rows(a, b, rows);
  if (all) {
    printf("\nnode, us/event\n");
    for (size_t i = 0; i < count; i++) write_row(rows[i].name, &rows[i].a, &rows[i].b);
  } else {
    qsort(rows, count, sizeof *rows, by_change);
    write_rows(rows, count);
  }
  free(rows);
  return CLI_OK;
}

/* Returns the number of outputs that are known to differ. */
static unsigned compare_outputs(struct sl_document *a, struct sl_document *b, int all) {
  const yaml_node_t *in_a = sl_document_member(a, sl_document_root(a), "outputs");
  const yaml_node_t *in_b = sl_document_member(b, sl_document_root(b), "outputs");
  unsigned different = 0, equal = 0;
  printf("\noutput, digest\n");
  for (size_t i = 0; i < sl_document_length(in_a); i++) {
    yaml_node_t *x = sl_document_item(a, in_a, i);
    const char *port = sl_document_text(sl_document_member(a, x, "port")),
               *digest = sl_document_text(sl_document_member(a, x, "digest"));
    yaml_node_t *y = port ? sl_document_find(b, in_b, "port", port) : NULL;
    const char *other = y ? sl_document_text(sl_document_member(b, y, "digest")) : NULL;
    const int known = digest && other && strcmp(digest, "null") != 0 && strcmp(other, "null") != 0;
    const int same = known && strcmp(digest, other) == 0;
    different += known && !same;
    equal += (unsigned)same;
    if (same && !all) continue;
    printf("%-22s  %-28s  %-28s  %s\n", port ? port : "-", digest ? digest : "-", other ? other : "-",
           same    ? "same"
           : known ? "DIFFERS"
           : !y    ? "not in the second"
                   : "not known: run with --digest");
  }
  for (size_t i = 0; i < sl_document_length(in_b); i++) {
    yaml_node_t *y = sl_document_item(b, in_b, i);
    const char *port = sl_document_text(sl_document_member(b, y, "port"));
    const char *digest = sl_document_text(sl_document_member(b, y, "digest"));
    if (!port || sl_document_find(a, in_a, "port", port)) continue;
    printf("%-22s  %-28s  %-28s  not in the first\n", port, "-", digest ? digest : "-");
  }
  if (!all) printf("%u the same\n", equal);
  return different;
}

/* Explains the star, or why there is none. */
static void write_legend(struct sl_document *a, struct sl_document *b) {
  const struct range x = rate_of(a), y = rate_of(b);
  if (judge(&x, &y) == UNKNOWN)
    printf(
        "? cannot tell whether times differ: this needs %d stretches each, and there are %zu and %zu (--repeat %d "
        "gives %d)\n",
        STRETCHES_MIN, x.stretches, y.stretches, STRETCHES_MIN + 1, STRETCHES_MIN);
  else
    printf("* beyond the spread: the ranges of the stretches (--repeat) do not overlap\n");
}

/* Do both lists have an entry with the same `key`? */
static int shares_entry(struct sl_document *a, struct sl_document *b, const char *list, const char *key) {
  const yaml_node_t *in_a = sl_document_member(a, sl_document_root(a), list);
  const yaml_node_t *in_b = sl_document_member(b, sl_document_root(b), list);
  for (size_t i = 0; i < sl_document_length(in_a); i++) {
    const char *name = sl_document_text(sl_document_member(a, sl_document_item(a, in_a, i), key));
    if (name && sl_document_find(b, in_b, key, name)) return 1;
  }
  return 0;
}

/* CLI_WRONG if the runs are of graphs that have nothing in common. */
static int check_common(struct sl_document *a, struct sl_document *b) {
  const char *x = sl_document_text(sl_document_member(a, sl_document_root(a), "graph_digest"));
  const char *y = sl_document_text(sl_document_member(b, sl_document_root(b), "graph_digest"));
  if (strcmp(x, y) == 0 || shares_entry(a, b, "nodes", "name") || shares_entry(a, b, "outputs", "port") ||
      cli_results_in_common(a, b))
    return CLI_OK;
  fprintf(stderr, "error: %s and %s have no node, output or result of a check in common: compare runs of one graph\n",
          a->path, b->path);
  return CLI_WRONG;
}

/* A run that did not end well has results of fewer events, or none. */
static void warn_of_status(struct sl_document *s) {
  const char *status = sl_document_text(sl_document_member(s, sl_document_root(s), "status"));
  const char *events = sl_document_text(sl_document_member(s, sl_document_root(s), "events"));
  if (status && strcmp(status, "ok") != 0)
    fprintf(stderr, "warning: %s: the run did not end well (status `%s`, %s events)\n", s->path, status, events);
}

static int write_comparison(struct sl_document *a, struct sl_document *b, int all) {
  static const char *const texts[] = {"sluice_version", "commit",       "graph_digest", "device",
                                      "slots",          "slice_events", "events"};
  printf("%-22s  %-28s  %s\n", "", a->path, b->path);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) compare_text(a, b, texts[i], all);
  if (cli_compare_settings(a, b, all) != CLI_OK) return CLI_FAILED;
  cli_compare_errors(a, b, all);
  cli_compare_counts(a, b, all);
  printf("\n");
  compare_rates(a, b, all);
  if (compare_nodes(a, b, all) != CLI_OK) return CLI_FAILED;
  const unsigned different = compare_outputs(a, b, all);
  if (cli_compare_results(a, b, all) != CLI_OK) return CLI_FAILED;
  write_legend(a, b);
  if (!all) printf("--all lists everything, with all digits\n");
  return different ? CLI_FAILED : CLI_OK;
}

int cli_compare_documents(struct sl_document *a, struct sl_document *b, int all) {
  const int status = check_common(a, b);
  if (status != CLI_OK) return status;
  warn_of_status(a);
  warn_of_status(b);
  return write_comparison(a, b, all);
}

static int has_records(struct sl_document *d) {
  return sl_document_member(d, sl_document_root(d), "event_records") != NULL;
}

/* Compares events, if both files have them. */
static int compare_records(struct sl_document *first, struct sl_document *second, int all, int differ) {
  struct cli_events a = {0}, b = {0};
  if (!has_records(first) || !has_records(second)) {
    if (differ || has_records(first) || has_records(second))
      printf("\nevents are not compared: run both with --digest=events, so that their files have them\n");
    return CLI_OK;
  }
  int status = cli_events_read(&a, first);
  if (status == CLI_OK) status = cli_events_read(&b, second);
  if (status == CLI_OK) status = cli_events_compare(&a, &b, all);
  cli_events_free(&a);
  cli_events_free(&b);
  return status;
}

int cli_compare_files(const char *a, const char *b, int all) {
  struct sl_document first = {0}, second = {0};
  int status = cli_read_summary(&first, a);
  if (status == CLI_OK) status = cli_read_summary(&second, b);
  if (status == CLI_OK) status = cli_compare_documents(&first, &second, all);
  if (status != CLI_WRONG) {
    const int compared = compare_records(&first, &second, all, status);
    if (compared != CLI_OK) status = compared;
  }
  sl_document_close(&first);
  sl_document_close(&second);
  return status;
}

static int is_graph(const char *path) {
  const size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".yaml") == 0;
}

int cli_compare(const struct cli_arguments *a) {
  const char *const *names = a->operands.items;
  if (is_graph(names[0]) && (a->operands.count == 1 || is_graph(names[1]))) return cli_compare_graphs(a);
  if (a->operands.count == 1) {
    fprintf(
        stderr,
        "error: compare needs two files of summaries, or a graph (.yaml) and what --set, --use or --with changes\n");
    return CLI_WRONG;
  }
  const char *vain = cli_given_of(a, CLI_CHANGE | CLI_PLUGINS | CLI_RUN);
  if (vain) {
    fprintf(stderr, "error: %s has no effect on files of summaries, only on graphs (.yaml)\n", vain);
    return CLI_WRONG;
  }
  return cli_compare_files(names[0], names[1], a->all != 0);
}
