/* histograms.h: the output forms of output.histogram_sink. */
#ifndef OUTPUT_HISTOGRAMS_H
#define OUTPUT_HISTOGRAMS_H

#include <sluice/histogram_json.h>
#include <sluice/plugin.h>

/* A file being written. Nothing is written after the first failure. */
struct histogram_file {
  const struct sl_output_calls *to;
  struct sl_output *file;
  int status;
};

/* Writes at most 500 bytes of text; histogram_put_plain has no limit. */
void histogram_put(struct histogram_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void histogram_put_plain(struct histogram_file *f, const char *text);

struct histogram_style {
  uint32_t log_counts, errors;
};

void histograms_put_json(struct histogram_file *f, const struct sl_run *run, const struct sl_histogram *all,
                         uint32_t count);
void histograms_put_csv(struct histogram_file *f, const struct sl_histogram *all, uint32_t count);
void histograms_put_svg(struct histogram_file *f, const struct histogram_style *style, const struct sl_histogram *all,
                        uint32_t count);

#endif
