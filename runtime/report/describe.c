/* describe.c: descriptions of plugins, algorithms and collections from the tables of the plugins, and the wiring of a
 * graph. */
#include "report/describe.h"

#include "base/locale.h"
#include "base/processor.h"
#include "plugin/property.h"
#include "plugin/tables.h"
#include "report/relations.h"
#include "session/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const sl_all_targets[] = {"cpu", "simt", "cuda", "hip", NULL};

const char *sl_kind_name(uint32_t kind) {
  static const char *const names[] = {"kernel", "constant", "source", "sink"};
  return kind < sizeof names / sizeof names[0] ? names[kind] : "?";
}

/* -------------------------------------------------------------------------------------------- relations */

enum { NAMES_COLUMNS = 110 };

/* Writes the algorithms with an output or input of the collection after `heading`; further lines are indented. */
static void write_users(const struct sl_registry *r, const struct sl_collection *c, uint32_t kind, const char *heading,
                        FILE *file) {
  const int indent = (int)strlen(heading);
  int column = fprintf(file, "%s", heading), count = 0;
  for (struct sl_walk walk = {0}; sl_walk_next(r, &walk);) {
    if (!sl_has_port(walk.algorithm, kind, c)) continue;
    char name[256];
    const int length = snprintf(name, sizeof name, "%s.%s", walk.plugin->name, walk.algorithm->name);
    if (count++ > 0) column += fprintf(file, ", ");
    if (column + length > NAMES_COLUMNS && column > indent) column = fprintf(file, "\n%*s", indent, "") - 1;
    column += fprintf(file, "%s", name);
  }
  fprintf(file, "%s\n", count == 0 ? "nothing that was found" : "");
}

/* Writes a line per algorithm that --use can put in the place of this one; completion reads the lines. */
static void write_replacements(const struct sl_registry *r, const struct sl_algorithm *a, FILE *file) {
  for (struct sl_walk walk = {0}; sl_walk_next(r, &walk);) {
    if (!sl_can_replace(walk.algorithm, a)) continue;
    fprintf(file, "  instead    %s.%s", walk.plugin->name, walk.algorithm->name);
    const char *before = ", where there is ";
    uint32_t member = 0;
    for (const struct sl_member *m; (m = sl_next_need(walk.algorithm, a, &member)) != NULL; before = ", ")
      fprintf(file, "%s%s", before, m->collection->name);
    fprintf(file, "\n");
  }
}

/* --------------------------------------------------------------------------------------------- describe */

static void write_term(const struct sl_term *t, FILE *file) {
  switch (t->kind) {
    case SL_TERM_CONSTANT:
      fprintf(file, "%u", t->add);
      return;
    case SL_TERM_EVENTS:
      fprintf(file, "events");
      break;
    case SL_TERM_ITEMS:
      fprintf(file, "items of %s", t->of);
      break;
    case SL_TERM_SUBITEMS:
      fprintf(file, "subitems of %s", t->of);
      break;
    case SL_TERM_ENTRIES:
      fprintf(file, "entries of %s", t->of);
      break;
    case SL_TERM_PROPERTY:
    case SL_TERM_DIMENSION:
      fprintf(file, "%s", t->of);
      break;
    case SL_TERM_EVENT_ENTRIES:
      fprintf(file, "entries of %s x events", t->of);
      break;
    case SL_TERM_BUDGET:
      fprintf(file, "%s x events, at least %u", t->of, t->add);
      return;
    default:
      return;
  }
  if (t->multiply != 1) fprintf(file, " x %u", t->multiply);
  if (t->divide != 1) fprintf(file, " / %u", t->divide);
  if (t->add && t->kind == SL_TERM_DIMENSION) fprintf(file, " %+d", (int32_t)t->add); /* may be negative */
  if (t->add && t->kind != SL_TERM_DIMENSION) fprintf(file, " + %u", t->add);
}

