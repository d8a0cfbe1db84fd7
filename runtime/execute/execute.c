/* execute.c: a slice through the graph.
 *
 * The steps of the graph are enqueued in order, each on the stream of its branch. Where the backend has a memory of its
 * own, the input is copied up first, all steps and the packing of results are captured once a flight and replayed, and
 * the host waits once, for the packed results. If an output overflowed, the slice is run again in two parts; if events
 * were refused, again without them. A part is the same input seen from a later event: the pointers of fields that go by
 * event move, all others stay, since offsets need not begin at 0.
 */
#include "layout/bind.h"
#include "execute/session.h"

#include <stdio.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* -------------------------------------------------------------------------------------------------- steps */

static int combine(struct sl_slot *slot, const struct sl_flight *flight, struct sl_stream *stream,
                   const struct sl_list_set *set) {
  const struct sl_list_pointers *lists = (const struct sl_list_pointers *)(const void *)flight->tables.device;
  const struct sl_combination c = {.lists = lists + set->first_pointer,
                                   .list_count = set->port_count,
                                   .wanted = set->any ? 1 : set->port_count,
                                   .tally = slot->storage[set->tally_storage],
                                   .count = slot->storage[set->count_storage],
                                   .numbers = slot->storage[set->numbers_storage]};
  return slot->session->backend->combine(stream, &c);
}

static void tell_list_failed(const struct sl_slot *slot, uint32_t set) {
  const struct sl_session *s = slot->session;
  uint32_t n = 0;
  while (s->layout->node_set[n] != set) n++; /* some node runs on it */
  const struct sl_node *node = &s->graph->nodes[n];
  sl_diagnose(s->diagnostics, SL_ERROR, &node->place, node->name, NULL, "its event list could not be made: %s",
              s->backend->error(slot->device));
}

/* A device that fails where there are others is told of once: device_failed. */
static int is_left_to_others(const struct sl_slot *slot, int status) {
  return status == SL_EDEVICE && slot->session->backend->is_device && sl_device_has_others(slot);
}

/* Runs a node alone, or as the first of a family that runs together. */
static int run_node(struct sl_slot *slot, const struct sl_flight *flight, const struct sl_step *step, uint32_t n,
                    int together) {
  const struct sl_session *s = slot->session;
  const struct sl_node *node = &s->graph->nodes[n];
  const struct sl_algorithm *a = node->algorithm;
  if (s->backend->range_begin) s->backend->range_begin(together ? node->use : node->name);
  const int status = together                        ? sl_family_run(slot, flight, step)
                     : a->run_tuned && !node->shared ? a->run_tuned(&slot->launches[n], flight->args[n])
                                                     : a->run(&slot->launches[n], flight->args[n]);
  if (s->backend->range_end) s->backend->range_end();
  if (status < 0 && !is_left_to_others(slot, status)) {
    sl_say_node_failure(slot->session, n, status, "failed",
                        status == SL_EDEVICE ? s->backend->error(slot->device) : NULL);
  }
  return status;
}

static uint32_t events_of(const struct sl_slot *slot, uint32_t n, uint32_t count) {
  const struct sl_layout *l = slot->session->layout;
  const uint32_t set = l->node_set[n];
  return set == NO_INDEX ? count : *(const uint32_t *)slot->storage[l->sets[set].count_storage];
}

/* Time and events of nodes that have just run on the host; of several that ran together, each has the same share. */
static void count_nodes(struct sl_slot *slot, const struct sl_flight *flight, const char *name, const uint32_t *nodes,
                        uint32_t node_count, uint32_t count) {
  const uint64_t before = slot->account.since_ns, after = sl_time_share_out(slot, nodes, node_count);
  sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), name, before, after, "events",
                events_of(slot, nodes[0], count));
  for (uint32_t i = 0; i < node_count; i++) {
    slot->node_calls[nodes[i]]++;
    slot->node_events[nodes[i]] += events_of(slot, nodes[i], count);
    sl_traffic_count_listed(slot, flight, nodes[i]);
  }
}

