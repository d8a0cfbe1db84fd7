/* event_picture.c: truth.event_picture, draws one event as SVG: hits, tracks, vertices and missed particles in the
 * VELO; or hits, found tracks, candidates of selection lines and true tracks in the whole spectrometer.
 * The event is the first one, the one with most tracks, or the one with a given number. Each event that is selected, or
 * has more tracks than the best so far, is drawn at once, since its data are not available later; the last drawing is
 * written at the end. In a run that draws events on request, the sink draws these too; without a path it writes no
 * file. A particle is reconstructible if the truth flags it so for the VELO; it is missed if no track matches it
 * (association.h). Its hits are drawn at the positions of the decoded hits with the same ids. */
#include "association/association.h"
#include "association/mc_particles.h"
#include "association/mc_vertices.h"
#include "picture.h"
#include "pv/event_model.h"
#include "spectrometer_found.h"
#include "spectrometer_hits.h"
#include "spectrometer_lines.h"
#include "velo/event_model.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANK_FIELDS       "offsets source_id version size_bytes first_word payload"
#define UT_TRACK_FIELDS   "offsets hit_offsets velo_track qop x tx hit_id"
#define SEED_FIELDS       "offsets hit_offsets qop x y tx ty hit_id"
#define LONG_TRACK_FIELDS "offsets hit_offsets velo_track ut_track qop x y tx ty hit_id"
#define CALO_FIELDS       "numbers pedestal channels xy gain cell_size card_index"
#define MUON_MAP_FIELDS   "format channel_first tiles tell40_links grid offset position_first width_first"
#define MUON_FIELDS       MUON_MAP_FIELDS " x y z half_x half_y"

#define SL_ARGS event_picture_args
#define EVENT_PICTURE(M)                                                                                               \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id hit_x hit_y hit_z", "VELO tracks to draw")                    \
  M(IN, beamline_states, track_states, "offsets x y z tx ty backward", "state per track at the beam line")             \
  M(AUTO_IN, hits, velo_hits, "offsets id x y z", "all VELO hits; if not connected, only hits on tracks are drawn")    \
  M(AUTO_IN, geometry, velo_geometry, "module_z local_x transform", "outlines of the VELO sensors")                    \
  M(AUTO_IN, mc_particles, mc_particle_banks, BANK_FIELDS,                                                             \
    "banks with true particles, for ghosts and missed particles")                                                      \
  M(AUTO_IN, mc_vertices, mc_vertex_banks, BANK_FIELDS, "banks with true vertices")                                    \
  M(AUTO_IN, vertices, pv_vertices, "offsets x y z tracks", "reconstructed vertices")                                  \
  M(AUTO_IN, ut_hits, ut_hits, "offsets id x y y_end z", "spectrometer: UT hits")                                      \
  M(AUTO_IN, ut_tracks, ut_tracks, UT_TRACK_FIELDS, "spectrometer: VELO-UT tracks")                                    \
  M(AUTO_IN, scifi_hits, scifi_hits, "offsets id x z", "spectrometer: SciFi hits")                                     \
  M(AUTO_IN, seeds, seeds, SEED_FIELDS, "spectrometer: tracks in the SciFi")                                           \
  M(AUTO_IN, long_tracks, long_tracks, LONG_TRACK_FIELDS, "spectrometer: long tracks")                                 \
  M(AUTO_IN, muons, muon_flags, "is_muon", "spectrometer: muon identification per long track")                         \
  M(OPTIONAL_IN, muon, muon_banks, BANK_FIELDS, "spectrometer: muon banks; require muon_geometry")                     \
  M(AUTO_IN, muon_geometry, muon_geometry, MUON_FIELDS, "positions of muon pads and strips")                           \
  M(OPTIONAL_IN, calo, calo_banks, "type " BANK_FIELDS, "spectrometer: calorimeter banks; require calo_geometry")      \
  M(AUTO_IN, calo_geometry, calo_geometry, CALO_FIELDS, "positions of calorimeter cells")                              \
  M(LIST_IN, lines, line_decisions, "offsets made_by passed accepted",                                                 \
    "spectrometer: lines; the long tracks of their candidates are highlighted if they pass")                           \
  M(LIST_IN, particles, particles, "offsets made_by", "spectrometer: candidates with one track, of `lines`")           \
  M(LIST_IN, secondary_vertices, secondary_vertices, "offsets made_by first second x y z",                             \
    "spectrometer: candidates with two tracks, of `lines`")                                                            \
  M(ENUM, show, "velo", "part to draw: the VELO or the whole spectrometer", "velo spectrometer")                       \
  M(FILE_OUT, path, "", "", "output file; empty: the file of -o")                                                      \
  M(ENUM, choose, "first", "event to draw: the first one, or the one with most tracks", "first busiest")               \
  M(F64, event, -1, -1, 9007199254740991.0, "", "number of the event to draw; -1: according to `choose`")              \
  M(BOOL, truth, 0, "spectrometer: draw true tracks and vertices, and mark ghosts")                                    \
  M(U32, min_p, 0, 0, 10000000, "MeV",                                                                                 \
    "spectrometer: smallest momentum of drawn tracks; candidates of lines are always drawn, and tracks without "       \
    "momentum only with 0")                                                                                            \
  M(STRING, line, "", "spectrometer: name of the line with the candidates to highlight; empty: all lines that passed") \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(event_picture, EVENT_PICTURE);

