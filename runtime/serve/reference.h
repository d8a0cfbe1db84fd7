/* reference.h: the run with which a page compares: counts by name, settings and histograms. */
#ifndef SL_SERVE_REFERENCE_H
#define SL_SERVE_REFERENCE_H

#include "base/diagnostics.h"
#include "base/document.h"
#include "base/settings.h"

struct sl_json;

struct sl_reference {
  struct sl_document run, histograms; /* not open if no such file was given */
  char *run_path, *histograms_path;
  double events;
  struct sl_differences differences;
};

/* Reads the files: the JSON of a run (--json), and of histograms (output.histogram_sink). Returns SL_EINVAL, reported,
 * if one is neither, or SL_ENOMEM. */
int sl_reference_read(struct sl_reference *r, const char *const *paths, struct sl_diagnostics *d);
void sl_reference_close(struct sl_reference *r);
/* Count of a named entry of an output; NAN if there is none. */
double sl_reference_count(struct sl_reference *r, const char *output, const char *field, const char *name);
/* Compares the settings with those of a graph, as its whole text. SL_ENOMEM on failure. */
int sl_reference_compare(struct sl_reference *r, const char *graph_text);
/* Writes the object of /reference.json. */
void sl_reference_write(struct sl_reference *r, struct sl_json *j);
/* Writes the member `reference` of /status.json. */
void sl_reference_write_status(struct sl_reference *r, struct sl_json *j);

#endif
