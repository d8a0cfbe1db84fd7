/* request.c: see request.h. */
#include "serve/request.h"

#include "serve/address.h"
#include "serve/texts.h"

#include <string.h>
#include <strings.h>

static const struct {
  const char *path;
  uint32_t kind, text;
  const char *type;
} pages[] = {
    {"/", SL_ROUTE_PAGE, 0, "text/html; charset=utf-8"},
    {"/status.json", SL_ROUTE_TEXT, SL_TEXT_STATUS, "application/json"},
    {"/histograms.json", SL_ROUTE_TEXT, SL_TEXT_HISTOGRAMS, "application/json"},
    {"/reference.json", SL_ROUTE_TEXT, SL_TEXT_REFERENCE, "application/json"},
    {"/metrics", SL_ROUTE_TEXT, SL_TEXT_METRICS, "text/plain; version=0.0.4; charset=utf-8"},
    {"/config.yaml", SL_ROUTE_TEXT, SL_TEXT_CONFIG, "text/plain; charset=utf-8"},
    {"/graph.svg", SL_ROUTE_TEXT, SL_TEXT_GRAPH, "image/svg+xml"},
    {"/event.svg", SL_ROUTE_EVENT, 0, "image/svg+xml"},
};

/* Reads "/alarms/ID/acknowledge". */
static int read_alarm(const char *path, char id[SL_ID_BYTES]) {
  static const char before[] = "/alarms/", after[] = "/acknowledge";
  const size_t length = strlen(path), outside = strlen(before) + strlen(after);
  if (length <= outside || length - outside >= SL_ID_BYTES || strncmp(path, before, strlen(before)) != 0) return 0;
  if (strcmp(path + length - strlen(after), after) != 0) return 0;
  memcpy(id, path + strlen(before), length - outside);
  id[length - outside] = '\0';
  return 1;
}

struct sl_route sl_route_of(const char *method, const char *path) {
  struct sl_route route = {.kind = SL_ROUTE_NOT_FOUND, .allow = "GET, HEAD"};
  const int reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0, posts = strcmp(method, "POST") == 0;
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
    if (strcmp(pages[i].path, path) != 0) continue;
    route.kind = reads ? pages[i].kind : SL_ROUTE_WRONG_METHOD;
    route.text = pages[i].text;
    route.type = pages[i].type;
    return route;
  }
  const int is_config = strcmp(path, "/config") == 0, is_alarm = read_alarm(path, route.id);
  if (is_config || is_alarm) {
    route.allow = "POST";
    route.changes = 1;
    route.kind = !posts ? SL_ROUTE_WRONG_METHOD : is_config ? SL_ROUTE_CONFIG : SL_ROUTE_ACKNOWLEDGE;
  }
  return route;
}

/* Compares in a time that depends on the lengths only. */
static int is_token(const char *text, size_t length, const char *token) {
  const size_t expected = strlen(token);
  unsigned difference = length != expected;
  for (size_t i = 0; i < length; i++) difference |= (unsigned char)text[i] ^ (unsigned char)token[i % expected];
  return difference == 0;
}

static int base64_value(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

/* Decodes up to the first character that is no digit. Returns the number of bytes, at most `size`. */
static size_t decode_base64(const char *text, char *bytes, size_t size) {
  uint32_t bits = 0, count = 0;
  size_t used = 0;
  for (; base64_value(*text) >= 0 && used < size; text++) {
    bits = bits << 6 | (uint32_t)base64_value(*text);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[used++] = (char)(bits >> count & 255);
  }
  return used;
}

int sl_request_has_token(const char *header, const char *token) {
  char decoded[SL_TOKEN_MAX + 128];
  if (!header || !*token) return 0;
  const char *rest = strchr(header, ' ');
  if (!rest) return 0;
  const size_t scheme = (size_t)(rest - header);
  rest += strspn(rest, " ");
  if (scheme == strlen("Bearer") && strncasecmp(header, "Bearer", scheme) == 0)
    return is_token(rest, strlen(rest), token);
  if (scheme != strlen("Basic") || strncasecmp(header, "Basic", scheme) != 0) return 0;
  const size_t length = decode_base64(rest, decoded, sizeof decoded);
  const char *colon = memchr(decoded, ':', length);
  return colon && is_token(colon + 1, length - (size_t)(colon + 1 - decoded), token);
}

int sl_request_is_same_origin(const char *origin, const char *host) {
  if (!origin) return 1;
  const char *colon = strstr(origin, "://");
  return colon && host && strcasecmp(colon + 3, host) == 0;
}

int sl_request_is_by_address(const char *host) {
  if (!host) return 0;
  const size_t length = strcspn(host, ":");
  const int is_localhost = length == strlen("localhost") && strncasecmp(host, "localhost", length) == 0;
  return is_localhost || host[0] == '[' || (length > 0 && strspn(host, "0123456789.") >= length);
}