static void write_capacity(const char *what, const struct sl_capacity *c, FILE *file) {
  if (c->terms[0].kind == SL_TERM_NONE) return;
  const int several = c->terms[1].kind != SL_TERM_NONE;
  fprintf(file, "      %s: %s%s", what, several ? sl_combination_name(c->combine) : "", several ? "(" : "");
  for (int i = 0; i < SL_TERMS_MAX && c->terms[i].kind != SL_TERM_NONE; i++) {
    if (i > 0) fprintf(file, ", ");
    write_term(&c->terms[i], file);
  }
  fprintf(file, "%s\n", several ? ")" : "");
}

/* " = 2 in [0, 5] mm"; for an array " of 3 = [1, 2, 3] in [0, 5] mm", with the range of each value. */
static void write_numbers(const struct sl_member *m, FILE *file) {
  char value[SL_NUMBER_TEXT_BYTES], minimum[SL_NUMBER_TEXT_BYTES], maximum[SL_NUMBER_TEXT_BYTES];
  if (m->count > 0) fprintf(file, " of %u", m->count);
  fprintf(file, " = %s in [%s, %s]%s%s",
          m->count > 0 ? m->default_text : sl_number_text(m->type, m->default_value, value),
          sl_number_text(m->type, m->minimum, minimum), sl_number_text(m->type, m->maximum, maximum),
          *m->unit ? " " : "", m->unit);
}

static void write_property(const struct sl_member *m, FILE *file) {
  fprintf(file, "  %-10s %s: %s", m->flags & SL_FLAG_BUDGET ? "budget" : "property", m->name, sl_type_name(m->type));
  if (m->type == SL_TYPE_string)
    fprintf(file, " = \"%s\"", m->default_text ? m->default_text : "");
  else if (m->type == SL_TYPE_enumeration)
    fprintf(file, " = %s of %s", m->default_text, m->choices);
  else if (m->type == SL_TYPE_bool)
    fprintf(file, " = %s", m->default_value != 0 ? "true" : "false");
  else
    write_numbers(m, file);
  fprintf(file, "\n      %s\n", m->doc);
}

static void write_port(const struct sl_registry *r, const struct sl_member *m, FILE *file) {
  const int in = m->kind == SL_MEMBER_IN;
  fprintf(file, "  %-10s %s: %s%s\n      %s\n", in ? "input" : "output", m->name, m->collection->name, sl_input_need(m),
          m->doc);
  if (in) {
    fprintf(file, "      reads: %s\n", m->fields && *m->fields ? m->fields : "all fields");
    write_users(r, m->collection, SL_MEMBER_OUT, "      made by: ", file);
    return;
  }
  for (uint32_t d = 0; d < m->collection->dimension_count; d++) {
    fprintf(file, "      %s: ", m->collection->dimensions[d].name);
    write_term(&m->dimensions[d], file);
    fputc('\n', file);
  }
  if (m->shares) fprintf(file, "      shares the offsets of %s\n", m->shares);
  if (m->in_place) fprintf(file, "      may take the place of %s\n", m->in_place);
  write_capacity("items", &m->capacity, file);
  const uint32_t bounds = sl_bound_count(m->collection);
  for (uint32_t b = 1; b < bounds; b++) {
    char what[160] = "subitems";
    if (bounds > 2)
      snprintf(what, sizeof what, "subitems of %s", m->collection->fields[sl_group_field(m->collection, b)].name);
    write_capacity(what, &m->sub_capacities[b - 1], file);
  }
  write_users(r, m->collection, SL_MEMBER_IN, "      read by: ", file);
}

static void write_open_port(const struct sl_member *m, FILE *file) {
  fprintf(file, "  %-10s %s: each collection with the trait %s; %u found\n      %s\n",
          m->kind == SL_MEMBER_OPEN_IN ? "inputs" : "outputs", m->name, m->trait, m->count, m->doc);
}

