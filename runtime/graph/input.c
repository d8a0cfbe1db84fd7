/* input.c: which source reads the input. Where the command line names files, the algorithm of the source node is the
 * one that recognises the first of them: the graph's own, if it does, else the first one found that does, among the
 * plugins that the graph uses and then among the others. If none does, the graph's stays if it reads files at all, and
 * says what it makes of them when the run begins; else it is an error that names those that were asked.
 *
 * Where a program feeds events from its memory, the same goes for sources that take a feed.
 *
 * What the graph's own source was given by parameters (the seed of a simulation) is dropped without a word where the
 * source of files lacks it, unless the command line sets one of these parameters: then the user expects it to matter.
 */
#include "base/input.h"

#include "graph/stages.h"
#include "plugin/peek.h"

#include <string.h>

static int is_source(const struct sl_algorithm *algorithm) {
  return algorithm != NULL && algorithm->kind == SL_KIND_SOURCE;
}

/* One of files, or of a feed, whichever the input is. */
static int is_of_input_kind(const struct sl_reader *r, const struct sl_algorithm *source) {
  return r->request->is_fed ? source->takes_feed != 0 : source->source->probe != NULL;
}

static int recognises(const struct sl_reader *r, const struct sl_algorithm *source) {
  if (r->request->is_fed) return source->takes_feed != 0;
  return source->source->probe != NULL && source->source->probe(r->request->input_bytes, r->request->input_count) != 0;
}

/* "plugin.algorithm" of the first source of a plugin that recognises the input; NULL if none does. */
static const char *find_source_in(struct sl_reader *r, const struct sl_plugin_entry *entry) {
  if (entry->status != SL_PLUGIN_LOADED || strcmp(entry->file_target, "cpu") != 0) return NULL;
  for (uint32_t k = 0; k < entry->plugin->algorithm_count; k++) {
    const struct sl_algorithm *algorithm = entry->plugin->algorithms[k];
    if (is_source(algorithm) && recognises(r, algorithm))
      return sl_arena_format(r->arena, "%s.%s", entry->plugin->name, algorithm->name);
  }
  return NULL;
}

/* The same of all plugins, in their order: first those that the graph uses, then those whose files may hold a source of
 * that kind, which are opened one by one until a source recognises the input. */
static const char *find_source(struct sl_reader *r) {
  const struct sl_registry *registry = r->request->registry;
  const uint32_t bit = r->request->is_fed ? SL_PEEK_FEED : SL_PEEK_PROBE;
  const char *found = NULL;
  for (size_t i = 0; i < registry->entry_count && found == NULL; i++) found = find_source_in(r, &registry->entries[i]);
  for (size_t i = 0; i < registry->entry_count && found == NULL; i++) {
    const struct sl_plugin_entry *entry = &registry->entries[i];
    if (entry->status != SL_PLUGIN_UNOPENED || strcmp(entry->file_target, "cpu") != 0) continue;
    if (!(sl_plugin_peek(entry->path) & bit)) continue;
    sl_load_plugin(r, i);
    found = find_source_in(r, entry);
  }
  return found;
}

/* "a.b, a.c" of all sources of files in the plugins that are loaded; empty if there is none. */
static const char *list_sources(struct sl_reader *r) {
  const struct sl_registry *registry = r->request->registry;
  const char *list = "";
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *entry = &registry->entries[i];
    if (entry->status != SL_PLUGIN_LOADED || strcmp(entry->file_target, "cpu") != 0) continue;
    for (uint32_t k = 0; k < entry->plugin->algorithm_count; k++) {
      const struct sl_algorithm *algorithm = entry->plugin->algorithms[k];
      if (is_source(algorithm) && algorithm->source->probe != NULL)
        list = sl_arena_format(r->arena, "%s%s%s.%s", list, *list ? ", " : "", entry->plugin->name, algorithm->name);
    }
  }
  return list;
}

