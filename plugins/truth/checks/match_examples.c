/* match_examples.c: truth.match_examples, writes a table of pairs of VELO tracks and seeds to train the network of
 * seeding.match with scripts/train (README.md).
 * A row is a pair with a small chi2: 0 if both tracks match one particle by the rules of association.h, else 1; the
 * momentum of the pair in GeV, from its bend; and the inputs of match_network.h. */
#include "examples.h"
#include "seeding/match_network.h"

#define SL_ARGS match_examples_args
#define MATCH_EXAMPLES(M)                                                                                \
  M(IN, seeds, seeds, "offsets hit_offsets x y tx ty hit_id", "SciFi seeds")                             \
  M(IN, selected, ut_selected_tracks, "", "VELO tracks that may be paired with seeds")                   \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks of the event")              \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of velo_tracks at the end of the VELO") \
  M(IN, matching, matching_constants, "constants", "constants of the matching")                          \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",      \
    "banks with true particles")                                                                         \
  M(FILE_OUT, path, "", "", "output file; empty: the file of -o")                                        \
  M(F32, max_chi2, 4.0, 0.0, 1e9, "", "largest chi2 of a pair")
SL_HOST_ARGUMENTS(match_examples, MATCH_EXAMPLES);

/* Writes the pairs of seed `i` of the slice. */
static int write_pairs(struct examples *m, const struct match_examples_args *args, uint32_t event, uint32_t i) {
  const struct match_settings settings = {1, 1};
  const struct seeds_view *seeds = &args->seeds;
  const float *constants = args->matching.constants;
  const struct forward_state seed = {seeds->x[i], seeds->y[i], constants[MATCH_Z_END], seeds->tx[i], seeds->ty[i]};
  const uint32_t first = seeds->hit_offsets[i], hits = seeds->hit_offsets[i + 1] - first;
  int status = SL_OK;
  for (uint32_t k = args->selected.offsets[event]; k < args->selected.offsets[event + 1] && status == SL_OK; k++) {
    const uint32_t track = args->selected.track[k];
    const struct forward_state velo = forward_velo_state(&args->end_states, args->end_states.offsets[event] + track);
    const struct matched_pair pair = match_pair(constants, &settings, &velo, &seed);
    if (!(pair.chi2 <= args->max_chi2)) continue;
    const struct track_hits both = {
        .in = {[MC_VELO] = velo_hits_of(&args->velo_tracks, event, track), [MC_SCIFI] = {seeds->hit_id + first, hits}}};
    float inputs[MATCH_INPUT_COUNT];
    match_inputs(&pair, &velo, &seed, hits, inputs);
    association_match(&m->tracks.association, &both);
    const float qop = match_qop(constants, seed.tx, velo.tx, velo.ty, 1);
    const uint32_t is_wrong = m->tracks.association.match_count == 0 ? 1 : 0;
    status = examples_add(m, is_wrong, qop, inputs, MATCH_INPUT_COUNT);
  }
  return status;
}

static int write_event(struct track_check *tracks, const void *args_, uint32_t event) {
  struct examples *m = (struct examples *)tracks;
  const struct match_examples_args *args = (const struct match_examples_args *)args_;
  int status = SL_OK;
  for (uint32_t i = args->seeds.offsets[event]; i < args->seeds.offsets[event + 1] && status == SL_OK; i++)
    status = write_pairs(m, args, event, i);
  return examples_end_event(m, status);
}

EXAMPLES_SINK(match_examples, "is_wrong", MATCH_INPUTS, write_event,
              "writes pairs of tracks, with truth, to train the matching network");
