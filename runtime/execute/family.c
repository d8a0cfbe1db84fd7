/* family.c: data of steps besides the argument structs of single nodes: the argument structs of families, which kernels
 * read from memory, and the table of memory that is cleared before each step.
 *
 * The argument structs of a family are contiguous in the tables of the slice. The tables are copied to a device with
 * memory of its own when they are complete, and again when a part of a slice moves their pointers.
 */
#include "execute/family.h"

#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

static int is_family(const struct sl_step *step) { return step->node_count > 1; }

static uint64_t family_bytes(const struct sl_setup *s, const struct sl_step *step) {
  return sl_aligned((uint64_t)step->node_count * s->graph->nodes[step->nodes[0]].algorithm->args_size,
                    SL_ARGS_ALIGNMENT);
}

/* ------------------------------------------------------------------------------------------------ arguments */

uint64_t sl_families_bytes(const struct sl_setup *s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->layout->step_count; i++)
    if (is_family(&s->layout->steps[i])) bytes += family_bytes(s, &s->layout->steps[i]);
  return bytes;
}

void sl_families_place(const struct sl_setup *s, struct sl_slice *slice) {
  for (uint32_t i = 0; i < s->layout->step_count; i++) {
    const struct sl_step *step = &s->layout->steps[i];
    if (!is_family(step)) continue;
    unsigned char *args = slice->tables.host + slice->tables.taken;
    for (uint32_t k = 0; k < step->node_count; k++, args += s->graph->nodes[step->nodes[0]].algorithm->args_size)
      slice->args[step->nodes[k]] = args;
    slice->tables.taken += family_bytes(s, step);
  }
}

int sl_family_run(struct sl_slot *slot, const struct sl_slice *slice, const struct sl_step *step) {
  const uint32_t first = step->nodes[0];
  const unsigned char *host = slice->args[first];
  const unsigned char *device = slice->tables.device + (host - slice->tables.host);
  return slot->setup->graph->nodes[first].algorithm->run_family(&slot->launches[first], host, device, step->node_count);
}

/* ------------------------------------------------------------------------------------------------- clearing */

/* Ranges to clear and the step before which each is cleared. Found in two passes: one counts, one writes the ranges.
 * A device clears ranges early together with others (place.c); the host clears them directly before they are
 * written. */
struct clearing {
  struct sl_slot *slot;
  int writes;
};

static void add_range(const struct clearing *c, uint32_t step, void *memory, uint64_t bytes) {
  struct sl_clear *clear = &c->slot->clears[step];
  if (c->writes) c->slot->clear_ranges[clear->first + clear->count] = (struct sl_range){memory, bytes};
  clear->count++;
  if (bytes > clear->bytes_max) clear->bytes_max = bytes;
}

static void add_clears(const struct clearing *c) {
  const struct sl_setup *s = c->slot->setup;
  const struct sl_layout *l = c->slot->layout;
  uint32_t first = 0;
  for (uint32_t i = 0; i <= l->step_count; i++) {
    c->slot->clears[i].first = first;
    first += c->slot->clears[i].count;
    c->slot->clears[i].count = 0;
  }
  if (s->backend->is_device) add_range(c, 0, c->slot->errors, sl_counters_bytes(s));
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *at = &l->storage[i];
    if (at->clear_step != UINT32_MAX)
      add_range(c, s->backend->is_device ? at->clear_step : at->lower, c->slot->storage[i], at->bytes);
  }
}

/* Size of the table: all ranges and the counters. */
static uint64_t ranges_bytes(const struct sl_setup *s) {
  return (s->layout->storage_count + 1u) * sizeof(struct sl_range);
}

void sl_clears_renew(struct sl_slot *slot) {
  memset(slot->clears, 0, (slot->layout->step_count + 1) * sizeof *slot->clears);
  add_clears(&(struct clearing){slot, 0});
  add_clears(&(struct clearing){slot, 1});
}

int sl_clears_upload(const struct sl_slot *slot) {
  uint32_t count = 0;
  for (uint32_t i = 0; i <= slot->layout->step_count; i++) count += slot->clears[i].count;
  return slot->setup->backend->upload_now(slot->device, slot->device_clear_ranges, slot->clear_ranges,
                                          count * sizeof *slot->clear_ranges);
}

int sl_clears_open(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  slot->clears = calloc(slot->layout->step_count + 1, sizeof *slot->clears);
  slot->clear_ranges = malloc(ranges_bytes(s));
  if (s->backend->is_device) slot->device_clear_ranges = s->backend->allocate(slot->device, ranges_bytes(s));
  if (!slot->clears || !slot->clear_ranges || (s->backend->is_device && !slot->device_clear_ranges)) return SL_ENOMEM;
  sl_clears_renew(slot);
  return SL_OK;
}

void sl_clears_close(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  if (slot->device_clear_ranges) s->backend->release(slot->device, slot->device_clear_ranges, ranges_bytes(s));
  free(slot->clears);
  free(slot->clear_ranges);
}

int sl_clears_run(struct sl_slot *slot, struct sl_stream *stream, uint32_t step, uint8_t *note, uint8_t value) {
  const struct sl_setup *s = slot->setup;
  const struct sl_clear *clear = &slot->clears[step];
  const struct sl_range *ranges = s->backend->is_device ? slot->device_clear_ranges : slot->clear_ranges;
  if (clear->count > 0)
    return s->backend->clear(stream, ranges + clear->first, clear->count, clear->bytes_max, note, value);
  return note ? s->backend->note(stream, note, value) : SL_OK;
}