static void write_algorithm(const struct sl_registry *r, const struct sl_plugin_entry *e, const struct sl_algorithm *a,
                            FILE *file) {
  fprintf(file, "%s.%s: %s (%s, plugin %s %s, %s)\n", e->plugin->name, a->name, a->doc, sl_kind_name(a->kind),
          e->plugin->name, e->plugin->version, e->path);
  if (a->kind == SL_KIND_KERNEL)
    fprintf(file, "  block size %u%s\n", a->block_threads,
            a->run_tuned ? ", with a version shaped for this target" : "");
  for (uint32_t b = 0; b < a->block_count; b++)
    fprintf(file, "    of kernel %s: %u\n", a->blocks[b].kernel, a->blocks[b].threads);
  if (a->family) fprintf(file, "  family %s: its nodes run in one launch\n", a->family);
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_member *member = &a->members[m];
    if (member->kind == SL_MEMBER_IN || member->kind == SL_MEMBER_OUT) {
      write_port(r, member, file);
    } else if (member->kind == SL_MEMBER_OPEN_IN || member->kind == SL_MEMBER_OPEN_OUT) {
      write_open_port(member, file);
    } else if (member->kind == SL_MEMBER_PROPERTY) {
      write_property(member, file);
    } else if (sl_is_named_field(member)) {
      fprintf(file, "  property   %s: a field%s%s%s%s%s\n      %s\n", member->name, *member->choices ? " of type " : "",
              member->choices, member->items_of ? ", with the items of " : "", member->items_of ? member->items_of : "",
              member->flags & SL_FLAG_OPTIONAL ? ", optional" : "", member->doc);
    } else if (member->kind == SL_MEMBER_COMPUTED) {
      fprintf(file, "  computed   %s: %u bytes\n      %s\n", member->name, member->args_size, member->doc);
    } else if (member->kind == SL_MEMBER_TABLE) {
      fprintf(file, "  table      %s: %s\n      %s\n", member->name, sl_type_name(member->type), member->doc);
    } else if (member->kind == SL_MEMBER_SCRATCH) {
      fprintf(file, "  scratch    %s: %s%s\n      %s\n", member->name, sl_type_name(member->type),
              member->flags & SL_FLAG_TUNED    ? ", of the tuned version only"
              : member->flags & SL_FLAG_SHARED ? ", of variant shared only"
                                               : "",
              member->doc);
      write_capacity("elements", &member->capacity, file);
    }
  }
  for (uint32_t i = 0; i < a->error_count; i++)
    fprintf(file, "  refuses an event: %s (code %u)\n", a->errors[i].text, a->errors[i].code);
  write_replacements(r, a, file);
}

static void write_collection(const struct sl_registry *r, const struct sl_collection *c, FILE *file) {
  fprintf(file, "%s: %s\n", c->name, c->doc);
  if (c->trait)
    fprintf(file, "  trait %s: port `%s` of all that fills or reads such collections\n", c->trait->name,
            c->trait->port);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    char shape[128];
    snprintf(shape, sizeof shape, field->width > 1 ? "%s of %u" : "%s", sl_shape_name(field->shape), field->width);
    if (field->dimensions) snprintf(shape, sizeof shape, "%s by %s", sl_shape_name(field->shape), field->dimensions);
    fprintf(file, "  %-14s %-4s %-16s %-10s %s\n", field->name, sl_type_name(field->type), shape, field->unit,
            field->doc);
  }
  for (uint32_t d = 0; d < c->dimension_count; d++)
    fprintf(file, "  %-14s %-21s %-10s %s\n", c->dimensions[d].name, "dimension", c->dimensions[d].unit,
            c->dimensions[d].doc);
  write_users(r, c, SL_MEMBER_OUT, "  made by: ", file);
  write_users(r, c, SL_MEMBER_IN, "  read by: ", file);
}

static void write_plugin(const struct sl_registry *r, const char *name, FILE *file) {
  for (size_t i = 0; i < r->entry_count; i++) {
    const struct sl_plugin_entry *e = &r->entries[i];
    if (e->status != SL_PLUGIN_LOADED || strcmp(e->plugin->name, name) != 0) continue;
    fprintf(file, "%s %s (%s, %s)\n  %s\n", e->plugin->name, e->plugin->version, e->plugin->target, e->path,
            e->plugin->doc);
    for (uint32_t a = 0; a < e->plugin->algorithm_count; a++)
      fprintf(file, "  %s.%s: %s\n", e->plugin->name, e->plugin->algorithms[a]->name, e->plugin->algorithms[a]->doc);
  }
}

