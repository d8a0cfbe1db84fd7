/* yaml_tree.c: converts libyaml's events to a tree.
 *
 * Recursive descent with a depth limit. An alias becomes a copy of the anchored value, so that later stages may change
 * values in place; every copied value counts towards SL_LIMIT_VALUES, which limits the expansion. Errors that end the
 * parse (syntax, limits) return NULL through all levels; errors of a single value are reported and the value is
 * omitted.
 */
#include "document/yaml_tree.h"

#include "document/scalar.h"

#include <string.h>
#include <xxhash.h>
#include <yaml.h>

/* The current parse. At most one event exists at a time. */
struct sl_yaml {
  yaml_parser_t parser;
  yaml_event_t event;
  struct sl_text *text;
  struct sl_tree *anchors; /* map from anchor name to value; NULL while the anchored value is being read */
};

/* -------------------------------------------------------------------------------------------------- trees */

struct sl_tree *sl_tree_new(struct sl_reader *r, uint32_t kind, struct sl_mark mark) {
  struct sl_tree *tree = sl_arena_get(r->arena, 1, sizeof *tree);
  tree->kind = kind;
  tree->mark = mark;
  return tree;
}

struct sl_tree *sl_tree_scalar(struct sl_reader *r, const char *text, uint32_t quoted, struct sl_mark mark) {
  struct sl_tree *tree = sl_tree_new(r, SL_TREE_SCALAR, mark);
  tree->text = text;
  tree->quoted = quoted;
  return tree;
}

/* Seeded with an address, so that a file cannot be constructed to cause collisions. */
static uint64_t key_hash(const struct sl_tree *map, const char *key) {
  return XXH3_64bits_withSeed(key, strlen(key), (uint64_t)(uintptr_t)map);
}

static struct sl_entry **index_slot(const struct sl_tree *map, const char *key) {
  const uint32_t mask = map->index_size - 1;
  uint32_t slot = (uint32_t)key_hash(map, key) & mask;
  while (map->index[slot] != NULL && strcmp(map->index[slot]->key, key) != 0) slot = (slot + 1) & mask;
  return &map->index[slot];
}

static void index_grow(struct sl_reader *r, struct sl_tree *map) {
  map->index_size = map->index_size == 0 ? 8 : 2 * map->index_size;
  map->index = sl_arena_get(r->arena, map->index_size, sizeof *map->index);
  for (struct sl_entry *entry = map->first; entry != NULL; entry = entry->next) *index_slot(map, entry->key) = entry;
}

struct sl_entry *sl_tree_find(const struct sl_tree *map, const char *key) {
  return map->index_size > 0 ? *index_slot(map, key) : NULL;
}

struct sl_entry *sl_tree_add(struct sl_reader *r, struct sl_tree *tree, const char *key, struct sl_mark mark,
                             struct sl_tree *value) {
  struct sl_entry *entry = sl_arena_get(r->arena, 1, sizeof *entry);
  *entry = (struct sl_entry){.key = key, .mark = mark, .value = value};
  if (tree->kind == SL_TREE_MAP) {
    if (2 * (tree->count + 1) > tree->index_size) index_grow(r, tree);
    *index_slot(tree, key) = entry;
  }
  if (tree->last != NULL)
    tree->last->next = entry;
  else
    tree->first = entry;
  tree->last = entry;
  tree->count++;
  return entry;
}

struct sl_tree *sl_tree_get(const struct sl_tree *map, const char *key) {
  const struct sl_entry *entry = map != NULL ? sl_tree_find(map, key) : NULL;
  return entry != NULL ? entry->value : NULL;
}

struct sl_tree *sl_tree_copy(struct sl_reader *r, const struct sl_tree *tree) {
  struct sl_tree *copy = sl_tree_new(r, tree->kind, tree->mark);
  copy->quoted = tree->quoted;
  copy->begins = tree->begins;
  copy->text = tree->text;
  for (const struct sl_entry *entry = tree->first; entry != NULL; entry = entry->next)
    sl_tree_add(r, copy, entry->key, entry->mark, entry->value != NULL ? sl_tree_copy(r, entry->value) : NULL)
        ->refused = entry->refused;
  return copy;
}

void sl_tree_refuse(struct sl_entry *entry) {
  entry->value = NULL;
  entry->refused = 1;
}

int sl_tree_was_refused(const struct sl_tree *map, const char *key) {
  const struct sl_entry *entry = map != NULL ? sl_tree_find(map, key) : NULL;
  return entry != NULL && entry->value == NULL && entry->refused;
}

