/* sel_reports.h: contents and layout of an HltSelReports bank, for the two kernels of sel_reports.cu
 * (reports.md).
 *
 * Objects are numbered: first the lines that passed, then vertices by container and index, then tracks by index.
 * A vertex is in the bank if a line that passed accepts it. A track is in the bank if a line that passed accepts it, or
 * if it belongs to a vertex in the bank.
 */
#ifndef SELECTIONS_SEL_REPORTS_H
#define SELECTIONS_SEL_REPORTS_H

#include "forward/event_model.h"
#include "selections/event_model.h"
#include "selections/reports.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>
#include <sluice/math.h>

/* Counters per event. */
enum { COUNT_LINES, COUNT_CANDIDATES, COUNT_VERTICES, COUNT_TRACKS, COUNT_HITS, SELECTION_COUNTS };

#define SL_ARGS sel_reports_args
#define SEL_REPORTS(M)                                                                                                \
  M(IN, decisions, event_decisions, "", "decisions of all lines")                                                     \
  M(LIST_IN, lines, line_decisions, "offsets made_by accepted", "lines that `decisions` were made from")              \
  M(LIST_IN, vertices, secondary_vertices, "offsets made_by first second x y z chi2", "vertices that lines evaluate") \
  M(IN, particles, particles, "offsets made_by chi2_ndof",                                                            \
    "particles that lines evaluate and that the vertices are made of")                                                \
  M(IN, states, long_states, "offsets x y z tx ty qop ndof", "states of the particles at the beam line")              \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track hit_id", "long tracks of the particles")        \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks, for the VELO hits of long tracks")      \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id", "UT tracks, for the UT hits of long tracks")     \
  M(OUT, reports, selection_report_banks, "one bank per event that passes a line",                                    \
    SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))), SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(words, REPORT_WORDS_MAX))))             \
  M(SCRATCH, passed, u32, "lines that passed, with the kind of their candidates",                                     \
    SL_ONE(SL_EVENT_ENTRIES_TERM(lines)))                                                                             \
  M(SCRATCH, vertex_numbers, u32, "object number of a vertex", SL_ONE(SL_ITEMS_TERM(vertices)))                       \
  M(SCRATCH, track_numbers, u32, "object number of a track", SL_ONE(SL_ITEMS_TERM(particles)))                        \
  M(SCRATCH, counts, u32, "counters per event: lines, candidates, vertices, tracks, hits",                            \
    SL_ONE(SL_EVENTS_TERM(SELECTION_COUNTS, 0)))                                                                      \
  M(SCRATCH, word_offsets, u32, "offset of the words of an event of the node's list", SL_ONE(SL_EVENTS_TERM(1, 1)))   \
  M(BUDGET, words, 110, 1, 16381, "words of the banks, on average over a slice")                                      \
  M(COMPUTED, key, uint32_t, "hash of ids and names of the lines")
SL_ARGUMENTS(sel_reports, SEL_REPORTS);

/* ------------------------------------------------------------------------------------------------- objects */

enum { NO_OBJECT = UINT32_MAX };
/* Kind of the candidates of a line: not in reports, tracks, or vertices of container number kind - KIND_VERTICES. */
enum { KIND_NONE, KIND_TRACKS, KIND_VERTICES, KIND_SHIFT = 16, LINE_MASK = 0xFFFF };

static SL_DEVICE uint32_t event_tracks(const struct sel_reports_args *a, uint32_t event) {
  return a->particles.offsets[event + 1] - a->particles.offsets[event];
}

/* Number of vertices of container `c` in the event. */
static SL_DEVICE uint32_t event_vertices(const struct sel_reports_args *a, uint32_t c, uint32_t event) {
  const uint32_t *offsets = a->vertices.at[c].offsets;
  return offsets[event + 1] - offsets[event];
}

/* Object numbers of the vertices of the event, container after container. */
static SL_DEVICE uint32_t *vertex_numbers(const struct sel_reports_args *a, uint32_t event) {
  uint32_t first = 0;
  for (uint32_t c = 0; c < a->vertices.count; c++) first += a->vertices.at[c].offsets[event];
  return a->vertex_numbers + first;
}

static SL_DEVICE uint32_t *track_numbers(const struct sel_reports_args *a, uint32_t event) {
  return a->track_numbers + a->particles.offsets[event];
}

static SL_DEVICE const uint32_t *passed_lines(const struct sel_reports_args *a, uint32_t event) {
  return a->passed + (uint64_t)event * a->lines.count;
}

