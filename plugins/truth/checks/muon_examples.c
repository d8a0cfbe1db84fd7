/* muon_examples.c: truth.muon_examples, writes a table of long tracks that are identified as muons to train the network
 * of muon.score with scripts/train (README.md). A row is a track that matches a particle: 1 if the particle is a muon,
 * else 0; its momentum in GeV; and the inputs of score_network.h. A decay in flight is what it was before the decay.
 * Ghosts have no row, because neither answer would be right: a ghost may have the hits of a true muon. */
#include "examples_file.h"
#include "muon/score_network.h"
#include "track_check.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>

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

enum { PDG_MUON = 13 };

struct muon_examples {
  struct track_check tracks; /* the first member; reads the truth */
  struct examples_file file;
};

static int muon_examples_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct muon_examples_args *args = (const struct muon_examples_args *)args_;
  struct muon_examples *e = (struct muon_examples *)state;
#define NAME_(name) "," #name
  static const char header[] = "is_muon,p" MUON_SCORE_INPUTS(NAME_) "\n";
#undef NAME_
  track_check_open(&e->tracks, MC_SCIFI, 0, NULL, 0);
  return examples_open(&e->file, s, args->path, output_path, header);
}

static void muon_examples_close(void *state) {
  struct muon_examples *e = (struct muon_examples *)state;
  track_check_close(&e->tracks);
  examples_close(&e->file);
}

static int write_event(struct track_check *tracks, const void *args_, uint32_t event) {
  struct muon_examples *e = (struct muon_examples *)tracks;
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
    const uint32_t is_muon = particle->pdg == PDG_MUON || particle->pdg == -PDG_MUON ? 1u : 0u;
    status = examples_add(&e->file, is_muon, t.qop, inputs, MUON_SCORE_INPUT_COUNT);
  }
  if (status == SL_OK) examples_mark(&e->file);
  return status;
}

static int muon_examples_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct muon_examples *e = (struct muon_examples *)state;
  const int status = examples_finish(&e->file);
  if (status < 0) return status;
  tally_report(&e->tracks.tally, r);
  r->integer(r->context, "tracks", (int64_t)e->file.examples);
  r->integer(r->context, "muons", (int64_t)e->file.ones);
  r->integer(r->context, "ghosts", (int64_t)e->tracks.ghosts);
  r->line(r->context, "%" PRIu64 " %s of %" PRIu64 " %s, %" PRIu64 " of them true muons: %s", e->file.examples,
          sl_plural(e->file.examples, "track", "tracks"), e->tracks.tally.events,
          sl_plural(e->tracks.tally.events, "event", "events"), e->file.ones, examples_path(&e->file));
  tally_warn(&e->tracks.tally, s);
  return SL_OK;
}

TRACK_CHECK_SINK(muon_examples, muon_examples, write_event,
                 "writes tracks identified as muons, with truth, to train the muon network");
