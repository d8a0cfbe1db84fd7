/* bounds.cu: kernels that access memory outside of their fields. */
#include "zoo.h"

#define BOUNDS_KERNELS(F) \
  F(past_the_end)         \
  F(past_shared)          \
  F(across_shared)        \
  F(before_shared)        \
  F(before_the_begin)     \
  F(writes_input)         \
  F(writes_offsets)       \
  F(other_node)           \
  F(wrapped_offset)       \
  F(null_field)

#define bounds_args zoo_args
ZOO_MEMBERS(bounds, BOUNDS_KERNELS);

#if !defined(SL_TARGET_CPU)
/* Writes one item past the capacity of the slice. */
ZOO_KERNEL(past_the_end) {
  if (blockIdx.x == 0 && threadIdx.x == 0) a.copies.value[a.copies.bound.capacity] = 1; /* RACE */
}

/* Writes one value past the shared memory of the launch. */
ZOO_KERNEL(past_shared) {
  uint32_t *values = (uint32_t *)sl_shared_memory();
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) values[ZOO_THREADS] = event; /* RACE */
}

/* Writes 8 bytes, the last 4 past the end. */
ZOO_KERNEL(across_shared) {
  uint32_t *values = (uint32_t *)sl_shared_memory();
  SL_FOR_EVENTS (event, a.events) {
    const uint64_t value = event;
    if (threadIdx.x == 0) memcpy(values + ZOO_THREADS - 1, &value, sizeof value); /* RACE */
  }
}

/* Reads the value before the first. */
ZOO_KERNEL(before_shared) {
  const uint32_t *values = (const uint32_t *)sl_shared_memory() - 1;
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = *values; /* RACE */
}

/* Reads the item before the first. */
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

/* Writes offsets that are shared with the input. */
ZOO_KERNEL(writes_offsets) {
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.copies.offsets[event] = 0; /* RACE */
}

/* Reads far before its own field, in the field of another node. */
ZOO_KERNEL(other_node) {
  const uint32_t *elsewhere = a.sums.total - 1200;
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = elsewhere[event]; /* RACE */
}

/* A negative difference of offsets wraps to a large 32-bit index. */
ZOO_KERNEL(wrapped_offset) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t back = ZOO_BEGIN(event) - 500;
    if (threadIdx.x == 0 && event == 0) a.copies.value[back] = 1; /* RACE */
  }
}

/* Reads a field that is not connected. */
ZOO_KERNEL(null_field) {
  const uint32_t *nowhere = a.events.numbers; /* NULL: the node runs on all events */
  SL_FOR_EVENTS (event, a.events)
    if (threadIdx.x == 0) a.sums.total[event] = nowhere[event]; /* RACE */
}
#endif
ZOO_RUN(bounds, BOUNDS_KERNELS);
