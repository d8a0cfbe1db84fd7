/* senders.h: the senders that an input has received messages from, with their sequence numbers. The table has a fixed
 * size: a new sender takes the entry of the sender that ended, or else was used, the longest time ago. */
#ifndef SL_ZMQ_SENDERS_H
#define SL_ZMQ_SENDERS_H

#include "zmq/message.h"

enum { SL_ZMQ_SENDERS_MAX = 256 };

struct sl_zmq_sender {
  uint64_t id, next; /* next: the sequence number that is expected */
  uint64_t last_use; /* number of the last message, over all senders */
  int connection;    /* descriptor of the connection of its last message; -1: unknown */
  int has_ended;     /* sent its end */
  int is_cut;        /* its connection was closed before its end */
  int is_reported;   /* as lost */
};

struct sl_zmq_senders {
  struct sl_zmq_sender at[SL_ZMQ_SENDERS_MAX];
  uint32_t count;
  uint64_t uses;
};

/* Findings of a message about its sender. */
struct sl_zmq_finding {
  int is_new;       /* the first message of this sender, also of one that begins again with number 0 */
  int is_repeated;  /* received before: to be dropped */
  int is_back;      /* the sender had been reported as lost */
  uint64_t missing; /* messages missing before this one; of a new sender: messages that were not for this receiver */
};

/* Adds a message, which was received over the connection. */
struct sl_zmq_finding sl_zmq_senders_take(struct sl_zmq_senders *s, const struct sl_zmq_message *m, int connection);
/* Notes that a connection was closed. Messages of its sender may still be queued in libzmq. */
void sl_zmq_senders_cut(struct sl_zmq_senders *s, int connection);
/* Returns the next sender that was disconnected before its end, once for each sender, or NULL. To be called when no
 * message is queued. */
const struct sl_zmq_sender *sl_zmq_senders_lost(struct sl_zmq_senders *s);

#endif
