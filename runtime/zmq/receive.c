/* receive.c: the inputs. A thread receives messages, checks them, and writes their payloads to a pipe, which the source
 * of the run reads like any other pipe. A full pipe blocks the thread, then the queues of libzmq, then
 * the senders.
 *
 *   1. Events of connections: a closed connection marks its sender.
 *   2. Messages: wrong frames are refused, repeated messages dropped, missing ones counted.
 *   3. When no message is queued: senders that were disconnected before their end are reported as lost.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/thread.h"
#include "zmq/message.h"
#include "zmq/senders.h"
#include "zmq/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { INPUTS_MAX = 64, WAIT_MS = 50, PIPE_BYTES = 1 << 20 };

struct input {
  struct sl_zmq_socket socket;
  struct sl_zmq_senders senders;
};

struct sl_zmq_receiver {
  struct sl_zmq *hub;
  struct sl_thread thread;
  atomic_int stop;
  struct input *inputs;
  uint32_t count;
  int pipe[2];
  char path[40], *shown; /* of the pipe; the names of all inputs */
  const char *paths[2], *names[2];
  uint32_t senders_wanted;
  double until_idle;
  uint64_t begin_ns, last_ns; /* last_ns: time of the last message; 0: there was none */
  int waits_noted, has_header;
  unsigned char *header; /* of the file format */
  size_t header_bytes;
  uint64_t left_bytes; /* of a payload that was not written to the pipe */
};

