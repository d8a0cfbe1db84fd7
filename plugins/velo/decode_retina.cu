/* velo.decode_retina: VELO clusters from retina cluster banks, where the readout has clustered already: a word is a
 * cluster, and a word equal to 0 is none. Source: spec velo_pv.md A.2, formats.md 4.2.
 *
 * Count, scan, write:
 * 1. decode_retina_count checks the headers of an event's banks, finds the bank of each sensor (a slot), and counts
 *    words. A bank that is wrong refuses the event.
 * 2. The scan makes offsets of the counts.
 * 3. decode_retina_write decodes the words of each slot to their place: by sensor, and in a bank in the order of its
 *    words. So the order is fixed, and a module pair, which is 8 sensors, is one slice. Rarely, words equal to 0 have
 *    to be taken out again, or a word is so wrong that the event is refused after all.
 */
#include "banks.h"
#include "decode_retina.h"
#include "io/raw_banks.h"
#include "position.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>
#include <sluice/plugin.h>

#define SL_ARGS decode_retina_args
static const struct sl_member decode_retina_members[] = {
    SL_EVENTS(),
    SL_IN(banks, velo_retina_banks, VELO_BANK_FIELDS, "banks of an event in any order"),
    SL_IN(geometry, velo_geometry, "local_x x_pitch transform", "sensors"),
    SL_OUT(clusters, velo_clusters, "by sensor, then in the order of the words",
           SL_ITEMS(SL_ONE(SL_SUBITEMS_TERM(banks)))),
    SL_SCRATCH(slot_bank, u16, "bank of each sensor, relative to the event's first",
               SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0))),
    SL_SCRATCH(slot_words, u16, "words of that bank", SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0))),
};

static const struct sl_event_error decode_retina_errors[] = {VELO_BANK_ERRORS(VELO_BANK_ERROR_ENTRY_)};

/* Per event: a thread a bank. Reads headers and count words; writes the event's slots and, in its place of the offsets,
 * the number of its words. */
