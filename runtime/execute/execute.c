/* execute.c: runs a slice through the graph.
 *
 * Steps are enqueued in order, each on the stream of its branch. A device with memory of its own first gets a copy of
 * the input; all steps and the packing of results are captured once per slice index and replayed; the host waits once,
 * for the packed results. If an output overflowed, the slice is run again in parts; if events were refused, without
 * these events.
 */
#include "execute/execute.h"

#include "base/clock.h"
#include "execute/binding.h"
#include "execute/conditions.h"
#include "execute/delivery.h"
#include "execute/family.h"
#include "execute/memory_check.h"
#include "execute/observer.h"
#include "execute/order.h"
#include "execute/overflow_history.h"
#include "execute/pack/kept.h"
#include "execute/pack/pack.h"
#include "execute/streams.h"

#include <stdio.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* -------------------------------------------------------------------------------------------------- steps */

static int combine(struct sl_slot *slot, const struct sl_slice *slice, struct sl_stream *stream,
                   const struct sl_list_set *set) {
  const struct sl_list_pointers *lists = (const struct sl_list_pointers *)(const void *)slice->tables.device;
  const struct sl_combination c = {.lists = lists + set->first_pointer,
                                   .list_count = set->port_count,
                                   .min_lists = set->any ? 1 : set->port_count,
                                   .tally = slot->storage[set->tally_storage],
                                   .count = slot->storage[set->count_storage],
                                   .numbers = slot->storage[set->numbers_storage]};
  return slot->setup->backend->combine(stream, &c);
}

static void report_list_failure(const struct sl_slot *slot, uint32_t set) {
  const struct sl_setup *s = slot->setup;
  uint32_t n = 0;
  while (s->layout->node_set[n] != set) n++; /* finds a node that runs on the list */
  const struct sl_node *node = &s->graph->nodes[n];
  sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "its event list could not be made: %s",
              s->backend->error(slot->device));
}

/* 1 if the device failed and its slice is left to other devices; device_failed reports that once. */
static int is_left_to_others(const struct sl_slot *slot, int status) {
  return status == SL_EDEVICE && slot->setup->backend->is_device && sl_device_has_others(slot);
}

/* Runs a single node, or a family that starts with it. */
static int run_node(struct sl_slot *slot, const struct sl_slice *slice, const struct sl_step *step, uint32_t n,
                    int is_family) {
  const struct sl_setup *s = slot->setup;
  const struct sl_node *node = &s->graph->nodes[n];
  const struct sl_algorithm *a = node->algorithm;
  if (s->backend->range_begin) s->backend->range_begin(is_family ? node->use : node->name);
  const int status = is_family                       ? sl_family_run(slot, slice, step)
                     : a->run_tuned && !node->shared ? a->run_tuned(&slot->launches[n], slice->args[n])
                                                     : a->run(&slot->launches[n], slice->args[n]);
  if (s->backend->range_end) s->backend->range_end();
  if (status < 0 && !is_left_to_others(slot, status)) {
    sl_report_node_failure(slot->setup, n, status, "failed",
                           status == SL_EDEVICE ? s->backend->error(slot->device) : NULL);
  }
  return status;
}

/* Runs `count` nodes of a step together; checks and reports their results. */
static int run_nodes(struct sl_slot *slot, const struct sl_slice *slice, uint32_t step, const uint32_t *nodes,
                     uint32_t count) {
  const struct sl_setup *s = slot->setup;
  const struct sl_memory_check *check = s->memory_check;
  int skipped = 0, status = SL_OK;
  SL_NOTIFY_STATUS(skipped, slot->observers, choose, slot, slice, step, nodes[0]);
  if (skipped != 0) return skipped < 0 ? skipped : SL_OK;
  if (check && check->nodes_begin) status = check->nodes_begin(slot, slice, nodes, count);
  if (status == SL_OK) status = run_node(slot, slice, &s->layout->steps[step], nodes[0], count > 1);
  if (status < 0 || s->backend->is_device) return status;
  sl_nodes_ran(slot, slice, count > 1 ? sl_step_name(s->layout, step) : s->graph->nodes[nodes[0]].name, nodes, count);
  if (!check || !check->nodes_end) return SL_OK;
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_GUARD);
  status = check->nodes_end(slot, slice, nodes, count);
  sl_scope_end(slot, scope);
  return status;
}

