/* page.h: what the pages of all pictures of an event have: head, title and style, panels that cut off, a legend. */
#ifndef TRUTH_PAGE_H
#define TRUTH_PAGE_H

#include "svg.h"

struct page {
  const char *subject; /* the title is this, and the event */
  uint32_t run;
  uint64_t number;
  int32_t width, height;
};

enum { PAGE_MARGIN = 80, PAGE_SUBTITLE = 70 /* baseline of a line under the title */ };

/* The head, the title and the beginning of the style, to which the caller adds classes of its own and "</style>". */
void page_begin(struct svg *s, const struct page *page);

/* What comes between is seen inside the panel only. The name is one of its own in the page. */
void page_begin_clip(struct svg *s, const struct svg_panel *panel, const char *name);
void page_end_clip(struct svg *s);

/* For tooltips: "K⁺ 4.2 GeV, η 2.5, "; nothing if the PDG id is 0. */
void page_add_particle(struct svg *s, int32_t pdg, float p_mev, float eta);

/* Lines of text, which leave room for a sample at their left, from the baseline of the next one on. */
struct legend {
  struct svg *svg;
  double left, baseline;
};
enum { LEGEND_SAMPLE = 40, LEGEND_STEP = 27 };

void legend_add_head(struct legend *l, const char *text);
void legend_add_entry(struct legend *l, const char *text, uint64_t count);
/* A small line under an entry. */
void legend_add_note(struct legend *l, const char *text);

#endif
