/* spectrometer_panels.h: the views of a struct spectrometer: panels in z and x or y, in m. */
#ifndef TRUTH_SPECTROMETER_PANELS_H
#define TRUTH_SPECTROMETER_PANELS_H

#include "page.h"
#include "spectrometer.h"

/* Names of a kind of tracks: class in the style of the page; text in legend and tooltips. */
struct spectrometer_kind_names {
  const char *class_name, *text;
};
extern const struct spectrometer_kind_names spectrometer_kind_names[SPECTROMETER_KINDS];

/* Styles of all that panels draw. */
extern const char spectrometer_style[];

enum spectrometer_view { VIEW_WHOLE, VIEW_TO_UT, VIEW_UT, VIEW_SCIFI };

struct spectrometer_panel {
  struct svg_panel frame; /* m */
  enum spectrometer_view view;
  enum spectrometer_axis axis;          /* upwards */
  int tick;                             /* length of the marker of a hit */
  double u_step, v_step;                /* between ticks of the axes, m */
  const char *name, *u_label, *caption; /* name: unique in the page; caption: "" for none */
};

void spectrometer_draw_panel(const struct spectrometer *p, const struct picture *vertices, struct svg *s,
                             const struct spectrometer_panel *panel);

/* The largest energy of a strip of the calorimeter, MeV. */
double spectrometer_largest_energy(const struct spectrometer *p);
/* A circle at the vertex of a candidate. */
void spectrometer_draw_candidate_vertex(struct svg *s, struct svg_point at, int radius);

#endif
