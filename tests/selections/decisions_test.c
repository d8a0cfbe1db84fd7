/* decisions_test.c: selections.decide, dec_reports and routing_bits against loops over events and lines. */
#include "selections/event_model.h"
#include "selections/reports.h"
#include "selections_support.h"

enum { EVENTS_MAX = 300, LINES_MAX = 130, NAME_BYTES = 24, HEAD = DECISION_REPORT_HEAD_WORDS };
enum { NONE = UINT32_MAX };

/* Decision of a line for an event: rejected, passed, or rejected by the post scale. */
static uint8_t decision(uint32_t line, uint32_t event) {
  const uint32_t value = (event * 2654435761u + line * 40503u) % 97;
  if (event % 5 == 4 || value >= 3 + line % 7) return 0; /* every fifth event passes no line */
  return value == 0 ? LINE_BEFORE_SCALE : LINE_BEFORE_SCALE | LINE_PASSED;
}

static const char *name_of(uint32_t line) {
  static char name[NAME_BYTES];
  snprintf(name, sizeof name, "Hlt1Line%u", line);
  return name;
}

typedef uint8_t decision_of(uint32_t line, uint32_t event);

static struct sl_test *decide(uint32_t events, uint32_t lines, decision_of *decision_at) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "decide");
  sl_test_events(t, events);
  for (uint32_t k = 0; k < lines; k++) {
    uint8_t passed[EVENTS_MAX];
    for (uint32_t e = 0; e < events; e++) passed[e] = decision_at(k, e);
    sl_test_list_input(t, "lines", name_of(k), "passed", passed, events);
  }
  return t;
}

/* Compares the outputs with a loop over the events of the node: `numbers`, or all events if it is NULL. Frees `t`. */
static void assert_decided(struct sl_test *t, uint32_t events, uint32_t lines, decision_of *decision_at,
                           const uint32_t *numbers, uint32_t count) {
  const uint32_t width = (lines + 31) / 32;
  uint32_t before[LINES_MAX] = {0}, passed[LINES_MAX] = {0}, alone[LINES_MAX] = {0}, listed_count = 0;
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = OUTPUT(t, "decisions", "offsets", uint32_t);
  const uint32_t *words = OUTPUT(t, "decisions", "passed", uint32_t);
  const uint32_t *list = OUTPUT(t, "passed", "numbers", uint32_t);
  assert_int_equal(*OUTPUT(t, "decisions", "line_count", uint32_t), lines);
  for (uint32_t e = 0, at = 0; e < events; e++) {
    uint32_t expected[(LINES_MAX + 31) / 32] = {0}, found = 0, last = 0;
    assert_int_equal(offsets[e], at * width);
    const uint32_t is_own = !numbers || (at < count && numbers[at] == e);
    for (uint32_t k = 0; is_own && k < lines; k++) {
      before[k] += decision_at(k, e) != 0;
      if (!(decision_at(k, e) & LINE_PASSED)) continue;
      passed[k]++;
      found++;
      last = k;
      expected[k / 32] |= 1u << k % 32;
    }
    alone[last] += found == 1;
    at += is_own;
    assert_int_equal(offsets[e + 1], at * width);
    if (is_own) assert_memory_equal(words + offsets[e], expected, width * sizeof *expected);
    if (found) assert_int_equal(list[listed_count++], e);
  }
  assert_int_equal(*OUTPUT(t, "passed", "count", uint32_t), listed_count);
  assert_memory_equal(OUTPUT(t, "totals", "before_scale", uint32_t), before, lines * sizeof *before);
  assert_memory_equal(OUTPUT(t, "totals", "passed", uint32_t), passed, lines * sizeof *passed);
  assert_memory_equal(OUTPUT(t, "totals", "alone", uint32_t), alone, lines * sizeof *alone);
  sl_test_free(t);
}

static uint8_t none(uint32_t line, uint32_t event) {
  (void)line, (void)event;
  return 0;
}
static uint8_t all(uint32_t line, uint32_t event) {
  (void)line, (void)event;
  return LINE_BEFORE_SCALE | LINE_PASSED;
}

static void decisions_are_right_for_any_number_of_lines_and_events(void **state) {
  (void)state;
  const uint32_t lines[] = {0, 1, 32, 33, 66, LINES_MAX}, events[] = {1, 31, 32, 33, EVENTS_MAX};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
    for (size_t e = 0; e < sizeof events / sizeof *events; e++)
      assert_decided(decide(events[e], lines[k], decision), events[e], lines[k], decision, NULL, 0);
}

