/* message.h: messages between runs, and the endpoints in options and properties that name them: "zmq:ENDPOINT".
 *
 * A message has two frames: a header of 40 bytes, and a payload. Numbers are little-endian:
 *   0 "SLZ1"   4 u16 kind   6 u16 0   8 u64 sender   16 u64 sequence   24 u64 events   32 u64 payload bytes
 * `sender` is a random number per sender and receiver; `sequence` counts the messages of a sender to a receiver from 0.
 */
#ifndef SL_ZMQ_MESSAGE_H
#define SL_ZMQ_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

enum { SL_ZMQ_HEADER_BYTES = 40 };
#define SL_ZMQ_PAYLOAD_MAX INT32_MAX

enum {
  SL_ZMQ_DATA = 1,  /* whole events, which continue the stream of the receiver */
  SL_ZMQ_END = 2,   /* the last message of its sender; the payload has no meaning */
  SL_ZMQ_HEADER = 3 /* the header of a file format: passed on once, however many senders send it */
};

struct sl_zmq_message {
  uint32_t kind;
  uint64_t sender, sequence, events, bytes;
};

void sl_zmq_encode(const struct sl_zmq_message *m, unsigned char header[SL_ZMQ_HEADER_BYTES]);
/* Reads a header frame of `count` bytes, followed by a payload of `payload_bytes`. Returns NULL, or what is wrong. */
const char *sl_zmq_decode(struct sl_zmq_message *m, const unsigned char *header, size_t count, size_t payload_bytes);

/* Returns 1 if an option or property names an endpoint: it begins with "zmq:". */
int sl_zmq_is_endpoint(const char *name);
/* Returns the endpoint for libzmq, after "zmq:" and, for an input, ">"; *binds: the socket binds. Returns NULL with the
 * reason if the name is no endpoint that can be used. `is_input`: an input binds unless it begins with ">"; an output
 * always connects. */
const char *sl_zmq_endpoint(const char *name, int is_input, int *binds, const char **reason);

#endif
