/* fit.c: checks, before any memory of slots is allocated, that a run fits into the available memory.
 *
 * Defaults are adapted: slices get fewer events, and a note reports it. Explicit options are not changed; the run is
 * refused with the needed and the available memory and options that would fit. Results do not change, because limits
 * per event do not depend on the slice size. Each device holds its share of the slots; the device with the least memory
 * decides. One sixteenth of the memory stays free for libraries, file buffers and stacks, which are not planned. Arenas
 * are limited by --memory, else to 80 % of the free memory of a device, also when plans change during the run.
 */
#include "execute/fit.h"

#include "base/memory.h"
#include "execute/memory_check.h"
#include "execute/pack/kept.h"
#include "execute/pack/pack.h"
#include "execute/source.h"

#include <sluice/text.h>

#include <stdio.h>

enum { LEFT_FREE = 16 };                 /* fraction of the memory that stays free: 1/16 */
enum { SOURCE_THREAD_BYTES = 16 << 20 }; /* estimate per additional source thread: file windows, simulation state */

struct need {
  uint64_t host, device; /* device: of the one with the most slots */
  uint64_t arenas;       /* part of host, or of device */
};

struct rooms {
  struct sl_memory_limit host, device, arenas;
};

static uint64_t slots_per_device(const struct sl_setup *s, uint32_t slots) {
  return (slots + s->device_count - 1) / s->device_count;
}

/* Memory of one slot with the present layout. Without a device memory, all of it is host memory. */
static struct need need_of_slot(const struct sl_setup *s) {
  const uint64_t slices = s->backend->slices_in_flight, inputs = s->repeat > 1 ? 0 : slices;
  struct need need = {.host = inputs * (s->layout->input_bytes + s->slice_events * sizeof(struct sl_event))};
  const uint64_t fields = sl_fields_bytes(s);
  need.arenas = fields;
  if (!s->backend->is_device) {
    need.host += fields + sl_counters_bytes(s);
    return need;
  }
  need.host += slices * sl_pack_output_bytes(s);
  need.device = fields + sl_counters_bytes(s) + slices * s->layout->input_bytes;
  return need;
}

static struct need need_of_run(const struct sl_setup *s, const struct rooms *rooms, uint32_t slots) {
  struct need need = need_of_slot(s);
  need.host *= slots;
  need.device *= slots_per_device(s, slots);
  need.arenas *= s->backend->is_device ? slots_per_device(s, slots) : slots;
  need.host += slots * rooms->host.thread_bytes; /* of slots except the first, and one of the program, for signals */
  need.host += (s->source_threads - 1) * (rooms->host.thread_bytes + SOURCE_THREAD_BYTES);
  if (s->repeat > 1) need.host += s->layout->input_bytes; /* at least one kept slice */
  *(s->backend->is_device ? &need.device : &need.host) += sl_kept_bytes(s, slots);
  return need;
}

static void leave_some(struct sl_memory_limit *room) {
  if (room->bytes != UINT64_MAX) room->bytes -= room->bytes / LEFT_FREE;
}

static struct rooms look(const struct sl_setup *s) {
  struct rooms rooms = {sl_memory_available(""), {UINT64_MAX, 0, ""}, {UINT64_MAX, 0, ""}};
  const int is_known = s->backend->is_device && s->backend->free_memory;
  for (uint32_t d = 0; is_known && d < s->device_count; d++) {
    uint64_t free_bytes;
    if (s->backend->free_memory(s->devices[d].device, &free_bytes) < 0 || free_bytes >= rooms.device.bytes) continue;
    rooms.device =
        (struct sl_memory_limit){free_bytes, 0, s->device_count > 1 ? s->devices[d].name : "free memory of the device"};
  }
  if (is_known && rooms.device.bytes != UINT64_MAX)
    rooms.arenas = (struct sl_memory_limit){rooms.device.bytes / 5 * 4, 0, "80 % of the free memory of the device"};
  if (s->options.memory_bytes) rooms.arenas = (struct sl_memory_limit){s->options.memory_bytes, 0, "--memory"};
  leave_some(&rooms.host);
  leave_some(&rooms.device);
  return rooms;
}

static int fits(const struct sl_setup *s, const struct rooms *rooms, uint32_t slots) {
  const struct need need = need_of_run(s, rooms, slots);
  return need.host <= rooms->host.bytes && need.device <= rooms->device.bytes && need.arenas <= rooms->arenas.bytes;
}

