/* electron_id_test.c: calo.electron_id against the energy point by point, and against a plain computation of showers
 * and of the network in double precision; and the positions of cells (cells.h) against the description of the detector.
 */
#include "calo/description.h"
#include "calo/electron_network.h"
#include "line_support.h"
#include "network_case.h"

#include <math.h>

enum { EVENTS = 4, TRACKS = 200 };
static const uint32_t offsets[EVENTS + 1] = {0, 33, 33, 130, TRACKS};
static int16_t adc[EVENTS * CALO_CELLS];
static float x[TRACKS], y[TRACKS], tx[TRACKS], ty[TRACKS], qop[TRACKS];

static struct line line_of(uint32_t i) {
  const struct line l = {x[i], y[i], 9410, tx[i], ty[i]};
  return l;
}

/* Some tracks pass several small cells, some miss the detector, some pass the hole. */
static void make_tracks(void) {
  random_cells(adc, EVENTS, 3, 1000);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float reach = i % 3 == 0 ? 500.0f : 3300.0f;
    x[i] = random_between(-reach, reach);
    y[i] = 0.8f * random_between(-reach, reach);
    tx[i] = random_between(-0.4f, 0.4f);
    ty[i] = random_between(-0.25f, 0.25f);
    qop[i] = (i % 2 ? 1.0f : -1.0f) / random_between(2000, 60000);
  }
}

static struct sl_test *electrons_new(void) {
  struct sl_test *t = calo_new("electron_id", EVENTS, "pedestal neighbours xy gain to_local planes cell_size");
  sl_test_input(t, "cells", "adc", adc, EVENTS * CALO_CELLS);
  sl_test_input(t, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "qop", qop, TRACKS);
  sl_test_input(t, "tracks", "x", x, TRACKS);
  sl_test_input(t, "tracks", "y", y, TRACKS);
  sl_test_input(t, "tracks", "tx", tx, TRACKS);
  sl_test_input(t, "tracks", "ty", ty, TRACKS);
  return t;
}

static void energy_is_the_sum_over_the_cells_on_the_trajectory(void **state) {
  (void)state;
  make_tracks();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = electrons_new();
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    const float *energy = sl_test_output(t, "electrons", "energy"),
                *e_over_p = sl_test_output(t, "electrons", "e_over_p");
    const uint8_t *is_electron = sl_test_output(t, "electrons", "is_electron");
    const uint8_t *in_acceptance = sl_test_output(t, "electrons", "in_acceptance");
    const float *score = sl_test_output(t, "electrons", "score");
    uint32_t counts[3] = {0};
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
        const struct line l = line_of(i);
        const float expected = energy_of_line(&l, adc + event * CALO_CELLS, 4),
                    ratio = expected * (qop[i] < 0 ? -qop[i] : qop[i]);
        assert_true(energy[i] == expected && e_over_p[i] == ratio);
        assert_int_equal(is_electron[i], ratio > 0.7f);
        assert_true(score[i] == 1);
        assert_int_equal(in_acceptance[i], cell_of_line(&l, SHOWER_MAX, SHOWER_MAX, 0) < CALO_CELLS);
        counts[0] += is_electron[i], counts[1] += in_acceptance[i], counts[2] += energy[i] > 0 && !in_acceptance[i];
      }
    assert_true(counts[0] > 5 && counts[0] < TRACKS / 2 && counts[1] > TRACKS / 2 && counts[1] < TRACKS - 10 &&
                counts[2] > 0);
    sl_test_free(t);
  }
}

static void a_track_without_a_finite_line_has_no_energy(void **state) {
  (void)state;
  make_tracks();
  tx[0] = NAN, ty[1] = INFINITY, x[2] = -INFINITY, y[3] = 1e30f, tx[4] = 1e30f, qop[5] = NAN;
  struct sl_test *t = electrons_new();
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 5; i++) assert_true(((const float *)sl_test_output(t, "electrons", "energy"))[i] == 0);
  for (uint32_t i = 0; i < 6; i++)
    assert_int_equal(((const uint8_t *)sl_test_output(t, "electrons", "is_electron"))[i], 0);
  sl_test_free(t);
}

