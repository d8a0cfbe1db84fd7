/* decode.h: arguments, hit positions and bank headers for both versions of scifi.decode. Private to the plugin. */
#ifndef SCIFI_DECODE_H
#define SCIFI_DECODE_H

#include "scifi/bank_words.h"
#include "scifi/raw_banks.h"

#include <sluice/kernel.h>

/* Event errors in addition to those of bank_words.h. */
enum {
  SCIFI_TWO_BANKS = 5,
  SCIFI_TWO_HITS,
  SCIFI_TOO_MANY_HITS,
  SCIFI_LOST_LINK, /* from here on: data are ignored, the event is not refused */
  SCIFI_LOST_PAIR
};

enum {
  BANK_SLOTS = 256, /* SCIFI_BANKS + 1, rounded up to a power of two */
  CLAIM_WORDS = (SCIFI_BANKS + 31) / 32,
  ZONE_SLOTS = SCIFI_ZONES + 1,
  SOURCE_IDS = 65536,
  NO_ROW = 255,
  KEYS_MARGIN = 8, /* unused keys before and after the keys of an event, for whole vectors */
  KEYS_OF_EVENT = SCIFI_HITS_MAX + 1 + 2 * KEYS_MARGIN
};

/* In the decoder the upper bits of a channel are the index of the mat sorted by zone and x, then ONE_MORE, so that no
 * first channel of a link equals SCIFI_NOT_CONNECTED, and REVERSED, if x descends with the channel. A key is: channel,
 * fraction, 4 bits of pseudo-size. */
enum {
  MAT_CHANNELS = 1 << SCIFI_MAT_BIT,
  ONE_MORE = SCIFI_MATS << SCIFI_MAT_BIT,
  REVERSED = 2 * ONE_MORE,
  KEY_SIZE_BITS = 4,
  KEY_CHANNEL_BIT = KEY_SIZE_BITS + 1,
  KEY_MAT_BIT = KEY_CHANNEL_BIT + SCIFI_MAT_BIT
};

/* A mat: x and z at y = 0 of the line at the begin of its first channel, their slopes with u (counted from there), and
 * the bits of the LHCbID of the first channel. Aligned for two loads on a GPU. */
struct mat_record {
  float x, dx_du, z, dz_du, half_pitch, die_gap, sipm_pitch, first_id;
} __attribute__((aligned(16)));
enum { RECORD_FLOATS = sizeof(struct mat_record) / sizeof(float) };

