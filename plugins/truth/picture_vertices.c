/* picture_vertices.c: the marks of vertices, in whatever panel, and what the legend says of them: diamonds are true
 * ones, crosses those that were reconstructed. */
#include "picture.h"

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

/* What was reconstructed comes last, so that it is seen on what is true. */
void picture_draw_vertices(const struct picture *p, struct svg *s, int size,
                           struct svg_point (*place)(const void *panel, struct picture_point at), const void *panel) {
  for (int found = 0; found <= 1; found++)
    for (uint64_t i = 0; i < p->vertex_count; i++)
      if ((p->vertices[i].kind == PICTURE_VERTEX_FOUND) == found)
        add_mark(s, place(panel, p->vertices[i].at), p->vertices[i].kind, size + 2 * found);
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
    if (note) legend_add_note(l, note);
  }
  if (p->has_found_vertices) add_entry(l, p, PICTURE_VERTEX_FOUND, "reconstructed");
}
