/* reference.c: resolves field references of an algorithm. The test then has a copy of the tables, like a node of a
 * graph, in which references are inputs.
 */
#include "base/locale.h"
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
};

static struct test_references *open_references(const struct sl_algorithm *a) {
  struct test_references *r = test_allocate(1, sizeof *r);
  r->algorithm = *a;
  r->members = test_allocate(a->member_count, sizeof *r->members);
  memcpy(r->members, a->members, a->member_count * sizeof *r->members);
  r->algorithm.members = r->members;
  r->fields = test_allocate(a->member_count, sizeof *r->fields);
  return r;
}

void test_references_close(struct test_references *r) {
  if (!r) return;
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
  if (!t->references) t->references = open_references(t->algorithm);
  t->algorithm = &t->references->algorithm;
  t->references->members[m] =
      sl_field_ref_input(&t->references->members[m], collection, (uint32_t)f, t->references->fields[m]);
  free(t->members[m].fields);
  t->members[m].field_count = collection->field_count;
  t->members[m].fields = test_allocate(collection->field_count, sizeof(struct test_field));
}
