/* describe_json.c: the descriptions of describe.c as JSON, for programs. */
#include "base/locale.h"
#include "base/processor.h"
#include "plugin/property.h"
#include "plugin/tables.h"
#include "report/describe.h"
#include "report/relations.h"

#include <sluice/sluice.h>

#include <string.h>

static void put_term(const char *key, const struct sl_term *t, struct sl_json *j) {
  static const char *const kinds[] = {"",       "constant", "events",        "items",    "subitems",
                                      "budget", "entries",  "event_entries", "property", "dimension"};
  sl_json_begin_object(j, key);
  sl_json_string(j, "kind", kinds[t->kind]);
  if (t->of) sl_json_string(j, "of", t->of);
  if (t->kind != SL_TERM_CONSTANT) {
    sl_json_integer(j, "multiply", t->multiply);
    sl_json_integer(j, "divide", t->divide);
  }
  sl_json_integer(j, t->kind == SL_TERM_BUDGET ? "at_least" : "add",
                  t->kind == SL_TERM_DIMENSION ? (int32_t)t->add : (int64_t)t->add);
  sl_json_end_object(j);
}

static void put_capacity(const char *key, const struct sl_capacity *c, struct sl_json *j) {
  if (c->terms[0].kind == SL_TERM_NONE) return;
  sl_json_begin_object(j, key);
  sl_json_string(j, "combine", sl_combination_name(c->combine));
  sl_json_begin_array(j, "terms");
  for (int i = 0; i < SL_TERMS_MAX && c->terms[i].kind != SL_TERM_NONE; i++) put_term(NULL, &c->terms[i], j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_name(const char *key, const struct sl_walk *walk, struct sl_json *j) {
  char name[256];
  snprintf(name, sizeof name, "%s.%s", walk->plugin->name, walk->algorithm->name);
  sl_json_string(j, key, name);
}

/* The algorithms with an output or input of a collection. */
static void put_users(const char *key, const struct sl_registry *r, const struct sl_collection *c, uint32_t kind,
                      struct sl_json *j) {
  sl_json_begin_array(j, key);
  for (struct sl_walk walk = {0}; sl_walk_next(r, &walk);)
    if (sl_has_port(walk.algorithm, kind, c)) put_name(NULL, &walk, j);
  sl_json_end_array(j);
}

static void put_replacements(const struct sl_registry *r, const struct sl_algorithm *a, struct sl_json *j) {
  sl_json_begin_array(j, "instead");
  for (struct sl_walk walk = {0}; sl_walk_next(r, &walk);) {
    if (!sl_can_replace(walk.algorithm, a)) continue;
    sl_json_begin_object(j, NULL);
    put_name("name", &walk, j);
    sl_json_begin_array(j, "needs");
    uint32_t member = 0;
    for (const struct sl_member *m; (m = sl_next_need(walk.algorithm, a, &member)) != NULL;)
      sl_json_string(j, NULL, m->collection->name);
    sl_json_end_array(j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* The fields that an input reads. */
static void put_fields_read(const struct sl_member *m, struct sl_json *j) {
  sl_json_begin_array(j, "reads");
  for (uint32_t f = 0; f < m->collection->field_count; f++)
    if (sl_field_is_read(m, f)) sl_json_string(j, NULL, m->collection->fields[f].name);
  sl_json_end_array(j);
}

static void put_port(const struct sl_registry *r, const struct sl_member *m, struct sl_json *j) {
  sl_json_string(j, "collection", m->collection->name);
  if (m->kind == SL_MEMBER_IN) {
    sl_json_boolean(j, "optional", (m->flags & SL_FLAG_OPTIONAL) != 0);
    sl_json_boolean(j, "automatic", (m->flags & SL_FLAG_AUTO) != 0);
    sl_json_boolean(j, "list", (m->flags & SL_FLAG_LIST) != 0);
    put_fields_read(m, j);
    put_users("made_by", r, m->collection, SL_MEMBER_OUT, j);
    return;
  }
  put_users("read_by", r, m->collection, SL_MEMBER_IN, j);
  if (m->shares) sl_json_string(j, "shares_offsets_of", m->shares);
  if (m->in_place) sl_json_string(j, "in_place_of", m->in_place);
  if (m->kind == SL_MEMBER_OUT && m->collection->dimension_count) {
    sl_json_begin_object(j, "dimensions");
    for (uint32_t d = 0; d < m->collection->dimension_count; d++)
      put_term(m->collection->dimensions[d].name, &m->dimensions[d], j);
    sl_json_end_object(j);
  }
  put_capacity("items", &m->capacity, j);
  if (sl_bound_count(m->collection) == 1) return;
  sl_json_begin_object(j, "subitems");
  for (uint32_t b = 1; b < sl_bound_count(m->collection); b++)
    put_capacity(m->collection->fields[sl_group_field(m->collection, b)].name, &m->sub_capacities[b - 1], j);
  sl_json_end_object(j);
}

static void put_choices(const struct sl_member *m, struct sl_json *j) {
  char name[256];
  const char *word;
  size_t length;
  sl_json_begin_array(j, "choices");
  for (uint32_t i = 0; *(word = sl_choice_name(m, i, &length)); i++) {
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    sl_json_string(j, NULL, name);
  }
  sl_json_end_array(j);
}

/* An array's default, read from its text. */
static void put_array(const struct sl_member *m, struct sl_json *j) {
  double values[SL_ARRAY_MAX];
  if (!sl_array_read(m->default_text, values, m->count)) return; /* the plugin's check has read it */
  sl_json_integer(j, "count", m->count);
  sl_json_begin_array(j, "default");
  for (uint32_t i = 0; i < m->count; i++) sl_json_number(j, NULL, values[i]);
  sl_json_end_array(j);
}

/* An open port: the names of the ports that replace it. */
static void put_open_port(const struct sl_member *m, struct sl_json *j) {
  sl_json_string(j, "trait", m->trait);
  sl_json_begin_array(j, "ports");
  for (uint32_t i = 1; i <= m->count; i++) sl_json_string(j, NULL, m[i].name);
  sl_json_end_array(j);
}

static void put_property(const struct sl_member *m, struct sl_json *j) {
  sl_json_string(j, "type", sl_type_name(m->type));
  if (m->type == SL_TYPE_string) {
    sl_json_string(j, "default", m->default_text ? m->default_text : "");
  } else if (m->type == SL_TYPE_enumeration) {
    sl_json_string(j, "default", m->default_text);
    put_choices(m, j);
  } else if (m->type == SL_TYPE_bool) {
    sl_json_boolean(j, "default", m->default_value != 0);
  } else {
    if (m->count > 0)
      put_array(m, j);
    else
      sl_json_number(j, "default", m->default_value);
    sl_json_number(j, "minimum", m->minimum);
    sl_json_number(j, "maximum", m->maximum);
  }
  sl_json_string(j, "unit", m->unit ? m->unit : "");
  sl_json_boolean(j, "budget", (m->flags & SL_FLAG_BUDGET) != 0);
}

/* An array of all members of a kind. */
static void put_members(const struct sl_registry *r, const char *key, const struct sl_algorithm *a, uint32_t kind,
                        struct sl_json *j) {
  sl_json_begin_array(j, key);
  for (uint32_t i = 0; i < a->member_count; i++) {
    const struct sl_member *m = &a->members[i];
    const int is_field = sl_is_named_field(m) && kind == SL_MEMBER_PROPERTY;
    if (m->kind != kind && !is_field) continue;
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", m->name);
    sl_json_string(j, "doc", m->doc);
    if (is_field) {
      sl_json_string(j, "type", "field");
      sl_json_string(j, "field_types", m->choices);
      sl_json_boolean(j, "optional", (m->flags & SL_FLAG_OPTIONAL) != 0);
      if (m->items_of) sl_json_string(j, "items_of", m->items_of);
    } else if (kind == SL_MEMBER_PROPERTY) {
      put_property(m, j);
    } else if (kind == SL_MEMBER_COMPUTED) {
      sl_json_integer(j, "bytes", m->args_size);
    } else if (kind == SL_MEMBER_TABLE) {
      sl_json_string(j, "type", sl_type_name(m->type));
    } else if (kind == SL_MEMBER_SCRATCH) {
      sl_json_string(j, "type", sl_type_name(m->type));
      sl_json_string(j, "variant", m->flags & SL_FLAG_TUNED ? "tuned" : m->flags & SL_FLAG_SHARED ? "shared" : NULL);
      put_capacity("elements", &m->capacity, j);
    } else if (kind == SL_MEMBER_OPEN_IN || kind == SL_MEMBER_OPEN_OUT) {
      put_open_port(m, j);
    } else {
      put_port(r, m, j);
    }
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

static void put_plugin_facts(const struct sl_plugin_entry *e, struct sl_json *j) {
  sl_json_string(j, "plugin", e->plugin->name);
  sl_json_string(j, "version", e->plugin->version);
  sl_json_string(j, "target", e->plugin->target);
  sl_json_string(j, "path", e->path);
}

static void put_algorithm(const struct sl_registry *r, const struct sl_plugin_entry *e, const struct sl_algorithm *a,
                          struct sl_json *j) {
  sl_json_string(j, "describes", "algorithm");
  sl_json_string(j, "name", a->name);
  sl_json_string(j, "doc", a->doc);
  sl_json_string(j, "kind", sl_kind_name(a->kind));
  put_plugin_facts(e, j);
  if (a->kind == SL_KIND_KERNEL) {
    sl_json_integer(j, "block", a->block_threads);
    sl_json_boolean(j, "tuned", a->run_tuned != NULL);
    sl_json_begin_object(j, "blocks");
    for (uint32_t b = 0; b < a->block_count; b++) sl_json_integer(j, a->blocks[b].kernel, a->blocks[b].threads);
    sl_json_end_object(j);
    sl_json_string(j, "family", a->family);
  }
  put_members(r, "inputs", a, SL_MEMBER_IN, j);
  put_members(r, "outputs", a, SL_MEMBER_OUT, j);
  put_members(r, "open_inputs", a, SL_MEMBER_OPEN_IN, j);
  put_members(r, "open_outputs", a, SL_MEMBER_OPEN_OUT, j);
  put_members(r, "scratch", a, SL_MEMBER_SCRATCH, j);
  put_members(r, "properties", a, SL_MEMBER_PROPERTY, j);
  put_members(r, "computed", a, SL_MEMBER_COMPUTED, j);
  put_members(r, "tables", a, SL_MEMBER_TABLE, j);
  sl_json_begin_array(j, "errors");
  for (uint32_t i = 0; i < a->error_count; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_integer(j, "code", a->errors[i].code);
    sl_json_string(j, "text", a->errors[i].text);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  put_replacements(r, a, j);
}

/* The names of the axes of a field. */
static void put_dimensions(const char *names, struct sl_json *j) {
  sl_json_begin_array(j, "dimensions");
  while (*names) {
    char name[64];
    const size_t length = strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, names);
    sl_json_string(j, NULL, name);
    names += length + strspn(names + length, ", ");
  }
  sl_json_end_array(j);
}

static void put_collection(const struct sl_registry *r, const struct sl_collection *c, struct sl_json *j) {
  sl_json_string(j, "describes", "collection");
  sl_json_string(j, "name", c->name);
  sl_json_string(j, "doc", c->doc);
  if (c->trait) {
    sl_json_string(j, "trait", c->trait->name);
    sl_json_string(j, "port", c->trait->port);
  }
  sl_json_begin_array(j, "fields");
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", field->name);
    sl_json_string(j, "type", sl_type_name(field->type));
    sl_json_string(j, "shape", sl_shape_name(field->shape));
    if (field->dimensions)
      put_dimensions(field->dimensions, j);
    else
      sl_json_integer(j, "width", field->width);
    sl_json_string(j, "unit", field->unit);
    sl_json_string(j, "doc", field->doc);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  if (c->dimension_count) sl_json_begin_array(j, "dimensions");
  for (uint32_t d = 0; d < c->dimension_count; d++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "name", c->dimensions[d].name);
    sl_json_string(j, "unit", c->dimensions[d].unit);
    sl_json_string(j, "doc", c->dimensions[d].doc);
    sl_json_end_object(j);
  }
  if (c->dimension_count) sl_json_end_array(j);
  put_users("made_by", r, c, SL_MEMBER_OUT, j);
  put_users("read_by", r, c, SL_MEMBER_IN, j);
}

/* A plugin, with its file and algorithms for each target. */
static void put_plugin(const struct sl_registry *r, const struct sl_plugin *plugin, struct sl_json *j) {
  sl_json_string(j, "describes", "plugin");
  sl_json_string(j, "name", plugin->name);
  sl_json_string(j, "doc", plugin->doc);
  sl_json_begin_array(j, "files");
  for (size_t i = 0; i < r->entry_count; i++) {
    const struct sl_plugin_entry *e = &r->entries[i];
    if (e->status != SL_PLUGIN_LOADED || strcmp(e->plugin->name, plugin->name) != 0) continue;
    sl_json_begin_object(j, NULL);
    put_plugin_facts(e, j);
    sl_json_begin_array(j, "algorithms");
    for (uint32_t a = 0; a < e->plugin->algorithm_count; a++) sl_json_string(j, NULL, e->plugin->algorithms[a]->name);
    sl_json_end_array(j);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

SL_ANY_PROCESSOR int sl_write_description_json(const char *const *plugin_paths, const char *name,
                                               struct sl_diagnostics *d, FILE *file) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_registry r;
  struct sl_subject subject;
  int status = sl_find_subject(plugin_paths, name, d, &r, &subject);
  if (status == SL_OK) {
    struct sl_json j;
    sl_json_begin(&j);
    sl_json_begin_object(&j, NULL);
    if (subject.algorithm)
      put_algorithm(&r, subject.entry, subject.algorithm, &j);
    else if (subject.collection)
      put_collection(&r, subject.collection, &j);
    else
      put_plugin(&r, subject.entry->plugin, &j);
    sl_json_end_object(&j);
    status = sl_json_finish(&j, file);
  }
  sl_registry_close(&r);
  return status;
}