/* ----------------------------------------------------------------------------------------- showers and network */

static struct network_case network;

/* Gains and pedestal of the geometry, or other ones; adc has the values. */
struct response {
  float gain[CALO_CELLS], pedestal;
};
static struct response response;

static void nominal_response(void) {
  memcpy(response.gain, calo_of("gain"), sizeof response.gain);
  response.pedestal = *(const float *)calo_of("pedestal");
}

static struct sl_test *showers_new(void) {
  struct sl_test *t = electrons_new();
  sl_test_input(t, "geometry", "gain", response.gain, CALO_CELLS);
  sl_test_input(t, "geometry", "pedestal", &response.pedestal, 1);
  return t;
}

/* Energy of a cell; negative if it was not read out. */
static double cell_energy(const int16_t *values, uint32_t cell) {
  if (values[cell] == CALO_NO_ADC) return -1;
  return (double)response.gain[cell] * ((double)values[cell] - (double)response.pedestal);
}

static double cell_width(uint32_t cell) {
  const double outer = (double)*(const float *)calo_of("cell_size");
  return cell < MIDDLE_FIRST ? outer : cell < INNER_FIRST ? outer / 2 : outer / 3;
}

/* Shower of a track, and what it is a test of. */
struct shower {
  uint32_t cell; /* the highest, or CALO_CELLS */
  double energy, distance2, variance_x, variance_y, covariance;
  uint32_t ties, at_border, between_areas, empty_cells, negative_cells; /* cells of the 3 x 3, or of the line */
};

static void add_neighbours(const int16_t *values, double x_track, double y_track, struct shower *s) {
  const uint16_t *neighbours = (const uint16_t *)calo_of("neighbours") + CALO_NEIGHBOURS * s->cell;
  const float *xy = calo_of("xy");
  double cell_x[CALO_NEIGHBOURS + 1], cell_y[CALO_NEIGHBOURS + 1], energy[CALO_NEIGHBOURS + 1], mean_x = 0, mean_y = 0;
  const double width = cell_width(s->cell);
  uint32_t count = 0, existing = 0;
  for (uint32_t k = 0; k <= CALO_NEIGHBOURS; k++) {
    const uint32_t cell = k < CALO_NEIGHBOURS ? neighbours[k] : s->cell;
    if (cell == CALO_NO_NEIGHBOUR) continue;
    existing++;
    s->between_areas += cell_width(cell) != width;
    s->empty_cells += values[cell] == CALO_NO_ADC;
    s->negative_cells += values[cell] != CALO_NO_ADC && cell_energy(values, cell) < 0;
    if (cell_energy(values, cell) < 0) continue;
    energy[count] = cell_energy(values, cell);
    cell_x[count] = (double)xy[2 * cell] / width;
    cell_y[count] = (double)xy[2 * cell + 1] / width;
    s->energy += energy[count++];
  }
  s->at_border = existing < 9 && s->between_areas == 0;
  for (uint32_t k = 0; k < count; k++)
    mean_x += energy[k] / s->energy * cell_x[k], mean_y += energy[k] / s->energy * cell_y[k];
  for (uint32_t k = 0; k < count; k++) {
    const double share = energy[k] / s->energy, dx = cell_x[k] - mean_x, dy = cell_y[k] - mean_y;
    s->variance_x += share * dx * dx;
    s->variance_y += share * dy * dy;
    s->covariance += share * dx * dy;
  }
  const double from_x = x_track / width - mean_x, from_y = y_track / width - mean_y;
  s->distance2 = from_x * from_x + from_y * from_y;
}

