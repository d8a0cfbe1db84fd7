/* inspect.c: see inspect.h. */
#include "execute/inspect.h"

#include "execute/session.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

const struct sl_options *sl_session_options(const struct sl_session *s) { return &s->options; }

const struct sl_registry *sl_session_registry(const struct sl_session *s) { return &s->registry; }

const struct sl_graph *sl_session_graph(const struct sl_session *s) { return s->graph; }

const struct sl_layout *sl_session_layout(const struct sl_session *s) { return s->layout; }

uint32_t sl_session_slice_events(const struct sl_session *s) { return s->slice_events; }

int sl_session_describe_device(const struct sl_session *s, char *text, size_t size) {
  const struct sl_summary *sum = &s->statistics.summary;
  int are_alike = 1;
  if (size > 0) *text = 0;
  for (uint32_t d = 1; d < sum->device_count; d++)
    are_alike &= strcmp(sum->devices[d].description, sum->devices[0].description) == 0;
  for (uint32_t d = 0; d < (are_alike ? 1 : sum->device_count); d++) {
    const size_t length = strlen(text);
    if (!*sum->devices[d].description || length >= size) continue;
    if (sum->device_count > 1 && are_alike) snprintf(text, size, "each ");
    snprintf(text + strlen(text), size - strlen(text), "%s%s", d ? "; " : "", sum->devices[d].description);
  }
  return s->backend->is_device != 0;
}

const char *sl_session_sink_lines(const struct sl_session *s, uint32_t node) { return s->delivery.sink_lines[node]; }

const char *sl_session_sink_json(const struct sl_session *s, uint32_t node) { return s->delivery.sink_json[node]; }

const struct sl_services *sl_session_services(const struct sl_session *s, uint32_t node) {
  return &s->contexts[node].services;
}

const void *sl_session_source_args(const struct sl_session *s) { return s->reading.args; }

uint64_t sl_session_array_count(const struct sl_session *s, int32_t storage) { return s->arrays[storage].count; }

uint64_t sl_session_events_read(const struct sl_session *s) { return s->reading.events; }

const struct sl_diagnostics *sl_session_diagnostics(const struct sl_session *s) { return s->diagnostics; }

uint64_t sl_session_constant_checksum(const struct sl_session *s, uint32_t n) {
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  uint64_t checksum = 0;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    for (uint32_t f = 0; f < a->members[m].collection->field_count; f++) {
      const struct sl_array *array = &s->arrays[s->layout->members[n][m].storage[f]];
      checksum = XXH3_64bits_withSeed(array->values, array->bytes, checksum);
    }
  }
  return checksum;
}

uint64_t sl_session_arena_of_one_branch(const struct sl_session *s) {
  const struct sl_layout *l = s->layout;
  struct sl_layout *one = NULL;
  if (l->branch_count == 1) return l->arena_bytes;
  const int status = sl_layout_make(s->graph, l->events, (int)s->families, 1, l->input_gap_bytes, s->diagnostics, &one);
  const uint64_t bytes = status < 0 ? UINT64_MAX : one->arena_bytes;
  if (status == SL_OK) sl_layout_free(one);
  return bytes;
}
