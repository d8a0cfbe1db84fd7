/* hub.c: sockets and links; see hub.h and socket.h. */
#define _GNU_SOURCE
#include "zmq/hub.h"

#include "zmq/message.h"
#include "zmq/socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sl_zmq_link *sl_zmq_add_link(struct sl_zmq *z, const char *name, size_t name_bytes, int is_input) {
  struct sl_zmq_link *link = calloc(1, sizeof *link);
  if (!link) return NULL;
  link->name = strndup(name, name_bytes);
  if (!link->name) {
    free(link);
    return NULL;
  }
  link->is_input = is_input;
  if (!z->links) z->links_end = &z->links;
  *z->links_end = link;
  z->links_end = &link->next;
  return link;
}

static int fail(const struct sl_zmq_socket *s, const char *step, char *reason, size_t size) {
  const int error = errno;
  const char *hint = error == ENODEV         ? "; an input binds to an address of this machine, or to * for all"
                     : error == EADDRINUSE   ? "; another process has it"
                     : error == EINVAL       ? "; it is written tcp://HOST:PORT or ipc://FILE"
                     : error == ENAMETOOLONG ? "; ipc:// takes paths of about 100 bytes"
                                             : "";
  snprintf(reason, size, "cannot %s: %s%s", step, s->zmq->strerror(error), hint);
  return error == ENOMEM ? SL_ENOMEM : SL_EINVAL;
}

static int set(const struct sl_zmq_socket *s, int option, int value) {
  return s->zmq->setsockopt(s->socket, option, &value, sizeof value);
}

/* Keep-alive probes of TCP find machines that have vanished. (Heartbeats of ZeroMQ would also cut the connection to a
 * receiver that is slow, with the messages on it.) */
static int set_options(const struct sl_zmq_socket *s, const char *endpoint) {
  const int64_t most = SL_ZMQ_PAYLOAD_MAX;
  int failed = set(s, ZMQ_LINGER, 0) | set(s, ZMQ_SNDHWM, SL_ZMQ_QUEUE_MESSAGES) |
               set(s, ZMQ_RCVHWM, SL_ZMQ_QUEUE_MESSAGES) | set(s, ZMQ_IMMEDIATE, 1) | set(s, ZMQ_TCP_KEEPALIVE, 1) |
               set(s, ZMQ_TCP_KEEPALIVE_IDLE, 60) | set(s, ZMQ_TCP_KEEPALIVE_INTVL, 10) |
               set(s, ZMQ_TCP_KEEPALIVE_CNT, 6);
  if (strchr(endpoint, '[')) failed |= set(s, ZMQ_IPV6, 1);
  return failed | s->zmq->setsockopt(s->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
}

static int open_monitor(struct sl_zmq *z, struct sl_zmq_socket *s) {
  char address[64];
  snprintf(address, sizeof address, "inproc://monitor-%p", s->socket);
  if (s->zmq->socket_monitor(s->socket, address,
                             ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED))
    return -1;
  s->monitor = s->zmq->socket(z->context, ZMQ_PAIR);
  const int linger = 0;
  return !s->monitor || s->zmq->setsockopt(s->monitor, ZMQ_LINGER, &linger, sizeof linger) ||
                 s->zmq->connect(s->monitor, address)
             ? -1
             : 0;
}

int sl_zmq_socket_open(struct sl_zmq *z, struct sl_zmq_socket *s, int type, struct sl_zmq_link *link, char *reason,
                       size_t reason_size) {
  int binds;
  const char *wrong, *endpoint = sl_zmq_endpoint(link->name, link->is_input, &binds, &wrong);
  *s = (struct sl_zmq_socket){.link = link, .descriptor = -1};
  if (!endpoint) {
    snprintf(reason, reason_size, "%s", wrong);
    return SL_EINVAL;
  }
  s->zmq = sl_zmq_library(reason, reason_size);
  if (!s->zmq) return SL_EINVAL;
  if (!z->context) z->context = s->zmq->ctx_new();
  if (z->context) s->socket = s->zmq->socket(z->context, type);
  if (!s->socket) return fail(s, "make a socket", reason, reason_size);
  if (set_options(s, endpoint)) return fail(s, "set the options of the socket", reason, reason_size);
  if (open_monitor(z, s)) return fail(s, "watch the socket", reason, reason_size);
  if (binds ? s->zmq->bind(s->socket, endpoint) : s->zmq->connect(s->socket, endpoint))
    return fail(s, binds ? "bind" : "connect", reason, reason_size);
  return SL_OK;
}

void sl_zmq_socket_close(struct sl_zmq_socket *s) {
  if (s->monitor) {
    (void)s->zmq->socket_monitor(s->socket, NULL, 0);
    (void)s->zmq->close(s->monitor);
  }
  if (s->socket) (void)s->zmq->close(s->socket);
  s->socket = s->monitor = NULL;
}

int sl_zmq_socket_event(struct sl_zmq_socket *s, int *descriptor) {
  zmq_msg_t event, address;
  uint16_t kind = 0;
  int32_t value = -1;
  (void)s->zmq->msg_init(&event);
  int got = s->zmq->msg_recv(&event, s->monitor, ZMQ_DONTWAIT);
  if (got >= (int)(sizeof kind + sizeof value)) {
    memcpy(&kind, s->zmq->msg_data(&event), sizeof kind);
    memcpy(&value, (const char *)s->zmq->msg_data(&event) + sizeof kind, sizeof value);
  }
  if (got >= 0 && s->zmq->msg_more(&event)) {
    (void)s->zmq->msg_init(&address);
    (void)s->zmq->msg_recv(&address, s->monitor, 0);
    (void)s->zmq->msg_close(&address);
  }
  (void)s->zmq->msg_close(&event);
  *descriptor = value;
  if (got < 0) return 0;
  if (kind == ZMQ_EVENT_CONNECTED) s->descriptor = value;
  s->is_connected = kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
  return kind == ZMQ_EVENT_DISCONNECTED ? -1 : 1;
}

void sl_zmq_close(struct sl_zmq *z) {
  char reason[128];
  sl_zmq_stop_inputs(z);
  sl_zmq_free_receiver(z->receiver);
  const struct sl_zmq_library *zmq = z->context ? sl_zmq_library(reason, sizeof reason) : NULL;
  /* Frames that libzmq still holds refer to their link until the context has ended. */
  while (zmq && zmq->ctx_term(z->context) != 0 && errno == EINTR) continue;
  while (z->links) {
    struct sl_zmq_link *link = z->links;
    z->links = link->next;
    free(link->name);
    free(link);
  }
  *z = (struct sl_zmq){0};
}
