/* kernels.cu: small kernels that use the services of the executor: lists, scans, budgets, errors, shared offsets,
 * in-place outputs. */
#include "numbers.h"

#include <sluice/kernel.h>

/* ------------------------------------------------------------------------------------------------- select */

struct select_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct sl_event_list passed;
  uint32_t modulus, tells;
};
#define SL_ARGS select_args
static const struct sl_member select_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets", "numbers"),
    SL_OUT(passed, sl_event_list, "events with a number of values divisible by modulus"),
    SL_U32(modulus, 2, 1, 1000, "", "divisor"),
    SL_BOOL(tells, 0, "report each launch of a family"),
};
#undef SL_ARGS

/* One block writes the list, in ascending order. */
static SL_DEVICE void select_node(const struct select_args *a) {
  uint32_t length = 0;
  SL_FOR_BLOCK (i, *a->events.count) {
    uint32_t wanted = 0, event = 0;
    if (i < *a->events.count) {
      event = sl_event_at(&a->events, i);
      wanted = (a->numbers.offsets[event + 1] - a->numbers.offsets[event]) % a->modulus == 0;
    }
    const uint32_t place = sl_block_append(wanted, &length);
    if (wanted) a->passed.numbers[place] = event;
  }
  if (threadIdx.x == 0) *a->passed.count = length;
}

SL_KERNEL(select_events, struct select_args) {
  if (blockIdx.x == 0) select_node(&a);
}

SL_KERNEL(select_family, struct sl_nodes) {
  SL_FOR_NODES (struct select_args, node, a) select_node(node);
}

static int run_select(const struct sl_launch *l, const struct select_args *a) {
  return SL_LAUNCH(l, select_events, SL_PER_NODE(1), *a);
}

/* Reports a note for each launch if `tells` is set, so that tests can count launches of the family. */
static int run_select_family(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {
  const struct select_args *first = (const struct select_args *)host_args;
  if (first->tells) l->services->message(l->services->context, SL_NOTE, "a family of %u", count);
  return SL_LAUNCH(l, select_family, SL_PER_NODE(count), sl_nodes_of(args, count));
}
SL_ALGORITHM(select, "selects events by the number of their values", 64, run_select,
             SL_FAMILY("select", run_select_family));

/* -------------------------------------------------------------------------------------------------- scale */

struct scale_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_scaled scaled;
  uint32_t factor;
};
#define SL_ARGS scale_args
static const struct sl_member scale_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_OUT(scaled, toy_scaled, "numbers times factor", SL_SHARES_OFFSETS(numbers)),
    SL_U32(factor, 2, 0, 1000, "", "factor"),
};
#undef SL_ARGS

SL_KERNEL(scale_values, struct scale_args) {
  SL_FOR_ITEMS (i, a.events, a.numbers.offsets) a.scaled.value[i] = a.numbers.value[i] * a.factor;
}

static int run_scale(const struct sl_launch *l, const struct scale_args *a) {
  return SL_LAUNCH(l, scale_values, SL_PER_ITEM(a->numbers), *a);
}
SL_ALGORITHM(scale, "multiplies numbers", 64, run_scale);

/* ------------------------------------------------------------------------------------------------- expand */

struct expand_args {
  struct sl_events events;
  struct toy_scaled_view scaled;
  struct toy_expanded expanded;
  uint32_t *scratch;
  uint32_t per_event, times;
};
#define SL_ARGS expand_args
static const struct sl_member expand_members[] = {
    SL_EVENTS(),
    SL_IN(scaled, toy_scaled, "offsets value", "numbers"),
    SL_OUT(expanded, toy_expanded, "copies of the numbers", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(per_event, 40)))),
    SL_SCRATCH(scratch, u32, "number of copies of each number", SL_ONE(SL_ITEMS_TERM(scaled))),
    SL_BUDGET(per_event, 40, 1, 100000000, "copies of numbers"),
    SL_U32(times, 1, 0, 1000, "", "factor of the number of copies"),
};
#undef SL_ARGS

