/* http.c: see http.h.
 *
 * One thread answers all requests from published texts, so that neither their number nor slow clients cost the run
 * anything but processor time of the lowest priority. Longer work is done in a second thread, while its connection is
 * suspended. At most CONNECTIONS_MAX clients are connected; a connection without traffic ends after IDLE_SECONDS.
 */
#include "serve/http.h"

#include "base/clock.h"
#include "base/json.h"
#include "results/drawings.h"
#include "serve/library.h"
#include "serve/request.h"
#include "sl_page_html.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { CONNECTIONS_MAX = 256, IDLE_SECONDS = 20, CONNECTION_BYTES = 32 * 1024, BODY_MAX = 4 << 20 };

static const char policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'";

/* A request, from its headers until it is answered. */
struct request {
  struct sl_http *http;
  struct MHD_Connection *connection;
  struct sl_route route;
  unsigned refused; /* HTTP status, or 0 */
  const char *reason;
  char *body;
  size_t bytes, allocated;
  int has_started; /* its work */
  unsigned status; /* of the work, and its answer */
  char *answer;
};

static const char *header_of(const struct request *r, const char *name) {
  return r->http->library->lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* ------------------------------------------------------------------------------------------------ access */

static void refuse(struct request *r, unsigned status, const char *reason) {
  r->refused = status;
  r->reason = reason;
}

static void check_access(struct request *r) {
  const struct sl_http *h = r->http;
  const char *host = header_of(r, "Host");
  if (r->route.changes || h->needs_token) {
    if (!*h->token)
      refuse(r, MHD_HTTP_FORBIDDEN, "the run was started without --token-file, so that nothing can be changed");
    else if (!sl_request_has_token(header_of(r, "Authorization"), h->token))
      refuse(r, MHD_HTTP_UNAUTHORIZED, "this request needs the token: Authorization: Bearer TOKEN");
    else if (r->route.changes && !sl_request_is_same_origin(header_of(r, "Origin"), host))
      refuse(r, MHD_HTTP_FORBIDDEN, "a page of another site sent this request");
  } else if (!sl_request_is_by_address(host)) {
    refuse(r, MHD_HTTP_FORBIDDEN, "address this server as localhost or by its address, or run it with --token-file");
  }
  if (!r->refused && r->route.kind == SL_ROUTE_NOT_FOUND) refuse(r, MHD_HTTP_NOT_FOUND, "there is no such page");
  if (!r->refused && r->route.kind == SL_ROUTE_WRONG_METHOD)
    refuse(r, MHD_HTTP_METHOD_NOT_ALLOWED, "this page does not take this method");
}

/* ------------------------------------------------------------------------------------------------ answers */

struct kept_text {
  struct sl_texts *texts;
  struct sl_page_text *text;
};

static void release(void *context) {
  struct kept_text *kept = context;
  sl_text_release(kept->texts, kept->text);
  free(kept);
}

/* Sends a response, which it takes; NULL: out of memory. */
static enum MHD_Result answer(const struct request *r, unsigned status, const char *type,
                              struct MHD_Response *response) {
  const struct sl_mhd_library *mhd = r->http->library;
  if (!response) return MHD_NO; /* ends the connection */
  mhd->add_response_header(response, "Content-Type", type);
  mhd->add_response_header(response, "Cache-Control", "no-store");
  mhd->add_response_header(response, "X-Content-Type-Options", "nosniff");
  const enum MHD_Result result = mhd->queue_response(r->connection, status, response);
  mhd->destroy_response(response);
  return result;
}

/* Sends a JSON text, which it takes. */
static enum MHD_Result answer_json(const struct request *r, unsigned status, char *text) {
  const struct sl_mhd_library *mhd = r->http->library;
  struct MHD_Response *response =
      text ? mhd->create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE) : NULL;
  if (text && !response) free(text);
  if (response && status == MHD_HTTP_UNAUTHORIZED) /* a browser asks for a password only for Basic */
    mhd->add_response_header(response, "WWW-Authenticate",
                             r->route.changes ? "Bearer realm=\"Sluice\"" : "Basic realm=\"Sluice\"");
  if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED) mhd->add_response_header(response, "Allow", r->route.allow);
  return answer(r, status, "application/json", response);
}

char *sl_http_error_text(const char *reason) {
  struct sl_json j;
  sl_json_begin(&j);
  j.one_line = 1;
  sl_json_begin_object(&j, NULL);
  sl_json_string(&j, "error", reason);
  sl_json_end_object(&j);
  const char *text = sl_json_text(&j);
  char *copy = text ? strdup(text) : NULL;
  sl_json_free(&j);
  return copy;
}

static enum MHD_Result answer_error(const struct request *r, unsigned status, const char *reason) {
  return answer_json(r, status, sl_http_error_text(reason));
}

static enum MHD_Result answer_page(const struct request *r) {
  const struct sl_mhd_library *mhd = r->http->library;
  struct MHD_Response *response =
      mhd->create_response_from_buffer(sizeof sl_page_html - 1, (void *)sl_page_html, MHD_RESPMEM_PERSISTENT);
  if (response) mhd->add_response_header(response, "Content-Security-Policy", policy);
  return answer(r, MHD_HTTP_OK, r->route.type, response);
}

