/* absent.c: a build without libzmq: endpoints are refused with the reason. */
#include "base/diagnostics.h"
#include "zmq/hub.h"

#include <stdio.h>

static const char reason[] = "this build has no ZeroMQ; build it with libzmq (Debian: libzmq3-dev)";

int sl_zmq_open_inputs(struct sl_zmq *z, const char *const *names, uint32_t senders, double until_idle,
                       const char *const **paths, const char *const **shown) {
  (void)senders, (void)until_idle, (void)paths, (void)shown;
  sl_diagnose(z->diagnostics, SL_ERROR, NULL, NULL, NULL, "-i %s: %s", names[0], reason);
  return SL_EINVAL;
}

int sl_zmq_open_output(struct sl_zmq *z, const char *name, sl_output_report *say, void *context,
                       struct sl_output **file) {
  (void)z, (void)file;
  say(context, SL_ERROR, "%s: %s", name, reason);
  return SL_EINVAL;
}

void sl_zmq_stop_inputs(struct sl_zmq *z) { (void)z; }
void sl_zmq_close(struct sl_zmq *z) { (void)z; }
void sl_zmq_describe(char *text, size_t size) { snprintf(text, size, "no ZeroMQ"); }
