/* unit_test.c: writes a case as a unit test in C: its arrays as constants, its properties, and one assertion per output
 * field. Constants of the node, field references and inputs with many values are loaded from the case itself, which is
 * written beside the test.
 */
#include "base/text_file.h"
#include "replay/replay.h"

#include <sluice/text.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LITERALS_MAX = 2000, LINE_MAX_BYTES = 110 };

static const char *const c_types[] = {
#define C_TYPE(name, c, bytes) [SL_TYPE_##name] = #c,
    SL_TYPES(C_TYPE)};

/* -------------------------------------------------------------------------------------------------- literals */

static void write_value(const struct sl_field *field, const void *values, uint64_t i, char *text, size_t size) {
  const unsigned char *at = (const unsigned char *)values + i * sl_type_bytes(field->type);
  const uint32_t bits = 8 * sl_type_bytes(field->type);
  uint64_t integer = 0;
  float f32 = 0;
  double f64 = 0;
  memcpy(&integer, at, bits / 8); /* little-endian */
  const int64_t negative = (int64_t)(integer << (64 - bits)) >> (64 - bits);
  if (field->type == SL_TYPE_f32) {
    memcpy(&f32, at, sizeof f32);
    snprintf(text, size, "%af", (double)f32);
  } else if (field->type == SL_TYPE_f64) {
    memcpy(&f64, at, sizeof f64);
    snprintf(text, size, "%a", f64);
  } else if (field->type == SL_TYPE_i8 || field->type == SL_TYPE_i16 || field->type == SL_TYPE_i32) {
    snprintf(text, size, "%lld", (long long)negative);
  } else if (field->type == SL_TYPE_i64) {
    snprintf(text, size, negative == INT64_MIN ? "INT64_MIN" : "%lld", (long long)negative);
  } else {
    snprintf(text, size, field->type == SL_TYPE_u64 ? "%lluu" : "%llu", (unsigned long long)integer);
  }
}

/* Values that have no literal, infinities and NaN, make the whole array one of bits. */
static struct sl_field literal_field(const struct sl_field *field, const void *values, uint64_t count) {
  struct sl_field literal = *field;
  for (uint64_t i = 0; i < count; i++) {
    if (field->type == SL_TYPE_f32 && !isfinite(((const float *)values)[i])) literal.type = SL_TYPE_u32;
    if (field->type == SL_TYPE_f64 && !isfinite(((const double *)values)[i])) literal.type = SL_TYPE_u64;
  }
  return literal;
}

static void write_array(const char *name, const struct sl_field *field, const void *values, uint64_t count,
                        FILE *file) {
  const struct sl_field literal = literal_field(field, values, count);
  int column = fprintf(file, "static const %s %s[] = {", c_types[literal.type], name);
  if (literal.type != field->type) column += fprintf(file, "/* bits of %s */ ", c_types[field->type]);
  for (uint64_t i = 0; i < count; i++) {
    char text[64];
    write_value(&literal, values, i, text, sizeof text);
    const int is_wrapped = column + (int)strlen(text) > LINE_MAX_BYTES;
    if (is_wrapped) column = fprintf(file, "\n    ") - 1;
    column += fprintf(file, "%s%s%s", i > 0 && !is_wrapped ? " " : "", text, i + 1 < count ? "," : "");
  }
  fprintf(file, "};\n");
}

static void write_string(const char *text, FILE *file) {
  fputc('"', file);
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20 || c == '?' || c == 0x7F) /* ?: no trigraphs */
      fprintf(file, "\\%03o", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}

/* ---------------------------------------------------------------------------------------------------- inputs */

struct unit_test {
  const struct sl_case *c;
  const char *name;   /* without folder */
  const char *plugin; /* upper case */
  FILE *file;
};

static int is_loaded(const struct sl_case_port *p) {
  uint64_t values = 0;
  for (uint32_t f = 0; f < p->collection->field_count; f++)
    if (p->values[f]) values += p->counts[f];
  return p->reference || p->collection->fields[0].shape == SL_SHAPE_CODE_ARRAY || values > LITERALS_MAX;
}

static int loads_any(const struct sl_case *c) {
  for (uint32_t i = 0; i < c->input_count; i++)
    if (is_loaded(&c->inputs[i])) return 1;
  return 0;
}

/* Name of the constant with a field: of input number i, because names of producers may be no identifiers. */
static const char *array_name(const char *kind, uint32_t i, const struct sl_case_port *p, uint32_t f) {
  static char name[256];
  if (p->producer)
    snprintf(name, sizeof name, "%s_%s_%u_%s", kind, p->name, i, p->collection->fields[f].name);
  else
    snprintf(name, sizeof name, "%s_%s_%s", kind, p->name, p->collection->fields[f].name);
  return name;
}