static int run_step(struct sl_slot *slot, const struct sl_flight *flight, uint32_t step, uint32_t count) {
  const struct sl_session *s = slot->session;
  const struct sl_step *at = &s->layout->steps[step];
  const int together = at->node_count > 1 && !s->backend->by_node;
  const uint32_t width = together ? at->node_count : 1;
  int status = s->backend->is_device ? SL_OK : sl_clears_run(slot, slot->stream, step, NULL, 0);
  for (uint32_t i = 0; i < at->node_count && status == SL_OK; i += width) {
    const int left_out = sl_watch_step(slot, flight, at, at->nodes[i]);
    status = left_out < 0 ? left_out : SL_OK;
    if (left_out == 0 && s->options.race) status = sl_race_begin(slot, flight, at->nodes + i, width);
    if (left_out == 0 && status == SL_OK) status = run_node(slot, flight, at, at->nodes[i], together);
    if (left_out != 0 || status < 0 || s->backend->is_device) continue;
    const char *name = together ? sl_step_name(s->layout, step) : s->graph->nodes[at->nodes[i]].name;
    count_nodes(slot, flight, name, at->nodes + i, width, count);
    if (!s->options.guard) continue;
    const uint32_t outer = sl_time_enter(slot, SL_TIME_GUARD);
    for (uint32_t k = i; k < i + width && status == SL_OK; k++) status = sl_guard_check(slot, flight, at->nodes[k]);
    sl_time_enter(slot, outer);
  }
  return status;
}

static int make_list(struct sl_slot *slot, const struct sl_flight *flight, uint32_t step) {
  const struct sl_step *at = &slot->session->layout->steps[step];
  const int left_out = sl_watch_step(slot, flight, at, NO_INDEX);
  if (left_out != 0) return left_out < 0 ? left_out : SL_OK;
  const int status = combine(slot, flight, sl_step_stream(slot, step), &slot->session->layout->sets[at->set]);
  if (status < 0 && !is_left_to_others(slot, status)) tell_list_failed(slot, at->set);
  return status;
}

/* Clears what must be clear before the step on a device and, with `notes`, lets the host know which step its branch is
 * at. The higher byte changes before the lower one, and seldom: in short graphs never. */
static int clear_before(struct sl_slot *slot, uint32_t step, int notes) {
  const struct sl_layout *l = slot->session->layout;
  const struct sl_step *at = &l->steps[step];
  struct sl_stream *stream = sl_step_stream(slot, step);
  const uint32_t number = step + 1;
  uint8_t *running = notes ? &slot->running[2 * at->branch] : NULL;
  int status = SL_OK;
  if (notes && l->step_count >= 256 && (l->branch_count > 1 || step == 0 || number % 256 == 0))
    status = slot->session->backend->note(stream, &running[1], (uint8_t)(number >> 8));
  return status == SL_OK ? sl_clears_run(slot, stream, step, running, (uint8_t)number) : status;
}

static int begin_step(struct sl_slot *slot, uint32_t flight, uint32_t step, int notes) {
  int status = sl_step_await(slot, step);
  if (status == SL_OK) status = sl_mark_before_step(slot, flight, step);
  if (status == SL_OK) status = clear_before(slot, step, notes);
  return status == SL_OK && step == 0 ? sl_streams_fork(slot) : status;
}

static int end_step(struct sl_slot *slot, uint32_t flight, uint32_t step) {
  const int status = sl_step_reached(slot, step);
  return status == SL_OK ? sl_mark_after_step(slot, flight, step) : status;
}

static int pack_results(struct sl_slot *slot, uint32_t flight) {
  int status = sl_streams_join(slot);
  if (status == SL_OK) status = sl_mark_slice(slot, flight, SL_SLICE_STEPS_END);
  if (status == SL_OK) status = sl_pack_enqueue(slot, flight);
  return status == SL_OK ? sl_mark_slice(slot, flight, SL_SLICE_PACKED) : status;
}