/* Decisions of a line for the candidates of the event. `passed`: an entry of passed_lines. */
static SL_DEVICE const uint8_t *line_accepts(const struct sel_reports_args *a, uint32_t passed, uint32_t event) {
  const struct line_decisions_view *line = &a->lines.at[passed & LINE_MASK];
  return line->accepted + line->offsets[event];
}

/* Number of candidates of a kind in the event. */
static SL_DEVICE uint32_t candidate_count(const struct sel_reports_args *a, uint32_t kind, uint32_t event) {
  if (kind == KIND_NONE) return 0;
  return kind == KIND_TRACKS ? event_tracks(a, event) : event_vertices(a, kind - KIND_VERTICES, event);
}

/* ---------------------------------------------------------------------------------------------------- hits */

struct hit_list {
  const uint32_t *ids;
  uint32_t count, reserved;
};
enum { DETECTORS = 3 };

static SL_DEVICE struct hit_list hits_between(const uint32_t *ids, const uint32_t *hit_offsets, uint32_t track) {
  struct hit_list hits;
  hits.ids = ids + hit_offsets[track];
  hits.count = hit_offsets[track + 1] - hit_offsets[track];
  hits.reserved = 0;
  return hits;
}

/* Hits of a long track (index in the slice) in detector 0: VELO, 1: UT, 2: SciFi. */
static SL_DEVICE struct hit_list track_hits(const struct sel_reports_args *a, uint32_t event, uint32_t track,
                                            uint32_t detector) {
  struct hit_list none = {NULL, 0, 0};
  if (detector == 0)
    return hits_between(a->velo_tracks.hit_id, a->velo_tracks.hit_offsets,
                        a->velo_tracks.offsets[event] + a->tracks.velo_track[track]);
  if (detector == 2) return hits_between(a->tracks.hit_id, a->tracks.hit_offsets, track);
  if (!a->ut_tracks.offsets || a->tracks.ut_track[track] == UINT32_MAX) return none;
  return hits_between(a->ut_tracks.hit_id, a->ut_tracks.hit_offsets,
                      a->ut_tracks.offsets[event] + a->tracks.ut_track[track]);
}

static SL_DEVICE uint32_t hit_count(const struct sel_reports_args *a, uint32_t event, uint32_t track) {
  uint32_t count = 0;
  for (uint32_t d = 0; d < DETECTORS; d++) count += track_hits(a, event, track, d).count;
  return count;
}

/* --------------------------------------------------------------------------------------------------- sizes */

enum { VERTEX_VALUES = 4, TRACK_VALUES = 8, VERTEX_TRACKS = 2, OBJECT_TYPES = 3 };
/* Sub-banks in the order of the bank. */
enum { SUB_TYPES, SUB_STRUCTURE, SUB_EXTRA, SUB_STANDARD, SUB_HITS, SUB_BANKS };

static SL_DEVICE uint32_t object_count(const uint32_t *counts) {
  return counts[COUNT_LINES] + counts[COUNT_VERTICES] + counts[COUNT_TRACKS];
}

/* Half-words of the structure sub-bank: begin of the vertices, begin of the tracks, end. */
static SL_DEVICE uint32_t vertex_halves(const uint32_t *counts) {
  return 2 + counts[COUNT_LINES] + counts[COUNT_CANDIDATES];
}
static SL_DEVICE uint32_t track_halves(const uint32_t *counts) {
  return vertex_halves(counts) + (1 + VERTEX_TRACKS) * counts[COUNT_VERTICES];
}
static SL_DEVICE uint32_t structure_halves(const uint32_t *counts) {
  return track_halves(counts) + 2 * counts[COUNT_TRACKS];
}

/* Size of a sub-bank in words. */
static SL_DEVICE uint32_t sub_bank_words(const uint32_t *counts, uint32_t sub_bank) {
  const uint32_t lines = counts[COUNT_LINES], vertices = counts[COUNT_VERTICES], tracks = counts[COUNT_TRACKS];
  switch (sub_bank) {
    case SUB_TYPES:
      return 1 + (lines > 0) + (vertices > 0) + (tracks > 0);
    case SUB_STRUCTURE:
      return (structure_halves(counts) + 1) / 2;
    case SUB_EXTRA:
      return 2 + object_count(counts) / 4;
    case SUB_STANDARD:
      return 2 + object_count(counts) / 4 + lines + VERTEX_VALUES * vertices + TRACK_VALUES * tracks;
    default:
      return 1 + tracks / 2 + counts[COUNT_HITS];
  }
}

static SL_DEVICE uint32_t bank_words(const uint32_t *counts) {
  uint32_t words = SELECTION_REPORT_HEAD_WORDS;
  for (uint32_t i = 0; i < SUB_BANKS; i++) words += sub_bank_words(counts, i);
  return words;
}

#endif
