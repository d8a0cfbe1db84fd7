/* diagnostics_test.c: messages are stored, counted and printed like those of a compiler; similar names are
 * suggested. */
#define _GNU_SOURCE
#include "base/diagnostics.h"

#include "support.h"

#include <pthread.h>

static void assert_printed(const struct sl_diagnostics *d, const char *expected) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  assert_non_null(file);
  sl_diagnostics_print(d, file);
  fclose(file);
  assert_string_equal(text, expected);
  free(text);
}

static void a_message_is_printed_with_location_source_caret_and_hint(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const struct sl_location location = {"a.yaml", "  trakcs: { use: velo.sort }\n", 7, 3};
  sl_diagnose(d, SL_ERROR, &location, NULL, "did you mean tracks?", "unknown node %s", "trakcs");
  assert_printed(d,
                 "a.yaml:7:3: error: unknown node trakcs\n"
                 "    trakcs: { use: velo.sort }\n"
                 "    ^\n"
                 "  hint: did you mean tracks?\n");
  sl_diagnostics_free(d);
}

static void absent_parts_are_left_out(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const struct sl_location file_only = {"a.yaml", NULL, 0, 0}, line_only = {"a.yaml", "text", 2, 0};
  sl_diagnose(d, SL_ERROR, NULL, "tracks", NULL, "no input");
  sl_diagnose(d, SL_WARNING, &file_only, NULL, NULL, "empty");
  sl_diagnose(d, SL_NOTE, &line_only, "a", NULL, "unused");
  assert_printed(d,
                 "error: node tracks: no input\n"
                 "a.yaml: warning: empty\n"
                 "a.yaml:2: note: node a: unused\n"
                 "  text\n");
  sl_diagnostics_free(d);
}

static void the_caret_is_correct_after_tabs_and_utf8(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const struct sl_location location = {"f", "\t\xC3\xA4\xE2\x82\xAC x", 1, 5};
  sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "m");
  assert_printed(d, "f:1:5: error: m\n  \t\xC3\xA4\xE2\x82\xAC x\n  \t   ^\n");
  sl_diagnostics_free(d);
}

static void a_column_beyond_the_line_is_marked_at_its_end(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const struct sl_location location = {"f", "ab", 1, 4000000000u};
  sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "m");
  assert_printed(d, "f:1:4000000000: error: m\n  ab\n    ^\n");
  sl_diagnostics_free(d);
}

static void strings_are_copied(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  char file[] = "file", source[] = "source", node[] = "node", hint[] = "hint", word[] = "word";
  const struct sl_location location = {file, source, 1, 2};
  sl_diagnose(d, SL_WARNING, &location, node, hint, "%s", word);
  file[0] = source[0] = node[0] = hint[0] = word[0] = '#';
  const struct sl_diagnostic *m = sl_diagnostics_at(d, 0);
  assert_string_equal(m->file, "file");
  assert_string_equal(m->source_line, "source");
  assert_string_equal(m->node, "node");
  assert_string_equal(m->hint, "hint");
  assert_string_equal(m->message, "word");
  assert_int_equal(m->line, 1);
  assert_int_equal(m->column, 2);
  assert_int_equal(m->severity, SL_WARNING);
  assert_null(sl_diagnostics_at(d, 1));
  sl_diagnostics_free(d);
}

static void errors_beyond_the_limit_are_counted_and_reported(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  for (int i = 0; i < 1500; i++) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "e%d", i);
  sl_diagnose(d, SL_NOTE, NULL, NULL, NULL, "a note still has room");
  assert_int_equal(sl_diagnostics_errors(d), 1500);
  assert_int_equal(sl_diagnostics_count(d), 1001);
  assert_string_equal(sl_diagnostics_at(d, 999)->message, "e999");
  assert_string_equal(sl_diagnostics_at(d, 1000)->message, "a note still has room");

  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  sl_diagnostics_print(d, file);
  fclose(file);
  assert_non_null(strstr(text, "note: a note still has room\nerror: 500 more errors not shown\n"));
  free(text);
  sl_diagnostics_free(d);
}

enum { THREADS = 4, MESSAGES = 200 };

static void *add_messages(void *argument) {
  for (int i = 0; i < MESSAGES; i++) {
    sl_diagnose(argument, SL_ERROR, NULL, "node", NULL, "message %d", i);
    const struct sl_diagnostic *first = sl_diagnostics_at(argument, 0);
    if (!first || strncmp(first->message, "message ", 8)) return argument;
  }
  return NULL;
}

static void concurrent_messages_are_not_lost(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, add_messages, d), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  assert_int_equal(sl_diagnostics_errors(d), THREADS * MESSAGES);
  assert_int_equal(sl_diagnostics_count(d), THREADS * MESSAGES);
  sl_diagnostics_free(d);
}

struct followed {
  char text[4096];
  size_t length, count;
};

static void follow(void *context, const struct sl_diagnostic *message) {
  struct followed *f = context;
  f->count++;
  f->length += (size_t)snprintf(f->text + f->length, sizeof f->text - f->length, "%s\n", message->message);
}

static void a_follower_gets_each_message_when_it_is_added(void **state) {
  (void)state;
  struct followed f = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  sl_diagnose(d, SL_NOTE, NULL, NULL, NULL, "before");
  sl_diagnostics_follow(d, follow, &f);
  sl_diagnose(d, SL_NOTE, NULL, NULL, NULL, "one");
  assert_string_equal(f.text, "one\n");
  sl_diagnose(d, SL_ERROR, NULL, "node", "hint", "two");
  assert_string_equal(f.text, "one\ntwo\n");
  for (int i = 0; i < 1100; i++) sl_diagnose(d, SL_WARNING, NULL, NULL, NULL, "w");
  assert_int_equal(f.count, 1002); /* stored messages only */
  sl_diagnostics_follow(d, NULL, NULL);
  sl_diagnose(d, SL_NOTE, NULL, NULL, NULL, "after");
  assert_int_equal(f.count, 1002);
  sl_diagnostics_free(d);
}