static int run_step(struct sl_slot *slot, const struct sl_slice *slice, uint32_t step) {
  const struct sl_setup *s = slot->setup;
  const struct sl_step *at = &s->layout->steps[step];
  const uint32_t width = s->backend->no_families ? 1 : at->node_count;
  int status = s->backend->is_device ? SL_OK : sl_clears_run(slot, slot->stream, step, NULL, 0);
  for (uint32_t i = 0; i < at->node_count && status == SL_OK; i += width)
    status = run_nodes(slot, slice, step, at->nodes + i, width);
  return status;
}

static int make_list(struct sl_slot *slot, const struct sl_slice *slice, uint32_t step) {
  const struct sl_step *at = &slot->layout->steps[step];
  int skipped = 0;
  SL_NOTIFY_STATUS(skipped, slot->observers, choose, slot, slice, step, NO_INDEX);
  if (skipped != 0) return skipped < 0 ? skipped : SL_OK;
  const int status = combine(slot, slice, sl_step_stream(slot, step), &slot->layout->sets[at->set]);
  if (status < 0 && !is_left_to_others(slot, status)) report_list_failure(slot, at->set);
  return status;
}

/* Clears memory before the step and, with `notes`, writes the number of the step where the host can read it. The
 * higher byte changes before the lower one, and rarely: never in graphs of fewer than 256 steps. */
static int clear_before(struct sl_slot *slot, uint32_t step, int notes) {
  const struct sl_layout *l = slot->layout;
  const struct sl_step *at = &l->steps[step];
  struct sl_stream *stream = sl_step_stream(slot, step);
  const uint32_t number = step + 1;
  uint8_t *running = notes ? &slot->running[2 * at->branch] : NULL;
  int status = SL_OK;
  if (notes && l->step_count >= 256 && (l->branch_count > 1 || step == 0 || number % 256 == 0))
    status = slot->setup->backend->note(stream, &running[1], (uint8_t)(number >> 8));
  return status == SL_OK ? sl_clears_run(slot, stream, step, running, (uint8_t)number) : status;
}

static int begin_step(struct sl_slot *slot, uint32_t slice_index, uint32_t step, int notes) {
  int status = sl_step_await(slot, step);
  SL_NOTIFY_STATUS(status, slot->observers, step_begin, slot, slice_index, step);
  if (status == SL_OK) status = clear_before(slot, step, notes);
  return status == SL_OK && step == 0 ? sl_streams_fork(slot) : status;
}

static int end_step(struct sl_slot *slot, uint32_t slice_index, uint32_t step) {
  int status = sl_step_reached(slot, step);
  SL_NOTIFY_STATUS(status, slot->observers, step_end, slot, slice_index, step);
  return status;
}

static int pack_results(struct sl_slot *slot, uint32_t slice_index) {
  int status = sl_streams_join(slot);
  SL_NOTIFY_STATUS(status, slot->observers, point, slot, slice_index, SL_POINT_STEPS_END);
  if (status == SL_OK) status = sl_pack_enqueue(slot, slice_index);
  SL_NOTIFY_STATUS(status, slot->observers, point, slot, slice_index, SL_POINT_PACKED);
  return status;
}

/* Enqueues all steps for `count` events; the cpu backend runs them directly. `notes`: the device writes the number
 * of the current step, at the cost of one kernel per step. */
