/* plume.decode: signals of PLUME from its raw bank (README.md, "The bank"). One thread per event, which has one such
 * bank or none. Banks of other sources have no signals of collisions and are ignored.
 */
#include "plume/event_model.h"
#include "plume/raw_banks.h"

#include <sluice/kernel.h>

enum { SOURCE = 0x5001, ADC_BITS = 12, BANK_BYTES = 4 * PLUME_BOARDS + PLUME_CHANNELS * ADC_BITS / 8 };

/* Errors that refuse an event. */
enum { PLUME_SEVERAL = 1, PLUME_BAD_LENGTH = 2 };
static const struct sl_event_error decode_errors[] = {
    {PLUME_SEVERAL, 0, "there are several PLUME banks of source 0x5001 (detail: how many)"},
    {PLUME_BAD_LENGTH, 0, "the PLUME bank of source 0x5001 does not have 104 bytes (detail: how many it has)"}};

#define SL_ARGS decode_args
#define DECODE(M)                                                              \
  M(IN, banks, plume_banks, "offsets source_id size_bytes first_word payload", \
    "PLUME banks; at most one of source 0x5001 per event")                     \
  M(OUT, signals, plume_signals, "ADC values and flags of each event")
SL_ARGUMENTS(decode, DECODE);

/* The bank with signals of an event, or the end of its banks if there is none; *count: number of such banks. */
static SL_DEVICE uint32_t find(const struct plume_banks_view *banks, uint32_t event, uint32_t *count) {
  const uint32_t end = banks->offsets[event + 1];
  uint32_t found = end;
  *count = 0;
  for (uint32_t bank = end; bank-- > banks->offsets[event];) {
    if (banks->source_id[bank] != SOURCE) continue;
    found = bank;
    ++*count;
  }
  return found;
}

/* 32 bits of a bank as a number; bits count from the highest bit of the first byte on. */
static SL_DEVICE uint32_t word_at(const uint32_t *payload, uint32_t word) {
  const uint32_t bytes = payload[word];
  return bytes << 24 | (bytes << 8 & 0xFF0000u) | (bytes >> 8 & 0xFF00u) | bytes >> 24;
}

/* Reverses the bits of a word: its highest bit is channel 0. */
static SL_DEVICE uint32_t reversed(uint32_t word) {
  uint32_t bits = 0;
  for (uint32_t c = 0; c < PLUME_BOARD_CHANNELS; c++) bits |= (word >> (31 - c) & 1u) << c;
  return bits;
}

static SL_DEVICE uint32_t adc_of(const uint32_t *payload, uint32_t channel) {
  const uint32_t bit = PLUME_CHANNELS + ADC_BITS * channel, word = bit / 32, shift = bit % 32;
  const uint64_t first = (uint64_t)word_at(payload, word) << 32;
  const uint64_t both = first | (shift + ADC_BITS > 32 ? word_at(payload, word + 1) : 0);
  return (uint32_t)(both >> (64 - ADC_BITS - shift)) & ((1u << ADC_BITS) - 1);
}

SL_KERNEL(decode_banks, struct decode_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t count;
    const uint32_t bank = find(&a.banks, event, &count), bytes = count > 0 ? a.banks.size_bytes[bank] : 0;
    const uint32_t is_there = count == 1 && bytes == BANK_BYTES;
    const uint32_t *payload = a.banks.payload + (is_there ? a.banks.first_word[bank] : 0);
    if (count > 1)
      sl_event_fail(&a.events, event, PLUME_SEVERAL, count);
    else if (count == 1 && !is_there)
      sl_event_fail(&a.events, event, PLUME_BAD_LENGTH, bytes);
    a.signals.is_there[event] = (uint8_t)is_there;
    for (uint32_t b = 0; b < PLUME_BOARDS; b++)
      a.signals.over_threshold[PLUME_BOARDS * event + b] = is_there ? reversed(word_at(payload, b)) : 0;
    for (uint32_t c = 0; c < PLUME_CHANNELS; c++)
      a.signals.adc[PLUME_CHANNELS * event + c] = (uint16_t)(is_there ? adc_of(payload, c) : 0);
  }
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  return SL_LAUNCH(l, decode_banks, SL_THREAD_PER_EVENT, *a);
}

SL_ALGORITHM(decode, "ADC values and flags of PLUME channels, from its raw bank", 128, run,
             SL_ERRORS_OF(decode_errors));
