/* results.c: compares the reports of checks and sinks in two runs, value by value.
 *
 * Both trees are turned into lists of values with their paths and matched by path. Differences are sorted by size: the
 * difference relative to the larger value. Values in lists (bins of histograms) are too many to print; each list has
 * one line with the number of values that differ and the largest difference.
 */
#include "cli/cli.h"
#include "cli/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 20, PATH_BYTES = 512 };

struct value {
  char *path;
  const char *text;       /* in the first file */
  const char *other;      /* in the second; NULL: missing there */
  size_t order;           /* position in its file */
  uint32_t list_bytes;    /* of the path, up to the first list; 0: not in a list */
  uint32_t is_only_other; /* only in the second file; `text` is its value there */
  double size;            /* of the difference, relative to the larger value: 0 to 2; 1 for texts */
};

struct values {
  struct value *items;
  size_t count, capacity;
  int failed;
};

static void add_value(struct values *v, const char *path, const char *text) {
  if (v->count == v->capacity) {
    const size_t capacity = 2 * v->capacity + 64;
    struct value *larger = realloc(v->items, capacity * sizeof *larger);
    v->failed |= !larger;
    if (!larger) return;
    v->items = larger;
    v->capacity = capacity;
  }
  const char *list = strchr(path, '[');
  char *copy = strdup(path);
  v->failed |= !copy;
  if (!copy) return;
  v->items[v->count] =
      (struct value){.path = copy, .text = text, .order = v->count, .list_bytes = list ? (uint32_t)(list - path) : 0};
  v->count++;
}

static void collect(struct values *v, struct sl_document *s, const yaml_node_t *node, const char *path) {
  char longer[PATH_BYTES];
  if (!node) return;
  if (node->type == YAML_MAPPING_NODE) {
    const char *key;
    const yaml_node_t *member;
    for (size_t i = 0; (member = sl_document_member_at(s, node, i, &key)); i++) {
      snprintf(longer, sizeof longer, "%s%s%s", path, *path ? "." : "", key ? key : "?");
      collect(v, s, member, longer);
    }
  } else if (node->type == YAML_SEQUENCE_NODE) {
    for (size_t i = 0; i < sl_document_length(node); i++) {
      snprintf(longer, sizeof longer, "%s[%zu]", path, i);
      collect(v, s, sl_document_item(s, node, i), longer);
    }
  } else if (sl_document_text(node)) {
    add_value(v, path, sl_document_text(node));
  }
}

/* Totals without named entries; with names: counts.c. */
static void collect_totals(struct values *v, struct sl_document *s) {
  const yaml_node_t *totals = sl_document_member(s, sl_document_root(s), "totals"), *entries, *entry;
  const char *output, *name;
  char path[PATH_BYTES];
  for (size_t o = 0; (entries = sl_document_member_at(s, totals, o, &output)); o++)
    for (size_t e = 0; (entry = sl_document_member_at(s, entries, e, &name)); e++) {
      if (!output || cli_is_named_totals(entry)) continue;
      snprintf(path, sizeof path, "total.%s.%s", output, name ? name : "?");
      collect(v, s, entry, path);
    }
}

static void collect_all(struct values *v, struct sl_document *s) {
  collect(v, s, sl_document_member(s, sl_document_root(s), "results"), "");
  collect_totals(v, s);
}

int cli_results_in_common(struct sl_document *a, struct sl_document *b) {
  static const char *const keys[] = {"results", "totals"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const yaml_node_t *in_a = sl_document_member(a, sl_document_root(a), keys[i]);
    const yaml_node_t *in_b = sl_document_member(b, sl_document_root(b), keys[i]);
    const char *name;
    for (size_t m = 0; sl_document_member_at(a, in_a, m, &name); m++)
      if (name && sl_document_member(b, in_b, name)) return 1;
  }
  return 0;
}

static void free_values(struct values *v) {
  for (size_t i = 0; i < v->count; i++) free(v->items[i].path);
  free(v->items);
}

static void sort(struct values *v, int (*compare)(const void *, const void *)) {
  if (v->count > 0) qsort(v->items, v->count, sizeof *v->items, compare);
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct value *)a)->path, ((const struct value *)b)->path);
}

static int by_order(const void *a, const void *b) {
  const struct value *x = a, *y = b;
  return (x->order > y->order) - (x->order < y->order);
}

static int by_size(const void *a, const void *b) {
  const struct value *x = a, *y = b;
  return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : by_order(a, b);
}

static double number_in(const char *text) {
  char *end = NULL;
  const double value = text ? strtod(text, &end) : NAN;
  return text && end != text && !*end ? value : NAN;
}

static int is_integer(const char *text) { return text && text[strspn(text, "-0123456789")] == '\0'; }

