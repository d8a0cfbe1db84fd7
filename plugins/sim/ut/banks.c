/* banks.c: UT banks of clusters (version 3) or strips (version 4) (plugins/ut/README.md, "Banks").
 * There is one bank per existing board, empty ones included. Banks of version 4 have the source ids of the
 * experiment: subsystem 5 or 6 for side A (x > 0) or C of the board's first lane. Digits are sorted by board and
 * lane, so that each bank takes the next ones. */
#include "digits.h"
#include "ut/bank_words.h"

#include <string.h>

enum {
  HEADER_UPPER = 0x80 << 16, /* of version 3, as in full simulation */
  SEVERAL_STRIPS = 1 << 14,  /* flags of a cluster of version 3 */
  MUCH_CHARGE = 1 << 15,
  MUCH_CHARGE_ADC = 16,
  FEW_STRIPS = 2,
  LAST_STRIP = 1 << 7,
  SOURCE_A = 5 << 11,
  SOURCE_C = 6 << 11,
  SOURCE_ODD = 1 << 10,
  HITS_PER_ROW = 2,
  ROW_BYTES = 2 * UT_V4_ROW_HALFWORDS,
  HEADER_BYTES = 8,
  STRIPS_MAX = UT_BOARD_LANES * UT_SECTOR_STRIPS,
  /* Version 3: a halfword, a byte for the neighbours and a byte per strip. Version 4 is smaller. */
  PAYLOAD_BYTES_MAX = 8 + 4 * STRIPS_MAX
};

struct payload {
  uint8_t bytes[PAYLOAD_BYTES_MAX];
  uint32_t size;
};

static void clear(struct payload *p, uint32_t size) {
  memset(p->bytes, 0, size);
  p->size = size;
}

static void put_halfword(struct payload *p, uint32_t i, uint32_t value) {
  p->bytes[2 * i] = (uint8_t)value;
  p->bytes[2 * i + 1] = (uint8_t)(value >> 8);
}

static int board_exists(const struct ut_description *ut, uint32_t board) {
  return ut->lane_index[UT_BOARD_LANES * board] < UT_SECTORS;
}

/* -------------------------------------------------------------------------------------------------- version 3 */

/* End of the board's clusters, which begin at `next`. */
static uint32_t end_of_clusters(const struct ut_description *ut, const struct sim_ut_digits *d, uint32_t board,
                                uint32_t next) {
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++)
    while (next < d->clusters.count &&
           sim_ut_sector(d->clusters.at[next].address) == ut->lane_index[UT_BOARD_LANES * board + lane])
      next++;
  return next;
}

static uint32_t cluster_halfword(const struct sim_ut_cluster *c, uint32_t lane) {
  uint32_t halfword = (lane * UT_SECTOR_STRIPS + sim_ut_strip(c->address)) << 2 | c->quarters;
  if (c->count > FEW_STRIPS) halfword |= SEVERAL_STRIPS;
  if (c->sum >= MUCH_CHARGE_ADC) halfword |= MUCH_CHARGE;
  return halfword;
}

static void put_adc(struct payload *p, const struct sim_ut_digits *d, const struct sim_ut_cluster *c) {
  p->bytes[p->size++] = (uint8_t)c->neighbours;
  for (uint32_t i = c->first; i < c->first + c->count; i++)
    p->bytes[p->size++] = (uint8_t)(d->strips.at[i].adc | (i + 1 == c->first + c->count ? LAST_STRIP : 0));
}

static int put_clusters(struct sim_bank_list *list, const struct ut_description *ut, const struct sim_ut_digits *d,
                        uint32_t board, uint32_t *next) {
  struct payload p;
  const uint32_t first = *next, end = end_of_clusters(ut, d, board, first), count = end - first;
  const uint32_t header = (uint32_t)HEADER_UPPER | count;
  clear(&p, 4 + 4 * ((count + 1) / 2));
  memcpy(p.bytes, &header, sizeof header);
  for (uint32_t i = first, lane = 0; i < end; i++) {
    const struct sim_ut_cluster *c = &d->clusters.at[i];
    while (ut->lane_index[UT_BOARD_LANES * board + lane] != sim_ut_sector(c->address)) lane++;
    put_halfword(&p, 2 + i - first, cluster_halfword(c, lane));
    put_adc(&p, d, c);
  }
  *next = end;
  return sim_banks_add(list, SIM_BANK_UT, 3, (uint16_t)board, p.bytes, p.size);
}

/* -------------------------------------------------------------------------------------------------- version 4 */

static uint16_t source_of(const struct ut_description *ut, uint32_t board) {
  const struct ut_sector_description *first = &ut->sectors[ut->lane_index[UT_BOARD_LANES * board]];
  return (uint16_t)((first->side == UT_UP ? SOURCE_A : SOURCE_C) | (board % 2 ? SOURCE_ODD : 0) | (board / 2 + 1));
}

/* Appends the lane's hit strips from *next on, and rows as needed; returns their number. */
static uint32_t put_lane(struct payload *p, const struct sim_ut_digits *d, uint32_t sector, uint32_t lane,
                         uint32_t *next) {
  uint32_t count = 0;
  for (; *next < d->strips.count && sim_ut_sector(d->strips.at[*next].address) == sector; (*next)++) {
    const struct sim_ut_strip *s = &d->strips.at[*next];
    if (s->adc < SIM_UT_THRESHOLD) continue;
    while (p->size < (count / HITS_PER_ROW + 1) * ROW_BYTES) {
      memset(p->bytes + p->size, 0, ROW_BYTES);
      p->size += ROW_BYTES;
    }
    put_halfword(p, ut_v4_halfword(lane, count++), sim_ut_strip(s->address) << 5 | (uint32_t)s->adc);
  }
  return count;
}

static int put_strips(struct sim_bank_list *list, const struct ut_description *ut, const struct sim_ut_digits *d,
                      uint32_t board, uint32_t *next) {
  struct payload p;
  uint8_t counts[UT_BOARD_LANES];
  clear(&p, 0);
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++)
    counts[lane] = (uint8_t)put_lane(&p, d, ut->lane_index[UT_BOARD_LANES * board + lane], lane, next);
  if (p.size == 0) clear(&p, HEADER_BYTES); /* without hits the bank is a header, shorter than a row */
  p.bytes[0] = counts[4];
  p.bytes[1] = counts[5];
  memcpy(p.bytes + 4, counts, 4);
  return sim_banks_add(list, SIM_BANK_UT, 4, source_of(ut, board), p.bytes, p.size);
}

int sim_ut_banks(struct sim_bank_list *list, const struct ut_description *ut, const struct sim_ut_digits *digits,
                 uint32_t version) {
  uint32_t next = 0;
  int status = SL_OK;
  for (uint32_t board = 0; board < UT_BOARDS && status == SL_OK; board++)
    if (board_exists(ut, board))
      status = version == 4 ? put_strips(list, ut, digits, board, &next) : put_clusters(list, ut, digits, board, &next);
  return status;
}
