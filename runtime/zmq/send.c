/* send.c: an output: the transport under sl_output (base/output.h). Whole events become one message at a time, which
 * goes to the next receiver that has room.
 *
 *   1. Wait until a receiver has room: its queue is not full. A note is reported if there is no receiver for a second.
 *   2. At the end, send an end message to each receiver, and wait until libzmq and the operating system have passed on
 *      all bytes. libzmq drops what a closed connection still holds, at both ends.
 *   3. If the run is stopped or has failed, give up after two seconds without progress; messages that were not sent are
 *      counted. A failed run sends no end messages.
 */
#include "base/clock.h"
#include "zmq/message.h"
#include "zmq/socket.h"

#include <inttypes.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>

enum { RECEIVERS_MAX = 64, WAIT_MS = 50, DRAIN_TRY_MS = 1 };
#define NOTE_NS    1000000000u /* without a receiver, before a note */
#define GRACE_NS   1000000000u /* for receivers that are not connected at the end */
#define STOPPED_NS 2000000000u /* without room after a stop */

/* The payload of an end message. libzmq copies short frames, and frees them before they are written; a frame of this
 * size is written from its own memory, so that its release shows that all frames before it have left the process. */
enum { END_BYTES = 1 << 15 };

struct receiver {
  struct sl_zmq_socket socket;
  uint64_t sender, sequence;
  int has_end; /* was sent its end */
};

struct output {
  struct sl_zmq *hub;
  sl_output_report *say;
  void *context;
  char *name;
  struct receiver *receivers;
  uint32_t count, next;
  uint64_t wait_ns; /* begin of the present wait */
  uint64_t stop_ns; /* when the run was found to be stopped; 0: it was not */
  int is_noted;     /* during the present wait */
  int has_finished, is_closing, has_given_up;
};

static const char *name_of(const struct receiver *r) { return r->socket.link->name; }

/* ------------------------------------------------------------------------------------------------- receivers */

/* Reads the events of connections. Returns the number of receivers that are connected. */
static uint32_t update_connections(struct output *o) {
  uint32_t connected = 0;
  int descriptor;
  for (uint32_t i = 0; i < o->count; i++) {
    struct receiver *r = &o->receivers[i];
    for (int event; (event = sl_zmq_socket_event(&r->socket, &descriptor)) != 0;)
      if (event < 0 && r->sequence > 0 && !r->has_end)
        o->say(o->context, SL_WARNING, "%s: the receiver was disconnected; messages that it had not processed are lost",
               name_of(r));
    connected += r->socket.is_connected != 0;
  }
  return connected;
}

/* Waits up to `wait_ms` for room: the next receiver that has room, `only` if that is not negative; or -1. */
static int poll_room(struct output *o, int only, long wait_ms) {
  zmq_pollitem_t items[RECEIVERS_MAX];
  const uint32_t first = only < 0 ? 0 : (uint32_t)only, count = only < 0 ? o->count : 1;
  for (uint32_t i = 0; i < count; i++)
    items[i] = (zmq_pollitem_t){.socket = o->receivers[first + i].socket.socket, .events = ZMQ_POLLOUT};
  if (o->receivers[0].socket.zmq->poll(items, (int)count, wait_ms) <= 0) return -1;
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t i = (o->next + k) % count;
    if (items[i].revents & ZMQ_POLLOUT) return (int)(first + i);
  }
  return -1;
}

static void begin_wait(struct output *o) {
  o->wait_ns = sl_now_ns();
  o->is_noted = 0;
}

/* Returns 1 if the run was stopped or has failed, and nothing has moved for two seconds. Reports that there is no
 * receiver. */
static int is_hopeless(struct output *o, uint32_t connected) {
  const uint64_t now = sl_now_ns(), waited = now - o->wait_ns;
  if (o->stop_ns == 0 && (o->is_closing || atomic_load(o->hub->stopped))) o->stop_ns = now;
  if (o->stop_ns > 0 && waited > STOPPED_NS && now - o->stop_ns > STOPPED_NS) o->has_given_up = 1;
  if (connected == 0 && waited > NOTE_NS && !o->is_noted) {
    o->say(o->context, SL_NOTE, "%s: no receiver is connected; waiting for one", o->name);
    o->is_noted = 1;
  }
  return o->has_given_up;
}

/* Waits for room of any receiver, or of receiver `only` while it is connected: its index, or -1. */
static int await_room(struct output *o, int only) {
  uint32_t connected = update_connections(o);
  int found = poll_room(o, only, 0);
  if (found >= 0) return found;
  begin_wait(o);
  while (found < 0 && !is_hopeless(o, connected)) {
    if (only >= 0 && !o->receivers[only].socket.is_connected) break;
    found = poll_room(o, only, WAIT_MS);
    connected = update_connections(o);
  }
  for (uint32_t i = 0; i < o->count; i++)
    atomic_fetch_add(&o->receivers[i].socket.link->waited_ns, sl_now_ns() - o->wait_ns);
  return found;
}

