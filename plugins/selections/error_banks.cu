/* selections.error_banks: lists the events in which a detector reported an error: with a bank of an error type
 * (README.md, "Event lists"). */
#include "selections/error_banks.h"

#include <sluice/kernel.h>

#define SL_ARGS error_banks_args
#define ERROR_BANKS(M)                                                         \
  M(IN, banks, error_banks, "offsets", "banks of all error types of an event") \
  M(OUT, passed, sl_event_list, "events with a bank, in ascending order")
SL_ARGUMENTS(error_banks, ERROR_BANKS);

static SL_DEVICE uint32_t passes(const struct error_banks_args *a, uint32_t event, struct sl_explanation *explanation) {
  SL_REQUIRE("error banks", a->banks.offsets[event + 1] - a->banks.offsets[event], >, 0);
  return 1;
}

SL_FILTER(error_banks, "lists the events with a bank of an error type", passes, NULL);
