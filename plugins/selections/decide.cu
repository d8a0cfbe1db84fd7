/* decide: collects the decisions of all lines by event, and lists the events that pass at least one line.
 *
 * The slice is divided into chunks of 32 events: the decisions of a line for a chunk are one word, one bit per event.
 *   1. decide_chunks, one block per chunk:
 *        one thread per line packs its 32 decisions into a word and adds to the totals of the line;
 *        one thread per event and 32 lines transposes the bits from lines to events;
 *        one thread per line counts the events that pass this line and no other.
 *   2. list_events, one block, one thread per chunk: a scan over the numbers of passed events makes the list.
 * Determinism: each word is written by one thread; counts and totals are sums of integers.
 * Cost for E events and L lines: reads E * L bytes, writes E * L bits.
 */
#include "selections/event_model.h"
#include "selections/reports.h"

#include <sluice/kernel.h>

enum { CHUNK_EVENTS = 32, WORD_LINES = 32 };

#define SL_ARGS decide_args
#define DECIDE(M)                                                                                              \
  M(LIST_IN, lines, line_decisions, "passed", "decisions of the lines, in the order of their ids")             \
  M(OUT, passed, sl_event_list, "events that pass at least one line")                                          \
  M(OUT, decisions, event_decisions, "lines that an event passes",                                             \
    SL_ITEMS(SL_SUM(SL_EVENT_ENTRIES_SCALED(lines, 1, 32, 0), SL_EVENTS_TERM(1, 0))),                          \
    SL_BIT_NAMES(lines, "line", passed))                                                                       \
  M(OUT, totals, line_totals, "number of events that pass a line, in the whole run",                           \
    SL_ITEMS(SL_ONE(SL_ENTRIES_TERM(lines))), SL_ENTRY_NAMES(lines, "line"))                                   \
  M(SCRATCH, words, u32, "one word per line and chunk of 32 events, one bit per event",                        \
    SL_SUM(SL_EVENT_ENTRIES_SCALED(lines, 1, 32, 0), SL_ENTRIES_TERM(lines)))                                  \
  M(SCRATCH, chunk_passed, u32, "one word per chunk: events that pass any line", SL_ONE(SL_EVENTS_TERM(1, 0))) \
  M(COMPUTED, key, uint32_t, "hash of ids and names of the lines")
SL_ARGUMENTS(decide, DECIDE);

static SL_DEVICE uint32_t line_words(const struct decide_args *a) {
  return (a->lines.count + WORD_LINES - 1) / WORD_LINES;
}

/* End of the range of events with offsets to write. */
static SL_DEVICE uint32_t events_end(const struct decide_args *a) {
  return a->events.numbers ? a->events.max : *a->events.count;
}

static SL_DEVICE uint32_t chunk_count(const struct decide_args *a) {
  return (events_end(a) + CHUNK_EVENTS - 1) / CHUNK_EVENTS;
}

/* Number of events of the node's list before `event`; *is_own: whether `event` is on the list. */
static SL_DEVICE uint32_t rank_of(const struct sl_events *own, uint32_t event, uint32_t *is_own) {
  const uint32_t count = *own->count;
  uint32_t begin = 0, end = count;
  if (!own->numbers) {
    *is_own = event < count;
    return event < count ? event : count;
  }
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (own->numbers[middle] < event)
      begin = middle + 1;
    else
      end = middle;
  }
  *is_own = begin < count && own->numbers[begin] == event;
  return begin;
}

/* Decisions of line `k` for the events `own` of a chunk that begins with event `first`, one bit per event. Adds to the
 * totals of the line. */
static SL_DEVICE uint32_t read_line(const struct decide_args *a, uint32_t k, uint32_t first, uint32_t own) {
  const uint8_t *passed = a->lines.at[k].passed + first;
  const uint32_t left = events_end(a) - first, count = left < CHUNK_EVENTS ? left : CHUNK_EVENTS;
  uint32_t word = 0, before = 0;
  for (uint32_t e = 0; e < count; e++) {
    const uint32_t decision = passed[e];
    word |= (decision & LINE_PASSED ? 1u : 0u) << e;
    before |= (decision & LINE_BEFORE_SCALE ? 1u : 0u) << e;
  }
  word &= own;
  before &= own;
  if (before) sl_total_add(&a->totals.before_scale[k], sl_count_bits(before));
  if (word) sl_total_add(&a->totals.passed[k], sl_count_bits(word));
  return word;
}

