/* fuzz_request.c: texts that reach the server from outside: methods, paths and headers of requests, and its options.
 * The token opens nothing but with the whole of it; a path leads to an alarm only in its own form; a limit that is
 * taken is finite where it is set. The texts are separated by line breaks.
 */
#define _GNU_SOURCE
#include "base/settings.h"
#include "fuzz_file.h"
#include "serve/address.h"
#include "serve/alarm_rules.h"
#include "serve/request.h"

#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXTS = 4, LONGEST = 4096 };
static const char token[] = "0123456789abcdef";

static void check_route(const char *method, const char *path) {
  const struct sl_route route = sl_route_of(method, path);
  require(strlen(route.id) < SL_ID_BYTES);
  require((route.kind != SL_ROUTE_ACKNOWLEDGE && route.kind != SL_ROUTE_CONFIG) || strcmp(method, "POST") == 0);
  require(route.kind != SL_ROUTE_ACKNOWLEDGE || (strncmp(path, "/alarms/", 8) == 0 && strstr(path, route.id)));
  require(route.kind != SL_ROUTE_CONFIG || (route.changes && strcmp(path, "/config") == 0));
}

/* A header without the token does not open; one with it does, whatever user stands before. */
static void check_token(const char *header) {
  char with_token[LONGEST + 64];
  if (sl_request_has_token(header, token)) require(strstr(header, token) || strncasecmp(header, "basic ", 6) == 0);
  snprintf(with_token, sizeof with_token, "Bearer %s", token);
  require(sl_request_has_token(with_token, token));
  require(!sl_request_has_token(header, ""));
}

static void check_limit(const char *text) {
  const char *const texts[] = {text, NULL};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_alarm_rules rules;
  require(d != NULL);
  const int status = sl_alarm_rules_read(&rules, texts, d);
  require((status == SL_OK) == (sl_diagnostics_errors(d) == 0));
  for (uint32_t i = 0; status == SL_OK && i < rules.count; i++) {
    require(!(rules.at[i].low > rules.at[i].high) && !(rules.at[i].low < 0) && !(rules.at[i].high < 0));
    require(rules.at[i].kind != SL_ALARM_RATE || *rules.at[i].pattern);
  }
  sl_alarm_rules_close(&rules);
  sl_diagnostics_free(d);
}

static void check_address(const char *text) {
  struct sl_address a, again;
  char reason[256] = "", url[96];
  if (sl_address_read(&a, text, reason, sizeof reason) < 0) {
    require(*reason != '\0');
    return;
  }
  sl_address_write_url(&a, url, sizeof url);
  require(strncmp(url, "http://", 7) == 0);
  url[strlen(url) - 1] = '\0';
  require(sl_address_read(&again, url + 7, reason, sizeof reason) == SL_OK && again.is_loopback == a.is_loopback);
}

static void check_settings(const char *before, const char *now) {
  struct sl_differences d;
  require(sl_settings_compare(before, now, &d) == SL_OK);
  require(strcmp(before, now) != 0 || d.count == 0);
  for (uint32_t i = 0; i < d.count; i++) require(d.at[i].setting && (d.at[i].before || d.at[i].now));
  sl_differences_close(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char all[LONGEST + 1];
  char *texts[TEXTS] = {all, all, all, all};
  if (size > LONGEST || memchr(data, '\0', size)) return 0;
  memcpy(all, data, size);
  all[size] = '\0';
  check_settings(all, "a: 1\nb:\n  c: 2\n");
  check_settings(all, all);
  char *at = all;
  for (uint32_t i = 0; i < TEXTS; i++) {
    texts[i] = at;
    at += strcspn(at, "\n");
    if (*at) *at++ = '\0';
  }
  check_route(texts[0], texts[1]);
  check_token(texts[2]);
  (void)sl_request_is_same_origin(texts[2], texts[3]);
  (void)sl_request_is_by_address(texts[3]);
  check_limit(texts[1]);
  check_address(texts[3]);
  return 0;
}
