/* histograms_json.c: see histograms_json.h. */
#include "report/histograms_json.h"

#include "results/outputs.h"
#include "results/sums_json.h"
#include "session/inspect.h"

#include <sluice/histogram_json.h>

static void put(void *json, const char *text, size_t bytes) { sl_json_add_raw(json, text, bytes); }

static void write_output(const struct sl_outputs *o, uint32_t output, struct sl_json *j) {
  const struct sl_text_receiver r = {put, j};
  for (uint32_t i = 0; i < o->identity->outputs[output].histogram_count; i++) {
    const struct sl_histogram h = sl_outputs_histogram(o, output, i);
    sl_json_raw(j, NULL, "");
    sl_put_json_histogram(&r, &h);
  }
}

int sl_histograms_write_json(const struct sl_session *s, struct sl_json *j) {
  const struct sl_outputs *o = sl_session_outputs(s);
  const struct sl_run *run = &o->identity->run;
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "sluice_version", run->sluice_version);
  sl_digest_json("graph_digest", run->graph_digest, j);
  sl_json_begin_array(j, "histograms");
  for (uint32_t i = 0; i < run->output_count; i++) write_output(o, i, j);
  sl_json_end_array(j);
  sl_json_end_object(j);
  return sl_json_text(j) ? SL_OK : SL_ENOMEM;
}
