/* channels.c: see channels.h. */
#include "muon/channels.h"

void muon_channels_sizes(const struct muon_description *d, struct muon_geometry *g) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < MUON_BANKS; i++) {
    g->channel_first[i] = first;
    first += d->bank[i].quarter_count * d->station[d->bank[i].station].channel_count;
  }
  g->channel_first[MUON_BANKS] = first;
}

static uint32_t muon_channel_tile(const struct muon_description *d, uint32_t station, uint32_t quarter,
                                  const struct muon_channel *channel) {
  const struct muon_region *region = &d->region[station][channel->region];
  const struct muon_tile_address at = {station, channel->region, quarter, channel->x, channel->y};
  if (channel->table == MUON_PADS) return 0;
  return muon_tile(&at, region->grid_x[channel->table], region->grid_y[channel->table]);
}

void muon_channels_fill(const struct muon_description *d, uint32_t *tiles) {
  for (uint32_t i = 0; i < MUON_BANKS; i++) {
    const struct muon_bank *bank = &d->bank[i];
    for (uint32_t q = 0; q < bank->quarter_count; q++)
      for (uint32_t k = 0; k < d->station[bank->station].channel_count; k++)
        *tiles++ = muon_channel_tile(d, bank->station, bank->quarter[q], &d->channel[bank->station][k]);
  }
}

/* ------------------------------------------------------------------------------------------------- format 3 */

/* Number of tiles of a table in a quarter of a region; 0 y strips if the region has pads. */
static uint32_t muon_tile_count(const struct muon_region *region, uint32_t table) {
  uint32_t x, y, other_x, other_y;
  muon_grid_of(region, table, 3, &x, &y);
  muon_grid_of(region, MUON_X_STRIPS, 3, &other_x, &other_y);
  const int are_pads = table == MUON_Y_STRIPS && x == other_x && y == other_y;
  return are_pads ? 0 : muon_quarter_size(x, y);
}

static uint32_t muon_link_count(const struct muon_region *region) {
  const uint32_t tiles = muon_tile_count(region, MUON_X_STRIPS) + muon_tile_count(region, MUON_Y_STRIPS);
  return (tiles + MUON_LINK_CHANNELS - 1) / MUON_LINK_CHANNELS;
}

static uint32_t muon_station_links(const struct muon_description *d, uint32_t station) {
  uint32_t links = 0;
  for (uint32_t r = 0; r < MUON_REGIONS; r++) links += MUON_QUARTERS * muon_link_count(&d->region[station][r]);
  return links;
}

/* Tile `number` of a quarter of a region, in the order of the channels of links; 0 after the last one. */
static uint32_t muon_tile_by_number(const struct muon_description *d, const struct muon_tile_address *quarter,
                                    uint32_t number) {
  const struct muon_region *region = &d->region[quarter->station][quarter->region];
  struct muon_tile_address at = *quarter;
  uint32_t table = MUON_X_STRIPS, gx, gy;
  if (number >= muon_tile_count(region, table)) {
    number -= muon_tile_count(region, table);
    table = MUON_Y_STRIPS;
  }
  if (number >= muon_tile_count(region, table)) return 0;
  muon_grid_of(region, table, 3, &gx, &gy);
  const int is_below = number < gx * gy;
  at.y = is_below ? number / gx : gy + (number - gx * gy) / (2 * gx);
  at.x = is_below ? gx + number % gx : (number - gx * gy) % (2 * gx);
  return muon_tile(&at, gx, gy);
}

/* Half of a Tell40 and link in it, for a link of a station. */
struct muon_link_place {
  uint32_t half, link;
};
static struct muon_link_place muon_find_link(const struct muon_description *d, uint32_t station, uint32_t number) {
  const uint32_t halves = MUON_HALVES * d->station[station].tell40s, links = muon_station_links(d, station);
  uint32_t half = number * halves / links;
  while ((half + 1) * links / halves <= number) half++;
  while (half * links / halves > number) half--;
  struct muon_link_place place = {half, number - half * links / halves};
  for (uint32_t s = 0; s < station; s++) place.half += MUON_HALVES * d->station[s].tell40s;
  return place;
}

static void muon_link_fill(const struct muon_description *d, const struct muon_tile_address *quarter, uint32_t first,
                           const struct muon_link_place *at, const struct muon_geometry *g) {
  const uint32_t link = at->half * MUON_LINKS + at->link;
  g->link_region[link] = quarter->region;
  g->link_quarter[link] = quarter->quarter;
  if (g->tell40_links[at->half] <= at->link) g->tell40_links[at->half] = at->link + 1;
  for (uint32_t k = 0; k < MUON_LINK_CHANNELS; k++)
    g->tiles[link * MUON_LINK_CHANNELS + k] = muon_tile_by_number(d, quarter, first + k);
}

int muon_links_fill(const struct muon_description *d, const struct muon_geometry *g) {
  uint32_t board = 0;
  for (uint32_t i = 0; i <= MUON_TELL40S * MUON_HALVES; i++) g->channel_first[i] = i * MUON_HALF_CHANNELS;
  for (uint32_t station = 0; station < MUON_STATIONS; station++) {
    struct muon_tile_address at = {station, 0, 0, 0, 0};
    uint32_t number = 0;
    for (uint32_t i = 0; i < d->station[station].tell40s; i++) g->tell40_station[board++] = station;
    for (at.quarter = 0; at.quarter < MUON_QUARTERS; at.quarter++)
      for (at.region = 0; at.region < MUON_REGIONS; at.region++)
        for (uint32_t k = 0; k < muon_link_count(&d->region[station][at.region]); k++) {
          const struct muon_link_place place = muon_find_link(d, station, number++);
          if (place.link >= MUON_LINKS) return 0;
          muon_link_fill(d, &at, k * MUON_LINK_CHANNELS, &place, g);
        }
  }
  return 1;
}
