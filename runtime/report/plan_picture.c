/* plan_picture.c: see plan_picture.h. Plain SVG 1.1 without scripts, 1000 pixels wide. Bars are to scale; a bar that
 * would be too thin is a hairline. The name of a bar is on it, in smaller letters on thin bars, to be read after
 * zooming; a bar without room for that is named when the pointer is on it, above the plot. All bars have a tooltip.
 * Big bars are drawn first, so that thin bars are on top. */
#include "report/plan_picture.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <string.h>

enum { LEFT = 72, TOP = 76, PLOT_HEIGHT = 720, RIGHT = 20, FONT = 12 };
#define LETTER_WIDTH   0.6   /* average of the sans-serif face, per pixel of the font */
#define WIDTH          908.0 /* of the plot, unless the steps need more */
#define COLUMN_MIN     15.0  /* least width of a named step */
#define LABEL_MIN      3.0   /* smallest font of a label, pixels */
#define LABEL_READABLE 8.0   /* smallest font that is read without zooming */
#define POINTED_MIN    6.0   /* least height of what the pointer can hit */
#define STEP_RISE      0.87  /* sine of 60 degrees, at which the names of steps are written */

struct frame {
  const struct sl_plan_picture *p;
  FILE *file;
  double width; /* of the plot */
  uint64_t top_bytes;
};

static void write_text(const char *text, FILE *file) {
  char written[SL_TEXT_BYTES];
  while (*text) {
    text += sl_text_xml(text, written);
    fputs(written, file);
  }
}

static double x_of(const struct frame *f, double step) {
  const uint32_t steps = f->p->end_step - f->p->first_step;
  return LEFT + f->width * (step - f->p->first_step) / (steps ? steps : 1);
}

static double y_of(const struct frame *f, uint64_t address) {
  return TOP + PLOT_HEIGHT * (1.0 - (double)address / (double)f->top_bytes);
}

/* A tick of 1, 2 or 5 times a power of ten (`binary`: a power of two); `whole` is at most ten ticks. */
static uint64_t tick_of(uint64_t whole, int binary) {
  if (binary) {
    uint64_t tick = 1;
    while (whole / tick > 10) tick *= 2;
    return tick;
  }
  for (uint64_t tick = 1;; tick *= 10)
    for (int i = 0; i < 3; i++)
      if (whole / (tick * (uint64_t)(i * i + 1)) <= 10) return tick * (uint64_t)(i * i + 1);
}

static void write_bytes(uint64_t bytes, FILE *file) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  uint64_t scale = 1;
  while (unit < 4 && bytes >= 1024 * scale) {
    scale *= 1024;
    unit++;
  }
  fprintf(file, "%.4g %s", (double)bytes / (double)scale, units[unit]);
}

static void write_address_axis(const struct frame *f) {
  const uint64_t tick = tick_of(f->top_bytes, 1);
  for (uint64_t address = 0; address <= f->top_bytes; address += tick) {
    const double y = y_of(f, address);
    fprintf(f->file,
            "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n"
            "<text class=\"right\" x=\"%d\" y=\"%.1f\">",
            LEFT, y, LEFT + f->width, y, LEFT - 8, y + 4);
    write_bytes(address, f->file);
    fprintf(f->file, "</text>\n");
  }
}

static void write_step_axis(const struct frame *f) {
  const struct sl_plan_picture *p = f->p;
  const uint32_t steps = p->end_step - p->first_step;
  const uint32_t tick = p->step_names ? 1 : (uint32_t)tick_of(steps, 0);
  for (uint32_t step = 0; step <= steps; step += tick) {
    const double x = x_of(f, p->first_step + step);
    fprintf(f->file, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x, TOP, x,
            TOP + PLOT_HEIGHT);
    if (!p->step_names) {
      fprintf(f->file, "<text class=\"middle\" x=\"%.1f\" y=\"%d\">%" PRIu32 "</text>\n", x, TOP + PLOT_HEIGHT + 18,
              p->first_step + step);
    } else if (step < steps) {
      const double middle = x_of(f, p->first_step + step + 0.5);
      fprintf(f->file, "<text class=\"right\" transform=\"translate(%.1f %d) rotate(-60)\">", middle + 4,
              TOP + PLOT_HEIGHT + 18);
      write_text(p->step_names[step], f->file);
      fprintf(f->file, "</text>\n");
    }
    if (tick > steps) break;
  }
}

