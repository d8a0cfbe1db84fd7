/* shared_memory.h: collections of the algorithms in this folder. */
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include <sluice/plugin.h>

#define SMALLER_NUMBERS_FIELDS(F)                            \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "any number")
SL_COLLECTION(smaller_numbers, SMALLER_NUMBERS_FIELDS, "numbers by event");

#define SPECTRUM_VALUES_FIELDS(F)                           \
  F(offsets, u32, OFFSETS, "", "first value of each event") \
  F(re, f32, PER_ITEM, "", "real part")                     \
  F(im, f32, PER_ITEM, "", "imaginary part")
SL_COLLECTION(spectrum_values, SPECTRUM_VALUES_FIELDS, "complex values by event");

#endif