static int enqueue_steps(struct sl_slot *slot, uint32_t slice_index, uint32_t count, int notes) {
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = s->layout;
  const int is_device = s->backend->is_device;
  int status = SL_OK;
  sl_streams_point(slot, is_device ? slot->slices_in_flight[slice_index].device_event_count : &slot->event_count);
  if (is_device && l->step_count == 0) status = sl_clears_run(slot, slot->stream, 0, NULL, 0);
  if (!is_device) {
    memset(slot->errors, 0, count * sizeof *slot->errors);
    memset(slot->used, 0, l->used_count * sizeof *slot->used);
  }
  for (uint32_t step = 0; step < l->step_count && status == SL_OK; step++) {
    const struct sl_step *at = &l->steps[step];
    status = is_device ? begin_step(slot, slice_index, step, notes) : SL_OK;
    if (status < 0) break;
    if (s->memory_check) s->memory_check->step_begin(slot, step);
    if (at->kind == SL_STEP_RUN)
      status = run_step(slot, &slot->slices_in_flight[slice_index], step);
    else
      status = make_list(slot, &slot->slices_in_flight[slice_index], step);
    if (!is_device) sl_activity_settle(slot); /* the time until now belongs to no node */
    if (is_device && status == SL_OK) status = end_step(slot, slice_index, step);
  }
  return status == SL_OK && is_device ? pack_results(slot, slice_index) : status;
}

/* ------------------------------------------------------------------------------------------------- device */

/* The step that a branch was in when the device failed, or NO_INDEX. */
static uint32_t running_in(const struct sl_slot *slot, uint32_t branch) {
  const struct sl_layout *l = slot->layout;
  if (!slot->running) return NO_INDEX;
  const uint32_t step = slot->running[2 * branch] + 256u * slot->running[2 * branch + 1] - 1u;
  return step < l->step_count && l->steps[step].branch == branch ? step : NO_INDEX;
}

/* 1 if the progress of other branches implies that the step was complete. */
static int is_complete(const struct sl_slot *slot, uint32_t step) {
  for (uint32_t b = 0; b < slot->layout->branch_count; b++) {
    const uint32_t other = running_in(slot, b);
    if (other != NO_INDEX && other != step && sl_step_precedes(slot->layout, step, other)) return 1;
  }
  return 0;
}

/* Reports a failure of the device, which runs no further slice. The step of each branch is known, except in a
 * captured graph. If there are other devices, the slice is left to them. Failures that are not of the device would
 * occur on every device and end the run. */
static int device_failed(struct sl_slot *slot, int status, const char *what) {
  struct sl_setup *s = slot->setup;
  int is_first = 1;
  const int others = status == SL_EDEVICE && sl_device_lose(slot, &is_first);
  if (others) slot->detour = SL_LEFT;
  if (!is_first && s->device_count > 1) return status; /* it was reported before */
  const struct sl_node *node = NULL;
  char beside[256] = "", which[80] = "";
  for (uint32_t b = 0; b < s->layout->branch_count; b++) {
    const uint32_t step = running_in(slot, b);
    if (step == NO_INDEX || s->layout->steps[step].kind != SL_STEP_RUN || is_complete(slot, step)) continue;
    const size_t length = strlen(beside);
    if (node)
      snprintf(beside + length, sizeof beside - length, ", or concurrently in %s", sl_step_name(s->layout, step));
    if (!node) node = &s->graph->nodes[s->layout->steps[step].nodes[0]];
  }
  if (s->device_count > 1)
    snprintf(which, sizeof which, "%s is lost, %s: ", slot->device_state->name,
             others ? "and its slices run on other devices" : "the last one");
  sl_diagnose(s->diagnostics, others ? SL_WARNING : SL_ERROR, node ? &node->location : NULL, node ? node->name : NULL,
              node                                             ? "compute-sanitizer names the kernel and the line"
              : slot->running && !slot->setup->options.profile ? "--profile runs step by step and names the node"
                                                               : NULL,
              "%s%s%s%s%s: %s", which, what, node ? " in " : "", node ? node->use : "", beside,
              s->backend->error(slot->device));
  return status;
}

