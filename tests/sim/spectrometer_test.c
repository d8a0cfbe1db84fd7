/* From the VELO to the muon chambers: steps, material, decays, and passages. */
#include "generator/generator.h"
#include "support.h"
#include "transport/lanes.h"
#include "transport/magnet.h"
#include "transport/secondary.h"

#include <math.h>

enum { GUN = 4000 }; /* particles in an event of the gun below */

/* Makes an event with `count` particles at the end of the VELO, along z by default. */
static struct sim_event *gun(enum sim_species_id id, float p, uint32_t count) {
  struct sim_event *event = calloc(1, sizeof *event);
  assert_non_null(event);
  event->seed = 7;
  struct sim_vertex *v = SIM_APPEND(&event->vertices);
  assert_non_null(v);
  *v = (struct sim_vertex){.is_collision = 1};
  for (uint32_t i = 0; i < count; i++) {
    struct sim_particle *new = sim_event_add(event, &sim_species[id], 1, 0, 0, p);
    assert_non_null(new);
    new->reached_end = 1;
    new->end = (struct sim_state){.z = 770.0f, .direction = 1.0f};
    new->end_p = p;
  }
  return event;
}

static void gun_free(struct sim_event *event) {
  sim_event_free(event);
  free(event);
}

/* Sets the slopes of all particles of the gun, to avoid the beam pipe. */
static void aim(struct sim_event *event, float tx, float ty) {
  for (uint32_t i = 0; i < event->particles.count; i++) {
    struct sim_particle *p = &event->particles.at[i];
    p->end.tx = tx;
    p->end.ty = ty;
    p->end.x = tx * 770.0f;
    p->end.y = ty * 770.0f;
  }
}

static struct sim_spectrometer *spectrometer_new(double polarity) {
  struct sim_spectrometer *s = sim_spectrometer_new(polarity);
  assert_non_null(s);
  return s;
}

/* Removes all material from a spectrometer. */
static void empty(struct sim_spectrometer *s, struct sim_plane *planes) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < s->node_count; i++) {
    if (!s->nodes[i].plane) continue;
    planes[k] = *s->nodes[i].plane;
    planes[k].radiation_lengths = planes[k].interaction_lengths = planes[k].scattering_lengths = 0;
    s->nodes[i].plane = &planes[k++];
  }
}

static const struct sim_passage *passage_of(const struct sim_event *event, enum sim_detector detector, uint32_t layer,
                                            uint32_t particle) {
  for (uint32_t i = 0; i < event->passages[detector].count; i++) {
    const struct sim_passage *p = &event->passages[detector].at[i];
    if (p->particle == particle && p->layer == layer) return p;
  }
  return NULL;
}

static double uniform_in(double low, double high) { return low + (high - low) * (rand() + 0.5) / (RAND_MAX + 1.0); }

/* ---------------------------------------------------------------------------------------------------- steps */

static void planes_are_in_order_and_every_layer_has_its_node(void **state) {
  (void)state;
  static const uint32_t layers[SIM_DETECTORS] = {4, 12, 1, 0};
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  uint32_t seen[SIM_DETECTORS] = {0};
  for (uint32_t i = 1; i < s->node_count; i++) {
    const double step = s->nodes[i].end.z - s->nodes[i - 1].end.z;
    assert_true(step > 0 && fabs(s->nodes[i].middle.z - (s->nodes[i].end.z - step / 2)) < 1e-9);
    if (!s->nodes[i].plane) continue;
    assert_true(s->nodes[i].plane->z == s->nodes[i].end.z);
    const enum sim_detector detector = s->nodes[i].plane->detector;
    if (detector != SIM_IN_NONE) assert_int_equal(s->nodes[i].plane->layer, seen[detector]++);
  }
  for (int d = 0; d < SIM_DETECTORS; d++) assert_int_equal(seen[d], layers[d]);
  sim_spectrometer_free(s);
}

