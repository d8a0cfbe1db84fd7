/* forward_examples.c: truth.forward_examples, writes a table of forward tracks to train the network of forward.ghost
 * with scripts/train (README.md). A row is a track: 1 if it matches no particle by the rules of association.h, else 0;
 * its momentum in GeV; and the inputs of ghost_network.h. */
#include "examples.h"
#include "forward/ghost_network.h"

#define SL_ARGS forward_examples_args
#define FORWARD_EXAMPLES(M)                                                                                        \
  M(IN, inputs, forward_inputs, "offsets velo_track ut_track qop", "tracks at the end of the UT")                  \
  M(IN, best, forward_best_candidates, "hit_count a b c y ty quality", "best candidates of the tracks")            \
  M(IN, scores, forward_ghost_scores, "shared_hits", "shared hits of the tracks")                                  \
  M(IN, hits, scifi_hits, "offsets", "hits of the fibre tracker")                                                  \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit_id", "long tracks of all of `best`") \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks of the event")                        \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id", "UT tracks of the event")                     \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of velo_tracks at the end of the VELO")           \
  M(IN, forward, forward_constants, "constants", "constants of the track model")                                   \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",                \
    "banks with true particles")                                                                                   \
  M(FILE_OUT, path, "", "", "output file; empty: the file of -o")
SL_HOST_ARGUMENTS(forward_examples, FORWARD_EXAMPLES);

/* 1 if long track `track` is of input `item`. */
static uint32_t is_track_of(const struct forward_examples_args *args, uint32_t track, uint32_t item) {
  return args->tracks.velo_track[track] == args->inputs.velo_track[item] &&
         args->tracks.ut_track[track] == args->inputs.ut_track[item];
}

/* Long tracks are in the order of the inputs; inputs without a candidate, and rejected ones, have none. */
static int write_event(struct track_check *tracks, const void *args_, uint32_t event) {
  struct examples *e = (struct examples *)tracks;
  const struct forward_examples_args *args = (const struct forward_examples_args *)args_;
  uint32_t track = args->tracks.offsets[event];
  int status = SL_OK;
  for (uint32_t i = args->inputs.offsets[event]; i < args->inputs.offsets[event + 1] && status == SL_OK; i++) {
    if (args->best.hit_count[i] == 0 || track == args->tracks.offsets[event + 1] || !is_track_of(args, track, i))
      continue;
    const struct track_hits hits = long_track_hits(&args->tracks, track, &args->velo_tracks, &args->ut_tracks, event);
    const uint32_t state = args->end_states.offsets[event] + args->inputs.velo_track[i];
    const struct forward_state velo = forward_velo_state(&args->end_states, state);
    struct forward_ghost_track t = forward_ghost_track_of(&args->inputs, &args->best, &args->forward, &velo, i);
    t.qop = args->tracks.qop[track];
    t.shared_hits = args->scores.shared_hits[i];
    t.event_hits = args->hits.offsets[event + 1] - args->hits.offsets[event];
    float inputs[FORWARD_GHOST_INPUT_COUNT];
    forward_ghost_inputs(&t, inputs);
    association_match(&e->tracks.association, &hits);
    status = examples_add(e, e->tracks.association.match_count == 0 ? 1 : 0, t.qop, inputs, FORWARD_GHOST_INPUT_COUNT);
    track++;
  }
  return examples_end_event(e, status);
}

EXAMPLES_SINK(forward_examples, "is_ghost", FORWARD_GHOST_INPUTS, write_event,
              "writes forward tracks, with truth, to train the ghost network");
