/* parts.c: the parts of a session that belong to one configuration: opened with the session and, when the configuration
 * changes, closed and opened again (reload.c).
 */
#include "execute/pack/kept.h"
#include "execute/slots.h"
#include "session/session.h"

#include <stdlib.h>

void sl_parts_give_input(struct sl_setup *s, const struct sl_input_head *begin) {
  s->input_path = s->is_received ? s->received_paths[0] : s->first_input;
  s->input_bytes = s->input_path ? begin->bytes : NULL;
  s->input_count = s->input_path ? begin->count : 0;
}

void sl_parts_take_input(struct sl_setup *s) {
  for (uint32_t n = 0; s->contexts && n < s->graph->node_count; n++) {
    if (!s->contexts[n]) continue;
    s->contexts[n]->services.input_path = NULL;
    s->contexts[n]->services.input_bytes = NULL;
    s->contexts[n]->services.input_count = 0;
  }
}

int sl_parts_open(struct sl_session *sn) {
  struct sl_setup *s = &sn->setup;
  const struct sl_summary_parts parts = {.setup = s,
                                         .slots = (const struct sl_slot *const *)&sn->slots,
                                         .reading = &sn->reading,
                                         .delivery = &sn->delivery,
                                         .history = &sn->history,
                                         .replan = &sn->replan,
                                         .times = &sn->times,
                                         .traffic = &sn->traffic,
                                         .outputs = &sn->outputs,
                                         .rotation = &sn->rotation};
  int status = sl_identity_open(&sn->identity, s);
  if (status == SL_OK) status = sl_overflow_history_open(&sn->history, s);
  if (status == SL_OK) sl_replan_open(&sn->replan, s, &sn->history);
  if (status == SL_OK) status = sl_outputs_open(&sn->outputs, s, &sn->identity);
  if (status == SL_OK) status = sl_sinks_open(&sn->sinks, s);
  if (status == SL_OK && s->options.digest > 1 && s->options.report_path)
    sl_event_records_open(&sn->event_records, s, &sn->identity);
  if (status == SL_OK && s->options.draws) status = sl_drawings_open(&sn->drawings, s, &sn->identity);
  if (status == SL_OK) status = sl_delivery_open(&sn->delivery, s);
  if (status == SL_OK) status = sl_times_open(&sn->times, s);
  return status == SL_OK ? sl_summary_open(&sn->statistics, &parts) : status;
}

void sl_parts_close(struct sl_session *sn) {
  sl_outputs_close(&sn->outputs);
  sl_drawings_close(&sn->drawings);
  sl_sinks_close(&sn->sinks);
  sl_delivery_close(&sn->delivery);
  sl_identity_close(&sn->identity);
  sl_replan_close(&sn->replan);
  sl_overflow_history_close(&sn->history);
  sl_summary_close(&sn->statistics);
}

int sl_parts_open_slots(struct sl_session *sn) {
  struct sl_setup *s = &sn->setup;
  const struct sl_slot_parts parts = {&sn->order, &sn->delivery, &sn->history, &sn->replan, &sn->observers};
  sn->slots = calloc(s->slot_count, sizeof *sn->slots);
  if (!sn->slots) return SL_ENOMEM;
  const int kept = sl_kept_open(s);
  if (kept < 0) return kept;
  for (uint32_t i = 0; i < s->slot_count; i++) {
    const int status = sl_slot_open(s, &parts, &sn->slots[i], i);
    if (status == SL_ENOMEM)
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "use fewer slots or a smaller --slice-events",
                  "slot %u of %u: no memory for an arena of %llu bytes and an input of %llu bytes", i, s->slot_count,
                  (unsigned long long)s->layout->arena_bytes, (unsigned long long)s->layout->input_bytes);
    else if (status < 0)
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "slot %u of %u could not be opened: %s", i, s->slot_count,
                  s->backend->error(sn->slots[i].device));
    if (status < 0) return status;
  }
  return sl_traffic_open(&sn->traffic, s, sn->slots);
}

void sl_parts_close_slots(struct sl_session *sn) {
  sl_traffic_close(&sn->traffic);
  for (uint32_t i = 0; sn->slots && i < sn->setup.slot_count; i++) sl_slot_close(&sn->slots[i]);
  free(sn->slots);
  sn->slots = NULL;
}
