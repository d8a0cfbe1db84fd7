/* list.c: lists the bursts of the run. A pulse that goes on in the next block is one burst. Draws a block on request.
 */
#include <bursts/event_model.h>

#define SL_ARGS list_args
#define LIST(M)                                                                                     \
  M(IN, pulses, bursts_pulses, "", "pulses to list")                                                \
  M(IN, delays, bursts_delays, "measure", "dispersion measures")                                    \
  M(U32, step, 368, 1, 16777216, "", "number of samples from the begin of a block to the next one") \
  M(F64, sample_s, 4e-3, 1e-9, 1, "s", "sampling period")
SL_HOST_ARGUMENTS(list, LIST);

enum { KEPT = 1000 }; /* bursts in the JSON; all are counted */

struct burst {
  double time_s, measure, snr;
  uint64_t end; /* sample after it */
};

struct list { /* zeroed by the runtime */
  uint64_t count;
  struct burst bursts[KEPT];
};

static int consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  const struct list_args *a = (const struct list_args *)args;
  struct list *l = (struct list *)state;
  (void)s;
  SL_FOR_BATCH (event, batch)
    for (uint32_t i = a->pulses.offsets[event]; i < a->pulses.offsets[event + 1]; i++) {
      const uint64_t sample = batch->events[event].number * a->step + a->pulses.time[i];
      const struct burst burst = {(double)sample * a->sample_s, a->delays.measure[a->pulses.trial[i]], a->pulses.snr[i],
                                  sample + a->pulses.width[i]};
      struct burst *last = l->count > 0 ? &l->bursts[(l->count - 1) % KEPT] : NULL;
      if (last && sample <= last->end + BURSTS_WIDEST) {
        if (burst.snr > last->snr) *last = burst;
      } else {
        l->bursts[l->count++ % KEPT] = burst;
      }
    }
  return SL_OK;
}

static int finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct list *l = (const struct list *)state;
  (void)s;
  report->integer(report->context, "count", (int64_t)l->count);
  report->begin_array(report->context, "bursts"); /* the last KEPT */
  for (uint64_t i = l->count > KEPT ? l->count - KEPT : 0; i < l->count; i++) {
    report->begin_object(report->context, NULL);
    report->number(report->context, "time_s", l->bursts[i % KEPT].time_s);
    report->number(report->context, "dm", l->bursts[i % KEPT].measure);
    report->number(report->context, "snr", l->bursts[i % KEPT].snr);
    report->end_object(report->context);
  }
  report->end_array(report->context);
  report->line(report->context, "%llu bursts", (unsigned long long)l->count);
  return SL_OK;
}

/* Draws the pulses of a block: time and dispersion measure, with a radius by the signal-to-noise ratio. */
static int draw(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch,
                uint32_t event, const struct sl_text_calls *to) {
  const struct list_args *a = (const struct list_args *)args;
  const uint32_t first = a->pulses.offsets[event], end = a->pulses.offsets[event + 1];
  const double begin_s = (double)(batch->events[event].number * a->step) * a->sample_s,
               length_s = a->step * a->sample_s;
  double highest = 100;
  (void)state, (void)s;
  for (uint32_t i = first; i < end; i++)
    if (a->delays.measure[a->pulses.trial[i]] > highest) highest = a->delays.measure[a->pulses.trial[i]];
  to->print(to->context, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 600 360' font-family='sans-serif'>\n");
  to->print(to->context,
            "<rect width='600' height='360' fill='white'/>\n<path d='M50,40v270h500' fill='none' stroke='black'/>\n");
  to->print(to->context, "<text x='50' y='25'>block %llu: %u pulses</text>\n",
            (unsigned long long)batch->events[event].number, end - first);
  to->print(to->context, "<text x='50' y='335'>%.2f s</text><text x='500' y='335'>%.2f s</text>\n", begin_s,
            begin_s + length_s);
  to->print(to->context, "<text x='55' y='55'>%.0f pc/cm3</text><text x='20' y='310'>0</text>\n", highest);
  for (uint32_t i = first; i < end; i++)
    to->print(to->context, "<circle cx='%.1f' cy='%.1f' r='%.1f' fill='#0072b2' fill-opacity='.5'/>\n",
              50 + 500.0 * a->pulses.time[i] / a->step, 310 - 270 * a->delays.measure[a->pulses.trial[i]] / highest,
              (double)a->pulses.snr[i] / 2);
  to->print(to->context, "</svg>\n");
  return SL_OK;
}

static const struct sl_sink functions = {.consume = consume, .finish = finish, .draw = draw};
SL_SINK(list, "lists bursts with their time and dispersion measure", struct list, functions);
