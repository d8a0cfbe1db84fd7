/* hub.h: the ZeroMQ sockets of a run: inputs, merged into one stream, and outputs (base/output.h).
 *
 * An input is a PULL socket that binds, or connects to a sender that binds. An output is one PUSH socket per receiver,
 * because sequence numbers show lost messages only if a receiver gets all messages of a sequence. Queues hold
 * SL_ZMQ_QUEUE_MESSAGES messages at each end; a full queue blocks the sender, and nothing is dropped.
 */
#ifndef SL_ZMQ_HUB_H
#define SL_ZMQ_HUB_H

#include "base/output.h"

#include <sluice/sluice.h>

enum { SL_ZMQ_QUEUE_MESSAGES = 4 };

/* A socket and what went through it. Counters are read by any thread. */
struct sl_zmq_link {
  struct sl_zmq_link *next;
  char *name; /* as given: "zmq:tcp://127.0.0.1:5555"; an output with several receivers has one link for each */
  int is_input;
  atomic_uint_fast64_t messages, bytes, events;
  /* of an input */
  atomic_uint_fast64_t senders, ended, lost; /* lost: connections that closed before the end of their sender */
  atomic_uint_fast64_t missing, repeated, refused;
  /* of an output */
  atomic_uint_fast64_t unsent, waited_ns;
  atomic_uint_fast64_t queued; /* frames that libzmq holds */
};

struct sl_zmq_receiver;

struct sl_zmq {
  struct sl_diagnostics *diagnostics;
  const atomic_int *stopped; /* the run was stopped: sends wait a short time only */
  void *context;             /* of libzmq; NULL: not open */
  struct sl_zmq_link *links, **links_end;
  struct sl_zmq_receiver *receiver;
};

/* Opens the inputs and a thread that receives. `names` are the inputs of the run: all or none are endpoints, checked by
 * the caller. *paths is the path of a pipe with the payloads, and *shown its name in messages, both NULL-terminated
 * lists of one; valid until sl_zmq_close. The pipe ends when `senders` senders have ended (0: never), or when nothing
 * arrived for `until_idle` seconds after the first message (0: never). */
int sl_zmq_open_inputs(struct sl_zmq *z, const char *const *names, uint32_t senders, double until_idle,
                       const char *const **paths, const char *const **shown);
/* Ends the thread; reports what arrived and was not read. A second call does nothing. */
void sl_zmq_stop_inputs(struct sl_zmq *z);
/* Opens an output: a comma-separated list of endpoints. Each message goes to the next receiver that has room. */
int sl_zmq_open_output(struct sl_zmq *z, const char *name, sl_output_report *say, void *context,
                       struct sl_output **file);
void sl_zmq_close(struct sl_zmq *z);
/* Writes "ZeroMQ 4.3.4", or that there is none. */
void sl_zmq_describe(char *text, size_t size);

#endif
