/* differences.c: see differences.h. A canonical text has one setting per line, and two blanks of indentation per level:
 *
 *     nodes:
 *       NODE:
 *         use: PLUGIN.ALGORITHM
 *         set:
 *           PROPERTY: VALUE
 *
 * Each text becomes a list of settings, "NODE.PROPERTY" and value, sorted by name. The lists are merged.
 */
#include "graph/differences.h"

#include "base/text_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the canonical text. */
struct piece {
  const char *text;
  size_t bytes;
};

/* A setting: of a node, or of the whole graph (`node` empty). `key` is its own name: "use", "block", PROPERTY. */
struct setting {
  struct piece node, key, value;
};

struct list {
  struct setting *at;
  size_t count;
};

static int compare(const struct piece *a, const struct piece *b) {
  const size_t common = a->bytes < b->bytes ? a->bytes : b->bytes;
  const int order = common > 0 ? memcmp(a->text, b->text, common) : 0;
  return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int compare_settings(const void *a, const void *b) {
  const struct setting *x = a, *y = b;
  const int order = compare(&x->node, &y->node);
  return order != 0 ? order : compare(&x->key, &y->key);
}

static int is(const struct piece *p, const char *text) {
  return p->bytes == strlen(text) && memcmp(p->text, text, p->bytes) == 0;
}

/* Adds the settings of a text, sorted. 0 if out of memory. */
static int read(const char *text, struct list *list) {
  size_t lines = 1;
  for (const char *c = text; *c; c++) lines += *c == '\n';
  *list = (struct list){calloc(lines, sizeof *list->at), 0};
  if (!list->at) return 0;
  struct piece node = {"", 0};
  while (*text) {
    const size_t length = strcspn(text, "\n"), indent = strspn(text, " ");
    const char *line = text + indent, *end = text + length;
    const char *colon = memchr(line, ':', (size_t)(end - line));
    text = *end ? end + 1 : end;
    if (!colon) continue;
    const struct piece key = {line, (size_t)(colon - line)};
    const struct piece value = {colon + 2, colon + 2 < end ? (size_t)(end - colon - 2) : 0};
    if (indent == 0) node.bytes = 0;
    if (indent == 2 && value.bytes == 0) node = key;
    if (value.bytes > 0) list->at[list->count++] = (struct setting){node, key, value};
  }
  qsort(list->at, list->count, sizeof *list->at, compare_settings);
  return 1;
}

static int has_node(const struct list *list, const struct piece *node) {
  const struct setting wanted = {*node, {"use", 3}, {"", 0}};
  return node->bytes == 0 || bsearch(&wanted, list->at, list->count, sizeof *list->at, compare_settings) != NULL;
}

static void put_piece(const struct piece *p, FILE *f) { fwrite(p->text, 1, p->bytes, f); }

/* A setting that only one of the graphs has. A node that only one of them has is
 * one difference. */
static void put_one(const struct setting *s, int is_new, const struct list *other, FILE *f) {
  const int is_of_both = has_node(other, &s->node);
  if (!is_of_both && !is(&s->key, "use")) return;
  put_piece(&s->node, f);
  if (is_of_both && s->node.bytes > 0) fputc('.', f);
  if (is_of_both) put_piece(&s->key, f);
  fputs(is_new ? is_of_both ? ": not set -> " : ": new, " : is_of_both ? ": " : ": removed", f);
  if (is_of_both || is_new) put_piece(&s->value, f);
  fputs(!is_new && is_of_both ? " -> not set\n" : "\n", f);
}

static void put_both(const struct setting *a, const struct setting *b, FILE *f) {
  if (compare(&a->value, &b->value) == 0) return;
  put_piece(&a->node, f);
  if (a->node.bytes > 0) fputc('.', f);
  put_piece(&a->key, f);
  fputs(": ", f);
  put_piece(&a->value, f);
  fputs(" -> ", f);
  put_piece(&b->value, f);
  fputc('\n', f);
}

char *sl_graph_differences(const char *before, const char *after) {
  struct list a = {NULL, 0}, b = {NULL, 0};
  struct sl_text_file text;
  int is_whole = read(before, &a) && read(after, &b);
  is_whole &= sl_text_open(&text) != NULL;
  for (size_t i = 0, k = 0; is_whole && (i < a.count || k < b.count);) {
    const int order = i == a.count ? 1 : k == b.count ? -1 : compare_settings(&a.at[i], &b.at[k]);
    if (order == 0) put_both(&a.at[i], &b.at[k], text.file);
    if (order < 0) put_one(&a.at[i], 0, &b, text.file);
    if (order > 0) put_one(&b.at[k], 1, &a, text.file);
    i += order <= 0;
    k += order >= 0;
  }
  is_whole &= sl_text_close(&text) >= 0;
  free(a.at);
  free(b.at);
  if (is_whole) return text.text;
  free(text.text);
  return NULL;
}
