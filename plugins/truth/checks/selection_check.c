/* selection_check.c: truth.selection_check, rates of lines and their efficiency for a simulated signal (README.md).
 * Counts three sets of events per line: all events; reconstructible events, in which all daughters of the signal are
 * reconstructible as long tracks; and found events, in which all of them are found. In found events the line passes
 * by the signal if it accepts a candidate made of tracks of the signal only. This requires the collection of the
 * candidates, which is identified by `made_by`. */
#include "association/line_candidates.h"
#include "association/mc_banks.h"
#include "forward/event_model.h"
#include "selections/event_model.h"
#include "track_check.h"
#include "ut/event_model.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNAL_DAUGHTERS_MAX = 16 };

#define SL_ARGS selection_check_args
#define SELECTION_CHECK(M)                                                                                        \
  M(LIST_IN, lines, line_decisions, "offsets made_by passed accepted",                                            \
    "decisions of the lines; the report uses the names of the connections")                                       \
  M(LIST_IN, vertices, secondary_vertices, "offsets made_by first second",                                        \
    "candidates with two tracks, for comparison with the truth")                                                  \
  M(LIST_IN, particles, particles, "offsets made_by", "candidates with one track, for comparison with the truth") \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track hit_id",                                    \
    "long tracks that candidates are made of")                                                                    \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers")         \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id",                                              \
    "UT tracks to which ut_track refers; adds their hits")                                                        \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",               \
    "banks with true particles")                                                                                  \
  M(U32, daughters, 0, 0, SIGNAL_DAUGHTERS_MAX, "",                                                               \
    "number of charged daughters of the signal; 0: no signal, rates only")                                        \
  M(F64, input_rate, 30e6, 0, 1e12, "Hz", "rate of events before the selections")                                 \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(selection_check, SELECTION_CHECK);

/* ------------------------------------------------------------------------------------------------- the signal */

/* Charged daughters of an event's signal, and the long tracks that match them. Charged particles from a decay in
 * flight of a daughter are not daughters. Reused for all events; the memory only grows. */
struct signal_decay {
  uint32_t listed;           /* daughters in the truth, which lists particles with hits */
  uint32_t reconstructible;  /* bits of the first 16 daughters: reconstructible as a long track */
  uint32_t found;            /* bits of the first 16 daughters: matched by a long track */
  uint32_t *track_daughters; /* per long track: bits of the daughters that it matches */
  uint64_t track_capacity;   /* of track_daughters */
  uint32_t particles[SIGNAL_DAUGHTERS_MAX];
};

/* Is it an e, mu, pi, K or p? */
static int is_tracked(int32_t pdg) {
  static const int32_t kinds[] = {11, 13, 211, 321, 2212};
  for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (pdg == kinds[i] || pdg == -kinds[i]) return 1;
  return 0;
}

static int is_daughter(const struct mc_particle *p) {
  return (p->flags & MC_FROM_SIGNAL) && is_tracked(p->pdg) && !is_tracked(p->mother_pdg);
}

static void signal_decay_free(struct signal_decay *decay) {
  free(decay->track_daughters);
  *decay = (struct signal_decay){.listed = 0};
}

/* Finds the daughters among the particles of an event with `track_count` long tracks: 0 or SL_ENOMEM. */
static int signal_decay_begin(struct signal_decay *decay, const struct mc_event *mc, uint32_t track_count) {
  decay->listed = decay->reconstructible = decay->found = 0;
  if (!mc_reserve((void **)&decay->track_daughters, &decay->track_capacity, track_count, sizeof(uint32_t)))
    return SL_ENOMEM;
  if (track_count) memset(decay->track_daughters, 0, track_count * sizeof(uint32_t));
  for (uint32_t i = 0; i < mc->particle_count; i++) {
    const struct mc_particle *p = &mc->particles[i];
    if (!is_daughter(p)) continue;
    const uint32_t k = decay->listed++;
    if (k >= SIGNAL_DAUGHTERS_MAX) continue;
    decay->particles[k] = i;
    if ((p->flags & MC_IS_LONG) && mc_in_acceptance(p)) decay->reconstructible |= 1u << k;
  }
  return SL_OK;
}

