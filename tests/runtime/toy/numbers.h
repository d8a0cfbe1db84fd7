/* numbers.h: the collections of the toy plugin, which is used to test the executor. */
#ifndef TOY_NUMBERS_H
#define TOY_NUMBERS_H

#include <sluice/plugin.h>

#define TOY_NUMBERS_FIELDS(F)                                \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "the number")
SL_COLLECTION(toy_numbers, TOY_NUMBERS_FIELDS, "numbers by event");
SL_COLLECTION(toy_scaled, TOY_NUMBERS_FIELDS, "numbers times a factor");
SL_COLLECTION(toy_expanded, TOY_NUMBERS_FIELDS, "value % 3 copies of each number");

/* Two groups of subitems: the digits of value % 8 in base 2, and value % 3 copies of the value. */
#define TOY_PARTS_FIELDS(F)                                             \
  F(offsets, u32, OFFSETS, "", "first number of each event")            \
  F(digit_offsets, u32, ITEM_OFFSETS, "", "first digit of each number") \
  F(digit, u8, PER_SUBITEM, "", "a binary digit, the lowest first")     \
  F(value, u32, PER_ITEM, "", "the number")                             \
  F(copy_offsets, u32, ITEM_OFFSETS, "", "first copy of each number")   \
  F(copy, u32, PER_SUBITEM, "", "copy of the number, value % 3 times")  \
  F(copy_half, f32, PER_SUBITEM, "", "half of the number")
SL_COLLECTION(toy_parts, TOY_PARTS_FIELDS, "numbers with their digits and copies");

#if defined(__CUDACC__) || defined(__HIPCC__)
__host__ __device__
#endif
    static inline uint32_t
    toy_digits(uint32_t value) {
  return value % 8 > 3 ? 3 : value % 8 > 1 ? 2 : value % 8;
}

/* Entry i: the values with remainder i modulo 4. */
#define TOY_TOTALS_FIELDS(F)                                     \
  F(values, u32, TOTAL, "", "number of values")                  \
  F(sums, u64, TOTAL_OF(2), "", "sum of values, sum of squares") \
  F(balance, i64, TOTAL, "", "number of values below 500 minus number of others")
SL_COLLECTION(toy_totals, TOY_TOTALS_FIELDS, "sums over the run");
enum { TOY_TOTALS_ENTRIES = 4 };

#define TOY_SUMS_FIELDS(F)                         \
  F(count, u32, PER_EVENT, "", "number of values") \
  F(sum, u32, PER_EVENT, "", "sum of the values")  \
  F(mean, f32, PER_EVENT, "", "mean of the values, 0 for none")
SL_COLLECTION(toy_sums, TOY_SUMS_FIELDS, "sums by event");

#define TOY_BINS_FIELDS(F) F(counts, u32, TOTAL, "values", "number of values below, in each bin, above, and not finite")
SL_COLLECTION(toy_bins, TOY_BINS_FIELDS, "a histogram");

#define TOY_STEPS_FIELDS(F) F(step, i32, ARRAY, "", "a step")
SL_COLLECTION(toy_steps, TOY_STEPS_FIELDS, "a constant with a few steps");

/* Computed by look_up from its word. */
struct toy_prepared {
  uint32_t length, name_length;
};

#define TOY_TABLE_FIELDS(F) F(value, u32, ARRAY, "", "number of a constant table")
SL_COLLECTION(toy_table, TOY_TABLE_FIELDS, "a table");

/* Event `number` has toy_count(number) values; toy_value(number, i) is value i. */
static inline uint32_t toy_count(uint64_t number) { return (uint32_t)(number * 7 % 13); }
static inline uint32_t toy_value(uint64_t number, uint32_t i) {
  return (uint32_t)((number * 2654435761u + i * 40503u) >> 3) % 1000;
}

#endif
