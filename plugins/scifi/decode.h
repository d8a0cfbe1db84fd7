/* decode.h: what the versions of scifi.decode share: arguments, where hits are, and banks. Private to the plugin. */
#ifndef SCIFI_DECODE_H
#define SCIFI_DECODE_H

#include "scifi/bank_words.h"
#include "scifi/raw_banks.h"

#include <sluice/kernel.h>

/* Why an event is refused; beside those of bank_words.h. */
enum {
  SCIFI_TWO_BANKS = 5,
  SCIFI_TWO_HITS,
  SCIFI_TOO_MANY_HITS,
  SCIFI_LOST_LINK, /* these refuse nothing */
  SCIFI_LOST_PAIR
};

enum {
  BANK_SLOTS = 256, /* SCIFI_BANKS, and one at the end, up to a power of two */
  CLAIM_WORDS = (SCIFI_BANKS + 31) / 32,
  ZONE_SLOTS = SCIFI_ZONES + 1,
  SOURCE_IDS = 65536,
  NO_ROW = 255,
  KEYS_BESIDE = 8, /* room before an event's keys, and after them */
  KEYS_OF_EVENT = SCIFI_HITS_MAX + 1 + 2 * KEYS_BESIDE
};

/* Here a channel has the mat's place in its upper bits, then ONE_MORE, so that no link's first one is
 * SCIFI_NOT_CONNECTED, and REVERSED, where x descends with the channel. A key is the channel, the fraction, and 4 bits
 * of pseudo-size. */
enum {
  MAT_CHANNELS = 1 << SCIFI_MAT_BIT,
  ONE_MORE = SCIFI_MATS << SCIFI_MAT_BIT,
  REVERSED = 2 * ONE_MORE,
  KEY_SIZE_BITS = 4,
  KEY_CHANNEL_BIT = KEY_SIZE_BITS + 1,
  KEY_MAT_BIT = KEY_CHANNEL_BIT + SCIFI_MAT_BIT
};

/* Of a mat, u counted from where its first channel begins: x and z of that fibre line at y = 0, and how they grow with
 * u; and the first channel's LHCbID, by its bits. Aligned, so that a GPU loads it in two halves. */
struct mat_record {
  float x, dx_du, z, dz_du, half_pitch, die_gap, sipm_pitch, first_id;
} __attribute__((aligned(16)));
enum { RECORD_FLOATS = sizeof(struct mat_record) / sizeof(float) };

#define SL_ARGS decode_args
#define DECODE(M)                                                                                                   \
  M(IN, banks, scifi_banks, "offsets source_id version size_bytes first_word payload", "of an event, in any order") \
  M(IN, geometry, scifi_geometry,                                                                                   \
    "source_id link_channel mirror_x mirror_y mirror_z direction_x direction_y direction_z u_begin half_pitch "     \
    "die_gap sipm_pitch dxdy dzdy",                                                                                 \
    "mats, and links of banks")                                                                                     \
  M(OUT, hits, scifi_hits, "by zone and x",                                                                         \
    SL_ITEMS(SL_MIN(SL_SUBITEMS_SCALED(banks, 32, 1, 0), SL_BUDGET_TERM(hits_per_event, SCIFI_HITS_MAX))))          \
  M(BOOL, version_5_as_4, 0, "each halfword of version 5 is a cluster, as in version 4")                            \
  M(BUDGET, hits_per_event, 5000, 1, 100000, "SciFi hits, on average over a slice")                                 \
  M(SHARED_SCRATCH, used, u32, "how many words and keys are given away", SL_ONE(SL_CONSTANT_TERM(2)))               \
  M(SHARED_SCRATCH, halfword_keys, u32, "of both halfwords of each word of an event",                               \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                     \
  M(SHARED_SCRATCH, keys, u32, "of hits, by event and SiPM",                                                        \
    SL_MIN(SL_SUBITEMS_SCALED(banks, 32, 1, 0), SL_BUDGET_TERM(hits_per_event, SCIFI_HITS_MAX)))                    \
  M(SHARED_SCRATCH, keys_begin, u32, "where those of each event begin", SL_ONE(SL_EVENTS_TERM(1, 0)))               \
  M(TUNED_SCRATCH, raw_keys, u32, "of an event, as they come", SL_ONE(SL_CONSTANT_TERM(KEYS_OF_EVENT)))             \
  M(TUNED_SCRATCH, sorted_keys, u32, "and where they have to be sorted", SL_ONE(SL_CONSTANT_TERM(KEYS_OF_EVENT)))   \
  M(TABLE, mats, f32, "a record of 8 values for each mat, by its place")                                            \
  M(TABLE, links, u32, "first channels of links, as link_channel has them, by the mats' places")                    \
  M(TABLE, link_keys, u32, "keys of links' first channels, as decode.cu has them")                                  \
  M(TABLE, zone_mat, u32, "place of the first mat of each zone; then how many mats there are")                      \
  M(TABLE, source_row, u8, "row in the tables of links, by source id of versions 7 and 8; 255: none")
SL_ARGUMENTS(decode, DECODE);

/* --------------------------------------------------------------------------------------------- where hits are */

/* For kernels, and for the checks of the host. */
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

/* Its halfwords; or, with an error, what it is refused for. */
static SL_DEVICE uint32_t open_words(const struct decode_args *a, const struct bank *b,
                                     struct scifi_bank_words *words) {
  const uint32_t row = b->row == NO_ROW ? 0 : b->row;
  const uint32_t error = scifi_bank_open(words, b->version, a->links + row * SCIFI_BANK_LINKS, b->payload, b->bytes);
  return error == SCIFI_NO_ERROR && b->row == NO_ROW ? (uint32_t)SCIFI_BAD_SOURCE : error;
}

static SL_DEVICE void tell_faults(const struct decode_args *a, uint32_t event, uint32_t faults, uint32_t source_id) {
  if (faults & SCIFI_NO_SUCH_LINK) sl_event_truncated(&a->events, event, SCIFI_LOST_LINK, source_id);
  if (faults & SCIFI_BAD_PAIR) sl_event_truncated(&a->events, event, SCIFI_LOST_PAIR, source_id);
}

/* ------------------------------------------------------------------------------------------------------ hits */

/* Writes the hit of a key, whose mat's record that is, to place `to` of the slice. */
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

/* As `run`, where a block is one thread (decode.cpu.c). */
int scifi_decode_tuned(const struct sl_launch *l, const void *args);

#endif
