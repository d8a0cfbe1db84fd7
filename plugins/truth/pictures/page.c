/* page.c: see page.h. */
#include "page.h"

#include <inttypes.h>

static const char base_style[] =
    "<style>\n"
    "text{font:18px 'DejaVu Sans',Verdana,Arial,sans-serif;fill:#222}\n"
    ".title{font-size:28px;font-weight:bold}.small{font-size:15px;fill:#555}.head{font-weight:bold}\n"
    ".middle{text-anchor:middle}.end{text-anchor:end}\n"
    "path,rect{fill:none}\n"
    ".axis{stroke:#444}\n";

static void add_title(struct svg *s, const struct page *page) {
  svg_add(s, "%s, run %" PRIu32 ", event %" PRIu64, page->subject, page->run, page->number);
}

void page_begin(struct svg *s, const struct page *page) {
  svg_add(s,
          "<?xml version='1.0' encoding='UTF-8'?>\n"
          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %" PRId32 " %" PRId32 "' width='%" PRId32
          "' height='%" PRId32 "'>\n<title>",
          page->width, page->height, page->width, page->height);
  add_title(s, page);
  svg_add(s, "</title>\n<rect width='%" PRId32 "' height='%" PRId32 "' style='fill:#fff'/>\n", page->width,
          page->height);
  svg_begin_text(s, PAGE_MARGIN, 42, "title");
  add_title(s, page);
  svg_end_text(s);
  svg_add(s, "%s", base_style);
}

void page_begin_clip(struct svg *s, const struct svg_panel *panel, const char *name) {
  svg_add(s, "<clipPath id='%s'><rect", name);
  svg_add_attribute(s, "x", panel->left);
  svg_add_attribute(s, "y", panel->top);
  svg_add_attribute(s, "width", panel->width);
  svg_add_attribute(s, "height", panel->height);
  svg_add(s, "/></clipPath>\n<g clip-path='url(#%s)'>\n", name);
}

void page_end_clip(struct svg *s) { svg_add(s, "</g>\n"); }

static void add_particle_name(struct svg *s, int32_t pdg) {
  static const struct {
    int32_t pdg;
    const char *name, *antiname;
  } names[] = {{11, "e⁻", "e⁺"}, {13, "μ⁻", "μ⁺"},   {211, "π⁺", "π⁻"},  {321, "K⁺", "K⁻"},
               {2212, "p", "p̅"}, {3112, "Σ⁻", "Σ̅⁺"}, {3222, "Σ⁺", "Σ̅⁻"}, {3312, "Ξ⁻", "Ξ̅⁺"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (pdg == names[i].pdg || pdg == -names[i].pdg) {
      svg_add(s, "%s", pdg > 0 ? names[i].name : names[i].antiname);
      return;
    }
  svg_add(s, "PDG %" PRId32, pdg);
}

void page_add_particle(struct svg *s, int32_t pdg, float p_mev, float eta) {
  if (pdg == 0) return;
  add_particle_name(s, pdg);
  svg_add(s, " ");
  svg_add_number(s, (double)p_mev / 1000);
  svg_add(s, " GeV, η ");
  svg_add_number(s, (double)eta);
  svg_add(s, ", ");
}

void legend_add_head(struct legend *l, const char *text) {
  svg_begin_text(l->svg, l->left, l->baseline, "head");
  svg_add(l->svg, "%s", text);
  svg_end_text(l->svg);
  l->baseline += LEGEND_STEP;
}

void legend_add_entry(struct legend *l, const char *text, uint64_t count) {
  svg_begin_text(l->svg, l->left + LEGEND_SAMPLE + 14, l->baseline, "");
  svg_add(l->svg, "%s: %" PRIu64, text, count);
  svg_end_text(l->svg);
  l->baseline += LEGEND_STEP;
}

void legend_add_note(struct legend *l, const char *format, ...) {
  va_list arguments;
  svg_begin_text(l->svg, l->left + LEGEND_SAMPLE + 14, l->baseline - 7, "small");
  va_start(arguments, format);
  svg_add_arguments(l->svg, format, arguments);
  va_end(arguments);
  svg_end_text(l->svg);
  l->baseline += 19;
}
