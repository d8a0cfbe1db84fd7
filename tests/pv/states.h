/* states.h: slices of track states for tests of the vertex finders, constructed or random, and the output of a finder.
 * Random numbers are from a fixed generator, so that a test has the same events on all machines.
 */
#ifndef TEST_PV_STATES_H
#define TEST_PV_STATES_H

#include "pv/event_model.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { STATES_EVENTS = 64, STATES_TRACKS = 40000 };

struct states {
  uint32_t event_count, track_count, first_track;
  uint32_t offsets[STATES_EVENTS + 1];
  float x[STATES_TRACKS], y[STATES_TRACKS], z[STATES_TRACKS], tx[STATES_TRACKS], ty[STATES_TRACKS];
  float c00[STATES_TRACKS], c11[STATES_TRACKS];
  float beam[2];
};

void random_seed(uint64_t seed);
double random_uniform(double low, double high);
double random_normal(void);

/* An empty slice; its first event begins at item `first_track`. */
void states_begin(struct states *s, uint32_t first_track);
void states_add(struct states *s, double x, double y, double z, double tx, double ty, double variance);
/* Adds `count` tracks from the point, with random slopes, and states at the closest approach to the beam line, smeared
 * by `blur` standard deviations of sqrt(variance). */
void states_add_vertex(struct states *s, double x, double y, double z, uint32_t count, double variance, double blur);
/* Adds an event like a crossing: vertices along the beam line, and tracks without a vertex. */
void states_add_crossing(struct states *s, uint32_t vertices, uint32_t strays);
void states_end_event(struct states *s);
void states_swap(struct states *s, uint32_t a, uint32_t b);

struct sl_test *states_open(const struct states *s, const char *algorithm);

enum { VERTEX_FLOATS = 11 };
extern const char *const vertex_floats[VERTEX_FLOATS];

/* Copy of the output of a finder. */
struct vertices {
  uint32_t event_count, count, capacity;
  uint32_t offsets[STATES_EVENTS + 1], ignored[STATES_EVENTS];
  float value[VERTEX_FLOATS][STATES_EVENTS * PV_MAX_VERTICES]; /* x y z c_xx c_xy c_yy c_xz c_yz c_zz chi2 weight */
  uint32_t tracks[STATES_EVENTS * PV_MAX_VERTICES];
};
enum { V_X, V_Y, V_Z, V_C_XX, V_C_XY, V_C_YY, V_C_XZ, V_C_YZ, V_C_ZZ, V_CHI2, V_WEIGHT };

/* Runs the finder, and fails unless the output is valid: offsets ascend, every number is finite, z ascends. */
void vertices_run(struct vertices *v, struct sl_test *t, const struct states *s);
void vertices_assert_same_bytes(const struct vertices *a, const struct vertices *b);

#endif