static enum MHD_Result answer_text(const struct request *r) {
  const struct sl_mhd_library *mhd = r->http->library;
  struct sl_page_text *text = sl_texts_get(r->http->texts, r->route.text);
  if (!text) return answer_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no run, or it has none of this");
  char etag[32], age[32];
  snprintf(etag, sizeof etag, "\"%llu\"", (unsigned long long)text->serial);
  snprintf(age, sizeof age, "%.1f", (double)(sl_now_ns() - text->made_ns) * 1e-9);
  const char *known = header_of(r, "If-None-Match");
  const int is_known = known && strcmp(known, etag) == 0;
  struct kept_text *kept = is_known ? NULL : malloc(sizeof *kept);
  struct MHD_Response *response;
  if (kept) {
    *kept = (struct kept_text){r->http->texts, text};
    response = mhd->create_response_from_buffer_with_free_callback_cls(text->bytes, text->data, release, kept);
    if (!response) release(kept);
  } else {
    sl_text_release(r->http->texts, text);
    response = is_known ? mhd->create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT) : NULL;
  }
  if (response) {
    mhd->add_response_header(response, "ETag", etag);
    mhd->add_response_header(response, "X-Sluice-Age", age);
  }
  return answer(r, is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r->route.type, response);
}

static void release_drawing(void *drawing) { sl_drawing_release(drawing); }

static const char *argument_of(const struct request *r, const char *name) {
  const char *value = r->http->library->lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
  return value && *value ? value : NULL;
}

static enum MHD_Result answer_drawing(const struct request *r, struct sl_drawing *drawing) {
  const struct sl_mhd_library *mhd = r->http->library;
  char event[48], serial[24];
  struct MHD_Response *response =
      mhd->create_response_from_buffer_with_free_callback_cls(drawing->bytes, drawing->text, release_drawing, drawing);
  if (!response) {
    sl_drawing_release(drawing);
    return MHD_NO;
  }
  snprintf(event, sizeof event, "%u:%llu", drawing->run, (unsigned long long)drawing->event);
  snprintf(serial, sizeof serial, "%llu", (unsigned long long)drawing->serial);
  mhd->add_response_header(response, "X-Sluice-Event", event);
  mhd->add_response_header(response, "X-Sluice-Serial", serial);
  return answer(r, MHD_HTTP_OK, r->route.type, response);
}

/* The newest drawing, if there is one after that of the argument `after`. */
static enum MHD_Result answer_event(const struct request *r) {
  const struct sl_http *h = r->http;
  const char *after = argument_of(r, "after");
  struct sl_drawing *drawing = NULL;
  const int status = h->draw(h->context, argument_of(r, "sink"), argument_of(r, "name"),
                             after ? strtoull(after, NULL, 10) : 0, &drawing);
  if (status == 1) return answer_drawing(r, drawing);
  if (status == 0)
    return answer(r, MHD_HTTP_NO_CONTENT, r->route.type,
                  h->library->create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT));
  return answer_error(r, MHD_HTTP_NOT_FOUND,
                      status == SL_EPLUGIN  ? "the sink failed to draw an event, and draws no more"
                      : status == SL_EINVAL ? "no such sink of the graph draws events, or there is no such name"
                                            : "there is no run");
}

static enum MHD_Result acknowledge(const struct request *r) {
  if (!sl_alarm_acknowledge(r->http->alarms, r->route.id))
    return answer_error(r, MHD_HTTP_NOT_FOUND, "there is no such alarm");
  return answer_json(r, MHD_HTTP_OK, strdup("{\"ok\": true}"));
}

/* ------------------------------------------------------------------------------------------------ work */

static void do_work(void *argument) {
  struct request *r = argument;
  struct sl_http *h = r->http;
  r->status = h->work(h->context, r->route.kind, r->body ? r->body : "", r->bytes, &r->answer);
  atomic_store(&h->worker.is_busy, 0); /* before the client has the answer and asks again */
  h->library->resume_connection(r->connection);
}

/* Starts a thread for the request. Returns 0 if there is none. */
static int start_worker(struct request *r) {
  struct sl_http *h = r->http;
  int is_started = 0;
  pthread_mutex_lock(&h->worker.lock);
  if (!h->worker.has_ended) {
    sl_thread_join(&h->worker.thread); /* of the work before, which is done */
    h->library->suspend_connection(r->connection);
    is_started = sl_thread_start(&h->worker.thread, do_work, r) == 0;
    if (!is_started) h->library->resume_connection(r->connection);
  }
  pthread_mutex_unlock(&h->worker.lock);
  return is_started;
}

