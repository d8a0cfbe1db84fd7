/* mep_events.h: the events of packets (MEP) into slices, one packet after the other, for sources of packets wherever
 * they come from. A packet that cannot be read makes all its events errors, as many as its first block says, with one
 * message. An event whose ODIN fragment is marked broken is an error too. Other fragments marked broken, or missing,
 * are banks that the event does not have. */
#ifndef IO_MEP_EVENTS_H
#define IO_MEP_EVENTS_H

#include "mep_window.h"

/* Says what is wrong with `count` events, the first of which is this one: 0, or an error that ends the run. */
typedef int mep_events_tell(void *context, const struct sl_services *s, const struct sl_event *first, uint32_t count,
                            const char *text);

struct mep_events {
  struct io_packer *packer;
  mep_events_tell *tell;
  void *context;
  struct mep_window window;
  struct sl_event origin;       /* of the packet at hand: what is known from where it came */
  uint32_t bad_count, bad_done; /* events of a packet that cannot be read; of these, in slices */
  struct sl_event bad;          /* the first of them */
};

/* Has every event of the packet at hand gone into a slice? */
static inline int mep_events_are_done(const struct mep_events *m) {
  return m->bad_done == m->bad_count && mep_window_is_done(&m->window);
}
/* Begins a packet, when the one before is done. Its events get run, file and offset of `origin` where they do not say
 * it themselves; what `data` points to must stay until all of them are in slices. 0, SL_EFORMAT with the fault
 * filled, or SL_ENOMEM. */
int mep_events_open(struct mep_events *m, const struct sl_services *s, const struct sl_event *origin,
                    const uint8_t *data, uint64_t bytes, struct mdf_fault *fault);
/* One that cannot be read, in whole, with the error of its events and why: 0, or what `tell` returned. An event that
 * nothing tells the number of has that of `origin`. */
int mep_events_lose(struct mep_events *m, const struct sl_services *s, const struct sl_event *origin,
                    const uint8_t *data, uint64_t bytes, uint32_t error, const char *text);
/* Appends events of the packet up to the next bad one, which is appended too: 1, 0 if the slice is full, or an error.
 */
int mep_events_append(struct mep_events *m, const struct sl_services *s, struct sl_fill *fill);
void mep_events_close(struct mep_events *m);

#endif
