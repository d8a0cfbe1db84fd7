/* faults.h: the kernels in this folder and their arguments; the test fills the struct by hand. */
#ifndef SIMT_FAULTS_H
#define SIMT_FAULTS_H

#include <sluice/plugin.h>

/* On cpu all kernels give the same, correct result. */
#define SIMT_FAULTS(F)    \
  F(correct)              \
  F(missing_barrier)      \
  F(missing_last_barrier) \
  F(divergent_barrier)    \
  F(early_return)         \
  F(uneven_loop)          \
  F(divergent_collective) \
  F(partial_warp)         \
  F(order_dependent)      \
  F(uninitialised_shared) \
  F(uninitialised_launch) \
  F(past_shared)          \
  F(before_shared)        \
  F(warp_assumed)
#define SIMT_FAULT_ENUM_(name) SIMT_FAULT_##name,
enum { SIMT_FAULTS(SIMT_FAULT_ENUM_) SIMT_FAULT_COUNT };

enum { FAULTY_ITEMS = 100 };

#define FAULTY_SUMS(F) F(value, u32, PER_EVENT, "", "a sum over the event's items")
SL_COLLECTION(faulty_sums, FAULTY_SUMS, "sums by event");

struct faulty_args {
  struct sl_events events;
  struct faulty_sums sums;
  uint32_t *list; /* FAULTY_ITEMS per event */
  uint32_t fault;
};

#endif
