/* calo.c: histograms of cells, clusters and energy in the electromagnetic calorimeter.
 * A cluster is a cell of at least 50 counts that is higher than all cells that touch it, plus those of them with
 * more than 10 counts. Its transverse energy is computed from the position of the highest cell in the plane z =
 * 12,650 mm. */
#include "calo/bank_words.h"
#include "distributions.h"

#include <math.h>

enum { SEED_MIN = 50, SHARE_MIN = 11, CELL_MIN = 6, NO_VALUE = INT16_MIN };
enum { SHORT_MIN = -CALO_SHORT_ZERO, SHORT_END = CALO_SHORT_ZERO }; /* range of values with 4 bits */
static const double plane_z = 12650.0, mev_a_tev = 1e6;

/* ------------------------------------------------------------------------------------------- the values of cells */

static void put(struct distributions *d, const struct calo_geometry_view *g, uint32_t card, uint32_t channel,
                int32_t adc) {
  const uint32_t cell = g->channels[CALO_CARD_CHANNELS * card + channel];
  if (cell < CALO_CELLS) d->calo_adc[cell] = (int16_t)adc;
}

static uint32_t read_packed(struct distributions *d, const struct calo_geometry_view *g, const uint32_t *words,
                            uint32_t size_bytes) {
  const uint32_t first = g->numbers[CALO_FIRST_CARD];
  uint32_t fault = calo_packed_fault(words, size_bytes, g->channels, first, g->numbers[CALO_CARDS]);
  struct calo_card card;
  for (uint32_t at = 0; fault == CALO_BANK_FINE && at < size_bytes / 4;) {
    at = calo_card_read(words, size_bytes / 4, at, &card, &fault);
    for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) put(d, g, card.code - first, k, calo_card_adc(words, &card, k));
  }
  return fault;
}

static uint32_t read_boards(struct distributions *d, const struct calo_geometry_view *g, const struct io_bank *bank,
                            const uint32_t *words) {
  const uint32_t version = bank->version, source = calo_source_number(bank->source_id);
  if (!calo_source_is_ecal(bank->source_id)) return CALO_BANK_FINE;
  const uint32_t fault = calo_boards_fault(version, bank->source_id, bank->size_bytes, g->numbers[CALO_SOURCES]);
  if (fault != CALO_BANK_FINE) return fault;
  for (uint32_t i = 0; i < CALO_BANK_CARDS * CALO_CARD_CHANNELS; i++) {
    const uint32_t board = i / CALO_CARD_CHANNELS, k = i % CALO_CARD_CHANNELS;
    const int32_t card = g->card_index[CALO_BANK_CARDS * source + board];
    const int is_read =
        card >= 0 && card != CALO_NO_CARD && !calo_group_is_off(words, version, board, k / CALO_GROUP_CHANNELS);
    if (is_read) put(d, g, (uint32_t)card, k, calo_board_adc(words, version, board, k));
  }
  return CALO_BANK_FINE;
}

/* ---------------------------------------------------------------------------------------------------- one event */

static uint32_t area_of(const struct calo_geometry_view *g, uint32_t cell) {
  uint32_t area = 0;
  while (area + 1 < CALO_AREAS && cell >= g->area_first[area + 1]) area++;
  return area;
}

static double energy_of(const struct distributions *d, const struct calo_geometry_view *g, uint32_t cell) {
  return (double)calo_energy(g->gain[cell], g->pedestal[0], d->calo_adc[cell]);
}

/* Fills the histograms of a cluster; returns 1 if the cell is the highest of a cluster. */
static int add_cluster(struct distributions *d, const struct calo_geometry_view *g, uint32_t cell) {
  const uint16_t *others = g->neighbours + (size_t)CALO_NEIGHBOURS * cell;
  const double x = (double)g->xy[2 * cell], y = (double)g->xy[2 * cell + 1], r2 = x * x + y * y;
  if (d->calo_adc[cell] < SEED_MIN) return 0;
  const double highest = energy_of(d, g, cell);
  double energy = highest;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++) {
    if (d->calo_adc[others[k]] >= d->calo_adc[cell]) return 0;
    if (d->calo_adc[others[k]] >= SHARE_MIN) energy += energy_of(d, g, others[k]);
  }
  distributions_fill(d, H_ecal_cluster_et, energy * sqrt(r2 / (r2 + plane_z * plane_z)));
  distributions_fill(d, H_ecal_cluster_seed, highest / energy);
  return 1;
}

static void add_cells(struct distributions *d, const struct calo_geometry_view *g) {
  uint32_t cells[CALO_AREAS] = {0}, clusters[CALO_AREAS] = {0}, long_values = 0;
  double energy = 0;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    const int32_t adc = d->calo_adc[cell];
    if (adc == NO_VALUE) continue;
    const uint32_t area = area_of(g, cell);
    distributions_fill(d, H_ecal_adc, adc);
    cells[area] += adc >= CELL_MIN;
    clusters[area] += (uint32_t)add_cluster(d, g, cell);
    long_values += adc < SHORT_MIN || adc >= SHORT_END;
    energy += energy_of(d, g, cell);
  }
  for (uint32_t area = 0; area < CALO_AREAS; area++) { /* two histograms per area, in the order of areas */
    distributions_fill(d, H_ecal_cells_outer + 2 * area, cells[area]);
    distributions_fill(d, H_ecal_clusters_outer + 2 * area, clusters[area]);
  }
  distributions_fill(d, H_ecal_energy, energy / mev_a_tev);
  distributions_fill(d, H_ecal_long, long_values);
}

int distributions_fill_calo(struct distributions *d, const struct calo_banks_view *banks,
                            const struct calo_geometry_view *g, uint32_t event) {
  int malformed = 0;
  if (!banks->offsets || !g->numbers || banks->offsets[event] == banks->offsets[event + 1]) return 0;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) d->calo_adc[cell] = NO_VALUE;
  for (uint32_t i = banks->offsets[event]; i < banks->offsets[event + 1]; i++) {
    const uint32_t *words = banks->payload + banks->first_word[i];
    const struct io_bank bank = {.size_bytes = banks->size_bytes[i],
                                 .source_id = banks->source_id[i],
                                 .type = banks->type[i],
                                 .version = banks->version[i]};
    const uint32_t fault =
        bank.type == CALO_TYPE_PACKED ? read_packed(d, g, words, bank.size_bytes) : read_boards(d, g, &bank, words);
    malformed += fault != CALO_BANK_FINE;
  }
  if (malformed == 0) add_cells(d, g);
  return malformed;
}
