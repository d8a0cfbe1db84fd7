/* banks.c: super-pixel and cluster banks of the VELO (plugins/velo/README.md, "Banks").
 * The centre of a cluster is the mean column and row of its pixels, rounded to quarters of a pixel (version 2:
 * eighths), but never up to the next pixel, so that the pixel is that of the super-pixel clustering. Banks of
 * version 4 are for pairs of sensors, with the subsystem of the VELO in their source ids: A side (x > 0) 2, C side
 * 3. */
#include "digits.h"

#include <string.h>

enum {
  PAIRS = VELO_SENSORS / 2,
  SP_COLUMNS = VELO_SENSOR_COLUMNS / 2,
  ISOLATED = 31,
  SOURCE_A = 2 << 11,
  SOURCE_C = 3 << 11
};
enum { ID_VELO = 2 << 28, ID_COLUMN_FRACTION = 1 << 27, ID_ROW_FRACTION = 1 << 26, ID_SENSOR = 18, ID_COLUMN = 8 };
/* A flag bit, set where the word would be zero, since a zero word means no cluster. */
enum { NOT_ZERO = 1 << 29 };

/* ------------------------------------------------------------------------------------------------ the banks */

/* A bank in the making; `unit` is its sensor, or pair of sensors. */
struct payload {
  struct sim_bank_list *list;
  uint8_t type, version;
  uint32_t first, unit; /* index of the payload's first word */
};

/* Words are appended to the list; end_bank adds the bank that contains them. */
static int put(struct payload *p, uint32_t word) {
  uint32_t *to = SIM_APPEND(&p->list->words);
  if (!to) return SL_ENOMEM;
  *to = word;
  return SL_OK;
}

static int begin_bank(struct payload *p) {
  p->first = p->list->words.count;
  return p->version < 4 ? put(p, 0) : SL_OK; /* number of words, filled by end_bank */
}

static uint16_t source_of(const struct payload *p) {
  if (p->version < 4) return (uint16_t)p->unit;
  return (uint16_t)((p->unit / 2 % 2 ? SOURCE_A : SOURCE_C) | p->unit);
}

static int end_bank(struct payload *p) {
  const uint32_t words = p->list->words.count - p->first;
  if (4ull * words > SIM_BANK_BYTES_MAX) return SL_EINVAL;
  if (p->version < 4) p->list->words.at[p->first] = words - 1;
  struct sim_bank *bank = SIM_APPEND(&p->list->banks);
  if (!bank) return SL_ENOMEM;
  *bank = (struct sim_bank){p->type, p->version, source_of(p), (uint16_t)(4 * words), 0, p->first};
  return SL_OK;
}

/* Ends and begins banks until the bank of `sensor` is open. VELO_SENSORS ends the last bank. */
static int go_to(struct payload *p, uint32_t sensor) {
  const uint32_t unit = p->version < 4 ? sensor : sensor / 2;
  while (p->unit < unit) {
    int status = end_bank(p);
    p->unit++;
    if (status == SL_OK && p->unit < (p->version < 4 ? VELO_SENSORS : PAIRS)) status = begin_bank(p);
    if (status < 0) return status;
  }
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------- super-pixels */

/* `map` has a bit per row for each super-pixel column of the sensor, with an empty column at both ends. */
static int is_isolated(const uint64_t *map, uint32_t column, uint32_t row) {
  const uint64_t mask = row == 0 ? 3 : 7ull << (row - 1);
  const uint64_t own = (map[column + 1] & mask) & ~(1ull << row);
  return (map[column] & mask) == 0 && own == 0 && (map[column + 2] & mask) == 0;
}

static uint32_t superpixel_of(const struct sim_pixel *p) { return p->address >> SIM_PIXEL_SP_ROW; }

static int put_sensor(struct payload *p, const struct sim_pixel *pixels, uint32_t count, uint64_t *map) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t sp = superpixel_of(&pixels[i]);
    map[(sp >> 6 & 0x1FF) + 1] |= 1ull << (sp & 63);
  }
  int status = SL_OK;
  for (uint32_t i = 0, next; i < count && status == SL_OK; i = next) {
    const uint32_t sp = superpixel_of(&pixels[i]), column = sp >> 6 & 0x1FF, row = sp & 63;
    uint32_t pattern = 0;
    for (next = i; next < count && superpixel_of(&pixels[next]) == sp; next++)
      pattern |= 1u << (pixels[next].address & 7);
    uint32_t word = pattern | row << 8 | column << 14 | (uint32_t)is_isolated(map, column, row) << ISOLATED;
    if (p->version == 4) word |= (sim_pixel_sensor(pixels[i].address) & 1) << 23;
    status = put(p, word);
  }
  for (uint32_t i = 0; i < count; i++) map[(superpixel_of(&pixels[i]) >> 6 & 0x1FF) + 1] = 0;
  return status;
}

