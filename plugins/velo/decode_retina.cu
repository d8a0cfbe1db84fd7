/* velo.decode_retina: VELO clusters from retina cluster banks, where the readout has clustered already: a word is a
 * cluster, and a word equal to 0 is none. README.md: "Banks".
 *
 * Count, scan, write:
 * 1. decode_retina_count checks the headers of an event's banks, finds the bank of each sensor (a slot), and places the
 *    slots' words one after the other. A bank that is wrong refuses the event. Nearly always the banks are those of
 *    all sensors in order, and bank i is slot i; what is not so takes the long way of banks.h.
 * 2. The scan makes offsets of the counts.
 * 3. decode_retina_write decodes word i of that order to cluster i: by sensor, and in a bank in the order of its words.
 *    So the order is fixed, and a module pair, which is 8 sensors, is one slice. Rarely, words equal to 0 have to be
 *    taken out again, or a word is so wrong that the event is refused after all.
 */
#include "decode_retina.h"

static const struct sl_event_error decode_retina_errors[] = {VELO_BANK_ERRORS(VELO_BANK_ERROR_ENTRY_)};

enum { PLACE_SHIFT = 16, VERSION_MASK = 0xFFFF };

/* Places the slots of an event whose 208 banks are those of the sensors in order, none wrong; a thread a bank. Returns
 * the number of words and, times 2^24, that of the banks that are otherwise: then nothing is valid. */
static SL_DEVICE uint32_t place_usual_banks(const struct decode_retina_args *a, uint32_t event, uint32_t begin) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  uint32_t sum = 0;
  SL_FOR_BLOCK (slot, VELO_SENSORS) {
    uint32_t total, mine = 0;
    struct velo_bank bank = {0, 0, 0, 0, 0};
    if (slot < VELO_SENSORS) {
      bank = velo_bank_open(&list, begin + slot);
      mine = bank.error != 0 || bank.version == 4 || bank.sensor != slot ? 1u << 24 : bank.word_count;
    }
    const uint32_t place = sum + sl_block_exclusive_scan(mine, &total);
    if (slot < VELO_SENSORS) {
      a->slot_word[event * VELO_SENSORS + slot] = bank.first_word;
      a->slot_place[event * VELO_SENSORS + slot] = place << PLACE_SHIFT | bank.version;
    }
    sum += total;
  }
  return sum;
}

/* The same for any banks: `bank` and `words` of each slot are in the two arrays, and are replaced. */
static SL_DEVICE void place_slots(const struct decode_retina_args *a, uint32_t event, uint32_t begin) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  uint32_t *slot_word = a->slot_word + event * VELO_SENSORS, *slot_place = a->slot_place + event * VELO_SENSORS;
  uint32_t before = 0;
  SL_FOR_BLOCK (slot, VELO_SENSORS) {
    const uint32_t words = slot < VELO_SENSORS ? slot_place[slot] : 0u;
    uint32_t total;
    const uint32_t place = before + sl_block_exclusive_scan(words, &total);
    if (words > 0) {
      const struct velo_bank bank = velo_bank_open(&list, begin + slot_word[slot]);
      slot_word[slot] = bank.first_word;
      slot_place[slot] = place << PLACE_SHIFT | bank.version;
    } else if (slot < VELO_SENSORS) {
      slot_place[slot] = place << PLACE_SHIFT;
    }
    before += total;
  }
}

/* Per event: a thread a bank. Reads headers, 2 kB, and count words, each with the 32 bytes around it, 7 kB; writes the
 * event's slots, 2 kB, and, in its place of the offsets, the number of its words. */
