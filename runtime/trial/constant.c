/* constant.c: makes a constant twice, in memory with different initial bytes, and compares the bytes. */
#include "trial/trial.h"

#include <string.h>

enum { OTHER_POISON = 0x5A };

struct array {
  void *values;
  uint64_t count;
};

static void make(struct sl_test *t, const struct trial_case *c, struct sl_child *log) {
  trial_give(c, t);
  const int status = sl_test_run(t);
  if (status != SL_OK)
    sl_child_wrong(log, "it returned %d (%s): %s", status, sl_error_text(status), sl_test_messages(t));
}

/* Calls `look` for each array that was made. */
static void for_each_array(struct sl_test *t, struct array *kept, struct sl_child *log,
                           void (*look)(struct sl_test *, const struct sl_member *, const struct sl_field *,
                                        const struct test_field *, struct array *, struct sl_child *)) {
  for (uint32_t m = 0; m < t->algorithm->member_count; m++) {
    const struct sl_member *member = &t->algorithm->members[m];
    for (uint32_t f = 0; member->kind == SL_MEMBER_OUT && f < member->collection->field_count; f++)
      look(t, member, &member->collection->fields[f], &t->members[m].fields[f], kept++, log);
  }
}

static void keep(struct sl_test *t, const struct sl_member *m, const struct sl_field *field,
                 const struct test_field *made, struct array *kept, struct sl_child *log) {
  (void)t;
  if (!made->memory.values) sl_child_wrong(log, "it did not make %s.%s", m->name, field->name);
  kept->count = made->count;
  kept->values = test_allocate(made->memory.bytes + 1, 1);
  memcpy(kept->values, made->memory.values, made->memory.bytes);
}

static void compare(struct sl_test *t, const struct sl_member *m, const struct sl_field *field,
                    const struct test_field *made, struct array *kept, struct sl_child *log) {
  (void)t;
  if (made->count != kept->count)
    sl_child_wrong(log, "%s.%s has %llu values, expected %llu", m->name, field->name, (unsigned long long)made->count,
                   (unsigned long long)kept->count);
  const size_t bytes = kept->count ? made->memory.bytes / (size_t)kept->count : 1;
  for (uint64_t i = 0; i < kept->count; i++)
    if (memcmp((const char *)made->memory.values + i * bytes, (const char *)kept->values + i * bytes, bytes) != 0)
      sl_child_wrong(log, "value %llu of %s.%s differs", (unsigned long long)i, m->name, field->name);
}

void trial_run_constant(void *context, struct sl_child *log) {
  const struct trial_run *r = context;
  struct sl_test *t = test_open(r->plugin_path, r->algorithm);
  uint32_t count = 0;
  for (uint32_t m = 0; m < t->algorithm->member_count; m++)
    if (t->algorithm->members[m].kind == SL_MEMBER_OUT) count += t->algorithm->members[m].collection->field_count;
  struct array *kept = test_allocate(count, sizeof *kept);
  sl_child_stage(log, "as in the graph");
  make(t, r->inputs, log);
  for_each_array(t, kept, log, keep);
  sl_child_stage(log, "made a second time");
  t->poison = OTHER_POISON;
  make(t, r->inputs, log);
  for_each_array(t, kept, log, compare);
  snprintf(log->text, sizeof log->text, "%s, node %s", r->graph->shown, r->graph->node);
}
