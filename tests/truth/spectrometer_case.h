/* spectrometer_case.h: hand-made hits, particles and tracks of one event, and the page of a struct spectrometer. */
#ifndef SPECTROMETER_CASE_H
#define SPECTROMETER_CASE_H

#include "pictures/spectrometer_found.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static SL_UNUSED struct spectrometer p;
static SL_UNUSED const struct picture no_vertices;
static SL_UNUSED struct svg svg;

static SL_UNUSED int count_of(const char *text) {
  int count = 0;
  for (const char *at = svg.text; (at = strstr(at, text)); at++) count++;
  return count;
}

enum { PANELS = 5 };

/* Number of panels where a group that begins with this text has a line with these attributes first. */
static SL_UNUSED int panels_with(const char *group, const char *attributes) {
  char line[64];
  int count = 0;
  (void)snprintf(line, sizeof line, ">\n<path%s d='m", attributes);
  for (const char *at = svg.text; (at = strstr(at, group)); at++)
    count += strncmp(strchr(at, '>'), line, strlen(line)) == 0;
  return count;
}

static SL_UNUSED int stop(void **state) {
  (void)state;
  spectrometer_free(&p);
  return 0;
}

enum { IDS = 10 };
static SL_UNUSED const uint32_t ids[IDS] = {0x20000001, 0x20000002, 0x30400001, 0x304c0001, 0x50040001,
                                            0x50070001, 0x50080001, 0x500b0001, 0x500c0001, 0x500f0001};
static SL_UNUSED const float hit_z[IDS] = {400, 600, 2330, 2640, 7826, 8036, 8508, 8718, 9193, 9403};

static SL_UNUSED void add_hits(float (*x)(float z), uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    const struct spectrometer_hit hit = {
        .z = hit_z[i], .at = {x(hit_z[i]), 0}, .id = ids[i], .axes = 1 << SPECTROMETER_X};
    assert_true(spectrometer_add_hit(&p,
                                     i < 2   ? SPECTROMETER_VELO
                                     : i < 4 ? SPECTROMETER_UT
                                             : SPECTROMETER_SCIFI,
                                     &hit));
  }
  spectrometer_sort_hits(&p);
}

/* Makes a particle with all these ids; those after `end` belong to no detector. */
static SL_UNUSED void make_track(float (*x)(float z), struct mc_particle particle) {
  uint32_t all[IDS];
  memcpy(all, ids, sizeof all);
  particle.velo = (struct mc_hits){0, 2};
  particle.ut = (struct mc_hits){2, 2};
  particle.scifi = (struct mc_hits){4, 6};
  particle.x = x(particle.z);
  const struct mc_event mc = {.particles = &particle, .particle_count = 1, .ids = all, .id_count = IDS};
  assert_true(spectrometer_add_tracks(&p, &mc, ~0u));
}

static SL_UNUSED float straight(float z) { return 0.1f * z + 3; }

/* In the magnet, from 2640 to 7826 mm, a parabola that changes the slope from 0.05 to -0.15. */
static SL_UNUSED float bent(float z) {
  const float begin = 2640, length = 7826 - begin;
  if (z < begin) return 0.05f * z;
  if (z > begin + length) return bent(begin + length) - 0.15f * (z - begin - length);
  return 0.05f * z - 0.1f * (z - begin) * (z - begin) / length;
}

