/* bounds.cu: kernels that touch what is not theirs. */
#include "zoo.h"

#define BOUNDS_KERNELS(F) \
  F(past_the_end)         \
  F(before_the_begin)     \
  F(writes_input)         \
  F(writes_offsets)       \
  F(other_node)           \
  F(wrapped_offset)       \
  F(null_field)

#define bounds_args zoo_args
ZOO_MEMBERS(bounds, BOUNDS_KERNELS);

#if !defined(SL_TARGET_CPU)
/* One item too many at the end of the slice's room. */
ZOO_KERNEL(past_the_end) {
  if (blockIdx.x == 0 && threadIdx.x == 0) a.copies.value[a.copies.bound.capacity] = 1; /* RACE */
}

/* The item before the first. */
ZOO_KERNEL(before_the_begin) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t *before = a.numbers.value + ZOO_BEGIN(event) - 1;
    if (threadIdx.x == 0) a.sums.total[event] = *before; /* RACE */
  }
}

/* Sets an input to 0. */
ZOO_KERNEL(writes_input) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t *values = (uint32_t *)(uintptr_t)a.numbers.value;
    if (threadIdx.x == 0) values[ZOO_BEGIN(event)] = 0; /* RACE */
  }
}

/* The offsets are those of the input. */
ZOO_KERNEL(writes_offsets) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.copies.offsets[event] = 0; /* RACE */
}

/* Far before its own field, where another node has one. */
ZOO_KERNEL(other_node) {
  const uint32_t *elsewhere = a.sums.total - 1200;
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = elsewhere[event]; /* RACE */
}

/* A difference of offsets below 0: of 32 bits, and so far away. */
ZOO_KERNEL(wrapped_offset) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t back = ZOO_BEGIN(event) - 500;
    if (threadIdx.x == 0 && event == 0) a.copies.value[back] = 1; /* RACE */
  }
}

/* A field that nobody connected. */
ZOO_KERNEL(null_field) {
  const uint32_t *nowhere = a.events.numbers; /* all events: there is no list */
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = nowhere[event]; /* RACE */
}
#endif
ZOO_RUN(bounds, BOUNDS_KERNELS);
