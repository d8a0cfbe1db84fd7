/* device.h: is the device there that SLUICE_TEST_DEVICE names? Where it is not, a test has nothing to do. */
#ifndef TOY_DEVICE_H
#define TOY_DEVICE_H

#include <sluice/sluice.h>

#include <stdio.h>
#include <string.h>

/* 1 if it is a GPU that is not there, or that nothing was built for, with the reason printed: the test ends with 77. */
static inline int toy_device_is_absent(const char *device) {
  static const char graph[] = "sluice: 1\nnodes:\n  raw: { use: toy.source }\n";
  if (strncmp(device, "cuda", 4) != 0) return 0;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = sl_options_default();
  struct sl_session *session = NULL;
  o.graph_path = "device.yaml";
  o.graph_text = graph;
  o.graph_text_bytes = sizeof graph - 1;
  o.plugin_paths = (const char *const[]){TOY_FOLDER, NULL};
  o.device = device;
  const int status = sl_session_open(&o, d, &session);
  if (status < 0 && sl_diagnostics_count(d) > 0) printf("skipped: %s\n", sl_diagnostics_at(d, 0)->message);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status < 0;
}

#endif
