/* forward_support.h: shared by the tests of the forward tracking: the constant, and a case of tracks, VELO states and
 * hits in two events.
 */
#ifndef TEST_FORWARD_SUPPORT_H
#define TEST_FORWARD_SUPPORT_H

#include "forward/event_model.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASE_EVENTS = 2, CASE_TRACKS = 256, CASE_ZONE_HITS = 768, CASE_HITS = 2 * SCIFI_ZONES * CASE_ZONE_HITS };

/* forward.constants of LHCb's calibration; the view has its arrays. */
struct forward_constant {
  struct sl_test *made;
  struct forward_constants_view view;
};
void forward_constant_open(struct forward_constant *f);
void forward_constant_give(const struct forward_constant *f, struct sl_test *t, const char *fields);
void forward_constant_close(struct forward_constant *f);

/* Connects fields of an output of `from`, named with blanks between, to an input. */
void give(struct sl_test *to, const char *port, const struct sl_test *from, const char *output, const char *fields);

/* Tracks are added event by event, with a VELO state each; hits in any order. Zeroed: empty. */
struct forward_case {
  uint32_t offsets[CASE_EVENTS + 1], velo_track[CASE_TRACKS], ut_track[CASE_TRACKS];
  float x[CASE_TRACKS], y[CASE_TRACKS], tx[CASE_TRACKS], ty[CASE_TRACKS], qop[CASE_TRACKS];
  float velo_x[CASE_TRACKS], velo_y[CASE_TRACKS], velo_z[CASE_TRACKS], velo_tx[CASE_TRACKS], velo_ty[CASE_TRACKS];
  uint32_t zone_counts[CASE_EVENTS][SCIFI_ZONES];
  float zone_x[CASE_EVENTS][SCIFI_ZONES][CASE_ZONE_HITS]; /* sorted */
  /* in the layout of the collections, set by case_finish */
  uint32_t hit_offsets[CASE_EVENTS + 1];
  uint16_t zone_first[CASE_EVENTS * (SCIFI_ZONES + 1)];
  float hit_x[CASE_HITS];
  float polarity;
};
void case_add_track(struct forward_case *c, uint32_t event, float x, float y, float tx, float ty, float qop);
void case_add_hit(struct forward_case *c, uint32_t event, uint32_t zone, float x);
void case_finish(struct forward_case *c);
/* Connects the case to the ports `inputs`, `states` and `hits`. */
void case_give_inputs(const struct forward_case *c, struct sl_test *t, const char *fields);
void case_give_states(const struct forward_case *c, struct sl_test *t, const char *fields);
void case_give_hits(const struct forward_case *c, struct sl_test *t);

float random_between(float low, float high);

#endif