/* Adds long track number `track` of the event, after association_match. */
static void signal_decay_add_track(struct signal_decay *decay, const struct association *a, uint32_t track) {
  const uint32_t count = decay->listed < SIGNAL_DAUGHTERS_MAX ? decay->listed : SIGNAL_DAUGHTERS_MAX;
  for (uint32_t m = 0; m < a->match_count; m++)
    for (uint32_t k = 0; k < count; k++)
      if (a->matches[m].particle == decay->particles[k]) decay->track_daughters[track] |= 1u << k;
  decay->found |= decay->track_daughters[track];
}

/* Are all `count` daughters reconstructible? Are all of them found? */
static int signal_is_reconstructible(const struct signal_decay *decay, uint32_t count) {
  return decay->listed == count && decay->reconstructible == (1u << count) - 1;
}
static int signal_is_found(const struct signal_decay *decay, uint32_t count) {
  return signal_is_reconstructible(decay, count) && decay->found == decay->reconstructible;
}
/* Do two tracks of the event match two different daughters? */
static int signal_has_pair(const struct signal_decay *decay, uint32_t first, uint32_t second) {
  const uint32_t a = decay->track_daughters[first], b = decay->track_daughters[second], both = a | b;
  return a && b && (both & (both - 1)) != 0;
}

/* ------------------------------------------------------------------------------------------------------- counts */

enum { ALL, RECONSTRUCTIBLE, FOUND, SETS };

struct line_counts {
  char *name;
  uint64_t before_scale, alone, candidates; /* events; events that pass no other line; accepted candidates */
  uint64_t passed[SETS];
  uint64_t by_signal;             /* found events */
  uint32_t is_compared, reserved; /* has a collection of candidates */
};

struct selection_check {
  struct track_check tracks; /* the first member */
  struct signal_decay decay;
  uint64_t events[SETS];
  uint64_t with_more_daughters;
  struct line_counts any;
  struct line_counts *lines;
  struct line_candidates *candidates; /* per line, in this slice */
  uint32_t line_count, daughters;
  double input_rate;                  /* Hz */
  const struct sl_services *services; /* set while a slice is consumed */
};

static void selection_check_close(void *state) {
  struct selection_check *c = (struct selection_check *)state;
  track_check_close(&c->tracks);
  signal_decay_free(&c->decay);
  for (uint32_t k = 0; c->lines && k < c->line_count; k++) free(c->lines[k].name);
  free(c->lines);
  free(c->candidates);
}

static int selection_check_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct selection_check_args *args = (const struct selection_check_args *)args_;
  struct selection_check *c = (struct selection_check *)state;
  (void)s, (void)output_path;
  track_check_open(&c->tracks, MC_SCIFI, args->mask_fraction_bits, NULL, 0);
  c->daughters = args->daughters;
  c->input_rate = args->input_rate;
  c->line_count = args->lines.count;
  c->lines = (struct line_counts *)calloc(c->line_count + 1u, sizeof *c->lines);
  c->candidates = (struct line_candidates *)calloc(c->line_count + 1u, sizeof *c->candidates);
  if (!c->lines || !c->candidates) return SL_ENOMEM;
  for (uint32_t k = 0; k < c->line_count; k++) {
    const size_t bytes = strlen(args->lines.names[k]) + 1;
    c->lines[k].name = (char *)malloc(bytes);
    if (!c->lines[k].name) return SL_ENOMEM;
    memcpy(c->lines[k].name, args->lines.names[k], bytes);
  }
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- candidates */

static void find_candidates(struct selection_check *c, const struct selection_check_args *args) {
  for (uint32_t k = 0; k < c->line_count; k++) {
    c->candidates[k] = line_candidates_of(&args->vertices, &args->particles, *args->lines.at[k].made_by);
    if (!c->candidates[k].vertices && !c->candidates[k].particles) continue;
    c->lines[k].is_compared = c->any.is_compared = 1;
  }
}

