/* graphs.c: finds a graph that uses an algorithm. Preference: a graph with the algorithm as a node, then a graph where
 * it can replace another algorithm of its kind, as with --use; in both cases graphs where it runs on all events, not on
 * a list. Graphs are read and checked, but not run.
 */
#include "document/find.h"
#include "trial/trial.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- files */

static int add_path(struct trial_graphs *g, const char *path) {
  char **larger = realloc(g->paths, (g->count + 1) * sizeof *larger);
  if (!larger) return SL_ENOMEM;
  g->paths = larger;
  larger[g->count] = strdup(path);
  if (!larger[g->count]) return SL_ENOMEM;
  g->count++;
  return SL_OK;
}

static int is_graph(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Adds the graphs of a folder in alphabetical order. */
static int add_folder(struct trial_graphs *g, const char *folder, struct sl_diagnostics *d) {
  char path[2 * PATH_MAX];
  struct dirent **found = NULL;
  const int count = scandir(folder, &found, is_graph, by_name);
  if (count < 0) {
    if (errno == ENOMEM) return SL_ENOMEM;
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "graphs in %s could not be listed: %s", folder, strerror(errno));
    return SL_EIO;
  }
  int status = SL_OK;
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, found[i]->d_name);
    if (status == SL_OK) status = add_path(g, path);
    free(found[i]);
  }
  free(found);
  return status;
}

int trial_graphs_open(const char *const *given, struct sl_diagnostics *d, struct trial_graphs *g) {
  *g = (struct trial_graphs){.are_given = given && given[0]};
  int status = SL_OK;
  for (size_t i = 0; given && given[i] && status == SL_OK; i++) {
    char found[PATH_MAX];
    status = add_path(g, sl_graph_find(given[i], given[i], found));
  }
  char folder[PATH_MAX];
  for (size_t i = 0; !g->are_given && status == SL_OK && sl_graph_folder(i, folder); i++)
    status = add_folder(g, folder, d);
  return status;
}

void trial_graphs_close(struct trial_graphs *g) {
  for (size_t i = 0; i < g->count; i++) free(g->paths[i]);
  free(g->paths);
  *g = (struct trial_graphs){.paths = NULL};
}

/* -------------------------------------------------------------------------------------------------- nodes */

struct search {
  const struct sl_trial_options *options;
  struct sl_registry *registry;
  const char *name; /* "plugin.algorithm" */
  const struct sl_algorithm *algorithm;
  int are_given, on_lists, with_texts; /* with_texts: nodes with has_text may be replaced */
  struct trial_graph *found;
};

static int is_candidate(const struct search *s, const struct sl_node *node) {
  return node->live && (s->on_lists || node->list_count == 0);
}

/* Reads a graph; with `node`, the algorithm replaces the algorithm of that node. */
static int read_graph(const struct search *s, const char *path, const char *node, struct sl_diagnostics *d,
                      struct sl_graph **graph) {
  const struct sl_override use = {node, s->name};
  const struct sl_graph_request request = {
      .path = path, .target = "cpu", .registry = s->registry, .uses = &use, .use_count = node != NULL};
  return sl_graph_read(&request, d, graph);
}

static int keep(const struct search *s, const char *path, const char *node, int with_use) {
  s->found->node = strdup(node);
  if (!s->found->node) return SL_ENOMEM;
  if (with_use) {
    const size_t bytes = strlen(node) + strlen(s->name) + 2;
    s->found->use = malloc(bytes);
    if (!s->found->use) return SL_ENOMEM;
    snprintf(s->found->use, bytes, "%s=%s", node, s->name);
  }
  const char *slash = s->are_given ? NULL : strrchr(path, '/');
  s->found->path = path;
  s->found->shown = slash ? slash + 1 : path;
  return SL_OK;
}

/* A source is named even if the graph has it, because otherwise the file of -i would choose the source. */
static int find_user(const struct search *s, const char *path, const struct sl_graph *graph) {
  for (uint32_t n = 0; n < graph->node_count; n++)
    if (is_candidate(s, &graph->nodes[n]) && strcmp(graph->nodes[n].use, s->name) == 0)
      return keep(s, path, graph->nodes[n].name, s->algorithm->kind == SL_KIND_SOURCE);
  return SL_OK;
}

/* 1 if the graph sets a property to a text, such as an expression, which is written for the algorithm of the node. */
static int has_text(const struct sl_node *node) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const int is_text = member->kind == SL_MEMBER_PROPERTY && member->type == SL_TYPE_string;
    if (is_text && node->value_locations[m].line > 0) return 1;
  }
  return 0;
}

static int find_replaceable(const struct search *s, const char *path, const struct sl_graph *graph) {
  for (uint32_t n = 0; n < graph->node_count && !s->found->path; n++) {
    const struct sl_node *node = &graph->nodes[n];
    if (!is_candidate(s, node) || node->algorithm->kind != s->algorithm->kind) continue;
    if (!s->with_texts && has_text(node)) continue;
    struct sl_graph *changed = NULL;
    struct sl_diagnostics *unread = sl_diagnostics_new();
    if (!unread) return SL_ENOMEM;
    int status = read_graph(s, path, node->name, unread, &changed);
    sl_diagnostics_free(unread);
    if (status < 0) continue;
    const int32_t index = sl_graph_node_index(changed, node->name);
    if (index != SL_NONE && changed->nodes[index].live) /* a node that is not live has no consumers */
      status = keep(s, path, node->name, 1);
    sl_graph_free(changed);
    if (status < 0) return status;
  }
  return SL_OK;
}

static int search_graphs(const struct search *s, const struct trial_graphs *graphs, struct sl_diagnostics *d,
                         int (*look)(const struct search *, const char *, const struct sl_graph *)) {
  for (size_t i = 0; i < graphs->count && !s->found->path; i++) {
    struct sl_graph *graph = NULL;
    struct sl_diagnostics *unread = graphs->are_given ? NULL : sl_diagnostics_new();
    int status = read_graph(s, graphs->paths[i], NULL, unread ? unread : d, &graph);
    sl_diagnostics_free(unread);
    if (status < 0 && graphs->are_given) return status;
    if (status < 0) continue; /* a graph with plugins that are not available here */
    status = look(s, graphs->paths[i], graph);
    sl_graph_free(graph);
    if (status < 0) return status;
  }
  return SL_OK;
}

int trial_graph_find(const struct trial_graphs *graphs, const struct sl_trial_options *options,
                     struct sl_registry *registry, const char *name, struct sl_diagnostics *d,
                     struct trial_graph *found) {
  *found = (struct trial_graph){.path = NULL};
  struct search s = {options,           registry, name, sl_registry_find(registry, name, "cpu", NULL),
                     graphs->are_given, 0,        0,    found};
  int status = s.algorithm ? SL_OK : SL_EINVAL;
  for (int replace = 0; replace < 3; replace++, s.with_texts = replace == 2)
    for (s.on_lists = 0; s.on_lists < 2 && status == SL_OK && !found->path; s.on_lists++)
      status = search_graphs(&s, graphs, d, replace ? find_replaceable : find_user);
  return status;
}
