/* notify.c: the protocol of sd_notify(3): a datagram to the socket that NOTIFY_SOCKET names, so that neither libsystemd
 * nor systemd is needed. A failure is a warning, once.
 */
#define _GNU_SOURCE
#include "cli/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *socket_name(void) {
  const char *name = getenv("NOTIFY_SOCKET");
  return name && *name ? name : NULL;
}

int cli_notifies(void) { return socket_name() != NULL; }

/* Returns 0 or an errno. */
static int send_text(const char *name, const char *text, size_t bytes) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const size_t length = strlen(name);
  if ((*name != '/' && *name != '@') || length >= sizeof address.sun_path) return EINVAL;
  memcpy(address.sun_path, name, length);
  if (*name == '@') address.sun_path[0] = '\0'; /* an abstract socket */
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  const ssize_t sent = sendto(descriptor, text, bytes, MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
  const int error = sent < 0 ? errno : 0;
  close(descriptor);
  return error;
}

void cli_notify(const char *format, ...) {
  static int is_reported;
  const char *name = socket_name();
  char text[1024];
  if (!name) return;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const size_t bytes = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
  const int error = send_text(name, text, bytes);
  if (error && !is_reported++)
    fprintf(stderr, "warning: NOTIFY_SOCKET %s: the service manager cannot be notified: %s\n", name, strerror(error));
}
