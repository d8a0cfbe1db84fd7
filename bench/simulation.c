/* simulation.c: what simulated events cost, with and without what is behind the VELO, and a step through the field.
 *
 *   build/cpu-release/bench_simulation [EVENTS] [TIMES]
 *
 * Default events of seed 1, processor time of this process, the least of TIMES. The two kinds of events take turns.
 */
#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_events(struct sim_simulation *s, uint32_t wanted, uint64_t events) {
  const double begin = seconds_now();
  s->wanted = wanted;
  for (uint64_t i = 0; i < events; i++)
    if (sim_simulate(s, i) < 0) exit(1);
  return (seconds_now() - begin) / (double)events;
}

/* The fibre tracker's digits and banks of events whose passages are made. */
static double time_scifi(struct sim_simulation *s, uint64_t events) {
  double seconds = 0;
  s->wanted = SIM_MAKE_TRUTH;
  for (uint64_t i = 0; i < events; i++) {
    if (sim_simulate(s, i) < 0) exit(1);
    s->event.links[SIM_IN_SCIFI].count = 0;
    sim_banks_clear(&s->banks);
    const double begin = seconds_now();
    if (sim_scifi_digitise(&s->scifi, &s->settings, s->versions.scifi, &s->event, &s->scifi_digits) < 0) exit(1);
    if (sim_scifi_banks(&s->banks, &s->scifi, &s->scifi_digits, s->versions.scifi) < 0) exit(1);
    seconds += seconds_now() - begin;
  }
  return seconds / (double)events;
}

/* The same of the muon chambers. */
static double time_muon(struct sim_simulation *s, uint64_t events) {
  double seconds = 0;
  s->wanted = SIM_MAKE_TRUTH;
  for (uint64_t i = 0; i < events; i++) {
    if (sim_simulate(s, i) < 0) exit(1);
    sim_banks_clear(&s->banks);
    const double begin = seconds_now();
    if (sim_muon_digitise(&s->muon, &s->settings, s->versions.muon, &s->event, &s->muon_digits) < 0) exit(1);
    if (sim_muon_banks(&s->banks, &s->muon, &s->muon_digits, s->versions.muon) < 0) exit(1);
    seconds += seconds_now() - begin;
  }
  return seconds / (double)events;
}

/* 200 tracks of 5 GeV through all nodes. */
static double time_tracks(struct sim_spectrometer *s) {
  enum { TRACKS = 200 };
  struct sim_flock flock = {.count = 0};
  for (int i = 0; i < TRACKS; i++) {
    const struct sim_track t = {
        .z = 770, .x = 20, .y = 20, .tx = 0.001 * i - 0.1, .ty = 0.05, .p = 5000, .mass = 139.57f, .charge = 1};
    if (sim_flock_add(&flock, &s->nodes[0].end, &t) < 0) exit(1);
  }
  const double begin = seconds_now();
  for (uint32_t node = 1; node < s->node_count; node++)
    for (uint32_t b = 0; b < flock.blocks.count; b++)
      sim_lanes_step(&flock.blocks.at[b], s->nodes[node - 1].end.z, &s->nodes[node].middle, &s->nodes[node].end);
  const double each = (seconds_now() - begin) / TRACKS;
  free(flock.blocks.at);
  return each;
}

static double less(double a, double b) { return a < b ? a : b; }

int main(int count, char **words) {
  const uint64_t events = count > 1 ? strtoull(words[1], NULL, 10) : 300;
  const int times = count > 2 ? atoi(words[2]) : 8;
  static struct sim_simulation s;
  char reason[256];
  if (sim_set_defaults(&s, reason, sizeof reason)) return 1;
  double with = 1e9, without = 1e9, track = 1e9, make = 1e9, scifi = 1e9, muon = 1e9;
  for (int i = 0; i < times; i++) {
    with = less(with, time_events(&s, SIM_MAKE_ALL & ~(uint32_t)SIM_MAKE_SUPERPIXELS, events));
    without = less(without, time_events(&s, 0, events));
    scifi = less(scifi, time_scifi(&s, events));
    muon = less(muon, time_muon(&s, events));
    track = less(track, time_tracks(s.spectrometer));
    const double begin = seconds_now();
    sim_spectrometer_free(sim_spectrometer_new(SIM_POLARITY_UP));
    make = less(make, seconds_now() - begin);
  }
  printf("VELO alone %.3f ms an event (%.0f/s), with the spectrometer %.3f ms (%.0f/s)\n", 1e3 * without, 1 / without,
         1e3 * with, 1 / with);
  printf("of it digits and banks of the fibre tracker: %.3f ms, of the muon chambers: %.3f ms\n", 1e3 * scifi,
         1e3 * muon);
  printf("a track through %u steps %.2f us; planes of the field made in %.2f ms\n", s.spectrometer->node_count - 1,
         1e6 * track, 1e3 * make);
  sim_simulation_free(&s);
  return 0;
}
