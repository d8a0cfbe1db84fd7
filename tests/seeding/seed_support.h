/* seed_support.h: shared by the tests of seeds: the constant, and tracks in x layers. */
#ifndef TEST_SEEDING_SEED_SUPPORT_H
#define TEST_SEEDING_SEED_SUPPORT_H

#include "forward_support.h"
#include "seeding/event_model.h"

/* seeding.constants of LHCb's calibration; the view has its arrays. */
struct seeding_constant {
  struct sl_test *made;
  struct seeding_constants_view view;
};
void seeding_constant_open(struct seeding_constant *s);
void seeding_constant_give(const struct seeding_constant *s, struct sl_test *t, const char *fields);
void seeding_constant_close(struct seeding_constant *s);

/* The i-th x layer, from 0 to 5, and its zone. */
static inline uint32_t x_layer(uint32_t i) { return 4 * (i / 2) + 3 * (i % 2); }
static inline uint32_t x_zone(uint32_t i, uint32_t upper) { return 2 * x_layer(i) + upper; }

/* x = a + b d + c d^2 (1 - 0.00028 d) in the i-th x layer, with the positions of LHCb's layers. */
double seed_x(double a, double b, double c, uint32_t i);

/* A case for the shared version and for the CPU version; `start` gets the version as its state. */
extern int seed_is_shared, seed_is_tuned;
#define BOTH(test) \
  {#test " (shared)", test, start, stop, &seed_is_shared}, { #test " (tuned)", test, start, stop, &seed_is_tuned }

#endif