/* ------------------------------------------------------------------------------------------------- messages */

/* Called by a thread of libzmq. */
static void release_frame(void *data, void *hint) {
  struct sl_zmq_link *link = hint;
  free(data);
  atomic_fetch_sub(&link->queued, 1);
}

/* Passes a frame to libzmq, which frees it: 0, or -1 if it is not taken. */
static int send_frame(struct receiver *r, unsigned char *data, size_t bytes, int flags) {
  const struct sl_zmq_library *zmq = r->socket.zmq;
  zmq_msg_t frame;
  atomic_fetch_add(&r->socket.link->queued, 1);
  if (zmq->msg_init_data(&frame, data, bytes, release_frame, r->socket.link) != 0) {
    release_frame(data, r->socket.link);
    return -1;
  }
  if (zmq->msg_send(&frame, r->socket.socket, flags | ZMQ_DONTWAIT) >= 0) return 0;
  (void)zmq->msg_close(&frame);
  return -1;
}

/* Sends a message to a receiver that has room: 1, 0 if it has lost its room, or SL_ENOMEM. Takes over the payload only
 * with 1. */
static int send_message(struct receiver *r, uint32_t kind, unsigned char *payload, size_t bytes, uint64_t events) {
  const struct sl_zmq_message m = {kind, r->sender, r->sequence, events, bytes};
  unsigned char *header = malloc(SL_ZMQ_HEADER_BYTES);
  if (!header) return SL_ENOMEM;
  sl_zmq_encode(&m, header);
  if (send_frame(r, header, SL_ZMQ_HEADER_BYTES, ZMQ_SNDMORE) != 0) return 0;
  (void)send_frame(r, payload, bytes, 0); /* fails only if the receiver has gone, which its event reports */
  r->sequence++;
  atomic_fetch_add(&r->socket.link->messages, 1);
  if (kind == SL_ZMQ_END) return 1;
  atomic_fetch_add(&r->socket.link->bytes, bytes);
  atomic_fetch_add(&r->socket.link->events, events);
  return 1;
}

static int send_events(void *transport, const void *data, uint64_t bytes, uint64_t events) {
  struct output *o = transport;
  if (bytes > SL_ZMQ_PAYLOAD_MAX) {
    o->say(o->context, SL_ERROR,
           "%s: %" PRIu64 " bytes without the end of an event are more than the %" PRId32
           " of a message; a smaller packing factor makes shorter messages",
           o->name, bytes, SL_ZMQ_PAYLOAD_MAX);
    return SL_EIO;
  }
  unsigned char *payload = malloc(bytes + 1);
  if (!payload) return SL_ENOMEM;
  memcpy(payload, data, bytes);
  int sent = 0;
  while (sent == 0 && !o->has_given_up) {
    const int to = await_room(o, -1);
    if (to < 0) continue;
    sent = send_message(&o->receivers[to], SL_ZMQ_DATA, payload, bytes, events);
    o->next = (uint32_t)to + 1;
  }
  if (sent <= 0) free(payload);
  if (sent == 0) atomic_fetch_add(&o->receivers[0].socket.link->unsent, 1);
  return sent < 0 ? sent : SL_OK;
}

/* --------------------------------------------------------------------------------------------------- the end */

/* Waits until all receivers are connected, for a second, or until one of them is. */
static void await_receivers(struct output *o) {
  uint32_t connected;
  begin_wait(o);
  while ((connected = update_connections(o)) < o->count && !is_hopeless(o, connected)) {
    if (connected > 0 && sl_now_ns() - o->wait_ns > GRACE_NS) break;
    (void)poll_room(o, -1, connected > 0 ? 0 : WAIT_MS);
    nanosleep(&(struct timespec){0, DRAIN_TRY_MS * 1000000}, NULL);
  }
}

static int send_end(struct output *o, uint32_t index) {
  struct receiver *r = &o->receivers[index];
  int sent = 0;
  while (sent == 0 && r->socket.is_connected && await_room(o, (int)index) >= 0) {
    unsigned char *payload = calloc(1, END_BYTES);
    sent = payload ? send_message(r, SL_ZMQ_END, payload, END_BYTES, 0) : SL_ENOMEM;
    if (sent <= 0) free(payload);
  }
  r->has_end = sent == 1;
  if (sent == 0 && !o->has_given_up)
    o->say(o->context, SL_WARNING, "%s: no receiver is connected, so it gets no end message", name_of(r));
  return sent < 0 ? sent : SL_OK;
}

