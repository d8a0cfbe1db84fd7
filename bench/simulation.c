/* simulation.c: cost of simulated events, with and without the detectors behind the VELO, and of a step in the field.
 *
 *   build/cpu-release/bench_simulation [EVENTS] [TIMES]
 *
 * Default events of seed 1; processor time of this process, the minimum of TIMES interleaved runs.
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

static double time_events(struct sim_simulation *s, uint32_t make_flags, uint64_t events) {
  const double begin = seconds_now();
  s->make_flags = make_flags;
  for (uint64_t i = 0; i < events; i++)
    if (sim_simulate(s, i) < 0) exit(1);
  return (seconds_now() - begin) / (double)events;
}

/* Digits and banks of a detector, for events with given passages. */
#define TIME_DETECTOR(name, digitise, put_banks)                         \
  static double time_##name(struct sim_simulation *s, uint64_t events) { \
    double seconds = 0;                                                  \
    s->make_flags = SIM_MAKE_TRUTH;                                      \
    for (uint64_t i = 0; i < events; i++) {                              \
      if (sim_simulate(s, i) < 0) exit(1);                               \
      sim_banks_clear(&s->banks);                                        \
      const double begin = seconds_now();                                \
      if ((digitise) < 0 || (put_banks) < 0) exit(1);                    \
      seconds += seconds_now() - begin;                                  \
    }                                                                    \
    return seconds / (double)events;                                     \
  }
TIME_DETECTOR(ut, sim_ut_digitise(&s->ut, &s->settings, s->versions.ut, &s->event, &s->ut_digits),
              sim_ut_banks(&s->banks, &s->ut, &s->ut_digits, s->versions.ut))
TIME_DETECTOR(scifi, sim_scifi_digitise(&s->scifi, &s->settings, s->versions.scifi, &s->event, &s->scifi_digits),
              sim_scifi_banks(&s->banks, &s->scifi, &s->scifi_digits, s->versions.scifi))
TIME_DETECTOR(ecal, sim_ecal_digitise(&s->calo, &s->settings, &s->event, &s->ecal_digits),
              sim_ecal_banks(&s->banks, &s->calo, &s->ecal_digits, s->versions.calo))
TIME_DETECTOR(muon, sim_muon_digitise(&s->muon, &s->settings, s->versions.muon, &s->event, &s->muon_digits),
              sim_muon_banks(&s->banks, &s->muon, &s->muon_digits, s->versions.muon))

/* 200 tracks of 5 GeV through all nodes. */
static double time_tracks(struct sim_spectrometer *s) {
  enum { TRACKS = 200 };
  struct sim_track_batch flock = {.count = 0};
  for (int i = 0; i < TRACKS; i++) {
    const struct sim_track t = {
        .z = 770, .x = 20, .y = 20, .tx = 0.001 * i - 0.1, .ty = 0.05, .p = 5000, .mass = 139.57f, .charge = 1};
    if (sim_track_batch_add(&flock, &s->nodes[0].end, &t) < 0) exit(1);
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
  static double (*const detectors[])(struct sim_simulation *, uint64_t) = {time_ut, time_scifi, time_ecal, time_muon};
  enum { DETECTORS = sizeof detectors / sizeof detectors[0] };
  double all = 1e9, tracks = 1e9, velo = 1e9, track = 1e9, make = 1e9, digits[DETECTORS] = {1e9, 1e9, 1e9, 1e9};
  for (int i = 0; i < times; i++) {
    all = less(all, time_events(&s, SIM_MAKE_ALL & ~(uint32_t)SIM_MAKE_SUPERPIXELS, events));
    tracks = less(tracks, time_events(&s, SIM_MAKE_TRUTH, events));
    velo = less(velo, time_events(&s, 0, events));
    for (int d = 0; d < DETECTORS; d++) digits[d] = less(digits[d], detectors[d](&s, events));
    track = less(track, time_tracks(s.spectrometer));
    const double begin = seconds_now();
    sim_spectrometer_free(sim_spectrometer_new(SIM_POLARITY_UP));
    make = less(make, seconds_now() - begin);
  }
  printf("VELO alone %.3f ms an event (%.0f/s), with truth %.3f (%.0f/s), everything %.3f (%.0f/s)\n", 1e3 * velo,
         1 / velo, 1e3 * tracks, 1 / tracks, 1e3 * all, 1 / all);
  printf("of it digits and banks: UT %.3f, SciFi %.3f, ECAL %.3f, muon %.3f ms\n", 1e3 * digits[0], 1e3 * digits[1],
         1e3 * digits[2], 1e3 * digits[3]);
  printf("a track through %u steps %.2f us; planes of the field made in %.2f ms\n", s.spectrometer->node_count - 1,
         1e6 * track, 1e3 * make);
  sim_simulation_free(&s);
  return 0;
}
