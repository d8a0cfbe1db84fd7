/* velo.decode_retina: VELO hits from retina cluster banks. The readout has already clustered: each word is a cluster,
 * a word equal to 0 is none (README.md, "Banks").
 *   1. decode_retina_count checks headers and words of an event's banks, finds the bank of each sensor (slot), and
 *      computes the offsets of words and hits of each slot. A wrong bank refuses the event.
 *      Fast path: 208 banks in the order of the sensors, every word a cluster. Any other event: banks.h.
 *   2. The scan turns counts into offsets.
 *   3. sorted_hits_write decodes and sorts the words of each module pair (8 slots; sorted_hits.h).
 * Parallelism: count: one thread per bank; write: one warp per module pair.
 */
#include "decode_retina.h"
#include "retina_words.h"

/* --------------------------------------------------------------------------------------------------- words */

#define HITS_ARGS decode_retina_args

struct item {
  uint32_t word;
};

static SL_DEVICE struct item item_read(const struct decode_retina_args *a, uint32_t at) {
  const struct item item = {a->banks.payload[at]};
  return item;
}

static SL_DEVICE uint32_t item_is_hit(const struct item *item) { return item->word != 0 ? 1u : 0u; }

/* The hit of a word of the bank in `slot`. The column of the word is valid. */
static SL_DEVICE struct velo_hit item_hit(const struct decode_retina_args *a, uint32_t slot, uint32_t version,
                                          const struct item *item) {
  const uint32_t word = item->word, sensor = retina_sensor(slot, version, word);
  const uint32_t in_columns = column_eighths(version, word), in_rows = row_eighths(version, word);
  const uint32_t column = in_columns / 8;
  const float local_x =
      a->geometry.local_x[column] + (float)(int32_t)(in_columns % 8) * 0.125f * a->geometry.x_pitch[column];
  /* 0.5 + row + fraction is exact in any order. */
  const float local_y = (float)(int32_t)(in_rows + 4) * 0.125f * VELO_PIXEL_PITCH;
  return velo_make_hit(a->geometry.transform + 12 * sensor, local_x, local_y, retina_id(slot, version, word), word);
}

#define READ_ITEMS decode_retina_banks_cpu
#include "sorted_hits.h"

static const struct sl_event_error decode_retina_errors[] = {VELO_BANK_ERRORS(VELO_BANK_ERROR_ENTRY_)};

/* --------------------------------------------------------------------------------------------------- count */

/* 1 if bank `i` fits the fast path: bank of sensor i - `begin`, without error, of version 2 or 3 like the first bank of
 * the event, directly followed by the payload of the next bank. */
static SL_DEVICE uint32_t is_usual(const struct velo_bank_list *list, const struct velo_bank *bank, uint32_t begin,
                                   uint32_t i) {
  const uint32_t end = list->first_word[i] + list->size_bytes[i] / 4, is_last = i + 1 == begin + VELO_SENSORS ? 1 : 0;
  return bank->error == 0 && bank->version != 4 && bank->sensor == i - begin && bank->version == list->version[begin] &&
                 (is_last || list->first_word[i + 1] == end)
             ? 1
             : 0;
}

#if defined(SL_TARGET_CPU)
enum { WORDS_AT_A_TIME = 1 }; /* the compiler makes vectors of the loop */
#else
enum { WORDS_AT_A_TIME = 4 }; /* loads that a thread starts before it uses the first one */
#endif

/* Number of words that are 0, plus number of words with an invalid column, among those seen by this thread. */
static SL_DEVICE uint32_t count_unusual(const uint32_t *words, uint32_t count, uint32_t version) {
  uint32_t unusual = 0;
  for (uint32_t first = threadIdx.x; first < count; first += WORDS_AT_A_TIME * blockDim.x) {
    uint32_t word[WORDS_AT_A_TIME];
    SL_UNROLL
    for (uint32_t w = 0; w < WORDS_AT_A_TIME; w++) {
      const uint32_t i = first + w * blockDim.x;
      word[w] = i < count ? words[i] : 1u;
    }
    SL_UNROLL
    for (uint32_t w = 0; w < WORDS_AT_A_TIME; w++)
      unusual += (word[w] == 0 ? 1u : 0u) + has_bad_column(version, word[w]);
  }
  return unusual;
}

/* Fast path for an event of 208 banks, one thread per bank: fills slot_first, slot_offset and pair_first and returns
 * the number of words. Returns UINT32_MAX, and nothing is valid, if a bank does not fit. The payload words of the event
 * are contiguous; count words in them pass the column check (column at most 3) and are 0 in empty banks only. */
