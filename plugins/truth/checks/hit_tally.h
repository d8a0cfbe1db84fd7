/* hit_tally.h: counts how hits found in a detector agree with the truth: true ids that were found, found ids that are
 * true, and duplicates.
 * Reused for all events; the memory only grows. Initialise it with zeros. */
#ifndef TRUTH_HIT_TALLY_H
#define TRUTH_HIT_TALLY_H

#include "association/mc_particles.h"

#include <sluice/plugin.h>

struct id_list {
  uint32_t *ids;
  uint32_t count, capacity;
};

struct hit_tally {
  struct id_list found, true_ids; /* of the current event */
  uint64_t hits, hits_in_truth, duplicate_hits, true_hits;
};

/* Adds the hits found in a detector (MC_...) for an event with truth `mc`. 0 or SL_ENOMEM. */
int hit_tally_add(struct hit_tally *t, const struct mc_event *mc, uint32_t detector, const uint32_t *ids,
                  uint32_t count);
/* False if hits were found but none is in the truth: then the truth is of another detector or other events. */
int hit_tally_is_comparable(const struct hit_tally *t);
/* Writes the keys of the report, and a line with the number of events. */
void hit_tally_report(const struct hit_tally *t, const struct sl_report *r);
void hit_tally_line(const struct hit_tally *t, const struct sl_report *r, const char *detector, uint64_t events);
/* Warns if the hits and the truth are not comparable. */
void hit_tally_warn(const struct hit_tally *t, const struct sl_services *s, const char *detector);
void hit_tally_free(struct hit_tally *t);

#endif
