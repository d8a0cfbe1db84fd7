/* throws.c: a source of dice throws, one per event. The value of a die depends only on the seed, the event and the
 * die, so that it does not depend on slices. The source has no state.
 */
#include <dice/event_model.h>

#define SL_ARGS throws_args
#define THROWS(M)                                                                                      \
  M(OUT, dice, dice_throws, "dice of each event", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(dice_per_event, 1)))) \
  M(BUDGET, dice_per_event, 5, 1, 1000, "dice that are thrown")                                        \
  M(U64, events, 1000, 0, 1e12, "", "how many throws; -n says less")                                   \
  M(U64, seed, 1, 0, 1e12, "", "of the dice")
SL_HOST_ARGUMENTS(throws, THROWS);

struct throws {
  uint64_t next; /* event */
};

/* A random word for each pair of numbers (splitmix64). */
static uint64_t random_word(uint64_t seed, uint64_t index) {
  uint64_t word = seed * 0xD1342543DE82EF95u + index * 0x9E3779B97F4A7C15u;
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
  word = (word ^ word >> 27) * 0x94D049BB133111EBu;
  return word ^ word >> 31;
}

static int fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *slice) {
  const struct throws_args *a = (const struct throws_args *)args;
  struct throws *source = (struct throws *)state;
  uint32_t items = 0;
  (void)s;
  if (a->dice.offsets) a->dice.offsets[0] = 0;
  for (; slice->event_count < slice->events_max && source->next < a->events; source->next++) {
    if (items + a->dice_per_event > a->dice.bound.capacity) break; /* the next slice begins with it */
    for (uint32_t i = 0; i < a->dice_per_event && a->dice.face; i++)
      a->dice.face[items + i] =
          (uint8_t)((random_word(a->seed, source->next * a->dice_per_event + i) >> 32) * DICE_FACES >> 32);
    items += a->dice_per_event;
    slice->events[slice->event_count++] = (struct sl_event){.number = source->next, .run = 1};
    if (a->dice.offsets) a->dice.offsets[slice->event_count] = items;
  }
  *a->dice.bound.used = items;
  slice->progress_done = source->next;
  slice->progress_total = a->events;
  return source->next < a->events;
}

static const struct sl_source functions = {.fill = fill};
SL_SOURCE(throws, "throws of dice", struct throws, functions);
