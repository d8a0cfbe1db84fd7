/* compare.c: `sluice compare A.json B.json`: two summaries side by side, and which of their differences are beyond the
 * spread.
 *
 * A rate or time has a spread where the run was repeated: the range of its stretches. Two differ beyond it where their
 * ranges do not meet. Outputs are compared by digest, totals and what checks and sinks report number by number.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h> /* JSON is YAML */

struct summary {
  const char *path;
  yaml_document_t document;
  int is_open;
};

/* ------------------------------------------------------------------------------------------------ reading */

static int see(const yaml_document_t *document, uint8_t *seen, int index) {
  const int is_new = index > 0 && index <= document->nodes.top - document->nodes.start && !seen[index - 1];
  if (is_new) seen[index - 1] = 1;
  return is_new;
}

/* Does each value stand in one place? What YAML's aliases make may hold itself. */
static int is_tree(const yaml_document_t *document) {
  uint8_t *seen = calloc((size_t)(document->nodes.top - document->nodes.start) + 1, 1);
  int fine = seen != NULL && see(document, seen, 1);
  for (const yaml_node_t *node = document->nodes.start; fine && node < document->nodes.top; node++) {
    if (node->type == YAML_MAPPING_NODE)
      for (yaml_node_pair_t *p = node->data.mapping.pairs.start; fine && p < node->data.mapping.pairs.top; p++)
        fine = see(document, seen, p->key) && see(document, seen, p->value);
    if (node->type == YAML_SEQUENCE_NODE)
      for (yaml_node_item_t *i = node->data.sequence.items.start; fine && i < node->data.sequence.items.top; i++)
        fine = see(document, seen, *i);
  }
  free(seen);
  return fine;
}

static int read_summary(struct summary *s, const char *path) {
  FILE *file = fopen(path, "rb");
  s->path = path;
  if (!file) {
    fprintf(stderr, "error: %s: cannot be opened\n", path);
    return CLI_WRONG;
  }
  yaml_parser_t parser;
  int status = CLI_WRONG;
  if (yaml_parser_initialize(&parser)) {
    yaml_parser_set_input_file(&parser, file);
    s->is_open = yaml_parser_load(&parser, &s->document);
    const yaml_node_t *root = s->is_open ? yaml_document_get_root_node(&s->document) : NULL;
    if (!s->is_open)
      fprintf(stderr, "error: %s:%zu: %s\n", path, parser.problem_mark.line + 1, parser.problem);
    else if (!root || root->type != YAML_MAPPING_NODE || !is_tree(&s->document))
      fprintf(stderr, "error: %s: is no summary of a run (sluice run --json writes one)\n", path);
    else
      status = CLI_OK;
    yaml_parser_delete(&parser);
  }
  fclose(file);
  return status;
}

static yaml_node_t *at(struct summary *s, int index) { return yaml_document_get_node(&s->document, index); }
static yaml_node_t *root_of(struct summary *s) { return yaml_document_get_root_node(&s->document); }
static const char *text_of(const yaml_node_t *node) {
  return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static yaml_node_t *member(struct summary *s, const yaml_node_t *map, const char *key) {
  if (!map || map->type != YAML_MAPPING_NODE) return NULL;
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const char *name = text_of(at(s, p->key));
    if (name && strcmp(name, key) == 0) return at(s, p->value);
  }
  return NULL;
}

static size_t length_of(const yaml_node_t *list) {
  return list && list->type == YAML_SEQUENCE_NODE
             ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
             : 0;
}

static yaml_node_t *item(struct summary *s, const yaml_node_t *list, size_t i) {
  return at(s, list->data.sequence.items.start[i]);
}

/* The entry of a list of maps whose `key` is `value`. */
static yaml_node_t *find(struct summary *s, const yaml_node_t *list, const char *key, const char *value) {
  for (size_t i = 0; i < length_of(list); i++) {
    const char *text = text_of(member(s, item(s, list, i), key));
    if (text && strcmp(text, value) == 0) return item(s, list, i);
  }
  return NULL;
}

static double number_of(const yaml_node_t *node) {
  const char *text = text_of(node);
  char *end = NULL;
  const double value = text ? strtod(text, &end) : NAN;
  return text && end != text && !*end ? value : NAN;
}