/* Two VELO tracks of event 1 of two; the second one continues in the UT. Hits are sorted by descending z. */
static SL_UNUSED const uint32_t track_offsets[3] = {0, 1, 3}, velo_hit_offsets[4] = {0, 3, 6, 9};
static SL_UNUSED const uint32_t velo_ids[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static SL_UNUSED const float velo_x[9] = {0, 0, 0, 5, 10, 15, 32, 22, 12},
                             velo_z[9] = {0, 0, 0, -50, -100, -150, 300, 200, 100};
static SL_UNUSED const float velo_y[9] = {0, 0, 0, 1, 2, 3, 6, 4, 2};
static SL_UNUSED const float state_x[3] = {0, 0, 2.5f}, state_y[3] = {0, 0, 0.1f}, state_z[3] = {0, 0, 5};
static SL_UNUSED const float state_tx[3] = {0, -0.1f, 0.1f}, state_ty[3] = {0, -0.02f, 0.02f};
static SL_UNUSED const uint32_t ut_offsets[3] = {0, 0, 1}, ut_hit_offsets[2] = {0, 3}, ut_velo[1] = {1};
static SL_UNUSED const uint32_t ut_ids[3] = {0x30400001, 0x30440001, 0x304c0001};
static SL_UNUSED const float ut_qop[1] = {-1.0f / 4000}, ut_x[1] = {250}, ut_tx[1] = {0.12f};
static SL_UNUSED const struct spectrometer_inputs inputs = {
    .velo = {.offsets = track_offsets,
             .hit_offsets = velo_hit_offsets,
             .hit_id = velo_ids,
             .hit_x = velo_x,
             .hit_y = velo_y,
             .hit_z = velo_z},
    .states = {.offsets = track_offsets, .x = state_x, .y = state_y, .z = state_z, .tx = state_tx, .ty = state_ty},
    .ut = {.offsets = ut_offsets,
           .hit_offsets = ut_hit_offsets,
           .velo_track = ut_velo,
           .qop = ut_qop,
           .x = ut_x,
           .tx = ut_tx,
           .hit_id = ut_ids}};

/* Is the VELO-UT track a ghost, for a particle with its VELO hits and `ut_hits` of its UT hits? */
static SL_UNUSED uint32_t is_ghost_with(uint32_t ut_hits) {
  uint32_t all[6] = {7, 8, 9};
  memcpy(all + 3, ut_ids, sizeof ut_ids);
  struct mc_particle particle = {.velo = {0, 3}, .ut = {3, ut_hits}, .pdg = 211};
  const struct mc_event mc = {.particles = &particle, .particle_count = 1, .ids = all, .id_count = 6};
  struct association association = {.match_count = 0};
  spectrometer_clear(&p);
  p.has_truth = 1;
  assert_int_equal(association_begin(&association, &mc, ~0u, MC_UT), 0);
  assert_int_equal(spectrometer_take_tracks(&p, &inputs, 1, &association), 0);
  association_free(&association);
  assert_int_equal(p.track_count, 2);
  assert_int_equal(p.tracks[1].kind, SPECTROMETER_FOUND_UT);
  return p.tracks[1].is_ghost;
}

/* One VELO track, bent, with two long tracks: one with the UT and SciFi hits, one with neither. */
struct long_case {
  uint32_t offsets[2], long_offsets[2], velo_hit_offsets[2], ut_hit_offsets[2], long_hit_offsets[3], velo_track[2],
      ut_track[2];
  float velo_x[2], velo_y[2], velo_z[2], state_x[1], state_y[1], state_z[1], state_tx[1], state_ty[1], ut_x[1],
      ut_tx[1], qop[2], x[2], y[2], tx[2], ty[2];
};

static SL_UNUSED struct spectrometer_inputs long_inputs(struct long_case *c) {
  *c = (struct long_case){.offsets = {0, 1},
                          .long_offsets = {0, 2},
                          .velo_hit_offsets = {0, 2},
                          .ut_hit_offsets = {0, 2},
                          .long_hit_offsets = {0, 6, 6},
                          .ut_track = {0, FORWARD_NO_TRACK},
                          .velo_x = {bent(600), bent(400)},
                          .velo_z = {600, 400},
                          .state_x = {bent(50)},
                          .state_z = {50},
                          .state_tx = {0.05f},
                          .ut_x = {bent(UT_MIDDLE_Z)},
                          .ut_tx = {0.05f},
                          .qop = {1.0f / 5000, 1.0f / 5000},
                          .x = {bent(9410), bent(9410)},
                          .y = {70, 70},
                          .tx = {-0.15f, -0.15f},
                          .ty = {0.01f, 0.01f}};
  return (struct spectrometer_inputs){.velo = {.offsets = c->offsets,
                                               .hit_offsets = c->velo_hit_offsets,
                                               .hit_id = ids,
                                               .hit_x = c->velo_x,
                                               .hit_y = c->velo_y,
                                               .hit_z = c->velo_z},
                                      .states = {.offsets = c->offsets,
                                                 .x = c->state_x,
                                                 .y = c->state_y,
                                                 .z = c->state_z,
                                                 .tx = c->state_tx,
                                                 .ty = c->state_ty},
                                      .ut = {.offsets = c->offsets,
                                             .hit_offsets = c->ut_hit_offsets,
                                             .velo_track = c->velo_track,
                                             .qop = c->qop,
                                             .x = c->ut_x,
                                             .tx = c->ut_tx,
                                             .hit_id = ids + 2},
                                      .longs = {.offsets = c->long_offsets,
                                                .hit_offsets = c->long_hit_offsets,
                                                .velo_track = c->velo_track,
                                                .ut_track = c->ut_track,
                                                .qop = c->qop,
                                                .x = c->x,
                                                .y = c->y,
                                                .tx = c->tx,
                                                .ty = c->ty,
                                                .hit_id = ids + 4}};
}

#endif
