/* large_retina_clusters.cu: counts the hits of a track that are large clusters, from retina cluster banks (README.md,
 * "Pixels of a retina cluster").
 *   1. Find the bank of each sensor.
 *   2. For each hit of a track: find its word among those of the sensor, by the LHCbID; the table gives its pixels.
 *      If several words have this LHCbID, the largest cluster counts.
 * Parallelism: one block per event, one thread per track. Determinism: the largest of words, in any order.
 * Plain version: tests/velo/large_clusters_test.py, from the super-pixels of the same events.
 * Cost per event (240 tracks of 6 hits): reads 4 bytes per hit and 10 words per hit; writes 1 byte per track.
 */
#include "banks.h"
#include "retina_words.h"
#include "velo/event_model.h"
#include "velo/raw_banks.h"

#define SL_ARGS large_retina_clusters_args
#define LARGE_RETINA_CLUSTERS(M)                                                                                       \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks")                                              \
  M(IN, banks, velo_retina_banks, VELO_BANK_FIELDS, "retina cluster banks that the hits were made from, in any order") \
  M(OUT, large_clusters, velo_large_clusters, "number of large clusters on each track", SL_SHARES_OFFSETS(tracks))     \
  M(U32, min_pixels, 4, 1, 9, "", "smallest number of pixels of a large cluster")                                      \
  M(TABLE, pixel_counts, u8, "number of pixels by kind, fractions and number of the pattern")
SL_ARGUMENTS(large_retina_clusters, LARGE_RETINA_CLUSTERS);

/* -------------------------------------------------------------------------------------------------- patterns */

/* Kinds of patterns. A window is 3 columns by 3 rows, with pixels in its first column and row. */
enum { WINDOW, ISOLATED_SUPERPIXEL, KINDS };
enum { FRACTIONS = 16, PATTERNS = 64 };
SL_MATH_FUNCTION uint32_t table_index(uint32_t kind, uint32_t column_fraction, uint32_t row_fraction, uint32_t number) {
  return ((kind * 4 + column_fraction) * 4 + row_fraction) * PATTERNS + number;
}

/* Number of pixels of a cluster; 0 if unknown. If a cluster is larger than its window: pixels in the window. */
static SL_DEVICE uint32_t pixels_of(const struct large_retina_clusters_args *a, uint32_t sensor, uint32_t version,
                                    uint32_t word) {
  if (version == 2) return 0;
  const uint32_t kind = word >> 30 & 1 ? ISOLATED_SUPERPIXEL : WINDOW;
  const uint32_t is_mirrored = kind == WINDOW && (sensor % 4 == 1 || sensor % 4 == 2); /* columns in reverse order */
  const uint32_t column_fraction = word >> 10 & 3, number = word >> 23 & (kind == WINDOW ? 31u : 63u);
  return a
      ->pixel_counts[table_index(kind, is_mirrored ? (4 - column_fraction) % 4 : column_fraction, word & 3, number)];
}

/* Number of pixels, and sums of their columns and rows, of a pattern with `rows` bits per column. */
struct pattern {
  uint32_t pixels, column_sum, row_sum;
};

static struct pattern pattern_of(uint32_t bits, uint32_t rows) {
  struct pattern p = {0, 0, 0};
  for (uint32_t bit = 0; bits >> bit; bit++) {
    if (!(bits >> bit & 1)) continue;
    p.pixels++;
    p.column_sum += bit / rows;
    p.row_sum += bit % rows;
  }
  return p;
}

static int are_adjacent(uint32_t bit, uint32_t other, uint32_t rows) {
  const int columns = (int)(bit / rows) - (int)(other / rows), in_column = (int)(bit % rows) - (int)(other % rows);
  return columns >= -1 && columns <= 1 && in_column >= -1 && in_column <= 1;
}

/* 1 if the pixels are one 8-connected component. */
static int is_connected(uint32_t bits, uint32_t rows) {
  uint32_t reached = bits & (~bits + 1), before = 0;
  while (reached != before) {
    before = reached;
    for (uint32_t bit = 0; bits >> bit; bit++)
      for (uint32_t other = 0; bits >> bit & 1 && before >> other; other++)
        if (before >> other & 1 && are_adjacent(bit, other, rows)) reached |= 1u << bit;
  }
  return reached == bits;
}

/* Quarters of the mean, rounded to the nearest, without whole pixels. */
static uint32_t fraction_of(uint32_t sum, uint32_t count) { return (8 * sum + count) / (2 * count) % 4; }

/* Numbers the patterns of each pair of fractions in ascending order of their bits. */
static void number_patterns(uint8_t *table, uint32_t kind, uint32_t columns, uint32_t rows) {
  const uint32_t above = 1u << 1, right = 1u << rows; /* of the pixel in column 0, row 0 */
  uint32_t next[FRACTIONS] = {0};
  for (uint32_t bits = 1; bits < 1u << columns * rows; bits++) {
    const struct pattern p = pattern_of(bits, rows);
    const uint32_t column_fraction = fraction_of(p.column_sum, p.pixels),
                   row_fraction = fraction_of(p.row_sum, p.pixels);
    const int has_corner = (bits & 1) || ((bits & above) && (bits & right));
    if (!is_connected(bits, rows) || (kind == WINDOW && !has_corner)) continue;
    table[table_index(kind, column_fraction, row_fraction, next[4 * column_fraction + row_fraction]++)] =
        (uint8_t)p.pixels;
  }
}

