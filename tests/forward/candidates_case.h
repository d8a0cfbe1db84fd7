/* candidates_case.h: shared by the tests of create_tracks and quality_filter: random tracks with hits near their
 * curves, windows around them, and triplets; and a plain version of candidates in double precision.
 */
#ifndef TEST_FORWARD_CANDIDATES_CASE_H
#define TEST_FORWARD_CANDIDATES_CASE_H

#include "forward_support.h"

enum { CASE_EVENTS_MAX = 8, CASE_TRACKS_MAX = 256, CASE_HITS_MAX = 10240 };

/* A slice. Zeroed: without events. */
struct candidates_case {
  uint32_t events, track_offsets[CASE_EVENTS_MAX + 1], hit_offsets[CASE_EVENTS_MAX + 1];
  float x[CASE_TRACKS_MAX], y[CASE_TRACKS_MAX], tx[CASE_TRACKS_MAX], ty[CASE_TRACKS_MAX];
  uint16_t first[CASE_TRACKS_MAX * FORWARD_WINDOWS], count[CASE_TRACKS_MAX * FORWARD_WINDOWS];
  uint8_t triplet_count[CASE_TRACKS_MAX];
  uint32_t triplet[CASE_TRACKS_MAX * FORWARD_TRIPLETS_MAX];
  uint32_t hit_id[CASE_HITS_MAX];
  float hit_x[CASE_HITS_MAX], hit_z[CASE_HITS_MAX];
};

/* Random numbers, reproducible by seed: below 2^31, and uniform. */
struct case_random {
  uint64_t state;
};
uint32_t random_below(struct case_random *r, uint32_t limit);
float random_in(struct case_random *r, float low, float high);

extern const uint32_t case_x_layers[SCIFI_X_LAYERS], case_stereo_layers[SCIFI_X_LAYERS];
extern const double case_z[SCIFI_LAYERS]; /* z of the layers at y = 0, from LHCb's coefficients */
double case_dxdy(uint32_t layer);

/* Adds a hit to the current event; returns its index in the event. Hits are added by layer and x. */
uint16_t candidates_add_hit(struct candidates_case *c, uint32_t layer, double x);
/* Begins the next event. */
void candidates_next_event(struct candidates_case *c);
/* Adds a track to the current event, with empty windows. */
uint32_t candidates_add_track(struct candidates_case *c, float x, float y, float tx, float ty);
/* Events of random tracks. */
void candidates_fill(struct candidates_case *c, uint64_t seed, uint32_t events, uint32_t tracks_max);

/* Packs a triplet of indices in windows. */
uint32_t case_triplet(uint32_t first, uint32_t middle, uint32_t last, uint32_t seed, uint32_t right);

/* x = c + b d + a d^2 (1 + r d), d = z - 8520. */
struct plain_curve {
  double a, b, c, r;
};
double plain_x(const struct plain_curve *curve, double z);

/* A candidate, in double. */
struct plain_candidate {
  uint32_t track, hit_count;
  uint16_t hits[SCIFI_TRACK_HITS_MAX];
  struct plain_curve curve;
  double quality;
};
/* Grows all candidates of an event; candidates with fewer than nine hits are empty. Returns their number. */
uint32_t plain_candidates(const struct candidates_case *c, const struct forward_constant *forward, uint32_t event,
                          double max_chi2_x, double max_chi2_stereo, struct plain_candidate *candidates);

#endif