static void events_may_pass_no_line_or_all_lines(void **state) {
  (void)state;
  assert_decided(decide(100, 66, none), 100, 66, none, NULL, 0);
  assert_decided(decide(100, 66, all), 100, 66, all, NULL, 0);
}

static void only_events_of_the_list_are_decided_on(void **state) {
  (void)state;
  uint32_t numbers[EVENTS_MAX], count = 0;
  for (uint32_t e = 2; e < EVENTS_MAX; e += 1 + e % 7) numbers[count++] = e;
  struct sl_test *t = decide(EVENTS_MAX, 40, decision);
  sl_test_list(t, numbers, count);
  assert_decided(t, EVENTS_MAX, 40, decision, numbers, count);
  t = decide(EVENTS_MAX, 40, decision);
  sl_test_list(t, numbers, 0);
  assert_decided(t, EVENTS_MAX, 40, decision, numbers, 0);
}

static void decisions_do_not_depend_on_the_block_size(void **state) {
  (void)state;
  const uint32_t threads[] = {32, 64, 96, 1024};
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    struct sl_test *t = decide(70, 66, decision);
    sl_test_block(t, threads[i]);
    assert_decided(t, 70, 66, decision, NULL, 0);
  }
}

/* The expected hashes of "", "1:Hlt1Line0\n" and "1:Hlt1Line0\n2:Hlt1Line1\n" were computed independently. */
static void the_key_is_the_hash_of_ids_and_names(void **state) {
  (void)state;
  const uint32_t expected[] = {0x811c9dc5, 0xa14d6cad, 0x449afea3};
  for (uint32_t lines = 0; lines < 3; lines++) {
    struct sl_test *t = decide(1, lines, none);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(*OUTPUT(t, "decisions", "key", uint32_t), expected[lines]);
    sl_test_free(t);
  }
}

/* ------------------------------------------------------------------------------------------------- banks */

struct decided {
  uint32_t offsets[EVENTS_MAX + 1], words[EVENTS_MAX * ((LINES_MAX + 31) / 32)], key, lines;
};

/* Event `undecided` has no decisions; NONE: all events have decisions. */
static void give_decisions_but(struct sl_test *t, uint32_t events, uint32_t lines, uint32_t key, uint32_t undecided) {
  static struct decided d;
  const uint32_t width = (lines + 31) / 32;
  memset(&d, 0, sizeof d);
  d.key = key, d.lines = lines;
  for (uint32_t e = 0; e < events; e++) {
    d.offsets[e + 1] = d.offsets[e] + (e == undecided ? 0 : width);
    for (uint32_t k = 0; e != undecided && k < lines; k++)
      if (decision(k, e) & LINE_PASSED) d.words[d.offsets[e] + k / 32] |= 1u << k % 32;
  }
  sl_test_events(t, events);
  sl_test_input(t, "decisions", "offsets", d.offsets, events + 1);
  sl_test_input(t, "decisions", "key", &d.key, 1);
  sl_test_input(t, "decisions", "line_count", &d.lines, 1);
  sl_test_input(t, "decisions", "passed", d.words, d.offsets[events]);
}

static void give_decisions(struct sl_test *t, uint32_t events, uint32_t lines, uint32_t key) {
  give_decisions_but(t, events, lines, key, NONE);
}

/* The words of bank `item`; all banks have `words` words. */
static const uint32_t *bank_of(const struct sl_test *t, const char *port, uint32_t item, uint32_t words) {
  assert_int_equal(OUTPUT(t, port, "size_bytes", uint16_t)[item], 4 * words);
  const uint32_t *offsets = OUTPUT(t, port, "word_offsets", uint32_t);
  assert_int_equal(offsets[item], item * words);
  assert_int_equal(offsets[item + 1], (item + 1) * words);
  return OUTPUT(t, port, "word", uint32_t) + (size_t)item * words;
}

/* Each event of the list has one bank, all other events have none. */
static void assert_offsets(const struct sl_test *t, const char *port, uint32_t events, const uint32_t *numbers,
                           uint32_t count) {
  const uint32_t *offsets = OUTPUT(t, port, "offsets", uint32_t);
  for (uint32_t e = 0, at = 0; e < events; e++) {
    assert_int_equal(offsets[e], at);
    at += !numbers || (at < count && numbers[at] == e);
    assert_int_equal(offsets[e + 1], at);
  }
}