/* Is candidate `i` of the slice made of tracks of the signal only? -1 if it refers to tracks that do not exist. */
static int is_of_signal(const struct signal_decay *decay, const struct line_candidates *of, uint32_t event, uint32_t i,
                        uint32_t track_count) {
  const struct secondary_vertices_view *v = of->vertices;
  if (v && (v->first[i] >= track_count || v->second[i] >= track_count)) return -1;
  if (v) return signal_has_pair(decay, v->first[i], v->second[i]);
  const uint32_t track = i - of->particles->offsets[event];
  return track < track_count ? decay->track_daughters[track] != 0 : -1;
}

/* Does the line accept a candidate of the signal? 1, 0 or an error. */
static int is_by_signal(const struct selection_check *c, const struct selection_check_args *args, uint32_t k,
                        uint32_t event) {
  const struct line_decisions_view *line = &args->lines.at[k];
  const uint32_t track_count = args->tracks.offsets[event + 1] - args->tracks.offsets[event];
  int found = 0;
  if (!c->candidates[k].vertices && !c->candidates[k].particles) return 0;
  for (uint32_t i = line->offsets[event]; i < line->offsets[event + 1] && !found; i++)
    if (line->accepted[i]) found = is_of_signal(&c->decay, &c->candidates[k], event, i, track_count);
  if (found >= 0) return found;
  c->services->message(c->services->context, SL_ERROR,
                       "%s: its candidates were made from other long tracks than `tracks`", c->lines[k].name);
  return SL_EINVAL;
}

/* ------------------------------------------------------------------------------------------------------- events */

static void count_passed(struct line_counts *n, const int is_in[SETS], int by_signal) {
  for (uint32_t set = 0; set < SETS; set++) n->passed[set] += (uint64_t)is_in[set];
  n->by_signal += (uint64_t)by_signal;
}

/* Counts a line in one event, which is in the sets `is_in`. */
static int count_line(struct selection_check *c, const struct selection_check_args *args, uint32_t k, uint32_t event,
                      const int is_in[SETS], int *is_by) {
  const struct line_decisions_view *line = &args->lines.at[k];
  for (uint32_t i = line->offsets[event]; i < line->offsets[event + 1]; i++)
    c->lines[k].candidates += line->accepted[i];
  c->lines[k].before_scale += (line->passed[event] & LINE_BEFORE_SCALE) != 0;
  if (!(line->passed[event] & LINE_PASSED)) return SL_OK;
  const int by_signal = is_in[FOUND] ? is_by_signal(c, args, k, event) : 0;
  if (by_signal < 0) return by_signal;
  count_passed(&c->lines[k], is_in, by_signal);
  *is_by |= by_signal;
  return SL_OK;
}

static int count_lines(struct selection_check *c, const struct selection_check_args *args, uint32_t event,
                       const int is_in[SETS]) {
  uint32_t bits = 0, passed = 0, last = 0;
  int by_signal = 0;
  for (uint32_t k = 0; k < c->line_count; k++) {
    const int status = count_line(c, args, k, event, is_in, &by_signal);
    if (status < 0) return status;
    bits |= args->lines.at[k].passed[event];
    if (!(args->lines.at[k].passed[event] & LINE_PASSED)) continue;
    passed++;
    last = k;
  }
  for (uint32_t set = 0; set < SETS; set++) c->events[set] += (uint64_t)is_in[set];
  c->any.before_scale += (bits & LINE_BEFORE_SCALE) != 0;
  if (passed > 0) count_passed(&c->any, is_in, by_signal);
  if (passed == 1) c->lines[last].alone++;
  return SL_OK;
}

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct selection_check *c = (struct selection_check *)tracks_check;
  const struct selection_check_args *args = (const struct selection_check_args *)args_;
  const struct long_tracks_view *tracks = &args->tracks;
  const uint32_t first = tracks->offsets[event], end = tracks->offsets[event + 1];
  if (signal_decay_begin(&c->decay, &c->tracks.mc, end - first)) return SL_ENOMEM;
  for (uint32_t i = first; i < end; i++) {
    const struct track_hits track = long_track_hits(tracks, i, &args->velo_tracks, &args->ut_tracks, event);
    track_check_add(&c->tracks, &track);
    signal_decay_add_track(&c->decay, &c->tracks.association, i - first);
  }
  c->with_more_daughters += c->decay.listed > c->daughters;
  const int is_in[SETS] = {1, signal_is_reconstructible(&c->decay, c->daughters),
                           signal_is_found(&c->decay, c->daughters)};
  return count_lines(c, args, event, is_in);
}