/* Compared with 10 mm steps in the exact field, at all nodes up to the last SciFi layer; README.md has the results. */
static void steps_are_accurate_to_10_um(void **state) {
  (void)state;
  static const double edges[] = {1000, 1500, 2000, 3000, 5000, 10000, 100000};
  enum { BINS = 6, TRACKS = 100 };
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  srand(4);
  for (int bin = 0; bin < BINS; bin++) {
    double largest = 0, sum = 0, slope = 0;
    int count = 0;
    for (int n = 0; n < TRACKS; n++) {
      struct sim_track_batch flock = {.count = 0};
      struct sim_track t = {.x = uniform_in(-20, 20),
                            .y = uniform_in(-20, 20),
                            .z = 770,
                            .tx = uniform_in(-0.3, 0.3),
                            .ty = uniform_in(-0.25, 0.25),
                            .charge = n % 2 ? 1 : -1,
                            .p = (float)(1 / uniform_in(1 / edges[bin + 1], 1 / edges[bin]))};
      double error = 0, of_slope = 0;
      int is_inside = 1;
      assert_int_equal(sim_track_batch_add(&flock, &s->nodes[0].end, &t), 0);
      for (uint32_t i = 1; i < s->node_count && s->nodes[i].end.z < 9500 && is_inside; i++) {
        const double z = s->nodes[i].end.z;
        struct sim_track found;
        sim_lanes_step(flock.blocks.at, s->nodes[i - 1].end.z, &s->nodes[i].middle, &s->nodes[i].end);
        sim_track_batch_get(&flock, 0, z, &found);
        sim_track_advance(&t, z, 10);
        is_inside = fabs(t.x) < SIM_APERTURE_X_SLOPE * z + SIM_APERTURE_X_SHIFT && fabs(t.tx) < 2 &&
                    fabs(t.y) < SIM_APERTURE_Y_SLOPE * z + SIM_APERTURE_Y_SHIFT;
        if (!is_inside) continue;
        error = fmax(error, hypot(found.x - t.x, found.y - t.y));
        of_slope = fmax(of_slope, hypot(found.tx - t.tx, found.ty - t.ty));
      }
      free(flock.blocks.at);
      if (!is_inside) continue;
      largest = fmax(largest, error);
      slope = fmax(slope, of_slope);
      sum += error;
      count++;
    }
    print_message("%6.0f to %6.0f MeV: %d tracks, error %.4f mm on average, %.4f mm at most, %.2g of the slope\n",
                  edges[bin], edges[bin + 1], count, sum / (count ? count : 1), largest, slope);
    assert_true(count >= 10 && largest > 0 && largest < 0.01);
  }
  sim_spectrometer_free(s);
}

static void without_material_polarity_mirrors_the_event(void **state) {
  (void)state;
  static struct sim_plane planes[SIM_NODES_MAX];
  struct sim_event *events[2];
  for (int k = 0; k < 2; k++) {
    struct sim_spectrometer *s = spectrometer_new(k ? SIM_POLARITY_UP : SIM_POLARITY_DOWN);
    empty(s, planes);
    events[k] = gun(SIM_PROTON, 8000, 1);
    aim(events[k], 0.0f, 0.05f);
    assert_int_equal(sim_spectrometer_run(s, events[k]), 0);
    sim_spectrometer_free(s);
  }
  for (uint32_t layer = 0; layer < 12; layer++) {
    const struct sim_passage *down = passage_of(events[0], SIM_IN_SCIFI, layer, 0);
    const struct sim_passage *up = passage_of(events[1], SIM_IN_SCIFI, layer, 0);
    assert_true(down && up && down->x > 100 && up->x == -down->x && up->tx == -down->tx && up->y == down->y);
  }
  gun_free(events[0]);
  gun_free(events[1]);
}

