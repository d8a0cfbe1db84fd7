/* signal_decay.c: see signal_decay.h. The truth says of every particle whether it is of the signal; the charged ones
 * that live long enough to be seen are the daughters, but for those that come from the decay in flight of such a one.
 */
#include "signal_decay.h"

#include "mc_banks.h"

#include <stdlib.h>
#include <string.h>

/* e, mu, pi, K, p: what trackers see. */
static int is_tracked(int32_t pdg) {
  static const int32_t kinds[] = {11, 13, 211, 321, 2212};
  for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (pdg == kinds[i] || pdg == -kinds[i]) return 1;
  return 0;
}

static int is_daughter(const struct mc_particle *p) {
  return (p->flags & MC_FROM_SIGNAL) && is_tracked(p->pdg) && !is_tracked(p->mother_pdg);
}

void signal_decay_free(struct signal_decay *decay) {
  free(decay->track_daughters);
  *decay = (struct signal_decay){.listed = 0};
}

int signal_decay_begin(struct signal_decay *decay, const struct mc_event *mc, uint32_t track_count) {
  decay->listed = decay->long_ones = decay->found = 0;
  if (!mc_reserve((void **)&decay->track_daughters, &decay->track_capacity, track_count, sizeof(uint32_t)))
    return SL_ENOMEM;
  if (track_count) memset(decay->track_daughters, 0, track_count * sizeof(uint32_t));
  for (uint32_t i = 0; i < mc->particle_count; i++) {
    const struct mc_particle *p = &mc->particles[i];
    if (!is_daughter(p)) continue;
    const uint32_t k = decay->listed++;
    if (k >= SIGNAL_DAUGHTERS_MAX) continue;
    decay->particles[k] = i;
    if ((p->flags & MC_IS_LONG) && mc_in_acceptance(p)) decay->long_ones |= 1u << k;
  }
  return SL_OK;
}

void signal_decay_add_track(struct signal_decay *decay, const struct association *a, uint32_t track) {
  const uint32_t count = decay->listed < SIGNAL_DAUGHTERS_MAX ? decay->listed : SIGNAL_DAUGHTERS_MAX;
  for (uint32_t m = 0; m < a->match_count; m++)
    for (uint32_t k = 0; k < count; k++)
      if (a->matches[m].particle == decay->particles[k]) decay->track_daughters[track] |= 1u << k;
  decay->found |= decay->track_daughters[track];
}
