/* address.h: addresses to listen on, and the file of a token. */
#ifndef SL_SERVE_ADDRESS_H
#define SL_SERVE_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>

struct sl_address {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } socket;
  int is_v6, is_loopback;
};

/* Reads "[ADDRESS:]PORT": a port of the loopback network, a numeric address of IPv4, or one of IPv6 in brackets.
 * Returns SL_EINVAL, with the reason, if the text is not one. */
int sl_address_read(struct sl_address *a, const char *text, char *reason, size_t reason_size);
void sl_address_set_port(struct sl_address *a, uint16_t port);
/* Writes "http://127.0.0.1:8080/". */
void sl_address_write_url(const struct sl_address *a, char *text, size_t size);

enum { SL_TOKEN_MIN = 16, SL_TOKEN_MAX = 255 };
/* Reads the token of a file that belongs to the user of the process and that no other user can read or write. Blanks at
 * its end do not count. Returns SL_EINVAL, with the reason. */
int sl_token_read(const char *path, char token[SL_TOKEN_MAX + 1], char *reason, size_t reason_size);

#endif