/* State from the model: 10 GeV from the end of the VELO along z, in the exact field. */
static void passages_lie_on_the_track(void **state) {
  (void)state;
  static struct sim_plane planes[SIM_NODES_MAX];
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(SIM_PROTON, 10000, 1);
  aim(event, 0.02f, 0.02f);
  empty(s, planes);
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  struct sim_track t = {.x = (double)event->particles.at[0].end.x,
                        .y = (double)event->particles.at[0].end.y,
                        .z = 770,
                        .tx = (double)0.02f,
                        .ty = (double)0.02f,
                        .charge = SIM_POLARITY_DOWN,
                        .p = 10000};
  for (uint32_t d = SIM_IN_UT; d <= SIM_IN_ECAL; d++) {
    for (uint32_t i = 0; i < event->passages[d].count; i++) {
      const struct sim_passage *p = &event->passages[d].at[i];
      sim_track_advance(&t, (double)p->z, 10);
      assert_true(fabs((double)p->x - t.x) < 0.01 && fabs((double)p->y - t.y) < 0.01);
      const double beta = 1 / hypot(1, 938.272 / 10000), way = (double)p->z; /* nearly straight */
      assert_true(fabs((double)p->time_ns * 299.792458 * beta / way - 1) < 0.01);
    }
  }
  assert_int_equal(event->passages[SIM_IN_UT].count, 4);
  assert_int_equal(event->passages[SIM_IN_SCIFI].count, 12);
  assert_int_equal(event->passages[SIM_IN_ECAL].count, 1);
  gun_free(event);
  sim_spectrometer_free(s);
}

/* ------------------------------------------------------------------------------------------------- material */

/* Muons of 5 GeV between the first and the second x layer of the UT: width of the change of slope. */
static void scattering_follows_highlands_formula(void **state) {
  (void)state;
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(SIM_MUON, 5000, GUN);
  aim(event, 0.0f, 0.05f);
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  double expected = 0, sum = 0, square = 0;
  const double energy = hypot(5000, 105.658), slant = sqrt(1 + 0.05 * 0.05);
  for (uint32_t i = 0; i < sim_plane_count && sim_planes[i].detector != SIM_IN_UT; i++) {
    const double t = (double)sim_planes[i].scattering_lengths * slant;
    if (sim_planes[i].ring[1] > 0) continue;
    const double width = 13.6 / 5000 * (energy / 5000) * sqrt(t) * (1 + 0.038 * log(t));
    expected += width * width * slant * slant * slant * slant; /* of ty: (1 + ty^2)^2 */
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < GUN; i++) {
    const struct sim_passage *p = passage_of(event, SIM_IN_UT, 0, i);
    if (!p) continue;
    const double ty = (double)p->ty - 0.05;
    sum += ty;
    square += ty * ty;
    count++;
  }
  assert_true(count > GUN * 0.99);
  const double width = sqrt(square / count);
  print_message("scattered by %.4g, expected %.4g\n", width, sqrt(expected));
  assert_true(fabs(width / sqrt(expected) - 1) < 0.05);
  assert_true(fabs(sum / count) < 0.1 * width);
  gun_free(event);
  sim_spectrometer_free(s);
}

/* Fractions of hadrons that reach the last SciFi layer, and of photons that reach the ECAL: exponentials of the
 * material. */
