/* mep_events.c: see mep_events.h. */
#include "mep_events.h"

#include "event_faults.h"

static void append(struct sl_fill *fill, const struct sl_event *event) { fill->events[fill->event_count++] = *event; }

/* -------------------------------------------------------------------------------------------------- packets */

/* Sets the events of a packet that cannot be read. */
static void set_rejected(struct mep_events *m, const uint8_t *data, uint64_t bytes) {
  uint32_t count = 1;
  uint64_t id = m->origin.number;
  if (!mep_record_claims(data, bytes, &count, &id)) {
    count = 1;
    id = m->origin.number;
  }
  m->bad = m->origin;
  m->bad.number = id;
  m->bad_count = count;
  m->bad_done = 0;
}

int mep_events_reject(struct mep_events *m, const struct sl_services *s, const struct sl_event *origin,
                      const uint8_t *data, uint64_t bytes, uint32_t error, const char *text) {
  m->origin = *origin;
  set_rejected(m, data, bytes);
  m->bad.error = error;
  return m->report(m->context, s, &m->bad, m->bad_count, text);
}

int mep_events_open(struct mep_events *m, const struct sl_services *s, const struct sl_event *origin,
                    const uint8_t *data, uint64_t bytes, struct mdf_fault *fault) {
  m->origin = *origin;
  if (mep_window_open(&m->window, m->packer, s, data, bytes, fault) == 0) return SL_OK;
  return fault->kind != MDF_FAULT_NONE ? SL_EFORMAT : SL_ENOMEM;
}

void mep_events_close(struct mep_events *m) { mep_window_free(&m->window); }

static void append_rejected(struct mep_events *m, struct sl_fill *fill) {
  while (m->bad_done < m->bad_count && fill->event_count < fill->events_max) {
    struct sl_event event = m->bad;
    event.number += m->bad_done++;
    io_packer_drop(m->packer, fill->event_count);
    append(fill, &event);
  }
}

/* --------------------------------------------------------------------------------------------------- events */

enum { NEXT_TAKEN, NEXT_IS_BAD, SLICE_IS_FULL };

/* Adds the next event of the packet to the window if it is sound and fits. */
static int take_event(struct mep_events *m, struct sl_event *event, uint32_t index, char *text, size_t text_size) {
  struct mep_window *w = &m->window;
  struct mdf_fault fault;
  struct io_packer_excess excess;
  *event = m->origin;
  event->number = w->event_id + w->next;
  if (mep_window_identity(w, &event->run, &event->number, &fault) < 0) {
    event->error = event_error_of_fault(&fault);
    mdf_fault_text(&fault, text, text_size);
  } else {
    mep_window_measure(w, m->packer);
  }
  mep_window_add_record(w, m->packer);
  const int fit = io_packer_fit(m->packer, &excess);
  if (fit == IO_PACKER_SLICE_IS_FULL) {
    io_packer_cancel(m->packer);
    return SLICE_IS_FULL;
  }
  if (fit == IO_PACKER_TOO_LARGE && event->error == SL_EVENT_OK) {
    event->error = SL_EVENT_TOO_LARGE;
    io_packer_excess_text(&excess, text, text_size);
  }
  if (event->error != SL_EVENT_OK) return NEXT_IS_BAD;
  io_packer_commit(m->packer, index);
  mep_window_take(w, m->packer);
  return NEXT_TAKEN;
}

static int append_window(struct mep_events *m, const struct sl_services *s, struct sl_fill *fill) {
  struct mep_window *w = &m->window;
  struct sl_event event;
  char text[256] = "";
  int what = NEXT_TAKEN;
  while (what == NEXT_TAKEN && !mep_window_is_done(w) && fill->event_count < fill->events_max) {
    what = take_event(m, &event, fill->event_count, text, sizeof text);
    if (what == NEXT_TAKEN) append(fill, &event);
  }
  mep_window_copy(w, m->packer, s);
  if (what == SLICE_IS_FULL) return 0;
  if (what == NEXT_TAKEN) return 1;
  const int error = m->report(m->context, s, &event, 1, text);
  if (error) return error;
  io_packer_drop(m->packer, fill->event_count);
  append(fill, &event);
  mep_window_skip(w);
  return 1;
}

int mep_events_append(struct mep_events *m, const struct sl_services *s, struct sl_fill *fill) {
  if (m->bad_done == m->bad_count) return append_window(m, s, fill);
  append_rejected(m, fill);
  return 1;
}
