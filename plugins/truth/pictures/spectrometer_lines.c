/* spectrometer_lines.c: see spectrometer_lines.h. */
#include "spectrometer_lines.h"

#include "association/line_candidates.h"
#include "association/mc_banks.h"

#include <string.h>

uint32_t spectrometer_find_line(const struct line_decisions_views *lines, const char *name) {
  uint32_t line = 0;
  while (line < lines->count && strcmp(lines->names[line], name) != 0) line++;
  return line;
}

static int add_line(struct spectrometer *p, const struct spectrometer_line *line) {
  if (!mc_reserve((void **)&p->lines, &p->line_capacity, p->line_count + 1, sizeof *p->lines)) return 0;
  p->lines[p->line_count++] = *line;
  return 1;
}

static int add_vertex(struct spectrometer *p, const struct secondary_vertices_view *v, uint32_t i) {
  if (!mc_reserve((void **)&p->vertices, &p->vertex_capacity, p->vertex_count + 1, sizeof *p->vertices)) return 0;
  p->vertices[p->vertex_count++] = (struct picture_point){v->x[i], v->y[i], v->z[i]};
  return 1;
}

/* Marks a long track as part of a candidate of the last line. Returns 0 if there is no such track. */
static int mark_track(struct spectrometer *p, uint32_t track) {
  const uint32_t line = (uint32_t)p->line_count - 1;
  if (track >= p->candidate_count) return 0;
  struct spectrometer_candidate *c = &p->candidates[track];
  if (c->lines > 0 && c->last_line == line) return 1;
  if (c->lines == 0) c->first_line = line;
  c->last_line = line;
  c->lines++;
  return 1;
}

/* Adds candidate `i` of the slice: SL_OK, SL_ENOMEM or SL_EINVAL. */
static int add_candidate(struct spectrometer *p, const struct line_candidates *of, uint32_t event, uint32_t i) {
  if (of->particles) return mark_track(p, i - of->particles->offsets[event]) ? SL_OK : SL_EINVAL;
  if (!of->vertices) return SL_OK;
  if (!mark_track(p, of->vertices->first[i]) || !mark_track(p, of->vertices->second[i])) return SL_EINVAL;
  return add_vertex(p, of->vertices, i) ? SL_OK : SL_ENOMEM;
}

static int take_line(struct spectrometer *p, const struct spectrometer_selections *in, uint32_t k, uint32_t event) {
  const struct line_decisions_view *line = &in->lines.at[k];
  const struct line_candidates of = line_candidates_of(&in->vertices, &in->particles, *line->made_by);
  const struct spectrometer_line added = {.name = in->lines.names[k], .is_known = of.vertices || of.particles};
  if (!add_line(p, &added)) return SL_ENOMEM;
  int status = SL_OK;
  for (uint32_t i = line->offsets[event]; i < line->offsets[event + 1] && status == SL_OK; i++) {
    if (!line->accepted[i]) continue;
    p->lines[p->line_count - 1].candidates++;
    status = add_candidate(p, &of, event, i);
  }
  return status;
}

int spectrometer_take_lines(struct spectrometer *p, const struct spectrometer_selections *in, uint32_t event,
                            uint32_t track_count, const char **wrong) {
  if (!mc_reserve((void **)&p->candidates, &p->candidate_capacity, track_count, sizeof *p->candidates))
    return SL_ENOMEM;
  if (track_count > 0) memset(p->candidates, 0, track_count * sizeof *p->candidates);
  p->candidate_count = track_count;
  p->has_lines = in->lines.count > 0;
  p->selected_line = *in->line ? in->line : NULL;
  for (uint32_t k = 0; k < in->lines.count; k++) {
    if (!(in->lines.at[k].passed[event] & LINE_PASSED)) continue;
    if (p->selected_line && strcmp(in->lines.names[k], p->selected_line) != 0) continue;
    const int status = take_line(p, in, k, event);
    *wrong = in->lines.names[k];
    if (status != SL_OK) return status;
  }
  return SL_OK;
}
