/* spectrometer_found.h: tracks that were found become tracks of a struct spectrometer, judged by truth if there is
 * some.
 */
#ifndef TRUTH_SPECTROMETER_FOUND_H
#define TRUTH_SPECTROMETER_FOUND_H

#include "association/association.h"
#include "forward/event_model.h"
#include "spectrometer.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

/* What a graph gives. Those without offsets are not there. */
struct spectrometer_inputs {
  struct velo_tracks_view velo;
  struct track_states_view states;
  struct ut_tracks_view ut;
  struct long_tracks_view longs;
  const uint8_t *is_muon; /* of each long track, or NULL */
};

/* Once hits are there, and sorted. SL_OK or SL_ENOMEM. `association` has begun with the event's particles; NULL where
 * there is no truth. */
int spectrometer_take_tracks(struct spectrometer *p, const struct spectrometer_inputs *inputs, uint32_t event,
                             struct association *association);

#endif