/* Enqueues all steps for `count` events; without a device, that is to run them. `notes`: the device tells where it is,
 * which is a kernel more a step. */
static int enqueue_steps(struct sl_slot *slot, uint32_t flight, uint32_t count, int notes) {
  const struct sl_session *s = slot->session;
  const struct sl_layout *l = s->layout;
  const int is_device = s->backend->is_device;
  int status = SL_OK;
  sl_streams_point(slot, is_device ? slot->flights[flight].device_event_count : &slot->event_count);
  if (is_device && l->step_count == 0) status = sl_clears_run(slot, slot->stream, 0, NULL, 0);
  if (!is_device) {
    memset(slot->errors, 0, count * sizeof *slot->errors);
    memset(slot->used, 0, l->used_count * sizeof *slot->used);
  }
  for (uint32_t step = 0; step < l->step_count && status == SL_OK; step++) {
    const struct sl_step *at = &l->steps[step];
    status = is_device ? begin_step(slot, flight, step, notes) : SL_OK;
    if (status < 0) break;
    if (s->options.guard) sl_guard_poison(slot, step);
    if (s->options.race) sl_race_forget(slot, step);
    if (at->kind == SL_STEP_RUN)
      status = run_step(slot, &slot->flights[flight], step, count);
    else
      status = make_list(slot, &slot->flights[flight], step);
    if (!is_device) sl_time_settle(slot); /* what is left of it is no node's */
    if (is_device && status == SL_OK) status = end_step(slot, flight, step);
  }
  return status == SL_OK && is_device ? pack_results(slot, flight) : status;
}

/* ------------------------------------------------------------------------------------------------- device */

/* The step that a branch was at when the device failed, or NO_INDEX. */
static uint32_t running_in(const struct sl_slot *slot, uint32_t branch) {
  const struct sl_layout *l = slot->session->layout;
  if (!slot->running) return NO_INDEX;
  const uint32_t step = slot->running[2 * branch] + 256u * slot->running[2 * branch + 1] - 1u;
  return step < l->step_count && l->steps[step].branch == branch ? step : NO_INDEX;
}

/* Was the step complete by what other branches have come to? */
static int is_complete(const struct sl_slot *slot, uint32_t step) {
  for (uint32_t b = 0; b < slot->session->layout->branch_count; b++) {
    const uint32_t other = running_in(slot, b);
    if (other != NO_INDEX && other != step && sl_step_precedes(slot->session->layout, step, other)) return 1;
  }
  return 0;
}

/* A failure of the device is final: no further slice runs on it. Step by step it is known where each branch was; that
 * of a captured graph is not. Where there are other devices, the slice is left to them; other failures than the
 * device's are the same on all of them. */
static int device_failed(struct sl_slot *slot, int status, const char *what) {
  struct sl_session *s = slot->session;
  int is_first = 1;
  const int others = status == SL_EDEVICE && sl_device_lose(slot, &is_first);
  if (others) slot->detour = SL_LEFT;
  if (!is_first && s->device_count > 1) return status; /* it was told of */
  const struct sl_node *node = NULL;
  char beside[256] = "", which[80] = "";
  for (uint32_t b = 0; b < s->layout->branch_count; b++) {
    const uint32_t step = running_in(slot, b);
    if (step == NO_INDEX || s->layout->steps[step].kind != SL_STEP_RUN || is_complete(slot, step)) continue;
    const size_t length = strlen(beside);
    if (node) snprintf(beside + length, sizeof beside - length, ", or beside it in %s", sl_step_name(s->layout, step));
    if (!node) node = &s->graph->nodes[s->layout->steps[step].nodes[0]];
  }
  if (s->device_count > 1)
    snprintf(which, sizeof which, "%s is lost, %s: ", slot->place->name,
             others ? "and its slices run on other devices" : "the last one");
  sl_diagnose(s->diagnostics, others ? SL_WARNING : SL_ERROR, node ? &node->place : NULL, node ? node->name : NULL,
              node                                               ? "compute-sanitizer names the kernel and the line"
              : slot->running && !slot->session->options.profile ? "--profile runs step by step, and names the node"
                                                                 : NULL,
              "%s%s%s%s%s: %s", which, what, node ? " in " : "", node ? node->use : "", beside,
              s->backend->error(slot->device));
  return status;
}

