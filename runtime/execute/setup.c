/* setup.c: see setup.h. */
#include "execute/setup.h"

/* On the host, steps run one after another. On a device they run concurrently unless the number of branches is set
 * or slices are large enough to fill the device: measured on an H200 with the whole trigger (docs/performance.md). */
uint32_t sl_setup_branches(const struct sl_setup *s) {
  enum { SIDE_BY_SIDE = 4, EVENTS_THAT_FILL = 8000 };
  if (!s->backend->is_device) return 1;
  if (s->branches) return s->branches;
  return (uint64_t)s->slot_count * s->slice_events < (uint64_t)s->device_count * EVENTS_THAT_FILL ? SIDE_BY_SIDE : 1;
}

/* With one event per block, a slice of few events leaves most of a device idle; blocks of more threads shorten the time
 * of the slice. Measured on an H200 with the whole trigger (docs/performance.md). */
uint32_t sl_setup_widen(const struct sl_setup *s, struct sl_device *device) {
  enum { WIDEN_MAX = 4, BLOCK_THREADS = 128 };
  if (!s->backend->is_device || !s->backend->threads) return 1;
  const uint64_t in_flight = (uint64_t)s->slot_count * s->slice_events / s->device_count + 1;
  uint32_t widen = 1;
  while (widen < WIDEN_MAX && 4 * widen * widen * BLOCK_THREADS * in_flight <= s->backend->threads(device)) widen *= 2;
  return widen;
}

int sl_report_failure(const struct sl_setup *s, int status, size_t errors, const char *what) {
  if (status >= 0 || status == SL_EINTERRUPTED || sl_diagnostics_errors(s->diagnostics) > errors) return status;
  const int is_device = status == SL_EDEVICE && s->device_count > 0;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: %s%s%s", what, sl_error_text(status),
              is_device ? ": " : "", is_device ? s->backend->error(s->devices[0].device) : "");
  return status;
}

void sl_report_node_failure(const struct sl_setup *s, uint32_t n, int status, const char *what, const char *reason) {
  const struct sl_node *node = &s->graph->nodes[n];
  if (status >= 0 || status == SL_EINTERRUPTED || atomic_load(&s->contexts[n]->errors) > 0) return;
  sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "%s %s: %s%s%s", node->use, what,
              sl_error_text(status), reason ? ": " : "", reason ? reason : "");
}
