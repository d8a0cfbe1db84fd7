/* spectrometer_hits.c: see spectrometer_hits.h. The formats are in the bank_words.h of each detector's plugin. */
#include "spectrometer_hits.h"

#include "calo/bank_words.h"
#include "muon/bank_words.h"

enum { ON_X = 1 << SPECTROMETER_X, ON_Y = 1 << SPECTROMETER_Y };

static void note_fault(struct spectrometer_faults *faults, uint32_t source_id, const char *text) {
  faults->count++;
  faults->source_id = source_id;
  faults->text = text;
}

/* ------------------------------------------------------------------------------------------------ UT, SciFi */

/* Decoded hits, and the position of the layer in their ids. */
struct tracker_hits {
  enum spectrometer_detector detector;
  uint32_t layer_bit;
  const uint32_t *offsets, *id;
  const float *x, *z, *y, *y_end; /* y, y_end: ends of a strip; NULL: y is not measured */
};

/* In the UT, and in a station of the SciFi, the first and the last of four layers are x layers. */
static int is_in_x_layer(uint32_t id, uint32_t layer_bit) {
  const uint32_t last = 3, layer = id >> layer_bit & last;
  return layer == 0 || layer == last;
}

static int take_hits(struct spectrometer *p, const struct tracker_hits *hits, uint32_t event) {
  p->hits[hits->detector].is_read = 1;
  for (uint32_t i = hits->offsets[event]; i < hits->offsets[event + 1]; i++) {
    struct spectrometer_hit hit = {.z = hits->z[i], .at = {hits->x[i], 0}, .id = hits->id[i], .axes = ON_X};
    if (hits->y) {
      hit.axes |= ON_Y;
      hit.at[SPECTROMETER_Y] = 0.5f * (hits->y[i] + hits->y_end[i]);
      hit.half[SPECTROMETER_Y] = 0.5f * (hits->y_end[i] - hits->y[i]);
    }
    if (is_in_x_layer(hit.id, hits->layer_bit) && !spectrometer_add_hit(p, hits->detector, &hit)) return SL_ENOMEM;
  }
  return SL_OK;
}

int spectrometer_take_ut(struct spectrometer *p, const struct ut_hits_view *hits, uint32_t event) {
  const struct tracker_hits ut = {SPECTROMETER_UT, UT_LAYER_BIT, hits->offsets, hits->id,
                                  hits->x,         hits->z,      hits->y,       hits->y_end};
  return take_hits(p, &ut, event);
}

int spectrometer_take_scifi(struct spectrometer *p, const struct scifi_hits_view *hits, uint32_t event) {
  const struct tracker_hits scifi = {
      SPECTROMETER_SCIFI, SCIFI_LAYER_BIT, hits->offsets, hits->id, hits->x, hits->z, NULL, NULL};
  return take_hits(p, &scifi, event);
}

/* ------------------------------------------------------------------------------------------------ muon chambers */

/* First table with the tile's grid; pads are in the tables of pads and of both kinds of strips. */
static uint32_t find_muon_table(const struct muon_geometry_view *g, uint32_t tile) {
  for (uint32_t table = 0; table < MUON_TABLES; table++) {
    const uint32_t *grid = g->grid + 2 * MUON_GRIDS * table + muon_tile_grid(tile);
    if (grid[0] == muon_tile_grid_x(tile) && grid[MUON_GRIDS] == muon_tile_grid_y(tile)) return table;
  }
  return MUON_TABLES;
}

/* Adds a pad, or a strip for the view in which it is fine. */
static int add_muon_tile(struct spectrometer *p, const struct muon_geometry_view *g, uint32_t tile) {
  static const uint32_t axes[MUON_TABLES] = {[MUON_PADS] = ON_X | ON_Y, [MUON_X_STRIPS] = ON_X, [MUON_Y_STRIPS] = ON_Y};
  const uint32_t x = muon_tile_x(tile), y = muon_tile_y(tile), grid = muon_tile_grid(tile);
  const uint32_t grid_x = muon_tile_grid_x(tile), grid_y = muon_tile_grid_y(tile), table = find_muon_table(g, tile);
  const int is_inside = x < 2 * grid_x && y < 2 * grid_y && (x >= grid_x || y >= grid_y);
  if (table >= MUON_TABLES || !is_inside) return 1;
  const uint32_t index =
      g->position_first[MUON_STATIONS * table + muon_tile_station(tile)] + g->offset[MUON_GRIDS * table + grid] +
      muon_tile_quarter(tile) * muon_quarter_size(grid_x, grid_y) + muon_running_number(x, y, grid_x, grid_y);
  uint32_t width = g->width_first[table] + 6 * grid_y * muon_tile_quarter(tile);
  for (uint32_t i = 0; i < grid; i++) width += 24 * g->grid[MUON_GRIDS * (2 * table + 1) + i];
  width += muon_width_number(x, y, grid_x, grid_y);
  const struct spectrometer_hit hit = {.z = g->z[index],
                                       .at = {g->x[index], g->y[index]},
                                       .half = {g->half_x[width], g->half_y[width]},
                                       .id = tile,
                                       .axes = axes[table]};
  return spectrometer_add_hit(p, SPECTROMETER_MUON, &hit);
}

