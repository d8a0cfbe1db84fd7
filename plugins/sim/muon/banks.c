/* banks.c: muon banks (plugins/muon/README.md, "Banks"): version 2 from ten boards, version 3 from both halves of 22
 * Tell40s, empty ones included. Version 2 lists the hit pads before the digits: crossings of x strips and y strips, and
 * pads that are read out as such. Decoding does not read them. */
#include "digits.h"

#include <string.h>

enum {
  HALVES = MUON_TELL40S * MUON_HALVES,
  SOURCE_A = 13 << 11, /* subsystems of the muon chambers: A side (x > 0), C side */
  SOURCE_C = 14 << 11,
  HEAD_HALFWORDS = 2,      /* number of pads, and padding */
  PADS_MAX = 2 * 4 * 1152, /* of two quarters */
  LINK_BYTES_MIN = 7,
  LINK_BYTES_MAX = 16
};

/* Digits of the channels up to `end`, in order; `next` moves on. */
struct digits {
  const struct sim_muon_digit *at;
  uint32_t count;
};
static struct digits take(const struct sim_muon_digits *d, uint32_t end, uint32_t *next) {
  struct digits taken = {d->digits.count > 0 ? d->digits.at + *next : NULL, 0};
  for (; *next < d->digits.count && d->digits.at[*next].channel < end; ++*next) taken.count++;
  return taken;
}

/* ------------------------------------------------------------------------------------------------ version 2 */

/* The hit pad, if tile `a` is an x strip that the y strip `b` crosses, or if it is a pad itself and `b` is the same. */
static int find_pad(const struct sim_muon_readout *readout, uint32_t a, uint32_t b, uint32_t *address) {
  const uint32_t region = muon_tile_region(a), i = muon_tile_station(a) * MUON_REGIONS + region;
  const uint32_t *grid = readout->map.grid, grid_x = grid[i], grid_y = grid[MUON_GRIDS + i];
  const uint32_t same = 0x3fu << 12; /* bits of the tile: station, region, quarter */
  if ((a & same) != (b & same) || muon_tile_grid_x(a) != grid_x || muon_tile_grid_y(b) != grid_y) return 0;
  const uint32_t wide = grid_x / muon_tile_grid_x(b), high = grid_y / muon_tile_grid_y(a);
  if (muon_tile_x(a) / wide != muon_tile_x(b) || muon_tile_y(b) / high != muon_tile_y(a)) return 0;
  if (wide * high == 1 && a != b) return 0;
  *address = muon_running_number(muon_tile_x(a), muon_tile_y(b), grid_x, grid_y);
  for (uint32_t k = 0; k < region; k++) *address += muon_quarter_size(grid[i - k - 1], grid[MUON_GRIDS + i - k - 1]);
  return 1;
}

/* Writes the addresses of the hit pads: running numbers in the quarter, by region. Returns their number. */
static uint32_t put_pads(const struct sim_muon_readout *readout, const struct digits *digits, uint16_t *to) {
  uint32_t count = 0, address;
  for (uint32_t i = 0; i < digits->count; i++)
    for (uint32_t k = 0; k < digits->count; k++)
      if (find_pad(readout, digits->at[i].tile, digits->at[k].tile, &address)) to[count++] = (uint16_t)address;
  return count;
}

static int add_board(struct sim_bank_list *list, const struct muon_bank *bank, uint32_t id,
                     const struct sim_muon_digits *d, uint32_t *next) {
  uint16_t words[HEAD_HALFWORDS + PADS_MAX + 1 + MUON_BATCHES + MUON_BANK_CHANNELS_MAX + 1];
  const uint32_t first = d->readout->map.channel_first[id];
  uint32_t all = *next, end = first;
  for (uint32_t batch = 0; batch < MUON_BATCHES; batch++) end += bank->batch[batch];
  const struct digits of_board = take(d, end, &all);
  words[0] = (uint16_t)put_pads(d->readout, &of_board, words + HEAD_HALFWORDS);
  words[1] = words[HEAD_HALFWORDS + words[0]] = 0; /* padding */
  uint32_t count = (HEAD_HALFWORDS + words[0] + 1u) & ~1u;
  end = first;
  for (uint32_t batch = 0; batch < MUON_BATCHES; batch++) {
    end += bank->batch[batch];
    const struct digits digits = take(d, end, next);
    words[count++] = (uint16_t)digits.count;
    for (uint32_t i = 0; i < digits.count; i++)
      words[count++] = (uint16_t)((digits.at[i].channel - first) | digits.at[i].time << 12);
  }
  words[count] = 0;
  return sim_banks_add(list, SIM_BANK_MUON, 2, (uint16_t)id, words, 4ull * ((count + 1) / 2));
}

/* ------------------------------------------------------------------------------------------------ version 3 */

/* Writes a link: length minus one, 48 bits of channels, highest first, and times of 4 bits; times beyond the longest
 * link are left out. Returns the number of bytes. */
static uint32_t put_link(uint8_t *to, const struct digits *digits, uint32_t first) {
  const uint32_t times = digits->count < 19 ? digits->count : 19;
  const uint32_t bytes = digits->count == 0 ? 1 : LINK_BYTES_MIN + times / 2;
  uint64_t bits = 0;
  memset(to, 0, bytes);
  to[0] = (uint8_t)((bytes - 1) << 4);
  if (digits->count == 0) return bytes;
  for (uint32_t i = 0; i < digits->count; i++) bits |= 1ull << (4 + digits->at[i].channel - first);
  for (uint32_t i = 0; i < LINK_BYTES_MIN; i++)
    to[i] = (uint8_t)(to[i] | (uint8_t)(bits >> 8 * (LINK_BYTES_MIN - 1 - i)));
  for (uint32_t i = 0; i < times; i++) {
    uint8_t *byte = &to[LINK_BYTES_MIN - 1 + (i + 1) / 2];
    *byte = (uint8_t)(*byte | digits->at[i].time << (i % 2 ? 4 : 0));
  }
  return bytes;
}

static int add_half(struct sim_bank_list *list, uint32_t half, const struct sim_muon_digits *d, uint32_t *next) {
  uint8_t payload[1 + MUON_LINKS * LINK_BYTES_MAX] = {0}; /* byte 0: mask of missing links */
  const struct muon_geometry *map = &d->readout->map;
  uint32_t bytes = 1, first = map->channel_first[half];
  for (uint32_t link = 0; link < map->tell40_links[half]; link++, first += MUON_LINK_CHANNELS) {
    const struct digits digits = take(d, first + MUON_LINK_CHANNELS, next);
    bytes += put_link(payload + bytes, &digits, first);
  }
  const uint32_t side = muon_side_of_quarter(map->link_quarter[half * MUON_LINKS]);
  return sim_banks_add(list, SIM_BANK_MUON, 3, (uint16_t)((side ? SOURCE_C : SOURCE_A) | half), payload, bytes);
}

int sim_muon_banks(struct sim_bank_list *list, const struct muon_description *muon, const struct sim_muon_digits *d,
                   uint32_t version) {
  uint32_t next = 0;
  int status = SL_OK;
  for (uint32_t i = 0; version == 2 && i < MUON_BANKS && status == SL_OK; i++)
    status = add_board(list, &muon->bank[i], i, d, &next);
  for (uint32_t i = 0; version == 3 && i < HALVES && status == SL_OK; i++) status = add_half(list, i, d, &next);
  return status;
}
