/* lh5_columns.c: see lh5_columns.h. */
#include "lh5_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waveforms/event_model.h>

struct parser {
  const struct sl_services *services;
  const char *text, *at;
  struct lh5_columns *columns;
};

/* A part of the text. */
struct word {
  const char *at;
  int length;
};

/* Reports what is wrong at a byte of the text; `list` follows the text. */
static int fail_at(const struct parser *p, const char *at, const char *what, const struct word *word,
                   const char *list) {
  p->services->message(p->services->context, SL_ERROR, "columns+%u: %s%s%.*s%s%s", (uint32_t)(at - p->text), what,
                       word ? " `" : "", word ? word->length : 0, word ? word->at : "", word ? "`" : "", list);
  return SL_EINVAL;
}

static void skip_blanks(struct parser *p) { p->at += strspn(p->at, " \t\r\n"); }

/* Reads up to the next blank, comma or equals sign; may be empty. */
static struct word next_word(struct parser *p) {
  skip_blanks(p);
  struct word word = {p->at, (int)strcspn(p->at, " \t\r\n,=")};
  p->at += word.length;
  return word;
}

static int is_word(struct word word, const char *text) {
  return (size_t)word.length == strlen(text) && memcmp(word.at, text, (size_t)word.length) == 0;
}

/* ------------------------------------------------------------------------------------------------ the field */

/* Text for a message: ", expected a, b, c". */
struct expected {
  char text[400];
  size_t used;
};
static void expect(struct expected *e, const char *name) {
  if (e->used + strlen(name) + 16 > sizeof e->text) return;
  e->used +=
      (size_t)snprintf(e->text + e->used, sizeof e->text - e->used, "%s%s", e->used ? ", " : ", expected ", name);
}

static int find_output(const struct parser *p, struct word name, struct lh5_column *c) {
  const struct sl_run *run = p->services->run;
  struct expected names = {"", 0};
  for (uint32_t o = 0; o < run->output_count; o++) {
    expect(&names, run->outputs[o].name);
    if (!is_word(name, run->outputs[o].name)) continue;
    c->output = o;
    c->collection = run->outputs[o].collection;
    return SL_OK;
  }
  expect(&names, "traces");
  c->output = LH5_OF_TRACES;
  c->collection = &waveforms_traces_collection;
  return is_word(name, "traces") ? SL_OK : fail_at(p, name.at, "the graph has no output", &name, names.text);
}

/* 1 if a field can be a column. The sink reads only fields of `traces` with one value for each event. */
static int can_be_column(const struct lh5_column *c, const struct sl_field *f) {
  if (c->output == LH5_OF_TRACES) return !f->dimensions && f->width == 1;
  return f->shape == SL_SHAPE_CODE_PER_EVENT || (f->shape == SL_SHAPE_CODE_PER_ITEM && f->width == 1);
}

/* Finds the fields that belong to the field: the boundaries of items, and the bit that is 0 if there is no value. */
static void find_companions(struct lh5_column *c) {
  c->has_items = c->field->shape == SL_SHAPE_CODE_PER_ITEM;
  for (uint32_t f = 0; f < c->collection->field_count; f++) {
    const struct sl_field *field = &c->collection->fields[f];
    if (field->shape == SL_SHAPE_CODE_OFFSETS) c->offsets_index = f;
    if (c->has_items || field->shape != SL_SHAPE_CODE_PER_EVENT || field->type != SL_TYPE_u32 ||
        strcmp(field->name, "valid") != 0 || f == c->field_index)
      continue;
    c->valid_index = f;
    const uint32_t bit = c->field_index - (c->field_index > f);
    c->valid_mask = bit < 32 ? 1u << bit : 0;
  }
}

/* Finds the field of the column, and its companions. */
static int find_field(const struct parser *p, struct word name, struct lh5_column *c) {
  struct expected names = {"", 0};
  for (uint32_t f = 0; f < c->collection->field_count; f++) {
    const struct sl_field *field = &c->collection->fields[f];
    if (can_be_column(c, field)) expect(&names, field->name);
    if (!is_word(name, field->name)) continue;
    c->field_index = f;
    c->field = field;
  }
  if (!c->field) return fail_at(p, name.at, "the output has no field", &name, names.text);
  if (!can_be_column(c, c->field))
    return fail_at(p, name.at, "a column has a value, or an array, for each event, or a value for each item; not so",
                   &name, names.text);
  find_companions(c);
  return SL_OK;
}