int sl_find_subject(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                    struct sl_registry *registry, struct sl_subject *subject) {
  *registry = (struct sl_registry){0};
  *subject = (struct sl_subject){0};
  const int status = sl_registry_open(plugin_paths, sl_all_targets, registry);
  if (status < 0) return status;
  subject->algorithm = sl_registry_find(registry, name, "cpu", &subject->entry);
  if (!subject->algorithm) subject->collection = sl_registry_collection(registry, name, &subject->entry);
  if (subject->algorithm || subject->collection) return SL_OK;
  for (size_t i = 0; i < registry->entry_count; i++) {
    const struct sl_plugin_entry *e = &registry->entries[i];
    if (e->status == SL_PLUGIN_LOADED && strcmp(e->plugin->name, name) == 0) {
      subject->entry = e;
      return SL_OK;
    }
  }
  const char *absence = sl_registry_reason(registry, name, SL_PLUGIN_ABSENT);
  if (absence) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "there is no '%s': the plugin is absent: %s", name, absence);
    return SL_EINVAL;
  }
  char hint[128], nearest[96];
  const char *best = sl_registry_suggest_any(registry, name, nearest, sizeof nearest);
  snprintf(hint, sizeof hint, best ? "did you mean %s?" : "`sluice list` shows what there is", best);
  sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "there is no algorithm, plugin or collection '%s'", name);
  return SL_EINVAL;
}

SL_ANY_PROCESSOR int sl_write_description(const char *const *plugin_paths, const char *name, struct sl_diagnostics *d,
                                          FILE *file) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_registry r;
  struct sl_subject subject;
  const int status = sl_find_subject(plugin_paths, name, d, &r, &subject);
  if (subject.algorithm)
    write_algorithm(&r, subject.entry, subject.algorithm, file);
  else if (subject.collection)
    write_collection(&r, subject.collection, file);
  else if (subject.entry)
    write_plugin(&r, name, file);
  sl_registry_close(&r);
  return status;
}

/* ----------------------------------------------------------------------------------------------- a graph */

/* The output port that an input reads; of a list port the `k`th one, with its name in brackets. */
static void write_feeder(const struct sl_graph *g, const struct sl_member *input, const struct sl_wiring *wiring,
                         uint32_t k, FILE *file) {
  const struct sl_node *from = &g->nodes[wiring->ports[k].node];
  char name[256];
  if (wiring->names)
    snprintf(name, sizeof name, "%s[%s]", input->name, wiring->names[k]);
  else
    snprintf(name, sizeof name, "%s", input->name);
  const int is_field = (input->flags & SL_FLAG_FIELD) != 0;
  fprintf(file, "    %-16s <- %s.%s%s%s (%s)%s\n", name, from->name,
          from->algorithm->members[wiring->ports[k].member].name, is_field ? "." : "",
          is_field ? input->collection->fields[input->count].name : "", input->collection->name,
          wiring->is_automatic ? ", automatic" : "");
}

int sl_session_write_graph(const struct sl_session *s, int origins, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_graph *g = sl_session_graph(s);
  const char *text = origins ? g->text_with_origins : g->text;
  if (!text) return SL_EINVAL;
  return fputs(text, file) < 0 ? SL_EIO : SL_OK;
}

void sl_session_write_wiring(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE();
  const struct sl_graph *g = sl_session_graph(s);
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    fprintf(file, "%-20s %s\n", node->name, node->use);
    for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
      const struct sl_member *member = &node->algorithm->members[m];
      if (member->kind != SL_MEMBER_IN) continue;
      if (node->inputs[m].count == 0)
        fprintf(file, "    %-16s %s\n", member->name, member->flags & SL_FLAG_LIST ? "none" : "not connected");
      for (uint32_t k = 0; k < node->inputs[m].count; k++) write_feeder(g, member, &node->inputs[m], k, file);
    }
    for (uint32_t l = 0; l < node->list_count; l++)
      fprintf(file, "    %-16s <- %s.%s\n", node->any_list ? "events (any)" : "events",
              g->nodes[node->lists[l].node].name,
              g->nodes[node->lists[l].node].algorithm->members[node->lists[l].member].name);
  }
  fprintf(file, "outputs:");
  for (uint32_t o = 0; o < g->output_count; o++) fprintf(file, " %s", g->outputs[o].name);
  fprintf(file, "\n");
}