int sl_tree_is_null(const struct sl_tree *tree) {
  return tree->kind == SL_TREE_SCALAR && sl_scalar_parse(tree->text, tree->quoted).kind == SL_SCALAR_NULL;
}

int sl_tree_is_all(const struct sl_tree *tree) {
  return tree->kind == SL_TREE_SCALAR && strcmp(tree->text, "all") == 0;
}

const char *sl_tree_kind_text(uint32_t kind) {
  return kind == SL_TREE_MAP ? "a map" : kind == SL_TREE_LIST ? "a list" : "a single value";
}

/* ------------------------------------------------------------------------------------------------- events */

static struct sl_mark event_mark(const struct sl_yaml *yaml) {
  const yaml_mark_t *at = &yaml->event.start_mark;
  return (struct sl_mark){yaml->text, (uint32_t)at->line + 1, (uint32_t)at->column + 1};
}

static void report_parser(struct sl_reader *r) {
  const yaml_parser_t *parser = &r->yaml->parser;
  const char *problem = parser->problem != NULL ? parser->problem : "the text is not YAML";
  if (parser->error == YAML_MEMORY_ERROR) longjmp(r->arena->failed, SL_ARENA_OUT_OF_MEMORY);
  if (parser->error == YAML_READER_ERROR) {
    sl_report_error(r, sl_mark_at_byte(r, r->yaml->text, parser->problem_offset), NULL, NULL, "%s", problem);
    return;
  }
  const struct sl_mark mark = {r->yaml->text, (uint32_t)parser->problem_mark.line + 1,
                               (uint32_t)parser->problem_mark.column + 1};
  if (parser->context != NULL && parser->context_mark.line != parser->problem_mark.line)
    sl_report_error(r, mark, NULL, NULL, "%s (%s that begins on line %u)", problem, parser->context,
                    (uint32_t)parser->context_mark.line + 1);
  else
    sl_report_error(r, mark, NULL, NULL, "%s", problem);
}

/* Replaces the current event by the next one; returns 0 with the error reported. */
static int next_event(struct sl_reader *r) {
  yaml_event_delete(&r->yaml->event);
  if (yaml_parser_parse(&r->yaml->parser, &r->yaml->event)) return 1;
  report_parser(r);
  return 0;
}

static int count_values(struct sl_reader *r, struct sl_mark mark, uint32_t count) {
  r->value_count += count;
  if (r->value_count <= SL_LIMIT_VALUES) return 1;
  sl_report_error(r, mark, NULL, NULL, "the graph has more than %d values, with aliases expanded", SL_LIMIT_VALUES);
  return 0;
}

static uint32_t values_in(const struct sl_tree *tree) {
  uint32_t count = 1;
  for (const struct sl_entry *entry = tree->first; entry != NULL; entry = entry->next)
    if (entry->value != NULL) count += values_in(entry->value);
  return count;
}

static uint32_t depth_of(const struct sl_tree *tree) {
  uint32_t deepest = 0;
  for (const struct sl_entry *entry = tree->first; entry != NULL; entry = entry->next) {
    const uint32_t depth = entry->value != NULL ? depth_of(entry->value) : 0;
    if (depth > deepest) deepest = depth;
  }
  return deepest + 1;
}

/* ------------------------------------------------------------------------------------------------- values */

/* Placeholder for a value that was refused with a message. */
static struct sl_tree *refused(struct sl_reader *r, struct sl_mark mark) { return sl_tree_new(r, 0, mark); }

static int too_deep(struct sl_reader *r, struct sl_mark mark, uint32_t depth) {
  if (depth <= SL_LIMIT_DEPTH) return 0;
  sl_report_error(r, mark, NULL, NULL, "maps and lists are nested more than %d deep", SL_LIMIT_DEPTH);
  return 1;
}

static struct sl_tree *read_alias(struct sl_reader *r, uint32_t depth) {
  const struct sl_mark mark = event_mark(r->yaml);
  const char *name = (const char *)r->yaml->event.data.alias.anchor;
  const struct sl_entry *anchor = sl_tree_find(r->yaml->anchors, name);
  if (anchor == NULL) {
    struct sl_guess guess;
    sl_guess_begin(r, &guess, name);
    for (const struct sl_entry *other = r->yaml->anchors->first; other != NULL; other = other->next)
      sl_guess_offer(&guess, other->key);
    sl_report_error(r, mark, NULL, sl_guess_hint(r, &guess), "there is no anchor &%s before this alias",
                    sl_shown(r, name));
    return refused(r, mark);
  }
  if (anchor->value == NULL) {
    sl_report_error(r, mark, NULL, NULL, "the alias *%s is within its own anchor", sl_shown(r, name));
    return refused(r, mark);
  }
  if (!count_values(r, mark, values_in(anchor->value))) return NULL;
  if (too_deep(r, mark, depth + depth_of(anchor->value) - 1)) return NULL;
  return sl_tree_copy(r, anchor->value);
}