int sim_velo_superpixel_banks(struct sim_bank_list *list, const struct sim_velo_digits *d, uint32_t version) {
  uint64_t map[SP_COLUMNS + 2] = {0};
  struct payload p = {list, SIM_BANK_VELO_SUPERPIXELS, (uint8_t)version, 0, 0};
  int status = begin_bank(&p);
  for (uint32_t i = 0, next; i < d->pixels.count && status == SL_OK; i = next) {
    const uint32_t sensor = sim_pixel_sensor(d->pixels.at[i].address);
    for (next = i; next < d->pixels.count && sim_pixel_sensor(d->pixels.at[next].address) == sensor;) next++;
    status = go_to(&p, sensor);
    if (status == SL_OK) status = put_sensor(&p, &d->pixels.at[i], next - i, map);
  }
  return status == SL_OK ? go_to(&p, VELO_SENSORS) : status;
}

/* --------------------------------------------------------------------------------------------------- clusters */

struct centre {
  uint32_t column, column_part, row, row_part; /* in units of 1 / `parts` of a pixel */
};

static void round_mean(uint32_t sum, uint32_t count, uint32_t parts, uint32_t *whole, uint32_t *part) {
  *whole = sum / count;
  const uint32_t rest = sum - *whole * count;
  *part = (2 * rest * parts + count) / (2 * count);
  if (*part == parts) *part = parts - 1;
}

static struct centre centre_of(const struct sim_cluster *c, uint32_t version) {
  const uint32_t parts = version == 2 ? 8 : 4;
  struct centre centre;
  round_mean(c->columns, c->pixel_count, parts, &centre.column, &centre.column_part);
  round_mean(c->rows, c->pixel_count, parts, &centre.row, &centre.row_part);
  return centre;
}

uint32_t sim_velo_cluster_id(const struct sim_cluster *cluster, uint32_t version) {
  const struct centre c = centre_of(cluster, version);
  uint32_t id = (uint32_t)ID_VELO | cluster->sensor << ID_SENSOR | c.column << ID_COLUMN | c.row;
  if (version > 2 && c.column_part) id |= ID_COLUMN_FRACTION;
  if (version > 2 && c.row_part) id |= ID_ROW_FRACTION;
  return id;
}

static uint32_t cluster_word(const struct sim_cluster *cluster, uint32_t version) {
  const struct centre c = centre_of(cluster, version);
  const uint32_t part_bits = version == 2 ? 3 : 2;
  uint32_t word = c.row_part | c.row << part_bits | c.column_part << (8 + part_bits) | c.column << (8 + 2 * part_bits);
  if (version == 4) word |= (cluster->sensor & 1) << 22;
  return word ? word : NOT_ZERO;
}

int sim_velo_cluster_banks(struct sim_bank_list *list, const struct sim_velo_digits *d, uint32_t version) {
  struct payload p = {list, SIM_BANK_VELO_CLUSTERS, (uint8_t)version, 0, 0};
  int status = begin_bank(&p);
  for (uint32_t i = 0; i < d->clusters.count && status == SL_OK; i++) {
    status = go_to(&p, d->clusters.at[i].sensor);
    if (status == SL_OK) status = put(&p, cluster_word(&d->clusters.at[i], version));
  }
  return status == SL_OK ? go_to(&p, VELO_SENSORS) : status;
}