static void the_first_messages_of_a_kind_are_added_and_the_others_counted(void **state) {
  (void)state;
  struct followed f = {0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  sl_diagnostics_follow(d, follow, &f);
  for (int i = 0; i < 5000; i++) {
    sl_diagnose_often(d, SL_WARNING, NULL, "raw", NULL, "cut", "cut %d", i);
    if (i < 20) sl_diagnose_often(d, SL_WARNING, NULL, "other", NULL, "cut", "other %d", i); /* exactly the limit */
    if (i < 21) sl_diagnose_often(d, SL_ERROR, NULL, "raw", NULL, "cut", "error %d", i);
    if (i < 3) sl_diagnose_often(d, SL_WARNING, NULL, NULL, NULL, "cut", "of no node %d", i);
  }
  assert_int_equal(f.count, 20 + 20 + 20 + 3);
  assert_non_null(strstr(f.text, "cut 18\n"));
  assert_non_null(strstr(f.text, "cut 19 (further messages of this kind are only counted)\n"));
  assert_non_null(strstr(f.text, "other 19 (further messages of this kind are only counted)\n"));
  assert_null(strstr(f.text, "cut 20"));
  assert_int_equal(sl_diagnostics_errors(d), 21);

  f.length = f.count = 0;
  sl_diagnose_counted(d);
  assert_string_equal(f.text, "4980 more like \"cut 0\"\n1 more like \"error 0\"\n");
  f.length = f.count = 0;
  sl_diagnose_counted(d);
  assert_int_equal(f.count, 0);
  sl_diagnose_often(d, SL_WARNING, NULL, "raw", NULL, "cut", "cut again");
  assert_int_equal(f.count, 1); /* counted from the start */
  sl_diagnostics_free(d);
}

static void messages_counted_by_kind_are_not_reported_as_dropped(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  for (int i = 0; i < 30; i++) sl_diagnose_often(d, SL_NOTE, NULL, NULL, NULL, "kind", "message");
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  sl_diagnostics_print(d, file);
  fclose(file);
  assert_null(strstr(text, "not shown"));
  free(text);
  for (int i = 0; i < 300; i++) { /* the number of kinds and their memory are limited */
    char kind[32];
    snprintf(kind, sizeof kind, "kind %d", i);
    for (int k = 0; k < 30; k++) sl_diagnose_often(d, SL_NOTE, NULL, NULL, NULL, kind, "%s", kind);
  }
  assert_true(sl_diagnostics_count(d) <= 1000);
  sl_diagnostics_free(d);
}

static const char *nearest(const char *word, const char *const *candidates) {
  struct sl_nearest n;
  sl_nearest_begin(&n, word);
  for (; *candidates; candidates++) sl_nearest_offer(&n, *candidates);
  return sl_nearest_result(&n);
}

static void the_nearest_name_is_suggested_if_near_enough(void **state) {
  (void)state;
  static const char *const names[] = {"tracks", "clusters", "geometry", "pv", "raw", NULL};
  assert_string_equal(nearest("trakcs", names), "tracks"); /* a swap costs 1 */
  assert_string_equal(nearest("cluster", names), "clusters");
  assert_string_equal(nearest("geometri", names), "geometry");
  assert_string_equal(nearest("pw", names), "pv");
  assert_string_equal(nearest("tracks", names), "tracks");
  assert_null(nearest("x", names));
  assert_null(nearest("ab", names));
  assert_null(nearest("calorimeter", names));
  assert_null(nearest("", names));
}

static void distances_are_edit_distances(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    unsigned distance;
  } cases[] = {{"", "", 0},        {"a", "", 1},    {"", "abc", 3},           {"abc", "abc", 0},
               {"abc", "acb", 1},  {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
               {"flaw", "lawn", 2}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct sl_nearest n;
    sl_nearest_begin(&n, cases[i].a);
    sl_nearest_offer(&n, cases[i].b);
    assert_int_equal(n.distance, cases[i].distance);
  }
}

static void very_long_words_are_not_compared(void **state) {
  (void)state;
  char word[4000];
  memset(word, 'a', sizeof(word));
  word[sizeof(word) - 1] = '\0';
  const char *const names[] = {word, "a", NULL};
  assert_null(nearest(word, names));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_is_printed_with_location_source_caret_and_hint),
      cmocka_unit_test(absent_parts_are_left_out),
      cmocka_unit_test(the_caret_is_correct_after_tabs_and_utf8),
      cmocka_unit_test(a_column_beyond_the_line_is_marked_at_its_end),
      cmocka_unit_test(strings_are_copied),
      cmocka_unit_test(errors_beyond_the_limit_are_counted_and_reported),
      cmocka_unit_test(concurrent_messages_are_not_lost),
      cmocka_unit_test(a_follower_gets_each_message_when_it_is_added),
      cmocka_unit_test(the_first_messages_of_a_kind_are_added_and_the_others_counted),
      cmocka_unit_test(messages_counted_by_kind_are_not_reported_as_dropped),
      cmocka_unit_test(the_nearest_name_is_suggested_if_near_enough),
      cmocka_unit_test(distances_are_edit_distances),
      cmocka_unit_test(very_long_words_are_not_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