/* Opens the anchor of the current event, if it has one. An anchor name may be reused and then means the new value (YAML
 * 1.2, 7.1); earlier aliases are copies and keep the old value. */
static struct sl_entry *open_anchor(struct sl_reader *r, const yaml_char_t *anchor) {
  if (anchor == NULL) return NULL;
  const char *name = (const char *)anchor;
  const struct sl_mark mark = event_mark(r->yaml);
  struct sl_entry *entry = sl_tree_find(r->yaml->anchors, name);
  if (entry == NULL) return sl_tree_add(r, r->yaml->anchors, sl_arena_text(r->arena, name, strlen(name)), mark, NULL);
  entry->mark = mark;
  entry->value = NULL;
  return entry;
}

static void refuse_tag(struct sl_reader *r, const yaml_char_t *tag) {
  if (tag != NULL)
    sl_report_error(r, event_mark(r->yaml), NULL, "quote a value to make it a string", "tags are not supported");
}

/* Returns 1 + the number of characters before the text, or 0 if escapes, line breaks or indentation make the written
 * form longer than the text. */
static uint32_t text_offset(const yaml_event_t *event) {
  const int quotes = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  size_t characters = 0;
  for (size_t i = 0; i < event->data.scalar.length; i++) characters += (event->data.scalar.value[i] & 0xC0) != 0x80;
  const int is_plain = event->start_mark.line == event->end_mark.line &&
                       event->end_mark.column - event->start_mark.column == characters + 2 * (size_t)quotes;
  return is_plain ? 1 + (uint32_t)quotes : 0;
}

static struct sl_tree *read_scalar(struct sl_reader *r) {
  const struct sl_mark mark = event_mark(r->yaml);
  const char *text = (const char *)r->yaml->event.data.scalar.value;
  const size_t bytes = r->yaml->event.data.scalar.length;
  refuse_tag(r, r->yaml->event.data.scalar.tag);
  struct sl_entry *anchor = open_anchor(r, r->yaml->event.data.scalar.anchor);
  struct sl_tree *scalar;
  if (strlen(text) != bytes) {
    sl_report_error(r, mark, NULL, NULL, "a value contains a zero character");
    scalar = refused(r, mark);
  } else {
    scalar = sl_tree_scalar(r, sl_arena_text(r->arena, text, bytes),
                            r->yaml->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE, mark);
    scalar->begins = text_offset(&r->yaml->event);
  }
  if (anchor != NULL) anchor->value = scalar;
  return scalar;
}

static struct sl_tree *read_value(struct sl_reader *r, uint32_t depth);

static void add_read(struct sl_reader *r, struct sl_tree *tree, const char *key, struct sl_mark mark,
                     struct sl_tree *value) {
  struct sl_entry *entry = sl_tree_add(r, tree, key, mark, value);
  if (value->kind == 0) sl_tree_refuse(entry);
}

static struct sl_tree *read_list(struct sl_reader *r, uint32_t depth) {
  struct sl_tree *list = sl_tree_new(r, SL_TREE_LIST, event_mark(r->yaml));
  refuse_tag(r, r->yaml->event.data.sequence_start.tag);
  struct sl_entry *anchor = open_anchor(r, r->yaml->event.data.sequence_start.anchor);
  for (;;) {
    if (!next_event(r)) return NULL;
    if (r->yaml->event.type == YAML_SEQUENCE_END_EVENT) break;
    struct sl_tree *item = read_value(r, depth + 1);
    if (item == NULL) return NULL;
    add_read(r, list, NULL, item->mark, item);
  }
  if (anchor != NULL) anchor->value = list;
  return list;
}

/* Returns the text of a valid key, or NULL with the error reported. */
static const char *check_key(struct sl_reader *r, const struct sl_tree *map, const struct sl_tree *key) {
  if (key->kind == 0) return NULL;
  if (key->kind != SL_TREE_SCALAR || strlen(key->text) > SL_LIMIT_KEY_BYTES) {
    sl_report_error(r, key->mark, NULL, NULL, "a key is one word of at most %d bytes", SL_LIMIT_KEY_BYTES);
    return NULL;
  }
  const struct sl_entry *first = sl_tree_find(map, key->text);
  if (first != NULL) {
    sl_report_error(r, key->mark, NULL, NULL, "the key `%s` was already given on line %u", key->text, first->mark.line);
    return NULL;
  }
  return key->text;
}