static void a_decision_report_has_one_word_per_line(void **state) {
  (void)state;
  const uint32_t lines[] = {0, 1, 33, 66, LINES_MAX}, events = 40;
  const uint32_t numbers[] = {0, 3, 4, 17, 31, 32, 38}, count = sizeof numbers / sizeof *numbers;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "dec_reports");
    give_decisions(t, events, lines[i], 0xABCD1234);
    sl_test_set(t, "tck", 0x10001234);
    sl_test_set(t, "task_id", 3);
    sl_test_list(t, numbers, count);
    assert_int_equal(sl_test_run(t), 0);
    assert_offsets(t, "reports", events, numbers, count);
    for (uint32_t n = 0; n < count; n++) {
      const uint32_t *bank = bank_of(t, "reports", n, HEAD + lines[i]);
      assert_int_equal(bank[0], 0xABCD1234);
      assert_int_equal(bank[1], 0x10001234);
      assert_int_equal(bank[2], 3);
      for (uint32_t k = 0; k < lines[i]; k++)
        assert_int_equal(bank[HEAD + k], (k + 1) * 65536 + 256 + 16 + (decision(k, numbers[n]) & LINE_PASSED));
    }
    sl_test_free(t);
  }
}

static void all_events_have_banks_without_a_list_and_none_with_an_empty_list(void **state) {
  (void)state;
  for (uint32_t is_empty = 0; is_empty < 2; is_empty++) {
    struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "dec_reports");
    give_decisions(t, 10, 5, 1);
    const uint32_t unused = 0;
    if (is_empty) sl_test_list(t, &unused, 0);
    assert_int_equal(sl_test_run(t), 0);
    assert_offsets(t, "reports", 10, is_empty ? &unused : NULL, 0);
    sl_test_free(t);
  }
}

static void an_event_that_was_not_decided_on_passed_no_line(void **state) {
  (void)state;
  const uint32_t undecided[] = {5, 9};
  for (size_t i = 0; i < sizeof undecided / sizeof *undecided; i++) {
    struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "dec_reports");
    give_decisions_but(t, 10, 40, 1, undecided[i]);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t e = 0; e < 10; e++) {
      const uint32_t *bank = bank_of(t, "reports", e, HEAD + 40);
      for (uint32_t k = 0; k < 40; k++)
        assert_int_equal(bank[HEAD + k] & 1, e != undecided[i] && (decision(k, e) & LINE_PASSED));
    }
    sl_test_free(t);
  }
}

static const char *const routed[] = {"Hlt1ODINLumi",   "Hlt1ODIN1kHzLumi", "Hlt1TrackMVA",      "Hlt1VeloMicroBias",
                                     "Hlt1ODINNoBias", "Hlt1BeamGas",      "Hlt1D2KPi",         "Hlt1D2KPiAlignment",
                                     "Hlt1Tell1Error", "myHlt1TrackMVA",   "Hlt1Pi02GammaGamma"};
enum { ROUTED = sizeof routed / sizeof *routed };
static const uint32_t routed_bits[ROUTED] = {1u << 1,  1u << 1, 1u << 14,          1u << 2,
                                             1u << 16, 1u << 2, 1u << 14,          1u << 14 | 1u << 3,
                                             1u << 25, 0,       1u << 14 | 1u << 9};

static struct sl_test *route(uint32_t key) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "routing_bits");
  uint32_t offsets[ROUTED + 2], words[ROUTED + 1] = {0}, lines = ROUTED;
  const uint64_t made_by = 0;
  /* Event e passed line e; the last event passed all lines. */
  for (uint32_t e = 0; e < ROUTED + 2; e++) offsets[e] = e;
  for (uint32_t e = 0; e < ROUTED; e++) words[e] = 1u << e;
  words[ROUTED] = (1u << ROUTED) - 1;
  sl_test_events(t, ROUTED + 1);
  sl_test_input(t, "decisions", "offsets", offsets, ROUTED + 2);
  sl_test_input(t, "decisions", "key", &key, 1);
  sl_test_input(t, "decisions", "line_count", &lines, 1);
  sl_test_input(t, "decisions", "passed", words, ROUTED + 1);
  for (uint32_t k = 0; k < ROUTED; k++) sl_test_list_input(t, "lines", routed[k], "made_by", &made_by, 1);
  return t;
}

