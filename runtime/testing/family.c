/* family.c: runs an algorithm of a family a second time through its run_family, as several nodes with the same inputs:
 *
 *   node 0   unchanged
 *   node 1   on every other event of its list
 *   node 2   with another name and other values of numeric properties, if these are accepted
 *   node 3   unchanged
 *
 * Each node has its own outputs, scratch and tables and must write the same bits as when it runs alone. Nodes 1 and 2
 * show that each node uses its own arguments.
 */
#include "layout/bind.h"
#include "plugin/property.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 4, OTHER_LIST = 1, OTHER_PROPERTIES = 2 };

/* --------------------------------------------------------------------------------------------------- nodes */

static void *copy_of(const void *from, size_t count, size_t bytes) {
  void *copy = test_allocate(count, bytes);
  if (count * bytes > 0) memcpy(copy, from, count * bytes);
  return copy;
}

/* Inputs are shared with the test. */
static struct test_node open_node(const struct sl_test *t) {
  struct test_node n = {.args = copy_of(t->args, 1, t->algorithm->args_size),
                        .members = copy_of(t->members, t->algorithm->member_count, sizeof *t->members),
                        .list_count = t->list_count};
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    n.members[i].used = n.members[i].views = (struct sl_guarded){.values = NULL};
    if (t->algorithm->members[i].kind != SL_MEMBER_IN)
      n.members[i].fields = test_allocate(n.members[i].field_count, sizeof(struct test_field));
  }
  if (t->list) n.list = copy_of(t->list, t->list_count, sizeof *t->list);
  return n;
}

#define EXCHANGE(a, b)              \
  do {                              \
    const __typeof__(a) kept = (a); \
    (a) = (b);                      \
    (b) = kept;                     \
  } while (0)
void test_exchange(struct sl_test *t, struct test_node *n) {
  EXCHANGE(t->args, n->args);
  EXCHANGE(t->members, n->members);
  EXCHANGE(t->list, n->list);
  EXCHANGE(t->list_count, n->list_count);
  EXCHANGE(t->count, n->count);
  EXCHANGE(t->numbers, n->numbers);
  EXCHANGE(t->errors, n->errors);
}

static void close_node(struct sl_test *t, struct test_node *n) {
  test_exchange(t, n);
  test_release_run(t);
  test_exchange(t, n);
  for (uint32_t i = 0; i < t->algorithm->member_count; i++)
    if (t->algorithm->members[i].kind != SL_MEMBER_IN) free(n->members[i].fields);
  free(n->members);
  free(n->args);
  free(n->list);
}

/* ----------------------------------------------------------------------------------------- what is different */

static void halve_list(const struct sl_test *t, struct test_node *n) {
  const uint32_t count = n->list ? n->list_count : t->event_count;
  uint32_t *half = test_allocate(count / 2 + 1u, sizeof *half);
  for (uint32_t i = 0; i < count; i += 2) half[i / 2] = n->list ? n->list[i] : i;
  free(n->list);
  n->list = half;
  n->list_count = (count + 1) / 2;
}

static double value_of(const struct sl_member *m, const void *args) {
  const void *at = (const char *)args + m->args_offset;
  switch (m->type) {
    case SL_TYPE_f32:
      return *(const float *)at;
    case SL_TYPE_f64:
      return *(const double *)at;
    case SL_TYPE_i32:
      return *(const int32_t *)at;
    case SL_TYPE_u64:
      return (double)*(const uint64_t *)at;
    default:
      return *(const uint32_t *)at;
  }
}

/* Another number in the range, close to the present one if possible. */
static double other_value(const struct sl_member *m, double value) {
  const int is_float = m->type == SL_TYPE_f32 || m->type == SL_TYPE_f64;
  const double step = is_float && value != 0 ? value / 4 : 1;
  if (value + step >= m->minimum && value + step <= m->maximum) return value + step;
  if (value - step >= m->minimum && value - step <= m->maximum) return value - step;
  return value;
}

/* 1 if the size of a dimension refers to the property: all nodes have the same sizes. */
static int is_size(const struct sl_algorithm *a, const struct sl_member *property) {
  for (uint32_t m = 0; m < a->member_count; m++)
    for (uint32_t d = 0; d < SL_DIMENSIONS_MAX; d++)
      if (a->members[m].dimensions[d].kind == SL_TERM_PROPERTY &&
          strcmp(a->members[m].dimensions[d].of, property->name) == 0)
        return 1;
  return 0;
}

static void change_properties(const struct sl_test *t, struct test_node *n) {
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const struct sl_member *m = &t->algorithm->members[i];
    if (m->kind == SL_MEMBER_NODE_HASH) n->args[m->args_offset] ^= 1;
    if (m->kind != SL_MEMBER_PROPERTY || m->count > 0 || (m->flags & SL_FLAG_BUDGET)) continue;
    if (m->type == SL_TYPE_string || m->type == SL_TYPE_enumeration || m->type == SL_TYPE_bool) continue;
    if (is_size(t->algorithm, m)) continue;
    const double value = other_value(m, value_of(m, n->args));
    if (value < 0x1p53) sl_property_store(m, 0, value, value > 0 ? (uint64_t)value : 0, n->args);
  }
}

static struct test_node open_variant(const struct sl_test *t, uint32_t which) {
  struct test_node n = open_node(t);
  if (which == OTHER_LIST) halve_list(t, &n);
  if (which == OTHER_PROPERTIES) change_properties(t, &n);
  return n;
}

/* ----------------------------------------------------------------------------------------------- comparing */