/* Starts the work and suspends the connection; called again when the work is done. */
static enum MHD_Result work(struct request *r) {
  if (r->has_started) {
    char *text = r->answer;
    r->answer = NULL;
    return r->route.kind == SL_ROUTE_TEXT && r->status == MHD_HTTP_OK ? answer_text(r)
                                                                      : answer_json(r, r->status, text);
  }
  if (atomic_exchange(&r->http->worker.is_busy, 1))
    return answer_error(r, MHD_HTTP_CONFLICT, "another such request is being answered; try again");
  r->has_started = 1;
  if (start_worker(r)) return MHD_YES;
  atomic_store(&r->http->worker.is_busy, 0);
  r->status = MHD_HTTP_SERVICE_UNAVAILABLE;
  r->answer = sl_http_error_text("no thread could be started");
  return MHD_YES; /* called again, since the connection was resumed */
}

/* The drawing of the graph is made when it is asked for. */
static int is_missing_drawing(const struct request *r) {
  if (r->route.kind != SL_ROUTE_TEXT || r->route.text != SL_TEXT_GRAPH || r->has_started) return r->has_started;
  struct sl_page_text *text = sl_texts_get(r->http->texts, SL_TEXT_GRAPH);
  if (text) sl_text_release(r->http->texts, text);
  return !text;
}

/* ------------------------------------------------------------------------------------------------ requests */

static void take_body(struct request *r, const char *data, size_t bytes) {
  if (r->refused) return;
  if (r->bytes + bytes > BODY_MAX) {
    refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "a change has at most 4 MiB");
    return;
  }
  if (r->bytes + bytes + 1 > r->allocated) {
    const size_t allocated = 2 * (r->bytes + bytes) + 1;
    char *grown = realloc(r->body, allocated);
    if (!grown) {
      refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
      return;
    }
    r->body = grown;
    r->allocated = allocated;
  }
  memcpy(r->body + r->bytes, data, bytes);
  r->bytes += bytes;
  r->body[r->bytes] = '\0';
}

static struct request *begin(struct sl_http *h, struct MHD_Connection *connection, const char *method,
                             const char *path) {
  struct request *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->http = h;
  r->connection = connection;
  r->route = sl_route_of(method, path);
  check_access(r);
  return r;
}

/* The thread that answers gives way to all threads of the run. */
static void lower_priority(void) {
  static _Thread_local int is_lowered;
  if (!is_lowered) (void)setpriority(PRIO_PROCESS, 0, 19);
  is_lowered = 1;
}

/* Called for the headers of a request, for each part of its body, and at its end. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *data, size_t *bytes, void **state) {
  struct request *r = *state;
  (void)version;
  if (!r) {
    lower_priority();
    *state = begin(context, connection, method, path);
    return *state ? MHD_YES : MHD_NO;
  }
  if (*bytes > 0) {
    take_body(r, data, *bytes);
    *bytes = 0;
    return MHD_YES;
  }
  if (r->refused) return answer_error(r, r->refused, r->reason);
  if (r->route.kind == SL_ROUTE_PAGE) return answer_page(r);
  if (r->route.kind == SL_ROUTE_CONFIG || is_missing_drawing(r)) return work(r);
  if (r->route.kind == SL_ROUTE_TEXT) return answer_text(r);
  if (r->route.kind == SL_ROUTE_ACKNOWLEDGE) return acknowledge(r);
  return answer_event(r);
}

static void end(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
  struct request *r = *state;
  (void)context, (void)connection, (void)code;
  if (!r) return;
  free(r->body);
  free(r->answer);
  free(r);
  *state = NULL;
}

/* ------------------------------------------------------------------------------------------------ the thread */

/* The library would write its messages, about wrong requests, to standard error. */
static void ignore_message(void *context, const char *format, va_list arguments) {
  (void)context, (void)format, (void)arguments;
}

static struct MHD_Daemon *start(struct sl_http *h, const struct sl_address *a) {
  const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (a->is_v6 ? MHD_USE_IPv6 : 0);
  return h->library->start_daemon(
      flags, 0, NULL, NULL, handle, h, MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL, MHD_OPTION_SOCK_ADDR,
      &a->socket.any, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
      (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_COMPLETED,
      end, NULL, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
}

int sl_http_start(struct sl_http *h, struct sl_address *a, char *reason, size_t reason_size) {
  pthread_mutex_init(&h->worker.lock, NULL);
  h->library = sl_mhd_library(reason, reason_size);
  if (!h->library) return SL_EIO;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are for the threads of the program */
  errno = 0;
  h->daemon = start(h, a);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!h->daemon) {
    snprintf(reason, reason_size, "%s", error ? strerror(error) : "the server could not be started");
    return SL_EIO;
  }
  const union MHD_DaemonInfo *info = h->library->get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
  if (info) sl_address_set_port(a, info->port);
  return SL_OK;
}

void sl_http_stop(struct sl_http *h) {
  if (!h->daemon) return;
  pthread_mutex_lock(&h->worker.lock);
  h->worker.has_ended = 1;
  pthread_mutex_unlock(&h->worker.lock);
  sl_thread_join(&h->worker.thread); /* no connection may be suspended when the daemon ends */
  h->library->stop_daemon(h->daemon);
  pthread_mutex_destroy(&h->worker.lock);
}