/* Copies the filled part of the input fields that kernels read. */
static int upload(struct sl_slot *slot, struct sl_slice *slice) {
  struct sl_setup *s = slot->setup;
  const struct sl_input *input = slice->input;
  int status = s->backend->upload(slot->stream, slice->device_event_count, &input->event_count, sizeof(uint32_t));
  slot->bytes_up += sizeof(uint32_t);
  for (uint32_t i = 0; i < s->layout->storage_count && status == SL_OK; i++) {
    const struct sl_storage *storage = &s->layout->storage[i];
    if (storage->kind != SL_STORAGE_INPUT || !storage->read_by_kernel) continue;
    const uint64_t bytes = sl_filled_bytes(s, input, storage);
    status =
        s->backend->upload(slot->stream, slice->device_input + storage->offset, input->block + storage->offset, bytes);
    slot->bytes_up += bytes;
  }
  return status;
}

/* Points the arguments of the kernels and the packing of results to the input, from event `first` on. The kernels of
 * the slice must not be running. */
static int point(struct sl_slot *slot, uint32_t k, uint32_t first) {
  const int status = sl_bind_input(slot, &slot->slices_in_flight[k], first);
  return status == SL_OK ? sl_pack_point(slot, k, first) : status;
}

/* Resets the step notes. No kernel that writes them may be running. */
static void forget_notes(struct sl_slot *slot) { memset(slot->running, 0, 2 * slot->layout->branch_count); }

/* Runs the kernels once for no event, because the vendor's runtime loads code at the first launch, which is not
 * possible in a capture. */
static int run_empty(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->setup->backend;
  struct sl_slice *slice = &slot->slices_in_flight[k];
  int status = backend->zero(slot->stream, slice->device_input, slot->layout->device_input_bytes);
  if (status == SL_OK) status = backend->zero(slot->stream, slice->device_event_count, sizeof(uint32_t));
  if (status == SL_OK) status = enqueue_steps(slot, k, 0, 1);
  if (status == SL_OK) status = backend->settle(slot->stream);
  slice->has_run = status == SL_OK;
  return status;
}

/* Captures all kernels of a whole slice. */
static int capture(struct sl_slot *slot, uint32_t k) {
  struct sl_setup *s = slot->setup;
  struct sl_slice *slice = &slot->slices_in_flight[k];
  int status = sl_clears_upload(slot);
  if (status == SL_OK) status = point(slot, k, 0);
  if (status == SL_OK && !slice->has_run) status = run_empty(slot, k);
  const int has_run = status == SL_OK;
  if (status == SL_OK) status = s->backend->capture_begin(slot->stream);
  const int is_capturing = status == SL_OK;
  if (status == SL_OK) status = enqueue_steps(slot, k, s->slice_events, 0);
  if (is_capturing) { /* otherwise later calls would be captured instead of executed */
    const int ended = s->backend->capture_end(slot->stream, k);
    if (status == SL_OK) status = ended;
  }
  slice->captured = status == SL_OK;
  if (status < 0 && has_run) forget_notes(slot); /* notes of the uncaptured run, which succeeded */
  return status < 0 ? device_failed(slot, status, "the kernels of a slice could not be captured") : SL_OK;
}

/* Returns the end of the events from `first` on that run together: events without an error and, for --rotate run and
 * with conditions, of one run. */
static uint32_t range_end(const struct sl_setup *s, const struct sl_event *events, uint32_t first, uint32_t end) {
  const int splits = s->splits_runs || s->conditions;
  uint32_t next = first;
  while (next < end && !events[next].error && (!splits || events[next].run == events[first].run)) next++;
  return next;
}

static int is_split(const struct sl_setup *s, const struct sl_input *input) {
  if (s->conditions && !sl_conditions_are_present(s->conditions, &input->events[0])) return 1;
  return range_end(s, input->events, 0, input->event_count) < input->event_count;
}

static int replay(struct sl_slot *slot, uint32_t k) {
  forget_notes(slot);
  return slot->setup->backend->replay(slot->stream, k);
}