static SL_DEVICE uint32_t locate_usual_banks(const struct decode_retina_args *a, uint32_t event, uint32_t begin) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  const uint32_t last = begin + VELO_SENSORS - 1, first_word = list.first_word[begin];
  uint32_t sum = 0, empty = 0;
  SL_FOR_BLOCK (slot, EVENT_OFFSETS) {
    uint32_t total, mine = 0;
    struct velo_bank bank = {0, 0, 0, 0, 0};
    if (slot < VELO_SENSORS) {
      bank = velo_bank_open(&list, begin + slot);
      mine = is_usual(&list, &bank, begin, begin + slot) ? bank.word_count : 1u << 24;
      empty += bank.word_count == 0 && list.size_bytes[begin + slot] > 0 ? 1u : 0u;
      a->slot_first[event * VELO_SENSORS + slot] = bank.first_word;
    }
    const uint32_t offset = sum + sl_block_exclusive_scan(mine, &total);
    if (slot < EVENT_OFFSETS) {
      a->slot_offset[event * EVENT_OFFSETS + slot] = offset << OFFSET_SHIFT | bank.version;
      if (slot % PAIR_SLOTS == 0) a->hits.pair_first[event * (VELO_MODULE_PAIRS + 1) + slot / PAIR_SLOTS] = offset;
    }
    sum += total;
  }
  if (sum >= 1u << 24) return UINT32_MAX; /* uniform in the block */
  const uint32_t words = list.first_word[last] + list.size_bytes[last] / 4 - first_word;
  const uint32_t unusual = count_unusual(list.payload + first_word, words, list.version[begin]);
  return sl_block_sum_u32(unusual - empty) == 0 ? sum : UINT32_MAX;
}

/* Returns the number of clusters of a bank. Refuses the event if a word has an invalid column. */
static SL_DEVICE uint32_t count_clusters(const struct decode_retina_args *a, const struct velo_bank *bank,
                                         uint32_t event, uint32_t source_id, uint32_t *errors) {
  uint32_t clusters = 0, is_bad = 0;
  for (uint32_t i = 0; i < bank->word_count; i++) {
    const uint32_t word = a->banks.payload[bank->first_word + i];
    clusters += word != 0 ? 1u : 0u;
    is_bad |= has_bad_column(bank->version, word);
  }
  if (is_bad) sl_event_fail(&a->events, event, VELO_BAD_COLUMN, source_id);
  *errors += is_bad;
  return clusters;
}

/* Fills slot_first, slot_offset and pair_first of any event. Returns the number of hits, or 0 if the event is refused.
 * `counts`: shared memory, one value per slot. Called by all threads of the block. */
static SL_DEVICE uint32_t locate_banks(const struct decode_retina_args *a, uint32_t event, uint32_t *counts) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  const uint32_t begin = a->banks.offsets[event], end = a->banks.offsets[event + 1];
  uint32_t *slot_first = a->slot_first + event * VELO_SENSORS, *slot_offset = a->slot_offset + event * EVENT_OFFSETS;
  const struct velo_slots slots = {counts, slot_first, slot_offset};
  const uint32_t words = velo_slots_fill(&slots, &list, begin, end, &a->events, event);
  if (words > VELO_MAX_CLUSTERS && threadIdx.x == 0) sl_event_fail(&a->events, event, VELO_TOO_MANY, words);
  if (words == 0 || words > VELO_MAX_CLUSTERS) return 0; /* uniform in the block */
  uint32_t my_errors = 0;
  for (uint32_t slot = threadIdx.x; slot < VELO_SENSORS; slot += blockDim.x) {
    struct velo_bank bank = {0, 0, 0, 0, 0};
    uint32_t clusters = 0;
    if (slot_offset[slot] > 0) {
      const uint32_t i = begin + slot_first[slot];
      bank = velo_bank_open(&list, i);
      clusters = count_clusters(a, &bank, event, list.source_id[i], &my_errors);
    }
    counts[slot] = bank.word_count | clusters << 16;
    slot_first[slot] = bank.first_word;
    slot_offset[slot] = bank.version;
  }
  const uint32_t errors = sl_block_sum_u32(my_errors), hits = locate_slots(a, event, counts);
  return errors > 0 ? 0 : hits;
}

/* One block per event, one thread per bank. Reads headers (2 kB) and words (4 bytes each, and the count words); writes
 * slots (2 kB), pair_first and the number of hits. */
SL_KERNEL(decode_retina_count, struct decode_retina_args) {
  __shared__ uint32_t counts[VELO_SENSORS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.banks.offsets[event], end = a.banks.offsets[event + 1];
    uint32_t hits = end - begin == VELO_SENSORS ? locate_usual_banks(&a, event, begin) : UINT32_MAX;
    if (hits > VELO_MAX_CLUSTERS) hits = locate_banks(&a, event, counts);
    if (threadIdx.x == 0) a.hits.offsets[event] = hits;
    __syncthreads();
  }
}

static int run(const struct sl_launch *l, const struct decode_retina_args *a) {
  const int error = SL_COUNT_SCAN(l, decode_retina_count, SL_PER_EVENT, a->hits.offsets, &a->hits.bound, *a);
  return error ? error : SL_LAUNCH(l, sorted_hits_write, sorted_hits_grid(l), *a);
}

#ifdef SL_TARGET_CPU
static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct decode_retina_args *a = (const struct decode_retina_args *)args;
  return SL_COUNT_SCAN_WRITE(l, decode_retina_count, sorted_hits_write_tuned, a->hits, *a);
}
#endif

static const struct sl_kernel_block decode_retina_blocks[] = {{"decode_retina_count", 224, 0},
                                                              {"sorted_hits_write", 128, 0}};
SL_ALGORITHM(decode_retina, "VELO hits from retina cluster banks", 128, run, SL_ERRORS_OF(decode_retina_errors),
             SL_CPU_TUNED(run_tuned), SL_BLOCKS(decode_retina_blocks));
