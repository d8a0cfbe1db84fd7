/* input.c: chooses the source that reads the input: files named on the command line, or events that a program feeds.
 *
 * 1. The algorithm that --use or the graph names for the source node, if it is of that kind: a source of files, or a
 *    source that takes a feed.
 * 2. Otherwise the candidates are all sources of that kind in the plugins found; a plugin is not opened if its sources
 *    have signatures that the first file lacks. A source of files is a candidate if it recognises the first file. A
 *    pipe may have delivered too few bytes to be recognised: if no source recognises them, the candidates are the
 *    sources that recognise a file without bytes.
 * 3. If there are several candidates, drop each one that lacks a port which another node reads and another candidate
 *    provides.
 * 4. A single candidate replaces the graph's source. Several candidates, or none, are an error that lists them.
 *
 * A property that the graph's own source takes from a parameter (the seed of a simulation) is dropped silently if the
 * new source lacks it, unless the command line sets the parameter: then the user expects an effect.
 */
#include "base/input.h"

#include "graph/stages.h"
#include "plugin/peek.h"
#include "plugin/tables.h"

#include <string.h>

enum { CANDIDATES_MAX = 16 };

struct candidate {
  const char *name; /* "plugin.algorithm" */
  const struct sl_algorithm *algorithm;
  int lacks_port; /* lacks a needed port that another candidate provides */
};

struct choice {
  struct sl_reader *reader;
  const struct sl_tree *root;
  const char *node; /* name of the source node */
  struct candidate candidates[CANDIDATES_MAX];
  uint32_t count;
};

static int is_source(const struct sl_algorithm *algorithm) {
  return algorithm != NULL && algorithm->kind == SL_KIND_SOURCE;
}

static int is_of_input_kind(const struct sl_reader *r, const struct sl_algorithm *source) {
  if (r->request->arrays_source != NULL) return 1;
  return r->request->is_fed ? source->takes_feed != 0 : source->source->probe != NULL;
}

static const struct sl_algorithm *find_algorithm(const struct sl_reader *r, const char *name,
                                                 const struct sl_plugin_entry **entry) {
  return sl_registry_find(r->request->registry, name, r->request->target, entry);
}

/* ------------------------------------------------------------------------------------------- candidates */

static void load_sources(struct sl_reader *r) {
  const struct sl_registry *registry = r->request->registry;
  const uint32_t bit = r->request->is_fed ? SL_PEEK_FEED : SL_PEEK_PROBE;
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *entry = &registry->entries[i];
    if (entry->status == SL_PLUGIN_UNOPENED && strcmp(entry->file_target, "cpu") == 0 &&
        sl_plugin_peek(entry->path, r->request->input_bytes, r->request->input_count) & bit)
      sl_load_plugin(r, i);
  }
}

/* Adds the sources of the input's kind. A source of files must recognise the first `bytes`; NULL: any source. */
static void add_candidates(struct choice *c, const unsigned char *bytes, size_t count) {
  struct sl_reader *r = c->reader;
  const struct sl_registry *registry = r->request->registry;
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *entry = &registry->entries[i], *found = NULL;
    if (entry->status != SL_PLUGIN_LOADED || strcmp(entry->file_target, "cpu") != 0) continue;
    for (uint32_t k = 0; k < entry->plugin->algorithm_count && c->count < CANDIDATES_MAX; k++) {
      const struct sl_algorithm *algorithm = entry->plugin->algorithms[k];
      if (!is_source(algorithm) || !is_of_input_kind(r, algorithm)) continue;
      if (bytes != NULL && !algorithm->source->probe(bytes, count)) continue;
      const char *name = sl_arena_format(r->arena, "%s.%s", entry->plugin->name, algorithm->name);
      if (find_algorithm(r, name, &found) != NULL && found == entry)
        c->candidates[c->count++] = (struct candidate){name, algorithm, 0};
    }
  }
}

static void find_candidates(struct choice *c) {
  const struct sl_graph_request *request = c->reader->request;
  load_sources(c->reader);
  if (request->is_fed)
    add_candidates(c, NULL, 0);
  else
    add_candidates(c, request->input_bytes, request->input_count);
  if (c->count == 0 && request->input_is_pipe) add_candidates(c, request->input_bytes, 0);
}

/* Returns "a.b, a.c"; empty if there are no candidates. */
static const char *list_candidates(const struct choice *c) {
  const char *list = "";
  for (uint32_t i = 0; i < c->count; i++)
    list = sl_arena_format(c->reader->arena, "%s%s%s", list, i > 0 ? ", " : "", c->candidates[i].name);
  return list;
}

/* ------------------------------------------------------------------------------------------------- ports */

