/* track_check.c: see track_check.h. */
#include "track_check.h"

#include <sluice/math.h>

#include <inttypes.h>
#include <math.h>

/* Does the particle fulfil all regions of `choice`? */
static int is_in_regions(uint32_t choice, const struct mc_particle *p) {
  const float small = 0.5f, eta_middle = 2.5f, eta_high = 4.0f; /* |cos phi| at 30 degrees from the y axis */
  float y, x;
  sl_sincosf(p->phi, &y, &x);
  return (!(choice & CATEGORY_X_POSITIVE) || x > 0) && (!(choice & CATEGORY_X_NEGATIVE) || x < 0) &&
         (!(choice & CATEGORY_Y_POSITIVE) || y > 0) && (!(choice & CATEGORY_Y_NEGATIVE) || y < 0) &&
         (!(choice & CATEGORY_SMALL_X) || fabsf(x) < small) && (!(choice & CATEGORY_LARGE_X) || fabsf(x) >= small) &&
         (!(choice & CATEGORY_ETA_BELOW_2_5) || p->eta < eta_middle) &&
         (!(choice & CATEGORY_ETA_ABOVE_2_5) || p->eta >= eta_middle) &&
         (!(choice & CATEGORY_ETA_ABOVE_4) || p->eta > eta_high);
}

static int belongs(const struct category *c, const struct mc_particle *p) {
  return (p->flags & c->flags) == c->flags && (p->flags & c->without) == 0 &&
         mc_is_electron(p) == ((c->choice & CATEGORY_ELECTRONS) != 0) && p->p > c->p_min && p->pt > c->pt_min &&
         ((c->choice & CATEGORY_ANY_ETA) || mc_in_acceptance(p)) &&
         (c->choice < CATEGORY_X_POSITIVE || is_in_regions(c->choice, p));
}

void track_check_open(struct track_check *c, uint32_t detector, uint32_t mask_fraction_bits,
                      const struct category *categories, uint32_t category_count) {
  *c = (struct track_check){.id_mask = association_velo_mask(mask_fraction_bits),
                            .detector = detector,
                            .tally.truth = "MC particles",
                            .categories = categories,
                            .category_count = category_count};
}

void track_check_close(struct track_check *c) {
  mc_event_free(&c->mc);
  association_free(&c->association);
}

/* ---------------------------------------------------------------------------------------------------- events */

static int check_particles(struct track_check *c, track_check_event *check_event, const void *args, uint32_t event) {
  if (association_begin(&c->association, &c->mc, c->id_mask, c->detector)) return SL_ENOMEM;
  const int status = check_event(c, args, event);
  for (uint32_t i = 0; status == SL_OK && i < c->mc.particle_count; i++)
    for (uint32_t k = 0; k < c->category_count; k++)
      if (belongs(&c->categories[k], &c->mc.particles[i])) category_add(&c->counts[k], c->association.tracks[i]);
  return status;
}

int track_check_consume(struct track_check *c, const struct sl_services *s, const struct sl_batch *batch,
                        const struct mc_particle_banks_view *banks, track_check_event *check_event, const void *args) {
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *e = &batch->events[event];
    const int has_truth = banks->offsets[event] != banks->offsets[event + 1];
    const char *reason;
    if (tally_has_error(&c->tally, e)) continue;
    int status = mc_event_decode(&c->mc, banks, event, &reason);
    status = tally_decoded(&c->tally, s, e, status, has_truth, reason);
    if (status == 1) status = check_particles(c, check_event, args, event);
    if (status == SL_ENOMEM) s->message(s->context, SL_ERROR, "out of memory");
    if (status < 0) return status;
  }
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- tracks */

struct hit_ids velo_hits_of(const struct velo_tracks_view *tracks, uint32_t event, uint32_t track) {
  const uint32_t item = tracks->offsets[event] + track, first = tracks->hit_offsets[item];
  return (struct hit_ids){tracks->hit_id + first, tracks->hit_offsets[item + 1] - first};
}

struct hit_ids ut_hits_of(const struct ut_tracks_view *tracks, uint32_t event, uint32_t track) {
  if (!tracks->offsets || track == FORWARD_NO_TRACK) return (struct hit_ids){NULL, 0};
  const uint32_t item = tracks->offsets[event] + track, first = tracks->hit_offsets[item];
  return (struct hit_ids){tracks->hit_id + first, tracks->hit_offsets[item + 1] - first};
}

