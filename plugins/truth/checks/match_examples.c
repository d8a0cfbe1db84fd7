/* match_examples.c: truth.match_examples, writes a table of pairs of VELO tracks and seeds to train the network of
 * seeding.match with scripts/train (README.md).
 * A row is a pair with a small chi2: 0 if both tracks match one particle by the rules of association.h, else 1; the
 * momentum of the pair in GeV, from its bend; and the inputs of match_network.h. */
#include "examples_file.h"
#include "seeding/match_network.h"
#include "track_check.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>

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

struct match_examples {
  struct track_check tracks; /* the first member; reads the truth */
  struct examples_file file;
};

static int match_examples_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct match_examples_args *args = (const struct match_examples_args *)args_;
  struct match_examples *m = (struct match_examples *)state;
#define NAME_(name) "," #name
  static const char header[] = "is_wrong,p" MATCH_INPUTS(NAME_) "\n";
#undef NAME_
  track_check_open(&m->tracks, MC_SCIFI, 0, NULL, 0);
  return examples_open(&m->file, s, args->path, output_path, header);
}

static void match_examples_close(void *state) {
  struct match_examples *m = (struct match_examples *)state;
  track_check_close(&m->tracks);
  examples_close(&m->file);
}

/* Writes the pairs of seed `i` of the slice. */
static int write_pairs(struct match_examples *m, const struct match_examples_args *args, uint32_t event, uint32_t i) {
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
    status = examples_add(&m->file, is_wrong, qop, inputs, MATCH_INPUT_COUNT);
  }
  return status;
}

static int write_event(struct track_check *tracks, const void *args_, uint32_t event) {
  struct match_examples *m = (struct match_examples *)tracks;
  const struct match_examples_args *args = (const struct match_examples_args *)args_;
  int status = SL_OK;
  for (uint32_t i = args->seeds.offsets[event]; i < args->seeds.offsets[event + 1] && status == SL_OK; i++)
    status = write_pairs(m, args, event, i);
  if (status == SL_OK) examples_mark(&m->file);
  return status;
}

static int match_examples_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct match_examples *m = (struct match_examples *)state;
  const uint64_t pairs = m->file.examples, good = pairs - m->file.ones;
  const int status = examples_finish(&m->file);
  if (status < 0) return status;
  tally_report(&m->tracks.tally, r);
  r->integer(r->context, "pairs", (int64_t)pairs);
  r->integer(r->context, "good_pairs", (int64_t)good);
  r->line(r->context, "%" PRIu64 " %s of %" PRIu64 " %s, %" PRIu64 " of them from one particle: %s", pairs,
          sl_plural(pairs, "pair", "pairs"), m->tracks.tally.events,
          sl_plural(m->tracks.tally.events, "event", "events"), good, examples_path(&m->file));
  tally_warn(&m->tracks.tally, s);
  return SL_OK;
}

TRACK_CHECK_SINK(match_examples, match_examples, write_event,
                 "writes pairs of tracks, with truth, to train the matching network");
