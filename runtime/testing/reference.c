/* reference.c: resolves field references of an algorithm, and the sizes of dimensions. The test then has a copy of the
 * tables, like a node of a graph, in which references are inputs, and collections have sizes.
 */
#include "base/locale.h"
#include "plugin/dimensions.h"
#include "plugin/field_ref.h"
#include "plugin/tables.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

/* Tables of the algorithm, in which references become inputs one after another. */
struct test_references {
  struct sl_algorithm algorithm;
  struct sl_member *members;
  char (*fields)[SL_FIELD_REF_TEXT_BYTES];
  struct sl_collection **collections; /* with sizes, by member; or NULL */
};

static struct test_references *open_references(struct sl_test *t) {
  const struct sl_algorithm *a = t->algorithm;
  if (t->references) return t->references;
  struct test_references *r = test_allocate(1, sizeof *r);
  r->algorithm = *a;
  r->members = test_allocate(a->member_count, sizeof *r->members);
  memcpy(r->members, a->members, a->member_count * sizeof *r->members);
  r->algorithm.members = r->members;
  r->fields = test_allocate(a->member_count, sizeof *r->fields);
  r->collections = test_allocate(a->member_count, sizeof *r->collections);
  t->references = r;
  t->algorithm = &r->algorithm;
  return r;
}

void test_references_close(struct test_references *r) {
  if (!r) return;
  for (uint32_t m = 0; m < r->algorithm.member_count; m++) free(r->collections[m]);
  free(r->collections);
  free(r->members);
  free(r->fields);
  free(r);
}

void sl_test_field(struct sl_test *t, const char *reference, const struct sl_collection *collection,
                   const char *field) {
  SL_IN_C_LOCALE();
  char reason[256];
  const uint32_t m = test_member_index(t, reference, SL_MEMBER_FIELD);
  const int f = sl_field_index(collection, field);
  if (f < 0) test_die(t, "%s: collection %s has no field %s", reference, collection->name, field);
  if (!sl_field_ref_fits(&t->algorithm->members[m], collection, (uint32_t)f, reason, sizeof reason))
    test_die(t, "%s %s", reference, reason);
  open_references(t);
  t->references->members[m] =
      sl_field_ref_input(&t->references->members[m], collection, (uint32_t)f, t->references->fields[m]);
  free(t->members[m].fields);
  t->members[m].field_count = collection->field_count;
  t->members[m].fields = test_allocate(collection->field_count, sizeof(struct test_field));
}

/* ------------------------------------------------------------------------------------------------ dimensions */

static void set_sizes(struct sl_test *t, uint32_t m, const uint32_t sizes[SL_DIMENSIONS_MAX]) {
  struct test_references *r = open_references(t);
  const struct sl_collection *c = r->members[m].collection;
  struct sl_collection *copy = test_allocate(1, sl_collection_copy_bytes(c));
  const struct sl_field *large = sl_collection_copy(c, sizes, copy);
  if (large) test_die(t, "%s.%s has more than %u values per entry", r->members[m].name, large->name, SL_DIMENSION_MAX);
  r->members[m].collection = copy;
  free(r->collections[m]);
  r->collections[m] = copy;
}

void sl_test_dimension(struct sl_test *t, const char *port, const char *dimension, uint32_t size) {
  SL_IN_C_LOCALE();
  uint32_t sizes[SL_DIMENSIONS_MAX] = {0};
  const uint32_t m = test_member_index(t, port, SL_MEMBER_IN);
  const struct sl_collection *c = t->algorithm->members[m].collection;
  const int index = sl_dimension_index(c, dimension);
  if (index < 0) test_die(t, "%s, a %s, has no dimension %s", port, c->name, dimension);
  if (size < 1 || size > SL_DIMENSION_MAX) test_die(t, "dimension %s.%s cannot be %u", port, dimension, size);
  for (uint32_t d = 0; d < c->dimension_count; d++) sizes[d] = c->dimensions[d].size;
  sizes[index] = size;
  set_sizes(t, m, sizes);
}

static uint64_t property_of(const void *context, uint32_t member) {
  const struct sl_test *t = context;
  return *(const uint32_t *)(const void *)(t->args + t->algorithm->members[member].args_offset);
}

void test_size_outputs(struct sl_test *t) {
  for (uint32_t m = 0; m < t->algorithm->member_count; m++) {
    const struct sl_member *port = &t->algorithm->members[m];
    uint32_t sizes[SL_DIMENSIONS_MAX] = {0};
    if (port->kind != SL_MEMBER_OUT || port->collection->dimension_count == 0) continue;
    for (uint32_t d = 0; d < port->collection->dimension_count; d++) {
      const char *name = port->collection->dimensions[d].name;
      const int64_t size = sl_dimension_size(t->algorithm, &port->dimensions[d], property_of, t);
      if (size < 1 || size > SL_DIMENSION_MAX)
        test_die(t, "dimension %s.%s is %lld", port->name, name, (long long)size);
      sizes[d] = (uint32_t)size;
    }
    set_sizes(t, m, sizes);
  }
}
