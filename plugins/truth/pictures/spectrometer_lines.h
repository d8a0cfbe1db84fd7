/* spectrometer_lines.h: lines that passed an event, and the long tracks of their accepted candidates. */
#ifndef TRUTH_SPECTROMETER_LINES_H
#define TRUTH_SPECTROMETER_LINES_H

#include "selections/event_model.h"
#include "spectrometer.h"

/* Candidates are identified by `made_by`: particles are long tracks in the same order; secondary vertices are pairs of
 * particles. */
struct spectrometer_selections {
  struct line_decisions_views lines;
  struct secondary_vertices_views vertices;
  struct particles_views particles;
  const char *line; /* name of the only line to use; empty: all */
};

/* Index of the line with this name, or lines.count. */
uint32_t spectrometer_find_line(const struct line_decisions_views *lines, const char *name);

/* Adds the lines that passed the event, with their candidates and the candidates' vertices, to `p`, which has entries
 * for `track_count` long tracks afterwards. Returns SL_OK or SL_ENOMEM; SL_EINVAL if a candidate is made of other
 * tracks than these, with the line's name in `*wrong`. */
int spectrometer_take_lines(struct spectrometer *p, const struct spectrometer_selections *in, uint32_t event,
                            uint32_t track_count, const char **wrong);

#endif
