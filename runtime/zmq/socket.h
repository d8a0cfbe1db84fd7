/* socket.h: a socket of libzmq and the events of its connections. */
#ifndef SL_ZMQ_SOCKET_H
#define SL_ZMQ_SOCKET_H

#include "zmq/hub.h"
#include "zmq/library.h"

struct sl_zmq_socket {
  const struct sl_zmq_library *zmq;
  void *socket, *monitor;
  struct sl_zmq_link *link;
  /* of an output, which has one connection: according to the events read so far */
  int is_connected, descriptor;
};

/* Opens a PULL or PUSH socket of the link's endpoint, and its monitor. Returns SL_EINVAL with the reason, or SL_ENOMEM.
 * The socket must be closed in both cases. */
int sl_zmq_socket_open(struct sl_zmq *z, struct sl_zmq_socket *s, int type, struct sl_zmq_link *link, char *reason,
                       size_t reason_size);
/* Closes the socket at once: messages that libzmq still holds are dropped. */
void sl_zmq_socket_close(struct sl_zmq_socket *s);
/* Reads the next event: -1 if a connection was closed, which *descriptor identifies; 0 if there is no event; else 1. */
int sl_zmq_socket_event(struct sl_zmq_socket *s, int *descriptor);
/* Adds a link; NULL if out of memory. The name is copied. */
struct sl_zmq_link *sl_zmq_add_link(struct sl_zmq *z, const char *name, size_t name_bytes, int is_input);
/* Frees the receiver, after sl_zmq_stop_inputs. */
void sl_zmq_free_receiver(struct sl_zmq_receiver *r);

#endif
