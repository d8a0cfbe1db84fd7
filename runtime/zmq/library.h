/* library.h: libzmq, opened when a run needs it. */
#ifndef SL_ZMQ_LIBRARY_H
#define SL_ZMQ_LIBRARY_H

#include <stddef.h>
#include <zmq.h>

#define SL_ZMQ_FUNCTIONS(F) \
  F(version)                \
  F(strerror)               \
  F(ctx_new)                \
  F(ctx_term)               \
  F(socket)                 \
  F(close)                  \
  F(setsockopt)             \
  F(bind)                   \
  F(connect)                \
  F(poll)                   \
  F(socket_monitor)         \
  F(msg_init)               \
  F(msg_init_data)          \
  F(msg_recv)               \
  F(msg_send)               \
  F(msg_close)              \
  F(msg_data)               \
  F(msg_size)               \
  F(msg_more)               \
  F(msg_get)

/* A member for each function zmq_NAME. */
struct sl_zmq_library {
#define SL_ZMQ_MEMBER(name) __typeof__(zmq_##name) *name;
  SL_ZMQ_FUNCTIONS(SL_ZMQ_MEMBER)
#undef SL_ZMQ_MEMBER
};

/* Returns the library, which stays open, or NULL with the reason. Any thread. */
const struct sl_zmq_library *sl_zmq_library(char *reason, size_t reason_size);

#endif
