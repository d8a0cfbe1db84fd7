/* generic.gather_lists: for each event, the event lists that contain it.
 *
 * The slice is divided into chunks of 32 events; a list is one 32-bit word per chunk, one bit per event.
 *   1. mark_events  one block per chunk, one thread per list: finds the first listed event of the chunk by a search
 *      with
 *                   eight-fold subdivision and writes the word; the threads then count the lists of each event, and add
 *                   the events of each list, and the exclusive ones, to the totals
 *   2. a scan converts the counts to offsets
 *   3. write_lists  one warp per event, one lane per list: writes the list indices of the event, ascending
 * Determinism: each word has one writer; counts and totals are integer sums.
 * Cost for E events and L lists: step 1 reads the lists once and about 8 log8(length) words per word; step 3 reads E *
 * L bits in words of 32.
 */
#include "generic/event_model.h"

#include <sluice/kernel.h>

enum { CHUNK_EVENTS = 32, AT_A_TIME = 8 };

struct gather_lists_args {
  struct sl_events events;
  struct sl_event_list_views lists;
  struct generic_decisions decisions;
  struct generic_list_totals totals;
  uint32_t *words;
};
#define SL_ARGS gather_lists_args
static const struct sl_member gather_lists_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(lists, sl_event_list, "count numbers", "event lists; their order gives their indices"),
    SL_OUT(decisions, generic_decisions, "indices of the lists that contain each event",
           SL_ITEMS(SL_ONE(SL_EVENT_ENTRIES_TERM(lists))), SL_INDEX_NAMES(lists, "list", list)),
    SL_OUT(totals, generic_list_totals, "number of events on each list, over the run",
           SL_ITEMS(SL_ONE(SL_ENTRIES_TERM(lists))), SL_ENTRY_NAMES(lists, "list")),
    /* ceil(E / 32) chunks need at most this */
    SL_SCRATCH(words, u32, "one word per list and 32 events, one bit per event",
               SL_SUM(SL_EVENT_ENTRIES_SCALED(lists, 1, 32, 0), SL_ENTRIES_TERM(lists))),
};

/* Bits of the events of the chunk that begins at event `first` that are among `count` ascending event numbers.
 * Number i is at least i, so that the numbers of the chunk are at index `first` or earlier. */
static SL_DEVICE uint32_t word_of(const uint32_t *numbers, uint32_t count, uint32_t first) {
  uint32_t begin = 0, left = count < first ? count : first, word = 0;
  while (left > 0) { /* eight-fold subdivision; the boundaries are read together */
    const uint32_t eighth = (left + AT_A_TIME - 1) / AT_A_TIME;
    uint32_t below = 0;
    SL_UNROLL
    for (uint32_t i = 1; i <= AT_A_TIME; i++)
      below += i * eighth <= left && numbers[begin + i * eighth - 1] < first ? 1u : 0u;
    begin += below * eighth;
    left -= below * eighth;
    if (left >= eighth) left = eighth - 1;
  }
  for (; begin < count && numbers[begin] - first < CHUNK_EVENTS; begin += AT_A_TIME) {
    SL_UNROLL
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
      const uint32_t bit = begin + i < count ? numbers[begin + i] - first : CHUNK_EVENTS;
      if (bit < CHUNK_EVENTS) word |= 1u << bit;
    }
  }
  return word;
}

/* Bits of the events of the chunk that are on the event list of the node. Other events have no lists. */
static SL_DEVICE uint32_t own_word(const struct sl_events *own, uint32_t first) {
  if (own->numbers) return word_of(own->numbers, *own->count, first);
  const uint32_t left = *own->count - first;
  return left < CHUNK_EVENTS ? (1u << left) - 1 : UINT32_MAX;
}

/* Index of the last event plus one. */
static SL_DEVICE uint32_t events_end(const struct sl_events *own) {
  const uint32_t count = *own->count;
  return own->numbers && count > 0 ? own->numbers[count - 1] + 1 : count;
}

SL_KERNEL(mark_events, struct gather_lists_args) {
  __shared__ uint32_t counts[CHUNK_EVENTS], alone;
  const uint32_t lists = a.lists.count, end = events_end(&a.events);
  const uint32_t parts = blockDim.x < CHUNK_EVENTS ? 1 : blockDim.x / CHUNK_EVENTS; /* number of parts of the lists,
                                                                                       for counting */
  for (uint32_t first = blockIdx.x * CHUNK_EVENTS; first < end; first += gridDim.x * CHUNK_EVENTS) {
    const uint32_t own = own_word(&a.events, first);
    uint32_t *words = a.words + (uint64_t)(first / CHUNK_EVENTS) * lists;
    for (uint32_t k = threadIdx.x; k < lists; k += blockDim.x)
      words[k] = own & word_of(a.lists.at[k].numbers, *a.lists.at[k].count, first);
    for (uint32_t e = threadIdx.x; e < CHUNK_EVENTS; e += blockDim.x) counts[e] = 0;
    if (threadIdx.x == 0) alone = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < CHUNK_EVENTS * parts; i += blockDim.x) {
      const uint32_t e = i % CHUNK_EVENTS;
      uint32_t count = 0;
      for (uint32_t k = i / CHUNK_EVENTS; k < lists; k += parts) count += words[k] >> e & 1u;
      if (count > 0) atomicAdd(&counts[e], count);
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < CHUNK_EVENTS; e += blockDim.x) {
      if (own >> e & 1u) a.decisions.offsets[first + e] = counts[e];
      if (counts[e] == 1) atomicOr(&alone, 1u << e);
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < lists; k += blockDim.x) {
      const uint32_t word = words[k];
      if (word != 0) sl_total_add(&a.totals.events[k], sl_count_bits(word));
      if ((word & alone) != 0) sl_total_add(&a.totals.alone[k], sl_count_bits(word & alone));
    }
    __syncthreads(); /* before the counts of the next chunk are cleared */
  }
}

SL_KERNEL(write_lists, struct gather_lists_args) {
  const uint32_t lists = a.lists.count;
  const uint32_t warp = blockIdx.x * sl_block_warps() + sl_warp_index(), warps = gridDim.x * sl_block_warps();
  for (uint32_t i = warp; i < *a.events.count; i += warps) {
    const uint32_t event = sl_event_at(&a.events, i);
    const uint32_t *words = a.words + (uint64_t)(event / CHUNK_EVENTS) * lists;
    const uint32_t end = a.decisions.offsets[event + 1];
    uint32_t to = a.decisions.offsets[event];
    SL_FOR_WARP (k, lists) {
      const uint32_t is_on = k < lists ? words[k] >> event % CHUNK_EVENTS & 1u : 0;
      const uint32_t place = sl_warp_append(is_on, &to);
      if (is_on && place < end) a.decisions.list[place] = k;
    }
  }
}

static int run(const struct sl_launch *l, const struct gather_lists_args *a) {
  const uint32_t chunks = (a->events.max + CHUNK_EVENTS - 1) / CHUNK_EVENTS;
  int status = SL_COUNT_SCAN(l, mark_events, SL_PER_CHUNK(chunks), a->decisions.offsets, &a->decisions.bound, *a);
  if (status == SL_OK) status = SL_LAUNCH(l, write_lists, SL_PER_EVENT, *a);
  return status;
}

SL_ALGORITHM(gather_lists, "finds the event lists that contain each event", 128, run);
