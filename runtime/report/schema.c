/* schema.c: the JSON Schema (draft-07) of graphs, for editors and for programs that write graphs.
 *
 * Made from the tables of the plugins found: the names that `use` can have; for each, the properties with types,
 * ranges, units and docs, and the inputs. `sluice check` checks the rest, which one file does not determine: wiring,
 * names of other nodes, and nodes with their `use` in an included file. Every value may be null, which removes it; a
 * string with
 * `${` may become any value. Correct graphs pass; a graph that does not pass is wrong. */
#include "base/locale.h"
#include "base/processor.h"
#include "plugin/property.h"
#include "plugin/tables.h"
#include "report/describe.h"

#include <sluice/sluice.h>

#include <string.h>

/* "key": {"$ref": "#/definitions/..."} */
static void put_reference(const char *key, const char *definition, struct sl_json *j) {
  char path[64];
  snprintf(path, sizeof path, "#/definitions/%s", definition);
  sl_json_begin_object(j, key);
  sl_json_string(j, "$ref", path);
  sl_json_end_object(j);
}

static void put_types(struct sl_json *j, const char *const *types) {
  sl_json_begin_array(j, "type");
  for (; *types; types++) sl_json_string(j, NULL, *types);
  sl_json_end_array(j);
}

static const char *const map_or_null[] = {"object", "null", NULL};
static const char *const list_text_or_null[] = {"array", "string", "null", NULL};
static const char *const list_or_null[] = {"array", "null", NULL};
static const char *const text_or_null[] = {"string", "null", NULL};
static const char a_name[] = "^[A-Za-z_][A-Za-z0-9_]*$";
static const char *const scalars[] = {"string", "number", "boolean", "null", NULL};
static const char *const properties[] = {"string", "number", "boolean", "array", "null", NULL};

/* The end of every map: `x-` keys of the user are allowed, others are not. */
static void put_no_other_keys(struct sl_json *j) {
  sl_json_begin_object(j, "patternProperties");
  sl_json_begin_object(j, "^x-");
  sl_json_end_object(j);
  sl_json_end_object(j);
  sl_json_boolean(j, "additionalProperties", 0);
}

/* A map from names to values of one definition. */
static void put_map(const char *key, const char *doc, const char *names, const char *value, struct sl_json *j) {
  sl_json_begin_object(j, key);
  sl_json_string(j, "description", doc);
  put_types(j, map_or_null);
  sl_json_begin_object(j, "patternProperties");
  sl_json_begin_object(j, "^x-");
  sl_json_end_object(j);
  put_reference(names, value, j);
  sl_json_end_object(j);
  sl_json_boolean(j, "additionalProperties", 0);
  sl_json_end_object(j);
}

static void put_texts(const char *const *types, struct sl_json *j) {
  put_types(j, types);
  sl_json_begin_object(j, "items");
  sl_json_string(j, "type", "string");
  sl_json_end_object(j);
}

static void put_list(const char *key, const char *doc, struct sl_json *j) {
  sl_json_begin_object(j, key);
  sl_json_string(j, "description", doc);
  put_texts(list_or_null, j);
  sl_json_end_object(j);
}

/* A list, or `all`, also as a parameter. */
static void put_outputs_of_graph(struct sl_json *j) {
  sl_json_begin_object(j, "outputs");
  sl_json_string(j, "description", "output ports of the graph, NODE or NODE.PORT; ...: those of earlier files; or all");
  put_texts(list_text_or_null, j);
  sl_json_string(j, "pattern", "^(all|.*[$][{].*)$");
  sl_json_end_object(j);
}

/* --------------------------------------------------------------------------------------------- algorithms */

/* Values that a property may have besides its own type. */
static void put_or_parameter(struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "$ref", "#/definitions/parameter");
  sl_json_end_object(j);
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "type", "null");
  sl_json_end_object(j);
}

static void put_value_type(const struct sl_member *m, struct sl_json *j) {
  if (m->type == SL_TYPE_bool) {
    sl_json_string(j, "type", "boolean");
    return;
  }
  sl_json_string(j, "type", m->type == SL_TYPE_f32 || m->type == SL_TYPE_f64 ? "number" : "integer");
  sl_json_number(j, "minimum", m->minimum);
  sl_json_number(j, "maximum", m->maximum);
}

static void put_choices(const struct sl_member *m, struct sl_json *j) {
  char name[256];
  const char *word;
  size_t length;
  sl_json_begin_array(j, "enum");
  for (uint32_t i = 0; *(word = sl_choice_name(m, i, &length)); i++) {
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    sl_json_string(j, NULL, name);
  }
  sl_json_end_array(j);
}

