/* signal_decay.h: which long tracks are the charged daughters of an event's simulated signal (README.md).
 *
 * A struct signal_decay is used again for event after event; its memory only grows. Zero-initialise it.
 */
#ifndef TRUTH_SIGNAL_DECAY_H
#define TRUTH_SIGNAL_DECAY_H

#include "association.h"

enum { SIGNAL_DAUGHTERS_MAX = 16 };

struct signal_decay {
  uint32_t listed;           /* daughters that the truth lists: those with hits */
  uint32_t long_ones;        /* of the first 16 of them, bits: is to be found as a long track */
  uint32_t found;            /* likewise: a long track matches it */
  uint32_t *track_daughters; /* of each long track, such bits: the daughters that it matches */
  uint64_t track_capacity;   /* of these */
  uint32_t particles[SIGNAL_DAUGHTERS_MAX];
};

/* Finds the daughters among the particles of an event with so many long tracks: 0 or SL_ENOMEM. */
int signal_decay_begin(struct signal_decay *decay, const struct mc_event *mc, uint32_t track_count);
/* After association_match of long track number `track` of the event. */
void signal_decay_add_track(struct signal_decay *decay, const struct association *a, uint32_t track);
void signal_decay_free(struct signal_decay *decay);

/* Whether all of `count` daughters are to be found, and whether all of them are. */
static inline int signal_is_reconstructible(const struct signal_decay *decay, uint32_t count) {
  return decay->listed == count && decay->long_ones == (1u << count) - 1;
}
static inline int signal_is_found(const struct signal_decay *decay, uint32_t count) {
  return signal_is_reconstructible(decay, count) && decay->found == decay->long_ones;
}
/* Whether two tracks of the event match two of the daughters, not both the same one alone. */
static inline int signal_has_pair(const struct signal_decay *decay, uint32_t first, uint32_t second) {
  const uint32_t a = decay->track_daughters[first], b = decay->track_daughters[second], both = a | b;
  return a && b && (both & (both - 1)) != 0;
}

#endif