static struct shower shower_of(const struct line *l, const int16_t *values) {
  struct shower s;
  memset(&s, 0, sizeof s);
  s.cell = CALO_CELLS;
  double most = -1;
  for (uint32_t i = 0; i < 6; i++) {
    const uint32_t cell = i == 0   ? cell_of_line(l, FRONT, FRONT, 0)
                          : i == 1 ? cell_of_line(l, SHOWER_MAX, SHOWER_MAX, 0)
                                   : cell_of_line(l, FRONT, BACK, (double)(i - 1) / 4);
    if (cell == CALO_CELLS || cell_energy(values, cell) < 0) continue;
    s.ties += cell != s.cell && cell_energy(values, cell) == most;
    if (cell_energy(values, cell) <= most) continue;
    s.cell = cell;
    s.ties = 0;
    most = cell_energy(values, cell);
  }
  if (s.cell == CALO_CELLS) return s;
  const float *plane = (const float *)calo_of("planes") + PLANE_VALUES * SHOWER_MAX;
  const double a = (double)plane[0], b = (double)plane[1], c = (double)plane[2], d = (double)plane[3];
  const double at_x = (double)l->x, at_y = (double)l->y, slope_x = (double)l->tx, slope_y = (double)l->ty;
  const double distance = -(a * at_x + b * at_y + c * (double)l->z + d) / (a * slope_x + b * slope_y + c);
  add_neighbours(values, at_x + distance * slope_x, at_y + distance * slope_y, &s);
  return s;
}

/* Output of the network for the inputs of track `i` of the test, from its fields. */
static double plain_score(const struct sl_test *t, uint32_t i) {
  static const char *const logarithms[] = {"distance2", "variance_x", "variance_y", "covariance"};
  double inputs[CALO_ELECTRON_INPUT_COUNT], scale;
  inputs[0] = (double)((const float *)sl_test_output(t, "electrons", "e_over_p"))[i];
  inputs[1] = (double)((const float *)sl_test_output(t, "electrons", "e_over_p_3x3"))[i];
  for (uint32_t k = 0; k < 4; k++)
    inputs[2 + k] = log(fmax(fabs((double)((const float *)sl_test_output(t, "electrons", logarithms[k]))[i]), 1e-10));
  return 1 / (1 + exp(-network_case_logit(&network, inputs, &scale)));
}

static void assert_near(const char *what, uint32_t track, double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("track %u: %s is %.9g, expected %.9g", track, what, found, expected);
}

/* Numbers of preselected tracks with showers of each kind. */
struct shower_counts {
  uint32_t all, with_ties, at_border, between_areas, with_empty_cells, with_negative_cells, electrons;
};

/* Compares all tracks, by the limits of the preselection. */
static void compare_showers(struct sl_test *t, double min_3x3, double max_e_over_p, struct shower_counts *counts) {
  static const char *const names[] = {"e_over_p_3x3", "distance2", "variance_x", "variance_y", "covariance"};
  const float *fields[5], *score = sl_test_output(t, "electrons", "score");
  const uint8_t *is_electron = sl_test_output(t, "electrons", "is_electron");
  for (uint32_t k = 0; k < 5; k++) fields[k] = sl_test_output(t, "electrons", names[k]);
  memset(counts, 0, sizeof *counts);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
      const struct line l = line_of(i);
      const struct shower s = shower_of(&l, adc + event * CALO_CELLS);
      const double e_over_p = (double)((const float *)sl_test_output(t, "electrons", "e_over_p"))[i];
      const double in_3x3 = s.energy * fabs((double)qop[i]);
      const int is_preselected =
          cell_of_line(&l, SHOWER_MAX, SHOWER_MAX, 0) != CALO_CELLS && in_3x3 > min_3x3 && e_over_p < max_e_over_p;
      const double expected[] = {in_3x3, s.distance2, s.variance_x, s.variance_y, s.covariance};
      for (uint32_t k = 0; k < 5; k++) {
        const double value = k == 0 || is_preselected ? expected[k] : 0;
        assert_near(names[k], i, (double)fields[k][i], value, 1e-5 * (fabs(value) + (k > 0)));
      }
      assert_near("score", i, (double)score[i], is_preselected ? plain_score(t, i) : 0, is_preselected ? 1e-3 : 0);
      assert_int_equal(is_electron[i], score[i] > 0.7f);
      assert_int_equal(((const uint8_t *)sl_test_output(t, "electrons", "is_preselected"))[i], is_preselected);
      if (!is_preselected) continue;
      counts->all++;
      counts->with_ties += s.ties > 0;
      counts->at_border += s.at_border;
      counts->between_areas += s.between_areas > 0;
      counts->with_empty_cells += s.empty_cells > 0;
      counts->with_negative_cells += s.negative_cells > 0;
      counts->electrons += is_electron[i];
    }
}