int sl_execute_start(struct sl_slot *slot, uint32_t k) {
  struct sl_setup *s = slot->setup;
  struct sl_slice *slice = &slot->slices_in_flight[k];
  slice->started = 0;
  slot->slices++;
  if (!s->backend->is_device || slice->input->event_count == 0) return SL_OK;
  int status = sl_kept_prepare(slot, k);
  if (status < 0) return device_failed(slot, status, "memory that the program has used could not be taken");
  status = slice->captured ? SL_OK : capture(slot, k);
  if (status < 0) return status;
  SL_NOTIFY_STATUS(status, slot->observers, slice_begin, slot);
  if (status < 0) return device_failed(slot, SL_EDEVICE, "the clock of the trace could not be set");
  if (!s->options.resident || slot->delivery->active) { /* otherwise the input is on the device since the last pass
                                                           with uploads */
    SL_NOTIFY_STATUS(status, slot->observers, point, slot, k, SL_POINT_UPLOAD_BEGIN);
    if (status == SL_OK) status = upload(slot, slice);
    SL_NOTIFY_STATUS(status, slot->observers, point, slot, k, SL_POINT_UPLOAD_END);
  }
  if (status == SL_OK) status = s->backend->uploaded(slot->stream, k);
  if (status < 0) return device_failed(slot, status, "the input could not be copied to the device");
  if (slice->delivered > 0 || is_split(s, slice->input) || sl_overflow_parts(slice->input, slot->layout->plan) > 1)
    return SL_OK; /* sl_execute_finish runs it in parts */
  const int step_by_step = slot->observers->need_steps || s->options.guard;
  const uint64_t waits = s->backend->waits();
  status = step_by_step ? enqueue_steps(slot, k, slice->input->event_count, 1) : replay(slot, k);
  slot->host_syncs += s->backend->waits() - waits;
  if (status == SL_OK) status = s->backend->finished(slot->stream, k);
  if (status < 0) return device_failed(slot, status, "the kernels of a slice could not be launched");
  slice->started = 1;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- a part */

/* Runs a part of a slice that is already on the device. */
static int enqueue_part(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  struct sl_setup *s = slot->setup;
  struct sl_slice *slice = &slot->slices_in_flight[k];
  int status = s->backend->settle(slot->stream);
  if (status == SL_OK) status = sl_kept_prepare(slot, k);
  if (status == SL_OK) status = point(slot, k, first);
  if (status == SL_OK) status = s->backend->upload_now(slot->device, slice->device_event_count, &count, sizeof count);
  const uint64_t waits = s->backend->waits();
  if (status == SL_OK) status = enqueue_steps(slot, k, count, 1);
  slot->host_syncs += s->backend->waits() - waits;
  if (status == SL_OK) status = s->backend->finished(slot->stream, k);
  if (status == SL_OK) status = s->backend->wait(slot->stream, k);
  return status == SL_OK ? point(slot, k, 0) : status;
}

static int run_on_device(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  struct sl_setup *s = slot->setup;
  struct sl_slice *slice = &slot->slices_in_flight[k];
  const int started = slice->started;
  slice->started = 0;
  sl_activity_enter(slot, SL_ACTIVITY_DEVICE);
  int status = started ? s->backend->wait(slot->stream, k) : enqueue_part(slot, k, first, count);
  if (status < 0) return device_failed(slot, status, "a kernel failed");
  SL_NOTIFY_STATUS(status, slot->observers, arrived, slot, k, count);
  if (status < 0) return device_failed(slot, status, "the time stamps of a slice could not be read");
  sl_pack_read(slot, k);
  return SL_OK;
}

/* Runs events [first, first + count). On return the host can read the results. */
static int run_part(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  if (slot->setup->backend->is_device) return run_on_device(slot, k, first, count);
  sl_activity_enter(slot, SL_ACTIVITY_STEPS);
  int status = sl_bind_input(slot, &slot->slices_in_flight[k], first);
  slot->event_count = count;
  slot->first_event = first;
  if (status == SL_OK) status = enqueue_steps(slot, k, count, 0);
  slot->used_seen = slot->used;
  slot->errors_seen = slot->errors;
  slot->refused_seen = 1; /* check the error words */
  return status;
}

/* --------------------------------------------------------------------------------------------- errors */

/* A bound of an output of a kernel node. */
struct output_bound {
  const struct sl_slot_member *at;
  uint32_t step, which, bound; /* numbers of the error words; bound of the member */
};

/* Fast check for overflow, which is rare. */
static int has_overflow(const struct sl_slot *slot) {
  const struct sl_layout *l = slot->layout;
  uint32_t overflows = 0;
  for (uint32_t w = 0; w < l->used_count; w++) overflows += slot->used_seen[w] > l->used_capacities[w] ? 1u : 0u;
  return overflows > 0;
}

/* Finds the first bound, in order of the steps, that has overflowed. */
static int find_overflow(const struct sl_slot *slot, struct output_bound *found) {
  const struct sl_setup *s = slot->setup;
  if (!has_overflow(slot)) return 0;
  for (uint32_t i = 0, step = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind != SL_KIND_KERNEL) continue;
    for (uint32_t m = 0, outputs = 0; m < a->member_count; m++) {
      if (a->members[m].kind != SL_MEMBER_OUT) continue;
      const struct sl_slot_member *at = &slot->layout->members[n][m];
      for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
        *found = (struct output_bound){at, step, outputs * SL_BOUNDS_MAX + b, b};
        if (at->used[b] != NO_INDEX && slot->used_seen[at->used[b]] > at->capacities[b]) return 1;
      }
      outputs++;
    }
    step++;
  }
  return 0;
}