uint64_t sl_filled_entries(const struct sl_session *s, const struct sl_input *input, const struct sl_storage *storage) {
  const struct sl_member *m = &s->graph->nodes[storage->node].algorithm->members[storage->member];
  const struct sl_field *field = &m->collection->fields[storage->field];
  const uint32_t *used = &input->used[SL_BOUNDS_MAX * storage->member];
  const uint32_t subitems = used[sl_group_of(m->collection, storage->field)];
  return sl_field_values(field, input->event_count, used[0], subitems) / field->width;
}

/* Copies what kernels read of an input, and of that what is filled. */
static int upload(struct sl_slot *slot, struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  const struct sl_input *input = flight->input;
  int status = s->backend->upload(slot->stream, flight->device_event_count, &input->event_count, sizeof(uint32_t));
  slot->bytes_up += sizeof(uint32_t);
  for (uint32_t i = 0; i < s->layout->storage_count && status == SL_OK; i++) {
    const struct sl_storage *storage = &s->layout->storage[i];
    if (storage->kind != SL_STORAGE_INPUT || !storage->read_by_kernel) continue;
    const struct sl_member *m = &s->graph->nodes[storage->node].algorithm->members[storage->member];
    const struct sl_field *field = &m->collection->fields[storage->field];
    const uint64_t bytes = sl_filled_entries(s, input, storage) * field->width * sl_type_bytes(field->type);
    status =
        s->backend->upload(slot->stream, flight->device_input + storage->offset, input->block + storage->offset, bytes);
    slot->bytes_up += bytes;
  }
  return status;
}

/* Points the kernels' arguments to the input, from event `first` on. */
static void patch(struct sl_slot *slot, struct sl_flight *flight, uint32_t first) {
  unsigned char *block = flight->device_input ? flight->device_input : flight->input->block;
  for (uint32_t p = 0; p < flight->patch_count; p++) {
    const struct sl_storage *storage = &slot->session->layout->storage[flight->patches[p].storage];
    *flight->patches[p].pointer = block + storage->offset + first * storage->event_stride_bytes;
  }
}

/* Points the kernels' arguments and the packing of results to the input, from event `first` on. Nothing of the flight
 * may run meanwhile. */
static int point(struct sl_slot *slot, uint32_t k, uint32_t first) {
  patch(slot, &slot->flights[k], first);
  const int status = sl_tables_upload(slot, &slot->flights[k]);
  return status == SL_OK ? sl_pack_point(slot, k, first) : status;
}

/* Where the device is. Nothing that notes it may run meanwhile. */
static void forget_notes(struct sl_slot *slot) { memset(slot->running, 0, 2 * slot->session->layout->branch_count); }

/* Makes the flight's graph of all kernels of a whole slice. They run once before, for no event: what the vendor's
 * runtime loads at the first use would not do so in a capture. */
static int capture(struct sl_slot *slot, uint32_t k) {
  struct sl_session *s = slot->session;
  struct sl_flight *flight = &slot->flights[k];
  int status = s->backend->zero(slot->stream, flight->device_input, s->layout->device_input_bytes);
  if (status == SL_OK) status = s->backend->zero(slot->stream, flight->device_event_count, sizeof(uint32_t));
  if (status == SL_OK) status = point(slot, k, 0);
  if (status == SL_OK) status = enqueue_steps(slot, k, 0, 1);
  if (status == SL_OK) status = s->backend->settle(slot->stream);
  const int has_run = status == SL_OK;
  if (status == SL_OK) status = s->backend->capture_begin(slot->stream);
  const int is_capturing = status == SL_OK;
  if (status == SL_OK) status = enqueue_steps(slot, k, s->slice_events, 0);
  if (is_capturing) { /* else what comes next would be captured, too, and not be done */
    const int ended = s->backend->capture_end(slot->stream, k);
    if (status == SL_OK) status = ended;
  }
  flight->captured = status == SL_OK;
  if (status < 0 && has_run) forget_notes(slot); /* of the run before, which went well */
  return status < 0 ? device_failed(slot, status, "the kernels of a slice could not be captured") : SL_OK;
}