struct track_hits long_track_hits(const struct long_tracks_view *tracks, uint32_t i,
                                  const struct velo_tracks_view *velo_tracks, const struct ut_tracks_view *ut_tracks,
                                  uint32_t event) {
  const uint32_t first = tracks->hit_offsets[i];
  return (struct track_hits){.in = {[MC_VELO] = velo_hits_of(velo_tracks, event, tracks->velo_track[i]),
                                    [MC_UT] = ut_hits_of(ut_tracks, event, tracks->ut_track[i]),
                                    [MC_SCIFI] = {tracks->hit_id + first, tracks->hit_offsets[i + 1] - first}}};
}

static void count_match(struct track_check *c, const struct match *match, uint32_t hit_count) {
  const struct mc_particle *particle = &c->mc.particles[match->particle];
  const uint32_t shared = match->shared.in[c->detector];
  for (uint32_t k = 0; k < c->category_count; k++) {
    if (!belongs(&c->categories[k], particle)) continue;
    c->counts[k].matches++;
    c->counts[k].purity_sum += ratio(shared, hit_count);
    c->counts[k].hit_efficiency_sum += ratio(shared, mc_hits_in(particle, c->detector)->count);
  }
}

void track_check_add(struct track_check *c, const struct track_hits *track) {
  const struct association *a = &c->association;
  const uint32_t hit_count = track->in[c->detector].count;
  association_match(&c->association, track);
  c->tracks++;
  c->hits += hit_count;
  c->known_hits += a->known.in[c->detector];
  if (a->match_count == 0) c->ghosts++;
  for (uint32_t i = 0; i < a->match_count; i++) count_match(c, &a->matches[i], hit_count);
}

void track_check_add_momentum(struct track_check *c, const struct track_hits *track,
                              const struct track_states_view *states, uint32_t state, double qop) {
  const double p_min = 3000, pt_min = 500; /* MeV */
  const double tx = (double)states->tx[state], ty = (double)states->ty[state], slope2 = tx * tx + ty * ty;
  const double p = 1 / fabs(qop);
  track_check_add(c, track);
  if (!(p > p_min && p * sqrt(slope2 / (1 + slope2)) > pt_min)) return;
  c->fast_tracks++;
  if (c->association.match_count == 0) c->fast_ghosts++;
}

const struct mc_particle *track_check_particle(const struct track_check *c) {
  const struct association *a = &c->association;
  const struct match *best = NULL;
  for (uint32_t k = 0; k < a->match_count; k++)
    if (!best || a->matches[k].shared.in[MC_VELO] > best->shared.in[MC_VELO]) best = &a->matches[k];
  return best ? &c->mc.particles[best->particle] : NULL;
}

/* ---------------------------------------------------------------------------------------------------- report */

void track_check_report_categories(const struct track_check *c, const struct sl_report *r) {
  r->begin_array(r->context, "categories");
  for (uint32_t k = 0; k < c->category_count; k++) category_report(&c->counts[k], c->categories[k].name, r);
  r->end_array(r->context);
}

void track_check_report_ghosts(const struct track_check *c, const struct sl_report *r, const char *tracks,
                               int is_comparable) {
  const double rate = is_comparable ? ratio((double)c->ghosts, (double)c->tracks) : (double)NAN;
  const double fast_rate = is_comparable ? ratio((double)c->fast_ghosts, (double)c->fast_tracks) : (double)NAN;
  const double error = is_comparable ? rate_error(c->ghosts, c->tracks) : (double)NAN;
  const double fast_error = is_comparable ? rate_error(c->fast_ghosts, c->fast_tracks) : (double)NAN;
  r->integer(r->context, "tracks", (int64_t)c->tracks);
  r->integer(r->context, "ghosts", (int64_t)c->ghosts);
  r->number(r->context, "ghost_rate", rate);
  r->number(r->context, "ghost_error", error);
  r->integer(r->context, "fast_tracks", (int64_t)c->fast_tracks);
  r->integer(r->context, "fast_ghosts", (int64_t)c->fast_ghosts);
  r->number(r->context, "fast_ghost_rate", fast_rate);
  r->number(r->context, "fast_ghost_error", fast_error);
  if (is_comparable)
    r->line(r->context,
            "%s: %" PRIu64 ", ghosts %" PRIu64 " (%.2f +- %.2f %%); p > 3 GeV and pt > 0.5 GeV: %" PRIu64
            ", ghosts %" PRIu64 " (%.2f +- %.2f %%)",
            tracks, c->tracks, c->ghosts, 100 * rate, 100 * error, c->fast_tracks, c->fast_ghosts, 100 * fast_rate,
            100 * fast_error);
  else
    r->line(r->context, "%s: %" PRIu64, tracks, c->tracks);
}
