/* request.h: what an HTTP request asks for, and whether it may. Functions of texts only, which may be anything. */
#ifndef SL_SERVE_REQUEST_H
#define SL_SERVE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

enum {
  SL_ROUTE_PAGE,
  SL_ROUTE_TEXT,        /* `text`: SL_TEXT_... (texts.h) */
  SL_ROUTE_EVENT,       /* /event.svg */
  SL_ROUTE_CONFIG,      /* POST /config */
  SL_ROUTE_ACKNOWLEDGE, /* POST /alarms/ID/acknowledge */
  SL_ROUTE_NOT_FOUND,
  SL_ROUTE_WRONG_METHOD
};

enum { SL_ID_BYTES = 160 };
struct sl_route {
  uint32_t kind, text;
  uint32_t changes; /* it changes something: it needs the token */
  const char *type; /* of the content of an answer to GET */
  const char *allow;
  char id[SL_ID_BYTES]; /* of an alarm */
};
struct sl_route sl_route_of(const char *method, const char *path);

/* Returns 1 if the header is "Bearer TOKEN", or "Basic" with the token as the password of any user. The time does not
 * depend on where a wrong token differs. `header` NULL: there is none. */
int sl_request_has_token(const char *header, const char *token);

/* Returns 1 unless a page of another site makes a browser send the request: `origin` is the header Origin, which
 * browsers add to such requests, `host` the header Host; NULL if there is none. */
int sl_request_is_same_origin(const char *origin, const char *host);

/* Returns 1 if the header Host names this machine by an address or as localhost: with a name, a page of
 * another site could read the answer in a browser. */
int sl_request_is_by_address(const char *host);

#endif