/* A source that --use names, and that has no use for the input. */
static void report_useless(struct sl_reader *r, const struct sl_entry *node, const struct sl_tree *use) {
  if (r->request->is_fed)
    sl_report_error(r, use->mark, node->key, NULL, "%s takes no feed: it has no use for the program's events",
                    use->text);
  else
    sl_report_error(r, use->mark, node->key, NULL, "%s reads no files: it has no use for %s", use->text,
                    sl_shown(r, r->request->input_name));
}

static void report_unrecognised(struct sl_reader *r, const struct sl_entry *node, const struct sl_tree *use) {
  if (r->request->is_fed) {
    sl_report_error(r, use->mark, node->key, "`sluice list` shows the plugins found, plugin_paths adds a folder",
                    "no source takes a feed: no plugin that was found has one that does");
    return;
  }
  const char *compression = sl_compression_of(r->request->input_bytes, r->request->input_count);
  if (compression) {
    sl_report_error(r, use->mark, node->key, sl_arena_format(r->arena, SL_COMPRESSED_HINT, compression),
                    "%s is compressed as a whole (%s), and no source reads it", sl_shown(r, r->request->input_name),
                    compression);
    return;
  }
  const char *asked = list_sources(r);
  const char *file = sl_shown(r, r->request->input_name);
  const char *hint = sl_arena_format(r->arena,
                                     "name the one that is to read it: --use %s=PLUGIN.ALGORITHM, or the `use` of the "
                                     "graph; `sluice list` has all",
                                     node->key);
  if (*asked == '\0')
    sl_report_error(r, use->mark, node->key, "`sluice list` shows the plugins found, --plugin-path adds a folder",
                    "no source recognises %s: no plugin that was found has a source of files", file);
  else
    sl_report_error(r, use->mark, node->key, hint, "no source recognises %s; asked were: %s", file, asked);
}

static int is_used(const struct sl_reader *r, const char *node) {
  for (uint32_t i = 0; i < r->request->use_count; i++)
    if (strcmp(r->request->uses[i].key, node) == 0) return 1;
  return 0;
}

/* Does the text refer to a parameter, and the command line set none of those that it refers to? */
static int is_parameter_default(const struct sl_reader *r, const char *text) {
  if (strstr(text, "${") == NULL) return 0;
  for (uint32_t i = 0; i < r->request->set_count; i++)
    if (strstr(text, sl_arena_format(r->arena, "${%s}", r->request->sets[i].key)) != NULL) return 0;
  return 1;
}

static void mark_unasked(struct sl_reader *r, struct sl_tree *set) {
  for (struct sl_entry *entry = set != NULL ? set->first : NULL; entry != NULL; entry = entry->next)
    entry->unasked =
        entry->value != NULL && entry->value->kind == SL_TREE_SCALAR && is_parameter_default(r, entry->value->text);
}

void sl_choose_source(struct sl_reader *r, struct sl_tree *root) {
  const struct sl_graph_request *request = r->request;
  if (request->input_name == NULL && !request->is_fed) return;
  for (struct sl_entry *node = sl_tree_get(root, "nodes")->first; node != NULL; node = node->next) {
    const struct sl_tree *use = sl_tree_get(node->value, "use");
    if (use == NULL || use->kind != SL_TREE_SCALAR) continue;
    const struct sl_algorithm *algorithm = sl_registry_find(request->registry, use->text, request->target, NULL);
    if (!is_source(algorithm)) continue;
    const int is_of_kind = is_of_input_kind(r, algorithm);
    if (is_used(r, node->key)) {
      if (!is_of_kind) report_useless(r, node, use);
      continue;
    }
    if (recognises(r, algorithm)) continue;
    const char *found = find_source(r);
    const struct sl_mark mark = request->is_fed ? sl_mark_option(r, "feed", node->key, found ? found : "")
                                                : sl_mark_option(r, "-i", node->key, request->input_name);
    if (found == NULL) {
      if (!is_of_kind) report_unrecognised(r, node, use);
      continue;
    }
    sl_change_use(r, root, node->key, sl_tree_scalar(r, found, 1, mark));
    mark_unasked(r, sl_tree_get(node->value, "set"));
  }
}