static void transmission_follows_the_material_lengths(void **state) {
  (void)state;
  const float tx = 0.03f, ty = 0.05f;
  const double slant = sqrt(1 + (double)tx * (double)tx + (double)ty * (double)ty);
  double interaction = 0, radiation = 0;
  for (uint32_t i = 0; i < sim_plane_count; i++) {
    if (sim_planes[i].ring[1] > 0) continue;
    radiation += (double)sim_planes[i].radiation_lengths * slant;
    if (sim_planes[i].z < 9402) interaction += (double)sim_planes[i].interaction_lengths * slant;
  }
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *protons = gun(SIM_PROTON, 50000, GUN), *photons = gun(SIM_PHOTON, 5000, GUN);
  aim(protons, tx, ty);
  aim(photons, tx, ty);
  assert_int_equal(sim_spectrometer_run(s, protons), 0);
  assert_int_equal(sim_spectrometer_run(s, photons), 0);
  uint32_t through = 0, unconverted = 0;
  for (uint32_t i = 0; i < protons->passages[SIM_IN_SCIFI].count; i++) {
    const struct sim_passage *p = &protons->passages[SIM_IN_SCIFI].at[i];
    through += p->layer == 11 && p->particle < GUN;
  }
  for (uint32_t i = 0; i < photons->passages[SIM_IN_ECAL].count; i++)
    unconverted += photons->passages[SIM_IN_ECAL].at[i].particle < GUN;
  const double hadrons = exp(-interaction), pairs = exp(-7.0 / 9.0 * radiation);
  print_message("protons %.3f, expected %.3f; photons %.3f, expected %.3f\n", (double)through / GUN, hadrons,
                (double)unconverted / GUN, pairs);
  assert_true(fabs((double)through / GUN - hadrons) < 0.02);
  assert_true(fabs((double)unconverted / GUN - pairs) < 0.03);
  gun_free(protons);
  gun_free(photons);
  sim_spectrometer_free(s);
}

/* The energy of a converted photon is conserved, except for particles that end before the ECAL. */
static void electrons_radiate_and_photons_are_followed(void **state) {
  (void)state;
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(SIM_ELECTRON, 30000, 500);
  aim(event, 0.03f, 0.05f);
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  double energy = 0, of_photons = 0;
  for (uint32_t i = 0; i < event->passages[SIM_IN_ECAL].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_ECAL].at[i];
    energy += (double)p->p;
    if (event->particles.at[p->particle].charge == 0) of_photons += (double)p->p;
  }
  print_message("fraction of the electrons' energy at the ECAL: %.3f, with photons %.3f\n", energy / 500 / 30000,
                of_photons / 500 / 30000);
  assert_true(energy > 0.93 * 500 * 30000 && energy < 500 * 30000);
  assert_true(of_photons > 0.1 * 500 * 30000 && of_photons < 0.5 * 500 * 30000);
  gun_free(event);
  sim_spectrometer_free(s);
}

static void the_beam_pipe_is_empty_inside(void **state) {
  (void)state;
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(SIM_PHOTON, 5000, 500); /* along z */
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  assert_int_equal(event->passages[SIM_IN_ECAL].count, 500);
  assert_int_equal(event->particles.count, 500);
  gun_free(event);
  sim_spectrometer_free(s);
}

/* --------------------------------------------------------------------------------------------------- decays */

/* Fraction of decays before the face of the ECAL: 1 - exp(-path m / (p ctau)), after the loss by interactions. */
static void expect_decays(enum sim_species_id id, float p, double ctau) {
  static struct sim_plane planes[SIM_NODES_MAX];
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(id, p, GUN);
  const double way = 12602.9 - 770, mass = (double)sim_species[id].mass;
  aim(event, 0.0f, 0.05f);
  empty(s, planes);
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  uint32_t survivors = 0, muons = 0, daughters = 0;
  for (uint32_t i = 0; i < event->passages[SIM_IN_ECAL].count; i++)
    survivors += event->passages[SIM_IN_ECAL].at[i].particle < GUN;
  for (uint32_t i = GUN; i < event->particles.count; i++) {
    const struct sim_particle *d = &event->particles.at[i];
    assert_true(d->mother >= 0 && d->z > 770.0f && (double)d->z < 12603 && (d->flags & SIM_IS_DECAY));
    muons += d->species == &sim_species[SIM_MUON] && d->mother < GUN;
    daughters++;
    if (d->species == &sim_species[SIM_MUON] && d->mother < GUN) assert_int_equal(d->charge, 1);
  }
  /* The path is slightly longer than z. */
  const double expected = 1 - exp(-1.004 * way * mass / ((double)p * ctau)), found = 1 - (double)survivors / GUN;
  print_message("%s of %.0f MeV: %.4f decay, expected %.4f; %.3f of them to a muon\n",
                id == SIM_PION ? "pions" : "kaons", (double)p, found, expected, muons / (found * GUN));
  assert_true(fabs(found - expected) < 4 * sqrt(expected / GUN));
  const double to_muons = id == SIM_PION ? 1.0 : 0.6356 + 0.0335;
  assert_true(fabs(muons / (found * GUN) - to_muons) < 5 / sqrt(found * GUN));
  assert_true(daughters >= muons);
  gun_free(event);
  sim_spectrometer_free(s);
}

