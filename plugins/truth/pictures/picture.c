/* picture.c: see picture.h. The lists for picture_draw.c, and markers of vertices for all panels. */
#include "picture.h"

#include "association/mc_banks.h"

#include <stdlib.h>

void picture_clear(struct picture *p) {
  *p = (struct picture){.lines = p->lines,
                        .points = p->points,
                        .hits = p->hits,
                        .vertices = p->vertices,
                        .line_capacity = p->line_capacity,
                        .point_capacity = p->point_capacity,
                        .hit_capacity = p->hit_capacity,
                        .vertex_capacity = p->vertex_capacity};
}

void picture_free(struct picture *p) {
  free(p->lines);
  free(p->points);
  free(p->hits);
  free(p->vertices);
  *p = (struct picture){0};
}

int picture_add_line(struct picture *p, const struct picture_line *line) {
  if (!mc_reserve((void **)&p->lines, &p->line_capacity, p->line_count + 1, sizeof *p->lines)) return 0;
  struct picture_line *added = &p->lines[p->line_count++];
  *added = *line;
  added->first_point = (uint32_t)p->point_count;
  added->point_count = 0;
  p->counts[line->kind]++;
  return 1;
}

int picture_add_point(struct picture *p, struct picture_point point) {
  if (!mc_reserve((void **)&p->points, &p->point_capacity, p->point_count + 1, sizeof *p->points)) return 0;
  p->points[p->point_count++] = point;
  p->lines[p->line_count - 1].point_count++;
  return 1;
}

int picture_add_hit(struct picture *p, struct picture_point point) {
  if (!mc_reserve((void **)&p->hits, &p->hit_capacity, p->hit_count + 1, sizeof *p->hits)) return 0;
  p->hits[p->hit_count++] = point;
  return 1;
}

int picture_add_vertex(struct picture *p, const struct picture_vertex *vertex) {
  if (!mc_reserve((void **)&p->vertices, &p->vertex_capacity, p->vertex_count + 1, sizeof *p->vertices)) return 0;
  uint64_t i = p->vertex_count++;
  for (; i > 0 && p->vertices[i - 1].at.z > vertex->at.z; i--) p->vertices[i] = p->vertices[i - 1];
  p->vertices[i] = *vertex;
  p->vertex_counts[vertex->kind]++;
  return 1;
}

/* ------------------------------------------------------------------------------------------------- vertices */

/* True vertices are diamonds, reconstructed ones crosses. */
const char picture_vertex_style[] =
    ".vertex,.few{stroke:#000;stroke-width:1.2;fill:#f0e442}.few{fill:#fff}\n"
    ".reconstructed{stroke:#009e73;stroke-width:3}\n";

static void add_mark(struct svg *s, struct svg_point at, uint32_t kind, int size) {
  svg_add(s, "<path class='%s' d='M",
          kind == PICTURE_VERTEX_TRUE  ? "vertex"
          : kind == PICTURE_VERTEX_FEW ? "few"
                                       : "reconstructed");
  if (kind == PICTURE_VERTEX_FOUND) {
    svg_add_point(s, (struct svg_point){at.u - size, at.v});
    svg_add(s, "h%dm-%d,-%dv%d'/>\n", 2 * size, size, size, 2 * size);
  } else {
    svg_add_point(s, (struct svg_point){at.u, at.v - size});
    svg_add(s, "l%d,%dl-%d,%dl-%d,-%dz'/>\n", size, size, size, size, size, size);
  }
}

/* Draws reconstructed vertices last, on top of true ones. True ones are drawn if the picture has truth. */
void picture_draw_vertices(const struct picture *p, struct svg *s, int size,
                           struct svg_point (*to_page)(const void *panel, struct picture_point at), const void *panel) {
  for (int found = 0; found <= 1; found++)
    for (uint64_t i = 0; i < p->vertex_count; i++)
      if ((p->vertices[i].kind == PICTURE_VERTEX_FOUND) == found && (found || p->has_true_vertices))
        add_mark(s, to_page(panel, p->vertices[i].at), p->vertices[i].kind, size + 2 * found);
}

static void add_entry(struct legend *l, const struct picture *p, uint32_t kind, const char *text) {
  add_mark(l->svg, (struct svg_point){l->left + 0.5 * LEGEND_SAMPLE, l->baseline - 5}, kind, 7);
  legend_add_entry(l, text, p->vertex_counts[kind]);
}

void picture_draw_vertex_legend(const struct picture *p, struct legend *l, const char *note) {
  legend_add_head(l, "Vertices");
  if (p->has_true_vertices) {
    add_entry(l, p, PICTURE_VERTEX_TRUE, "true, 4 tracks or more");
    add_entry(l, p, PICTURE_VERTEX_FEW, "true, fewer tracks");
    if (note) legend_add_note(l, "%s", note);
  }
  if (p->has_found_vertices) add_entry(l, p, PICTURE_VERTEX_FOUND, "reconstructed");
}