/* 0 if the values are equal as texts or as numbers. Different integers that are one double differ. */
static double difference(const char *text, const char *other) {
  const double x = number_in(text), y = number_in(other);
  const double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
  if (other && strcmp(text, other) == 0) return 0;
  if (!isfinite(x) || !isfinite(y)) return 1;
  if (x == y) return is_integer(text) && is_integer(other) && larger >= 0x1p53 ? 1 / larger : 0;
  return fabs(x - y) / larger;
}

/* Sets the counterpart of each value of `v`, and adds values that only `w` has. Returns the number of equal values. */
static size_t match(struct values *v, struct values *w) {
  size_t equal = 0;
  const size_t count = v->count;
  sort(w, by_path);
  for (size_t i = 0; i < count; i++) {
    struct value *x = &v->items[i];
    struct value *y = w->count ? bsearch(x, w->items, w->count, sizeof *w->items, by_path) : NULL;
    x->other = y ? y->text : NULL;
    if (y) y->other = x->text;
    x->size = difference(x->text, x->other);
    equal += x->size == 0;
  }
  sort(w, by_order);
  for (size_t i = 0; i < w->count; i++) {
    if (w->items[i].other) continue;
    add_value(v, w->items[i].path, w->items[i].text);
    if (v->failed) break;
    v->items[v->count - 1].is_only_other = 1;
    v->items[v->count - 1].size = 1;
  }
  return equal;
}

/* A text, or a number with few digits; "-" for NULL. */
static const char *short_text(char *place, size_t bytes, const char *text) {
  const double number = number_in(text);
  if (isfinite(number))
    snprintf(place, bytes, "%.4g", number);
  else
    snprintf(place, bytes, "%.24s", text ? text : "-");
  return place;
}

static void write_short(const struct value *x) {
  char first[32], second[32], change[32] = "";
  const char *text = x->is_only_other ? NULL : x->text, *other = x->is_only_other ? x->text : x->other;
  const double from = number_in(text), to = number_in(other);
  if (from > 0 && to >= 0 && isfinite(to)) snprintf(change, sizeof change, "%+.3g %%", 100 * (to / from - 1));
  printf("%-44s  %-14s  %-14s  %9s\n", x->path, short_text(first, sizeof first, text),
         short_text(second, sizeof second, other), change);
}

static int is_in_list(const struct value *x, const struct value *first) {
  return x->list_bytes == first->list_bytes && strncmp(x->path, first->path, first->list_bytes) == 0;
}

/* Writes a line per list. `v` is sorted by path, so the values of a list are consecutive. */
static void write_lists(const struct values *v) {
  for (size_t i = 0; i < v->count;) {
    const struct value *first = &v->items[i];
    size_t count = 0, unequal = 0;
    double largest = 0;
    for (; i < v->count && is_in_list(&v->items[i], first); i++) {
      const struct value *x = &v->items[i];
      count++;
      unequal += x->size > 0;
      if (x->size > largest) largest = x->size;
      if (first->list_bytes == 0) break;
    }
    if (first->list_bytes == 0)
      i++;
    else if (unequal > 0)
      printf("%.*s[]: %zu of %zu differ, by up to %.3g %%\n", (int)first->list_bytes, first->path, unequal, count,
             100 * largest);
  }
}

static void write_summary(struct values *v) {
  size_t shown = 0, more = 0;
  sort(v, by_size);
  for (size_t i = 0; i < v->count; i++) {
    if (v->items[i].list_bytes || v->items[i].size == 0) continue;
    if (shown == SHOWN_MAX) {
      more++;
      continue;
    }
    write_short(&v->items[i]);
    shown++;
  }
  if (more) printf("%zu more, by less than these\n", more);
  sort(v, by_path);
  write_lists(v);
}

static void write_all(const struct values *v) {
  for (size_t i = 0; i < v->count; i++) {
    const struct value *x = &v->items[i];
    if (x->size == 0) continue;
    printf("%-52s  %-20s  %s\n", x->path, x->is_only_other ? "-" : x->text,
           x->is_only_other ? x->text
           : x->other       ? x->other
                            : "-");
  }
}

int cli_compare_results(struct sl_document *a, struct sl_document *b, int all) {
  struct values v = {0}, w = {0};
  collect_all(&v, a);
  collect_all(&w, b);
  const size_t equal = v.failed || w.failed ? 0 : match(&v, &w);
  const int failed = v.failed || w.failed;
  if (!failed && v.count > 0) {
    if (equal < v.count) printf("\nresult%s\n", all ? "" : ", by size of the difference");
    if (all)
      write_all(&v);
    else
      write_summary(&v);
    printf("\n%zu of %zu values reported by checks and sinks are equal\n", equal, v.count);
  }
  free_values(&v);
  free_values(&w);
  return failed ? cli_no_memory() : CLI_OK;
}
