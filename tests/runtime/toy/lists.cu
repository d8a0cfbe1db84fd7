/* lists.cu: kernels with list ports: of collections with items, of event lists, of constants. */
#include "numbers.h"

#include <sluice/kernel.h>

/* --------------------------------------------------------------------------------------------------- join */

struct join_args {
  struct sl_events events;
  struct toy_numbers_views parts;
  struct toy_numbers joined;
};
#define SL_ARGS join_args
static const struct sl_member join_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(parts, toy_numbers, "offsets value", "numbers"),
    SL_OUT(joined, toy_numbers, "numbers of all parts of an event, in the order of the parts",
           SL_ITEMS(SL_ONE(SL_ITEMS_TERM(parts)))),
};
#undef SL_ARGS

SL_KERNEL(count_joined, struct join_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < a.parts.count; k++)
      count += a.parts.at[k].offsets[event + 1] - a.parts.at[k].offsets[event];
    a.joined.offsets[event] = count;
  }
}

SL_KERNEL(write_joined, struct join_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t to = a.joined.offsets[event];
    const uint32_t end = a.joined.offsets[event + 1];
    for (uint32_t k = 0; k < a.parts.count && to < end; k++) {
      const struct toy_numbers_view *part = &a.parts.at[k];
      for (uint32_t i = part->offsets[event]; i < part->offsets[event + 1]; i++) a.joined.value[to++] = part->value[i];
    }
  }
}

static int run_join(const struct sl_launch *l, const struct join_args *a) {
  int status = SL_LAUNCH(l, count_joined, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->joined.offsets, &a->joined.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_joined, SL_THREAD_PER_EVENT, *a);
  return status;
}

static int check_join(const struct sl_services *s, const void *arguments) {
  const struct join_args *a = (const struct join_args *)arguments;
  for (uint32_t k = 0; k < a->parts.count; k++)
    if (strcmp(a->parts.names[k], "missing") == 0) {
      s->message(s->context, SL_ERROR, "part %u of %u is missing", k, a->parts.count);
      return SL_EINVAL;
    }
  return SL_OK;
}
SL_ALGORITHM(join, "joins numbers", 64, run_join, SL_CHECK(check_join));

/* --------------------------------------------------------------------------------------------------- vote */

struct vote_args {
  struct sl_events events;
  struct sl_event_list_views lists;
  struct toy_numbers_view numbers;
  struct toy_table_views tables;
  struct toy_sums sums;
};
#define SL_ARGS vote_args
static const struct sl_member vote_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(lists, sl_event_list, "count numbers", "event lists to count"),
    SL_IN(numbers, toy_numbers, "offsets", "numbers"),
    SL_LIST_IN(tables, toy_table, "value", "tables; the sum of their first values, times their index from 1, is added"),
    SL_OUT(sums, toy_sums,
           "count: lists with the event; sum: their indices from 1, plus the tables; mean: number of values"),
};
#undef SL_ARGS

SL_KERNEL(vote_for_events, struct vote_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t count = 0, sum = 0;
    for (uint32_t k = 0; k < a.lists.count; k++)
      for (uint32_t i = 0; i < *a.lists.at[k].count; i++)
        if (a.lists.at[k].numbers[i] == event) {
          count++;
          sum += k + 1;
        }
    for (uint32_t k = 0; k < a.tables.count; k++) sum += (k + 1) * a.tables.at[k].value[0];
    a.sums.count[event] = count;
    a.sums.sum[event] = sum;
    a.sums.mean[event] = (float)(a.numbers.offsets[event + 1] - a.numbers.offsets[event]);
  }
}

static int run_vote(const struct sl_launch *l, const struct vote_args *a) {
  return SL_LAUNCH(l, vote_for_events, SL_THREAD_PER_EVENT, *a);
}
SL_ALGORITHM(vote, "counts the lists that an event is on", 64, run_vote);

/* --------------------------------------------------------------------------------------------------- mark */

struct mark_args {
  struct sl_events events;
  struct sl_event_list_views lists;
  struct toy_numbers bits, indices;
};
#define SL_ARGS mark_args
static const struct sl_member mark_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(lists, sl_event_list, "count numbers", "event lists"),
    SL_OUT(bits, toy_numbers, "words with a bit per list: 1 if the event is on it",
           SL_ITEMS(SL_SUM(SL_EVENT_ENTRIES_SCALED(lists, 1, 32, 0), SL_EVENTS_TERM(1, 0))),
           SL_BIT_NAMES(lists, "list", value)),
    SL_OUT(indices, toy_numbers, "indices of the lists that have the event",
           SL_ITEMS(SL_ONE(SL_EVENT_ENTRIES_TERM(lists))), SL_INDEX_NAMES(lists, "entry", value)),
};
#undef SL_ARGS

static SL_DEVICE uint32_t is_on(const struct sl_event_list_view *list, uint32_t event) {
  for (uint32_t i = 0; i < *list->count; i++)
    if (list->numbers[i] == event) return 1;
  return 0;
}

SL_KERNEL(count_marks, struct mark_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < a.lists.count; k++) count += is_on(&a.lists.at[k], event);
    a.bits.offsets[event] = (a.lists.count + 31) / 32;
    a.indices.offsets[event] = count;
  }
}

SL_KERNEL(write_marks, struct mark_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    const uint32_t bits = a.bits.offsets[event], indices = a.indices.offsets[event];
    const uint32_t bits_end = a.bits.offsets[event + 1], indices_end = a.indices.offsets[event + 1];
    uint32_t at = indices;
    for (uint32_t i = bits; i < bits_end; i++) a.bits.value[i] = 0;
    for (uint32_t k = 0; k < a.lists.count; k++) {
      if (!is_on(&a.lists.at[k], event)) continue;
      if (bits + k / 32 < bits_end) a.bits.value[bits + k / 32] |= 1u << k % 32;
      if (at < indices_end) a.indices.value[at++] = k;
    }
  }
}

static int run_mark(const struct sl_launch *l, const struct mark_args *a) {
  int status = SL_LAUNCH(l, count_marks, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->bits.offsets, &a->bits.bound);
  if (status == SL_OK) status = l->scan(l, a->indices.offsets, &a->indices.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_marks, SL_THREAD_PER_EVENT, *a);
  return status;
}
SL_ALGORITHM(mark, "marks the lists of each event", 64, run_mark);