static struct sl_tree *read_map(struct sl_reader *r, uint32_t depth) {
  struct sl_tree *map = sl_tree_new(r, SL_TREE_MAP, event_mark(r->yaml));
  refuse_tag(r, r->yaml->event.data.mapping_start.tag);
  struct sl_entry *anchor = open_anchor(r, r->yaml->event.data.mapping_start.anchor);
  for (;;) {
    if (!next_event(r)) return NULL;
    if (r->yaml->event.type == YAML_MAPPING_END_EVENT) break;
    const struct sl_tree *key = read_value(r, depth + 1);
    if (key == NULL || !next_event(r)) return NULL;
    struct sl_tree *value = read_value(r, depth + 1);
    if (value == NULL) return NULL;
    const char *name = check_key(r, map, key);
    if (name != NULL) add_read(r, map, name, key->mark, value);
  }
  if (anchor != NULL) anchor->value = map;
  return map;
}

/* Reads the value that begins with the current event. NULL ends the parse; kind 0 is a refused value. */
static struct sl_tree *read_value(struct sl_reader *r, uint32_t depth) {
  const struct sl_mark mark = event_mark(r->yaml);
  if (r->yaml->event.type == YAML_ALIAS_EVENT) return read_alias(r, depth);
  if (!count_values(r, mark, 1)) return NULL;
  if (r->yaml->event.type == YAML_SCALAR_EVENT) return read_scalar(r);
  if (too_deep(r, mark, depth)) return NULL;
  return r->yaml->event.type == YAML_SEQUENCE_START_EVENT ? read_list(r, depth) : read_map(r, depth);
}

/* ---------------------------------------------------------------------------------------------- documents */

/* Reads the events around the value: stream start, document start, value, document end, stream end. */
static struct sl_tree *read_document(struct sl_reader *r) {
  if (!next_event(r) || !next_event(r)) return NULL;
  if (r->yaml->event.type == YAML_STREAM_END_EVENT) {
    sl_report_error(r, (struct sl_mark){r->yaml->text, 1, 1}, NULL, NULL, "the file is empty");
    return NULL;
  }
  if (!next_event(r)) return NULL;
  struct sl_tree *tree = read_value(r, 1);
  if (tree == NULL || !next_event(r) || !next_event(r)) return NULL;
  if (r->yaml->event.type != YAML_STREAM_END_EVENT) {
    sl_report_error(r, event_mark(r->yaml), NULL, NULL,
                    "a file can contain only one document; a second one begins here");
    return NULL;
  }
  return tree;
}

/* libyaml compares each %TAG line with all earlier ones, so that many of them take seconds. Tags are refused in any
 * case. */
static int has_tag_directive(const struct sl_text *text) {
  static const char directive[] = "%TAG";
  const char *end = text->text + text->bytes;
  for (const char *at = text->text; (at = memchr(at, '%', (size_t)(end - at))) != NULL; at++) {
    const unsigned char before = at > text->text ? (unsigned char)at[-1] : '\n';
    const int begins_line = before < ' ' || before >= 0x80; /* or possibly does, after an unusual line break */
    if (begins_line && (size_t)(end - at) >= strlen(directive) && memcmp(at, directive, strlen(directive)) == 0)
      return 1;
  }
  return 0;
}

struct sl_tree *sl_tree_read(struct sl_reader *r, struct sl_text *text) {
  if (has_tag_directive(text)) {
    sl_report_error(r, (struct sl_mark){text, 0, 0}, NULL, NULL, "tags and %%TAG are not supported");
    return NULL;
  }
  struct sl_yaml *yaml = sl_arena_get(r->arena, 1, sizeof *yaml);
  yaml->text = text;
  yaml->anchors = sl_tree_new(r, SL_TREE_MAP, (struct sl_mark){text, 0, 0});
  if (!yaml_parser_initialize(&yaml->parser)) longjmp(r->arena->failed, SL_ARENA_OUT_OF_MEMORY);
  r->yaml = yaml;
  yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&yaml->parser, (const unsigned char *)text->text, text->bytes);
  struct sl_tree *tree = read_document(r);
  sl_yaml_close(r);
  return tree;
}

void sl_yaml_close(struct sl_reader *r) {
  if (r->yaml == NULL) return;
  yaml_event_delete(&r->yaml->event);
  yaml_parser_delete(&r->yaml->parser);
  r->yaml = NULL;
}
