/* spectrometer.h: contents of a picture of one event in the whole spectrometer, seen from above (z and x, the bending
 * plane of the magnet) and from the side (z and y). Lengths in mm.
 * Hits of the UT and the SciFi are those of x layers, since x of a strip or fibre in a stereo layer depends on y. A
 * struct spectrometer is reused for other events; its memory only grows. Initialise it with zeros.
 * Fill it in this order: hits (spectrometer_hits.c), true tracks (spectrometer_tracks.c), candidates of lines
 * (spectrometer_lines.c), found tracks (spectrometer_found.c). */
#ifndef TRUTH_SPECTROMETER_H
#define TRUTH_SPECTROMETER_H

#include "association/mc_particles.h"
#include "picture.h"
#include "svg.h"

#include <stdint.h>

enum spectrometer_axis { SPECTROMETER_X, SPECTROMETER_Y, SPECTROMETER_AXES };

enum spectrometer_detector {
  SPECTROMETER_VELO,
  SPECTROMETER_UT,
  SPECTROMETER_SCIFI,
  SPECTROMETER_MUON,
  SPECTROMETER_DETECTORS
};

struct spectrometer_hit {
  float z, at[SPECTROMETER_AXES];
  float half[SPECTROMETER_AXES]; /* half width of a muon pad or strip; half length of a UT strip in y; else 0 */
  uint32_t id;
  uint32_t axes; /* bits: 1 << axis if the hit is measured along this axis, and drawn in its view */
};

struct spectrometer_hits {
  struct spectrometer_hit *at; /* by id, after spectrometer_sort_hits */
  uint64_t count, capacity;
  uint32_t on_axis[SPECTROMETER_AXES]; /* hits that are measured along this axis */
  uint32_t is_read;                    /* hits or banks are connected */
  uint32_t reserved;
};

/* Kinds of tracks, in the order in which they are drawn. A found track that continues as a track of a later kind is
 * counted, but only the later track is drawn. */
enum spectrometer_kind {
  SPECTROMETER_TRUE_SCIFI,      /* particle with hits in the SciFi alone */
  SPECTROMETER_TRUE_UPSTREAM,   /* VELO and UT */
  SPECTROMETER_TRUE_LONG,       /* VELO and SciFi */
  SPECTROMETER_TRUE_DOWNSTREAM, /* UT and SciFi */
  SPECTROMETER_FOUND_VELO,      /* found track in the VELO */
  SPECTROMETER_FOUND_UT,        /* VELO and UT */
  SPECTROMETER_FOUND_SEED,      /* SciFi */
  SPECTROMETER_FOUND_LONG,      /* VELO and SciFi */
  SPECTROMETER_KINDS
};
static inline int spectrometer_is_true(enum spectrometer_kind kind) { return kind < SPECTROMETER_FOUND_VELO; }

struct spectrometer_counts {
  uint32_t is_read; /* such tracks are connected */
  uint32_t tracks, ghosts, muons;
  uint32_t drawn, drawn_ghosts, drawn_muons;
  uint32_t hidden; /* tracks that are not drawn because of the minimum momentum */
};

struct spectrometer_point {
  float z, at[SPECTROMETER_AXES];
};

/* A particle, from its origin through its hits; or a found track. */
struct spectrometer_track {
  enum spectrometer_kind kind;
  uint32_t is_muon, is_ghost; /* ghost: a found track that matches no particle */
  uint32_t is_extended;       /* continues as a track of another kind */
  uint32_t first_line, lines; /* lines that accept a candidate with this track: index of the first one, number */
  uint32_t first_point, point_count;
  uint32_t has_exit;
  float exit_slope[SPECTROMETER_AXES]; /* slopes after its last point, if has_exit */
  int32_t pdg;
  float p_mev, eta; /* p_mev: 0: unknown */
};

/* A line of the selection that passed. The name is borrowed. */
struct spectrometer_line {
  const char *name;
  uint32_t candidates; /* accepted candidates */
  uint32_t is_known;   /* the candidates' tracks are connected */
};

/* Lines that accept a candidate with a long track. */
struct spectrometer_candidate {
  uint32_t first_line, last_line, lines; /* indices of lines; number */
};

/* Energy of the calorimeter in strips as wide as a cell of the outer area, by ascending x or y. */
enum { SPECTROMETER_STRIPS = 64 };

struct spectrometer {
  uint32_t run;
  uint64_t number;
  struct spectrometer_hits hits[SPECTROMETER_DETECTORS];
  struct spectrometer_track *tracks; /* to draw */
  struct spectrometer_point *points;
  struct spectrometer_line *lines;
  struct spectrometer_candidate *candidates; /* per long track of the event */
  struct picture_point *vertices;            /* of candidates with two tracks */
  uint8_t *is_extended;                      /* found tracks of one kind; scratch */
  uint64_t track_count, track_capacity, point_count, point_capacity, line_count, line_capacity, candidate_count,
      candidate_capacity, vertex_count, vertex_capacity, extended_capacity;
  struct spectrometer_counts kinds[SPECTROMETER_KINDS];
  uint32_t has_truth, shows_truth, has_energy;
  uint32_t has_lines;        /* lines are connected */
  const char *selected_line; /* highlight candidates of this line only; NULL: of all lines */
  uint32_t min_p_mev;        /* tracks with less momentum, and no candidate of a line, are not drawn */
  float strip_width;
  double energy_mev[SPECTROMETER_AXES][SPECTROMETER_STRIPS];
};

/* Keeps the memory only. */
void spectrometer_clear(struct spectrometer *p);
void spectrometer_free(struct spectrometer *p);

/* Returns 0 when out of memory. */
int spectrometer_add_hit(struct spectrometer *p, enum spectrometer_detector detector,
                         const struct spectrometer_hit *hit);
/* Call it after the last hit. */
void spectrometer_sort_hits(struct spectrometer *p);
/* Returns the first hit with this id, or NULL. */
const struct spectrometer_hit *spectrometer_find_hit(const struct spectrometer_hits *hits, uint32_t id);
/* Counts a track and, if it is drawn, adds it: 1 if it was added, 0 if it is not drawn, -1 when out of memory. */
int spectrometer_add_track(struct spectrometer *p, const struct spectrometer_track *track);
/* Returns 0 when out of memory. Points belong to the track that was added last. */
int spectrometer_add_point(struct spectrometer *p, const struct spectrometer_point *point);

/* Adds the tracks of an event's particles; returns 0 when out of memory. Ids of VELO hits are compared in the bits
 * of the mask. */
int spectrometer_add_tracks(struct spectrometer *p, const struct mc_event *mc, uint32_t velo_mask);
/* Adds a found track through points; the point with the smallest z is its origin, with slope `origin_slope` in x.
 * Returns 0 when out of memory. The curve in the magnet is that of true tracks. */
int spectrometer_add_found(struct spectrometer *p, const struct spectrometer_track *track,
                           const struct spectrometer_point *points, uint32_t count, float origin_slope);

/* Draws the whole SVG file, with the vertices of a picture of the same event. */
void spectrometer_draw(const struct spectrometer *p, const struct picture *vertices, struct svg *svg);

#endif