SL_KERNEL(count_copies, struct expand_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t i = a.scaled.offsets[event] + threadIdx.x; i < a.scaled.offsets[event + 1]; i += blockDim.x) {
      a.scratch[i] = a.scaled.value[i] % 3 * a.times;
      sum += a.scratch[i];
    }
    sum = sl_block_sum_u32(sum);
    if (threadIdx.x == 0) a.expanded.offsets[event] = sum;
  }
}

SL_KERNEL(write_copies, struct expand_args) {
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) {
      uint32_t to = a.expanded.offsets[event];
      const uint32_t end = a.expanded.offsets[event + 1];
      for (uint32_t i = a.scaled.offsets[event]; i < a.scaled.offsets[event + 1] && to < end; i++)
        for (uint32_t c = 0; c < a.scratch[i]; c++) a.expanded.value[to++] = a.scaled.value[i];
    }
  }
}

static int run_expand(const struct sl_launch *l, const struct expand_args *a) {
  return SL_COUNT_SCAN_WRITE(l, count_copies, write_copies, a->expanded, *a);
}
static const struct sl_kernel_block expand_blocks[] = {{"count_copies", 96, 0}};
SL_ALGORITHM(expand, "makes value % 3 x `times` copies of each number", 64, run_expand, SL_BLOCKS(expand_blocks));

/* -------------------------------------------------------------------------------------------------- split */

struct split_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_parts parts;
  uint32_t copies_per_event, times;
};
#define SL_ARGS split_args
static const struct sl_member split_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_OUT(parts, toy_parts, "numbers with digits and copies", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(numbers))),
           SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(parts, 3, 1, 0)), SL_ONE(SL_BUDGET_TERM(copies_per_event, 40)))),
    SL_BUDGET(copies_per_event, 40, 1, 1000, "copies of numbers"),
    SL_U32(times, 1, 0, 1000, "", "factor of the number of copies"),
};
#undef SL_ARGS

SL_KERNEL(count_items, struct split_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events)
    a.parts.offsets[event] = a.numbers.offsets[event + 1] - a.numbers.offsets[event];
}

SL_KERNEL(count_parts, struct split_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t from = a.numbers.offsets[event], first = a.parts.offsets[event];
    for (uint32_t i = first + threadIdx.x; i < a.parts.offsets[event + 1]; i += blockDim.x) {
      const uint32_t value = a.numbers.value[from + i - first];
      a.parts.value[i] = value;
      a.parts.digit_offsets[i] = toy_digits(value);
      a.parts.copy_offsets[i] = value % 3 * a.times;
    }
  }
}

SL_KERNEL(write_parts, struct split_args) {
  SL_FOR_ITEMS (i, a.events, a.parts.offsets) {
    const uint32_t value = a.parts.value[i], digit = a.parts.digit_offsets[i];
    for (uint32_t d = digit; d < a.parts.digit_offsets[i + 1]; d++)
      a.parts.digit[d] = (uint8_t)(value >> (d - digit) & 1);
  }
  SL_FOR_ITEMS (i, a.events, a.parts.offsets) {
    for (uint32_t c = a.parts.copy_offsets[i]; c < a.parts.copy_offsets[i + 1]; c++) {
      a.parts.copy[c] = a.parts.value[i];
      a.parts.copy_half[c] = 0.5f * (float)(int32_t)a.parts.value[i];
    }
  }
}

static int run_split(const struct sl_launch *l, const struct split_args *a) {
  int status = SL_LAUNCH(l, count_items, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->parts.offsets, &a->parts.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, count_parts, SL_PER_EVENT, *a);
  if (status == SL_OK)
    status = l->scan_items(l, a->parts.digit_offsets, a->parts.offsets, &a->parts.digit_offsets_bound);
  if (status == SL_OK) status = l->scan_items(l, a->parts.copy_offsets, a->parts.offsets, &a->parts.copy_offsets_bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_parts, SL_PER_ITEM(a->parts), *a);
  return status;
}
SL_ALGORITHM(split, "splits numbers into digits and copies", 64, run_split);

