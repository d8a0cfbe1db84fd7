/* address.c: see address.h. */
#include "serve/address.h"

#include "base/input.h"

#include <sluice/plugin.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_port(const char *text, uint16_t *port) {
  char *end = NULL;
  const unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
  if (!end || *end || value > 65535) return 0;
  *port = (uint16_t)value;
  return 1;
}

/* The part before the port, without the brackets of IPv6; "" if there is none. Returns 0 if it is too long. */
static int read_host(const char *text, const char *colon, char *host, size_t size) {
  const size_t length = colon ? (size_t)(colon - text) : 0;
  const int has_brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
  if (length >= size) return 0;
  snprintf(host, size, "%.*s", (int)(has_brackets ? length - 2 : length), text + has_brackets);
  return 1;
}

int sl_address_read(struct sl_address *a, const char *text, char *reason, size_t reason_size) {
  char host[INET6_ADDRSTRLEN + 2];
  uint16_t port = 0;
  const char *colon = strrchr(text, ':');
  *a = (struct sl_address){.is_loopback = 1};
  if (!read_port(colon ? colon + 1 : text, &port)) {
    snprintf(reason, reason_size, "the port is a number from 0 to 65535: 8080, 0.0.0.0:8080, [::1]:8080");
    return SL_EINVAL;
  }
  const int is_known = read_host(text, colon, host, sizeof host);
  if (is_known && text[0] != '[' && inet_pton(AF_INET, *host ? host : "127.0.0.1", &a->socket.v4.sin_addr) == 1) {
    a->socket.v4.sin_family = AF_INET;
    a->is_loopback = ntohl(a->socket.v4.sin_addr.s_addr) >> 24 == 127;
  } else if (is_known && text[0] == '[' && inet_pton(AF_INET6, host, &a->socket.v6.sin6_addr) == 1) {
    a->socket.v6.sin6_family = AF_INET6;
    a->is_v6 = 1;
    a->is_loopback = IN6_IS_ADDR_LOOPBACK(&a->socket.v6.sin6_addr);
  } else {
    snprintf(reason, reason_size, "the address is numeric: 8080, 0.0.0.0:8080, [::1]:8080");
    return SL_EINVAL;
  }
  sl_address_set_port(a, port);
  return SL_OK;
}

void sl_address_set_port(struct sl_address *a, uint16_t port) {
  if (a->is_v6)
    a->socket.v6.sin6_port = htons(port);
  else
    a->socket.v4.sin_port = htons(port);
}

void sl_address_write_url(const struct sl_address *a, char *text, size_t size) {
  char host[INET6_ADDRSTRLEN] = "";
  const void *address = a->is_v6 ? (const void *)&a->socket.v6.sin6_addr : &a->socket.v4.sin_addr;
  inet_ntop(a->socket.any.sa_family, address, host, sizeof host);
  const uint16_t port = ntohs(a->is_v6 ? a->socket.v6.sin6_port : a->socket.v4.sin_port);
  snprintf(text, size, a->is_v6 ? "http://[%s]:%u/" : "http://%s:%u/", host, port);
}

int sl_token_read(const char *path, char token[SL_TOKEN_MAX + 1], char *reason, size_t reason_size) {
  struct stat status;
  char text[SL_TOKEN_MAX + 2];
  const int file = sl_open_regular(path, reason, reason_size);
  if (file < 0) return SL_EINVAL;
  const int is_private = fstat(file, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
  ssize_t bytes = read(file, text, sizeof text);
  close(file);
  if (!is_private) {
    snprintf(reason, reason_size, "others can read it: it must belong to the user of this process and have mode 600");
    return SL_EINVAL;
  }
  while (bytes > 0 && isspace((unsigned char)text[bytes - 1])) bytes--;
  int is_plain = bytes >= SL_TOKEN_MIN && bytes <= SL_TOKEN_MAX;
  for (ssize_t i = 0; i < bytes; i++) is_plain &= text[i] > ' ' && text[i] < 127;
  if (!is_plain) {
    snprintf(reason, reason_size, "a token has %d to %d characters of ASCII without blanks, and is alone in the file",
             SL_TOKEN_MIN, SL_TOKEN_MAX);
    return SL_EINVAL;
  }
  snprintf(token, SL_TOKEN_MAX + 1, "%.*s", (int)bytes, text);
  return SL_OK;
}
