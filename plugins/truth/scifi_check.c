/* scifi_check.c: truth.scifi_check, how well hits of the fibre tracker agree with the true particles (README.md). */
#include "hit_tally.h"
#include "mc_particles.h"
#include "scifi/event_model.h"
#include "tally.h"

#define SL_ARGS scifi_check_args
#define SCIFI_CHECK(M)                               \
  M(IN, hits, scifi_hits, "offsets id", "any order") \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", "any order")
SL_HOST_ARGUMENTS(scifi_check, SCIFI_CHECK);

struct scifi_check {
  struct mc_event mc;
  struct tally tally;
  struct hit_tally hits;
};

static int scifi_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)s, (void)args, (void)output_path;
  *(struct scifi_check *)state = (struct scifi_check){.tally.truth = "MC particles"};
  return SL_OK;
}

static int scifi_check_consume(void *state, const struct sl_services *s, const void *args_,
                               const struct sl_batch *batch) {
  const struct scifi_check_args *args = (const struct scifi_check_args *)args_;
  struct scifi_check *c = (struct scifi_check *)state;
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *e = &batch->events[event];
    const int has_truth = args->mc_particles.offsets[event] != args->mc_particles.offsets[event + 1];
    const uint32_t first = args->hits.offsets[event], count = args->hits.offsets[event + 1] - first;
    const char *reason;
    if (tally_has_error(&c->tally, e)) continue;
    int status = mc_event_decode(&c->mc, &args->mc_particles, event, &reason);
    status = tally_decoded(&c->tally, s, e, status, has_truth, reason);
    if (status == 1) status = hit_tally_add(&c->hits, &c->mc, MC_SCIFI, args->hits.id + first, count);
    if (status < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
  }
  return SL_OK;
}

static int scifi_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct scifi_check *c = (const struct scifi_check *)state;
  tally_report(&c->tally, r);
  hit_tally_report(&c->hits, r);
  hit_tally_line(&c->hits, r, "SciFi", c->tally.events);
  tally_warn(&c->tally, s);
  hit_tally_warn(&c->hits, s, "SciFi");
  return SL_OK;
}

static void scifi_check_close(void *state) {
  struct scifi_check *c = (struct scifi_check *)state;
  mc_event_free(&c->mc);
  hit_tally_free(&c->hits);
}

static const struct sl_sink scifi_check_functions = {
    .open = scifi_check_open, .consume = scifi_check_consume, .finish = scifi_check_finish, .close = scifi_check_close};

SL_SINK(scifi_check, "SciFi hits compared with the true particles", struct scifi_check, scifi_check_functions);