/* -------------------------------------------------------------------------------------------------- totals */

struct totals_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_totals totals;
};
#define SL_ARGS totals_args
static const struct sl_member totals_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "offsets value", "numbers"),
    SL_OUT(totals, toy_totals, "sums of values, by remainder modulo 4",
           SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(TOY_TOTALS_ENTRIES)))),
};
#undef SL_ARGS

SL_KERNEL(total_values, struct totals_args) {
  SL_FOR_ITEMS (i, a.events, a.numbers.offsets) {
    const uint32_t value = a.numbers.value[i], entry = value % 4;
    sl_total_add(&a.totals.values[entry], 1);
    sl_total_add(&a.totals.sums[2 * entry], value);
    sl_total_add(&a.totals.sums[2 * entry + 1], (uint64_t)value * value);
    sl_total_add(&a.totals.balance[entry], value < 500 ? 1 : -1);
  }
}

static int run_totals(const struct sl_launch *l, const struct totals_args *a) {
  return SL_LAUNCH(l, total_values, SL_PER_ITEM(a->numbers), *a);
}
SL_ALGORITHM(totals, "sums the values of the run", 64, run_totals);

/* ---------------------------------------------------------------------------------------------------- sum */

struct sum_args {
  struct sl_events events;
  struct toy_numbers_view numbers;
  struct toy_sums sums;
  uint32_t refuse_value, cut_above, fail, overrun, not_a_number, crash, block_sized;
};
#define SL_ARGS sum_args
static const struct sl_member sum_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, toy_numbers, "", "numbers"),
    SL_OUT(sums, toy_sums, "sums of the numbers"),
    SL_U32(refuse_value, 100000, 0, 100000, "", "events with this value are refused"),
    SL_U32(cut_above, 100000, 0, 100000, "", "larger values are dropped and reported"),
    SL_BOOL(fail, 0, "fail"),
    SL_BOOL(overrun, 0, "write one value past the sums"),
    SL_BOOL(block_sized, 0, "add the number of threads to the sum, which makes the result depend on it"),
    SL_BOOL(crash, 0, "write to address 64"),
    SL_BOOL(not_a_number, 0, "write NaN as mean"),
};
#undef SL_ARGS
static const struct sl_event_error sum_errors[] = {{5, 0, "the event has the unwanted value"},
                                                   {7, 0, "values are too large to be summed"}};

SL_KERNEL(sum_values, struct sum_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t sum = 0, cut = 0;
    for (uint32_t i = a.numbers.offsets[event] + threadIdx.x; i < a.numbers.offsets[event + 1]; i += blockDim.x) {
      cut += a.numbers.value[i] > a.cut_above;
      if (a.numbers.value[i] == a.refuse_value) sl_event_fail(&a.events, event, 5, a.numbers.value[i]);
      if (a.numbers.value[i] <= a.cut_above) sum += a.numbers.value[i];
    }
    sum = sl_block_sum_u32(sum);
    cut = sl_block_sum_u32(cut);
    if (threadIdx.x == 0 && cut > 0) sl_event_truncated(&a.events, event, 7, cut);
    if (threadIdx.x == 0) {
      a.sums.count[event] = a.numbers.offsets[event + 1] - a.numbers.offsets[event];
      a.sums.sum[event] = sum + (a.block_sized ? blockDim.x : 0);
      const float count = (float)a.sums.count[event];
      a.sums.mean[event] = a.not_a_number ? (count - count) / (count - count)
                           : count > 0.0f ? (float)sum / count
                                          : 0.0f;
      if (a.crash) *(volatile uint32_t *)(uintptr_t)(64u * a.crash) = 0;
      if (a.overrun) a.sums.sum[a.events.max] = 0;
    }
  }
}

static int run_sum(const struct sl_launch *l, const struct sum_args *a) {
  if (a->fail) return SL_EDEVICE;
  return SL_LAUNCH(l, sum_values, SL_PER_EVENT, *a);
}
SL_ALGORITHM(sum, "sums numbers by event", 64, run_sum, SL_ERRORS_OF(sum_errors));