static void put_array_type(const struct sl_member *m, struct sl_json *j) {
  sl_json_string(j, "type", "array");
  sl_json_integer(j, "minItems", m->count);
  sl_json_integer(j, "maxItems", m->count);
  sl_json_begin_object(j, "items");
  sl_json_begin_array(j, "anyOf");
  sl_json_begin_object(j, NULL);
  put_value_type(m, j);
  sl_json_end_object(j);
  put_or_parameter(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

/* `sluice describe` shows the default of an array. */
static void put_default(const struct sl_member *m, struct sl_json *j) {
  if (m->type == SL_TYPE_enumeration)
    sl_json_string(j, "default", m->default_text);
  else if (m->type == SL_TYPE_bool)
    sl_json_boolean(j, "default", m->default_value != 0);
  else if (m->count == 0)
    sl_json_number(j, "default", m->default_value);
}

static void put_property(const struct sl_member *m, struct sl_json *j) {
  char doc[512];
  const char *unit = m->unit ? m->unit : "";
  snprintf(doc, sizeof doc, "%s%s%s%s%s", m->doc, *unit ? " [" : "", unit, *unit ? "]" : "",
           m->flags & SL_FLAG_BUDGET ? " (a budget)" : "");
  sl_json_begin_object(j, m->name);
  sl_json_string(j, "description", doc);
  if (m->type == SL_TYPE_string) {
    sl_json_string(j, "default", m->default_text ? m->default_text : "");
    put_types(j, text_or_null);
    sl_json_end_object(j);
    return;
  }
  put_default(m, j);
  sl_json_begin_array(j, "anyOf");
  sl_json_begin_object(j, NULL);
  if (m->type == SL_TYPE_enumeration)
    put_choices(m, j);
  else if (m->count > 0)
    put_array_type(m, j);
  else
    put_value_type(m, j);
  sl_json_end_object(j);
  put_or_parameter(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_reference_property(const struct sl_member *m, struct sl_json *j) {
  char doc[512];
  snprintf(doc, sizeof doc, "%s (NODE.FIELD or NODE.PORT.FIELD)", m->doc);
  sl_json_begin_object(j, m->name);
  sl_json_string(j, "description", doc);
  put_types(j, text_or_null);
  sl_json_end_object(j);
}

static void put_variant(struct sl_json *j) {
  sl_json_begin_object(j, "variant");
  sl_json_string(j, "description", "tuned: a version shaped for the target, where there is one; the bits are the same");
  sl_json_string(j, "default", "tuned");
  sl_json_begin_array(j, "anyOf");
  sl_json_begin_object(j, NULL);
  sl_json_begin_array(j, "enum");
  sl_json_string(j, NULL, "tuned");
  sl_json_string(j, NULL, "shared");
  sl_json_end_array(j);
  sl_json_end_object(j);
  put_or_parameter(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_set(const struct sl_algorithm *a, struct sl_json *j) {
  sl_json_begin_object(j, "set");
  put_types(j, map_or_null);
  sl_json_begin_object(j, "properties");
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind == SL_MEMBER_PROPERTY) put_property(&a->members[m], j);
    if (sl_is_named_field(&a->members[m])) put_reference_property(&a->members[m], j);
  }
  if (a->kind == SL_KIND_KERNEL) put_variant(j);
  sl_json_end_object(j);
  put_no_other_keys(j);
  sl_json_end_object(j);
}

/* The value of a list port: a list of ports, a map of ports by name, or one port. */
static void put_producers(struct sl_json *j) {
  static const char *const port_list_or_map[] = {"string", "array", "object", "null", NULL};
  put_texts(port_list_or_map, j);
  sl_json_begin_object(j, "patternProperties");
  sl_json_begin_object(j, "^x-");
  sl_json_end_object(j);
  sl_json_begin_object(j, a_name);
  put_types(j, text_or_null);
  sl_json_end_object(j);
  sl_json_end_object(j);
  sl_json_boolean(j, "additionalProperties", 0);
}

static void put_in(const struct sl_algorithm *a, struct sl_json *j) {
  sl_json_begin_object(j, "in");
  put_types(j, map_or_null);
  sl_json_begin_object(j, "properties");
  for (uint32_t i = 0; i < a->member_count; i++) {
    const struct sl_member *m = &a->members[i];
    if (m->kind != SL_MEMBER_IN) continue;
    char doc[512];
    const int is_list = (m->flags & SL_FLAG_LIST) != 0;
    snprintf(doc, sizeof doc, "%s: %s%s", m->collection->name, m->doc, sl_input_need(m));
    sl_json_begin_object(j, m->name);
    sl_json_string(j, "description", doc);
    if (is_list)
      put_producers(j);
    else
      put_types(j, text_or_null);
    sl_json_end_object(j);
  }
  sl_json_end_object(j);
  put_no_other_keys(j);
  sl_json_end_object(j);
}

/* The output ports of a node, as information for readers of the schema. */
static void put_outputs(const struct sl_algorithm *a, struct sl_json *j) {
  sl_json_begin_object(j, "x-outputs");
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_OUT) sl_json_string(j, a->members[m].name, a->members[m].collection->name);
  sl_json_end_object(j);
}

/* If `use` is this algorithm, then `set` and `in` have its keys. */
static void put_rule(const char *use, const struct sl_algorithm *a, struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_begin_object(j, "if");
  sl_json_begin_object(j, "properties");
  sl_json_begin_object(j, "use");
  sl_json_string(j, "const", use);
  sl_json_end_object(j);
  sl_json_end_object(j);
  sl_json_begin_array(j, "required");
  sl_json_string(j, NULL, "use");
  sl_json_end_array(j);
  sl_json_end_object(j);
  sl_json_begin_object(j, "then");
  sl_json_begin_object(j, "properties");
  put_set(a, j);
  put_in(a, j);
  sl_json_end_object(j);
  put_outputs(a, j);
  sl_json_end_object(j);
  sl_json_end_object(j);
}

static void put_use(const char *use, const struct sl_algorithm *a, struct sl_json *j) {
  char doc[512];
  snprintf(doc, sizeof doc, "%s (%s)", a->doc, sl_kind_name(a->kind));
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "const", use);
  sl_json_string(j, "description", doc);
  sl_json_end_object(j);
}

/* Calls `put` for all algorithms in the tables for cpu. */
static void put_all(const struct sl_registry *r,
                    void (*put)(const char *, const struct sl_algorithm *, struct sl_json *), struct sl_json *j) {
  for (size_t i = 0; i < r->entry_count; i++) {
    const struct sl_plugin_entry *e = &r->entries[i];
    if (e->status != SL_PLUGIN_LOADED || strcmp(e->plugin->target, "cpu") != 0) continue;
    for (uint32_t a = 0; a < e->plugin->algorithm_count; a++) {
      char use[256];
      snprintf(use, sizeof use, "%s.%s", e->plugin->name, e->plugin->algorithms[a]->name);
      put(use, e->plugin->algorithms[a], j);
    }
  }
}

/* --------------------------------------------------------------------------------------------------- nodes */

static void put_use_key(const struct sl_registry *r, struct sl_json *j) {
  sl_json_begin_object(j, "use");
  sl_json_string(j, "description", "PLUGIN.ALGORITHM");
  sl_json_begin_array(j, "anyOf");
  put_all(r, put_use, j);
  put_or_parameter(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_block_choices(struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_integer(j, "const", 1);
  sl_json_end_object(j);
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "type", "integer");
  sl_json_integer(j, "minimum", 32);
  sl_json_integer(j, "maximum", 1024);
  sl_json_integer(j, "multipleOf", 32);
  sl_json_end_object(j);
  put_or_parameter(j);
}

/* A number for all kernels, or a map of numbers by kernel. */
static void put_block_key(struct sl_json *j) {
  sl_json_begin_object(j, "block");
  sl_json_string(
      j, "description",
      "threads of a block, 1 or a multiple of 32; by kernel, { KERNEL: 64, others: 128 }; of no effect on cpu");
  sl_json_begin_array(j, "anyOf");
  put_block_choices(j);
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "type", "object");
  sl_json_begin_object(j, "additionalProperties");
  sl_json_begin_array(j, "anyOf");
  put_block_choices(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
  sl_json_end_object(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_items(struct sl_json *j) {
  sl_json_begin_object(j, "items");
  sl_json_string(j, "type", "string");
  sl_json_end_object(j);
}

static void put_events_key(struct sl_json *j) {
  static const char *const kinds[] = {"string", "array", "object", "null", NULL};
  sl_json_begin_object(j, "events");
  sl_json_string(j, "description",
                 "event list, or lists, to run on: NODE or NODE.PORT; [] for all events; { any: [...] } for events on "
                 "any of the lists");
  put_types(j, kinds);
  put_items(j);
  sl_json_begin_object(j, "properties");
  sl_json_begin_object(j, "any");
  sl_json_string(j, "type", "array");
  sl_json_integer(j, "minItems", 1);
  put_items(j);
  sl_json_end_object(j);
  sl_json_end_object(j);
  sl_json_begin_array(j, "required"); /* of an object only */
  sl_json_string(j, NULL, "any");
  sl_json_end_array(j);
  put_no_other_keys(j);
  sl_json_end_object(j);
}

static void put_node(const struct sl_registry *r, struct sl_json *j) {
  sl_json_begin_object(j, "node");
  put_types(j, map_or_null);
  sl_json_begin_object(j, "properties");
  put_use_key(r, j);
  put_map("in", "input: NODE.PORT, or NODE where that is unambiguous; of a list port several, or `all`", "^(?!x-)",
          "wiring", j);
  put_map("set", "property: value", "^(?!x-)", "property", j);
  put_events_key(j);
  put_block_key(j);
  sl_json_end_object(j);
  put_no_other_keys(j);
  sl_json_begin_array(j, "allOf");
  put_all(r, put_rule, j);
  sl_json_end_array(j);
  sl_json_end_object(j);
}

static void put_definitions(const struct sl_registry *r, struct sl_json *j) {
  sl_json_begin_object(j, "definitions");
  sl_json_begin_object(j, "parameter");
  sl_json_string(j, "description", "a value with ${NAME} in it, which parameters replace");
  sl_json_string(j, "type", "string");
  sl_json_string(j, "pattern", "\\$\\{");
  sl_json_end_object(j);
  sl_json_begin_object(j, "scalar");
  put_types(j, scalars);
  sl_json_end_object(j);
  sl_json_begin_object(j, "property");
  put_types(j, properties);
  sl_json_end_object(j);
  sl_json_begin_object(j, "wiring");
  sl_json_begin_array(j, "anyOf");
  sl_json_begin_object(j, NULL);
  put_types(j, scalars);
  sl_json_end_object(j);
  sl_json_begin_object(j, NULL);
  put_producers(j);
  sl_json_end_object(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
  sl_json_begin_object(j, "budget");
  sl_json_begin_array(j, "anyOf");
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "type", "integer");
  sl_json_integer(j, "minimum", 0);
  sl_json_end_object(j);
  put_or_parameter(j);
  sl_json_end_array(j);
  sl_json_end_object(j);
  put_node(r, j);
  sl_json_end_object(j);
}

static void put_conditions(struct sl_json *j) {
  sl_json_begin_object(j, "conditions");
  sl_json_string(j, "description", "files of constants for each run; ${conditions} in a property is their path");
  sl_json_string(j, "type", "object");
  sl_json_begin_array(j, "required");
  sl_json_string(j, NULL, "by");
  sl_json_string(j, NULL, "files");
  sl_json_end_array(j);
  sl_json_begin_object(j, "properties");
  sl_json_begin_object(j, "by");
  sl_json_string(j, "description", "identity field of events");
  sl_json_begin_array(j, "enum");
  sl_json_string(j, NULL, "event.run");
  sl_json_end_array(j);
  sl_json_end_object(j);
  sl_json_begin_object(j, "files");
  sl_json_string(j, "description", "path with one %d for the value, or %07d with leading zeros");
  sl_json_string(j, "type", "string");
  sl_json_end_object(j);
  sl_json_end_object(j);
  put_no_other_keys(j);
  sl_json_end_object(j);
}

void sl_schema_put(const struct sl_registry *r, struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "$schema", "http://json-schema.org/draft-07/schema#");
  sl_json_string(j, "title", "Sluice graph");
  sl_json_string(j, "type", "object");
  sl_json_begin_array(j, "required");
  sl_json_string(j, NULL, "sluice");
  sl_json_end_array(j);
  sl_json_begin_object(j, "properties");
  sl_json_begin_object(j, "sluice");
  sl_json_string(j, "description", "version of the language");
  sl_json_integer(j, "const", 1);
  sl_json_end_object(j);
  sl_json_begin_object(j, "description");
  sl_json_string(j, "description", "one line of text");
  put_types(j, scalars);
  sl_json_end_object(j);
  put_list("include", "files that are merged first, relative to this one", j);
  put_map("parameters", "values that ${NAME} stands for", a_name, "scalar", j);
  put_conditions(j);
  put_map("nodes", "instances of algorithms", a_name, "node", j);
  put_outputs_of_graph(j);
  put_map("budgets", "events: the most events in a slice; NODE.PROPERTY: a budget of a node",
          "^(events|[A-Za-z_][A-Za-z0-9_]*\\.[A-Za-z_][A-Za-z0-9_]*)$", "budget", j);
  sl_json_end_object(j);
  put_no_other_keys(j);
  put_definitions(r, j);
  sl_json_end_object(j);
}

SL_ANY_PROCESSOR int sl_write_schema(const char *const *plugin_paths, struct sl_diagnostics *d, FILE *file) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  static const char *const targets[] = {"cpu", NULL};
  struct sl_registry r = {0};
  int status = sl_registry_open(plugin_paths, targets, &r);
  if (status < 0) return status;
  for (size_t i = 0; i < r.entry_count; i++)
    if (r.entries[i].status == SL_PLUGIN_REFUSED)
      sl_diagnose(d, SL_WARNING, NULL, NULL, NULL, "not in the schema: %s: %s", r.entries[i].path,
                  r.entries[i].reason ? r.entries[i].reason : "refused");
  struct sl_json j;
  sl_json_begin(&j);
  sl_schema_put(&r, &j);
  status = sl_json_finish(&j, file);
  sl_registry_close(&r);
  return status;
}