static void write_arrays(const struct unit_test *t) {
  const struct sl_case *c = t->c;
  const struct sl_field list = {.name = "list", .type = SL_TYPE_u32};
  if (c->has_list && c->list_count > 0) write_array("list", &list, c->list, c->list_count, t->file);
  for (uint32_t i = 0; i < c->input_count; i++)
    for (uint32_t f = 0; !is_loaded(&c->inputs[i]) && f < c->inputs[i].collection->field_count; f++)
      if (c->inputs[i].values[f] && c->inputs[i].counts[f] > 0)
        write_array(array_name("input", i, &c->inputs[i], f), &c->inputs[i].collection->fields[f],
                    c->inputs[i].values[f], c->inputs[i].counts[f], t->file);
  const struct sl_field errors = {.name = "errors", .type = SL_TYPE_u64};
  if (c->has_outputs && c->errors) write_array("expected_errors", &errors, c->errors, c->event_count, t->file);
  for (uint32_t i = 0; i < c->output_count; i++)
    for (uint32_t f = 0; f < c->outputs[i].collection->field_count; f++)
      if (c->outputs[i].values[f] && c->outputs[i].counts[f] > 0)
        write_array(array_name("expected", i, &c->outputs[i], f), &c->outputs[i].collection->fields[f],
                    c->outputs[i].values[f], c->outputs[i].counts[f], t->file);
}

static void write_input(const struct unit_test *t, uint32_t i) {
  const struct sl_case_port *p = &t->c->inputs[i];
  if (is_loaded(p)) {
    const int is_again = i > 0 && strcmp(t->c->inputs[i - 1].name, p->name) == 0 && is_loaded(&t->c->inputs[i - 1]);
    if (!is_again) fprintf(t->file, "  sl_test_load(t, CASE, \"%s\");\n", p->name);
    return;
  }
  for (uint32_t d = 0; d < p->collection->dimension_count; d++)
    fprintf(t->file, "  sl_test_dimension(t, \"%s\", \"%s\", %u);\n", p->name, p->collection->dimensions[d].name,
            p->collection->dimensions[d].size);
  for (uint32_t f = 0; f < p->collection->field_count; f++) {
    if (!p->values[f]) continue;
    fprintf(t->file, p->producer ? "  sl_test_list_input(t, \"%s\", " : "  sl_test_input(t, \"%s\", ", p->name);
    if (p->producer) write_string(p->producer, t->file);
    fprintf(t->file, "%s\"%s\", %s, %llu);\n", p->producer ? ", " : "", p->collection->fields[f].name,
            p->counts[f] > 0 ? array_name("input", i, p, f) : "NULL", (unsigned long long)p->counts[f]);
  }
}

static void write_property(const struct unit_test *t, const struct sl_case_property *p) {
  if (p->text) {
    fprintf(t->file, "  sl_test_set_text(t, \"%s\", ", p->name);
    write_string(p->text, t->file);
    fprintf(t->file, ");\n");
  } else if (p->is_array) {
    fprintf(t->file, "  sl_test_set_array(t, \"%s\", (const double[]){", p->name);
    for (uint32_t i = 0; i < p->count; i++) fprintf(t->file, "%s%s", i ? ", " : "", p->items[i]);
    fprintf(t->file, "}, %u);\n", p->count);
  } else {
    fprintf(t->file, "  sl_test_set(t, \"%s\", %s);\n", p->name, p->items[0]);
  }
}

/* --------------------------------------------------------------------------------------------------- outputs */

/* Room for twice the expected items and subitems: the default room depends on the number of events. */
static void write_room(const struct unit_test *t, const struct sl_case_port *p) {
  uint64_t bounds[SL_BOUNDS_MAX];
  sl_case_bounds(p, bounds);
  for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
    const int field = sl_group_field(p->collection, b);
    if (!sl_case_offsets(p, b) || bounds[b] == 0) continue;
    fprintf(t->file, "  sl_test_budget(t, \"%s%s%s\", %llu);\n", p->name, b ? "." : "",
            b ? p->collection->fields[field].name : "", 2ull * bounds[b]);
  }
}

static int is_offsets(const struct sl_field *f) {
  return f->shape == SL_SHAPE_CODE_OFFSETS || f->shape == SL_SHAPE_CODE_ITEM_OFFSETS;
}

/* Offsets first: they say how many values the others have. */
static void write_assertions(const struct unit_test *t, uint32_t i) {
  const struct sl_case_port *p = &t->c->outputs[i];
  for (int offsets = 1; offsets >= 0; offsets--)
    for (uint32_t f = 0; f < p->collection->field_count; f++) {
      const struct sl_field *field = &p->collection->fields[f];
      if (!p->values[f] || p->counts[f] == 0 || is_offsets(field) != offsets) continue;
      const char *name = array_name("expected", i, p, f);
      const int length =
          fprintf(t->file, "  assert_memory_equal(sl_test_output(t, \"%s\", \"%s\"),", p->name, field->name);
      const int is_long = length + 2 * (int)strlen(name) > LINE_MAX_BYTES - 10;
      fprintf(t->file, "%s%s, sizeof %s);\n", is_long ? "\n                      " : " ", name, name);
    }
}

