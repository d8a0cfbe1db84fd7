/* afar.c: sources of a plugin that depends on no other plugin. Each source of files makes three events of any file, and
 * recognises files by their first byte. */
#include <sluice/plugin.h>

#include <string.h>

#define NUMBERS_FIELDS(F)                                    \
  F(offsets, u32, OFFSETS, "", "first number of each event") \
  F(value, f32, PER_ITEM, "", "a number")
SL_COLLECTION(afar_numbers, NUMBERS_FIELDS, "numbers");

struct numbers_args {
  struct afar_numbers numbers;
  uint32_t per_event;
};
#define SL_ARGS numbers_args
static const struct sl_member numbers_members[] = {
    SL_OUT(numbers, afar_numbers, "none", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(per_event, 3)))),
    SL_BUDGET(per_event, 3, 1, 100, "numbers"),
};
#define feed_args       numbers_args
#define feed_members    numbers_members
#define letter_args     numbers_args
#define letter_members  numbers_members
#define twin_args       numbers_args
#define twin_members    numbers_members
#define silent_args     numbers_args
#define silent_members  numbers_members
#define records_args    numbers_args
#define records_members numbers_members

struct state {
  uint32_t next;
};

static int fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  struct state *at = state;
  const struct numbers_args *a = args;
  (void)s;
  for (; at->next < 3 && fill->event_count < fill->events_max; at->next++)
    fill->events[fill->event_count++] = (struct sl_event){.number = at->next};
  for (uint32_t e = 0; a->numbers.offsets && e <= fill->event_count; e++) a->numbers.offsets[e] = 0;
  if (a->numbers.bound.used) *a->numbers.bound.used = 0;
  return at->next < 3;
}

static int begins_with(const unsigned char *bytes, size_t count, char letter) {
  return count > 0 && (char)bytes[0] == letter;
}

/* Uses the feed without a check that there is one. */
static int fill_from_feed(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  struct sl_feed_entry entry;
  uint32_t taken = 0;
  const struct numbers_args *a = args;
  (void)state;
  const int more = s->feed->take(s->feed->context, &entry, 1, 1000, &taken);
  if (taken > 0) fill->events[fill->event_count++] = (struct sl_event){.number = entry.number};
  if (taken > 0) s->feed->packed(s->feed->context, 1, 1);
  for (uint32_t e = 0; a->numbers.offsets && e <= fill->event_count; e++) a->numbers.offsets[e] = 0;
  if (a->numbers.bound.used) *a->numbers.bound.used = 0;
  return more;
}
static const struct sl_source feed_functions = {.fill = fill_from_feed};
SL_SOURCE(feed, "events from a feed", struct state, feed_functions, SL_TAKES_FEED);

static int probe_letter(const unsigned char *bytes, size_t count) {
  return begins_with(bytes, count, 'a') || begins_with(bytes, count, 'b');
}
static const struct sl_source letter_functions = {.fill = fill, .probe = probe_letter};
SL_SOURCE(letter, "files that begin with a or b", struct state, letter_functions);

static int probe_twin(const unsigned char *bytes, size_t count) { return begins_with(bytes, count, 'b'); }
static const struct sl_source twin_functions = {.fill = fill, .probe = probe_twin};
SL_SOURCE(twin, "files that begin with b", struct state, twin_functions);

static int probe_nothing(const unsigned char *bytes, size_t count) { return (void)bytes, (void)count, 0; }
static const struct sl_source silent_functions = {.fill = fill, .probe = probe_nothing};
SL_SOURCE(silent, "files of unknown content", struct state, silent_functions);

static int probe_records(const unsigned char *bytes, size_t count) {
  return count >= 12 && memcmp(bytes, bytes + 4, 4) == 0 && memcmp(bytes, bytes + 8, 4) == 0;
}
static const struct sl_source records_functions = {.fill = fill, .probe = probe_records};
SL_SOURCE(records, "files of MDF records", struct state, records_functions);
#undef SL_ARGS

struct tally_args {
  struct afar_numbers_view numbers;
};
#define SL_ARGS tally_args
static const struct sl_member tally_members[] = {SL_IN(numbers, afar_numbers, "offsets", "any")};
static int consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  return (void)state, (void)s, (void)args, (void)batch, SL_OK;
}
static const struct sl_sink tally_functions = {.consume = consume};
SL_SINK(tally, "reads numbers", struct state, tally_functions);
#undef SL_ARGS

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(feed),   SL_ENTRY(letter),  SL_ENTRY(twin),
                                                        SL_ENTRY(silent), SL_ENTRY(records), SL_ENTRY(tally)};
SL_PLUGIN("afar", "1.0", "sources of another application");
