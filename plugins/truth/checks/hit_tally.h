/* hit_tally.h: how well found hits of a detector agree with the truth: how many of its ids are found, how many of those
 * found stand in it, and how many ids were found twice.
 *
 * Used for event after event; its memory only grows. Zero-initialise it.
 */
#ifndef TRUTH_HIT_TALLY_H
#define TRUTH_HIT_TALLY_H

#include "association/mc_particles.h"

#include <sluice/plugin.h>

struct id_list {
  uint32_t *ids;
  uint32_t count, capacity;
};

struct hit_tally {
  struct id_list found, true_ids; /* of the event at hand */
  uint64_t hits, hits_in_truth, hits_twice, true_hits;
};

/* An event's hits in a detector (MC_...); what the particles have is in `mc`. 0 or SL_ENOMEM. */
int hit_tally_add(struct hit_tally *t, const struct mc_event *mc, uint32_t detector, const uint32_t *ids,
                  uint32_t count);
/* Whether found ids and true ones are of the same detector and events: some stand in both, or nothing was found. */
int hit_tally_is_comparable(const struct hit_tally *t);
/* Keys of the report; and a line, of so many events of the detector. */
void hit_tally_report(const struct hit_tally *t, const struct sl_report *r);
void hit_tally_line(const struct hit_tally *t, const struct sl_report *r, const char *detector, uint64_t events);
/* A warning where they are not comparable. */
void hit_tally_warn(const struct hit_tally *t, const struct sl_services *s, const char *detector);
void hit_tally_free(struct hit_tally *t);

#endif
