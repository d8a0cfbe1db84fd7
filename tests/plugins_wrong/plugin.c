/* plugin.c: algorithms that each break one rule of the contract, for the tests of `sluice test`. */
#include <sluice/plugin.h>

SL_DECLARE(fine);
SL_DECLARE(unwritten);
SL_DECLARE(next_number);
SL_DECLARE(by_place);
SL_DECLARE(by_slice);
SL_DECLARE(from_zero);
SL_DECLARE(first_come);
SL_DECLARE(not_a_number);
SL_DECLARE(remembers);
SL_DECLARE(beyond);
SL_DECLARE(silent);
SL_DECLARE(descending);
SL_DECLARE(undeclared);
SL_DECLARE(changes_input);
SL_DECLARE(off_list);
SL_DECLARE(no_such_error);
SL_DECLARE(crashes);
SL_DECLARE(leaves);
SL_DECLARE(endless);
SL_DECLARE(first_offset);
SL_DECLARE(counts_slices);
SL_DECLARE(other_version);
SL_DECLARE(uses_table);
SL_DECLARE(good_family);
SL_DECLARE(first_node);
SL_DECLARE(first_list);
SL_DECLARE(first_property);
#ifdef SL_TARGET_CPU
SL_DECLARE(numbers_source);
SL_DECLARE(drifting_source);
SL_DECLARE(greedy_source);
SL_DECLARE(slice_sink);
SL_DECLARE(bad_markup);
SL_DECLARE(drifting_drawing);
SL_DECLARE(no_drawing);
SL_DECLARE(counted);
#endif

static const struct sl_algorithm *const algorithms[] = {
#ifdef SL_TARGET_CPU
    SL_ENTRY(numbers_source), SL_ENTRY(drifting_source),  SL_ENTRY(greedy_source), SL_ENTRY(slice_sink),
    SL_ENTRY(bad_markup),     SL_ENTRY(drifting_drawing), SL_ENTRY(no_drawing),    SL_ENTRY(counted),
#endif
    SL_ENTRY(fine),           SL_ENTRY(unwritten),        SL_ENTRY(next_number),   SL_ENTRY(by_place),
    SL_ENTRY(by_slice),       SL_ENTRY(from_zero),        SL_ENTRY(first_come),    SL_ENTRY(not_a_number),
    SL_ENTRY(remembers),      SL_ENTRY(beyond),           SL_ENTRY(silent),        SL_ENTRY(descending),
    SL_ENTRY(undeclared),     SL_ENTRY(changes_input),    SL_ENTRY(off_list),      SL_ENTRY(no_such_error),
    SL_ENTRY(crashes),        SL_ENTRY(leaves),           SL_ENTRY(endless),       SL_ENTRY(first_offset),
    SL_ENTRY(counts_slices),  SL_ENTRY(other_version),    SL_ENTRY(uses_table),    SL_ENTRY(good_family),
    SL_ENTRY(first_node),     SL_ENTRY(first_list),       SL_ENTRY(first_property)};
SL_PLUGIN("wrong", "1.0.0", "breaks each rule once");
