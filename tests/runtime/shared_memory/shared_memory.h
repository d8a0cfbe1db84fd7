/* shared_memory.h: collections of the algorithms in this folder. */
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include <sluice/plugin.h>

#define SMALLER_NUMBERS_FIELDS(F)                            \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "any number")
SL_COLLECTION(smaller_numbers, SMALLER_NUMBERS_FIELDS, "numbers by event");

#endif