static int execute_range(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count);

static int deliver(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count, int empty) {
  if (!slot->delivery->active) return SL_OK;
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_WAIT_TO_DELIVER);
  int status = sl_order_await(slot, &slot->slices_in_flight[k]);
  sl_scope_end_span(slot, scope, sl_activity_name(SL_ACTIVITY_WAIT_TO_DELIVER), NULL, 0);
  if (status == SL_OK) status = sl_deliver(slot, k, first, count, empty);
  if (status == SL_OK) slot->slices_in_flight[k].delivered = first + count;
  return status;
}

/* Runs a range of events in parts of `size` events. */
static int execute_parts(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count, uint32_t size) {
  int status = SL_OK;
  for (uint32_t done = 0; done < count && status == SL_OK; done += size)
    status = execute_range(slot, k, first + done, count - done < size ? count - done : size);
  return status;
}

static int retry_in_parts(struct sl_slot *slot, uint32_t k, uint32_t first, const struct sl_overflow *overflow) {
  const uint64_t begin = sl_now_ns();
  slot->retries++;
  const uint32_t size = sl_overflow_occurred(slot->history, slot->slices_in_flight[k].input, overflow);
  const int status = execute_parts(slot, k, first, overflow->count, size);
  sl_span_end(slot, "retry in parts", begin, "events", overflow->count);
  return status;
}

static struct sl_overflow overflow_of(const struct sl_slot *slot, uint32_t count, const struct output_bound *bound) {
  const uint32_t word = bound->at->used[bound->bound];
  return (struct sl_overflow){slot->layout->plan, count, word, slot->used_seen[word],
                              bound->at->capacities[bound->bound]};
}

/* The packed results of a part that did not fit into the output. */
static struct sl_overflow overflow_of_results(const struct sl_slot *slot, uint32_t count) {
  return (struct sl_overflow){slot->layout->plan, count, slot->layout->used_count, slot->results_bytes,
                              slot->results_room};
}

/* Marks the refused events and returns their number. `alone`: the error of the only event of the part if no kernel
 * reported it, or 0. */
static uint32_t mark_refused(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count, uint64_t alone) {
  uint32_t refused = 0;
  for (uint32_t e = 0; (slot->refused_seen || alone) && e < count; e++) {
    uint64_t error = slot->refused_seen && !SL_ERROR_IS_TRUNCATION(slot->errors_seen[e]) ? slot->errors_seen[e] : 0;
    if (alone > error) error = alone;
    if (!error) continue;
    struct sl_event *event = &slot->slices_in_flight[k].input->events[first + e];
    event->error = SL_ERROR_WHICH(error) ? SL_EVENT_OVERFLOW : SL_EVENT_REFUSED;
    slot->slices_in_flight[k].input->refusals[first + e] = error;
    refused++;
  }
  return refused;
}

