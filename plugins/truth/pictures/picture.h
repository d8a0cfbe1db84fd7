/* picture.h: what is seen of one event in the VELO, ready to be drawn. Lengths in mm.
 *
 * A struct picture is used again for another event; its memory only grows. Zero-initialise it.
 */
#ifndef TRUTH_PICTURE_H
#define TRUTH_PICTURE_H

#include "page.h"
#include "svg.h"
#include "velo/event_model.h"

#include <stdint.h>

/* The kinds of lines, in the order in which they are drawn. */
enum picture_kind {
  PICTURE_TRACK,        /* no truth says what it is */
  PICTURE_FOUND,        /* a track that matches a particle */
  PICTURE_MISSED_OTHER, /* a reconstructible particle without a track: an electron, or outside 2 < eta < 5 */
  PICTURE_MISSED,       /* any other one */
  PICTURE_GHOST,        /* a track that matches none */
  PICTURE_KINDS
};

struct picture_point {
  float x, y, z;
};

/* A track or a particle: where it begins, its slopes there, and its hits from there outwards. */
struct picture_line {
  struct picture_point origin;
  float tx, ty;
  uint32_t kind;
  uint32_t is_backward, has_origin; /* without, it is seen from its first hit on */
  uint32_t first_point, point_count;
  uint32_t hit_count; /* of a particle; may be more than are seen */
  int32_t pdg;        /* 0: unknown */
  float p_mev, eta;
};

enum { PICTURE_VERTEX_TRUE, PICTURE_VERTEX_FEW, PICTURE_VERTEX_FOUND, PICTURE_VERTEX_KINDS };
enum { PICTURE_VERTEX_TRACKS_MIN = 4 /* true vertices with fewer are PICTURE_VERTEX_FEW */ };

struct picture_vertex {
  struct picture_point at;
  uint32_t kind, tracks;
};

struct picture {
  uint32_t run;
  uint64_t number;
  struct picture_line *lines;
  struct picture_point *points;
  struct picture_point *hits; /* on no track */
  struct picture_vertex *vertices;
  uint64_t line_count, line_capacity, point_count, point_capacity, hit_count, hit_capacity, vertex_count,
      vertex_capacity;
  uint32_t has_truth, has_hits, has_true_vertices, has_found_vertices;
  struct velo_geometry_view geometry;                              /* null: not drawn */
  uint32_t counts[PICTURE_KINDS];                                  /* of lines */
  uint32_t vertex_counts[PICTURE_VERTEX_KINDS];                    /* of vertices */
  uint32_t particles, particles_found;                             /* reconstructible */
  uint32_t particles_in_acceptance, particles_found_in_acceptance; /* of these: 2 < eta < 5, no electrons */
};

void picture_clear(struct picture *p);
void picture_free(struct picture *p);

/* Add a thing; 0 if there is no memory. A line's points are those added after it. */
int picture_add_line(struct picture *p, const struct picture_line *line);
int picture_add_point(struct picture *p, struct picture_point point);
int picture_add_hit(struct picture *p, struct picture_point point);
/* Vertices are kept in order of z. */
int picture_add_vertex(struct picture *p, const struct picture_vertex *vertex);

/* What pages of several kinds have of vertices: classes of the page's style; their marks, by the
 * caller's way to a place in its panel; and a part of a legend, with a note (or NULL) on true ones. */
extern const char picture_vertex_style[];
void picture_draw_vertices(const struct picture *p, struct svg *svg, int size,
                           struct svg_point (*place)(const void *panel, struct picture_point at), const void *panel);
void picture_draw_vertex_legend(const struct picture *p, struct legend *l, const char *note);

/* The whole SVG file. */
void picture_draw(const struct picture *p, struct svg *svg);

#endif