static void write_case(const struct unit_test *t) {
  const struct sl_case *c = t->c;
  fprintf(t->file, "\nstatic void outputs_are_those_of_the_case(void **state) {\n  (void)state;\n");
  fprintf(t->file, "  struct sl_test *t = sl_test_new(%s_PLUGIN, \"%s\");\n", t->plugin, strchr(c->algorithm, '.') + 1);
  fprintf(t->file, "  sl_test_node(t, ");
  write_string(c->node, t->file);
  fprintf(t->file, ");\n  sl_test_events(t, %u);\n", c->event_count);
  if (c->has_list) fprintf(t->file, "  sl_test_list(t, %s, %u);\n", c->list_count ? "list" : "NULL", c->list_count);
  if (c->block_threads > 0) fprintf(t->file, "  sl_test_block(t, %u);\n", c->block_threads);
  if (c->is_shared) fprintf(t->file, "  sl_test_shared(t, 1);\n");
  for (uint32_t i = 0; i < c->property_count; i++) write_property(t, &c->properties[i]);
  for (uint32_t i = 0; i < c->input_count; i++) write_input(t, i);
  for (uint32_t i = 0; i < c->output_count; i++) write_room(t, &c->outputs[i]);
  fprintf(t->file, "  assert_int_equal(sl_test_run(t), 0);\n\n");
  if (c->has_outputs && !replay_is_constant(c) && c->event_count > 0)
    fprintf(t->file, "  for (uint32_t i = 0; i < %u; i++) assert_int_equal(sl_test_event_error(t, i), %s);\n",
            c->event_count, c->errors ? "expected_errors[i]" : "0");
  for (uint32_t i = 0; i < c->output_count; i++) write_assertions(t, i);
  fprintf(t->file, "  sl_test_free(t);\n}\n\n");
  fprintf(t->file,
          "int main(void) {\n  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_those_of_the_case)};\n"
          "  return cmocka_run_group_tests(tests, NULL, NULL);\n}\n");
}

static void write_test(const struct unit_test *t) {
  const struct sl_case *c = t->c;
  fprintf(t->file, "/* %s_test.c: %s on %u %s of a run, written by `sluice replay --as-test`. */\n", t->name,
          c->algorithm, c->event_count, sl_plural(c->event_count, "event", "events"));
  fputs(
      "#include <sluice/testing.h>\n\n#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n"
      "#include <stdint.h>\n\n#include <cmocka.h>\n\n",
      t->file);
  write_arrays(t);
  write_case(t);
}

/* ---------------------------------------------------------------------------------------------------- files */

static int is_identifier(const char *name) {
  if (!isalpha((unsigned char)*name)) return 0;
  while (isalnum((unsigned char)*name) || *name == '_') name++;
  return *name == '\0';
}

static void print_next_steps(const struct sl_case *c, const char *name, const char *base, FILE *file) {
  const char *dot = strchr(c->algorithm, '.');
  const int needs_case = loads_any(c);
  fprintf(file, "%s_test.c: %s, %u %s%s\n", name, c->algorithm, c->event_count,
          sl_plural(c->event_count, "event", "events"), c->has_outputs ? "" : ", without expected outputs");
  if (needs_case) fprintf(file, "%s.slc: inputs that it loads\n", name);
  fprintf(file, "for CMakeLists.txt: sluice_add_plugin_test(%.*s %s ALGORITHMS %s%s", (int)(dot - c->algorithm),
          c->algorithm, base, dot + 1, replay_is_constant(c) ? "" : " KERNELS");
  if (needs_case) fprintf(file, " DEFINITIONS CASE=\"${CMAKE_CURRENT_SOURCE_DIR}/%s.slc\"", base);
  fprintf(file, ")\n");
}

static int write_source(const struct sl_case *c, const char *path, const char *base, struct sl_diagnostics *d) {
  struct sl_text_file memory;
  char plugin[128];
  snprintf(plugin, sizeof plugin, "%.*s", (int)strcspn(c->algorithm, "."), c->algorithm);
  for (char *at = plugin; *at; at++) *at = (char)toupper((unsigned char)*at);
  if (!sl_text_open(&memory)) return SL_ENOMEM;
  const struct unit_test test = {c, base, plugin, memory.file};
  write_test(&test);
  int status = sl_text_close(&memory);
  if (status == SL_OK) status = sl_write_file(path, memory.text, memory.bytes, d);
  free(memory.text);
  return status;
}

int replay_write_test(const struct sl_case *c, const char *name, struct sl_diagnostics *d, FILE *file) {
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  char path[PATH_MAX];
  uint64_t bytes = 0;
  if (!is_identifier(base)) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "use letters, digits and _", "--as-test: '%s' is no name of a test", base);
    return SL_EINVAL;
  }
  snprintf(path, sizeof path, "%s_test.c", name);
  int status = write_source(c, path, base, d);
  snprintf(path, sizeof path, "%s.slc", name);
  if (status == SL_OK && loads_any(c)) status = sl_case_write(c, path, &bytes, d);
  if (status == SL_OK) print_next_steps(c, name, base, file);
  return status;
}
