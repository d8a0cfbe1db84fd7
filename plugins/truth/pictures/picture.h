/* picture.h: contents of a picture of one event in the VELO. Lengths in mm.
 * A struct picture is reused for other events; its memory only grows. Initialise it with zeros. */
#ifndef TRUTH_PICTURE_H
#define TRUTH_PICTURE_H

#include "page.h"
#include "svg.h"
#include "velo/event_model.h"

#include <stdint.h>

/* Kinds of lines, in the order in which they are drawn. */
enum picture_kind {
  PICTURE_TRACK,        /* event without truth */
  PICTURE_FOUND,        /* track that matches a particle */
  PICTURE_MISSED_OTHER, /* reconstructible particle without a track: an electron, or outside 2 < eta < 5 */
  PICTURE_MISSED,       /* other reconstructible particle without a track */
  PICTURE_GHOST,        /* track that matches no particle */
  PICTURE_KINDS
};

struct picture_point {
  float x, y, z;
};

/* A track or a particle: origin, slopes there, and hits from there outwards. */
struct picture_line {
  struct picture_point origin;
  float tx, ty;
  uint32_t kind;
  uint32_t is_backward, has_origin; /* without an origin it starts at its first hit */
  uint32_t first_point, point_count;
  uint32_t hit_count; /* hits of a particle; may be more than its points */
  int32_t pdg;        /* 0: unknown */
  float p_mev, eta;
};

enum { PICTURE_VERTEX_TRUE, PICTURE_VERTEX_FEW, PICTURE_VERTEX_FOUND, PICTURE_VERTEX_KINDS };
enum { PICTURE_VERTEX_TRACKS_MIN = 4 /* true vertices with fewer tracks are PICTURE_VERTEX_FEW */ };

struct picture_vertex {
  struct picture_point at;
  uint32_t kind, tracks;
};

struct picture {
  uint32_t run;
  uint64_t number;
  struct picture_line *lines;
  struct picture_point *points;
  struct picture_point *hits; /* hits that are on no track */
  struct picture_vertex *vertices;
  uint64_t line_count, line_capacity, point_count, point_capacity, hit_count, hit_capacity, vertex_count,
      vertex_capacity;
  uint32_t has_truth, has_hits, has_true_vertices, has_found_vertices;
  struct velo_geometry_view geometry;                              /* null: not drawn */
  uint32_t counts[PICTURE_KINDS];                                  /* of lines */
  uint32_t vertex_counts[PICTURE_VERTEX_KINDS];                    /* of vertices */
  uint32_t particles, particles_found;                             /* reconstructible */
  uint32_t particles_in_acceptance, particles_found_in_acceptance; /* 2 < eta < 5, no electrons */
};

void picture_clear(struct picture *p);
void picture_free(struct picture *p);

/* Append an item; return 0 when out of memory. Points belong to the line that was added last. */
int picture_add_line(struct picture *p, const struct picture_line *line);
int picture_add_point(struct picture *p, struct picture_point point);
int picture_add_hit(struct picture *p, struct picture_point point);
/* Vertices are sorted by z. */
int picture_add_vertex(struct picture *p, const struct picture_vertex *vertex);

/* Vertices for all kinds of pages: classes for the page's style; markers, where `to_page` converts a point to a
 * position in the caller's panel; and a part of the legend, with a note (or NULL) on true vertices. */
extern const char picture_vertex_style[];
void picture_draw_vertices(const struct picture *p, struct svg *svg, int size,
                           struct svg_point (*to_page)(const void *panel, struct picture_point at), const void *panel);
void picture_draw_vertex_legend(const struct picture *p, struct legend *l, const char *note);

/* Draws the whole SVG file. */
void picture_draw(const struct picture *p, struct svg *svg);

#endif