/* Without a signal all events count, with or without truth. */
static int consume_rates(struct selection_check *c, const struct selection_check_args *args,
                         const struct sl_batch *batch) {
  static const int is_in[SETS] = {1, 0, 0};
  SL_FOR_BATCH (event, batch) {
    if (tally_has_error(&c->tracks.tally, &batch->events[event])) continue;
    c->tracks.tally.events++;
    const int status = count_lines(c, args, event, is_in);
    if (status < 0) return status;
  }
  return SL_OK;
}

static int selection_check_consume(void *state, const struct sl_services *s, const void *args_,
                                   const struct sl_batch *batch) {
  const struct selection_check_args *args = (const struct selection_check_args *)args_;
  struct selection_check *c = (struct selection_check *)state;
  c->services = s;
  find_candidates(c, args);
  return c->daughters ? track_check_consume(&c->tracks, s, batch, &args->mc_particles, check_event, args)
                      : consume_rates(c, args, batch);
}

/* ------------------------------------------------------------------------------------------------------- report */

/* Reports k / n and its error, null if n is 0. */
static void report_share(const struct sl_report *r, const char *key, const char *error_key, uint64_t k, uint64_t n) {
  r->number(r->context, key, n > 0 ? (double)k / (double)n : (double)NAN);
  r->number(r->context, error_key, rate_error(k, n));
}

static void print_share(char *text, size_t bytes, uint64_t k, uint64_t n, int is_known) {
  if (n > 0 && is_known)
    (void)snprintf(text, bytes, "%6.2f +- %5.2f %%", 100 * ratio((double)k, (double)n), 100 * rate_error(k, n));
  else
    (void)snprintf(text, bytes, "%17s", "");
}

static void print_line(const struct selection_check *c, const struct line_counts *n, const struct sl_report *r) {
  enum { CELL_BYTES = 64 };
  const uint64_t all = c->events[ALL];
  const double khz = c->input_rate / 1e3;
  if (c->daughters == 0) {
    r->line(r->context, "%-50s %8" PRIu64 "  %9.2f +- %7.2f kHz  alone %9.2f +- %7.2f kHz", n->name, n->passed[ALL],
            khz * ratio((double)n->passed[ALL], (double)all), khz * rate_error(n->passed[ALL], all),
            khz * ratio((double)n->alone, (double)all), khz * rate_error(n->alone, all));
    return;
  }
  char reconstructible[CELL_BYTES], found[CELL_BYTES], by_signal[CELL_BYTES];
  print_share(reconstructible, CELL_BYTES, n->passed[RECONSTRUCTIBLE], c->events[RECONSTRUCTIBLE], 1);
  print_share(found, CELL_BYTES, n->passed[FOUND], c->events[FOUND], 1);
  print_share(by_signal, CELL_BYTES, n->by_signal, c->events[FOUND], (int)n->is_compared);
  r->line(r->context, "%-50s %8" PRIu64 "  reconstructible %s  found %s  by the signal %s", n->name, n->passed[ALL],
          reconstructible, found, by_signal);
}

