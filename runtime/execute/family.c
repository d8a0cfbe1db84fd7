/* family.c: what a step has beside its nodes' argument structs: the argument structs of a family where kernels read
 * them, and a table of the memory to clear before it.
 *
 * The nodes of a family have their structs one after the other, in the flight's tables, which go up to a device with a
 * memory of its own when they are ready and when a part of a slice moves its pointers.
 */
#include "execute/bind.h"
#include "execute/session.h"

#include <stdlib.h>

static int is_family(const struct sl_step *step) { return step->node_count > 1; }

static uint64_t family_bytes(const struct sl_session *s, const struct sl_step *step) {
  return sl_aligned((uint64_t)step->node_count * s->graph->nodes[step->nodes[0]].algorithm->args_size,
                    SL_ARGS_ALIGNMENT);
}

/* ------------------------------------------------------------------------------------------------ arguments */

uint64_t sl_families_bytes(const struct sl_session *s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->layout->step_count; i++)
    if (is_family(&s->layout->steps[i])) bytes += family_bytes(s, &s->layout->steps[i]);
  return bytes;
}

void sl_families_place(const struct sl_session *s, struct sl_flight *flight) {
  for (uint32_t i = 0; i < s->layout->step_count; i++) {
    const struct sl_step *step = &s->layout->steps[i];
    if (!is_family(step)) continue;
    unsigned char *args = flight->tables.host + flight->tables.taken;
    for (uint32_t k = 0; k < step->node_count; k++, args += s->graph->nodes[step->nodes[0]].algorithm->args_size)
      flight->args[step->nodes[k]] = args;
    flight->tables.taken += family_bytes(s, step);
  }
}

int sl_family_run(struct sl_slot *slot, const struct sl_flight *flight, const struct sl_step *step) {
  const uint32_t first = step->nodes[0];
  const unsigned char *host = flight->args[first];
  const unsigned char *device = flight->tables.device + (host - flight->tables.host);
  return slot->session->graph->nodes[first].algorithm->run_family(&slot->launches[first], host, device,
                                                                  step->node_count);
}

/* ------------------------------------------------------------------------------------------------- clearing */

/* The first step before which the storage can be cleared that lives from step `step` on: nobody else uses its memory
 * from there to `step`. */
static uint32_t earliest_clear(const struct sl_slot *slot, int32_t storage, uint32_t step) {
  const struct sl_layout *l = slot->session->layout;
  const uintptr_t begin = (uintptr_t)slot->storage[storage], end = begin + l->storage[storage].bytes;
  uint32_t earliest = 0;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *other = &l->storage[i];
    const uintptr_t at = (uintptr_t)slot->storage[i];
    if (i == (uint32_t)storage || other->kind != SL_STORAGE_ARENA || other->upper == 0 || other->lower >= step)
      continue;
    if (at < end && at + other->bytes > begin && other->upper > earliest) earliest = other->upper;
  }
  return earliest < step ? earliest : step;
}

/* The steps before which memory is cleared, as they are found: the last of them, and the ranges so far. A device clears
 * in as few launches as it can: what a launch before an earlier step can clear, it does. The host clears what it is
 * about to write. */
struct clearing {
  uint32_t last, range_count;
};

static void add_range(struct sl_slot *slot, struct clearing *c, uint32_t step, void *memory, uint64_t bytes) {
  struct sl_clear *clear = &slot->clears[step];
  if (clear->count == 0) clear->first = c->range_count;
  slot->clear_ranges[c->range_count++] = (struct sl_range){memory, bytes};
  clear->count++;
  if (bytes > clear->bytes_max) clear->bytes_max = bytes;
  c->last = step;
}

static void add_clears_of(struct sl_slot *slot, struct clearing *c, uint32_t n, uint32_t step) {
  const struct sl_session *s = slot->session;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++)
    for (uint32_t f = 0; a->members[m].kind == SL_MEMBER_OUT && f < a->members[m].collection->field_count; f++) {
      if (!sl_layout_is_cleared(s->layout, n, m, f)) continue;
      const int32_t at = s->layout->members[n][m].storage[f];
      const int is_before = s->backend->is_device && earliest_clear(slot, at, step) <= c->last;
      add_range(slot, c, is_before ? c->last : step, slot->storage[at], s->layout->storage[at].bytes);
    }
}

/* All ranges, and the counters. */
static uint64_t ranges_bytes(const struct sl_session *s) {
  return (s->layout->storage_count + 1u) * sizeof(struct sl_range);
}

int sl_clears_open(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const struct sl_layout *l = s->layout;
  struct clearing c = {0, 0};
  slot->clears = calloc(l->step_count + 1, sizeof *slot->clears);
  slot->clear_ranges = malloc(ranges_bytes(s));
  if (!slot->clears || !slot->clear_ranges) return SL_ENOMEM;
  if (s->backend->is_device) add_range(slot, &c, 0, slot->errors, sl_counters_bytes(s));
  for (uint32_t i = 0; i < l->step_count; i++)
    for (uint32_t k = 0; k < l->steps[i].node_count; k++) add_clears_of(slot, &c, l->steps[i].nodes[k], i);
  if (!s->backend->is_device) return SL_OK;
  slot->device_clear_ranges = s->backend->allocate(slot->device, ranges_bytes(s));
  if (!slot->device_clear_ranges) return SL_ENOMEM;
  return s->backend->upload_now(slot->device, slot->device_clear_ranges, slot->clear_ranges,
                                c.range_count * sizeof *slot->clear_ranges);
}

void sl_clears_close(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  if (slot->device_clear_ranges) s->backend->release(slot->device, slot->device_clear_ranges, ranges_bytes(s));
  free(slot->clears);
  free(slot->clear_ranges);
}

int sl_clears_run(struct sl_slot *slot, uint32_t step, uint8_t *note, uint8_t value) {
  const struct sl_session *s = slot->session;
  const struct sl_clear *clear = &slot->clears[step];
  const struct sl_range *ranges = s->backend->is_device ? slot->device_clear_ranges : slot->clear_ranges;
  if (clear->count > 0)
    return s->backend->clear(slot->stream, ranges + clear->first, clear->count, clear->bytes_max, note, value);
  return note ? s->backend->note(slot->stream, note, value) : SL_OK;
}