static const uint32_t *values_of(const struct test_member *own, int field) {
  if (field < 0) return NULL;
  return own->fields[field].alias ? own->fields[field].alias : own->fields[field].memory.values;
}

/* Number of valid entries per bound, or the capacities if no offsets exist. */
static void count_valid(const struct sl_test *t, const struct sl_member *m, const struct test_member *own,
                        uint64_t counts[SL_BOUNDS_MAX]) {
  const uint32_t *offsets = values_of(own, sl_offsets_field(m->collection));
  memcpy(counts, own->capacities, sizeof own->capacities);
  if (offsets && offsets[t->event_count] < counts[0]) counts[0] = offsets[t->event_count];
  for (uint32_t b = 1; b < sl_bound_count(m->collection); b++) {
    const uint32_t *item_offsets = values_of(own, sl_item_offsets_field(m->collection, b));
    if (item_offsets && item_offsets[counts[0]] < counts[b]) counts[b] = item_offsets[counts[0]];
  }
}

/* Compares bytes; ends the program if they differ. */
static void compare_bytes(const struct sl_test *t, const char *what, uint32_t node, const char *name, const char *field,
                          const void *alone, const void *together, uint64_t count, uint64_t value_bytes) {
  uint64_t i = 0;
  if (!alone || !together) return;
  while (i < count && memcmp((const char *)alone + i * value_bytes, (const char *)together + i * value_bytes,
                             (size_t)value_bytes) == 0)
    i++;
  if (i < count)
    test_die(t, "as node %u of a family of %s, value %llu of %s%s%s differs from a run of the node alone", node, what,
             (unsigned long long)i, name, *field ? "." : "", field);
}

static void compare_output(const struct sl_test *t, const char *what, uint32_t node, uint32_t member,
                           const struct test_member *alone, const struct test_member *together) {
  const struct sl_member *m = &t->algorithm->members[member];
  uint64_t counts[SL_BOUNDS_MAX];
  compare_bytes(t, what, node, m->name, "bound.used", alone->used.values, together->used.values,
                sl_bound_count(m->collection), sizeof(uint32_t));
  count_valid(t, m, alone, counts);
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    const struct sl_field *field = &m->collection->fields[f];
    uint64_t count = sl_collection_values(m->collection, f, t->event_count, counts);
    if (field->shape == SL_SHAPE_CODE_BYTES) continue; /* a pool may be filled in any order */
    if (sl_is_event_list(m->collection) && f > 0) count = *values_of(alone, 0);
    compare_bytes(t, what, node, m->name, field->name, alone->fields[f].memory.values,
                  together->fields[f].memory.values, count, sl_type_bytes(field->type));
  }
}

static void compare(const struct sl_test *t, const char *what, uint32_t node, const struct test_node *alone,
                    const struct test_node *together) {
  compare_bytes(t, what, node, "errors", "", alone->errors.values, together->errors.values, t->event_count,
                sizeof(uint64_t));
  for (uint32_t i = 0; i < t->algorithm->member_count; i++)
    if (t->algorithm->members[i].kind == SL_MEMBER_OUT)
      compare_output(t, what, node, i, &alone->members[i], &together->members[i]);
}

/* ------------------------------------------------------------------------------------------------- running */

static int prepare_node(struct sl_test *t, struct test_node *n) {
  test_exchange(t, n);
  test_bind(t);
  int status = t->algorithm->check ? t->algorithm->check(&t->services, t->args) : SL_OK;
  if (status == SL_OK && t->algorithm->prepare) status = test_prepare(t);
  test_hide_strings(t);
  test_exchange(t, n);
  return status;
}

static int run_alone(struct sl_test *t, struct test_node *n) {
  int status = prepare_node(t, n);
  test_exchange(t, n);
  if (status == SL_OK) status = test_run_kernel(t);
  test_exchange(t, n);
  return status;
}

static int run_together(struct sl_test *t, struct test_node *nodes, uint32_t count) {
  struct sl_launch launch = test_launch(t);
  if (t->device) return test_device_run(t, &launch, nodes, count);
  unsigned char *args = test_allocate(count, t->algorithm->args_size);
  for (uint32_t i = 0; i < count; i++)
    memcpy(args + i * t->algorithm->args_size, nodes[i].args, t->algorithm->args_size);
  const int status = t->algorithm->run_family(&launch, args, args, count);
  free(args);
  return status;
}

void test_family_run(struct sl_test *t) {
  struct test_node alone[NODES], together[NODES];
  uint32_t count = 0;
  char what[16];
  if (t->algorithm->run_tuned && !t->shared) return; /* nodes with a tuned version run alone */
  t->is_quiet = 1;
  for (uint32_t which = 0; which < NODES; which++) {
    alone[count] = open_variant(t, which);
    if (run_alone(t, &alone[count]) < 0) { /* the check refuses its other values */
      close_node(t, &alone[count]);
      continue;
    }
    together[count] = open_variant(t, which);
    prepare_node(t, &together[count++]);
  }
  t->is_quiet = 0;
  snprintf(what, sizeof what, "%u", count);
  const int status = run_together(t, together, count);
  if (status < 0) test_die(t, "as a family of %s nodes it returned %d", what, status);
  for (uint32_t i = 0; i < count; i++) {
    test_exchange(t, &together[i]);
    test_check(t);
    test_exchange(t, &together[i]);
    compare(t, what, i, &alone[i], &together[i]);
    close_node(t, &alone[i]);
    close_node(t, &together[i]);
  }
}