SL_KERNEL(decode_retina_count, struct decode_retina_args) {
  __shared__ uint32_t claims[VELO_SENSORS];
  const struct velo_bank_list list = VELO_BANK_LIST(a.banks);
  SL_FOR_EVENTS (event, a.events) {
    const struct velo_slots slots = {claims, a.slot_word + event * VELO_SENSORS, a.slot_place + event * VELO_SENSORS};
    const uint32_t begin = a.banks.offsets[event], end = a.banks.offsets[event + 1];
    uint32_t words = end - begin == VELO_SENSORS ? place_usual_banks(&a, event, begin) : UINT32_MAX;
    if (words >= 1u << 24) {
      words = velo_slots_fill(&slots, &list, begin, end, &a.events, event);
      place_slots(&a, event, begin);
    }
    if (threadIdx.x == 0) {
      if (words > VELO_MAX_CLUSTERS) {
        sl_event_fail(&a.events, event, VELO_TOO_MANY, words);
        words = 0;
      }
      a.clusters.offsets[event] = words;
    }
    __syncthreads();
  }
}

/* What a word says. */
struct word_fields {
  uint32_t column, row;
  uint32_t column_eighths, row_eighths; /* fractions */
  uint32_t flags;                       /* of the id */
};

static SL_DEVICE struct word_fields read_word(uint32_t version, uint32_t word) {
  struct word_fields f;
  if (version == 2) {
    f.column = word >> 14 & 0x3FF;
    f.row = word >> 3 & 0xFF;
    f.column_eighths = word >> 11 & 7;
    f.row_eighths = word & 7;
    f.flags = 0;
  } else {
    f.column = word >> 12 & 0x3FF;
    f.row = word >> 2 & 0xFF;
    f.column_eighths = word >> 9 & 6;
    f.row_eighths = word << 1 & 6;
    f.flags = (f.column_eighths != 0 ? 1u << 27 : 0u) | (f.row_eighths != 0 ? 1u << 26 : 0u);
  }
  return f;
}

/* Decodes `word` of the bank in slot `slot` to cluster `i` of the slice. Returns what is unusual. */
static SL_DEVICE uint32_t write_cluster(const struct decode_retina_args *a, uint32_t version, uint32_t slot,
                                        uint32_t word, uint32_t i) {
  const struct word_fields f = read_word(version, word);
  const uint32_t column = f.column < VELO_SENSOR_COLUMNS ? f.column : 0;
  const uint32_t sensor = slot + (version == 4 ? word >> 22 & 1 : 0);
  const float local_x =
      a->geometry.local_x[column] + (float)(int32_t)f.column_eighths * 0.125f * a->geometry.x_pitch[column];
  /* 0.5 + row + fraction has no rounding, whatever the order. */
  const float local_y = (float)(int32_t)(f.row * 8 + f.row_eighths + 4) * 0.125f * VELO_PIXEL_PITCH;
  const struct velo_point point = velo_global(a->geometry.transform + 12 * sensor, local_x, local_y);
  a->clusters.id[i] = velo_id(sensor, column, f.row) | f.flags;
  a->clusters.phi[i] = velo_phi(point.x, point.y);
  a->clusters.x[i] = point.x;
  a->clusters.y[i] = point.y;
  a->clusters.z[i] = point.z;
  a->clusters.order[i] = word;
  return (word == 0 ? RETINA_ZERO_WORD : 0u) | (column != f.column ? RETINA_BAD_COLUMN : 0u);
}

/* Takes clusters made of zero words out of each module pair's slice, from `event_first` on; a thread a pair. */
static SL_DEVICE void remove_zero_words(const struct velo_clusters *clusters, uint32_t event, uint32_t event_first) {
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    const uint32_t begin = event_first + clusters->pair_first[event * VELO_MODULE_PAIRS + pair];
    const uint32_t end = begin + clusters->pair_count[event * VELO_MODULE_PAIRS + pair];
    uint32_t to = begin;
    for (uint32_t i = begin; i < end; i++)
      if (clusters->order[i] != 0) velo_cluster_copy(clusters, i, to++);
    clusters->pair_count[event * VELO_MODULE_PAIRS + pair] = to - begin;
    for (; to < end; to++) velo_cluster_clear(clusters, to);
  }
}

