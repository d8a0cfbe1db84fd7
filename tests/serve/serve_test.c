/* serve_test.c: parts of the server without HTTP: addresses, tokens, requests, limits of alarms, alarms, recent counts,
 * points of curves, settings that differ, and published texts.
 */
#include "../runtime/support.h"
#include "base/json.h"
#include "base/settings.h"
#include "scratch.h"
#include "serve/address.h"
#include "serve/alarms.h"
#include "serve/history.h"
#include "serve/request.h"
#include "serve/texts.h"

#include <math.h>
#include <sys/stat.h>

/* ----------------------------------------------------------------------------------------------- addresses */

static void addresses_are_read(void **state) {
  static const struct {
    const char *text, *url;
    int is_loopback;
  } cases[] = {{"8080", "http://127.0.0.1:8080/", 1},
               {"127.0.0.1:1", "http://127.0.0.1:1/", 1},
               {"127.9.9.9:65535", "http://127.9.9.9:65535/", 1},
               {"0.0.0.0:8080", "http://0.0.0.0:8080/", 0},
               {"10.1.2.3:80", "http://10.1.2.3:80/", 0},
               {"[::1]:8080", "http://[::1]:8080/", 1},
               {"[::]:8080", "http://[::]:8080/", 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_address a;
    char reason[256], url[96];
    assert_int_equal(sl_address_read(&a, cases[i].text, reason, sizeof reason), SL_OK);
    sl_address_write_url(&a, url, sizeof url);
    assert_string_equal(url, cases[i].url);
    assert_int_equal(a.is_loopback, cases[i].is_loopback);
  }
}

static void wrong_addresses_are_refused(void **state) {
  static const char *const cases[] = {"",        ":",          "x",           "65536",
                                      "-1",      "8080x",      "+80",         " 80",
                                      "host:80", "1.2.3:4",    "1.2.3.4.5:6", "::1:80",
                                      "[::1]80", "[::1]",      "[]:80",       "[1.2.3.4]:5",
                                      ":80:",    "127.0.0.1:", "0x7f.1:80",   "99999999999999999999"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_address a;
    char reason[256] = "";
    assert_int_equal(sl_address_read(&a, cases[i], reason, sizeof reason), SL_EINVAL);
    assert_true(strlen(reason) > 0);
  }
}

/* ------------------------------------------------------------------------------------------------- tokens */

static int read_token(const char *folder, const char *text, mode_t mode, char token[SL_TOKEN_MAX + 1],
                      char reason[256]) {
  char path[SCRATCH_PATH_MAX + 16];
  scratch_write(folder, "token", text, strlen(text));
  snprintf(path, sizeof path, "%s/token", folder);
  assert_int_equal(chmod(path, mode), 0);
  return sl_token_read(path, token, reason, 256);
}

static void token_of_a_private_file_is_read(void **state) {
  char folder[SCRATCH_PATH_MAX], token[SL_TOKEN_MAX + 1], reason[256], text[SL_TOKEN_MAX + 8];
  (void)state;
  scratch_folder(folder);
  assert_int_equal(read_token(folder, "0123456789abcdef\n", 0600, token, reason), SL_OK);
  assert_string_equal(token, "0123456789abcdef");
  assert_int_equal(read_token(folder, "0123456789abcdef", 0400, token, reason), SL_OK);
  static const mode_t modes[] = {0640, 0604, 0660, 0606, 0601, 0777};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    assert_int_equal(read_token(folder, "0123456789abcdef", modes[i], token, reason), SL_EINVAL);
    assert_non_null(strstr(reason, "mode 600"));
  }
  assert_int_equal(read_token(folder, "0123456789abcde", 0600, token, reason), SL_EINVAL);
  assert_int_equal(read_token(folder, "0123456789 abcdef", 0600, token, reason), SL_EINVAL);
  assert_int_equal(read_token(folder, "", 0600, token, reason), SL_EINVAL);
  memset(text, 'a', sizeof text);
  text[SL_TOKEN_MAX + 1] = '\0';
  assert_int_equal(read_token(folder, text, 0600, token, reason), SL_EINVAL);
  text[SL_TOKEN_MAX] = '\0';
  assert_int_equal(read_token(folder, text, 0600, token, reason), SL_OK);
  assert_int_equal(sl_token_read(folder, token, reason, sizeof reason), SL_EINVAL);
}

/* ----------------------------------------------------------------------------------------------- requests */