static int read_field(struct parser *p, struct lh5_column *c) {
  const struct word word = next_word(p);
  int dot = word.length;
  while (dot > 0 && word.at[dot - 1] != '.') dot--;
  if (dot < 2 || dot == word.length) return fail_at(p, word.at, "expected OUTPUT.FIELD, found", &word, "");
  const int status = find_output(p, (struct word){word.at, dot - 1}, c);
  return status < 0 ? status : find_field(p, (struct word){word.at + dot, word.length - dot}, c);
}

/* --------------------------------------------------------------------------------------------------- a column */

static int read_name(struct parser *p, struct lh5_column *c) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const struct word word = next_word(p);
  if (word.length == 0 || strspn(word.at, letters) < (size_t)word.length)
    return fail_at(p, word.at, "expected the name of a column: letters, digits and _; found", &word, "");
  if (word.length >= LH5_NAME_BYTES) return fail_at(p, word.at, "the name has more than 63 bytes:", &word, "");
  for (uint32_t i = 0; i < p->columns->count; i++)
    if (is_word(word, p->columns->at[i].name)) return fail_at(p, word.at, "there are two columns", &word, "");
  memcpy(c->name, word.at, (size_t)word.length);
  skip_blanks(p);
  if (*p->at != '=') return fail_at(p, p->at, "expected `=` and OUTPUT.FIELD after", &word, "");
  p->at++;
  return SL_OK;
}

static int is_integer_type(uint32_t type) { return type != SL_TYPE_f32 && type != SL_TYPE_f64; }

static int is_signed_type(uint32_t type) {
  return type == SL_TYPE_i8 || type == SL_TYPE_i16 || type == SL_TYPE_i32 || type == SL_TYPE_i64;
}

/* Reads [UNIT] ["as" TYPE]. */
static int read_form(struct parser *p, struct lh5_column *c) {
  snprintf(c->unit, sizeof c->unit, "%s", c->field->unit);
  c->type = SL_TYPE_f32;
  struct word word = next_word(p);
  if (word.length > 0 && !is_word(word, "as")) {
    if (word.length >= LH5_UNIT_BYTES) return fail_at(p, word.at, "the unit has more than 31 bytes:", &word, "");
    snprintf(c->unit, sizeof c->unit, "%.*s", word.length, word.at);
    word = next_word(p);
  }
  const int is_samples = strcmp(c->field->unit, "samples") == 0, is_ns = strcmp(c->unit, "ns") == 0;
  if (is_ns && is_samples) c->to_ns = LH5_TIME;
  if (is_ns && strcmp(c->field->unit, "periods") == 0) c->to_ns = LH5_DURATION;
  c->is_index = is_samples && is_signed_type(c->field->type);
  if (word.length == 0) return SL_OK;
  if (!is_word(word, "as")) return fail_at(p, word.at, "expected a comma or `as`, found", &word, "");
  word = next_word(p);
  c->is_integer = is_word(word, "integer") != 0;
  if (is_word(word, "f64")) c->type = SL_TYPE_f64;
  if (c->is_integer) c->type = c->field->type;
  if (!c->is_integer && c->type != SL_TYPE_f64 && !is_word(word, "f32"))
    return fail_at(p, word.at, "the type of a column is f32, f64 or integer, not", &word, "");
  if (c->is_integer && (c->to_ns || !is_integer_type(c->type)))
    return fail_at(p, word.at,
                   is_integer_type(c->type) ? "times in ns are f32 or f64, not" : "the values of the field are not",
                   &word, "");
  return SL_OK;
}

static int read_column(struct parser *p) {
  struct lh5_column c = {0};
  int status = read_name(p, &c);
  if (status == SL_OK) status = read_field(p, &c);
  if (status == SL_OK && c.field) status = read_form(p, &c);
  if (status < 0) return status;
  struct lh5_column *at =
      (struct lh5_column *)realloc(p->columns->at, (p->columns->count + 1) * sizeof *p->columns->at);
  if (!at) return SL_ENOMEM;
  p->columns->at = at;
  at[p->columns->count++] = c;
  return SL_OK;
}

int lh5_columns_read(const struct sl_services *s, const char *text, struct lh5_columns *columns) {
  struct parser p = {s, text, text, columns};
  skip_blanks(&p);
  if (!*p.at) return fail_at(&p, p.at, "no column, expected, for example, trapEmax = trap.value ADC", NULL, "");
  while (*p.at) {
    const int status = read_column(&p);
    if (status < 0) return status;
    skip_blanks(&p);
    const struct word rest = {p.at, (int)strcspn(p.at, " \t\r\n,")};
    if (*p.at && *p.at != ',') return fail_at(&p, p.at, "expected a comma, found", &rest, "");
    p.at += *p.at == ',';
    skip_blanks(&p);
  }
  return SL_OK;
}

void lh5_columns_free(struct lh5_columns *columns) {
  free(columns->at);
  *columns = (struct lh5_columns){0};
}