/* ------------------------------------------------------------------------------------------------- ranges */

struct range {
  double value, least, most;
  int has_spread;
};

/* The median of the stretches and their range; without any, the value alone. */
static struct range range_of(struct summary *s, const yaml_node_t *stretches, double value) {
  const size_t count = length_of(stretches);
  struct range r = {value, value, value, 0};
  double *values = count > 1 ? (double *)malloc(count * sizeof *values) : NULL;
  if (!values) return r;
  for (size_t i = 0; i < count; i++) values[i] = number_of(item(s, stretches, i));
  cli_sort_numbers(values, count);
  r = (struct range){count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]), values[0],
                     values[count - 1], 1};
  free(values);
  return r;
}

/* "beyond the spread": the ranges do not meet. */
static const char *judge(const struct range *a, const struct range *b) {
  if (!a->has_spread || !b->has_spread) return "";
  return a->most < b->least || b->most < a->least ? "*" : "";
}

static void write_range(const struct range *r) {
  char text[64];
  if (r->has_spread)
    snprintf(text, sizeof text, "%.5g (%.5g-%.5g)", r->value, r->least, r->most);
  else
    snprintf(text, sizeof text, "%.5g", r->value);
  printf("  %-28s", text);
}

static void write_row(const char *name, const struct range *a, const struct range *b) {
  char change[32] = "";
  if (a->value > 0 && isfinite(b->value)) snprintf(change, sizeof change, "%+.1f %%", 100 * (b->value / a->value - 1));
  printf("%-22s", name);
  write_range(a);
  write_range(b);
  printf("  %9s %s\n", change, judge(a, b));
}

/* ------------------------------------------------------------------------------------------------- tables */

static void compare_text(struct summary *a, struct summary *b, const char *key) {
  const char *x = text_of(member(a, root_of(a), key)), *y = text_of(member(b, root_of(b), key));
  const int same = x && y && strcmp(x, y) == 0;
  printf("%-22s  %-28s  %-28s%s\n", key, x ? x : "-", y ? y : "-", same ? "" : "  differs");
}

static void compare_rates(struct summary *a, struct summary *b) {
  const struct range x =
      range_of(a, member(a, root_of(a), "stretch_hz"), number_of(member(a, root_of(a), "throughput_hz")));
  const struct range y =
      range_of(b, member(b, root_of(b), "stretch_hz"), number_of(member(b, root_of(b), "throughput_hz")));
  write_row("events/s", &x, &y);
  static const char *const others[] = {"source_hz", "wall_hz"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    const double u = number_of(member(a, root_of(a), others[i])), v = number_of(member(b, root_of(b), others[i]));
    const struct range p = {u, u, u, 0}, q = {v, v, v, 0};
    write_row(others[i], &p, &q);
  }
}

static struct range node_time(struct summary *s, yaml_node_t *node) {
  const double events = number_of(member(s, node, "events"));
  const double value = events > 0 ? number_of(member(s, node, "microseconds")) / events : NAN;
  return range_of(s, member(s, node, "stretch_us"), value);
}

static void compare_nodes(struct summary *a, struct summary *b) {
  const yaml_node_t *in_a = member(a, root_of(a), "nodes"), *in_b = member(b, root_of(b), "nodes");
  printf("\nnode, us/event\n");
  for (size_t i = 0; i < length_of(in_a); i++) {
    yaml_node_t *x = item(a, in_a, i);
    const char *name = text_of(member(a, x, "name"));
    yaml_node_t *y = name ? find(b, in_b, "name", name) : NULL;
    if (!name) continue;
    const struct range p = node_time(a, x);
    const struct range q = y ? node_time(b, y) : (struct range){NAN, NAN, NAN, 0};
    write_row(name, &p, &q);
  }
  for (size_t i = 0; i < length_of(in_b); i++) {
    yaml_node_t *y = item(b, in_b, i);
    const char *name = text_of(member(b, y, "name"));
    if (!name || find(a, in_a, "name", name)) continue;
    const struct range p = {NAN, NAN, NAN, 0}, q = node_time(b, y);
    write_row(name, &p, &q);
  }
}