/* Decisions of 32 lines for event `e` of the chunk, one bit per line. */
static SL_DEVICE uint32_t transpose(const struct decide_args *a, const uint32_t *words, uint32_t w, uint32_t e) {
  const uint32_t first = w * WORD_LINES, left = a->lines.count - first;
  const uint32_t count = left < WORD_LINES ? left : WORD_LINES;
  uint32_t bits = 0;
  for (uint32_t j = 0; j < count; j++) bits |= (words[first + j] >> e & 1u) << j;
  return bits;
}

SL_KERNEL(decide_chunks, struct decide_args) {
  __shared__ uint32_t counts[CHUNK_EVENTS], ranks[CHUNK_EVENTS], own, any, alone;
  const uint32_t lines = a.lines.count, width = line_words(&a), chunks = chunk_count(&a);
  if (sl_grid_thread() == 0) {
    *a.decisions.key = a.key;
    *a.decisions.line_count = lines;
    a.decisions.offsets[0] = 0;
    if (a.decisions.bound.used) *a.decisions.bound.used = *a.events.count * width; /* a scan would set it */
  }
  for (uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const uint32_t first = chunk * CHUNK_EVENTS;
    uint32_t *words = a.words + (uint64_t)chunk * lines;
    if (threadIdx.x == 0) own = any = alone = 0;
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < CHUNK_EVENTS; e += blockDim.x) {
      uint32_t is_own;
      counts[e] = 0;
      ranks[e] = rank_of(&a.events, first + e, &is_own);
      if (is_own) atomicOr(&own, 1u << e);
      if (first + e < events_end(&a)) a.decisions.offsets[first + e + 1] = (ranks[e] + is_own) * width;
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < lines; k += blockDim.x) words[k] = read_line(&a, k, first, own);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < CHUNK_EVENTS * width; i += blockDim.x) {
      const uint32_t e = i % CHUNK_EVENTS, w = i / CHUNK_EVENTS;
      if (!(own >> e & 1u)) continue;
      const uint32_t bits = transpose(&a, words, w, e);
      a.decisions.passed[(uint64_t)ranks[e] * width + w] = bits;
      if (bits) atomicAdd(&counts[e], sl_count_bits(bits));
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < CHUNK_EVENTS; e += blockDim.x) {
      if (counts[e] > 0) atomicOr(&any, 1u << e);
      if (counts[e] == 1) atomicOr(&alone, 1u << e);
    }
    __syncthreads();
    if (threadIdx.x == 0) a.chunk_passed[chunk] = any;
    for (uint32_t k = threadIdx.x; alone != 0 && k < lines; k += blockDim.x)
      if ((words[k] & alone) != 0) sl_total_add(&a.totals.alone[k], sl_count_bits(words[k] & alone));
    __syncthreads(); /* before the words of the next chunk are cleared */
  }
}

SL_KERNEL(list_events, struct decide_args) {
  const uint32_t chunks = chunk_count(&a);
  uint32_t length = 0;
  if (blockIdx.x > 0) return; /* the whole block, so that no barrier misses a thread */
  SL_FOR_BLOCK (chunk, chunks) {
    const uint32_t word = chunk < chunks ? a.chunk_passed[chunk] : 0;
    uint32_t total;
    uint32_t index = length + sl_block_exclusive_scan((uint32_t)sl_count_bits(word), &total);
    for (uint32_t e = 0; e < CHUNK_EVENTS && word >> e; e++)
      if (word >> e & 1u) a.passed.numbers[index++] = chunk * CHUNK_EVENTS + e;
    length += total;
  }
  if (threadIdx.x == 0) *a.passed.count = length;
}

static int run(const struct sl_launch *l, const struct decide_args *a) {
  const uint32_t chunks = (a->events.max + CHUNK_EVENTS - 1) / CHUNK_EVENTS;
  const int status = SL_LAUNCH(l, decide_chunks, SL_PER_CHUNK(chunks), *a);
  return status == SL_OK ? SL_LAUNCH(l, list_events, SL_PER_NODE(1), *a) : status;
}

static int prepare(const struct sl_services *s, void *args) {
  struct decide_args *a = (struct decide_args *)args;
  (void)s;
  a->key = lines_key(a->lines.names, a->lines.count);
  return SL_OK;
}

SL_ALGORITHM(decide, "collects the decisions of all lines, and lists the events that pass at least one", 128, run,
             SL_PREPARE(prepare));
