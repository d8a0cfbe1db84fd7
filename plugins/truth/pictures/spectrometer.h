/* spectrometer.h: what is seen of one event in the whole spectrometer, from above: in z and x, the plane in which the
 * magnet bends. Lengths in mm.
 *
 * Of the UT and the SciFi these are hits of the x layers: a strip or fibre of the other layers is at no x, but at one
 * for each y. A struct spectrometer is used again for another event; its memory only grows. Zero-initialise it. Hits
 * come first (spectrometer_hits.c), then the true tracks through them (spectrometer_tracks.c), and tracks that were
 * found (spectrometer_found.c).
 */
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
  float half_x; /* of a pad or strip of a muon chamber: half its width; else 0 */
  uint32_t id;
};

struct spectrometer_hits {
  struct spectrometer_hit *at; /* by id, once they are sorted */
  uint64_t count, capacity;
  uint32_t is_read; /* somebody gave its hits or banks */
  uint32_t reserved;
};

/* The kinds of tracks, in the order in which they are drawn: those that are matched lie under the true ones. */
enum spectrometer_kind {
  SPECTROMETER_MATCHED, /* found, and matches a particle */
  SPECTROMETER_SCIFI_ALONE,
  SPECTROMETER_UPSTREAM,   /* VELO and UT */
  SPECTROMETER_LONG,       /* VELO and SciFi */
  SPECTROMETER_DOWNSTREAM, /* UT and SciFi */
  SPECTROMETER_UNJUDGED,   /* found, where there is no truth */
  SPECTROMETER_GHOST,      /* found, and matches none */
  SPECTROMETER_KINDS
};
static inline int spectrometer_is_true(enum spectrometer_kind kind) {
  return kind >= SPECTROMETER_SCIFI_ALONE && kind <= SPECTROMETER_DOWNSTREAM;
}

/* Found tracks, by where they go. */
enum spectrometer_reach { SPECTROMETER_TO_UT, SPECTROMETER_TO_SCIFI, SPECTROMETER_REACHES };
struct spectrometer_found {
  uint32_t is_read; /* somebody gave such tracks */
  uint32_t tracks, ghosts;
  uint32_t muons; /* said to be, among them */
};

struct spectrometer_point {
  float z, x;
};

/* A particle: from its origin through its hits; or a track that was found, with what it matches. */
struct spectrometer_track {
  enum spectrometer_kind kind;
  enum spectrometer_reach reach; /* of a found one */
  uint32_t is_muon, has_exit;
  uint32_t first_point, point_count;
  float exit_slope; /* behind its last hit, if has_exit */
  int32_t pdg;
  float p_mev, eta;
};

/* The calorimeter's energy in columns, one as wide as a cell of the outer area; the first is at the lowest x. */
enum { SPECTROMETER_COLUMNS = 64 };

struct spectrometer {
  uint32_t run;
  uint64_t number;
  struct spectrometer_hits hits[SPECTROMETER_DETECTORS];
  struct spectrometer_track *tracks;
  struct spectrometer_point *points;
  uint64_t track_count, track_capacity, point_count, point_capacity;
  uint32_t counts[SPECTROMETER_KINDS]; /* of tracks */
  uint32_t true_tracks, muons;         /* among them */
  struct spectrometer_found found[SPECTROMETER_REACHES];
  uint32_t has_truth, has_energy;
  float column_width;
  double energy_mev[SPECTROMETER_COLUMNS];
};

void spectrometer_clear(struct spectrometer *p);
void spectrometer_free(struct spectrometer *p);

/* 0 if there is no memory. */
int spectrometer_add_hit(struct spectrometer *p, enum spectrometer_detector detector,
                         const struct spectrometer_hit *hit);
/* Once all hits are there. */
void spectrometer_sort_hits(struct spectrometer *p);
/* The first hit with that id, or NULL. */
const struct spectrometer_hit *spectrometer_find_hit(const struct spectrometer_hits *hits, uint32_t id);
/* 0 if there is no memory. A track's points are those added after it. */
int spectrometer_add_track(struct spectrometer *p, const struct spectrometer_track *track);
int spectrometer_add_point(struct spectrometer *p, float z, float x);

/* The tracks of an event's particles; 0 if there is no memory. Ids of VELO hits are compared in the bits of the mask.
 */
int spectrometer_add_tracks(struct spectrometer *p, const struct mc_event *mc, uint32_t velo_mask);
/* A found track through points, the one with the least z its origin, with its slope there; 0 if there is no memory. Its
 * way through the magnet is made as that of true tracks. */
int spectrometer_add_found(struct spectrometer *p, const struct spectrometer_track *track,
                           const struct spectrometer_point *points, uint32_t count, float origin_slope);

/* The whole SVG file, with the vertices of a picture of the same event. */
void spectrometer_draw(const struct spectrometer *p, const struct picture *vertices, struct svg *svg);

#endif
