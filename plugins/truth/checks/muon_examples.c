/* muon_examples.c: truth.muon_examples, writes a table of long tracks that are identified as muons to train the network
 * of muon.score with scripts/train (README.md). A row is a track that matches a particle: 1 if the particle is a muon,
 * else 0; its momentum in GeV; and the inputs of score_network.h. A decay in flight is what it was before the decay.
 * Ghosts have no row, because neither answer would be right: a ghost may have the hits of a true muon. */
#include "examples.h"
#include "muon/score_network.h"

#define SL_ARGS muon_examples_args
#define MUON_EXAMPLES(M)                                                                                    \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop x y tx ty hit_id", "long tracks") \
  M(IN, hits, muon_hits, "offsets x y z half_x half_y", "muon hits to which the flags refer")               \
  M(IN, flags, muon_flags, "is_muon hits", "muon identification of the tracks, with their hits")            \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks of the event")                 \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id", "UT tracks of the event")              \
  M(IN, end_states, track_states, "offsets ty", "states of velo_tracks at the end of the VELO")             \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",         \
    "banks with true particles")                                                                            \
  M(FILE_OUT, path, "", "", "output file; empty: the file of -o")
SL_HOST_ARGUMENTS(muon_examples, MUON_EXAMPLES);

static int write_event(struct track_check *tracks, const void *args_, uint32_t event) {
  struct examples *e = (struct examples *)tracks;
  const struct muon_examples_args *args = (const struct muon_examples_args *)args_;
  int status = SL_OK;
  for (uint32_t i = args->tracks.offsets[event]; i < args->tracks.offsets[event + 1] && status == SL_OK; i++) {
    float inputs[MUON_SCORE_INPUT_COUNT];
    if (!args->flags.is_muon[i]) continue;
    const struct track_hits hits = long_track_hits(&args->tracks, i, &args->velo_tracks, &args->ut_tracks, event);
    const struct muon_score_track t =
        muon_score_track_at(&args->tracks, &args->hits, &args->flags, &args->end_states, event, i);
    track_check_add(&e->tracks, &hits);
    const struct mc_particle *particle = track_check_particle(&e->tracks);
    if (!particle || !muon_score_inputs(&t, inputs)) continue;
    status = examples_add(e, mc_is_muon(particle) ? 1 : 0, t.qop, inputs, MUON_SCORE_INPUT_COUNT);
  }
  return examples_end_event(e, status);
}

EXAMPLES_SINK(muon_examples, "is_muon", MUON_SCORE_INPUTS, write_event,
              "writes tracks identified as muons, with truth, to train the muon network");