/* Error of an event that overflows a bound alone. The scans report it too; kernels that count by themselves do not. */
static uint64_t error_alone(const struct sl_slot *slot, const struct output_bound *overflow) {
  return SL_ERROR_BASE(overflow->step) | SL_ERROR_LIMIT(overflow->which) |
         slot->used_seen[overflow->at->used[overflow->bound]];
}

static void remember_fill(struct sl_slot *slot) {
  for (uint32_t w = 0; w < slot->layout->used_count; w++)
    if (slot->used_seen[w] > slot->used_max[w]) slot->used_max[w] = slot->used_seen[w];
}

/* --------------------------------------------------------------------------------------------------------- */

/* Runs events without an error. */
static int execute_good(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  const uint32_t outer = slot->activity;
  const uint64_t begin = sl_activity_settle(slot);
  SL_NOTIFY(slot->observers, part_begin, begin);
  const int status = run_part(slot, k, first, count);
  sl_activity_enter(slot, outer);
  SL_NOTIFY(slot->observers, part_end, slot->activity_ns);
  sl_span_add(slot, slot->setup->backend->is_device ? "wait" : "run", begin, slot->activity_ns, "events", count);
  if (status < 0) return status;
  struct output_bound overflow;
  const int overflows = find_overflow(slot, &overflow);
  if (overflows && count > 1) {
    const struct sl_overflow of_bound = overflow_of(slot, count, &overflow);
    return retry_in_parts(slot, k, first, &of_bound);
  }
  if (!overflows && sl_kept_pack(slot, k, first, count) < 0) return SL_ENOMEM;
  if (slot->results_bytes > slot->results_room && count > 1) { /* the results of one event always fit */
    const struct sl_overflow of_results = overflow_of_results(slot, count);
    return retry_in_parts(slot, k, first, &of_results);
  }
  if (mark_refused(slot, k, first, count, overflows ? error_alone(slot, &overflow) : 0)) {
    slot->retries++;
    const uint64_t again = sl_now_ns();
    const int rest = execute_range(slot, k, first, count);
    sl_span_end(slot, "retry without refused events", again, "events", count);
    return rest;
  }
  remember_fill(slot);
  sl_overflow_absent(slot->history, slot->used_seen, count);
  SL_NOTIFY(slot->observers, part_accepted, slot, count);
  slot->graph_events += count;
  return deliver(slot, k, first, count, 0);
}

static int execute_range(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  struct sl_conditions *conditions = slot->setup->conditions;
  struct sl_input *input = slot->slices_in_flight[k].input;
  const struct sl_event *events = input->events;
  const uint32_t end = first + count;
  int status = SL_OK;
  while (first < end && status == SL_OK) {
    uint32_t next = range_end(slot->setup, events, first, end);
    if (next > first && conditions && !sl_conditions_are_present(conditions, &events[first]))
      status = conditions->enter(conditions, input, first, next);
    if (status < 0) break;
    if (!events[first].error) {
      status = execute_good(slot, k, first, next - first);
    } else {
      next = first + 1;
      status = deliver(slot, k, first, 1, 1);
    }
    first = next;
  }
  return status;
}

/* Continues after the events that another device delivered. Runs in parts if an earlier overflow requires it. */
int sl_execute_finish(struct sl_slot *slot, uint32_t slice_index) {
  const struct sl_input *input = slot->slices_in_flight[slice_index].input;
  const uint32_t first = slot->slices_in_flight[slice_index].delivered;
  const uint32_t parts = sl_overflow_parts(slot->slices_in_flight[slice_index].input, slot->layout->plan);
  SL_NOTIFY(slot->observers, input, slot, input);
  return execute_parts(slot, slice_index, first, input->event_count - first, (input->event_count + parts - 1) / parts);
}
