/* plugin.c: algorithms that break the contract, one rule each, for the tests of `sluice test`. */
#include <sluice/plugin.h>

#define KERNELS(K)                                                                                             \
  K(fine)                                                                                                      \
  K(unwritten) K(next_number) K(by_place) K(by_slice) K(from_zero) K(first_come) K(not_a_number) K(remembers)  \
      K(beyond) K(silent) K(descending) K(undeclared) K(changes_input) K(off_list) K(no_such_error) K(crashes) \
          K(leaves) K(endless) K(uses_table)
#define HOSTS(K) K(numbers_source) K(drifting_source) K(greedy_source) K(slice_sink) K(counted)

#define DECLARE_(name) SL_DECLARE(name);
#define ENTRY_(name)   SL_ENTRY(name),
KERNELS(DECLARE_)
#ifdef SL_TARGET_CPU
HOSTS(DECLARE_)
#endif

static const struct sl_algorithm *const algorithms[] = {KERNELS(ENTRY_)
#ifdef SL_TARGET_CPU
                                                            HOSTS(ENTRY_)
#endif
};
SL_PLUGIN("wrong", "1.0.0", "breaks each rule once");
