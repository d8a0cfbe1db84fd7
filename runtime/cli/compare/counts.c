/* counts.c: compares settings, counts by name and errors of two runs.
 *
 * Settings are those of the whole graphs, from the texts in the JSON. Counts are the totals with named entries: a row
 * for each count that differs. Without --all each table has at most ROWS_SHOWN rows, and the number of the others.
 */
#include "base/settings.h"
#include "cli/cli.h"
#include "cli/compare/compare.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_SHOWN = 20 };

/* Rows of a table with a limit. */
struct table {
  const char *title; /* written before the first row */
  size_t rows, most;
};

static int may_add(struct table *t) {
  if (t->rows == 0) printf("\n%s\n", t->title);
  return t->rows++ < t->most;
}

static void end(const struct table *t) {
  if (t->rows > t->most) printf("%zu more: --all\n", t->rows - t->most);
}

static struct table begin(const char *title, int all) { return (struct table){title, 0, all ? SIZE_MAX : ROWS_SHOWN}; }

/* ------------------------------------------------------------------------------------------------- settings */

static const char *graph_text(struct sl_document *s) {
  const char *text = sl_document_text(sl_document_member(s, sl_document_root(s), "graph_text"));
  return text ? text : "";
}

int cli_compare_settings(struct sl_document *a, struct sl_document *b, int all) {
  struct sl_differences d = {0};
  struct table t = begin("setting", all);
  const int status = sl_settings_compare(graph_text(a), graph_text(b), &d);
  for (uint32_t i = 0; status == SL_OK && i < d.count; i++)
    if (may_add(&t))
      printf("%-44s  %-14s  %s\n", d.at[i].setting, d.at[i].before ? d.at[i].before : "-",
             d.at[i].now ? d.at[i].now : "-");
  end(&t);
  sl_differences_close(&d);
  return status == SL_OK ? CLI_OK : cli_no_memory();
}

/* --------------------------------------------------------------------------------------------------- counts */

int cli_is_named_totals(const yaml_node_t *entry) { return entry && entry->type == YAML_MAPPING_NODE; }

static void write_count(const char *name, const char *field, double first, double second) {
  char label[256], x[32] = "-", y[32] = "-", change[32] = "";
  snprintf(label, sizeof label, "%s %s", name, field);
  if (!isnan(first)) snprintf(x, sizeof x, "%.0f", first);
  if (!isnan(second)) snprintf(y, sizeof y, "%.0f", second);
  if (!isnan(first) && !isnan(second)) snprintf(change, sizeof change, "%+.0f", second - first);
  printf("%-60s  %12s  %12s  %10s\n", label, x, y, change);
}

/* Counts that differ, and those of one run only. `equal`: number of the others. */
static void compare_entry(struct table *t, struct sl_document *a, struct sl_document *b, const char *name,
                          const yaml_node_t *in_a, const yaml_node_t *in_b, size_t *equal) {
  const char *field;
  const yaml_node_t *fields = in_a ? in_a : in_b;
  struct sl_document *of_fields = in_a ? a : b;
  for (size_t i = 0; sl_document_member_at(of_fields, fields, i, &field); i++) {
    if (!field) continue;
    const double x = sl_document_number(sl_document_member(a, in_a, field));
    const double y = sl_document_number(sl_document_member(b, in_b, field));
    const int is_same = x == y || (isnan(x) && isnan(y));
    *equal += (size_t)is_same;
    if (!is_same && may_add(t)) write_count(name, field, x, y);
  }
}

static void compare_output(struct sl_document *a, struct sl_document *b, const char *output, const yaml_node_t *in_a,
                           const yaml_node_t *in_b, int all) {
  const char *name;
  size_t equal = 0;
  char title[256];
  snprintf(title, sizeof title, "count of %s", output);
  struct table t = begin(title, all);
  const yaml_node_t *entry;
  for (size_t i = 0; (entry = sl_document_member_at(a, in_a, i, &name)); i++)
    if (name && cli_is_named_totals(entry))
      compare_entry(&t, a, b, name, entry, sl_document_member(b, in_b, name), &equal);
  for (size_t i = 0; (entry = sl_document_member_at(b, in_b, i, &name)); i++)
    if (name && cli_is_named_totals(entry) && !sl_document_member(a, in_a, name))
      compare_entry(&t, a, b, name, NULL, entry, &equal);
  end(&t);
  if (t.rows > 0) printf("%zu the same\n", equal);
}

void cli_compare_counts(struct sl_document *a, struct sl_document *b, int all) {
  const yaml_node_t *in_a = sl_document_member(a, sl_document_root(a), "totals");
  const yaml_node_t *in_b = sl_document_member(b, sl_document_root(b), "totals");
  const char *output;
  const yaml_node_t *entries, *others;
  for (size_t i = 0; (entries = sl_document_member_at(a, in_a, i, &output)); i++)
    if (output && (others = sl_document_member(b, in_b, output))) compare_output(a, b, output, entries, others, all);
}

/* --------------------------------------------------------------------------------------------------- errors */

static yaml_node_t *find_error(struct sl_document *s, const yaml_node_t *list, const char *node, const char *reason) {
  for (size_t i = 0; i < sl_document_length(list); i++) {
    yaml_node_t *entry = sl_document_item(s, list, i);
    const char *n = sl_document_text(sl_document_member(s, entry, "node"));
    const char *r = sl_document_text(sl_document_member(s, entry, "reason"));
    if (n && r && strcmp(n, node) == 0 && strcmp(r, reason) == 0) return entry;
  }
  return NULL;
}

static double count_of(struct sl_document *s, const yaml_node_t *entry) {
  return entry ? sl_document_number(sl_document_member(s, entry, "count")) : 0;
}

/* Writes entries of the first list with other counts in the second; of the second list, entries that the first lacks.
 */
static void compare_list(struct table *t, struct sl_document *s, const yaml_node_t *list, struct sl_document *other,
                         const yaml_node_t *in_other, int is_second) {
  for (size_t i = 0; i < sl_document_length(list); i++) {
    const yaml_node_t *entry = sl_document_item(s, list, i);
    const char *node = sl_document_text(sl_document_member(s, entry, "node"));
    const char *reason = sl_document_text(sl_document_member(s, entry, "reason"));
    if (!node || !reason) continue;
    const yaml_node_t *counterpart = find_error(other, in_other, node, reason);
    const double x = count_of(s, entry), y = count_of(other, counterpart);
    if ((is_second && counterpart) || x == y || !may_add(t)) continue;
    printf("%12.0f  %12.0f  %s: %s\n", is_second ? y : x, is_second ? x : y, node, reason);
  }
}

void cli_compare_errors(struct sl_document *a, struct sl_document *b, int all) {
  static const char *const lists[][2] = {{"errors", "events with an error, by node and reason"},
                                         {"truncations", "truncated events, by node and reason"}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const yaml_node_t *in_a = sl_document_member(a, sl_document_root(a), lists[i][0]);
    const yaml_node_t *in_b = sl_document_member(b, sl_document_root(b), lists[i][0]);
    struct table t = begin(lists[i][1], all);
    compare_list(&t, a, in_a, b, in_b, 0);
    compare_list(&t, b, in_b, a, in_a, 1);
    end(&t);
  }
}
