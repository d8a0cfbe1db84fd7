/* odds.c: a constant: how likely each face is, made once from the weights that the graph gives. */
#include <dice/event_model.h>

#define SL_ARGS odds_args
#define ODDS(M)                                                                                                  \
  M(F64_ARRAY, weights, DICE_FACES, "[1, 1, 1, 1, 1, 1]", 0.0, 1e6, "", "of the faces: only their ratios count") \
  M(OUT, odds, dice_odds, "of the faces")
SL_HOST_ARGUMENTS(odds, ODDS);

static double sum_of(const struct odds_args *a) {
  double sum = 0;
  for (uint32_t face = 0; face < DICE_FACES; face++) sum += a->weights[face];
  return sum;
}

static int check(const struct sl_services *s, const void *args) {
  if (sum_of((const struct odds_args *)args) > 0) return SL_OK;
  s->message(s->context, SL_ERROR, "weights: all are 0, and one face must come up");
  return SL_EINVAL;
}

static int make(const struct sl_services *s, const struct odds_args *a) {
  double *probability = (double *)s->make_array(s->context, "odds", "probability", DICE_FACES);
  if (!probability) return SL_ENOMEM;
  for (uint32_t face = 0; face < DICE_FACES; face++) probability[face] = a->weights[face] / sum_of(a);
  return SL_OK;
}

SL_CONSTANT(odds, "how likely the faces of a die are", make, SL_CHECK(check));