enum { CHOOSE_FIRST, CHOOSE_BUSIEST };
enum { SHOW_VELO, SHOW_SPECTROMETER };

/* A hit of the event; sorted by id. */
struct indexed_hit {
  uint32_t id, hit, is_used, reserved;
};

/* A drawing and what is needed to make it. It is reused for other events. */
struct drawing {
  uint32_t id_mask, show;
  struct mc_event mc;
  struct mc_vertices true_vertices;
  struct association association;
  struct indexed_hit *indexed_hits; /* sorted by id */
  uint64_t indexed_hit_count, indexed_hit_capacity;
  struct picture_point *scratch;
  uint64_t scratch_capacity;
  struct picture picture;
  struct spectrometer spectrometer;
  struct svg svg;
};

struct event_picture {
  struct drawing chosen, requested; /* the event for the file; events that are drawn on request */
  uint64_t events_seen, requests;
  uint32_t is_drawn, is_busiest;
  uint64_t tracks_drawn, selected_event; /* selected: UINT64_MAX if not by number */
  const struct sl_output_calls *to;
  struct sl_output *file; /* NULL: events are drawn on request only */
};

/* ------------------------------------------------------------------------------------------------ the hits */

static int compare_indexed_hits(const void *left, const void *right) {
  const struct indexed_hit *a = (const struct indexed_hit *)left, *b = (const struct indexed_hit *)right;
  return a->id != b->id ? (a->id < b->id ? -1 : 1) : (a->hit < b->hit ? -1 : a->hit > b->hit);
}

static int index_hits(struct drawing *c, const struct velo_hits_view *hits, uint32_t event) {
  c->indexed_hit_count = 0;
  if (!hits->offsets) return SL_OK;
  const uint32_t first = hits->offsets[event], count = hits->offsets[event + 1] - first;
  if (!mc_reserve((void **)&c->indexed_hits, &c->indexed_hit_capacity, count, sizeof *c->indexed_hits))
    return SL_ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    c->indexed_hits[i] = (struct indexed_hit){.id = hits->id[first + i] & c->id_mask, .hit = first + i};
  c->indexed_hit_count = count;
  if (count > 1) qsort(c->indexed_hits, count, sizeof *c->indexed_hits, compare_indexed_hits);
  return SL_OK;
}