/* A label of a bar: an end of the name, as "search.candidates.members", "candidates.members" or "members"; and its
 * font, pixels. */
struct label {
  const char *text;
  double font;
};

/* The longest label for a box of this length and breadth in letters that are read without zooming, else the label with
 * the largest font. */
static struct label label_of(const struct sl_plan_bar *bar, double along, double across) {
  struct label best = {NULL, 0};
  for (const char *text = bar->name; text; text = strchr(text, '.') ? strchr(text, '.') + 1 : NULL) {
    const double by_length = (along - 4) / (LETTER_WIDTH * (double)(strlen(text) + 1)), by_breadth = across - 1;
    double font = by_length < by_breadth ? by_length : by_breadth;
    if (font > FONT) font = FONT;
    if (font > best.font) best = (struct label){text, font};
    if (best.font >= LABEL_READABLE) break;
  }
  return best;
}

/* Horizontal, or vertical if that allows a larger font. Without room for the smallest font there is no label. */
static void write_label(const struct frame *f, const struct sl_plan_bar *bar, double x, double y, double width,
                        double height) {
  const struct label across = label_of(bar, width, height), up = label_of(bar, height, width);
  const int is_vertical = up.font > across.font;
  const struct label label = is_vertical ? up : across;
  if (!label.text || label.font < LABEL_MIN) return;
  fprintf(f->file, "<text class=\"middle\" transform=\"translate(%.1f %.1f)%s\" dy=\"0.36em\"", x + 0.5 * width,
          y + 0.5 * height, is_vertical ? " rotate(-90)" : "");
  if (label.font < FONT) fprintf(f->file, " style=\"font-size:%.1fpx\"", label.font);
  fprintf(f->file, ">");
  write_text(label.text, f->file);
  fprintf(f->file, "</text>");
}

/* The steps in which the memory of a bar is reserved and the buffer is not live. */
static void write_kept(const struct frame *f, const struct sl_plan_bar *bar, uint32_t from, uint32_t to, unsigned hue) {
  if (from >= to) return;
  const double x = x_of(f, from), y = y_of(f, bar->offset + bar->bytes), height = y_of(f, bar->offset) - y;
  fprintf(f->file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%u,40%%,94%%)\"/>", x, y,
          x_of(f, to) - x, height > 0.3 ? height : 0.3, hue);
}

/* "search.candidates, 1.2 MiB at 3.4 MiB" */
static void write_place(const struct frame *f, const struct sl_plan_bar *bar, const char *separator) {
  write_text(bar->name, f->file);
  fputs(separator, f->file);
  write_bytes(bar->bytes, f->file);
  fputs(" at ", f->file);
  write_bytes(bar->offset, f->file);
}

static void write_bar(const struct frame *f, const struct sl_plan_bar *bar) {
  const double x = x_of(f, bar->lower), width = x_of(f, bar->upper) - x;
  const double y = y_of(f, bar->offset + bar->bytes), height = y_of(f, bar->offset) - y;
  const unsigned hue =
      (unsigned)(bar->group * 137u + 205u) % 360u; /* golden angle: neighbouring groups have different colours */
  fprintf(f->file, "<g class=\"bar\" data-bytes=\"%" PRIu64 "\" data-offset=\"%" PRIu64 "\"><title>", bar->bytes,
          bar->offset);
  write_place(f, bar, "\n");
  fputs("\n", f->file);
  if (bar->detail)
    write_text(bar->detail, f->file);
  else
    fprintf(f->file, "steps %" PRIu32 " to %" PRIu32, bar->lower, bar->upper - 1);
  fprintf(f->file, "</title>");
  write_kept(f, bar, bar->reserved_from, bar->lower, hue);
  write_kept(f, bar, bar->upper, bar->reserved_until, hue);
  fprintf(f->file,
          "<rect class=\"live\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%u,60%%,%s)\"%s "
          "stroke=\"hsl(%u,60%%,35%%)\" stroke-width=\"0.5\"/>",
          x, y, width, height > 0.3 ? height : 0.3, hue, bar->in_place ? "70%" : "80%",
          bar->in_place ? " fill-opacity=\"0.6\" stroke-dasharray=\"3 2\"" : "", hue);
  if (height < POINTED_MIN)
    fprintf(f->file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.0f\" fill-opacity=\"0\"/>", x,
            y + 0.5 * (height - POINTED_MIN), width, POINTED_MIN);
  write_label(f, bar, x, y, width, height);
  fprintf(f->file, "<text class=\"pointed\" x=\"%d\" y=\"42\">", LEFT);
  write_place(f, bar, ", ");
  fprintf(f->file, "</text></g>\n");
}

