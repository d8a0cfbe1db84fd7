/* generic.derive: values of an expression of fields, for each item or each event: derived fields. The runtime compiles
 * the expression when it reads the graph (docs/expressions.md); the kernel interprets its program.
 *
 *   derive            one block per event, one thread per item
 *   derive_of_events  one block per event; graphs name generic.derive, and the runtime takes this one if all fields of
 *                     the expression have values per event
 *
 * Determinism: each instruction rounds once to single precision, and each value that is not a number has the same bits.
 * Cost: reads each operand once, writes 4 bytes per value.
 */
#include "generic/event_model.h"

#include <sluice/expression_machine.h>

#include <stddef.h>

#define NOT_A_NUMBER 0x7fc00000u

/* clang-format off */
#define OPERANDS(M) \
  M(OPERAND, o1) M(OPERAND, o2) M(OPERAND, o3) M(OPERAND, o4) M(OPERAND, o5) \
  M(OPERAND, o6) M(OPERAND, o7) M(OPERAND, o8) M(OPERAND, o9) M(OPERAND, o10) \
  M(OPERAND, o11) M(OPERAND, o12) M(OPERAND, o13) M(OPERAND, o14) M(OPERAND, o15)
/* clang-format on */
#define EXPRESSION(M)                                                                                 \
  M(STRING, expression, "", "expression of fields: sqrt(NODE.x^2 + NODE.y^2), NODE: sqrt(x^2 + y^2)") \
  M(PROGRAM, program, expression, "compiled program of `expression`")

#define SL_ARGS derive_args
#define DERIVE(M) \
  EXPRESSION(M)   \
  M(FIRST_OPERAND, items) OPERANDS(M) M(OUT, derived, generic_derived, "a value per item", SL_SHARES_OFFSETS(items))
SL_ARGUMENTS(derive, DERIVE);
#undef SL_ARGS

#define SL_ARGS derive_of_events_args
#define DERIVE_OF_EVENTS(M) \
  EXPRESSION(M) M(OPERAND, items) OPERANDS(M) M(OUT, derived, generic_derived_of_events, "a value per event")
SL_ARGUMENTS(derive_of_events, DERIVE_OF_EVENTS);

/* The runtime replaces derive by derive_of_events after it has compiled the expression, so operands keep their places.
 */
SL_STATIC_ASSERT(offsetof(struct derive_args, items) == offsetof(struct derive_of_events_args, items) &&
                     offsetof(struct derive_args, o15) == offsetof(struct derive_of_events_args, o15),
                 "operands have the same places");

static SL_DEVICE float value_of(const struct sl_program *program, const struct sl_expression_subject *subject) {
  const float value = sl_expression_evaluate(program->words, program->word_count, subject);
  return value == value ? value : sl_f32_from_bits(NOT_A_NUMBER);
}

SL_KERNEL(derive_items, struct derive_args) {
  SL_FOR_EVENTS (event, a.events) {
    struct sl_expression_subject subject = {&a, a.program.links, event, 0};
    for (uint32_t i = a.items.offsets[event] + threadIdx.x; i < a.items.offsets[event + 1]; i += blockDim.x) {
      subject.item = i;
      a.derived.value[i] = value_of(&a.program, &subject);
    }
  }
}

SL_KERNEL(derive_events, struct derive_of_events_args) {
  SL_FOR_EVENTS (event, a.events) {
    const struct sl_expression_subject subject = {&a, NULL, event, event};
    if (threadIdx.x == 0) a.derived.value[event] = value_of(&a.program, &subject);
  }
}

static int run_items(const struct sl_launch *l, const struct derive_args *a) {
  return SL_LAUNCH(l, derive_items, SL_PER_EVENT, *a);
}
static int run_events(const struct sl_launch *l, const struct derive_of_events_args *a) {
  return SL_LAUNCH(l, derive_events, SL_PER_EVENT, *a);
}

SL_ALGORITHM(derive, "values of an expression of fields: a derived field", 64, run_items);
SL_ALGORITHM(derive_of_events, "values of an expression of fields per event; chosen by the runtime", 32, run_events);
