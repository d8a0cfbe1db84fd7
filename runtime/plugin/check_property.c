/* check_property.c: checks of properties: range, default, choices. */
#include "plugin/check.h"
#include "plugin/property.h"
#include "plugin/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { CHOICE_BYTES_MAX = 64 };

static int check_integer_range(const struct checker *c, double lowest, double highest) {
  const struct sl_member *m = c->member;
  if (m->minimum < lowest || m->maximum > highest)
    return checker_refuse(c, "range %.17g to %.17g exceeds that of %s", m->minimum, m->maximum, sl_type_name(m->type));
  return SL_OK;
}

static int check_choices(const struct checker *c) {
  const struct sl_member *m = c->member;
  char name[CHOICE_BYTES_MAX + 1];
  const char *word;
  size_t length;
  if (!m->choices || !*m->choices) return checker_refuse(c, "an enumeration needs names to choose from");
  for (uint32_t i = 0; *(word = sl_choice_name(m, i, &length)); i++) {
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (length > CHOICE_BYTES_MAX || !checker_is_identifier(name))
      return checker_refuse(c, "choice %.*s is no identifier of up to %d bytes", (int)length, word, CHOICE_BYTES_MAX);
    if (strcasecmp(name, "null") == 0) return checker_refuse(c, "choice %s cannot be written in a graph", name);
    if (sl_choice_index(m, name) != (int)i) return checker_refuse(c, "two choices are %s", name);
  }
  if (!m->default_text || sl_choice_index(m, m->default_text) < 0)
    return checker_refuse(c, "default %s is not one of its choices: %s", m->default_text ? m->default_text : "NULL",
                          m->choices);
  return SL_OK;
}

static int check_default(const struct checker *c, double value) {
  const struct sl_member *m = c->member;
  if (!(value >= m->minimum && value <= m->maximum))
    return checker_refuse(c, "default %.17g is not in the range %.17g to %.17g", value, m->minimum, m->maximum);
  if (m->type != SL_TYPE_f32 && m->type != SL_TYPE_f64 && value != floor(value))
    return checker_refuse(c, "default %.17g is no integer", value);
  return SL_OK;
}

static int check_defaults(const struct checker *c) {
  const struct sl_member *m = c->member;
  double values[SL_ARRAY_MAX];
  if (m->count == 0) return check_default(c, m->default_value);
  if (!m->default_text || !sl_array_read(m->default_text, values, m->count))
    return checker_refuse(c, "default %s is no list of %u numbers", m->default_text ? m->default_text : "NULL",
                          m->count);
  for (uint32_t i = 0; i < m->count; i++)
    if (check_default(c, values[i])) return SL_EPLUGIN;
  return SL_OK;
}

int check_property(const struct checker *c) {
  const struct sl_member *m = c->member;
  const int is_number = m->type == SL_TYPE_f32 || m->type == SL_TYPE_f64 || m->type == SL_TYPE_u32 ||
                        m->type == SL_TYPE_i32 || m->type == SL_TYPE_u64;
  const uint32_t file_flags = m->flags & (SL_FLAG_READ | SL_FLAG_WRITTEN);
  if (!m->unit) return checker_refuse(c, "unit is NULL");
  if (file_flags && (m->type != SL_TYPE_string || !m->choices || file_flags == (SL_FLAG_READ | SL_FLAG_WRITTEN)))
    return checker_refuse(c, "the path of a file is a string, with names of files, and is either read or written");
  if (m->count > 0 && !is_number) return checker_refuse(c, "an array of %s is no property", sl_type_name(m->type));
  if (m->count > SL_ARRAY_MAX || (m->count > 0 && (m->flags & SL_FLAG_BUDGET)))
    return checker_refuse(c, "an array of %u values: at most %d are possible, and a budget is not an array", m->count,
                          SL_ARRAY_MAX);
  if (m->type == SL_TYPE_enumeration) return check_choices(c);
  if (m->type == SL_TYPE_string) {
    if (!m->default_text) return checker_refuse(c, "a string property needs a default text");
    return SL_OK;
  }
  if (!(m->minimum <= m->maximum))
    return checker_refuse(c, "minimum %.17g is not below maximum %.17g", m->minimum, m->maximum);
  if (check_defaults(c)) return SL_EPLUGIN;
  switch (m->type) {
    case SL_TYPE_f32:
    case SL_TYPE_f64:
      return SL_OK;
    case SL_TYPE_bool:
      return check_integer_range(c, 0, 1);
    case SL_TYPE_u32:
      return check_integer_range(c, 0, UINT32_MAX);
    case SL_TYPE_i32:
      return check_integer_range(c, INT32_MIN, INT32_MAX);
    case SL_TYPE_u64:
      return check_integer_range(c, 0, 0x1p64);
    default:
      return checker_refuse(c, "type %s is no type of a property", sl_type_name(m->type));
  }
}
