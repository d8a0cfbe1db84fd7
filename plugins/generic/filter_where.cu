/* generic.filter_where: event list of the events with `min_count` to `max_count` items that satisfy a condition. The
 * runtime compiles the condition when it reads the graph (docs/expressions.md).
 *
 *   filter_where            1. count_items: one block per event, one thread per item, evaluates the condition
 *                           2. list_passed: one block makes the list in ascending order
 *   filter_where_of_events  one thread per event; graphs name generic.filter_where, and the runtime takes this one if
 *                           all fields of the condition have values per event
 *
 * Determinism: counts are sums of integers; a thread stops at a count that decides. Cost: reads each operand at most
 * once; writes and reads 4 bytes per event.
 */
#include <sluice/expression_machine.h>

#include <inttypes.h>
#include <stddef.h>

/* clang-format off */
#define OPERANDS(M) \
  M(OPERAND, o1) M(OPERAND, o2) M(OPERAND, o3) M(OPERAND, o4) M(OPERAND, o5) \
  M(OPERAND, o6) M(OPERAND, o7) M(OPERAND, o8) M(OPERAND, o9) M(OPERAND, o10) \
  M(OPERAND, o11) M(OPERAND, o12) M(OPERAND, o13) M(OPERAND, o14) M(OPERAND, o15)
/* clang-format on */
#define WHERE(M)                                                                                                  \
  M(STRING, where, "", "condition of items, NODE: z > 2 mm, of events, NODE.FIELD == 3, or NODE: for every item") \
  M(CONDITION, program, where, "compiled program of `where`")

#define SL_ARGS filter_where_args
#define FILTER_WHERE(M)                                                                                    \
  WHERE(M)                                                                                                 \
  M(FIRST_OPERAND, items)                                                                                  \
  OPERANDS(M)                                                                                              \
  M(OUT, passed, sl_event_list, "selected events, ascending")                                              \
  M(SCRATCH, passes, u32, "1 for selected events", SL_ONE(SL_EVENTS_TERM(1, 0)))                           \
  M(U32, min_count, 1, 0, 0xFFFFFFFF, "", "minimum number of items that satisfy the condition, inclusive") \
  M(U32, max_count, 0xFFFFFFFF, 0, 0xFFFFFFFF, "", "maximum number of items that satisfy the condition, inclusive")
SL_ARGUMENTS(filter_where, FILTER_WHERE);
#undef SL_ARGS

#define SL_ARGS filter_where_of_events_args
#define FILTER_WHERE_OF_EVENTS(M) \
  WHERE(M) M(OPERAND, items) OPERANDS(M) M(OUT, passed, sl_event_list, "selected events, ascending")
SL_ARGUMENTS(filter_where_of_events, FILTER_WHERE_OF_EVENTS);

/* The runtime replaces filter_where by filter_where_of_events after it has compiled the condition, so operands keep
 * their places. */
SL_STATIC_ASSERT(offsetof(struct filter_where_args, items) == offsetof(struct filter_where_of_events_args, items) &&
                     offsetof(struct filter_where_args, o15) == offsetof(struct filter_where_of_events_args, o15),
                 "operands have the same places");

static SL_DEVICE uint32_t is_true(const struct sl_program *program, const struct sl_expression_subject *subject) {
  return sl_expression_evaluate(program->words, program->word_count, subject) != 0.0f ? 1u : 0u;
}

/* ---------------------------------------------------------------------------------------------------- of items */

static SL_DEVICE uint32_t is_selected(const struct filter_where_args *a, uint32_t count,
                                      struct sl_explanation *explanation) {
  SL_REQUIRE("items that satisfy the condition", count, >=, a->min_count);
  SL_REQUIRE("items that satisfy the condition", count, <=, a->max_count);
  return 1;
}

SL_KERNEL(count_items, struct filter_where_args) {
  /* A thread with so many items decides, whatever the other items are. */
  const uint32_t enough = a.max_count == UINT32_MAX ? a.min_count : a.max_count + 1;
  SL_FOR_EVENTS (event, a.events) {
    struct sl_expression_subject subject = {&a, a.program.links, event, 0};
    uint32_t count = 0;
    const uint32_t begin = a.items.offsets[event] + threadIdx.x, end = a.items.offsets[event + 1];
    for (uint32_t i = begin; i < end && count < enough; i += blockDim.x) {
      subject.item = i;
      count += is_true(&a.program, &subject);
    }
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.passes[event] = is_selected(&a, count, NULL);
  }
}

static SL_DEVICE uint32_t passes(const struct filter_where_args *a, uint32_t event) { return a->passes[event]; }

SL_KERNEL(list_passed, struct filter_where_args) {
  if (blockIdx.x == 0) SL_LIST_EVENTS(&a, a.passed, passes);
}

#ifdef SL_TARGET_CPU
static uint32_t explain_item(const struct filter_where_args *a, const struct sl_expression_subject *subject,
                             struct sl_explanation *explanation) {
  SL_REQUIRE_THAT("the condition where", is_true(&a->program, subject));
  return 1;
}

static uint32_t explain_items(struct sl_explanation *explanation, const void *args, uint32_t event) {
  const struct filter_where_args *a = (const struct filter_where_args *)args;
  struct sl_expression_subject subject = {a, a->program.links, event, 0};
  uint32_t count = 0;
  for (uint32_t i = a->items.offsets[event]; i < a->items.offsets[event + 1]; i++) {
    subject.item = i;
    const uint32_t is_unmet = sl_explain_begin(explanation, i - a->items.offsets[event]);
    count += sl_explain_end(explanation, is_unmet, explain_item(a, &subject, explanation));
  }
  return sl_explained(explanation, is_selected(a, count, explanation));
}
#endif

static int run(const struct sl_launch *l, const struct filter_where_args *a) {
  const int status = SL_LAUNCH(l, count_items, SL_PER_EVENT, *a);
  return status == SL_OK ? SL_LAUNCH(l, list_passed, SL_PER_EVENT, *a) : status;
}

static int check(const struct sl_services *s, const void *args) {
  const struct filter_where_args *a = (const struct filter_where_args *)args;
  if (a->min_count <= a->max_count) return SL_OK;
  s->message(s->context, SL_ERROR, "max_count: %" PRIu32 " is less than min_count, %" PRIu32 ": no event would pass",
             a->max_count, a->min_count);
  return SL_EINVAL;
}

/* --------------------------------------------------------------------------------------------------- of events */

static SL_DEVICE uint32_t event_passes(const struct filter_where_of_events_args *a, uint32_t event,
                                       struct sl_explanation *explanation) {
  const struct sl_expression_subject subject = {a, NULL, event, event};
  SL_REQUIRE_THAT("the condition where", is_true(&a->program, &subject));
  return 1;
}

SL_ALGORITHM(filter_where, "selects events by the number of items that satisfy a condition, or by a condition", 64, run,
             SL_CHECK(check), SL_EXPLAIN(explain_items));
SL_FILTER(filter_where_of_events, "selects events by a condition of values per event; chosen by the runtime",
          event_passes, NULL);