static void pions_and_kaons_decay_at_the_expected_rate(void **state) {
  (void)state;
  expect_decays(SIM_PION, 5000, 7804.5);
  expect_decays(SIM_KAON, 10000, 3711.0);
}

/* In pi -> mu nu the muon has between (m_mu / m_pi)^2 and 1 of the energy, uniformly distributed. */
static void muons_of_pions_share_the_energy_evenly(void **state) {
  (void)state;
  struct sim_event *event = gun(SIM_PION, 10000, GUN);
  double sum = 0, least = 1, most = 0;
  for (uint32_t i = 0; i < GUN; i++) {
    const struct sim_state at = {.z = 3000, .ty = 0.05f, .direction = 1};
    assert_int_equal(sim_flight_decay(event, i, &at, 10000), 0);
  }
  assert_int_equal(event->particles.count, 2 * GUN);
  for (uint32_t i = GUN; i < 2 * GUN; i++) {
    const struct sim_particle *muon = &event->particles.at[i];
    const double share = hypot((double)sim_momentum(muon), 105.658) / hypot(10000, 139.57);
    sum += share / GUN;
    least = fmin(least, share);
    most = fmax(most, share);
    assert_true(muon->charge == 1 && muon->z == 3000.0f);
  }
  const double edge = pow(105.658 / 139.57, 2);
  assert_true(least > edge - 0.001 && least < edge + 0.01 && most < 1.0001 && most > 0.99);
  assert_true(fabs(sum - (1 + edge) / 2) < 5 * (1 - edge) / sqrt(12.0 * GUN));
  gun_free(event);
}

/* Daughters of a K_S or Lambda that decays after the VELO have passages from the decay on. */
static void particles_made_after_the_velo_are_tracked(void **state) {
  (void)state;
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(SIM_PION, 20000, 1);
  event->particles.at[0].end =
      (struct sim_state){.x = 150, .y = 150, .z = 2500, .tx = 0.05f, .ty = 0.05f, .direction = 1};
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  assert_true(!passage_of(event, SIM_IN_UT, 1, 0) && passage_of(event, SIM_IN_UT, 2, 0));
  const struct sim_passage *p = passage_of(event, SIM_IN_UT, 2, 0);
  assert_true(fabs((double)p->x - (150 + 0.05 * 97.5)) < 0.02 && fabs((double)p->y - (150 + 0.05 * 97.5)) < 0.02);
  gun_free(event);
  sim_spectrometer_free(s);
}

static void long_lived_neutral_hadrons_reach_the_ecal(void **state) {
  (void)state;
  struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
  struct sim_event *event = gun(SIM_KAON_SHORT, 40000, 2);
  for (uint32_t i = 0; i < 2; i++) {
    struct sim_particle *p = &event->particles.at[i];
    p->reached_end = 0;
    p->px = p->py = 2000;
    p->lifetime_ns = (i == 0 ? 0.97f : 1.03f) * 12602.9f * 497.611f / 40000 / 299.792458f;
  }
  assert_int_equal(sim_spectrometer_run(s, event), 0);
  assert_int_equal(event->passages[SIM_IN_ECAL].count, 1);
  const struct sim_passage *p = &event->passages[SIM_IN_ECAL].at[0];
  assert_int_equal(p->particle, 1);
  assert_true(fabsf(p->x - 0.05f * 12602.9f) < 0.1f && fabsf(p->y - p->x) < 0.01f);
  gun_free(event);
  sim_spectrometer_free(s);
}