SL_KERNEL(decode_retina_count, struct decode_retina_args) {
  __shared__ uint32_t claims[VELO_SENSORS];
  const struct velo_bank_list list = VELO_BANK_LIST(a.banks);
  SL_FOR_EVENTS (event, a.events) {
    const struct velo_slots slots = {claims, a.slot_bank + event * VELO_SENSORS, a.slot_words + event * VELO_SENSORS};
    const uint32_t begin = a.banks.offsets[event], end = a.banks.offsets[event + 1];
    uint32_t words = velo_slots_fill(&slots, &list, begin, end, &a.events, event);
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

/* Decodes `word` to cluster `i` of the slice. Returns what is unusual. */
static SL_DEVICE uint32_t write_cluster(const struct decode_retina_args *a, uint32_t version, uint32_t bank_sensor,
                                        uint32_t word, uint32_t i) {
  const uint32_t bits = version == 2 ? 3 : 2; /* of a fraction */
  const uint32_t row_fraction = word & ((1u << bits) - 1), row = word >> bits & 0xFF;
  const uint32_t column_fraction = word >> (8 + bits) & ((1u << bits) - 1);
  const uint32_t word_column = word >> (8 + 2 * bits) & 0x3FF;
  const uint32_t column = word_column < VELO_SENSOR_COLUMNS ? word_column : 0;
  const uint32_t sensor = bank_sensor + (version == 4 ? word >> 22 & 1 : 0);
  const float step = version == 2 ? 0.125f : 0.25f;
  const float local_x =
      a->geometry.local_x[column] + (float)(int32_t)column_fraction * step * a->geometry.x_pitch[column];
  const float local_y = (0.5f + (float)(int32_t)row + (float)(int32_t)row_fraction * step) * VELO_PIXEL_PITCH;
  const struct velo_point point = velo_global(a->geometry.transform + 12 * sensor, local_x, local_y);
  uint32_t id = velo_id(sensor, column, row);
  if (version > 2) id |= (column_fraction != 0 ? 1u << 27 : 0u) | (row_fraction != 0 ? 1u << 26 : 0u);
  a->clusters.id[i] = id;
  a->clusters.phi[i] = velo_phi(point.x, point.y);
  a->clusters.x[i] = point.x;
  a->clusters.y[i] = point.y;
  a->clusters.z[i] = point.z;
  a->clusters.order[i] = word;
  return (word == 0 ? RETINA_ZERO_WORD : 0u) | (column != word_column ? RETINA_BAD_COLUMN : 0u);
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

/* After all words of an event are decoded: `unusual` is what this thread found. */
static SL_DEVICE void finish_event(const struct decode_retina_args *a, uint32_t event, uint32_t unusual) {
  const uint32_t zero_words = sl_block_sum_u32(unusual & RETINA_ZERO_WORD ? 1u : 0u);
  const uint32_t bad_columns = sl_block_sum_u32(unusual & RETINA_BAD_COLUMN ? 1u : 0u);
  if (bad_columns > 0)
    refuse_bad_columns(a, event);
  else if (zero_words > 0)
    remove_zero_words(&a->clusters, event, a->clusters.offsets[event]);
  __syncthreads();
}

/* Per event: 8 threads a slot. Reads the words; writes clusters and the slices of the module pairs. `tuned`, on a cpu
 * only: with vectors. */
static SL_DEVICE void write_event(const struct decode_retina_args *a, uint32_t event, uint32_t *first, uint32_t tuned) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  const uint32_t lanes = blockDim.x < 8 ? 1 : 8, lane = threadIdx.x % lanes;
  const uint32_t event_first = a->clusters.offsets[event], event_end = a->clusters.offsets[event + 1];
  const uint16_t *slot_words = a->slot_words + event * VELO_SENSORS;
  velo_slots_scan(slot_words, first);
  velo_pairs_write(&a->clusters, event, first);
  uint32_t unusual = 0;
  for (uint32_t slot = threadIdx.x / lanes; slot < VELO_SENSORS; slot += blockDim.x / lanes) {
    if (slot_words[slot] == 0) continue;
    const struct velo_bank bank =
        velo_bank_open(&list, a->banks.offsets[event] + a->slot_bank[event * VELO_SENSORS + slot]);
    const uint32_t place = event_first + first[slot];
#ifdef SL_TARGET_CPU
    if (tuned) {
      unusual |= decode_retina_bank_cpu(a, &bank, place, event_end);
      continue;
    }
#else
    (void)event_end, (void)tuned;
#endif
    for (uint32_t i = lane; i < bank.word_count; i += lanes)
      unusual |= write_cluster(a, bank.version, slot, list.payload[bank.first_word + i], place + i);
  }
  finish_event(a, event, unusual);
}

static SL_DEVICE void write_events(const struct decode_retina_args *a, uint32_t *first, uint32_t tuned) {
  SL_FOR_EVENTS (event, a->events) {
    if (a->clusters.offsets[event] != a->clusters.offsets[event + 1])
      write_event(a, event, first, tuned);
    else
      velo_pairs_clear(&a->clusters, event); /* no words, or refused, or the slice overflowed */
  }
}

SL_KERNEL(decode_retina_write, struct decode_retina_args) {
  __shared__ uint32_t first[VELO_SENSORS + 1];
  write_events(&a, first, 0);
}

static int run(const struct sl_launch *l, const struct decode_retina_args *a) {
  int status = SL_LAUNCH(l, decode_retina_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->clusters.offsets, &a->clusters.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, decode_retina_write, SL_PER_EVENT, *a);
  return status;
}

#ifdef SL_TARGET_CPU
SL_KERNEL(decode_retina_write_tuned, struct decode_retina_args) {
  uint32_t first[VELO_SENSORS + 1];
  write_events(&a, first, 1);
}

static int run_tuned(const struct sl_launch *l, const void *args) {
  const struct decode_retina_args *a = (const struct decode_retina_args *)args;
  int status = SL_LAUNCH(l, decode_retina_count, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->clusters.offsets, &a->clusters.bound);
  if (status == SL_OK) status = SL_LAUNCH(l, decode_retina_write_tuned, SL_PER_EVENT, *a);
  return status;
}
#define DECODE_RETINA_TUNED run_tuned
#else
#define DECODE_RETINA_TUNED NULL
#endif

SL_ALGORITHM_TUNED_(decode_retina, "VELO clusters from retina cluster banks", 128, decode_retina_errors,
                    SL_COUNT_(decode_retina_errors), run, DECODE_RETINA_TUNED);
