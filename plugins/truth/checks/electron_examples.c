/* electron_examples.c: truth.electron_examples, writes a table of long tracks to train the network of calo.electron_id
 * with scripts/train (README.md). A row is a track that calo.electron_id preselects and that matches a
 * particle: 1 if the first particle is an electron, 0 if it is a muon or a hadron; the momentum of the track in GeV;
 * and the inputs of electron_network.h. Electrons with a true momentum below `min_p` have no row. */
#include "calo/electron_network.h"
#include "calo/event_model.h"
#include "examples.h"

#define SL_ARGS electron_examples_args
#define ELECTRON_EXAMPLES(M)                                                                                          \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit_id",                                    \
    "long tracks to which `electrons` refers")                                                                        \
  M(IN, electrons, calo_electrons, "e_over_p e_over_p_3x3 distance2 variance_x variance_y covariance is_preselected", \
    "energies and shapes of showers per long track")                                                                  \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers")             \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id", "UT tracks to which ut_track refers")            \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",                   \
    "banks with true particles")                                                                                      \
  M(FILE_OUT, path, "", "", "output file; empty: the file of -o")                                                     \
  M(F32, min_p, 1000, 0, 1e9, "MeV", "lower limit of the true momentum of an electron")
SL_HOST_ARGUMENTS(electron_examples, ELECTRON_EXAMPLES);

/* Writes track `i` of the slice, if it matches a particle. */
static int write_track(struct examples *e, const struct electron_examples_args *args, uint32_t event, uint32_t i) {
  const struct association *a = &e->tracks.association;
  const struct calo_electrons_view *c = &args->electrons;
  const struct track_hits hits = long_track_hits(&args->tracks, i, &args->velo_tracks, &args->ut_tracks, event);
  association_match(&e->tracks.association, &hits);
  if (a->match_count == 0) return SL_OK;
  const struct mc_particle *particle = &e->tracks.mc.particles[a->matches[0].particle];
  const uint32_t is_electron = mc_is_electron(particle) ? 1 : 0;
  if (is_electron && !(particle->p > args->min_p)) return SL_OK;
  const struct calo_electron_track track = {c->e_over_p[i],   c->e_over_p_3x3[i], c->distance2[i],
                                            c->variance_x[i], c->variance_y[i],   c->covariance[i]};
  float inputs[CALO_ELECTRON_INPUT_COUNT];
  calo_electron_inputs(&track, inputs);
  return examples_add(e, is_electron, args->tracks.qop[i], inputs, CALO_ELECTRON_INPUT_COUNT);
}

static int write_event(struct track_check *tracks, const void *args_, uint32_t event) {
  struct examples *e = (struct examples *)tracks;
  const struct electron_examples_args *args = (const struct electron_examples_args *)args_;
  int status = SL_OK;
  for (uint32_t i = args->tracks.offsets[event]; i < args->tracks.offsets[event + 1] && status == SL_OK; i++)
    if (args->electrons.is_preselected[i]) status = write_track(e, args, event, i);
  return examples_end_event(e, status);
}

EXAMPLES_SINK(electron_examples, "is_electron", CALO_ELECTRON_INPUTS, write_event,
              "writes preselected long tracks, with truth, to train the electron network");