/* ------------------------------------------------------------------------------------- downstream of the ECAL */

static uint32_t in_station(const struct sim_event *event, uint32_t station) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < event->passages[SIM_IN_MUON].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_MUON].at[i];
    assert_true(p->z == sim_muon_station_z[p->layer]);
    count += p->layer == station && p->particle < GUN;
  }
  return count;
}

static void slow_muons_stop_in_the_absorbers(void **state) {
  (void)state;
  static const struct {
    float p;
    int stations;
  } cases[] = {{1300, 0}, {2000, 1}, {3200, 2}, {20000, 4}};
  for (int k = 0; k < 4; k++) {
    struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
    struct sim_event *event = gun(SIM_MUON, cases[k].p, 200);
    aim(event, 0.05f, 0.05f);
    for (uint32_t i = 0; i < 200; i++) event->particles.at[i].end.z = 9450.0f; /* after the magnet */
    assert_int_equal(sim_spectrometer_run(s, event), 0);
    assert_true(event->passages[SIM_IN_ECAL].count >= 190);
    for (int station = 0; station < SIM_MUON_STATIONS; station++) {
      const uint32_t count = in_station(event, (uint32_t)station);
      assert_true(station < cases[k].stations ? count >= 190 : count == 0);
    }
    gun_free(event);
    sim_spectrometer_free(s);
  }
}

/* Protons do not decay: some reach the muon stations, fewer at each station, and more at higher momentum. */
static void few_hadrons_punch_through(void **state) {
  (void)state;
  double before = 0;
  for (int k = 0; k < 2; k++) {
    struct sim_spectrometer *s = spectrometer_new(SIM_POLARITY_DOWN);
    struct sim_event *event = gun(SIM_PROTON, k ? 30000 : 10000, GUN);
    aim(event, 0.0f, 0.05f);
    assert_int_equal(sim_spectrometer_run(s, event), 0);
    const uint32_t first = in_station(event, 0), second = in_station(event, 1), third = in_station(event, 2);
    print_message("protons of %d GeV after the calorimeters: %.4f, %.4f, %.4f\n", k ? 30 : 10, (double)first / GUN,
                  (double)second / GUN, (double)third / GUN);
    assert_true(first > second && second >= third && first > 0.01 * GUN && first < 0.08 * GUN);
    assert_true(first > before);
    before = first;
    gun_free(event);
    sim_spectrometer_free(s);
  }
}

/* ---------------------------------------------------------------------------------------------- whole events */

/* Index of the next bank of super-pixels or clusters from `i` on, or the end of the list. */
static uint32_t next_velo_bank(const struct sim_bank_list *list, uint32_t i) {
  while (i < list->banks.count && list->banks.at[i].type != SIM_BANK_VELO_SUPERPIXELS &&
         list->banks.at[i].type != SIM_BANK_VELO_CLUSTERS)
    i++;
  return i;
}

static void assert_same_velo_banks(const struct sim_bank_list *a, const struct sim_bank_list *b) {
  uint32_t i = next_velo_bank(a, 0), j = next_velo_bank(b, 0), banks = 0;
  for (; i < a->banks.count && j < b->banks.count; i = next_velo_bank(a, i + 1), j = next_velo_bank(b, j + 1)) {
    const struct sim_bank *of_a = &a->banks.at[i], *of_b = &b->banks.at[j];
    assert_int_equal(of_a->type, of_b->type);
    assert_int_equal(of_a->source_id, of_b->source_id);
    assert_int_equal(of_a->size_bytes, of_b->size_bytes);
    assert_memory_equal(a->words.at + of_a->first_word, b->words.at + of_b->first_word, of_a->size_bytes);
    banks++;
  }
  assert_int_equal(i, a->banks.count);
  assert_int_equal(j, b->banks.count);
  assert_int_equal(banks, 2 * VELO_SENSORS);
}

