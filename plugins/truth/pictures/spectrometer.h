/* spectrometer.h: contents of a picture of one event in the whole spectrometer, seen from above: in z and x, the
 * bending plane of the magnet. Lengths in mm.
 * Hits of the UT and the SciFi are those of x layers, since x of a strip or fibre in a stereo layer depends on y. A
 * struct spectrometer is reused for other events; its memory only grows. Initialise it with zeros.
 * Fill it in this order: hits (spectrometer_hits.c), true tracks (spectrometer_tracks.c), found tracks
 * (spectrometer_found.c). */
#ifndef TRUTH_SPECTROMETER_H
#define TRUTH_SPECTROMETER_H

#include "association/mc_particles.h"
#include "picture.h"
#include "svg.h"

#include <stdint.h>

enum spectrometer_detector {
  SPECTROMETER_VELO,
  SPECTROMETER_UT,
  SPECTROMETER_SCIFI,
  SPECTROMETER_MUON,
  SPECTROMETER_DETECTORS
};

struct spectrometer_hit {
  float z, x;
  float half_x; /* half width of a muon pad or strip; else 0 */
  uint32_t id;
};

struct spectrometer_hits {
  struct spectrometer_hit *at; /* by id, after spectrometer_sort_hits */
  uint64_t count, capacity;
  uint32_t is_read; /* hits or banks are connected */
  uint32_t reserved;
};

/* Kinds of tracks, in the order in which they are drawn: matched tracks are below the true ones. */
enum spectrometer_kind {
  SPECTROMETER_MATCHED, /* found track that matches a particle */
  SPECTROMETER_SCIFI_ALONE,
  SPECTROMETER_UPSTREAM,   /* VELO and UT */
  SPECTROMETER_LONG,       /* VELO and SciFi */
  SPECTROMETER_DOWNSTREAM, /* UT and SciFi */
  SPECTROMETER_UNJUDGED,   /* found track, without truth */
  SPECTROMETER_GHOST,      /* found track that matches no particle */
  SPECTROMETER_KINDS
};
static inline int spectrometer_is_true(enum spectrometer_kind kind) {
  return kind >= SPECTROMETER_SCIFI_ALONE && kind <= SPECTROMETER_DOWNSTREAM;
}

/* Found tracks by their last detector. */
enum spectrometer_end { SPECTROMETER_TO_UT, SPECTROMETER_TO_SCIFI, SPECTROMETER_ENDS };
struct spectrometer_found {
  uint32_t is_read; /* such tracks are connected */
  uint32_t tracks, ghosts;
  uint32_t muons; /* identified muons */
};

struct spectrometer_point {
  float z, x;
};

/* A particle, from its origin through its hits; or a found track. */
struct spectrometer_track {
  enum spectrometer_kind kind;
  enum spectrometer_end end; /* of a found track */
  uint32_t is_muon, has_exit;
  uint32_t first_point, point_count;
  float exit_slope; /* slope after its last hit, if has_exit */
  int32_t pdg;
  float p_mev, eta;
};

/* Energy of the calorimeter in columns as wide as a cell of the outer area, by ascending x. */
enum { SPECTROMETER_COLUMNS = 64 };

struct spectrometer {
  uint32_t run;
  uint64_t number;
  struct spectrometer_hits hits[SPECTROMETER_DETECTORS];
  struct spectrometer_track *tracks;
  struct spectrometer_point *points;
  uint64_t track_count, track_capacity, point_count, point_capacity;
  uint32_t counts[SPECTROMETER_KINDS]; /* of tracks */
  uint32_t true_tracks, muons;         /* among the tracks */
  struct spectrometer_found found[SPECTROMETER_ENDS];
  uint32_t has_truth, has_energy;
  float column_width;
  double energy_mev[SPECTROMETER_COLUMNS];
};

void spectrometer_clear(struct spectrometer *p);
void spectrometer_free(struct spectrometer *p);

/* Returns 0 when out of memory. */
int spectrometer_add_hit(struct spectrometer *p, enum spectrometer_detector detector,
                         const struct spectrometer_hit *hit);
/* Call it after the last hit. */
void spectrometer_sort_hits(struct spectrometer *p);
/* Returns the first hit with this id, or NULL. */
const struct spectrometer_hit *spectrometer_find_hit(const struct spectrometer_hits *hits, uint32_t id);
/* Return 0 when out of memory. Points belong to the track that was added last. */
int spectrometer_add_track(struct spectrometer *p, const struct spectrometer_track *track);
int spectrometer_add_point(struct spectrometer *p, float z, float x);

/* Adds the tracks of an event's particles; returns 0 when out of memory. Ids of VELO hits are compared in the bits
 * of the mask. */
int spectrometer_add_tracks(struct spectrometer *p, const struct mc_event *mc, uint32_t velo_mask);
/* Adds a found track through points; the point with the smallest z is its origin, with slope `origin_slope`. Returns
 * 0 when out of memory. The curve in the magnet is that of true tracks. */
int spectrometer_add_found(struct spectrometer *p, const struct spectrometer_track *track,
                           const struct spectrometer_point *points, uint32_t count, float origin_slope);

/* Draws the whole SVG file, with the vertices of a picture of the same event. */
void spectrometer_draw(const struct spectrometer *p, const struct picture *vertices, struct svg *svg);

#endif