/* Tracks as those of make_tracks, most of them near borders of the calorimeter or of its areas. */
static void make_showers(void) {
  static const float borders[] = {3840, 1950, 975}; /* x at shower maximum, mm */
  const float way = 3240;                           /* mm from the state to shower maximum */
  make_tracks();
  random_cells(adc, EVENTS, 1, 500);
  for (uint32_t i = 0; i < TRACKS; i++) {
    if (i % 4 == 3) continue;
    x[i] = borders[i % 4] + random_between(-50, 50) - way * tx[i];
    y[i] = random_between(-500, 500) - way * ty[i];
    if (i % 8 < 4) x[i] = -x[i], tx[i] = -tx[i];
  }
}

static void showers_and_scores_are_those_of_a_plain_computation(void **state) {
  (void)state;
  struct shower_counts counts;
  network_case_load(&network, "electron");
  nominal_response();
  make_showers();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = showers_new();
    network_case_give(t, &network);
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    compare_showers(t, 0.4, 2, &counts);
    assert_true(counts.all > 50 && counts.all < TRACKS - 50 && counts.at_border > 2 && counts.between_areas > 2 &&
                counts.with_empty_cells > 10 && counts.with_negative_cells > 10 && counts.electrons > 2);
    sl_test_free(t);
  }
}

static void limits_of_the_preselection_are_properties(void **state) {
  (void)state;
  struct shower_counts counts, before;
  network_case_load(&network, "electron");
  nominal_response();
  make_showers();
  struct sl_test *t = showers_new();
  network_case_give(t, &network);
  assert_int_equal(sl_test_run(t), 0);
  compare_showers(t, 0.4, 2, &before);
  sl_test_set(t, "min_e_over_p_3x3", 0.9);
  sl_test_set(t, "max_e_over_p", 0.6);
  assert_int_equal(sl_test_run(t), 0);
  compare_showers(t, 0.9, 0.6, &counts);
  assert_true(counts.all > 0 && counts.all < before.all);
  sl_test_free(t);
}

/* All cells have the same energy. */
static void of_equal_cells_the_first_on_the_track_is_the_highest(void **state) {
  (void)state;
  struct shower_counts counts;
  network_case_load(&network, "electron");
  nominal_response();
  make_tracks();
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) response.gain[cell] = 20;
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 20;
  struct sl_test *t = showers_new();
  network_case_give(t, &network);
  assert_int_equal(sl_test_run(t), 0);
  compare_showers(t, 0.4, 2, &counts);
  assert_true(counts.with_ties > 5);
  sl_test_free(t);
}

/* Event 0: no cell was read out; event 2: all cells read less than the pedestal. */
static void a_track_without_energy_has_no_shower(void **state) {
  (void)state;
  network_case_load(&network, "electron");
  nominal_response();
  make_tracks();
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = i < 2 * CALO_CELLS ? CALO_NO_ADC : -1;
  struct sl_test *t = showers_new();
  network_case_give(t, &network);
  sl_test_set(t, "min_e_over_p_3x3", 0);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    assert_true(((const float *)sl_test_output(t, "electrons", "e_over_p_3x3"))[i] == 0);
    assert_true(((const float *)sl_test_output(t, "electrons", "score"))[i] == 0);
    assert_int_equal(((const uint8_t *)sl_test_output(t, "electrons", "is_electron"))[i], 0);
  }
  sl_test_free(t);
}