/* Refuses the event for each bank with a column that does not exist, and takes all its clusters away. */
static SL_DEVICE void refuse_bad_columns(const struct decode_retina_args *a, uint32_t event) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  for (uint32_t i = a->banks.offsets[event] + threadIdx.x; i < a->banks.offsets[event + 1]; i += blockDim.x) {
    const struct velo_bank bank = velo_bank_open(&list, i);
    for (uint32_t j = 0; j < bank.word_count; j++)
      if ((list.payload[bank.first_word + j] >> (bank.version == 2 ? 14 : 12) & 0x3FF) >= VELO_SENSOR_COLUMNS)
        sl_event_fail(&a->events, event, VELO_BAD_COLUMN, list.source_id[i]);
  }
  for (uint32_t i = a->clusters.offsets[event] + threadIdx.x; i < a->clusters.offsets[event + 1]; i += blockDim.x)
    velo_cluster_clear(&a->clusters, i);
  velo_pairs_clear(&a->clusters, event);
}

/* After all words of an event are decoded: `unusual` is what this thread found. Every thread of the block calls it. */
static SL_DEVICE void finish_event(const struct decode_retina_args *a, uint32_t event, uint32_t unusual) {
  const uint32_t zero_words = unusual & RETINA_ZERO_WORD ? 1u : 0u, bad_columns = unusual & RETINA_BAD_COLUMN ? 1u : 0u;
  const uint32_t threads = sl_block_sum_u32(bad_columns << 16 | zero_words);
  if (threads == 0) return;
  if (threads >> 16 != 0)
    refuse_bad_columns(a, event);
  else
    remove_zero_words(&a->clusters, event, a->clusters.offsets[event]);
}

/* An event's slots in shared memory. */
struct slots {
  uint32_t word[VELO_SENSORS];
  uint32_t place[256]; /* as slot_place; beyond the last sensor more than any, so that a binary search ends there */
};

/* Every thread of the block calls it. */
static SL_DEVICE void load_slots(const struct decode_retina_args *a, uint32_t event, struct slots *s) {
  for (uint32_t slot = threadIdx.x; slot < 256; slot += blockDim.x) {
    const uint32_t is_sensor = slot < VELO_SENSORS;
    if (is_sensor) s->word[slot] = a->slot_word[event * VELO_SENSORS + slot];
    s->place[slot] = is_sensor ? a->slot_place[event * VELO_SENSORS + slot] : UINT32_MAX;
  }
  __syncthreads();
}

/* The slot of the event's word `i`: the last one that does not begin after it. */
static SL_DEVICE uint32_t find_slot(const struct slots *s, uint32_t i) {
  const uint32_t behind = (i + 1) << PLACE_SHIFT;
  uint32_t slot = 0;
  for (uint32_t step = 128; step > 0; step /= 2)
    if (s->place[slot + step] < behind) slot += step;
  return slot;
}

/* The slices of the module pairs, 8 slots each. */
static SL_DEVICE void write_pairs(const struct velo_clusters *clusters, uint32_t event, const struct slots *s,
                                  uint32_t words) {
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    const uint32_t begin = s->place[8 * pair] >> PLACE_SHIFT;
    const uint32_t end = pair + 1 < VELO_MODULE_PAIRS ? s->place[8 * pair + 8] >> PLACE_SHIFT : words;
    clusters->pair_first[event * VELO_MODULE_PAIRS + pair] = begin;
    clusters->pair_count[event * VELO_MODULE_PAIRS + pair] = end - begin;
  }
}

enum { WORDS = 4 }; /* of a thread, read at a time: one wait for them all */

/* Decodes words `base`, base + blockDim.x, ... of an event, as far as there are any; all WORDS if `is_full`, so that
 * their slots are searched side by side. Returns what is unusual. */