static void warn(const struct sl_zmq_receiver *r, const struct input *in, const char *kind, const char *hint,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
static void warn(const struct sl_zmq_receiver *r, const struct input *in, const char *kind, const char *hint,
                 const char *format, ...) {
  char text[320];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sl_diagnose_often(r->hub->diagnostics, SL_WARNING, NULL, NULL, hint, kind, "%s: %s", in->socket.link->name, text);
}

/* ------------------------------------------------------------------------------------------------ the pipe */

/* Writes to the pipe: 1, or 0 if the run has ended. */
static int pass_on(struct sl_zmq_receiver *r, const unsigned char *data, size_t bytes) {
  while (bytes > 0) {
    struct pollfd room = {.fd = r->pipe[1], .events = POLLOUT};
    const ssize_t count = write(r->pipe[1], data, bytes);
    if (count > 0) {
      data += count;
      bytes -= (size_t)count;
    } else if (atomic_load(&r->stop) || (count < 0 && errno != EAGAIN && errno != EINTR)) {
      r->left_bytes = bytes;
      return 0;
    } else {
      (void)poll(&room, 1, WAIT_MS);
    }
  }
  return 1;
}

/* Passes on the first header of a file format. Later ones must be equal. */
static int take_header(struct sl_zmq_receiver *r, const struct input *in, const unsigned char *data, size_t bytes) {
  if (r->has_header) {
    if (bytes == r->header_bytes && (bytes == 0 || memcmp(data, r->header, bytes) == 0)) return 1;
    atomic_fetch_add(&in->socket.link->refused, 1);
    warn(r, in, "header", "all senders of a run must send data with the same header",
         "a sender began with another header than the first sender; the header is dropped");
    return 1;
  }
  r->header = malloc(bytes + 1);
  if (!r->header) return 0;
  memcpy(r->header, data, bytes);
  r->header_bytes = bytes;
  r->has_header = 1;
  return pass_on(r, data, bytes);
}

/* ------------------------------------------------------------------------------------------------ messages */

static void report_sender(const struct sl_zmq_receiver *r, const struct input *in, const struct sl_zmq_message *m,
                          const struct sl_zmq_finding *found) {
  struct sl_zmq_link *link = in->socket.link;
  if (found->is_new) {
    atomic_fetch_add(&link->senders, 1);
    if (found->missing)
      warn(r, in, "joined", NULL,
           "sender %016" PRIx64 " begins with message %" PRIu64 ": the messages before it went to an earlier receiver",
           m->sender, m->sequence);
    return;
  }
  if (found->is_repeated) {
    atomic_fetch_add(&link->repeated, 1);
    warn(r, in, "repeated", "a sender that begins again takes a new number, or begins with message 0",
         "sender %016" PRIx64 ": message %" PRIu64 " was received before, and is dropped", m->sender, m->sequence);
    return;
  }
  if (found->is_back)
    warn(r, in, "back", NULL, "sender %016" PRIx64 " is connected again, with message %" PRIu64, m->sender,
         m->sequence);
  if (!found->missing) return;
  atomic_fetch_add(&link->missing, found->missing);
  warn(r, in, "missing", NULL, "sender %016" PRIx64 ": %" PRIu64 " missing before message %" PRIu64, m->sender,
       found->missing, m->sequence);
}

/* Handles a sound message: 1, or 0 if the run has ended. */
static int take_message(struct sl_zmq_receiver *r, struct input *in, const struct sl_zmq_message *m, int connection,
                        const unsigned char *payload) {
  struct sl_zmq_link *link = in->socket.link;
  const struct sl_zmq_finding found = sl_zmq_senders_take(&in->senders, m, connection);
  report_sender(r, in, m, &found);
  if (found.is_repeated) return 1;
  atomic_fetch_add(&link->messages, 1);
  if (m->kind == SL_ZMQ_END) {
    atomic_fetch_add(&link->ended, 1);
    return 1;
  }
  atomic_fetch_add(&link->bytes, m->bytes);
  atomic_fetch_add(&link->events, m->events);
  if (m->kind == SL_ZMQ_HEADER) return take_header(r, in, payload, m->bytes);
  return pass_on(r, payload, m->bytes);
}

/* Receives the frames after the first, and keeps the second: the number of frames. */
static uint32_t receive_rest(const struct sl_zmq_socket *s, zmq_msg_t *first, zmq_msg_t *second) {
  uint32_t frames = 1;
  for (int more = s->zmq->msg_more(first); more; frames++) {
    zmq_msg_t other, *frame = frames == 1 ? second : &other;
    if (frames > 1) (void)s->zmq->msg_init(&other);
    more = s->zmq->msg_recv(frame, s->socket, 0) >= 0 && s->zmq->msg_more(frame);
    if (frames > 1) (void)s->zmq->msg_close(&other);
  }
  return frames;
}

/* Receives a message: 1, 0 if none is queued, or -1 if the run has ended. */
static int receive(struct sl_zmq_receiver *r, struct input *in) {
  const struct sl_zmq_library *zmq = in->socket.zmq;
  struct sl_zmq_message m;
  zmq_msg_t header, payload;
  (void)zmq->msg_init(&header);
  (void)zmq->msg_init(&payload);
  int result = zmq->msg_recv(&header, in->socket.socket, ZMQ_DONTWAIT) >= 0;
  if (result) {
    const uint32_t frames = receive_rest(&in->socket, &header, &payload);
    const int connection = zmq->msg_get(&header, ZMQ_SRCFD);
    const char *fault = sl_zmq_decode(&m, zmq->msg_data(&header), zmq->msg_size(&header), zmq->msg_size(&payload));
    if (frames != 2) fault = frames == 1 ? "it has one frame, not two" : "it has more than two frames";
    if (fault) {
      atomic_fetch_add(&in->socket.link->refused, 1);
      warn(r, in, fault, "docs/running.md describes the messages", "a message is refused: %s", fault);
    } else {
      if (!take_message(r, in, &m, connection, zmq->msg_data(&payload))) result = -1;
      r->last_ns = sl_now_ns(); /* time in which the pipe was full is not idle */
    }
  }
  (void)zmq->msg_close(&header);
  (void)zmq->msg_close(&payload);
  return result;
}

/* -------------------------------------------------------------------------------------------------- the thread */

static void read_events(struct sl_zmq_receiver *r) {
  int descriptor;
  for (uint32_t i = 0; i < r->count; i++)
    for (int event; (event = sl_zmq_socket_event(&r->inputs[i].socket, &descriptor)) != 0;)
      if (event < 0) sl_zmq_senders_cut(&r->inputs[i].senders, descriptor);
}

static void report_lost(struct sl_zmq_receiver *r) {
  const struct sl_zmq_sender *sender;
  for (uint32_t i = 0; i < r->count; i++)
    while ((sender = sl_zmq_senders_lost(&r->inputs[i].senders)) != NULL) {
      atomic_fetch_add(&r->inputs[i].socket.link->lost, 1);
      warn(r, &r->inputs[i], "lost", NULL,
           "sender %016" PRIx64 " was disconnected before its end, after message %" PRIu64
           ": it failed or was killed, or the network failed; messages in its queue are lost",
           sender->id, sender->next - 1);
    }
}

static int is_finished(struct sl_zmq_receiver *r) {
  const uint64_t now = sl_now_ns();
  uint64_t ended = 0;
  for (uint32_t i = 0; i < r->count; i++) ended += atomic_load(&r->inputs[i].socket.link->ended);
  if (r->senders_wanted > 0 && ended >= r->senders_wanted) return 1;
  if (r->last_ns == 0 && !r->waits_noted && now - r->begin_ns > 1000000000u) {
    r->waits_noted = 1;
    sl_diagnose(r->hub->diagnostics, SL_NOTE, NULL, NULL, NULL,
                "%s: no message yet; the run begins with the first one, which shows the format", r->shown);
  }
  return r->until_idle > 0 && r->last_ns > 0 && (double)(now - r->last_ns) * 1e-9 > r->until_idle;
}

/* Waits for messages and receives one from each input that has one: 1, 0 if there was none, or -1 if the run has ended.
 */
static int receive_some(struct sl_zmq_receiver *r) {
  zmq_pollitem_t items[INPUTS_MAX];
  int some = 0, result = 0;
  for (uint32_t i = 0; i < r->count; i++)
    items[i] = (zmq_pollitem_t){.socket = r->inputs[i].socket.socket, .events = ZMQ_POLLIN};
  if (r->inputs[0].socket.zmq->poll(items, (int)r->count, WAIT_MS) <= 0) return 0;
  for (uint32_t i = 0; i < r->count && result >= 0; i++) {
    if (!(items[i].revents & ZMQ_POLLIN)) continue;
    result = receive(r, &r->inputs[i]);
    some |= result > 0;
  }
  return result < 0 ? -1 : some;
}

static void run_receiver(void *argument) {
  struct sl_zmq_receiver *r = argument;
  int some = 1;
  while (some >= 0 && !atomic_load(&r->stop) && !is_finished(r)) {
    read_events(r);
    some = receive_some(r);
    if (some == 0) report_lost(r);
  }
  read_events(r);
  report_lost(r);
  close(r->pipe[1]);
  r->pipe[1] = -1;
}

/* ------------------------------------------------------------------------------------------- opening, closing */

static int open_input(struct sl_zmq *z, struct sl_zmq_receiver *r, const char *name) {
  char reason[192];
  struct sl_zmq_link *link = sl_zmq_add_link(z, name, strlen(name), 1);
  if (!link) return SL_ENOMEM;
  const int status = sl_zmq_socket_open(z, &r->inputs[r->count++].socket, ZMQ_PULL, link, reason, sizeof reason);
  if (status == SL_EINVAL) sl_diagnose(z->diagnostics, SL_ERROR, NULL, NULL, NULL, "-i %s: %s", name, reason);
  return status;
}

/* Opens the pipe. The reading end stays open until the run ends, so that no write ever finds the pipe without a reader,
 * which would raise SIGPIPE. */
static int open_pipe(struct sl_zmq_receiver *r) {
  if (pipe2(r->pipe, O_CLOEXEC) != 0) {
    sl_diagnose(r->hub->diagnostics, SL_ERROR, NULL, NULL, NULL, "cannot make a pipe: %s", strerror(errno));
    return SL_EIO;
  }
  (void)fcntl(r->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
  (void)fcntl(r->pipe[1], F_SETFL, O_NONBLOCK);
  snprintf(r->path, sizeof r->path, "/proc/self/fd/%d", r->pipe[0]);
  r->paths[0] = r->path;
  r->names[0] = r->shown;
  return SL_OK;
}

static char *join(const char *const *names) {
  size_t bytes = 1;
  for (uint32_t i = 0; names[i]; i++) bytes += strlen(names[i]) + 2;
  char *text = malloc(bytes), *end = text;
  for (uint32_t i = 0; text && names[i]; i++) end += sprintf(end, "%s%s", i ? ", " : "", names[i]);
  return text;
}

static int open_receiver(struct sl_zmq *z, const char *const *names) {
  struct sl_zmq_receiver *r = z->receiver;
  uint32_t count = 0;
  while (names[count]) count++;
  if (count > INPUTS_MAX) {
    sl_diagnose(z->diagnostics, SL_ERROR, NULL, NULL, NULL, "%u inputs by ZeroMQ are more than %d", count, INPUTS_MAX);
    return SL_EINVAL;
  }
  r->inputs = calloc(count + 1u, sizeof *r->inputs);
  r->shown = join(names);
  int status = r->inputs && r->shown ? open_pipe(r) : SL_ENOMEM;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) status = open_input(z, r, names[i]);
  if (status < 0) return status;
  r->begin_ns = sl_now_ns();
  const int error = sl_thread_start(&r->thread, run_receiver, r);
  if (error == 0) return SL_OK;
  sl_diagnose(z->diagnostics, SL_ERROR, NULL, NULL, NULL, "no thread could be started: %s", strerror(error));
  return SL_ENOMEM;
}

int sl_zmq_open_inputs(struct sl_zmq *z, const char *const *names, uint32_t senders, double until_idle,
                       const char *const **paths, const char *const **shown) {
  struct sl_zmq_receiver *r = z->receiver = calloc(1, sizeof *r);
  if (!r) return SL_ENOMEM;
  r->hub = z;
  r->pipe[0] = r->pipe[1] = -1;
  r->senders_wanted = senders;
  r->until_idle = until_idle;
  *paths = r->paths;
  *shown = r->names;
  return open_receiver(z, names);
}

/* Reports bytes that no source has read. */
static void report_unread(const struct sl_zmq_receiver *r) {
  int bytes = 0;
  if (r->pipe[0] < 0 || ioctl(r->pipe[0], FIONREAD, &bytes) < 0) return;
  const uint64_t unread = (uint64_t)bytes + r->left_bytes;
  if (unread > 0)
    sl_diagnose(r->hub->diagnostics, SL_WARNING, NULL, NULL, NULL,
                "%s: the run ended before its input: %" PRIu64
                " bytes that had arrived, and messages queued by ZeroMQ, were not read and are lost",
                r->shown, unread);
}

void sl_zmq_stop_inputs(struct sl_zmq *z) {
  struct sl_zmq_receiver *r = z->receiver;
  if (!r) return;
  atomic_store(&r->stop, 1);
  sl_thread_join(&r->thread);
  report_unread(r);
  for (uint32_t i = 0; i < r->count; i++) sl_zmq_socket_close(&r->inputs[i].socket);
  for (int i = 0; i < 2; i++)
    if (r->pipe[i] >= 0) close(r->pipe[i]);
  r->pipe[0] = r->pipe[1] = -1;
  r->count = 0;
  free(r->inputs);
  free(r->header);
  r->inputs = NULL;
  r->header = NULL;
}

void sl_zmq_free_receiver(struct sl_zmq_receiver *r) {
  if (r) free(r->shown);
  free(r);
}