static int has_error_event(const struct sl_input *input) {
  for (uint32_t e = 0; e < input->event_count; e++)
    if (input->events[e].error) return 1;
  return 0;
}

static int replay(struct sl_slot *slot, uint32_t k) {
  forget_notes(slot);
  return slot->session->backend->replay(slot->stream, k);
}

int sl_flight_start(struct sl_slot *slot, uint32_t k) {
  struct sl_session *s = slot->session;
  struct sl_flight *flight = &slot->flights[k];
  flight->started = 0;
  slot->slices++;
  if (!s->backend->is_device || flight->input->event_count == 0) return SL_OK;
  int status = flight->captured ? SL_OK : capture(slot, k);
  if (status < 0) return status;
  if (s->trace.file && slot->epoch_ns == 0 && sl_marks_set_epoch(slot) < 0)
    return device_failed(slot, SL_EDEVICE, "the clock of the trace could not be set");
  const int is_there = s->options.resident && !s->delivery.active; /* what the last pass with uploads left */
  const int marks = sl_marks_are_taken(s) && !is_there;
  if (marks) status = sl_mark_slice(slot, k, SL_SLICE_UPLOAD_BEGIN);
  if (!is_there && status == SL_OK) status = upload(slot, flight);
  if (marks && status == SL_OK) status = sl_mark_slice(slot, k, SL_SLICE_UPLOAD_END);
  flight->uploaded = marks;
  if (status == SL_OK) status = s->backend->uploaded(slot->stream, k);
  if (status < 0) return device_failed(slot, status, "the input could not be copied to the device");
  if (flight->delivered > 0 || has_error_event(flight->input) || atomic_load(&flight->input->parts) > 1)
    return SL_OK; /* runs in parts, when it is finished */
  const int step_by_step = sl_marks_are_taken(s) || s->options.guard;
  const uint64_t waits = s->backend->waits();
  status = step_by_step ? enqueue_steps(slot, k, flight->input->event_count, 1) : replay(slot, k);
  slot->host_syncs += s->backend->waits() - waits;
  if (status == SL_OK) status = s->backend->finished(slot->stream, k);
  if (status < 0) return device_failed(slot, status, "the kernels of a slice could not be launched");
  flight->started = 1;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- a part */

/* A part of a slice that is on the device already. */
static int enqueue_part(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  struct sl_session *s = slot->session;
  struct sl_flight *flight = &slot->flights[k];
  int status = s->backend->settle(slot->stream);
  if (status == SL_OK) status = point(slot, k, first);
  if (status == SL_OK) status = s->backend->upload_now(slot->device, flight->device_event_count, &count, sizeof count);
  const uint64_t waits = s->backend->waits();
  if (status == SL_OK) status = enqueue_steps(slot, k, count, 1);
  slot->host_syncs += s->backend->waits() - waits;
  if (status == SL_OK) status = s->backend->finished(slot->stream, k);
  if (status == SL_OK) status = s->backend->wait(slot->stream, k);
  return status == SL_OK ? point(slot, k, 0) : status;
}

static int run_on_device(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  struct sl_session *s = slot->session;
  struct sl_flight *flight = &slot->flights[k];
  const int started = flight->started;
  flight->started = 0;
  sl_time_enter(slot, SL_TIME_DEVICE);
  int status = started ? s->backend->wait(slot->stream, k) : enqueue_part(slot, k, first, count);
  if (status < 0) return device_failed(slot, status, "a kernel failed");
  if (sl_marks_are_taken(s)) status = sl_marks_count(slot, k, count);
  if (s->trace.file && status == SL_OK) status = sl_marks_trace(slot, k, count);
  if (status < 0) return device_failed(slot, status, "the time stamps of a slice could not be read");
  sl_pack_read(slot, k);
  return SL_OK;
}

/* Runs events [first, first + count); on return the results are there for the host. */
static int run_part(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  if (slot->session->backend->is_device) return run_on_device(slot, k, first, count);
  sl_time_enter(slot, SL_TIME_STEPS);
  patch(slot, &slot->flights[k], first);
  slot->event_count = count;
  slot->first_event = first;
  const int status = enqueue_steps(slot, k, count, 0);
  slot->used_seen = slot->used;
  slot->errors_seen = slot->errors;
  slot->refused_seen = 1; /* look */
  return status;
}

/* --------------------------------------------------------------------------------------------- what went wrong */

/* A bound of an output of a kernel node. */
struct output_bound {
  const struct sl_slot_member *at;
  uint32_t step, which, bound; /* as in the error words; of the member */
};

/* Has anything overflowed? In hardly any slice. */
static int has_overflow(const struct sl_slot *slot) {
  const struct sl_layout *l = slot->session->layout;
  uint32_t overflows = 0;
  for (uint32_t w = 0; w < l->used_count; w++) overflows += slot->used_seen[w] > l->used_capacities[w] ? 1u : 0u;
  return overflows > 0;
}

/* Finds the first bound, in order of the steps, that has overflowed. */
static int find_overflow(const struct sl_slot *slot, struct output_bound *found) {
  const struct sl_session *s = slot->session;
  if (!has_overflow(slot)) return 0;
  for (uint32_t i = 0, step = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind != SL_KIND_KERNEL) continue;
    for (uint32_t m = 0, outputs = 0; m < a->member_count; m++) {
      if (a->members[m].kind != SL_MEMBER_OUT) continue;
      const struct sl_slot_member *at = &s->layout->members[n][m];
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
  if (!slot->session->delivery.active) return SL_OK;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_TURN);
  const uint64_t begin = slot->account.since_ns;
  int status = sl_wait_for_turn(slot, &slot->flights[k]);
  sl_time_enter(slot, outer);
  sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), sl_time_name(SL_TIME_TURN), begin, slot->account.since_ns,
                NULL, 0);
  if (status == SL_OK) status = sl_deliver(slot, k, first, count, empty);
  if (status == SL_OK) slot->flights[k].delivered = first + count;
  return status;
}

