/* zoo.h: common part of the kernels in this folder. Input: numbers by event; output: a sum per event and a copy of each
 * number. Each kernel in shared.cu, global.cu, unwritten.cu and bounds.cu has one fault, on the lines marked RACE;
 * kernels in right.cu are similar and correct. */
#ifndef ZOO_H
#define ZOO_H

#include <sluice/kernel.h>

enum { ZOO_THREADS = 64, ZOO_SCRATCH = 128, ZOO_ITEMS_MAX = 100 };

#define ZOO_NUMBERS_FIELDS(F)                                \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "the number")                  \
  F(tag, u8, PER_ITEM, "", "index in the event")
SL_COLLECTION(zoo_numbers, ZOO_NUMBERS_FIELDS, "numbers, by event");

#define ZOO_SUMS_FIELDS(F) F(total, u32, PER_EVENT, "", "something of the event")
SL_COLLECTION(zoo_sums, ZOO_SUMS_FIELDS, "a number by event");

#define ZOO_COPIES_FIELDS(F)                                 \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, u32, PER_ITEM, "", "the number")                  \
  F(tag, u8, PER_ITEM, "", "index in the event")
SL_COLLECTION(zoo_copies, ZOO_COPIES_FIELDS, "copies of numbers");

struct zoo_args {
  struct sl_events events;
  struct zoo_numbers_view numbers;
  struct zoo_sums sums;
  struct zoo_copies copies;
  uint32_t *scratch; /* ZOO_SCRATCH values per event */
  uint32_t kernel;
};
#define SL_ARGS zoo_args

/* An algorithm that runs the kernel named by the property `kernel`. */
#define ZOO_CHOICE_(name) " " #name
#define ZOO_NUMBER_(name) ZOO_##name,
#define ZOO_MEMBERS(algorithm, KERNELS)                                                \
  enum { ZOO_none, KERNELS(ZOO_NUMBER_) ZOO_KERNELS };                                 \
  static const struct sl_member algorithm##_members[] = {                              \
      SL_EVENTS(),                                                                     \
      SL_IN(numbers, zoo_numbers, "offsets value tag", "any"),                         \
      SL_OUT(sums, zoo_sums, "sums"),                                                  \
      SL_OUT(copies, zoo_copies, "copies", SL_SHARES_OFFSETS(numbers)),                \
      SL_SCRATCH(scratch, u32, "for any use", SL_ONE(SL_EVENTS_TERM(ZOO_SCRATCH, 0))), \
      SL_ENUM(kernel, "none", "kernel to run", "none" KERNELS(ZOO_CHOICE_)),           \
  }

/* On cpu a block is one thread, so that nothing can be found. ZOO_RUN_THEN: `then` runs other kernels. */
#if defined(SL_TARGET_CPU)
#define ZOO_RUN_THEN(algorithm, KERNELS, then)                                      \
  static int algorithm##_run(const struct sl_launch *l, const struct zoo_args *a) { \
    (void)l, (void)a;                                                               \
    return SL_OK;                                                                   \
  }                                                                                 \
  SL_ALGORITHM(algorithm, "kernels for --race", ZOO_THREADS, algorithm##_run)
#else
#define ZOO_LAUNCH_(name) \
  if (a->kernel == ZOO_##name) return SL_LAUNCH(l, name, ZOO_GRID, *a);
#define ZOO_RUN_THEN(algorithm, KERNELS, then)                                      \
  static int algorithm##_run(const struct sl_launch *l, const struct zoo_args *a) { \
    KERNELS(ZOO_LAUNCH_)                                                            \
    if (a->kernel == ZOO_none) return SL_OK;                                        \
    return then;                                                                    \
  }                                                                                 \
  SL_ALGORITHM(algorithm, "kernels for --race", ZOO_THREADS, algorithm##_run)
#endif
#define ZOO_RUN(algorithm, KERNELS) ZOO_RUN_THEN(algorithm, KERNELS, SL_OK)

/* sl_shared_memory() has a value for each thread. */
#define ZOO_GRID sl_grid_with_shared(SL_PER_EVENT, ZOO_THREADS * sizeof(uint32_t))

#define ZOO_KERNEL(name) SL_KERNEL(name, struct zoo_args)
#define ZOO_BEGIN(event) (a.numbers.offsets[event])
#define ZOO_COUNT(event) (a.numbers.offsets[(event) + 1] - a.numbers.offsets[event])

#endif