/* Returns 1 if the algorithm provides the port of that name or, if `port` is NULL, a port of that collection. */
static int provides(const struct sl_algorithm *algorithm, const char *port, const char *collection) {
  for (uint32_t m = 0; algorithm != NULL && m < algorithm->member_count; m++) {
    const struct sl_member *member = &algorithm->members[m];
    if (member->kind != SL_MEMBER_OUT) continue;
    if (strcmp(port != NULL ? member->name : member->collection->name, port != NULL ? port : collection) == 0) return 1;
  }
  return 0;
}

/* Requires a port: candidates without it are excluded if another candidate provides it. */
static void require(struct choice *c, const char *port, const char *collection) {
  int is_provided = 0;
  for (uint32_t i = 0; i < c->count; i++) is_provided |= provides(c->candidates[i].algorithm, port, collection);
  for (uint32_t i = 0; i < c->count && is_provided; i++)
    c->candidates[i].lacks_port |= !provides(c->candidates[i].algorithm, port, collection);
}

/* Requires the ports of the source that a scalar, or each scalar of a list or map, names: NODE.PORT, or NODE alone for
 * the port of the collection. */
static void require_named(struct choice *c, const struct sl_tree *tree, const char *collection) {
  if (tree == NULL) return;
  for (const struct sl_entry *entry = tree->first; entry != NULL; entry = entry->next)
    require_named(c, entry->value, collection);
  const size_t bytes = strlen(c->node);
  if (tree->kind != SL_TREE_SCALAR || strncmp(tree->text, c->node, bytes) != 0) return;
  if (tree->text[bytes] == '.') require(c, tree->text + bytes + 1, NULL);
  if (tree->text[bytes] == '\0' && collection != NULL) require(c, NULL, collection);
}

static int is_provided_elsewhere(const struct choice *c, const char *collection) {
  for (const struct sl_entry *node = sl_tree_get(c->root, "nodes")->first; node != NULL; node = node->next) {
    const struct sl_tree *use = sl_tree_get(node->value, "use");
    if (use == NULL || use->kind != SL_TREE_SCALAR || strcmp(node->key, c->node) == 0) continue;
    if (provides(find_algorithm(c->reader, use->text, NULL), NULL, collection)) return 1;
  }
  return 0;
}

static void require_inputs(struct choice *c, const struct sl_entry *node, const struct sl_algorithm *algorithm) {
  const struct sl_tree *in = sl_tree_get(node->value, "in");
  for (uint32_t m = 0; m < algorithm->member_count; m++) {
    const struct sl_member *input = &algorithm->members[m];
    if (input->kind != SL_MEMBER_IN) continue;
    const struct sl_tree *given = sl_tree_get(in, input->name);
    const uint32_t is_optional = (input->flags & (SL_FLAG_OPTIONAL | SL_FLAG_AUTO)) == SL_FLAG_OPTIONAL ||
                                 (input->flags & (SL_FLAG_LIST | SL_FLAG_FIELD)) || sl_is_event_list(input->collection);
    if (given != NULL)
      require_named(c, given, input->collection->name);
    else if (!is_optional && !is_provided_elsewhere(c, input->collection->name))
      require(c, NULL, input->collection->name);
  }
}

/* Excludes candidates that lack a port which the graph reads and another candidate provides. */
static void compare_ports(struct choice *c) {
  sl_expand_plugins(c->reader);
  for (uint32_t i = 0; i < c->count; i++)
    c->candidates[i].algorithm = find_algorithm(c->reader, c->candidates[i].name, NULL);
  for (const struct sl_entry *node = sl_tree_get(c->root, "nodes")->first; node != NULL; node = node->next) {
    const struct sl_tree *use = sl_tree_get(node->value, "use");
    if (use == NULL || use->kind != SL_TREE_SCALAR || strcmp(node->key, c->node) == 0) continue;
    const struct sl_algorithm *algorithm = find_algorithm(c->reader, use->text, NULL);
    if (algorithm != NULL) require_inputs(c, node, algorithm);
  }
  require_named(c, sl_tree_get(c->root, "outputs"), NULL);
}

/* ---------------------------------------------------------------------------------------------- messages */

static void report_unusable(struct sl_reader *r, const struct sl_entry *node, const struct sl_tree *use) {
  if (r->request->is_fed)
    sl_report_error(r, use->mark, node->key, NULL, "%s does not take a feed, so it cannot read the program's events",
                    use->text);
  else
    sl_report_error(r, use->mark, node->key, NULL, "%s does not read files, so it cannot read %s", use->text,
                    sl_shown(r, r->request->input_name));
}

