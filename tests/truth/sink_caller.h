/* sink_caller.h: calls a check like the runtime, for events with errors, which sluice/testing.h does not support. */
#ifndef TEST_SINK_CALLER_H
#define TEST_SINK_CALLER_H

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

/* Report of the check: stores selected keys only. */
struct reported {
  int64_t events, error_events;
};

static inline void ignore_message(void *context, uint32_t severity, const char *format, ...) {
  (void)context, (void)severity, (void)format;
}
static inline void ignore_key(void *context, const char *key) { (void)context, (void)key; }
static inline void ignore_end(void *context) { (void)context; }
static inline void ignore_number(void *context, const char *key, double value) {
  (void)context, (void)key, (void)value;
}
static inline void ignore_text(void *context, const char *key, const char *value) {
  (void)context, (void)key, (void)value;
}
static inline void ignore_line(void *context, const char *format, ...) { (void)context, (void)format; }
static inline void keep_integer(void *context, const char *key, int64_t value) {
  struct reported *reported = (struct reported *)context;
  if (strcmp(key, "events") == 0) reported->events = value;
  if (strcmp(key, "error_events") == 0) reported->error_events = value;
}

/* Returns 0, or the result of a failed function of the sink. `args`: the filled argument struct. */
static inline int call_sink(const struct sl_algorithm *algorithm, const void *args, const struct sl_batch *batch,
                            struct reported *reported) {
  const struct sl_services services = {.size = sizeof services, .message = ignore_message};
  const struct sl_report report = {.size = sizeof report,
                                   .context = reported,
                                   .begin_object = ignore_key,
                                   .end_object = ignore_end,
                                   .begin_array = ignore_key,
                                   .end_array = ignore_end,
                                   .integer = keep_integer,
                                   .number = ignore_number,
                                   .text = ignore_text,
                                   .line = ignore_line};
  const struct sl_sink *sink = algorithm->sink;
  void *state = calloc(1, algorithm->state_size);
  if (!state) return SL_ENOMEM;
  *reported = (struct reported){-1, -1};
  int status = sink->open(state, &services, args, NULL);
  if (status == 0) status = sink->consume(state, &services, args, batch);
  if (status == 0) status = sink->finish(state, &services, &report);
  sink->close(state);
  free(state);
  return status;
}

#endif