/* The last track has no energy on its line, and infinite E/p in the neighbours: it is preselected. */
static void a_track_without_finite_inputs_has_no_score(void **state) {
  (void)state;
  static const uint32_t finite = 6, infinite = 7;
  network_case_load(&network, "electron");
  nominal_response();
  response.pedestal = 0;
  make_tracks();
  random_cells(adc, EVENTS, 3, 1000);
  for (uint32_t i = 0; i <= infinite; i++) x[i] = y[i] = 1500, tx[i] = ty[i] = 0, qop[i] = 1e-4f;
  x[infinite] = -1500;
  qop[0] = NAN, x[1] = NAN, y[2] = INFINITY, tx[3] = NAN, ty[4] = -INFINITY, qop[5] = INFINITY, qop[infinite] = 1e36f;
  const struct line lines[] = {line_of(finite), line_of(infinite)};
  const uint32_t cells[] = {cell_of_line(&lines[0], SHOWER_MAX, SHOWER_MAX, 0),
                            cell_of_line(&lines[1], SHOWER_MAX, SHOWER_MAX, 0)};
  adc[cells[0]] = (int16_t)(9000 / response.gain[cells[0]]);
  adc[cells[1]] = 0;
  adc[((const uint16_t *)calo_of("neighbours"))[CALO_NEIGHBOURS * cells[1]]] = 3000;
  struct sl_test *t = showers_new();
  network_case_give(t, &network);
  assert_int_equal(sl_test_run(t), 0);
  const float *score = sl_test_output(t, "electrons", "score");
  const uint8_t *is_electron = sl_test_output(t, "electrons", "is_electron");
  for (uint32_t i = 0; i <= infinite; i++) {
    assert_int_equal(score[i] > 0, i == finite);
    assert_true(i == finite || (score[i] == 0 && is_electron[i] == 0));
  }
  assert_true(isinf(((const float *)sl_test_output(t, "electrons", "e_over_p_3x3"))[infinite]));
  assert_true(((const float *)sl_test_output(t, "electrons", "distance2"))[infinite] > 0);
  sl_test_free(t);
}

/* In steps of the logarithm of its squared distance from the shower. */
static void the_score_of_the_network_falls_with_the_distance(void **state) {
  (void)state;
  uint32_t falls = 0;
  network_case_load(&network, "electron");
  for (uint32_t i = 0; i < 2000; i++) {
    double inputs[CALO_ELECTRON_INPUT_COUNT], scale, before = INFINITY;
    inputs[CALO_ELECTRON_INPUT_e_over_p] = (double)random_between(0, 2);
    inputs[CALO_ELECTRON_INPUT_e_over_p_3x3] = (double)random_between(0.4f, 3);
    inputs[CALO_ELECTRON_INPUT_log_variance_x] = (double)random_between(-5, 0);
    inputs[CALO_ELECTRON_INPUT_log_variance_y] = (double)random_between(-5, 0);
    inputs[CALO_ELECTRON_INPUT_log_covariance] = (double)random_between(-12, 0);
    for (int k = 0; k < 40; k++) {
      inputs[CALO_ELECTRON_INPUT_log_distance2] = -8 + 0.25 * k;
      const double logit = network_case_logit(&network, inputs, &scale);
      if (!(logit <= before + 1e-5 * scale)) fail_msg("example %u, step %d: %g after %g", i, k, logit, before);
      falls += logit < before - 0.01;
      before = logit;
    }
  }
  assert_true(falls > 10000);
}

static void the_limit_of_the_score_is_a_property(void **state) {
  (void)state;
  network_case_load(&network, "electron");
  nominal_response();
  make_showers();
  for (int k = 0; k < 3; k++) {
    const float limit = 0.35f * (float)k;
    uint32_t electrons = 0, above = 0;
    struct sl_test *t = showers_new();
    network_case_give(t, &network);
    sl_test_set(t, "min_score", (double)limit);
    sl_test_set(t, "min_e_over_p", 10); /* has no effect */
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t i = 0; i < TRACKS; i++) {
      electrons += ((const uint8_t *)sl_test_output(t, "electrons", "is_electron"))[i];
      above += ((const float *)sl_test_output(t, "electrons", "score"))[i] > limit;
    }
    assert_int_equal(electrons, above);
    assert_true(above > 0);
    sl_test_free(t);
  }
}