static int prepare(const struct sl_services *s, void *args) {
  (void)args;
  uint8_t *table = (uint8_t *)s->make_table(s->context, "pixel_counts", (uint64_t)KINDS * FRACTIONS * PATTERNS);
  if (!table) return SL_ENOMEM;
  memset(table, 0, (size_t)KINDS * FRACTIONS * PATTERNS);
  number_patterns(table, WINDOW, 3, 3);
  number_patterns(table, ISOLATED_SUPERPIXEL, 2, 4);
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- kernel */

/* The banks of an event by sensor; version 0: none. A bank of version 4 belongs to two sensors. */
struct sensor_banks {
  uint32_t slot[VELO_SENSORS], version[VELO_SENSORS], first_word[VELO_SENSORS], word_count[VELO_SENSORS];
};

static SL_DEVICE void set_bank(struct sensor_banks *banks, uint32_t sensor, const struct velo_bank *bank) {
  banks->slot[sensor] = bank->sensor;
  banks->version[sensor] = bank->version;
  banks->first_word[sensor] = bank->first_word;
  banks->word_count[sensor] = bank->word_count;
}

/* Called by all threads of the block. The decoder has refused events with an invalid bank, which have no tracks. */
static SL_DEVICE void find_banks(const struct large_retina_clusters_args *a, uint32_t event,
                                 struct sensor_banks *banks) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  for (uint32_t sensor = threadIdx.x; sensor < VELO_SENSORS; sensor += blockDim.x) banks->version[sensor] = 0;
  __syncthreads();
  for (uint32_t i = a->banks.offsets[event] + threadIdx.x; i < a->banks.offsets[event + 1]; i += blockDim.x) {
    const struct velo_bank bank = velo_bank_open(&list, i);
    if (bank.error != 0) continue;
    set_bank(banks, bank.sensor, &bank);
    if (bank.version == 4) set_bank(banks, bank.sensor + 1, &bank);
  }
  __syncthreads();
}

/* Number of pixels of the cluster with this LHCbID; 0 if unknown. The pixel in the LHCbID is compared first, with one
 * comparison per word. */
static SL_DEVICE uint32_t pixels_of_hit(const struct large_retina_clusters_args *a, const struct sensor_banks *banks,
                                        uint32_t id) {
  const uint32_t sensor = id >> 18 & 0xFF, column = id >> 8 & 0x3FF, row = id & 0xFF;
  if (sensor >= VELO_SENSORS || banks->version[sensor] == 0) return 0;
  const uint32_t version = banks->version[sensor], slot = banks->slot[sensor], count = banks->word_count[sensor];
  const uint32_t column_bit = version == 2 ? 14 : 12, row_bit = version == 2 ? 3 : 2, sensor_bit = version == 4 ? 1 : 0;
  const uint32_t mask = 0x3FFu << column_bit | 0xFFu << row_bit | sensor_bit << 22;
  const uint32_t pixel = column << column_bit | row << row_bit | (sensor_bit & (sensor - slot)) << 22;
  const uint32_t *words = a->banks.payload + banks->first_word[sensor];
  uint32_t most = 0;
  for (uint32_t i = 0; i < count; i++) {
    if ((words[i] & mask) != pixel || words[i] == 0 || retina_id(slot, version, words[i]) != id) continue;
    const uint32_t pixels = pixels_of(a, sensor, version, words[i]);
    most = pixels > most ? pixels : most;
  }
  return most;
}

SL_KERNEL(large_retina_clusters, struct large_retina_clusters_args) {
  __shared__ struct sensor_banks banks;
  SL_FOR_EVENTS (event, a.events) {
    find_banks(&a, event, &banks);
    for (uint32_t t = a.tracks.offsets[event] + threadIdx.x; t < a.tracks.offsets[event + 1]; t += blockDim.x) {
      uint32_t large = 0;
      for (uint32_t h = a.tracks.hit_offsets[t]; h < a.tracks.hit_offsets[t + 1]; h++)
        large += pixels_of_hit(&a, &banks, a.tracks.hit_id[h]) >= a.min_pixels ? 1u : 0u;
      a.large_clusters.hits[t] = (uint8_t)large;
    }
    __syncthreads(); /* the banks are free */
  }
}

static int run(const struct sl_launch *l, const struct large_retina_clusters_args *a) {
  return SL_LAUNCH(l, large_retina_clusters, SL_PER_EVENT, *a);
}

SL_ALGORITHM(large_retina_clusters, "number of large clusters on VELO tracks, from retina cluster banks", 128, run,
             SL_PREPARE(prepare));