/* A range, in parts of `size` events. */
static int execute_parts(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count, uint32_t size) {
  int status = SL_OK;
  for (uint32_t done = 0; done < count && status == SL_OK; done += size)
    status = execute_range(slot, k, first + done, count - done < size ? count - done : size);
  return status;
}

static int retry_in_parts(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count,
                          const struct output_bound *overflow) {
  struct sl_session *s = slot->session;
  pthread_mutex_lock(&s->turns.lock);
  s->statistics.overflows[overflow->at->used[overflow->bound]]++;
  pthread_mutex_unlock(&s->turns.lock);
  slot->retries++;
  const uint64_t begin = sl_now_ns();
  const uint32_t size =
      sl_budget_overflowed(slot, slot->flights[k].input, count, slot->used_seen[overflow->at->used[overflow->bound]],
                           overflow->at->capacities[overflow->bound]);
  const int status = execute_parts(slot, k, first, count, size);
  sl_trace_span(s, SL_TRACK_HOST(slot->index), "retry in parts", begin, sl_now_ns(), "events", count);
  return status;
}

/* Marks the events that were refused. Returns how many. `alone`: the error of the only event, of those that kernels did
 * not find, or 0. */
static uint32_t mark_refused(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count, uint64_t alone) {
  uint32_t refused = 0;
  for (uint32_t e = 0; (slot->refused_seen || alone) && e < count; e++) {
    uint64_t error = slot->refused_seen && !SL_ERROR_IS_CUT(slot->errors_seen[e]) ? slot->errors_seen[e] : 0;
    if (alone > error) error = alone;
    if (!error) continue;
    struct sl_event *event = &slot->flights[k].input->events[first + e];
    event->error = SL_ERROR_WHICH(error) ? SL_EVENT_OVERFLOW : SL_EVENT_REFUSED;
    slot->flights[k].input->refusals[first + e] = error;
    refused++;
  }
  return refused;
}