static void none_is_no_network(void **state) {
  (void)state;
  static float score[TRACKS], e_over_p[TRACKS];
  static uint8_t is_electron[2][TRACKS];
  network_case_load(&network, "none");
  nominal_response();
  make_tracks();
  for (int k = 0; k < 2; k++) {
    struct sl_test *t = showers_new();
    if (k == 1) network_case_give(t, &network);
    assert_int_equal(sl_test_run(t), 0);
    memcpy(score, sl_test_output(t, "electrons", "score"), sizeof score);
    memcpy(e_over_p, sl_test_output(t, "electrons", "e_over_p"), sizeof e_over_p);
    memcpy(is_electron[k], sl_test_output(t, "electrons", "is_electron"), sizeof is_electron[k]);
    for (uint32_t i = 0; i < TRACKS; i++) {
      assert_true(score[i] == 1);
      assert_int_equal(is_electron[k][i], e_over_p[i] > 0.7f);
    }
    sl_test_free(t);
  }
  assert_memory_equal(is_electron[0], is_electron[1], TRACKS);
}

static void another_network_is_refused(void **state) {
  (void)state;
  network_case_load(&network, "matching");
  nominal_response();
  make_tracks();
  struct sl_test *t = showers_new();
  network_case_give(t, &network);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "input 1 of the network is `x`; inputs of this node are e_over_p, "));
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------ positions of cells */

static struct calo_description *description_new(void) {
  static char text[1 << 16];
  char reason[256];
  struct calo_description *d = malloc(sizeof *d);
  FILE *file = fopen(NOMINAL, "rb");
  assert_non_null(file);
  const size_t bytes = fread(text, 1, sizeof text, file);
  fclose(file);
  assert_int_equal(statements_read(&calo_description_format, text, bytes, d, reason, sizeof reason), 0);
  return d;
}

static void positions_map_to_the_cells_of_the_description(void **state) {
  (void)state;
  struct calo_description *d = description_new();
  struct calo_geometry_view g;
  memset(&g, 0, sizeof g);
  g.to_local = calo_of("to_local");
  g.cell_size = calo_of("cell_size");
  const struct calo_grid grid = calo_grid_of(&g);
  uint32_t inside = 0, differences = 0;
  for (uint32_t i = 0; i < 200000; i++) {
    const float reach = i % 2 ? 4200.0f : 450.0f, at_x = random_between(-reach, reach),
                at_y = random_between(-reach, reach);
    const float z = random_between(12600, 13040);
    const float local_y = g.to_local[5] * at_y + g.to_local[6] * z + g.to_local[7];
    struct calo_place place;
    const uint32_t cell = calo_cell_at(&grid, at_x, at_y, z),
                   expected = calo_description_cell_at(d, at_x, local_y, &place);
    inside += cell < CALO_CELLS;
    differences += cell != expected;
  }
  assert_true(inside > 100000 && differences == 0);
  free(d);
}

static void a_geometry_with_a_moved_cell_is_refused(void **state) {
  (void)state;
  static float xy[2 * CALO_CELLS];
  memcpy(xy, calo_of("xy"), sizeof xy);
  xy[2 * 4711] += 25;
  make_tracks();
  struct sl_test *t = electrons_new();
  sl_test_input(t, "geometry", "xy", xy, 2 * CALO_CELLS);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(
      strstr(sl_test_messages(t), "cell 4711 of the geometry is not at its position in the calorimeter's grid"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_the_sum_over_the_cells_on_the_trajectory),
      cmocka_unit_test(a_track_without_a_finite_line_has_no_energy),
      cmocka_unit_test(positions_map_to_the_cells_of_the_description),
      cmocka_unit_test(a_geometry_with_a_moved_cell_is_refused),
      cmocka_unit_test(showers_and_scores_are_those_of_a_plain_computation),
      cmocka_unit_test(limits_of_the_preselection_are_properties),
      cmocka_unit_test(of_equal_cells_the_first_on_the_track_is_the_highest),
      cmocka_unit_test(a_track_without_energy_has_no_shower),
      cmocka_unit_test(a_track_without_finite_inputs_has_no_score),
      cmocka_unit_test(the_limit_of_the_score_is_a_property),
      cmocka_unit_test(none_is_no_network),
      cmocka_unit_test(another_network_is_refused),
      cmocka_unit_test(the_score_of_the_network_falls_with_the_distance),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