/* The first hit with this id, or NULL. */
static struct indexed_hit *find_hit(struct drawing *c, uint32_t id) {
  const uint32_t masked_id = id & c->id_mask;
  uint64_t low = 0, high = c->indexed_hit_count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (c->indexed_hits[middle].id < masked_id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->indexed_hit_count && c->indexed_hits[low].id == masked_id ? &c->indexed_hits[low] : NULL;
}

static void mark_used(struct drawing *c, uint32_t id) {
  struct indexed_hit *indexed = find_hit(c, id);
  const struct indexed_hit *end = indexed ? c->indexed_hits + c->indexed_hit_count : NULL;
  for (; indexed < end && indexed->id == (id & c->id_mask); indexed++) indexed->is_used = 1;
}

static int add_unused_hits(struct drawing *c, const struct velo_hits_view *hits) {
  for (uint64_t i = 0; i < c->indexed_hit_count; i++) {
    const uint32_t hit = c->indexed_hits[i].hit;
    if (c->indexed_hits[i].is_used) continue;
    if (!picture_add_hit(&c->picture, (struct picture_point){hits->x[hit], hits->y[hit], hits->z[hit]}))
      return SL_ENOMEM;
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------- tracks, particles, vertices */

static void describe_match(struct drawing *c, struct picture_line *line) {
  line->kind = c->association.match_count ? PICTURE_FOUND : PICTURE_GHOST;
  if (c->association.match_count == 0) return;
  const struct mc_particle *particle = &c->mc.particles[c->association.matches[0].particle];
  line->pdg = particle->pdg;
  line->p_mev = particle->p;
  line->eta = particle->eta;
}

static int add_track(struct drawing *c, const struct event_picture_args *args, uint32_t track) {
  const struct velo_tracks_view *t = &args->tracks;
  const struct track_states_view *s = &args->beamline_states;
  const uint32_t first = t->hit_offsets[track], count = t->hit_offsets[track + 1] - first;
  struct picture_line line = {.origin = {s->x[track], s->y[track], s->z[track]},
                              .tx = s->tx[track],
                              .ty = s->ty[track],
                              .kind = PICTURE_TRACK,
                              .is_backward = s->backward[track],
                              .has_origin = 1,
                              .hit_count = count};
  if (c->picture.has_truth) {
    association_match_velo(&c->association, t->hit_id + first, count);
    describe_match(c, &line);
  }
  if (!picture_add_line(&c->picture, &line)) return SL_ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t hit = line.is_backward ? first + i : first + count - 1 - i; /* stored by descending z */
    mark_used(c, t->hit_id[hit]);
    if (!picture_add_point(&c->picture, (struct picture_point){t->hit_x[hit], t->hit_y[hit], t->hit_z[hit]}))
      return SL_ENOMEM;
  }
  return SL_OK;
}

static int compare_z(const void *left, const void *right) {
  const float a = ((const struct picture_point *)left)->z, b = ((const struct picture_point *)right)->z;
  return a < b ? -1 : a > b;
}

static int add_missed(struct drawing *c, const struct velo_hits_view *hits, const struct mc_particle *particle,
                      uint32_t kind) {
  /* Samples without origins have zeros there. */
  struct picture_line line = {.origin = {particle->x, particle->y, particle->z},
                              .has_origin = particle->x != 0 || particle->y != 0 || particle->z != 0,
                              .kind = kind,
                              .is_backward = particle->eta < 0,
                              .hit_count = particle->velo.count,
                              .pdg = particle->pdg,
                              .p_mev = particle->p,
                              .eta = particle->eta};
  mc_slopes(particle, &line.tx, &line.ty);
  if (!picture_add_line(&c->picture, &line) ||
      !mc_reserve((void **)&c->scratch, &c->scratch_capacity, particle->velo.count, sizeof *c->scratch))
    return SL_ENOMEM;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < particle->velo.count; i++) {
    const struct indexed_hit *indexed = find_hit(c, c->mc.ids[particle->velo.first + i]);
    if (indexed)
      c->scratch[seen++] = (struct picture_point){hits->x[indexed->hit], hits->y[indexed->hit], hits->z[indexed->hit]};
  }
  if (seen > 1) qsort(c->scratch, seen, sizeof *c->scratch, compare_z);
  for (uint32_t i = 0; i < seen; i++)
    if (!picture_add_point(&c->picture, c->scratch[line.is_backward ? seen - 1 - i : i])) return SL_ENOMEM;
  return SL_OK;
}

static int add_particles(struct drawing *c, const struct velo_hits_view *hits) {
  struct picture *p = &c->picture;
  for (uint32_t i = 0; i < c->mc.particle_count; i++) {
    const struct mc_particle *particle = &c->mc.particles[i];
    if (!(particle->flags & MC_HAS_VELO)) continue;
    const uint32_t is_found = c->association.tracks[i] > 0;
    const uint32_t counts = mc_in_acceptance(particle) && !mc_is_electron(particle);
    p->particles++;
    p->particles_found += is_found;
    p->particles_in_acceptance += counts;
    p->particles_found_in_acceptance += counts && is_found;
    if (!is_found && add_missed(c, hits, particle, counts ? PICTURE_MISSED : PICTURE_MISSED_OTHER)) return SL_ENOMEM;
  }
  return SL_OK;
}

static int add_vertices(struct drawing *c, const struct pv_vertices_view *found, uint32_t event) {
  for (uint32_t i = 0; i < c->true_vertices.count; i++) {
    const struct mc_vertex *v = &c->true_vertices.at[i];
    const struct picture_vertex vertex = {
        {(float)v->x, (float)v->y, (float)v->z},
        v->tracks < PICTURE_VERTEX_TRACKS_MIN ? PICTURE_VERTEX_FEW : PICTURE_VERTEX_TRUE,
        v->tracks};
    if (!picture_add_vertex(&c->picture, &vertex)) return SL_ENOMEM;
  }
  if (!found->offsets) return SL_OK;
  c->picture.has_found_vertices = 1;
  for (uint32_t i = found->offsets[event]; i < found->offsets[event + 1]; i++) {
    const struct picture_vertex vertex = {
        {found->x[i], found->y[i], found->z[i]}, PICTURE_VERTEX_FOUND, found->tracks[i]};
    if (!picture_add_vertex(&c->picture, &vertex)) return SL_ENOMEM;
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ one event */

/* Result of decoding one kind of truth: SL_OK or SL_ENOMEM. Malformed truth is reported and treated as absent. */
static int check_decoded(const struct sl_services *s, const struct sl_event *event, int result, const char *what,
                         const char *reason, uint32_t *is_valid) {
  *is_valid = result == SL_OK;
  if (result == SL_EFORMAT)
    s->message(s->context, SL_WARNING, "run %" PRIu32 " event %" PRIu64 ": malformed %s: %s", event->run, event->number,
               what, reason);
  return result == SL_ENOMEM ? SL_ENOMEM : SL_OK;
}

static int read_truth(struct drawing *c, const struct sl_services *s, const struct event_picture_args *args, uint32_t e,
                      const struct sl_event *event) {
  const uint32_t *particles = args->mc_particles.offsets, *vertices = args->mc_vertices.offsets;
  const char *reason = "";
  c->mc.particle_count = c->mc.id_count = c->true_vertices.count = 0;
  if (particles && particles[e] < particles[e + 1]) {
    const int result = mc_event_decode(&c->mc, &args->mc_particles, e, &reason);
    if (check_decoded(s, event, result, "MC particles", reason, &c->picture.has_truth)) return SL_ENOMEM;
  }
  if (vertices && vertices[e] < vertices[e + 1]) {
    const int result = mc_vertices_decode(&c->true_vertices, &args->mc_vertices, e, &reason);
    if (check_decoded(s, event, result, "MC vertices", reason, &c->picture.has_true_vertices)) return SL_ENOMEM;
    if (c->true_vertices.count == 0) c->picture.has_true_vertices = 0;
  }
  return SL_OK;
}

static int fill_picture(struct drawing *c, const struct event_picture_args *args, uint32_t e) {
  if (index_hits(c, &args->hits, e) ||
      (c->picture.has_truth && association_begin(&c->association, &c->mc, c->id_mask, MC_SCIFI)))
    return SL_ENOMEM;
  for (uint32_t track = args->tracks.offsets[e]; track < args->tracks.offsets[e + 1]; track++)
    if (add_track(c, args, track)) return SL_ENOMEM;
  if (c->picture.has_truth && add_particles(c, &args->hits)) return SL_ENOMEM;
  if (add_unused_hits(c, &args->hits)) return SL_ENOMEM;
  return add_vertices(c, &args->vertices, e);
}

/* ------------------------------------------------------------------------------------------ the spectrometer */

static int add_velo_hits(struct drawing *c, const struct velo_hits_view *hits, uint32_t event) {
  if (!hits->offsets) return SL_OK;
  c->spectrometer.hits[SPECTROMETER_VELO].is_read = 1;
  for (uint32_t i = hits->offsets[event]; i < hits->offsets[event + 1]; i++) {
    const struct spectrometer_hit hit = {.z = hits->z[i],
                                         .at = {hits->x[i], hits->y[i]},
                                         .id = hits->id[i] & c->id_mask,
                                         .axes = 1 << SPECTROMETER_X | 1 << SPECTROMETER_Y};
    if (!spectrometer_add_hit(&c->spectrometer, SPECTROMETER_VELO, &hit)) return SL_ENOMEM;
  }
  return SL_OK;
}

static void warn_of_faults(const struct sl_services *s, const struct sl_event *event, const char *detector,
                           const struct spectrometer_faults *faults) {
  if (faults->count > 0)
    s->message(s->context, SL_WARNING,
               "run %" PRIu32 " event %" PRIu64 ": %" PRIu32
               " malformed %s banks were ignored; the last one has source %" PRIu32 ": %s",
               event->run, event->number, faults->count, detector, faults->source_id, faults->text);
}

/* Banks cannot be drawn without the geometry. */
static int has_geometry(const struct sl_services *s, const char *detector, const void *banks, const void *geometry) {
  if (banks && !geometry)
    s->message(s->context, SL_ERROR, "`%s` is connected without `%s_geometry`", detector, detector);
  return !banks || geometry;
}

static int read_detectors(struct drawing *c, const struct sl_services *s, const struct event_picture_args *args,
                          uint32_t e, const struct sl_event *event) {
  struct spectrometer *p = &c->spectrometer;
  struct spectrometer_faults muon = {0}, calo = {0};
  int error = add_velo_hits(c, &args->hits, e);
  if (!error && args->ut_hits.offsets) error = spectrometer_take_ut(p, &args->ut_hits, e);
  if (!error && args->scifi_hits.offsets) error = spectrometer_take_scifi(p, &args->scifi_hits, e);
  if (!error && args->muon.offsets) error = spectrometer_read_muon(p, &args->muon_geometry, &args->muon, e, &muon);
  if (!error && args->calo.offsets) spectrometer_read_calo(p, &args->calo_geometry, &args->calo, e, &calo);
  warn_of_faults(s, event, "muon", &muon);
  warn_of_faults(s, event, "calorimeter", &calo);
  return error;
}

/* Candidates of lines refer to the event's long tracks: 0, SL_ENOMEM, or SL_EINVAL with a message. */
static int take_lines(struct spectrometer *p, const struct sl_services *s, const struct event_picture_args *args,
                      uint32_t e, const struct sl_event *event) {
  const struct spectrometer_selections in = {args->lines, args->secondary_vertices, args->particles, args->line};
  const uint32_t *longs = args->long_tracks.offsets;
  const char *wrong = "";
  const int status = spectrometer_take_lines(p, &in, e, longs ? longs[e + 1] - longs[e] : 0, &wrong);
  if (status == SL_EINVAL)
    s->message(s->context, SL_ERROR,
               "run %" PRIu32 " event %" PRIu64 ": the candidates of %s were made from other tracks than `long_tracks`",
               event->run, event->number, wrong);
  return status;
}

static int draw_spectrometer(struct drawing *c, const struct sl_services *s, const struct event_picture_args *args,
                             uint32_t e, const struct sl_event *event) {
  struct spectrometer *p = &c->spectrometer;
  spectrometer_clear(p);
  p->run = event->run;
  p->number = event->number;
  p->has_truth = c->picture.has_truth;
  p->shows_truth = args->truth;
  p->min_p_mev = args->min_p;
  c->picture.has_true_vertices &= args->truth;
  if (read_detectors(c, s, args, e, event)) return SL_ENOMEM;
  spectrometer_sort_hits(p);
  if (p->has_truth && !spectrometer_add_tracks(p, &c->mc, c->id_mask)) return SL_ENOMEM;
  const int status = take_lines(p, s, args, e, event);
  if (status != SL_OK) return status;
  const struct spectrometer_inputs found = {.velo = args->tracks,
                                            .states = args->beamline_states,
                                            .ut = args->ut_tracks,
                                            .seeds = args->seeds,
                                            .longs = args->long_tracks,
                                            .is_muon = args->muons.is_muon};
  if (spectrometer_take_tracks(p, &found, e, p->has_truth ? &c->association : NULL)) return SL_ENOMEM;
  spectrometer_draw(p, &c->picture, &c->svg);
  return SL_OK;
}

static int draw(struct drawing *c, const struct sl_services *s, const struct event_picture_args *args, uint32_t e,
                const struct sl_event *event) {
  picture_clear(&c->picture);
  c->picture.run = event->run;
  c->picture.number = event->number;
  c->picture.has_hits = args->hits.offsets != NULL;
  c->picture.geometry = args->geometry;
  if (read_truth(c, s, args, e, event) || fill_picture(c, args, e)) return SL_ENOMEM;
  c->svg.count = 0;
  if (c->show == SHOW_SPECTROMETER) {
    const int status = draw_spectrometer(c, s, args, e, event);
    if (status != SL_OK) return status;
  } else {
    picture_draw(&c->picture, &c->svg);
  }
  return c->svg.failed ? SL_ENOMEM : SL_OK;
}

static void free_drawing(struct drawing *c) {
  mc_event_free(&c->mc);
  mc_vertices_free(&c->true_vertices);
  association_free(&c->association);
  free(c->indexed_hits);
  free(c->scratch);
  picture_free(&c->picture);
  spectrometer_free(&c->spectrometer);
  svg_free(&c->svg);
}

/* ------------------------------------------------------------------------------------------------ the sink */

/* The property `line` must be the name of a connected line. */
static int has_line(const struct sl_services *s, const struct event_picture_args *args) {
  if (!*args->line || spectrometer_find_line(&args->lines, args->line) < args->lines.count) return 1;
  if (args->lines.count == 0)
    s->message(s->context, SL_ERROR, "line: `%s`: no lines are connected; connect them with `in: { lines: all }`",
               args->line);
  else
    s->message(s->context, SL_ERROR, "line: `%s` is none of the %" PRIu32 " connected lines, such as `%s`", args->line,
               args->lines.count, args->lines.names[0]);
  return 0;
}

static int event_picture_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct event_picture_args *args = (const struct event_picture_args *)args_;
  struct event_picture *c = (struct event_picture *)state;
  const struct drawing empty = {.id_mask = association_velo_mask(args->mask_fraction_bits),
                                .show = (uint32_t)args->show};
  const char *path = *args->path ? args->path : output_path;
  *c = (struct event_picture){.chosen = empty,
                              .requested = empty,
                              .is_busiest = args->choose == CHOOSE_BUSIEST,
                              .selected_event = args->event < 0 ? UINT64_MAX : (uint64_t)args->event,
                              .to = s->output};
  if (!has_line(s, args)) return SL_EINVAL;
  if (s->draws && !path) return SL_OK;
  /* Opens the file at once, so that a path that cannot be written is reported before the run. */
  return c->to->open(s, path, 0, &c->file);
}

static int is_chosen(const struct event_picture *c, const struct sl_event *event, uint32_t tracks) {
  if (event->error != SL_EVENT_OK || !c->file) return 0;
  if (c->selected_event != UINT64_MAX) return !c->is_drawn && event->number == c->selected_event;
  return !c->is_drawn || (c->is_busiest && tracks > c->tracks_drawn);
}

static int event_picture_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct event_picture_args *args = (const struct event_picture_args *)args_;
  struct event_picture *c = (struct event_picture *)state;
  if (!has_geometry(s, "muon", args->muon.offsets, args->muon_geometry.x) ||
      !has_geometry(s, "calo", args->calo.offsets, args->calo_geometry.xy))
    return SL_EINVAL;
  SL_FOR_BATCH (e, batch) {
    const uint32_t tracks = args->tracks.offsets[e + 1] - args->tracks.offsets[e];
    c->events_seen++;
    if (!is_chosen(c, &batch->events[e], tracks)) continue;
    c->tracks_drawn = tracks;
    c->is_drawn = 1;
    const int error = draw(&c->chosen, s, args, e, &batch->events[e]);
    if (error == SL_ENOMEM) s->message(s->context, SL_ERROR, "out of memory");
    if (error) return error;
  }
  return SL_OK;
}

static int event_picture_draw(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                              uint32_t event, const struct sl_text_calls *to) {
  struct event_picture *c = (struct event_picture *)state;
  const int error = draw(&c->requested, s, (const struct event_picture_args *)args, event, &batch->events[event]);
  if (error) return error;
  c->requests++;
  return to->add(to->context, c->requested.svg.text, c->requested.svg.count);
}

static void report_spectrometer(const struct spectrometer *p, const struct sl_report *r) {
  double energy = 0;
  uint32_t true_tracks = 0, hidden = 0;
  for (uint32_t i = 0; i < SPECTROMETER_STRIPS; i++) energy += p->energy_mev[SPECTROMETER_X][i];
  for (enum spectrometer_kind kind = 0; kind < SPECTROMETER_KINDS; kind++) {
    if (spectrometer_is_true(kind)) true_tracks += p->kinds[kind].tracks;
    if (!spectrometer_is_true(kind) || p->shows_truth) hidden += p->kinds[kind].hidden;
  }
  r->integer(r->context, "true_tracks", true_tracks);
  r->integer(r->context, "long_tracks", p->kinds[SPECTROMETER_TRUE_LONG].tracks);
  r->integer(r->context, "ut_hits", (int64_t)p->hits[SPECTROMETER_UT].count);
  r->integer(r->context, "scifi_hits", (int64_t)p->hits[SPECTROMETER_SCIFI].count);
  r->integer(r->context, "muon_hits", p->hits[SPECTROMETER_MUON].on_axis[SPECTROMETER_X]);
  r->number(r->context, "energy_gev", energy / 1000);
  r->integer(r->context, "found_ut_tracks", p->kinds[SPECTROMETER_FOUND_UT].tracks);
  r->integer(r->context, "ut_ghosts", p->kinds[SPECTROMETER_FOUND_UT].ghosts);
  r->integer(r->context, "found_long_tracks", p->kinds[SPECTROMETER_FOUND_LONG].tracks);
  r->integer(r->context, "long_ghosts", p->kinds[SPECTROMETER_FOUND_LONG].ghosts);
  r->integer(r->context, "found_muons", p->kinds[SPECTROMETER_FOUND_LONG].muons);
  r->integer(r->context, "hidden_tracks", hidden);
  r->begin_array(r->context, "lines");
  for (uint64_t i = 0; i < p->line_count; i++) {
    r->begin_object(r->context, NULL);
    r->text(r->context, "name", p->lines[i].name);
    r->integer(r->context, "candidates", p->lines[i].candidates);
    r->end_object(r->context);
  }
  r->end_array(r->context);
}

static int report_requests(const struct event_picture *c, const struct sl_report *r) {
  r->integer(r->context, "events", (int64_t)c->events_seen);
  r->integer(r->context, "requests", (int64_t)c->requests);
  r->line(r->context, "drew %" PRIu64 " of %" PRIu64 " %s on request, and no file", c->requests, c->events_seen,
          sl_plural(c->events_seen, "event", "events"));
  return SL_OK;
}

static int event_picture_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct event_picture *c = (struct event_picture *)state;
  const struct picture *p = &c->chosen.picture;
  if (!c->file) return report_requests(c, r);
  if (!c->is_drawn && c->selected_event != UINT64_MAX) {
    s->message(s->context, SL_ERROR, "event %" PRIu64 " is not among the events without error: no picture was drawn",
               c->selected_event);
    return SL_EINVAL;
  }
  if (!c->is_drawn) {
    s->message(s->context, SL_WARNING, "there is no event without error: no picture was drawn");
    return SL_OK;
  }
  int error = c->to->add(c->file, c->chosen.svg.text, c->chosen.svg.count);
  if (!error) error = c->to->finish(c->file);
  if (error) return error;
  const char *path = c->to->path(c->file);
  r->text(r->context, "path", path);
  r->integer(r->context, "bytes", (int64_t)c->chosen.svg.count);
  r->integer(r->context, "events", (int64_t)c->events_seen);
  r->integer(r->context, "run", p->run);
  r->integer(r->context, "event", (int64_t)p->number);
  r->integer(r->context, "tracks", (int64_t)c->tracks_drawn);
  r->integer(r->context, "matched", p->counts[PICTURE_FOUND]);
  r->integer(r->context, "ghosts", p->counts[PICTURE_GHOST]);
  r->integer(r->context, "particles", p->particles);
  r->integer(r->context, "particles_found", p->particles_found);
  r->integer(r->context, "true_vertices", p->vertex_counts[PICTURE_VERTEX_TRUE] + p->vertex_counts[PICTURE_VERTEX_FEW]);
  r->integer(r->context, "vertices", p->vertex_counts[PICTURE_VERTEX_FOUND]);
  if (c->chosen.show == SHOW_SPECTROMETER) report_spectrometer(&c->chosen.spectrometer, r);
  r->line(r->context, "drew run %" PRIu32 " event %" PRIu64 " of %" PRIu64 " %s, %" PRIu64 " %s, to %s", p->run,
          p->number, c->events_seen, sl_plural(c->events_seen, "event", "events"), c->tracks_drawn,
          sl_plural(c->tracks_drawn, "track", "tracks"), path);
  return SL_OK;
}

static void event_picture_close(void *state) {
  struct event_picture *c = (struct event_picture *)state;
  if (c->file) c->to->close(c->file);
  free_drawing(&c->chosen);
  free_drawing(&c->requested);
}

static const struct sl_sink event_picture_functions = {.open = event_picture_open,
                                                       .consume = event_picture_consume,
                                                       .finish = event_picture_finish,
                                                       .close = event_picture_close,
                                                       .draw = event_picture_draw};

SL_SINK(event_picture, "draws one event as SVG: VELO hits, tracks, vertices, and missed particles, or the spectrometer",
        struct event_picture, event_picture_functions);