static void token_is_needed_exactly(void **state) {
  static const char token[] = "0123456789abcdef";
  (void)state;
  assert_true(sl_request_has_token("Bearer 0123456789abcdef", token));
  assert_true(sl_request_has_token("bearer  0123456789abcdef", token));
  assert_true(sl_request_has_token("Basic b3BlcmF0b3I6MDEyMzQ1Njc4OWFiY2RlZg==", token)); /* operator: */
  assert_true(sl_request_has_token("Basic OjAxMjM0NTY3ODlhYmNkZWY=", token));             /* : */
  static const char *const wrong[] = {NULL,
                                      "",
                                      "Bearer",
                                      "Bearer ",
                                      "Bearer 0123456789abcde",
                                      "Bearer 0123456789abcdef0",
                                      "Bearer 0123456789abcdef0123456789abcdef",
                                      "Bearer 0123456789abcdeF",
                                      "Digest 0123456789abcdef",
                                      "0123456789abcdef",
                                      "Basic MDEyMzQ1Njc4OWFiY2RlZg==", /* without a user */
                                      "Basic !!!!",
                                      "Basic "};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(sl_request_has_token(wrong[i], token));
  assert_false(sl_request_has_token("Bearer ", ""));
  assert_false(sl_request_has_token("Bearer x", ""));
}

