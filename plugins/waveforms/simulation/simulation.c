/* simulation.c: see simulation.h. */
#include "simulation.h"

#include "waveform.h"

#include <stdlib.h>
#include <string.h>

int simulation_open(struct simulation *m, const struct sl_services *s, uint32_t samples) {
  m->samples = samples;
  m->x = (double *)calloc((size_t)s->workers * samples, sizeof *m->x);
  m->value = (uint16_t *)calloc((size_t)s->workers * samples, sizeof *m->value);
  if (m->x && m->value) return SL_OK;
  s->message(s->context, SL_ERROR, "samples: out of memory for waveforms of %u samples", samples);
  return SL_ENOMEM;
}

void simulation_close(void *state) {
  struct simulation *m = (struct simulation *)state;
  free(m->x);
  free(m->value);
}

static void write_truth(const struct waveforms_truth *to, uint32_t event, const struct simulated_pulse *pulse) {
  if (to->amplitude) to->amplitude[event] = (float)pulse->amplitude;
  if (to->begin) to->begin[event] = pulse->begin;
  if (to->rise) to->rise[event] = (float)pulse->rise;
  if (to->pile_up) to->pile_up[event] = pulse->pile_up;
}

/* One iteration of the parallel loop: the event `index` of the slice. */
static void make_event(void *work, uint32_t index, uint32_t worker) {
  struct simulation *m = (struct simulation *)work;
  const struct simulation_call *call = m->call;
  const struct waveforms_traces *to = call->traces;
  const uint32_t samples = m->samples;
  double *x = m->x + (size_t)worker * samples;
  uint16_t *value = to->value ? to->value + (size_t)index * samples : m->value + (size_t)worker * samples;
  struct simulated_pulse pulse = {0};
  call->simulate(call->args, m->next + index, x, &pulse);
  if (to->value || to->baseline) {
    waveform_add_noise(x, samples, call->noise, call->seed, m->next + index);
    waveform_digitise(x, samples, value);
  }
  if (to->baseline) to->baseline[index] = waveform_baseline(value, samples);
  if (to->channel) to->channel[index] = 0;
  if (to->table) memset(to->table + (size_t)index * WAVEFORMS_TABLE_BYTES, 0, WAVEFORMS_TABLE_BYTES);
  if (to->timestamp) to->timestamp[index] = 0;
  if (to->digitiser_energy) to->digitiser_energy[index] = 0;
  write_truth(call->truth, index, &pulse);
}

int simulation_fill(struct simulation *m, const struct sl_services *s, const struct simulation_call *call,
                    struct sl_fill *fill) {
  const uint64_t left = call->events == 0 ? UINT64_MAX : call->events - m->next;
  const uint32_t count = left < fill->events_max ? (uint32_t)left : fill->events_max;
  m->call = call;
  s->in_parallel(s->context, count, make_event, m);
  for (uint32_t i = 0; i < count; i++)
    fill->events[i] = (struct sl_event){.number = m->next + i, .offset = m->next + i, .run = 1};
  fill->event_count = count;
  m->next += count;
  fill->progress_done = m->next;
  fill->progress_total = call->events;
  return call->events == 0 || m->next < call->events;
}