static void report_line(const struct selection_check *c, const struct line_counts *n, const struct sl_report *r) {
  const uint64_t all = c->events[ALL];
  const double khz = c->input_rate / 1e3, none = (double)NAN;
  r->text(r->context, "name", n->name);
  r->integer(r->context, "passed", (int64_t)n->passed[ALL]);
  r->integer(r->context, "before_scale", (int64_t)n->before_scale);
  r->integer(r->context, "alone", (int64_t)n->alone);
  r->integer(r->context, "candidates", (int64_t)n->candidates);
  r->number(r->context, "rate_khz", all ? khz * (double)n->passed[ALL] / (double)all : none);
  r->number(r->context, "rate_error_khz", khz * rate_error(n->passed[ALL], all));
  r->number(r->context, "alone_khz", all ? khz * (double)n->alone / (double)all : none);
  r->number(r->context, "alone_error_khz", khz * rate_error(n->alone, all));
  r->integer(r->context, "passed_reconstructible", (int64_t)n->passed[RECONSTRUCTIBLE]);
  report_share(r, "efficiency", "error", n->passed[RECONSTRUCTIBLE], c->events[RECONSTRUCTIBLE]);
  r->integer(r->context, "passed_found", (int64_t)n->passed[FOUND]);
  report_share(r, "efficiency_found", "error_found", n->passed[FOUND], c->events[FOUND]);
  r->number(r->context, "passed_by_signal", n->is_compared ? (double)n->by_signal : none);
  report_share(r, "efficiency_by_signal", "error_by_signal", n->by_signal, n->is_compared ? c->events[FOUND] : 0);
}

static void report_signal(const struct selection_check *c, const struct sl_report *r) {
  const uint64_t all = c->events[ALL], reconstructible = c->events[RECONSTRUCTIBLE], found = c->events[FOUND];
  r->begin_object(r->context, "signal");
  r->integer(r->context, "daughters", (int64_t)c->daughters);
  r->integer(r->context, "reconstructible", (int64_t)reconstructible);
  r->integer(r->context, "found", (int64_t)found);
  report_share(r, "acceptance", "acceptance_error", reconstructible, all);
  report_share(r, "efficiency", "error", found, reconstructible);
  r->integer(r->context, "with_more_daughters", (int64_t)c->with_more_daughters);
  r->end_object(r->context);
  if (c->daughters > 0)
    r->line(r->context,
            "all %" PRIu32 " daughters reconstructible in %" PRIu64 " of %" PRIu64 " %s, found in %" PRIu64
            " (%.2f +- %.2f %%)",
            c->daughters, reconstructible, all, sl_plural(all, "event", "events"), found,
            100 * ratio((double)found, (double)reconstructible), 100 * rate_error(found, reconstructible));
}

static int selection_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  static char any_name[] = "any line";
  struct selection_check *c = (struct selection_check *)state;
  const struct track_check *t = &c->tracks;
  c->any.name = any_name;
  for (uint32_t k = 0; k < c->line_count; k++) {
    c->any.alone += c->lines[k].alone;
    c->any.candidates += c->lines[k].candidates;
  }
  tally_report(&t->tally, r);
  r->number(r->context, "input_rate_hz", c->input_rate);
  report_signal(c, r);
  print_line(c, &c->any, r);
  for (uint32_t k = 0; k < c->line_count; k++) print_line(c, &c->lines[k], r);
  r->begin_array(r->context, "lines");
  for (uint32_t k = 0; k < c->line_count; k++) {
    r->begin_object(r->context, NULL);
    report_line(c, &c->lines[k], r);
    r->end_object(r->context);
  }
  r->end_array(r->context);
  r->begin_object(r->context, "any");
  report_line(c, &c->any, r);
  r->end_object(r->context);
  tally_warn(&t->tally, s);
  if (c->with_more_daughters > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " %s more charged daughters of the signal than `daughters`",
               c->with_more_daughters, sl_plural(c->with_more_daughters, "event has", "events have"));
  if (t->hits > 0 && t->known_hits == 0)
    s->message(s->context, SL_WARNING,
               "no SciFi hit id of the tracks is in the truth: the truth has no SciFi hits or belongs to other events");
  return SL_OK;
}

CHECK_SINK(selection_check, selection_check, "rates of lines, and their efficiency for a simulated signal");