static void routing_bits_match_whole_names_of_lines(void **state) {
  (void)state;
  struct sl_test *t = route(lines_key(routed, ROUTED));
  uint32_t together = 0;
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t e = 0; e <= ROUTED; e++) {
    const uint32_t *bank = bank_of(t, "banks", e, ROUTING_WORDS);
    if (e < ROUTED) together |= routed_bits[e];
    assert_int_equal(bank[0], e < ROUTED ? routed_bits[e] : together);
    assert_int_equal(bank[1] | bank[2], 0);
  }
  sl_test_free(t);
}

static void an_event_that_was_not_decided_on_has_no_routing_bits(void **state) {
  (void)state;
  struct sl_test *t = route(lines_key(routed, ROUTED));
  uint32_t offsets[ROUTED + 2] = {0};
  for (uint32_t e = 3; e < ROUTED + 2; e++) offsets[e] = e - 2; /* events 0, 1 and the last one have no decisions */
  offsets[ROUTED + 1] = offsets[ROUTED];
  sl_test_input(t, "decisions", "offsets", offsets, ROUTED + 2);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t e = 0; e <= ROUTED; e++)
    assert_int_equal(bank_of(t, "banks", e, ROUTING_WORDS)[0],
                     offsets[e] == offsets[e + 1] ? 0 : routed_bits[offsets[e]]);
  sl_test_free(t);
}

static void patterns_can_be_set_and_exclude_lines(void **state) {
  (void)state;
  struct sl_test *t = route(lines_key(routed, ROUTED));
  sl_test_set_text(t, "bit_14", "");
  sl_test_set_text(t, "bit_31", "  Hlt1D2KPi  .*Bias !.*Micro.* ");
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t e = 0; e < ROUTED; e++) {
    const uint32_t is_31 = strcmp(routed[e], "Hlt1D2KPi") == 0 || strcmp(routed[e], "Hlt1ODINNoBias") == 0;
    assert_int_equal(bank_of(t, "banks", e, ROUTING_WORDS)[0], (routed_bits[e] & ~(1u << 14)) | is_31 << 31);
  }
  sl_test_free(t);
}

static void a_wrong_pattern_is_reported_with_its_bit(void **state) {
  (void)state;
  const char *const wrong[][2] = {{"Hlt1(Track", "bit_7: `Hlt1(Track` is not a regular expression: "},
                                  {"Hlt1[", "bit_7: `Hlt1[` is not a regular expression: "},
                                  {"Hlt1.* !", "bit_7: no pattern follows !"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct sl_test *t = route(1);
    sl_test_set_text(t, "bit_7", wrong[i][0]);
    assert_int_not_equal(sl_test_run(t), 0);
    assert_non_null(strstr(sl_test_messages(t), wrong[i][1]));
    sl_test_free(t);
  }
}

static void an_event_with_decisions_of_other_lines_is_refused(void **state) {
  (void)state;
  struct sl_test *t = route(12345);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t e = 0; e <= ROUTED; e++) assert_int_equal(sl_test_event_error(t, e), 1ull << 32);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decisions_are_right_for_any_number_of_lines_and_events),
      cmocka_unit_test(events_may_pass_no_line_or_all_lines),
      cmocka_unit_test(only_events_of_the_list_are_decided_on),
      cmocka_unit_test(decisions_do_not_depend_on_the_block_size),
      cmocka_unit_test(the_key_is_the_hash_of_ids_and_names),
      cmocka_unit_test(a_decision_report_has_one_word_per_line),
      cmocka_unit_test(all_events_have_banks_without_a_list_and_none_with_an_empty_list),
      cmocka_unit_test(an_event_that_was_not_decided_on_passed_no_line),
      cmocka_unit_test(an_event_that_was_not_decided_on_has_no_routing_bits),
      cmocka_unit_test(routing_bits_match_whole_names_of_lines),
      cmocka_unit_test(patterns_can_be_set_and_exclude_lines),
      cmocka_unit_test(a_wrong_pattern_is_reported_with_its_bit),
      cmocka_unit_test(an_event_with_decisions_of_other_lines_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
