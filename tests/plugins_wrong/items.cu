/* items.cu: a kernel with subitems that does not write the first offset if there are no items, and a kernel that has
 * other results on this target. */
#include "wrong.h"

#define GROUPS_FIELDS(F)                                                 \
  F(offsets, u32, OFFSETS, "", "first group of each event")              \
  F(number_offsets, u32, ITEM_OFFSETS, "", "first number of each group") \
  F(number, f32, PER_SUBITEM, "mm", "a number")
SL_COLLECTION(wrong_groups, GROUPS_FIELDS, "groups of numbers, one per event");

struct first_offset_args {
  struct sl_events events;
  struct wrong_numbers_view numbers;
  struct wrong_groups groups;
};
#define SL_ARGS first_offset_args
static const struct sl_member first_offset_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, wrong_numbers, "offsets value", "any"),
    SL_OUT(groups, wrong_groups, "all numbers of an event", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))),
           SL_SUBITEMS(SL_ONE(SL_ITEMS_TERM(numbers)))),
};

SL_KERNEL(first_offset_count, struct first_offset_args) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.groups.offsets[event] = 1;
}

/* One thread writes the events in order. */
SL_KERNEL(first_offset_fill, struct first_offset_args) {
  uint32_t to = 0;
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  for (uint32_t e = 0; e < *a.events.count; e++) {
    const uint32_t event = sl_event_at(&a.events, e);
    a.groups.number_offsets[e] = to;
    for (uint32_t i = a.numbers.offsets[event]; i < a.numbers.offsets[event + 1]; i++)
      a.groups.number[to++] = a.numbers.value[i];
    a.groups.number_offsets[e + 1] = to;
  }
}

static int first_offset_run(const struct sl_launch *l, const struct first_offset_args *a) {
  int status = SL_LAUNCH(l, first_offset_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->groups.offsets, &a->groups.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, first_offset_fill, SL_PER_EVENT, *a);
  return status;
}
SL_ALGORITHM(first_offset, "breaks a rule (see the head of the file)", 32, first_offset_run);

/* Counts slices, but only sums over events are independent of the division into slices. */
#define SLICES_FIELDS(F) F(slices, u32, TOTAL, "", "number of slices")
SL_COLLECTION(wrong_slices, SLICES_FIELDS, "a count");
struct counts_slices_args {
  struct sl_events events;
  struct wrong_numbers_view numbers;
  struct wrong_slices total;
};
#undef SL_ARGS
#define SL_ARGS counts_slices_args
static const struct sl_member counts_slices_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, wrong_numbers, "offsets", "any"),
    SL_OUT(total, wrong_slices, "slices", SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(1)))),
};
SL_KERNEL(counts_slices_kernel, struct counts_slices_args) {
  if (sl_grid_thread() == 0) sl_total_add(&a.total.slices[0], 1);
}
static int counts_slices_run(const struct sl_launch *l, const struct counts_slices_args *a) {
  return SL_LAUNCH(l, counts_slices_kernel, SL_PER_EVENT, *a);
}
SL_ALGORITHM(counts_slices, "breaks a rule (see its comment)", 32, counts_slices_run);

WRONG_ARGS(other_version)
#undef SL_ARGS
#define SL_ARGS other_version_args
WRONG_MEMBERS(other_version, "offsets value");
WRONG_COUNT(other_version)
SL_KERNEL(other_version_fill, struct other_version_args) {
  SL_FOR_EVENTS (event, a.events)
    WRONG_FOR_NUMBERS (event, i, k, to) a.kept.value[to] = a.numbers.value[i];
}
SL_KERNEL(other_version_tuned_fill, struct other_version_args) {
  SL_FOR_EVENTS (event, a.events)
    WRONG_FOR_NUMBERS (event, i, k, to) a.kept.value[to] = a.numbers.value[i] * 1.0000001f;
}
static int other_version_run(const struct sl_launch *l, const struct other_version_args *a) {
  int status = SL_LAUNCH(l, other_version_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->kept.offsets, &a->kept.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, other_version_fill, SL_PER_EVENT, *a);
  return status;
}
#ifdef SL_TARGET_CPU
static int other_version_tuned(const struct sl_launch *l, const void *args) {
  const struct other_version_args *a = (const struct other_version_args *)args;
  int status = SL_LAUNCH(l, other_version_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->kept.offsets, &a->kept.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, other_version_tuned_fill, SL_PER_EVENT, *a);
  return status;
}
#else
#define other_version_tuned NULL
#endif
SL_ALGORITHM(other_version, "breaks a rule (see the head of the file)", 64, other_version_run,
             SL_TUNED(other_version_tuned));