/* Returns the number of bytes that the connection holds: until the machine of the receiver, or on one machine its
 * process, has taken them. */
static uint64_t bytes_on_the_way(const struct sl_zmq_socket *s) {
  int bytes = 0;
  return s->is_connected && ioctl(s->descriptor, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

/* Returns a number that changes while frames are passed on, and is 0 when all are. */
static uint64_t left_to_pass_on(const struct output *o) {
  uint64_t left = 0;
  for (uint32_t i = 0; i < o->count; i++)
    left +=
        ((uint64_t)atomic_load(&o->receivers[i].socket.link->queued) << 32) + bytes_on_the_way(&o->receivers[i].socket);
  return left;
}

/* Waits until all frames are passed on. */
static void drain(struct output *o) {
  uint64_t before = UINT64_MAX, left;
  while ((left = left_to_pass_on(o)) > 0 && !o->has_given_up) {
    if (left != before) begin_wait(o);
    before = left;
    (void)is_hopeless(o, update_connections(o));
    nanosleep(&(struct timespec){0, DRAIN_TRY_MS * 1000000}, NULL);
  }
}

static void report_unsent(struct output *o) {
  uint64_t unsent = 0;
  for (uint32_t i = 0; i < o->count; i++) {
    struct sl_zmq_link *link = o->receivers[i].socket.link;
    atomic_fetch_add(&link->unsent, (atomic_load(&link->queued) + 1) / 2);
    unsent += atomic_load(&link->unsent);
  }
  if (unsent > 0)
    o->say(o->context, SL_WARNING, "%s: the run ends, and %" PRIu64 " messages were not sent", o->name, unsent);
}

static int finish(void *transport) {
  struct output *o = transport;
  int status = SL_OK;
  o->has_finished = 1;
  if (!o->has_given_up) await_receivers(o);
  for (uint32_t i = 0; i < o->count && status == SL_OK; i++) status = send_end(o, i);
  if (status == SL_OK) drain(o);
  report_unsent(o);
  return status;
}

static void close_output(void *transport) {
  struct output *o = transport;
  o->is_closing = 1;
  if (!o->has_finished) {
    drain(o);
    report_unsent(o);
  }
  for (uint32_t i = 0; i < o->count; i++) sl_zmq_socket_close(&o->receivers[i].socket);
  free(o->receivers);
  free(o->name);
  free(o);
}

/* ------------------------------------------------------------------------------------------------- opening */

static int open_receiver(struct output *o, const char *name, size_t bytes) {
  char reason[192];
  struct receiver *r = &o->receivers[o->count++];
  struct sl_zmq_link *link = sl_zmq_add_link(o->hub, name, bytes, 0);
  if (!link) return SL_ENOMEM;
  if (getrandom(&r->sender, sizeof r->sender, 0) != sizeof r->sender) r->sender = sl_now_ns();
  const int status = sl_zmq_socket_open(o->hub, &r->socket, ZMQ_PUSH, link, reason, sizeof reason);
  if (status == SL_EINVAL) o->say(o->context, SL_ERROR, "%s: %s", link->name, reason);
  return status;
}

/* "zmq:A,B": the receivers zmq:A and zmq:B. */
static int open_receivers(struct output *o) {
  uint32_t count = 1;
  for (const char *c = o->name; *c; c++) count += *c == ',';
  if (count > RECEIVERS_MAX) {
    o->say(o->context, SL_ERROR, "%s: %u receivers are more than %d", o->name, count, RECEIVERS_MAX);
    return SL_EINVAL;
  }
  o->receivers = calloc(count, sizeof *o->receivers);
  char *name = malloc(strlen(o->name) + 8);
  int status = o->receivers && name ? SL_OK : SL_ENOMEM;
  for (const char *at = o->name; status == SL_OK; at++) {
    const size_t bytes = strcspn(at, ",");
    const int length = snprintf(name, strlen(o->name) + 8, "%s%.*s", at == o->name ? "" : "zmq:", (int)bytes, at);
    status = open_receiver(o, name, (size_t)length);
    at += bytes;
    if (!*at) break;
  }
  free(name);
  return status;
}

int sl_zmq_open_output(struct sl_zmq *z, const char *name, sl_output_report *say, void *context,
                       struct sl_output **file) {
  static const struct sl_output_transport transport = {send_events, finish, close_output};
  struct output *o = calloc(1, sizeof *o);
  *file = NULL;
  if (!o) return SL_ENOMEM;
  o->hub = z;
  o->say = say;
  o->context = context;
  o->name = strdup(name);
  int status = o->name ? open_receivers(o) : SL_ENOMEM;
  if (status == SL_OK) status = sl_output_open_over(&transport, o, name, say, context, file);
  if (status != SL_OK) close_output(o);
  return status;
}
