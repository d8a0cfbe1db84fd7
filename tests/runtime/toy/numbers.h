/* numbers.h: the collection of the toy plugin, with which the executor is tested. */
#ifndef TOY_NUMBERS_H
#define TOY_NUMBERS_H

#include <sluice/plugin.h>

#define TOY_NUMBERS_FIELDS(F)                                \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "the number")
SL_COLLECTION(toy_numbers, TOY_NUMBERS_FIELDS, "numbers by event");
SL_COLLECTION(toy_scaled, TOY_NUMBERS_FIELDS, "numbers times a factor");
SL_COLLECTION(toy_expanded, TOY_NUMBERS_FIELDS, "each number as often as its value modulo three");

/* Two groups of subitems: of value v the digits of v % 8 in base 2, and v % 3 times v. */
#define TOY_PARTS_FIELDS(F)                                                       \
  F(offsets, u32, OFFSETS, "", "first number of each event")                      \
  F(digit_offsets, u32, ITEM_OFFSETS, "", "first digit of each number")           \
  F(digit, u8, PER_SUBITEM, "", "a binary digit, the lowest first")               \
  F(value, u32, PER_ITEM, "", "the number")                                       \
  F(copy_offsets, u32, ITEM_OFFSETS, "", "first copy of each number")             \
  F(copy, u32, PER_SUBITEM, "", "the number, as often as its value modulo three") \
  F(copy_half, f32, PER_SUBITEM, "", "half of it")
SL_COLLECTION(toy_parts, TOY_PARTS_FIELDS, "numbers with their digits and copies");

#if defined(__CUDACC__) || defined(__HIPCC__)
__host__ __device__
#endif
    static inline uint32_t
    toy_digits(uint32_t value) {
  return value % 8 > 3 ? 3 : value % 8 > 1 ? 2 : value % 8;
}

/* Of the values that leave the remainder i modulo 4, entry i. */
#define TOY_TOTALS_FIELDS(F)                                            \
  F(values, u32, TOTAL, "", "how many")                                 \
  F(sums, u64, TOTAL_OF(2), "", "their sum, and that of their squares") \
  F(balance, i64, TOTAL, "", "those below 500 less those from 500 on")
SL_COLLECTION(toy_totals, TOY_TOTALS_FIELDS, "sums over the run");
enum { TOY_TOTALS_ENTRIES = 4 };

#define TOY_SUMS_FIELDS(F)                         \
  F(count, u32, PER_EVENT, "", "how many numbers") \
  F(sum, u32, PER_EVENT, "", "their sum")          \
  F(mean, f32, PER_EVENT, "", "their mean, 0 for none")
SL_COLLECTION(toy_sums, TOY_SUMS_FIELDS, "sums by event");

#define TOY_STEPS_FIELDS(F) F(step, i32, ARRAY, "", "a step")
SL_COLLECTION(toy_steps, TOY_STEPS_FIELDS, "a few steps, a constant");

/* What look_up computes of its word. */
struct toy_prepared {
  uint32_t length, name_length;
};

#define TOY_TABLE_FIELDS(F) F(value, u32, ARRAY, "", "numbers that are the same for all events")
SL_COLLECTION(toy_table, TOY_TABLE_FIELDS, "a table");

/* What the source makes of event `number`: this many values, and value i. */
static inline uint32_t toy_count(uint64_t number) { return (uint32_t)(number * 7 % 13); }
static inline uint32_t toy_value(uint64_t number, uint32_t i) {
  return (uint32_t)((number * 2654435761u + i * 40503u) >> 3) % 1000;
}

#endif
