/* spectrometer_found.h: adds found tracks to a struct spectrometer, with their matches if there is truth. */
#ifndef TRUTH_SPECTROMETER_FOUND_H
#define TRUTH_SPECTROMETER_FOUND_H

#include "association/association.h"
#include "forward/event_model.h"
#include "seeding/event_model.h"
#include "spectrometer.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

/* Tracks of the graph; views without offsets are not connected. */
struct spectrometer_inputs {
  struct velo_tracks_view velo;
  struct track_states_view states;
  struct ut_tracks_view ut;
  struct seeds_view seeds;
  struct long_tracks_view longs;
  const uint8_t *is_muon; /* per long track, or NULL */
};

/* Adds the tracks of an event: SL_OK or SL_ENOMEM. Call it after spectrometer_sort_hits and spectrometer_take_lines.
 * `association` is initialised with the event's particles; NULL without truth. */
int spectrometer_take_tracks(struct spectrometer *p, const struct spectrometer_inputs *inputs, uint32_t event,
                             struct association *association);

#endif