/* A horizontal line at an address, with its name at the right end. */
static void write_level(const struct frame *f, uint64_t address, const char *name, const char *class, double shift) {
  const double y = y_of(f, address);
  fprintf(f->file,
          "<line class=\"%s\" x1=\"%d\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>\n"
          "<text class=\"right %s\" x=\"%.1f\" y=\"%.1f\">%s ",
          class, LEFT, y, LEFT + f->width, y, class, LEFT + f->width, y + shift, name);
  write_bytes(address, f->file);
  fprintf(f->file, "</text>\n");
}

/* Height of the part below the plot. */
static double height_below(const struct frame *f) {
  size_t longest = 0;
  for (uint32_t step = 0; f->p->step_names && step < f->p->end_step - f->p->first_step; step++)
    if (strlen(f->p->step_names[step]) > longest) longest = strlen(f->p->step_names[step]);
  return 48 + STEP_RISE * LETTER_WIDTH * FONT * (double)longest;
}

static void write_head(const struct frame *f) {
  const double width = LEFT + f->width + RIGHT, height = TOP + PLOT_HEIGHT + height_below(f);
  fprintf(f->file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
          "<style>text{font:%dpx sans-serif;fill:#222}.right{text-anchor:end}.middle{text-anchor:middle}"
          ".grid{stroke:#ddd}.arena{stroke:#222}.bound{stroke:#c00;stroke-dasharray:6 4}"
          "text.arena,text.bound{stroke:none}text.bound{fill:#c00}.title{font-size:16px;font-weight:bold}"
          ".pointed{display:none;font-weight:bold}.bar:hover .pointed{display:inline}"
          ".bar:hover .live{stroke:#000;stroke-width:2}.hint{fill:#777}</style>\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"title\" x=\"%d\" y=\"22\">",
          width, height, width, height, FONT, LEFT);
  write_text(f->p->title, f->file);
  fprintf(f->file, "</text>\n<text class=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT + 0.5 * f->width,
          height - 8, f->p->step_names ? "steps, in the order in which they run" : "steps");
  fprintf(f->file, "<text class=\"middle\" transform=\"translate(14 %.1f) rotate(-90)\">address in the arena</text>\n",
          TOP + 0.5 * PLOT_HEIGHT);
}

/* Writes the bars of at least `at_least` and less than `below` bytes. */
static void write_bars(const struct frame *f, uint64_t at_least, uint64_t below, uint32_t in_place) {
  for (uint32_t b = 0; b < f->p->bar_count; b++) {
    const struct sl_plan_bar *bar = &f->p->bars[b];
    if (bar->bytes >= at_least && bar->bytes < below && bar->in_place == in_place) write_bar(f, bar);
  }
}

void sl_plan_picture_write(const struct sl_plan_picture *p, FILE *file) {
  struct frame f = {p, file, WIDTH, p->arena_bytes ? p->arena_bytes : 1};
  const double least = COLUMN_MIN * (p->end_step - p->first_step);
  if (p->step_names && f.width < least) f.width = least;
  const uint64_t thin = f.top_bytes / PLOT_HEIGHT; /* a pixel */
  write_head(&f);
  write_address_axis(&f);
  write_step_axis(&f);
  write_bars(&f, thin, UINT64_MAX, 0);
  write_bars(&f, 0, UINT64_MAX, 1);
  write_bars(&f, 0, thin, 0);
  write_level(&f, p->arena_bytes, "arena", "arena", -19);
  write_level(&f, p->lower_bound_bytes, "lower bound", "bound", -5);
  fprintf(file, "</svg>\n");
}
