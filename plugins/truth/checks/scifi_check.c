/* scifi_check.c: truth.scifi_check, SciFi hits compared with the true particles (README.md). */
#include "hit_tally.h"
#include "scifi/event_model.h"
#include "track_check.h"

#define SL_ARGS scifi_check_args
#define SCIFI_CHECK(M)                                                                              \
  M(IN, hits, scifi_hits, "offsets id", "SciFi hits to check")                                      \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", \
    "banks with true particles")
SL_HOST_ARGUMENTS(scifi_check, SCIFI_CHECK);

struct scifi_check {
  struct track_check tracks; /* the first member; without tracks */
  struct hit_tally hits;
};

static int scifi_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)s, (void)args, (void)output_path;
  track_check_open(&((struct scifi_check *)state)->tracks, MC_SCIFI, 0, NULL, 0);
  return SL_OK;
}

static int check_event(struct track_check *tracks, const void *args, uint32_t event) {
  const struct scifi_hits_view *hits = &((const struct scifi_check_args *)args)->hits;
  const uint32_t first = hits->offsets[event], count = hits->offsets[event + 1] - first;
  return hit_tally_add(&((struct scifi_check *)tracks)->hits, &tracks->mc, MC_SCIFI, hits->id + first, count);
}

static int scifi_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct scifi_check *c = (const struct scifi_check *)state;
  tally_report(&c->tracks.tally, r);
  hit_tally_report(&c->hits, r);
  hit_tally_line(&c->hits, r, "SciFi", c->tracks.tally.events);
  tally_warn(&c->tracks.tally, s);
  hit_tally_warn(&c->hits, s, "SciFi");
  return SL_OK;
}

static void scifi_check_close(void *state) {
  struct scifi_check *c = (struct scifi_check *)state;
  track_check_close(&c->tracks);
  hit_tally_free(&c->hits);
}

TRACK_CHECK_SINK(scifi_check, scifi_check, check_event, "SciFi hits compared with the true particles");
