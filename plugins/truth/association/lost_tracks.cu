/* truth.lost_tracks: finds for each true particle the stages of a reconstruction that found its track, and the first
 * stage that lost it, which `sluice explain` shows.
 *   For each particle and stage: whether a track of the stage matches the particle (a linear search).
 * Parallelism: one block per event, one thread per particle.
 * Cost per event: reads the matches of all stages once for each particle. */
#include "truth/event_model.h"

#include <sluice/kernel.h>

enum { STAGES_MAX = 32 };

#define SL_ARGS lost_tracks_args
#define LOST_TRACKS(M)                                                                                                \
  M(IN, candidates, truth_particles, "offsets pdg p pt eta z flags", "true particles")                                \
  M(LIST_IN, stages, truth_matches, "offsets particle", "matches of the tracks of each stage, in order of execution") \
  M(OUT, losses, truth_losses, "stages that found each particle", SL_SHARES_OFFSETS(candidates))                      \
  M(U32, flags, 1, 0, 0x1FF, "",                                                                                      \
    "flags that explained particles have, as in truth_particles (1: long, 2: downstream, ...)")                       \
  M(F32, min_p, 0.0, 0.0, 1e9, "MeV", "minimum momentum of explained particles")                                      \
  M(F32, min_pt, 0.0, 0.0, 1e9, "MeV", "minimum transverse momentum of explained particles")
SL_ARGUMENTS(lost_tracks, LOST_TRACKS);

static int check(const struct sl_services *s, const void *args) {
  const struct lost_tracks_args *a = (const struct lost_tracks_args *)args;
  if (a->stages.count >= 1 && a->stages.count <= STAGES_MAX) return SL_OK;
  s->message(s->context, SL_ERROR, "stages: %u stages are connected; there must be 1 to %d", a->stages.count,
             STAGES_MAX);
  return SL_EINVAL;
}

/* Whether a track of a stage matches particle `particle` of the event. */
static SL_DEVICE uint32_t is_found(const struct truth_matches_view *matches, uint32_t event, uint32_t particle) {
  for (uint32_t t = matches->offsets[event]; t < matches->offsets[event + 1]; t++)
    if (matches->particle[t] == (int32_t)particle) return 1;
  return 0;
}

SL_KERNEL(find_losses, struct lost_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.candidates.offsets[event], end = a.candidates.offsets[event + 1];
    for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      uint32_t found = 0, lost = a.stages.count;
      for (uint32_t k = a.stages.count; k-- > 0;) {
        const uint32_t bit = is_found(&a.stages.at[k], event, i - begin);
        found |= bit << k;
        if (!bit) lost = k;
      }
      a.losses.found[i] = found;
      a.losses.lost[i] = lost;
    }
  }
}

static int run(const struct sl_launch *l, const struct lost_tracks_args *a) {
  return SL_LAUNCH(l, find_losses, SL_PER_EVENT, *a);
}

#ifdef SL_TARGET_CPU
static uint32_t explain_particle(const struct lost_tracks_args *a, uint32_t i, struct sl_explanation *explanation) {
  SL_EXPLAIN_VALUE("PDG id", a->candidates.pdg[i]);
  SL_EXPLAIN_VALUE("p", a->candidates.p[i]);
  SL_EXPLAIN_VALUE("pt", a->candidates.pt[i]);
  SL_EXPLAIN_VALUE("eta", a->candidates.eta[i]);
  SL_EXPLAIN_VALUE("z of the origin", a->candidates.z[i]);
  for (uint32_t k = 0; k < a->stages.count; k++)
    SL_REQUIRE_THAT(a->stages.names[k], (a->losses.found[i] >> k & 1u) != 0);
  return 1;
}

static uint32_t none_is_lost(uint32_t lost, struct sl_explanation *explanation) {
  SL_REQUIRE("lost particles", lost, ==, 0);
  return 1;
}

static uint32_t explain(struct sl_explanation *explanation, const void *args, uint32_t event) {
  const struct lost_tracks_args *a = (const struct lost_tracks_args *)args;
  const uint32_t begin = a->candidates.offsets[event];
  uint32_t lost = 0;
  for (uint32_t i = begin; i < a->candidates.offsets[event + 1]; i++) {
    const uint32_t is_explained = (a->candidates.flags[i] & a->flags) == a->flags && a->candidates.p[i] >= a->min_p &&
                                  a->candidates.pt[i] >= a->min_pt;
    if (!is_explained) continue;
    const uint32_t event_is_unmet = sl_explain_begin(explanation, i - begin);
    lost += 1 - sl_explain_end(explanation, event_is_unmet, explain_particle(a, i, explanation));
  }
  return sl_explained(explanation, none_is_lost(lost, explanation));
}
#endif

SL_ALGORITHM(lost_tracks, "finds the stage of a reconstruction that lost the track of each true particle", 128, run,
             SL_CHECK(check), SL_EXPLAIN(explain));
