/* library.h: libmicrohttpd, opened when a run is served. */
#ifndef SL_SERVE_LIBRARY_H
#define SL_SERVE_LIBRARY_H

#include <microhttpd.h>
#include <stddef.h>

#define SL_MHD_FUNCTIONS(F)                             \
  F(start_daemon)                                       \
  F(stop_daemon)                                        \
  F(get_daemon_info)                                    \
  F(lookup_connection_value)                            \
  F(create_response_from_buffer)                        \
  F(create_response_from_buffer_with_free_callback_cls) \
  F(add_response_header)                                \
  F(queue_response)                                     \
  F(destroy_response)                                   \
  F(suspend_connection)                                 \
  F(resume_connection)

/* A member for each function MHD_NAME. */
struct sl_mhd_library {
#define SL_MHD_MEMBER(name) __typeof__(MHD_##name) *name;
  SL_MHD_FUNCTIONS(SL_MHD_MEMBER)
#undef SL_MHD_MEMBER
};

/* Returns the library, which stays open, or NULL with the reason. Any thread. */
const struct sl_mhd_library *sl_mhd_library(char *reason, size_t reason_size);

#endif
