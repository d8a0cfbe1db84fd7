/* simulation.h: what the simulated sources share: they fill slices with events that depend on the seed, the event
 * number and their properties only. */
#ifndef WAVEFORMS_SIMULATION_H
#define WAVEFORMS_SIMULATION_H

#include <waveforms/event_model.h>

/* Arguments of both sources. */
#define SIMULATION_ARGUMENTS(M)                                                                     \
  M(OUT, traces, waveforms_traces, "waveforms", SL_DIMENSIONS(SL_PROPERTY_TERM(samples, 0)))        \
  M(OUT, truth, waveforms_truth, "true pulses")                                                     \
  M(U64, seed, 1, 0, 0x1p64, "", "seed; an event depends on seed, event number and the properties") \
  M(U64, events, 1000, 0, 0x1p64, "", "number of events; 0: no limit")                              \
  M(F64, period_ns, 16, 0.001, 1e9, "ns", "sampling period")                                        \
  M(F64, begin_ns, 0, -1e15, 1e15, "ns", "time of the first sample")

/* The pulse of an event, as in waveforms_truth. */
struct simulated_pulse {
  double amplitude, begin, rise;
  uint32_t pile_up;
};

/* The part that differs between the sources: `simulate` writes the waveform x without its noise. */
struct simulation_call {
  const void *args;
  void (*simulate)(const void *args, uint64_t event, double *x, struct simulated_pulse *pulse);
  const struct waveforms_traces *traces;
  const struct waveforms_truth *truth;
  uint64_t seed, events;
  const struct noise *noise;
};

/* State of both sources. */
struct simulation {
  const struct simulation_call *call; /* during `fill` */
  uint64_t next;                      /* number of the next event */
  uint32_t samples;                   /* of a waveform */
  double *x;                          /* a waveform for each worker */
  uint16_t *value;                    /* a waveform for each worker, if no node reads the samples */
};

/* Return 0 or an error that they have reported. */
int simulation_open(struct simulation *m, const struct sl_services *s, uint32_t samples);
int simulation_fill(struct simulation *m, const struct sl_services *s, const struct simulation_call *call,
                    struct sl_fill *fill);
void simulation_close(void *state); /* of a struct simulation */

/* 0 if the condition holds, otherwise SL_EINVAL with a message. The format begins with the name of the property. */
#define SIMULATION_CHECK(s, condition, ...) \
  ((condition) ? SL_OK : ((s)->message((s)->context, SL_ERROR, __VA_ARGS__), SL_EINVAL))

#endif
