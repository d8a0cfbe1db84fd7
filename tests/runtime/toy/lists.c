/* lists.c: constants and a sink with list ports. */
#include "numbers.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------- table */

struct table_args {
  struct toy_table table;
  uint32_t value, length;
};
#define SL_ARGS table_args
static const struct sl_member table_members[] = {
    SL_OUT(table, toy_table, "`length` copies of a value"),
    SL_U32(value, 1, 0, 1000, "", "the value"),
    SL_U32(length, 1, 1, 1000, "", "number of copies"),
};
#undef SL_ARGS

static int make_table(const struct sl_services *s, const struct table_args *a) {
  uint32_t *values = s->make_array(s->context, "table", "value", a->length);
  if (!values) return SL_ENOMEM;
  for (uint32_t i = 0; i < a->length; i++) values[i] = a->value;
  return SL_OK;
}
SL_CONSTANT(table, "repeats a value", make_table);

/* ------------------------------------------------------------------------------------------------- append */

struct append_args {
  struct toy_table_views tables;
  struct toy_table table;
};
#define SL_ARGS append_args
static const struct sl_member append_members[] = {
    SL_LIST_IN(tables, toy_table, "value", "tables to append"),
    SL_OUT(table, toy_table, "sum of all values, then all values"),
};
#undef SL_ARGS

static uint64_t length_of(const struct sl_services *s, const struct append_args *a, uint32_t k) {
  char port[64] = "tables.";
  strncat(port, a->tables.names[k], sizeof port - strlen(port) - 1);
  return s->array_count(s->context, port, "value");
}

static int make_append(const struct sl_services *s, const struct append_args *a) {
  uint64_t length = 1, at = 1;
  if (s->array_count(s->context, "tables", "value") != 0)
    return SL_EPLUGIN; /* the port has several producers, hence no
                        * single array */
  if (s->array_count(s->context, "tables.missing", "value") != 0) return SL_EPLUGIN;
  for (uint32_t k = 0; k < a->tables.count; k++) length += length_of(s, a, k);
  uint32_t *values = s->make_array(s->context, "table", "value", length);
  if (!values) return SL_ENOMEM;
  for (uint32_t k = 0; k < a->tables.count; k++)
    for (uint64_t i = 0; i < length_of(s, a, k); i++) {
      values[at++] = a->tables.at[k].value[i];
      values[0] += a->tables.at[k].value[i];
    }
  return SL_OK;
}
SL_CONSTANT(append, "appends tables", make_append);

/* -------------------------------------------------------------------------------------------------- tally */

struct tally_args {
  struct toy_numbers_views parts;
  struct toy_table_views tables;
};
#define SL_ARGS tally_args
static const struct sl_member tally_members[] = {
    SL_LIST_IN(parts, toy_numbers, "offsets value", "numbers"),
    SL_LIST_IN(tables, toy_table, "value", "tables; the sum of their first values is reported"),
};
#undef SL_ARGS

enum { PARTS_MAX = 16, NAME_BYTES = 32 };
struct tally_state {
  char names[PARTS_MAX][NAME_BYTES];
  uint64_t sums[PARTS_MAX];
  uint32_t count, tables;
};

static int tally_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)state, (void)s, (void)args, (void)output_path;
  return SL_OK;
}

static int tally_consume(void *state, const struct sl_services *s, const void *arguments,
                         const struct sl_batch *batch) {
  (void)s;
  struct tally_state *t = state;
  const struct tally_args *a = arguments;
  t->count = a->parts.count;
  for (uint32_t k = 0; k < t->count; k++) {
    const struct toy_numbers_view *part = &a->parts.at[k];
    strncpy(t->names[k], a->parts.names[k], NAME_BYTES - 1);
    for (uint32_t i = part->offsets[0]; i < part->offsets[batch->event_count]; i++) t->sums[k] += part->value[i];
  }
  t->tables = 0;
  for (uint32_t k = 0; k < a->tables.count; k++) t->tables += a->tables.at[k].value[0];
  return SL_OK;
}

static int tally_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  (void)s;
  const struct tally_state *t = state;
  for (uint32_t k = 0; k < t->count; k++) report->integer(report->context, t->names[k], (int64_t)t->sums[k]);
  report->integer(report->context, "tables", t->tables);
  return SL_OK;
}

static const struct sl_sink toy_tally = {.open = tally_open, .consume = tally_consume, .finish = tally_finish};
SL_SINK(tally, "sums the numbers of each part", struct tally_state, toy_tally);
