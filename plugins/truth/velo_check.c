/* velo_check.c: truth.velo_check, how well VELO tracks agree with the true particles (README.md).
 *
 * Counts, for each category of particles: those that should be found (reconstructible), those matched by a track
 * (reconstructed), and further tracks of the same particle (clones). Purity is the mean, over matched tracks, of shared
 * hits / hits of the track; hit efficiency that of shared hits / VELO hits of the particle. A track that matches no
 * particle is a ghost. Events with an error, without particles or with malformed ones count in none of these. Where no
 * hit of any track stands in the truth, tracks and truth speak of different things, and there is no rate of ghosts.
 */
#include "association.h"
#include "mc_particles.h"
#include "tally.h"
#include "velo/event_model.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS velo_check_args
#define VELO_CHECK(M)                                                                                            \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "any order")                                          \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", "any order") \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(velo_check, VELO_CHECK);

/* ----------------------------------------------------------------------------------------------- categories */

enum { ANY_ETA = 1, ELECTRONS = 2 }; /* default: 2 < eta < 5, no electrons */

struct category {
  const char *name;
  uint32_t flags; /* MC_...: all are needed */
  uint32_t choice;
  float p_min; /* MeV; p must be larger */
};

static const struct category categories[] = {
    {"velo", MC_HAS_VELO, 0, -1},
    {"long", MC_IS_LONG, 0, -1},
    {"long, p > 5 GeV", MC_IS_LONG, 0, 5000},
    {"long from strange", MC_IS_LONG | MC_FROM_STRANGE, 0, -1},
    {"long from strange, p > 5 GeV", MC_IS_LONG | MC_FROM_STRANGE, 0, 5000},
    {"long from B", MC_IS_LONG | MC_FROM_BEAUTY, 0, -1},
    {"long from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, 0, 5000},
    {"long electrons", MC_IS_LONG, ELECTRONS, -1},
    {"long electrons from B", MC_IS_LONG | MC_FROM_BEAUTY, ELECTRONS, -1},
    {"long electrons from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, ELECTRONS, 5000},
    {"long from signal", MC_IS_LONG | MC_FROM_SIGNAL, 0, -1},
    {"all eta, not e", MC_HAS_VELO, ANY_ETA, -1},
};
enum { CATEGORIES = sizeof categories / sizeof categories[0] };

static int belongs(const struct category *c, const struct mc_particle *p) {
  return (p->flags & c->flags) == c->flags && mc_is_electron(p) == ((c->choice & ELECTRONS) != 0) && p->p > c->p_min &&
         ((c->choice & ANY_ETA) || mc_in_acceptance(p));
}

/* ----------------------------------------------------------------------------------------------- the check */

struct velo_check {
  struct mc_event mc;
  struct association association;
  uint32_t id_mask;
  struct tally tally;
  uint64_t tracks, ghosts;
  uint64_t hits, known_hits; /* of all tracks; those whose ids stand in the truth */
  struct category_counts counts[CATEGORIES];
};

static int velo_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  struct velo_check *c = (struct velo_check *)state;
  const uint32_t mask = ((const struct velo_check_args *)args)->mask_fraction_bits;
  (void)s, (void)output_path;
  *c = (struct velo_check){.id_mask = association_velo_mask(mask), .tally.truth = "MC particles"};
  return SL_OK;
}

static void velo_check_close(void *state) {
  struct velo_check *c = (struct velo_check *)state;
  mc_event_free(&c->mc);
  association_free(&c->association);
}

static void count_match(struct velo_check *c, const struct match *match, uint32_t hit_count) {
  const struct mc_particle *particle = &c->mc.particles[match->particle];
  for (uint32_t k = 0; k < CATEGORIES; k++) {
    if (!belongs(&categories[k], particle)) continue;
    c->counts[k].matches++;
    c->counts[k].purity_sum += (double)match->shared_hits / hit_count;
    c->counts[k].hit_efficiency_sum += (double)match->shared_hits / particle->velo.count;
  }
}

static void count_particles(struct velo_check *c) {
  for (uint32_t i = 0; i < c->mc.particle_count; i++)
    for (uint32_t k = 0; k < CATEGORIES; k++)
      if (belongs(&categories[k], &c->mc.particles[i])) category_add(&c->counts[k], c->association.tracks[i]);
}

/* Compares the tracks of an event with the particles in c->mc. */
static int check_event(struct velo_check *c, const struct velo_tracks_view *tracks, uint32_t event) {
  if (association_begin(&c->association, &c->mc, c->id_mask)) return SL_ENOMEM;
  for (uint32_t track = tracks->offsets[event]; track < tracks->offsets[event + 1]; track++) {
    const uint32_t first = tracks->hit_offsets[track], hit_count = tracks->hit_offsets[track + 1] - first;
    association_match_velo(&c->association, tracks->hit_id + first, hit_count);
    c->tracks++;
    c->hits += hit_count;
    c->known_hits += c->association.known_hits;
    if (c->association.match_count == 0) c->ghosts++;
    for (uint32_t i = 0; i < c->association.match_count; i++) count_match(c, &c->association.matches[i], hit_count);
  }
  count_particles(c);
  return SL_OK;
}

static int velo_check_consume(void *state, const struct sl_services *s, const void *args_,
                              const struct sl_batch *batch) {
  const struct velo_check_args *args = (const struct velo_check_args *)args_;
  struct velo_check *c = (struct velo_check *)state;
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *e = &batch->events[event];
    const int has_truth = args->mc_particles.offsets[event] != args->mc_particles.offsets[event + 1];
    const char *reason;
    if (tally_has_error(&c->tally, e)) continue;
    int status = mc_event_decode(&c->mc, &args->mc_particles, event, &reason);
    status = tally_decoded(&c->tally, s, e, status, has_truth, reason);
    if (status == 1) status = check_event(c, &args->tracks, event);
    if (status < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
  }
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- the report */

static int velo_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct velo_check *c = (struct velo_check *)state;
  const int is_comparable = c->hits == 0 || c->known_hits > 0;
  const double ghost_rate = is_comparable ? ratio((double)c->ghosts, (double)c->tracks) : (double)NAN;
  tally_report(&c->tally, r);
  r->integer(r->context, "tracks", (int64_t)c->tracks);
  r->integer(r->context, "ghosts", (int64_t)c->ghosts);
  r->integer(r->context, "hits", (int64_t)c->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)c->known_hits);
  r->number(r->context, "ghost_rate", ghost_rate);
  if (is_comparable)
    r->line(r->context, "VELO tracks of %" PRIu64 " events: %" PRIu64 ", ghosts %" PRIu64 " (%.2f %%)", c->tally.events,
            c->tracks, c->ghosts, 100 * ghost_rate);
  else
    r->line(r->context,
            "VELO tracks of %" PRIu64 " events: %" PRIu64 ", of whose %" PRIu64 " hits none is in the truth",
            c->tally.events, c->tracks, c->hits);
  r->begin_array(r->context, "categories");
  for (uint32_t k = 0; k < CATEGORIES; k++) category_report(&c->counts[k], categories[k].name, r);
  r->end_array(r->context);
  tally_warn(&c->tally, s);
  if (!is_comparable)
    s->message(s->context, SL_WARNING,
               "no hit id of the tracks stands in the truth: ids of another format, or truth of other events%s",
               c->id_mask == ~0u ? "; tracks from super-pixels need mask_fraction_bits" : "");
  return SL_OK;
}

static const struct sl_sink velo_check_functions = {
    .open = velo_check_open, .consume = velo_check_consume, .finish = velo_check_finish, .close = velo_check_close};

SL_SINK(velo_check, "VELO tracks compared with the true particles", struct velo_check, velo_check_functions);
