/* example.h: the event model of the example plugin, which the tests of the runtime use. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <sluice/plugin.h>

#define EXAMPLE_NUMBERS_FIELDS(F)                            \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, f32, PER_ITEM, "mm", "the number")                \
  F(tag, u8, PER_ITEM, "", "tag of the number")
SL_COLLECTION(example_numbers, EXAMPLE_NUMBERS_FIELDS, "numbers, by event");

#define EXAMPLE_SCALED_FIELDS(F)                             \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, f32, PER_ITEM, "mm", "the number, scaled")        \
  F(largest, f32, PER_EVENT, "mm", "largest of the event, 0 if there is none")
SL_COLLECTION(example_scaled, EXAMPLE_SCALED_FIELDS, "scaled numbers, by event");

#define EXAMPLE_MERGED_FIELDS(F)                             \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, f32, PER_ITEM, "mm", "the number")                \
  F(part, u32, PER_ITEM, "", "index of the part")            \
  F(lists, u32, PER_EVENT, "", "number of lists with the event")
SL_COLLECTION(example_merged, EXAMPLE_MERGED_FIELDS, "numbers of several parts, by event");

#define EXAMPLE_RUNS_FIELDS(F)                                         \
  F(offsets, u32, OFFSETS, "", "first run of each event")              \
  F(member_offsets, u32, ITEM_OFFSETS, "", "first member of each run") \
  F(range, f32, PER_ITEM_OF(2), "mm", "smallest and largest value")    \
  F(member, u32, PER_SUBITEM, "", "index of the number in the event")
SL_COLLECTION(example_runs, EXAMPLE_RUNS_FIELDS, "runs of neighbouring numbers of one sign");

#define EXAMPLE_WEIGHTS_FIELDS(F) F(weight, f64, ARRAY, "", "a weight for each tag")
SL_COLLECTION(example_weights, EXAMPLE_WEIGHTS_FIELDS, "weights, a constant");

#endif
