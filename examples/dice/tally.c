/* tally.c: a sink: counts faces, and reports how far they are from what is likely: chi2, the sum over the faces of
 * (counted - expected)^2 / expected, has 5 degrees of freedom. It has nothing to open or close.
 */
#include <dice/event_model.h>
#include <inttypes.h>

#define SL_ARGS tally_args
#define TALLY(M)                                              \
  M(IN, dice, dice_throws, "offsets face", "what is counted") \
  M(IN, odds, dice_odds, "probability", "what is likely")
SL_HOST_ARGUMENTS(tally, TALLY);

struct tally { /* zeroed by the runtime */
  uint64_t dice, faces[DICE_FACES];
  double probability[DICE_FACES];
};

static int consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  const struct tally_args *a = (const struct tally_args *)args;
  struct tally *t = (struct tally *)state;
  (void)s;
  for (uint32_t face = 0; face < DICE_FACES; face++) t->probability[face] = a->odds.probability[face];
  SL_FOR_BATCH (event, batch)
    for (uint32_t i = a->dice.offsets[event]; i < a->dice.offsets[event + 1]; i++) {
      t->faces[a->dice.face[i]]++;
      t->dice++;
    }
  return SL_OK;
}

static int finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct tally *t = (const struct tally *)state;
  double chi2 = 0;
  (void)s;
  report->begin_array(report->context, "faces");
  for (uint32_t face = 0; face < DICE_FACES; face++) {
    const double expected = (double)t->dice * t->probability[face], difference = (double)t->faces[face] - expected;
    if (expected > 0) chi2 += difference * difference / expected;
    report->integer(report->context, NULL, (int64_t)t->faces[face]);
  }
  report->end_array(report->context);
  report->number(report->context, "chi2", chi2);
  report->line(report->context, "%" PRIu64 " dice, chi2 %.2f", t->dice, chi2);
  return SL_OK;
}

static const struct sl_sink functions = {.consume = consume, .finish = finish};
SL_SINK(tally, "counts faces of dice, and judges them", struct tally, functions);
