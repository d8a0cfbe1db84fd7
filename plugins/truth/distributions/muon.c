/* muon.c: muon part of truth.distributions: tiles of the banks of either version (muon/bank_words.h), their regions
 * and times, and the number of crossings of x and y strips. */
#include "distributions.h"
#include "muon/bank_words.h"

enum { TILES_MAX = 16384 };

/* Tiles of the event. */
struct tiles {
  uint32_t count, tile[TILES_MAX];
};

static uint32_t quarter_index_of(uint32_t tile) {
  return MUON_QUARTERS * muon_tile_grid(tile) + muon_tile_quarter(tile);
}

static int is_in(const struct muon_geometry_view *g, uint32_t tile, uint32_t table) {
  const uint32_t *grid_x = &g->grid[2 * MUON_GRIDS * table + muon_tile_grid(tile)];
  return muon_tile_grid_x(tile) == *grid_x && muon_tile_grid_y(tile) == grid_x[MUON_GRIDS];
}

/* Do an x strip and a y strip of one grid and quarter cross? */
static int do_cross(uint32_t x, uint32_t y) {
  return muon_tile_x(x) * muon_tile_grid_x(y) / muon_tile_grid_x(x) == muon_tile_x(y) &&
         muon_tile_y(y) * muon_tile_grid_y(x) / muon_tile_grid_y(y) == muon_tile_y(x);
}

/* Number of pads and crossings of strips. */
static uint32_t count_hits(const struct muon_geometry_view *g, const struct tiles *t) {
  uint32_t hits = 0;
  for (uint32_t i = 0; i < t->count; i++) {
    const uint32_t x = t->tile[i];
    if (!is_in(g, x, MUON_X_STRIPS)) continue;
    if (is_in(g, x, MUON_Y_STRIPS)) {
      hits++;
      continue;
    }
    for (uint32_t k = 0; k < t->count; k++)
      hits += quarter_index_of(t->tile[k]) == quarter_index_of(x) && is_in(g, t->tile[k], MUON_Y_STRIPS) &&
              do_cross(x, t->tile[k]);
  }
  return hits;
}

int distributions_fill_muon(struct distributions *d, const struct muon_banks_view *b,
                            const struct muon_geometry_view *g, uint32_t event) {
  const struct muon_map map = {g->format ? g->format[0] : 0, g->channel_first, g->tiles, g->tell40_links};
  struct tiles t = {0};
  int malformed = 0;
  uint32_t bytes = 0;
  if (!b->offsets || b->offsets[event] == b->offsets[event + 1]) return 0;
  for (uint32_t i = b->offsets[event]; i < b->offsets[event + 1]; i++) {
    const struct muon_bank_words bank = {b->payload + b->first_word[i], b->size_bytes[i], b->version[i],
                                         b->source_id[i]};
    struct muon_reader r;
    struct muon_digit digit;
    muon_reader_begin(&r, &map, &bank);
    while (t.count < TILES_MAX && muon_reader_next(&r, &digit)) {
      t.tile[t.count++] = digit.tile;
      distributions_fill(d, H_muon_area, muon_tile_grid(digit.tile));
      distributions_fill(d, H_muon_time, digit.time);
    }
    malformed += r.fault != MUON_FINE;
    bytes += b->size_bytes[i];
  }
  distributions_fill(d, H_muon_tiles, t.count);
  distributions_fill(d, H_muon_hits, count_hits(g, &t));
  distributions_fill(d, H_muon_bytes, bytes);
  return malformed;
}