/* Returns how many outputs are known to differ. */
static unsigned compare_outputs(struct summary *a, struct summary *b) {
  const yaml_node_t *in_a = member(a, root_of(a), "outputs"), *in_b = member(b, root_of(b), "outputs");
  unsigned different = 0;
  printf("\noutput, digest\n");
  for (size_t i = 0; i < length_of(in_a); i++) {
    yaml_node_t *x = item(a, in_a, i);
    const char *port = text_of(member(a, x, "port")), *digest = text_of(member(a, x, "digest"));
    yaml_node_t *y = port ? find(b, in_b, "port", port) : NULL;
    const char *other = y ? text_of(member(b, y, "digest")) : NULL;
    const int known = digest && other && strcmp(digest, "null") != 0 && strcmp(other, "null") != 0;
    const int same = known && strcmp(digest, other) == 0;
    different += known && !same;
    printf("%-22s  %-28s  %-28s  %s\n", port ? port : "-", digest ? digest : "-", other ? other : "-",
           same    ? "same"
           : known ? "DIFFERS"
                   : "not known: run with --digest");
  }
  return different;
}

/* Numbers and texts of two trees that differ, with their paths; *compared counts all. */
static void compare_results(struct summary *a, const yaml_node_t *x, struct summary *b, const yaml_node_t *y,
                            const char *path, unsigned *compared, unsigned *different) {
  if (x->type == YAML_MAPPING_NODE) {
    for (yaml_node_pair_t *p = x->data.mapping.pairs.start; p < x->data.mapping.pairs.top; p++) {
      char longer[512];
      const char *key = text_of(at(a, p->key));
      const yaml_node_t *other = key ? member(b, y, key) : NULL;
      snprintf(longer, sizeof longer, "%s%s%s", path, *path ? "." : "", key ? key : "?");
      if (other) compare_results(a, at(a, p->value), b, other, longer, compared, different);
    }
  } else if (x->type == YAML_SEQUENCE_NODE) {
    for (size_t i = 0; i < length_of(x) && i < length_of(y); i++) {
      char longer[512];
      snprintf(longer, sizeof longer, "%s[%zu]", path, i);
      compare_results(a, item(a, x, i), b, item(b, y, i), longer, compared, different);
    }
  } else if (text_of(x) && text_of(y)) {
    ++*compared;
    if (strcmp(text_of(x), text_of(y)) == 0) return;
    if (++*different == 1) printf("\nresult\n");
    printf("%-52s  %-14s  %s\n", path, text_of(x), text_of(y));
  }
}

int cli_compare(const struct cli_arguments *a) {
  struct summary first = {0}, second = {0};
  int status = read_summary(&first, a->operands.items[0]);
  if (status == CLI_OK) status = read_summary(&second, a->operands.items[1]);
  if (status == CLI_OK) {
    static const char *const texts[] = {"sluice_version", "graph_digest", "device", "slots", "slice_events", "events"};
    unsigned compared = 0, unequal = 0;
    printf("%-22s  %-28s  %s\n", "", first.path, second.path);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) compare_text(&first, &second, texts[i]);
    compare_rates(&first, &second);
    compare_nodes(&first, &second);
    const unsigned different = compare_outputs(&first, &second);
    const yaml_node_t *x = member(&first, root_of(&first), "results"),
                      *y = member(&second, root_of(&second), "results");
    const yaml_node_t *u = member(&first, root_of(&first), "totals"), *v = member(&second, root_of(&second), "totals");
    if (x && y) compare_results(&first, x, &second, y, "", &compared, &unequal);
    if (u && v) compare_results(&first, u, &second, v, "total", &compared, &unequal);
    if (x && y) printf("\n%u of %u numbers that checks and sinks report are equal\n", compared - unequal, compared);
    printf("* beyond the spread: the ranges of the stretches (--repeat) do not meet\n");
    status = different ? CLI_FAILED : CLI_OK;
  }
  if (first.is_open) yaml_document_delete(&first.document);
  if (second.is_open) yaml_document_delete(&second.document);
  return status;
}