static void requests_of_other_sites_are_found(void **state) {
  (void)state;
  assert_true(sl_request_is_same_origin(NULL, "127.0.0.1:8080"));
  assert_true(sl_request_is_same_origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
  assert_true(sl_request_is_same_origin("https://Monitor.example", "monitor.example"));
  assert_false(sl_request_is_same_origin("http://evil.example", "127.0.0.1:8080"));
  assert_false(sl_request_is_same_origin("http://127.0.0.1:8081", "127.0.0.1:8080"));
  assert_false(sl_request_is_same_origin("null", "127.0.0.1:8080"));
  assert_false(sl_request_is_same_origin("http://x", NULL));
  assert_true(sl_request_is_by_address("127.0.0.1:8080"));
  assert_true(sl_request_is_by_address("localhost:8080"));
  assert_true(sl_request_is_by_address("LOCALHOST"));
  assert_true(sl_request_is_by_address("[::1]:8080"));
  assert_false(sl_request_is_by_address("evil.example:8080"));
  assert_false(sl_request_is_by_address("localhost.evil.example"));
  assert_false(sl_request_is_by_address("127.0.0.1.evil.example"));
  assert_false(sl_request_is_by_address(""));
  assert_false(sl_request_is_by_address(NULL));
}

static void routes_are_known(void **state) {
  char path[2 * SL_ID_BYTES];
  (void)state;
  assert_int_equal(sl_route_of("GET", "/").kind, SL_ROUTE_PAGE);
  assert_int_equal(sl_route_of("HEAD", "/status.json").kind, SL_ROUTE_TEXT);
  assert_int_equal(sl_route_of("GET", "/metrics").text, SL_TEXT_METRICS);
  assert_int_equal(sl_route_of("POST", "/status.json").kind, SL_ROUTE_WRONG_METHOD);
  assert_int_equal(sl_route_of("GET", "/config").kind, SL_ROUTE_WRONG_METHOD);
  assert_int_equal(sl_route_of("POST", "/config").kind, SL_ROUTE_CONFIG);
  assert_true(sl_route_of("POST", "/config").changes);
  const struct sl_route route = sl_route_of("POST", "/alarms/rate-Hlt1TrackMVA/acknowledge");
  assert_int_equal(route.kind, SL_ROUTE_ACKNOWLEDGE);
  assert_string_equal(route.id, "rate-Hlt1TrackMVA");
  static const char *const unknown[] = {"",
                                        "//",
                                        "/status",
                                        "/status.json/",
                                        "/../etc",
                                        "/alarms/",
                                        "/alarms//acknowledge",
                                        "/alarms/x",
                                        "/alarms/acknowledge",
                                        "alarms/x/acknowledge"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    assert_int_equal(sl_route_of("POST", unknown[i]).kind, SL_ROUTE_NOT_FOUND);
  snprintf(path, sizeof path, "/alarms/%0*d/acknowledge", SL_ID_BYTES - 1, 0);
  assert_int_equal(sl_route_of("POST", path).kind, SL_ROUTE_ACKNOWLEDGE);
  snprintf(path, sizeof path, "/alarms/%0*d/acknowledge", SL_ID_BYTES, 0);
  assert_int_equal(sl_route_of("POST", path).kind, SL_ROUTE_NOT_FOUND);
}

/* ------------------------------------------------------------------------------------------------- alarms */

static const struct sl_alarm_rule *last_rule(struct sl_alarm_rules *r, struct sl_diagnostics *d, const char *text) {
  const char *const texts[] = {text, NULL};
  assert_int_equal(sl_alarm_rules_read(r, texts, d), SL_OK);
  for (uint32_t i = 0; i < r->count; i++)
    if (r->at[i].text) return &r->at[i];
  return NULL;
}

static void limits_are_read(void **state) {
  static const struct {
    const char *text;
    uint32_t kind, is_absolute;
    double low, high;
  } cases[] = {
      {"errors=1%", SL_ALARM_ERRORS, 0, NAN, 0.01},       {"silent=30", SL_ALARM_SILENT, 0, NAN, 30},
      {"silent=30s", SL_ALARM_SILENT, 0, NAN, 30},        {"disk=10GiB", SL_ALARM_DISK, 1, 10 * 1073741824., NAN},
      {"disk=2.5%", SL_ALARM_DISK, 0, 0.025, NAN},        {"ratio=0.8..1.2", SL_ALARM_RATIO, 0, 0.8, 1.2},
      {"ratio=..3", SL_ALARM_RATIO, 0, NAN, 3},           {"rate:Hlt1*=1%..5%", SL_ALARM_RATE, 0, 0.01, 0.05},
      {"rate:Hlt1*=1..5%", SL_ALARM_RATE, 0, 0.01, 0.05}, {"rate:a=b=2kHz..", SL_ALARM_RATE, 1, 2000, NAN},
      {"rate:x=..100Hz", SL_ALARM_RATE, 1, NAN, 100},     {"disk=off", SL_ALARM_DISK, 0, NAN, NAN}};
  struct sl_diagnostics *d = sl_diagnostics_new();
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_alarm_rules rules;
    const struct sl_alarm_rule *rule = last_rule(&rules, d, cases[i].text);
    assert_non_null(rule);
    assert_int_equal(rule->kind, cases[i].kind);
    assert_int_equal(rule->is_absolute, cases[i].is_absolute);
    assert_true(isnan(cases[i].low) ? isnan(rule->low) : fabs(rule->low / cases[i].low - 1) < 1e-12);
    assert_true(isnan(cases[i].high) ? isnan(rule->high) : fabs(rule->high / cases[i].high - 1) < 1e-12);
    sl_alarm_rules_close(&rules);
  }
  sl_diagnostics_free(d);
}

static void wrong_limits_are_refused(void **state) {
  static const char *const cases[] = {"",           "errors",         "errors=",      "errors=1",    "errors=x%",
                                      "errors=-1%", "silent=1%",      "silent=inf",   "disk=5",      "disk=5GB",
                                      "ratio=2",    "ratio=2..1",     "ratio=..",     "rate=1%..2%", "rate:=1%..",
                                      "rate:x=off", "rate:x=1%..2Hz", "rate:x=1..2",  "noise=1%",    "errors:x=1%",
                                      "=1%",        "rate:x=..",      "ratio=1e999.."};
  struct sl_diagnostics *d = sl_diagnostics_new();
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const texts[] = {cases[i], NULL};
    struct sl_alarm_rules rules;
    if (sl_alarm_rules_read(&rules, texts, d) != SL_EINVAL) fail_msg("--alarm '%s' was taken", cases[i]);
    assert_int_equal(sl_diagnostics_errors(d), i + 1);
    sl_alarm_rules_close(&rules);
  }
  sl_diagnostics_free(d);
}

/* Number of alarms in the JSON, and whether it has this text. */
static int shows(struct sl_alarms *a, const char *text) {
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_alarms_write_json(a, 5000000000u, &j);
  sl_json_end_object(&j);
  assert_non_null(sl_json_text(&j));
  const int has = strstr(sl_json_text(&j), text) != NULL;
  sl_json_free(&j);
  return has;
}

static void set(struct sl_alarms *a, int is_active, uint64_t second) {
  pthread_mutex_lock(&a->lock);
  sl_alarm_set(sl_alarm_of(a, &a->rules.at[SL_ALARM_DISK], "/data/1"), is_active, 1, second * 1000000000, "full");
  pthread_mutex_unlock(&a->lock);
}