int spectrometer_read_muon(struct spectrometer *p, const struct muon_geometry_view *geometry,
                           const struct muon_banks_view *banks, uint32_t event, struct spectrometer_faults *faults) {
  const struct muon_map map = {geometry->format[0], geometry->channel_first, geometry->tiles, geometry->tell40_links};
  p->hits[SPECTROMETER_MUON].is_read = 1;
  for (uint32_t i = banks->offsets[event]; i < banks->offsets[event + 1]; i++) {
    const struct muon_bank_words bank = {banks->payload + banks->first_word[i], banks->size_bytes[i], banks->version[i],
                                         banks->source_id[i]};
    const struct spectrometer_hits before = p->hits[SPECTROMETER_MUON];
    struct muon_reader reader;
    struct muon_digit digit;
    muon_reader_begin(&reader, &map, &bank);
    while (muon_reader_next(&reader, &digit))
      if (!add_muon_tile(p, geometry, digit.tile)) return SL_ENOMEM;
    if (!reader.fault) continue;
    p->hits[SPECTROMETER_MUON].count = before.count;
    for (uint32_t axis = 0; axis < SPECTROMETER_AXES; axis++)
      p->hits[SPECTROMETER_MUON].on_axis[axis] = before.on_axis[axis];
    note_fault(faults, bank.source_id, muon_fault_text(reader.fault));
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ calorimeter */

/* `card`: index in the geometry's channels. */
static void add_energy(struct spectrometer *p, const struct calo_geometry_view *g, uint32_t card, uint32_t channel,
                       int32_t adc) {
  const uint32_t cell = g->channels[CALO_CARD_CHANNELS * card + channel];
  if (cell >= CALO_CELLS) return;
  for (uint32_t axis = 0; axis < SPECTROMETER_AXES; axis++) {
    const float index = g->xy[2 * cell + axis] / g->cell_size[0] + (float)SPECTROMETER_STRIPS / 2;
    if (index >= 0 && index < SPECTROMETER_STRIPS)
      p->energy_mev[axis][(uint32_t)index] += (double)calo_energy(g->gain[cell], g->pedestal[0], adc);
  }
}

static void add_packed_bank(struct spectrometer *p, const struct calo_geometry_view *g, const uint32_t *words,
                            uint32_t size_bytes) {
  const uint32_t count = size_bytes / 4;
  struct calo_card card;
  uint32_t fault;
  for (uint32_t at = 0; at < count;) {
    at = calo_card_read(words, count, at, &card, &fault);
    for (uint32_t channel = 0; channel < CALO_CARD_CHANNELS; channel++)
      add_energy(p, g, card.code - g->numbers[CALO_FIRST_CARD], channel, calo_card_adc(words, &card, channel));
  }
}

static void add_boards_bank(struct spectrometer *p, const struct calo_geometry_view *g, const uint32_t *words,
                            uint32_t version, uint32_t source_id) {
  const int32_t *cards = g->card_index + CALO_BANK_CARDS * calo_source_number(source_id);
  for (uint32_t board = 0; board < CALO_BANK_CARDS; board++)
    for (uint32_t channel = 0; channel < CALO_CARD_CHANNELS && cards[board] >= 0 && cards[board] != CALO_NO_CARD;
         channel++)
      if (!calo_group_is_off(words, version, board, channel / CALO_GROUP_CHANNELS))
        add_energy(p, g, (uint32_t)cards[board], channel, calo_board_adc(words, version, board, channel));
}

void spectrometer_read_calo(struct spectrometer *p, const struct calo_geometry_view *geometry,
                            const struct calo_banks_view *banks, uint32_t event, struct spectrometer_faults *faults) {
#define TEXT(name, text) [CALO_BANK_##name] = text,
  static const char *const texts[] = {CALO_BANK_FAULTS(TEXT)};
#undef TEXT
  const uint32_t *numbers = geometry->numbers;
  p->has_energy = 1;
  p->strip_width = geometry->cell_size[0];
  for (uint32_t i = banks->offsets[event]; i < banks->offsets[event + 1]; i++) {
    const uint32_t *words = banks->payload + banks->first_word[i];
    const uint32_t size_bytes = banks->size_bytes[i], version = banks->version[i], source_id = banks->source_id[i];
    const int is_packed = banks->type[i] == CALO_TYPE_PACKED;
    if (!is_packed && !calo_source_is_ecal(source_id)) continue;
    const uint32_t fault =
        !is_packed ? calo_boards_fault(version, source_id, size_bytes, numbers[CALO_SOURCES])
        : version > CALO_PACKED_VERSION_MAX
            ? (uint32_t)CALO_BANK_VERSION
            : calo_packed_fault(words, size_bytes, geometry->channels, numbers[CALO_FIRST_CARD], numbers[CALO_CARDS]);
    if (fault != CALO_BANK_FINE)
      note_fault(faults, source_id, texts[fault]);
    else if (is_packed)
      add_packed_bank(p, geometry, words, size_bytes);
    else
      add_boards_bank(p, geometry, words, version, source_id);
  }
}
