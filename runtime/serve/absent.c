/* absent.c: a build without libmicrohttpd: a server is refused with the reason. */
#include "base/diagnostics.h"
#include "base/locale.h"

int sl_server_new(const struct sl_server_options *options, struct sl_diagnostics *d, struct sl_server **server) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  *server = NULL;
  sl_diagnose(d, SL_ERROR, NULL, NULL, "build it with libmicrohttpd (Debian: libmicrohttpd-dev)",
              "--serve %s: this build has no server", options->address);
  return SL_EINVAL;
}

const char *sl_server_url(const struct sl_server *server) {
  (void)server;
  return "";
}

void sl_server_free(struct sl_server *server) {
  SL_IN_C_LOCALE();
  (void)server;
}