/* VELO banks and particles do not change; passages depend on the event alone. */
static void velo_banks_do_not_depend_on_the_spectrometer(void **state) {
  (void)state;
  struct sim_simulation *with = simulation_new(), *without = simulation_new();
  with->make_flags = SIM_MAKE_ALL;
  without->make_flags = SIM_MAKE_SUPERPIXELS;
  for (uint64_t event = 0; event < 10; event++) {
    assert_int_equal(sim_simulate(with, event), 0);
    assert_int_equal(sim_simulate(without, event), 0);
    assert_same_velo_banks(&with->banks, &without->banks);
    assert_true(with->event.particles.count >= without->event.particles.count);
    assert_true(with->event.passages[SIM_IN_UT].count > 0 || without->event.particles.count < 50);
    assert_int_equal(without->event.passages[SIM_IN_UT].count, 0);
  }
  const uint32_t count = with->event.passages[SIM_IN_SCIFI].count;
  struct sim_passage *kept = malloc((count + 1) * sizeof *kept);
  assert_non_null(kept);
  memcpy(kept, with->event.passages[SIM_IN_SCIFI].at, count * sizeof *kept);
  assert_int_equal(sim_simulate(with, 3), 0);
  assert_int_equal(sim_simulate(with, 9), 0);
  assert_int_equal(with->event.passages[SIM_IN_SCIFI].count, count);
  assert_memory_equal(kept, with->event.passages[SIM_IN_SCIFI].at, count * sizeof *kept);
  free(kept);
  simulation_free(with);
  simulation_free(without);
}

/* Passages of simulated events are finite, inside the aperture, and refer to existing particles. */
static void passages_are_valid(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  uint32_t count[SIM_DETECTORS] = {0};
  s->make_flags = SIM_MAKE_ALL;
  for (uint64_t event = 0; event < 40; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    for (int d = 0; d < SIM_DETECTORS; d++) {
      for (uint32_t i = 0; i < s->event.passages[d].count; i++) {
        const struct sim_passage *p = &s->event.passages[d].at[i];
        const struct sim_particle *of = &s->event.particles.at[p->particle];
        assert_true(p->particle < s->event.particles.count);
        assert_true(p->p > 0 && p->p < 7e6f && p->time_ns > 0 && p->time_ns < 1e5f);
        assert_true(fabsf(p->x) < 1e4f && fabsf(p->y) < 1e4f && fabsf(p->tx) < 10 && fabsf(p->ty) < 10);
        assert_true(p->p <= 1.001f * sim_momentum(of));
        assert_true(of->charge != 0 || d == SIM_IN_ECAL);
        count[d]++;
      }
    }
  }
  assert_true(count[SIM_IN_UT] > 40 * 300 && count[SIM_IN_SCIFI] > 40 * 500 && count[SIM_IN_ECAL] > 40 * 50);
  assert_true(count[SIM_IN_MUON] > 40);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planes_are_in_order_and_every_layer_has_its_node),
      cmocka_unit_test(steps_are_accurate_to_10_um),
      cmocka_unit_test(without_material_polarity_mirrors_the_event),
      cmocka_unit_test(passages_lie_on_the_track),
      cmocka_unit_test(scattering_follows_highlands_formula),
      cmocka_unit_test(transmission_follows_the_material_lengths),
      cmocka_unit_test(electrons_radiate_and_photons_are_followed),
      cmocka_unit_test(the_beam_pipe_is_empty_inside),
      cmocka_unit_test(pions_and_kaons_decay_at_the_expected_rate),
      cmocka_unit_test(muons_of_pions_share_the_energy_evenly),
      cmocka_unit_test(particles_made_after_the_velo_are_tracked),
      cmocka_unit_test(long_lived_neutral_hadrons_reach_the_ecal),
      cmocka_unit_test(slow_muons_stop_in_the_absorbers),
      cmocka_unit_test(few_hadrons_punch_through),
      cmocka_unit_test(velo_banks_do_not_depend_on_the_spectrometer),
      cmocka_unit_test(passages_are_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