int sl_setup_lay_out(const struct sl_setup *s, uint32_t events, const struct sl_budgets *budgets,
                     struct sl_diagnostics *d, struct sl_layout **layout) {
  const struct sl_layout_request request = {.graph = s->graph,
                                            .events = events,
                                            .branches = sl_setup_branches(s),
                                            .families = (int)s->families,
                                            .input_gap_bytes = s->memory_check ? s->memory_check->input_gap_bytes : 0,
                                            .source_fields = s->source_fields,
                                            .budgets = budgets};
  return sl_layout_make(&request, d, layout);
}

static int lay_out(struct sl_setup *s, uint32_t events) {
  struct sl_layout *layout = NULL;
  const int status = sl_setup_lay_out(s, events, NULL, s->diagnostics, &layout);
  if (status < 0) return status;
  sl_layout_free(s->layout);
  s->layout = layout;
  s->slice_events = events;
  return SL_OK;
}

/* Sets the largest slice size that fits; if none does (*found 0), slices of one event. */
static int find_slice(struct sl_setup *s, const struct rooms *rooms, uint32_t *found) {
  uint32_t low = 0, high = s->slice_events; /* `low` fits, `high` does not */
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    const int status = lay_out(s, middle);
    if (status < 0) return status;
    *(fits(s, rooms, s->slot_count) ? &low : &high) = middle;
  }
  *found = low;
  return lay_out(s, low ? low : 1);
}

/* Writes the shortage: "need 1.3 GB of memory, and there is 300 MB (MemAvailable)". */
static void write_need(const struct sl_setup *s, const struct rooms *rooms, char *text, size_t size) {
  const struct need need = need_of_run(s, rooms, s->slot_count);
  const int of_device = need.device > rooms->device.bytes, of_host = need.host > rooms->host.bytes;
  const struct sl_memory_limit *room = of_device ? &rooms->device : of_host ? &rooms->host : &rooms->arenas;
  char needed[32], there[32];
  sl_memory_text(of_device ? need.device : of_host ? need.host : need.arenas, needed, sizeof needed);
  sl_memory_text(room->bytes, there, sizeof there);
  snprintf(text, size, "%s %s of memory%s, and there is %s left (%s)", s->slot_count == 1 ? "needs" : "need", needed,
           of_device || of_host ? "" : " for arenas", there, room->why);
}

/* Writes options that would fit: fewer events per slice with as many slots, or fewer slots with slices of this size. */
static void write_hint(const struct sl_setup *s, uint32_t events, uint32_t slots, uint32_t events_alone, char *text,
                       size_t size) {
  if (events > 0 && slots > 0)
    snprintf(text, size, "--slice-events %u fits, and so does --slots %u", events, slots);
  else if (events > 0)
    snprintf(text, size, "--slice-events %u fits", events);
  else if (slots > 0)
    snprintf(text, size, "--slots %u fits", slots);
  else if (events_alone > 0 && s->slot_count > s->device_count)
    snprintf(text, size, "--slots %u --slice-events %u fits", s->device_count, events_alone);
  else
    snprintf(text, size, "not even one event in one slot%s fits: free memory or raise the limit",
             s->device_count > 1 ? " of each device" : "");
}

/* Largest number of slots that fits, but at least one per device. */
static uint32_t slots_that_fit(const struct sl_setup *s, const struct rooms *rooms) {
  uint32_t slots = s->slot_count - 1;
  while (slots >= s->device_count && !fits(s, rooms, slots)) slots--;
  return slots >= s->device_count ? slots : 0;
}

static int refuse(struct sl_setup *s, const struct rooms *rooms, uint32_t requested, const char *needed, uint32_t slots,
                  uint32_t events) {
  const uint32_t requested_slots = s->slot_count;
  uint32_t alone = 0;
  char hint[160];
  if (events == 0 && slots == 0 && requested_slots > s->device_count) {
    s->slot_count = s->device_count;
    s->slice_events = requested;
    const int status = find_slice(s, rooms, &alone);
    s->slot_count = requested_slots;
    if (status < 0) return status;
  }
  write_hint(s, events, slots, alone, hint, sizeof hint);
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, hint, "%u %s of %u %s %s", requested_slots,
              sl_plural(requested_slots, "slot", "slots"), requested, sl_plural(requested, "event", "events"), needed);
  return SL_ENOMEM;
}

/* The part of `all` that is left for an arena if the other needs of each of `slots` slots are met. */
static uint64_t share_of(uint64_t all, uint64_t need, uint64_t arenas, uint64_t slots) {
  const uint64_t others = need - arenas;
  return all == UINT64_MAX ? all : all > others ? (all - others) / slots : 0;
}

