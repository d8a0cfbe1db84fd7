/* page.h: common parts of the pictures of an event: title and style of the page, clipped panels, a legend. */
#ifndef TRUTH_PAGE_H
#define TRUTH_PAGE_H

#include "svg.h"

struct page {
  const char *subject; /* the title is the subject and the event */
  uint32_t run;
  uint64_t number;
  int32_t width, height;
};

enum { PAGE_MARGIN = 80, PAGE_SUBTITLE = 74 /* PAGE_SUBTITLE: baseline of the line below the title */ };

/* Begins the page: head, title and start of the style, to which the caller adds classes and "</style>". */
void page_begin(struct svg *s, const struct page *page);

/* Elements between both calls are clipped to the panel. The name must be unique in the page. */
void page_begin_clip(struct svg *s, const struct svg_panel *panel, const char *name);
void page_end_clip(struct svg *s);

/* Text for tooltips: "K⁺ 4.2 GeV, η 2.5, "; nothing if the PDG id is 0. */
void page_add_particle(struct svg *s, int32_t pdg, float p_mev, float eta);

/* Lines of text with space for a sample at their left; `baseline` is that of the next line. */
struct legend {
  struct svg *svg;
  double left, baseline;
};
enum { LEGEND_SAMPLE = 40, LEGEND_STEP = 30 };

void legend_add_head(struct legend *l, const char *text);
void legend_add_entry(struct legend *l, const char *text, uint64_t count);
/* Adds a small line below an entry. */
void legend_add_note(struct legend *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
