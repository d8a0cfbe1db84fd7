/* mep_events.h: appends the events of packets (MEP) to slices, one packet after the other. Used by all sources of
 * packets. If a packet cannot be read, all its events are errors, as many as its first block states, with one message.
 * An event with an ODIN fragment marked broken is an error. Other fragments that are missing or marked broken are banks
 * that the event does not have. */
#ifndef IO_MEP_EVENTS_H
#define IO_MEP_EVENTS_H

#include "mep_window.h"

/* Reports one fault of `count` events from `first` on: 0, or an error that ends the run. */
typedef int mep_events_report(void *context, const struct sl_services *s, const struct sl_event *first, uint32_t count,
                              const char *text);

struct mep_events {
  struct io_packer *packer;
  mep_events_report *report;
  void *context;
  struct mep_window window;
  struct sl_event origin;       /* properties of the current packet: offset, file, run, number */
  uint32_t bad_count, bad_done; /* events of an unreadable packet; bad_done: those in slices */
  struct sl_event bad;          /* the first event of the unreadable packet */
};

/* Returns 1 if all events of the current packet are in slices. */
static inline int mep_events_are_done(const struct mep_events *m) {
  return m->bad_done == m->bad_count && mep_window_is_done(&m->window);
}
/* Opens the next packet; the previous one must be done. Its events take run, file and offset from `origin` if they have
 * no own value. `data` must stay valid until all of them are in slices. Returns 0, SL_EFORMAT with the fault filled, or
 * SL_ENOMEM. */
int mep_events_open(struct mep_events *m, const struct sl_services *s, const struct sl_event *origin,
                    const uint8_t *data, uint64_t bytes, struct mdf_fault *fault);
/* Begins a packet that cannot be read: its events get `error`, and `text` is reported once. If the packet shows no
 * event id, the number is that of `origin`. Returns 0, or the result of `report`. */
int mep_events_reject(struct mep_events *m, const struct sl_services *s, const struct sl_event *origin,
                      const uint8_t *data, uint64_t bytes, uint32_t error, const char *text);
/* Appends events of the packet up to and including the next bad one: 1, 0 if the slice is full, or an error. */
int mep_events_append(struct mep_events *m, const struct sl_services *s, struct sl_fill *fill);
void mep_events_close(struct mep_events *m);

#endif