/* Sets the largest arena of a slot: its share of what the other memory leaves. */
static void limit_arenas(struct sl_setup *s, const struct rooms *rooms) {
  const struct need need = need_of_run(s, rooms, s->slot_count);
  const uint64_t slots = s->backend->is_device ? slots_per_device(s, s->slot_count) : s->slot_count;
  const uint64_t share = s->backend->is_device ? share_of(rooms->device.bytes, need.device, need.arenas, slots)
                                               : share_of(rooms->host.bytes, need.host, need.arenas, slots);
  const uint64_t limit = share_of(rooms->arenas.bytes, 0, 0, slots);
  s->arena_bytes_max = share < limit ? share : limit;
}

static int fit(struct sl_setup *s, const struct rooms *rooms) {
  if (fits(s, rooms, s->slot_count)) return SL_OK;
  if (!s->options.source_threads) s->source_threads = 1; /* not set by an option */
  if (fits(s, rooms, s->slot_count)) return SL_OK;
  if (!s->branches) { /* not set by an option either */
    s->branches = 1;
    const int status = lay_out(s, s->slice_events);
    if (status < 0) return status;
    if (fits(s, rooms, s->slot_count)) return SL_OK;
  }
  const uint32_t requested = s->slice_events, slots = slots_that_fit(s, rooms);
  const int is_fixed = s->options.slice_events || s->graph->slice_events;
  uint32_t events;
  char needed[160];
  write_need(s, rooms, needed, sizeof needed);
  const int status = find_slice(s, rooms, &events);
  if (status < 0) return status;
  if (is_fixed || events == 0) return refuse(s, rooms, requested, needed, slots, events);
  sl_diagnose(s->diagnostics, SL_NOTE, NULL, NULL, NULL, "slices of %u %s instead of %u: %u %s of %u %s %s", events,
              sl_plural(events, "event", "events"), requested, s->slot_count, sl_plural(s->slot_count, "slot", "slots"),
              requested, sl_plural(requested, "event", "events"), needed);
  return SL_OK;
}

int sl_fit(struct sl_setup *s) {
  if (s->options.inspect_only) return SL_OK;
  const struct rooms rooms = look(s);
  const int status = fit(s, &rooms);
  if (status == SL_OK) limit_arenas(s, &rooms);
  return status;
}

static int refuse_change(const struct sl_setup *s, uint64_t needed, uint64_t room, const char *of, const char *why) {
  char needs[32], there[32];
  sl_memory_text(needed, needs, sizeof needs);
  sl_memory_text(room, there, sizeof there);
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL,
              "the new configuration needs %s of memory for %s, and %s is %s", needs, of, why, there);
  return SL_ENOMEM;
}

int sl_fit_change(const struct sl_setup *s, const struct sl_setup *present) {
  const uint64_t fields = sl_fields_bytes(s);
  if (fields > present->arena_bytes_max)
    return refuse_change(s, fields, present->arena_bytes_max, "the arena of a slot", "the limit of the run");
  const struct rooms rooms = look(s);
  const struct need before = need_of_run(present, &rooms, s->slot_count), now = need_of_run(s, &rooms, s->slot_count);
  if (now.host > before.host && now.host - before.host > rooms.host.bytes)
    return refuse_change(s, now.host - before.host, rooms.host.bytes, "slots, more than before", rooms.host.why);
  if (now.device > before.device && now.device - before.device > rooms.device.bytes)
    return refuse_change(s, now.device - before.device, rooms.device.bytes, "slots, more than before",
                         rooms.device.why);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------- slices that are kept */

int sl_fit_kept(struct sl_reading *r) {
  const struct sl_setup *s = r->setup;
  const uint64_t bytes = s->layout->input_bytes + s->slice_events * sizeof(struct sl_event);
  if (r->room_bytes < bytes) {
    struct sl_memory_limit room = sl_memory_available("");
    leave_some(&room);
    /* The source allocates memory while it reads, so the free memory is read again when half of it is used. */
    r->room_bytes = room.bytes / 2 < bytes ? room.bytes : room.bytes / 2;
    if (room.bytes < bytes) return SL_ENOMEM;
  }
  r->room_bytes -= bytes;
  return SL_OK;
}

void sl_fit_report_kept(const struct sl_reading *r) {
  struct sl_memory_limit room = sl_memory_available("");
  char there[32];
  leave_some(&room);
  sl_memory_text(room.bytes, there, sizeof there);
  sl_diagnose(r->setup->diagnostics, SL_ERROR, NULL, NULL, "read fewer events with -n",
              "--repeat keeps all slices, and after %llu events there is memory for %s more (%s)",
              (unsigned long long)r->events, there, room.why);
}
