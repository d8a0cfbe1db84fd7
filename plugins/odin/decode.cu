/* odin.decode: fields of ODIN banks of versions 6 and 7 (README.md, "The bank"). The versions have nearly the same
 * fields in different words; fields that a version lacks are 0.
 *
 * One thread per event, ten words each. An event that does not have exactly one valid ODIN bank is refused.
 */
#include "odin/event_model.h"
#include "odin/raw_banks.h"

#include <sluice/kernel.h>

enum { WORDS = 10 };

/* Errors that refuse an event. */
#define ODIN_ERRORS(E)                                                                    \
  E(ODIN_MISSING, 1, "there is no ODIN bank")                                             \
  E(ODIN_SEVERAL, 2, "there are several ODIN banks (detail: how many)")                   \
  E(ODIN_BAD_VERSION, 3, "the ODIN bank has a version other than 6 or 7 (detail: which)") \
  E(ODIN_BAD_LENGTH, 4, "the ODIN bank does not have 40 bytes (detail: how many it has)") \
  E(ODIN_BAD_BUNCH, 5, "the ODIN bank names a bunch slot beyond 3563 (detail: which)")
#define ODIN_ERROR_CODE_(name, code, text)  name = code,
#define ODIN_ERROR_ENTRY_(name, code, text) {code, 0, text},
enum { ODIN_ERRORS(ODIN_ERROR_CODE_) };
static const struct sl_event_error decode_errors[] = {ODIN_ERRORS(ODIN_ERROR_ENTRY_)};

#define SL_ARGS decode_args
#define DECODE(M)                                                                                        \
  M(IN, banks, odin_banks, "offsets version size_bytes first_word payload", "ODIN banks, one per event") \
  M(OUT, odin, odin_events, "ODIN fields of each event, for both versions")
SL_ARGUMENTS(decode, DECODE);

/* `count` bits of a word from bit `first` on. */
static SL_DEVICE uint32_t bits(uint32_t word, uint32_t first, uint32_t count) {
  return word >> first & ((1u << count) - 1);
}

static SL_DEVICE uint64_t join(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static SL_DEVICE void store_6(const struct odin_events *out, uint32_t event, const uint32_t *words) {
  const uint32_t packed = words[8];
  out->orbit[event] = words[2];
  out->event_number[event] = join(words[3], words[4]);
  out->gps_time[event] = join(words[5], words[6]);
  out->detector_status[event] = bits(words[7], 0, 24);
  out->error_bits[event] = (uint8_t)bits(words[7], 24, 8);
  out->bunch[event] = (uint16_t)bits(packed, 0, 12);
  out->tae_index[event] = (uint8_t)bits(packed, 12, 3);
  out->trigger_type[event] = (uint8_t)bits(packed, 16, 3);
  out->calibration_type[event] = (uint8_t)bits(packed, 19, 2);
  out->flags[event] = bits(packed, 21, 1) ? ODIN_FORCED : 0;
  out->crossing_type[event] = (uint8_t)bits(packed, 22, 2);
  out->bunch_current[event] = (uint8_t)bits(packed, 24, 8);
  out->tck[event] = words[9];
  out->partition[event] = 0;
}

static SL_DEVICE void store_7(const struct odin_events *out, uint32_t event, const uint32_t *words) {
  const uint32_t packed = words[6];
  out->gps_time[event] = join(words[3], words[2]);
  out->tck[event] = words[4];
  out->partition[event] = words[5];
  out->bunch[event] = (uint16_t)bits(packed, 0, 12);
  out->crossing_type[event] = (uint8_t)bits(packed, 12, 2);
  out->tae_index[event] = (uint8_t)bits(packed, 16, 6);
  out->trigger_type[event] = (uint8_t)bits(packed, 23, 4);
  out->calibration_type[event] = (uint8_t)bits(packed, 28, 4);
  out->flags[event] = (uint8_t)(bits(packed, 14, 1) * ODIN_NOT_SUPPRESSED | bits(packed, 15, 1) * ODIN_TAE_CENTRAL |
                                bits(packed, 27, 1) * ODIN_TAE_FIRST | bits(packed, 22, 1) * ODIN_STEP_RUN);
  out->orbit[event] = words[7];
  out->event_number[event] = join(words[9], words[8]);
  out->detector_status[event] = 0;
  out->error_bits[event] = out->bunch_current[event] = 0;
}

/* Returns 0, or the error that refuses the event and its detail. */
static SL_DEVICE uint32_t refuse(const struct odin_banks_view *banks, uint32_t event, uint32_t *detail) {
  const uint32_t bank = banks->offsets[event], count = banks->offsets[event + 1] - bank;
  *detail = count;
  if (count == 0) return ODIN_MISSING;
  if (count > 1) return ODIN_SEVERAL;
  *detail = banks->version[bank];
  if (*detail != 6 && *detail != 7) return ODIN_BAD_VERSION;
  *detail = banks->size_bytes[bank];
  if (*detail != WORDS * 4) return ODIN_BAD_LENGTH;
  *detail = bits(banks->payload[banks->first_word[bank] + (banks->version[bank] == 6 ? 8 : 6)], 0, 12);
  return *detail < ODIN_SLOTS ? 0u : (uint32_t)ODIN_BAD_BUNCH;
}

SL_KERNEL(decode_banks, struct decode_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t detail, words[WORDS];
    const uint32_t error = refuse(&a.banks, event, &detail);
    if (error != 0) sl_event_fail(&a.events, event, error, detail);
    const uint32_t bank = a.banks.offsets[event];
    for (uint32_t w = 0; w < WORDS; w++) words[w] = error != 0 ? 0 : a.banks.payload[a.banks.first_word[bank] + w];
    a.odin.run[event] = words[0];
    a.odin.event_type[event] = (uint16_t)bits(words[1], 0, 16);
    a.odin.calibration_step[event] = (uint16_t)bits(words[1], 16, 16);
    if (error == 0 && a.banks.version[bank] == 6)
      store_6(&a.odin, event, words);
    else
      store_7(&a.odin, event, words);
  }
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  return SL_LAUNCH(l, decode_banks, SL_THREAD_PER_EVENT, *a);
}

SL_ALGORITHM(decode, "run and event numbers, time, crossing and trigger of each event, from its ODIN bank", 128, run,
             SL_ERRORS_OF(decode_errors));
