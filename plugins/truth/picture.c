/* picture.c: see picture.h. The lists; picture_draw.c draws them. */
#include "picture.h"

#include "mc_banks.h"

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
  uint64_t place = p->vertex_count++;
  for (; place > 0 && p->vertices[place - 1].at.z > vertex->at.z; place--) p->vertices[place] = p->vertices[place - 1];
  p->vertices[place] = *vertex;
  p->vertex_counts[vertex->kind]++;
  return 1;
}
