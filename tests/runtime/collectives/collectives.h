/* collectives.h: arguments of the kernel in this folder; its test fills the structs by hand. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include <sluice/math64.h>
#include <sluice/plugin.h>

enum { FUNCTIONS = 8 };

/* Has both signs, and is so large that sums need 64 bits. */
SL_MATH_FUNCTION int64_t prefix_term(uint32_t value, uint32_t i) {
  return i % 3 ? -((int64_t)value << 20) : (int64_t)value << 21;
}

SL_MATH_FUNCTION double third_of(float weight) { return (double)weight / 3.0; }

SL_MATH_FUNCTION void all_functions(float weight, double *results) {
  const double x = third_of(weight);
  results[0] = sl_exp(x);
  results[1] = sl_expm1(x);
  results[2] = sl_sinh(x);
  results[3] = sl_log(sl_abs_f64(x));
  results[4] = sl_log1p(sl_abs_f64(x));
  results[5] = sl_sin(x);
  results[6] = sl_cos(x);
  results[7] = sl_atan2(x, 1.0 - x);
}

#define COLLECTIVES_NUMBERS(F)                               \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "the number")                  \
  F(weight, f32, PER_ITEM, "", "what the sum of floats adds")
SL_COLLECTION(collectives_numbers, COLLECTIVES_NUMBERS, "numbers by event");

#define COLLECTIVES_RESULTS(F)                                                                    \
  F(offsets, u32, OFFSETS, "", "first value of each event")                                       \
  F(prefix, u32, PER_ITEM, "", "sum of the event's numbers before this one")                      \
  F(kept, u32, PER_ITEM, "", "indices of the numbers divisible by three, kept_count of them")     \
  F(kept_count, u32, PER_EVENT, "", "number of selected numbers")                                 \
  F(sum, u32, PER_EVENT, "", "sum of all numbers")                                                \
  F(signed_sum, i64, PER_EVENT, "", "sum of the numbers, those of odd index negative")            \
  F(smallest, u64, PER_EVENT, "", "the smallest number, and its index in the low 32 bits")        \
  F(weight_sum, f32, PER_EVENT, "", "sum of the weights by 32 partial sums")                      \
  F(atomics, u32, PER_EVENT_OF(7), "", "add, subtract, or, and, maximum, minimum, exchange")      \
  F(prefix_i64, i64, PER_ITEM, "", "sum of prefix_term() of the event's numbers before this one") \
  F(weight_sum64, f64, PER_EVENT, "", "sum of thirds of the weights in double precision")         \
  F(functions, f64, PER_ITEM_OF(FUNCTIONS), "", "functions of math64.h of the weights")           \
  F(agree, u32, PER_EVENT, "", "1: all threads got the same results")
SL_COLLECTION(collectives_results, COLLECTIVES_RESULTS, "results of collectives and atomics");

#define WARPS_RESULTS(F)                                                                      \
  F(offsets, u32, OFFSETS, "", "first value of each event")                                   \
  F(sorted, u32, PER_ITEM, "", "the numbers in parts, each ascending")                        \
  F(part, u32, PER_ITEM, "", "index where the part of this entry begins")                     \
  F(before, u32, PER_ITEM, "", "sum of the event's numbers before this one")                  \
  F(kept, u32, PER_ITEM, "", "indices of the numbers divisible by three, kept_count of them") \
  F(kept_count, u32, PER_EVENT, "", "number of selected numbers")                             \
  F(has_seventh, u32, PER_EVENT, "", "1: a number is divisible by seven")                     \
  F(begun, u32, PER_ITEM, "", "numbers divisible by three up to this one")                    \
  F(weighted, u32, PER_ITEM, "", "sum of the event's numbers, each times its index plus 1")   \
  F(largest, u32, PER_ITEM, "", "largest of the eight numbers of this group")                 \
  F(sum, u32, PER_ITEM, "", "sum of the eight numbers of this group")                         \
  F(has_odd, u32, PER_ITEM, "", "1: one of the eight numbers is odd")                         \
  F(turns, u32, PER_ITEM, "", "number of iterations: index of the group of 32, modulo 5")     \
  F(turned, u32, PER_ITEM, "", "the numbers in reverse")
SL_COLLECTION(warps_results, WARPS_RESULTS, "results of collectives of warps");

struct warps_args {
  struct sl_events events;
  struct collectives_numbers_view numbers;
  struct warps_results results;
};

struct collectives_args {
  struct sl_events events;
  struct collectives_numbers_view numbers;
  struct collectives_results results;
};

#endif