static void alarm_is_shown_until_it_is_over_and_acknowledged(void **state) {
  struct sl_alarms a = {.count = 0};
  struct sl_diagnostics *d = sl_diagnostics_new();
  (void)state;
  pthread_mutex_init(&a.lock, NULL);
  assert_int_equal(sl_alarm_rules_read(&a.rules, NULL, d), SL_OK);
  set(&a, 0, 1);
  assert_false(shows(&a, "disk-_data_1"));
  assert_false(sl_alarm_acknowledge(&a, "disk-_data_1"));
  set(&a, 1, 2);
  assert_true(shows(&a, "\"active\": true"));
  assert_true(shows(&a, "\"since_seconds\": 3"));
  set(&a, 1, 3);
  assert_true(shows(&a, "\"since_seconds\": 3"));
  set(&a, 0, 4); /* over, not seen by anybody */
  assert_true(shows(&a, "\"active\": false"));
  assert_true(sl_alarm_acknowledge(&a, "disk-_data_1"));
  assert_false(shows(&a, "disk-_data_1"));
  set(&a, 1, 4); /* again */
  assert_true(sl_alarm_acknowledge(&a, "disk-_data_1"));
  assert_true(shows(&a, "\"acknowledged\": true"));
  set(&a, 0, 5);
  assert_false(shows(&a, "disk-_data_1"));
  set(&a, 1, 5); /* it has to be acknowledged again */
  assert_true(shows(&a, "\"acknowledged\": false"));
  sl_alarms_close(&a);
  pthread_mutex_destroy(&a.lock);
  sl_diagnostics_free(d);
}

static void few_events_raise_no_alarm(void **state) {
  const struct sl_alarm_rule rule = {.kind = SL_ALARM_RATE, .low = 0.01, .high = 0.05};
  (void)state;
  assert_false(sl_alarm_is_outside(&rule, 0, 0));
  assert_false(sl_alarm_is_outside(&rule, 0, 100));  /* 1 expected */
  assert_false(sl_alarm_is_outside(&rule, 5, 50));   /* 10 % of few */
  assert_true(sl_alarm_is_outside(&rule, 0, 10000)); /* 100 expected */
  assert_true(sl_alarm_is_outside(&rule, 1000, 10000));
  assert_false(sl_alarm_is_outside(&rule, 300, 10000));
}

/* ------------------------------------------------------------------------------------------------ history */

static void recent_counts_are_differences(void **state) {
  struct sl_recent r = {0};
  (void)state;
  assert_int_equal(sl_recent_change(&r, 0, 10), 0);
  for (uint64_t i = 0; i <= 200; i++) {
    const uint64_t values[3] = {3 * i, 1000 + i, 7};
    assert_int_equal(sl_recent_add(&r, values, i < 100 ? 2 : 3), SL_OK);
  }
  assert_int_equal(sl_recent_change(&r, 0, 10), 30);
  assert_int_equal(sl_recent_change(&r, 1, SL_RECENT_SECONDS), SL_RECENT_SECONDS);
  assert_int_equal(sl_recent_change(&r, 2, 10), 0);
  assert_int_equal(sl_recent_change(&r, 3, 10), 0);
  sl_recent_close(&r);
  const uint64_t first[2] = {5, 5}, second[2] = {6, 9};
  sl_recent_add(&r, first, 2);
  assert_int_equal(sl_recent_change(&r, 0, 10), 0);
  sl_recent_add(&r, second, 2);
  assert_int_equal(sl_recent_change(&r, 1, 10), 4);
  sl_recent_close(&r);
}

static void values_that_appear_later_began_at_zero(void **state) {
  struct sl_recent r = {0};
  const uint64_t before[1] = {1}, after[2] = {1, 4};
  (void)state;
  sl_recent_add(&r, before, 1);
  sl_recent_add(&r, after, 2);
  assert_int_equal(sl_recent_change(&r, 1, 10), 4);
  sl_recent_close(&r);
}

static void points_are_the_last_ones(void **state) {
  struct sl_points p;
  (void)state;
  assert_int_equal(sl_points_open(&p, 2), SL_OK);
  assert_string_equal(sl_points_text(&p, 0), "[]");
  for (uint32_t i = 0; i < 3; i++) {
    sl_points_set(&p, 0, i == 1 ? NAN : 0.5 + i);
    sl_points_set(&p, 1, -1.23456e-300);
    sl_points_next(&p);
  }
  assert_string_equal(sl_points_text(&p, 0), "[0.5,null,2.5]");
  assert_string_equal(sl_points_text(&p, 1), "[-1.23e-300,-1.23e-300,-1.23e-300]");
  for (uint32_t i = 0; i < 3 * SL_HISTORY_POINTS; i++) {
    sl_points_set(&p, 0, i);
    sl_points_next(&p);
  }
  const char *text = sl_points_text(&p, 0);
  assert_int_equal(strncmp(text, "[240,241,", 9), 0);
  assert_non_null(strstr(text, ",359]"));
  sl_points_close(&p);
}