static SL_DEVICE uint32_t write_words(const struct decode_retina_args *a, const struct slots *s, uint32_t event_first,
                                      uint32_t base, uint32_t words, const uint32_t is_full) {
  uint32_t slot[WORDS] = {0}, word[WORDS] = {0}, unusual = 0;
  SL_UNROLL
  for (uint32_t w = 0; w < WORDS; w++)
    if (is_full || base + w * blockDim.x < words) slot[w] = find_slot(s, base + w * blockDim.x);
  SL_UNROLL
  for (uint32_t w = 0; w < WORDS; w++)
    if (is_full || base + w * blockDim.x < words)
      word[w] = a->banks.payload[s->word[slot[w]] + base + w * blockDim.x - (s->place[slot[w]] >> PLACE_SHIFT)];
  SL_UNROLL
  for (uint32_t w = 0; w < WORDS; w++)
    if (is_full || base + w * blockDim.x < words)
      unusual |=
          write_cluster(a, s->place[slot[w]] & VERSION_MASK, slot[w], word[w], event_first + base + w * blockDim.x);
  return unusual;
}

/* Per event: a thread a word; 9 words a bank would leave most lanes idle if they were dealt out by banks. Reads words,
 * 4 bytes a cluster, and 2 kB of slots; writes 22 bytes a cluster. */
SL_KERNEL(decode_retina_write, struct decode_retina_args) {
  __shared__ struct slots s;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t event_first = a.clusters.offsets[event], words = a.clusters.offsets[event + 1] - event_first;
    if (words == 0) { /* none, or refused, or the slice overflowed */
      velo_pairs_clear(&a.clusters, event);
      continue;
    }
    load_slots(&a, event, &s);
    write_pairs(&a.clusters, event, &s, words);
    uint32_t unusual = 0;
    for (uint32_t first = 0; first < words; first += WORDS * blockDim.x) {
      const uint32_t base = first + threadIdx.x;
      unusual |= words - first >= WORDS * blockDim.x ? write_words(&a, &s, event_first, base, words, 1)
                                                     : write_words(&a, &s, event_first, base, words, 0);
    }
    finish_event(&a, event, unusual);
  }
}

static int run(const struct sl_launch *l, const struct decode_retina_args *a) {
  return SL_COUNT_SCAN_WRITE(l, decode_retina_count, decode_retina_write, a->clusters, *a);
}

#ifdef SL_TARGET_CPU
/* The same, a bank at a time with vectors. */
SL_KERNEL(decode_retina_write_tuned, struct decode_retina_args) {
  struct slots s;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t event_first = a.clusters.offsets[event], event_end = a.clusters.offsets[event + 1];
    if (event_first == event_end) {
      velo_pairs_clear(&a.clusters, event);
      continue;
    }
    load_slots(&a, event, &s);
    write_pairs(&a.clusters, event, &s, event_end - event_first);
    uint32_t unusual = 0, place = 0;
    for (uint32_t slot = 0; slot < VELO_SENSORS; slot++) {
      const uint32_t next = slot + 1 < VELO_SENSORS ? s.place[slot + 1] >> PLACE_SHIFT : event_end - event_first;
      const struct velo_bank bank = {0, s.place[slot] & VERSION_MASK, slot, s.word[slot], next - place};
      if (next != place) unusual |= decode_retina_bank_cpu(&a, &bank, event_first + place, event_end);
      place = next;
    }
    finish_event(&a, event, unusual);
  }
}

static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct decode_retina_args *a = (const struct decode_retina_args *)args;
  return SL_COUNT_SCAN_WRITE(l, decode_retina_count, decode_retina_write_tuned, a->clusters, *a);
}
#endif

static const struct sl_kernel_block decode_retina_blocks[] = {{"decode_retina_count", 224, 0},
                                                              {"decode_retina_write", 384, 0}};
SL_ALGORITHM(decode_retina, "VELO clusters from retina cluster banks", 384, run, SL_ERRORS_OF(decode_retina_errors),
             SL_CPU_TUNED(run_tuned), SL_BLOCKS(decode_retina_blocks));