/* The error of an event that overflows alone. The scans find it too; a kernel that counts by itself does not. */
static uint64_t error_alone(const struct sl_slot *slot, const struct output_bound *overflow) {
  return SL_ERROR_BASE(overflow->step) | SL_ERROR_LIMIT(overflow->which) |
         slot->used_seen[overflow->at->used[overflow->bound]];
}

static void remember_fill(struct sl_slot *slot) {
  for (uint32_t w = 0; w < slot->session->layout->used_count; w++)
    if (slot->used_seen[w] > slot->used_max[w]) slot->used_max[w] = slot->used_seen[w];
}

/* --------------------------------------------------------------------------------------------------------- */

static void enter_graph(struct sl_graph_clock *clock, uint64_t now_ns) {
  pthread_mutex_lock(&clock->lock);
  if (clock->slots++ == 0) clock->since_ns = now_ns;
  pthread_mutex_unlock(&clock->lock);
}

static void leave_graph(struct sl_graph_clock *clock, uint64_t now_ns) {
  pthread_mutex_lock(&clock->lock);
  if (--clock->slots == 0 && now_ns > clock->since_ns) clock->ns += now_ns - clock->since_ns;
  pthread_mutex_unlock(&clock->lock);
}

/* Events without an error. */
static int execute_good(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  const uint32_t outer = slot->account.row;
  const uint64_t begin = sl_time_settle(slot);
  enter_graph(&slot->session->graph_clock, begin);
  const int status = run_part(slot, k, first, count);
  sl_time_enter(slot, outer);
  const uint64_t end = slot->account.since_ns;
  leave_graph(&slot->session->graph_clock, end);
  sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), slot->session->backend->is_device ? "wait" : "run", begin,
                end, "events", count);
  if (status < 0) return status;
  struct output_bound overflow;
  const int overflows = find_overflow(slot, &overflow);
  if (overflows && count > 1) return retry_in_parts(slot, k, first, count, &overflow);
  if (mark_refused(slot, k, first, count, overflows ? error_alone(slot, &overflow) : 0)) {
    slot->retries++;
    const uint64_t again = sl_now_ns();
    const int rest = execute_range(slot, k, first, count);
    sl_trace_span(slot->session, SL_TRACK_HOST(slot->index), "retry without refused events", again, sl_now_ns(),
                  "events", count);
    return rest;
  }
  remember_fill(slot);
  sl_budget_fits(slot, count);
  sl_traffic_count_part(slot, count);
  slot->graph_events += count;
  return deliver(slot, k, first, count, 0);
}

static int execute_range(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  const struct sl_event *events = slot->flights[k].input->events;
  const uint32_t end = first + count;
  int status = SL_OK;
  while (first < end && status == SL_OK) {
    uint32_t next = first;
    while (next < end && !events[next].error) next++;
    if (next > first) {
      status = execute_good(slot, k, first, next - first);
    } else {
      next = first + 1;
      status = deliver(slot, k, first, 1, 1);
    }
    first = next;
  }
  return status;
}

/* In parts, if it was found that only these fit; what another device has delivered is done. */
int sl_flight_finish(struct sl_slot *slot, uint32_t flight) {
  const struct sl_input *input = slot->flights[flight].input;
  const uint32_t first = slot->flights[flight].delivered;
  const uint32_t known = atomic_load(&input->parts), parts = known > 1 ? known : 1;
  sl_traffic_count_input(slot, input);
  return execute_parts(slot, flight, first, input->event_count - first, (input->event_count + parts - 1) / parts);
}