static void report_unrecognised(struct sl_reader *r, const struct sl_entry *node, const struct sl_tree *use) {
  if (r->request->is_fed) {
    sl_report_error(r, use->mark, node->key, "`sluice list` shows the plugins found, plugin_paths adds a folder",
                    "no source takes a feed: none of the plugins found contains one");
    return;
  }
  if (r->request->input_is_refused != NULL) *r->request->input_is_refused = 1;
  const char *compression = sl_compression_of(r->request->input_bytes, r->request->input_count);
  if (compression) {
    sl_report_error(r, use->mark, node->key, sl_arena_format(r->arena, SL_COMPRESSED_HINT, compression),
                    "%s is compressed as a whole (%s); no source can read it", sl_shown(r, r->request->input_name),
                    compression);
    return;
  }
  struct choice all = {.reader = r};
  add_candidates(&all, NULL, 0);
  const char *tried = list_candidates(&all);
  const char *file = sl_shown(r, r->request->input_name);
  const char *hint = sl_arena_format(
      r->arena, "name the source: --use %s=PLUGIN.ALGORITHM, or `use` in the graph; `sluice list` shows all",
      node->key);
  if (*tried == '\0')
    sl_report_error(r, use->mark, node->key, "`sluice list` shows the plugins found, --plugin-path adds a folder",
                    "no source recognises %s: none of the plugins found contains a source of files", file);
  else
    sl_report_error(r, use->mark, node->key, hint, "no source recognises %s; tried: %s", file, tried);
}

static void report_several(const struct choice *c, const struct sl_tree *use) {
  struct sl_reader *r = c->reader;
  const char *what = r->request->is_fed
                         ? "take a feed"
                         : sl_arena_format(r->arena, "recognise %s", sl_shown(r, r->request->input_name));
  sl_report_error(
      r, use->mark, c->node,
      sl_arena_format(r->arena, "name the source: --use %s=%s, or `use` in the graph", c->node, c->candidates[0].name),
      "several sources %s and provide the ports that the graph reads: %s", what, list_candidates(c));
}

/* ------------------------------------------------------------------------------------------------ choice */

static int is_used(const struct sl_reader *r, const char *node) {
  for (uint32_t i = 0; i < r->request->use_count; i++)
    if (strcmp(r->request->uses[i].key, node) == 0) return 1;
  return 0;
}

/* Returns 1 if the text refers to a parameter, and the command line sets no parameter that it refers to. */
static int is_parameter_default(const struct sl_reader *r, const char *text) {
  if (strstr(text, "${") == NULL) return 0;
  for (uint32_t i = 0; i < r->request->set_count; i++)
    if (strstr(text, sl_arena_format(r->arena, "${%s}", r->request->sets[i].key)) != NULL) return 0;
  return 1;
}

static void mark_silent(struct sl_reader *r, struct sl_tree *set) {
  for (struct sl_entry *entry = set != NULL ? set->first : NULL; entry != NULL; entry = entry->next)
    entry->is_silent =
        entry->value != NULL && entry->value->kind == SL_TREE_SCALAR && is_parameter_default(r, entry->value->text);
}

/* Returns the only remaining candidate; NULL with the error reported if there is none or more than one. */
static const char *choose(struct choice *c, const struct sl_entry *node, const struct sl_tree *use) {
  find_candidates(c);
  if (c->count == 0) {
    report_unrecognised(c->reader, node, use);
    return NULL;
  }
  if (c->count > 1) compare_ports(c);
  uint32_t remaining = 0;
  for (uint32_t i = 0; i < c->count; i++)
    if (!c->candidates[i].lacks_port) c->candidates[remaining++] = c->candidates[i];
  if (remaining > 0) c->count = remaining;
  if (c->count == 1) return c->candidates[0].name;
  report_several(c, use);
  return NULL;
}

void sl_choose_source(struct sl_reader *r, struct sl_tree *root) {
  const struct sl_graph_request *request = r->request;
  if (request->input_name == NULL && !request->is_fed) return;
  for (struct sl_entry *node = sl_tree_get(root, "nodes")->first; node != NULL; node = node->next) {
    const struct sl_tree *use = sl_tree_get(node->value, "use");
    if (use == NULL || use->kind != SL_TREE_SCALAR) continue;
    const struct sl_algorithm *algorithm = find_algorithm(r, use->text, NULL);
    if (!is_source(algorithm) || is_of_input_kind(r, algorithm)) continue;
    if (is_used(r, node->key)) {
      report_unusable(r, node, use);
      continue;
    }
    struct choice choice = {.reader = r, .root = root, .node = node->key};
    const char *found = choose(&choice, node, use);
    if (found == NULL) continue;
    const struct sl_mark mark = request->is_fed
                                    ? sl_mark_option(r, "feed", node->key, found)
                                    : sl_mark_option(r, request->input_option, node->key, request->input_name);
    sl_change_use(r, root, node->key, sl_tree_scalar(r, found, 1, mark));
    mark_silent(r, sl_tree_get(node->value, "set"));
  }
}