/* ------------------------------------------------------------------------------------------------ settings */

static void settings_that_differ_are_found(void **state) {
  static const char before[] =
      "sluice: 1\nnodes:\n  a:\n    use: p.x\n    set:\n      k: 1\n      same: 2\n  b:\n    use: p.y\n    set:\n      "
      "gone: 1\n"
      "outputs: [a]\n";
  static const char now[] =
      "sluice: 1\nnodes:\n  a:\n    use: p.z\n    set:\n      k: 1.5\n      new: \"t: u\"\n      same: 2\n"
      "outputs: [a]\n";
  static const char *const expected[][3] = {
      {"a.k", "1", "1.5"}, {"a.new", NULL, "\"t: u\""}, {"a.use", "p.x", "p.z"}, {"b.use", "p.y", NULL}};
  struct sl_differences d;
  (void)state;
  assert_int_equal(sl_settings_compare(before, now, &d), SL_OK);
  assert_int_equal(d.count, 4);
  for (uint32_t i = 0; i < d.count; i++) {
    assert_string_equal(d.at[i].setting, expected[i][0]);
    if (expected[i][1]) assert_string_equal(d.at[i].before, expected[i][1]);
    if (expected[i][2]) assert_string_equal(d.at[i].now, expected[i][2]);
    assert_true(!expected[i][1] == !d.at[i].before && !expected[i][2] == !d.at[i].now);
  }
  sl_differences_close(&d);
  assert_int_equal(sl_settings_compare(now, now, &d), SL_OK);
  assert_int_equal(d.count, 0);
  static const char *const anything[] = {
      "", "\n\n", ":", "    x: 1", "                              x: 1", "a", "a: b: c\n  - d\n   e:"};
  for (size_t i = 0; i < sizeof anything / sizeof anything[0]; i++) {
    assert_int_equal(sl_settings_compare(anything[i], now, &d), SL_OK);
    sl_differences_close(&d);
  }
}

/* -------------------------------------------------------------------------------------------------- texts */

static void text_lives_until_its_last_reader_has_released_it(void **state) {
  struct sl_texts t = {0};
  (void)state;
  sl_texts_open(&t);
  assert_null(sl_texts_get(&t, SL_TEXT_STATUS));
  sl_texts_put(&t, SL_TEXT_STATUS, strdup("one"), 3);
  struct sl_page_text *one = sl_texts_get(&t, SL_TEXT_STATUS), *again = sl_texts_get(&t, SL_TEXT_STATUS);
  sl_texts_put(&t, SL_TEXT_STATUS, strdup("two"), 3);
  struct sl_page_text *two = sl_texts_get(&t, SL_TEXT_STATUS);
  assert_ptr_equal(one, again);
  assert_string_equal(one->data, "one");
  assert_string_equal(two->data, "two");
  assert_true(two->serial > one->serial);
  sl_text_release(&t, one);
  assert_string_equal(again->data, "one");
  sl_text_release(&t, again);
  sl_texts_remove(&t, SL_TEXT_STATUS);
  assert_null(sl_texts_get(&t, SL_TEXT_STATUS));
  assert_string_equal(two->data, "two");
  sl_text_release(&t, two);
  sl_texts_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_are_read),
      cmocka_unit_test(wrong_addresses_are_refused),
      cmocka_unit_test(token_of_a_private_file_is_read),
      cmocka_unit_test(token_is_needed_exactly),
      cmocka_unit_test(requests_of_other_sites_are_found),
      cmocka_unit_test(routes_are_known),
      cmocka_unit_test(limits_are_read),
      cmocka_unit_test(wrong_limits_are_refused),
      cmocka_unit_test(alarm_is_shown_until_it_is_over_and_acknowledged),
      cmocka_unit_test(few_events_raise_no_alarm),
      cmocka_unit_test(recent_counts_are_differences),
      cmocka_unit_test(values_that_appear_later_began_at_zero),
      cmocka_unit_test(points_are_the_last_ones),
      cmocka_unit_test(settings_that_differ_are_found),
      cmocka_unit_test(text_lives_until_its_last_reader_has_released_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