#define SL_ARGS decode_args
#define DECODE(M)                                                                                                    \
  M(IN, banks, scifi_banks, "offsets source_id version size_bytes first_word payload", "SciFi banks, in any order")  \
  M(IN, geometry, scifi_geometry,                                                                                    \
    "source_id link_channel mirror_x mirror_y mirror_z direction_x direction_y direction_z u_begin half_pitch "      \
    "die_gap sipm_pitch dxdy dzdy",                                                                                  \
    "mats of the fibre tracker, and links of its banks")                                                             \
  M(OUT, hits, scifi_hits, "SciFi hits, sorted by zone and x",                                                       \
    SL_ITEMS(SL_MIN(SL_SUBITEMS_SCALED(banks, 32, 1, 0), SL_BUDGET_TERM(hits_per_event, SCIFI_HITS_MAX))))           \
  M(BOOL, version_5_as_4, 0, "1: decode each halfword of version 5 as a cluster, as in version 4")                   \
  M(BUDGET, hits_per_event, 5300, 1, 100000, "SciFi hits, on average over a slice")                                  \
  M(SHARED_SCRATCH, used, u32, "numbers of words and keys that are assigned to events", SL_ONE(SL_CONSTANT_TERM(2))) \
  M(SHARED_SCRATCH, halfword_keys, u32, "sort keys of both halfwords of each word",                                  \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                      \
  M(SHARED_SCRATCH, keys, u32, "sort keys of hits, by event and SiPM",                                               \
    SL_MIN(SL_SUBITEMS_SCALED(banks, 32, 1, 0), SL_BUDGET_TERM(hits_per_event, SCIFI_HITS_MAX)))                     \
  M(SHARED_SCRATCH, keys_begin, u32, "index of the first key of each event", SL_ONE(SL_EVENTS_TERM(1, 0)))           \
  M(TUNED_SCRATCH, raw_keys, u32, "sort keys of an event, in input order", SL_ONE(SL_CONSTANT_TERM(KEYS_OF_EVENT)))  \
  M(TUNED_SCRATCH, sorted_keys, u32, "sorted keys of an event, if raw_keys are not in order",                        \
    SL_ONE(SL_CONSTANT_TERM(KEYS_OF_EVENT)))                                                                         \
  M(TABLE, mats, f32, "geometry of each mat, 8 values per mat, sorted by zone and x")                                \
  M(TABLE, links, u32, "first channel of each link, with the sorted index of its mat")                               \
  M(TABLE, link_keys, u32, "sort key of the first channel of each link")                                             \
  M(TABLE, zone_mat, u32, "sorted index of the first mat of each zone; then the number of mats")                     \
  M(TABLE, source_row, u8, "row in the tables of links, by source id of versions 7 and 8; 255: none")
SL_ARGUMENTS(decode, DECODE);

/* ------------------------------------------------------------------------------------------- hit positions */

/* u of a channel of a mat. Used by kernels and by the checks on the host. */
SL_MATH_FUNCTION float u_of(const struct mat_record *record, uint32_t channel, uint32_t fraction) {
  const uint32_t halves = 2 * (channel % SCIFI_SIPM_CHANNELS) + 1 + fraction;
  const uint32_t die = channel / SCIFI_DIE_CHANNELS % 2, sipm = channel / SCIFI_SIPM_CHANNELS;
  return (float)halves * record->half_pitch + (float)die * record->die_gap + (float)sipm * record->sipm_pitch;
}
SL_MATH_FUNCTION float x_of(const struct mat_record *record, float u) { return record->x + u * record->dx_du; }
SL_MATH_FUNCTION float z_of(const struct mat_record *record, float u) { return record->z + u * record->dz_du; }
static SL_DEVICE const struct mat_record *record_of(const struct decode_args *a, uint32_t mat) {
  return (const struct mat_record *)(const void *)a->mats + mat;
}
SL_MATH_FUNCTION uint32_t is_reversed(const struct mat_record *record) { return record->dx_du < 0.0f ? 1u : 0u; }

static SL_DEVICE uint32_t mat_of_key(uint32_t key) { return key >> KEY_MAT_BIT & (SCIFI_MATS - 1); }

/* ----------------------------------------------------------------------------------------------------- banks */

struct bank {
  uint32_t row, source_id, version, bytes;
  const uint32_t *payload;
};

static SL_DEVICE struct bank open_bank(const struct decode_args *a, uint32_t index) {
  struct bank b;
  b.source_id = a->banks.source_id[index];
  b.version = a->banks.version[index];
  b.bytes = a->banks.size_bytes[index];
  b.payload = a->banks.payload + a->banks.first_word[index];
  if (b.version < 7)
    b.row = b.source_id < SCIFI_BANKS ? b.source_id : (uint32_t)NO_ROW;
  else
    b.row = a->source_row[b.source_id];
  if (b.version == 5 && a->version_5_as_4) b.version = 4;
  return b;
}

/* Opens the halfwords of a bank. Returns SCIFI_NO_ERROR or the error that refuses it. */
static SL_DEVICE uint32_t open_words(const struct decode_args *a, const struct bank *b,
                                     struct scifi_bank_words *words) {
  const uint32_t row = b->row == NO_ROW ? 0 : b->row;
  const uint32_t error = scifi_bank_open(words, b->version, a->links + row * SCIFI_BANK_LINKS, b->payload, b->bytes);
  return error == SCIFI_NO_ERROR && b->row == NO_ROW ? (uint32_t)SCIFI_BAD_SOURCE : error;
}

static SL_DEVICE void report_faults(const struct decode_args *a, uint32_t event, uint32_t faults, uint32_t source_id) {
  if (faults & SCIFI_NO_SUCH_LINK) sl_event_truncated(&a->events, event, SCIFI_LOST_LINK, source_id);
  if (faults & SCIFI_BAD_PAIR) sl_event_truncated(&a->events, event, SCIFI_LOST_PAIR, source_id);
}

/* ------------------------------------------------------------------------------------------------------ hits */

/* Writes the hit of a key to index `to` of the slice; `record`: record of its mat. */
static SL_DEVICE void write_hit(const struct decode_args *a, uint32_t to, uint32_t key,
                                const struct mat_record *record) {
  const uint32_t channel = key >> KEY_CHANNEL_BIT & (MAT_CHANNELS - 1), fraction = key >> KEY_SIZE_BITS & 1;
  const float u = u_of(record, channel, fraction);
  a->hits.id[to] = sl_bits_from_f32(record->first_id) + channel;
  a->hits.x[to] = x_of(record, u);
  a->hits.z[to] = z_of(record, u);
  a->hits.pseudo_size[to] = (uint8_t)(key & ((1u << KEY_SIZE_BITS) - 1));
}

static SL_DEVICE void refuse_two_hits(const struct decode_args *a, uint32_t event, uint32_t id) {
  sl_event_fail(&a->events, event, SCIFI_TWO_HITS, id & ((1u << SCIFI_CHANNEL_BITS) - 1));
}

/* The `run` function for the CPU (decode.cpu.c). */
int scifi_decode_tuned(const struct sl_launch *l, const void *args);

#endif
