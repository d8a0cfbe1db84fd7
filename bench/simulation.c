/* simulation.c: what simulated events cost, with and without what is behind the VELO, and a step through the field.
 *
 *   build/cpu-release/bench_simulation [EVENTS] [TIMES]
 *
 * Default events of seed 1, processor time of this process, the least of TIMES. The two kinds of events take turns.
 */
#include "simulation.h"

#include "magnet.h"
#include "ut_nominal_text.h"
#include "velo_nominal_text.h"

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
  if (velo_description_read(velo_nominal_text, strlen(velo_nominal_text), &s.velo, reason, sizeof reason) != 0)
    return 1;
  if (ut_description_read(ut_nominal_text, strlen(ut_nominal_text), &s.ut, reason, sizeof reason) != 0) return 1;
  s.ut_settings = (struct sim_ut_settings){.efficiency = 0.998f, .version = 3};
  sim_near_make(&s.velo, &s.near);
  s.settings = (struct sim_settings){.seed = 1,
                                     .mu = 5.3f,
                                     .luminosity_fraction = 0.01f,
                                     .signal = SIM_NO_SPECIES,
                                     .run = 1,
                                     .efficiency = 0.99f,
                                     .polarity = SIM_POLARITY_DOWN};
  s.odin_version = 7;
  s.superpixel_version = 2;
  s.cluster_version = 3;
  double with = 1e9, without = 1e9, track = 1e9, make = 1e9;
  for (int i = 0; i < times; i++) {
    with = less(with, time_events(&s, SIM_MAKE_ALL & ~(uint32_t)SIM_MAKE_SUPERPIXELS, events));
    without = less(without, time_events(&s, 0, events));
    track = less(track, time_tracks(s.spectrometer));
    const double begin = seconds_now();
    sim_spectrometer_free(sim_spectrometer_new(SIM_POLARITY_UP));
    make = less(make, seconds_now() - begin);
  }
  printf("VELO alone %.3f ms an event (%.0f/s), with the spectrometer %.3f ms (%.0f/s)\n", 1e3 * without, 1 / without,
         1e3 * with, 1 / with);
  printf("a track through %u steps %.2f us; planes of the field made in %.2f ms\n", s.spectrometer->node_count - 1,
         1e6 * track, 1e3 * make);
  sim_simulation_free(&s);
  return 0;
}
