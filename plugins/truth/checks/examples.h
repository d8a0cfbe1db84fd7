/* examples.h: sinks that write a CSV file with examples to train a network (network/README.md, "Training"): a line of
 * names, then for each example the target, 0 or 1, the momentum in GeV, and the inputs. */
#ifndef TRUTH_EXAMPLES_H
#define TRUTH_EXAMPLES_H

#include "track_check.h"

#include <sluice/plugin.h>

struct examples {
  struct track_check tracks; /* the first member; reads the truth */
  const struct sl_output_calls *to;
  struct sl_output *file;
  uint64_t count, ones; /* all, and those with target 1 */
};

/* Opens `path`, or `output_path` if it is empty, and writes `header`. Returns SL_OK or an error after a message. */
int examples_open(struct examples *e, const struct sl_services *s, const char *path, const char *output_path,
                  const char *header);
void examples_close(struct examples *e);
/* Writes an example; 0 or an error. */
int examples_add(struct examples *e, uint32_t target, float qop, const float *inputs, uint32_t count);
/* Ends the event if `status` is SL_OK. Returns `status`. */
int examples_end_event(struct examples *e, int status);
/* Ends the file and reports. `target`: name of the target. */
int examples_finish(struct examples *e, const struct sl_services *s, const struct sl_report *r, const char *target);

/* Defines the sink NAME, with a property `path`, for the network with the inputs of the X-macro INPUTS. CHECK_EVENT, a
 * track_check_event, writes the examples of an event; its first argument is a struct examples. */
#define EXAMPLES_SINK(NAME, TARGET, INPUTS, CHECK_EVENT, DOC)                                                         \
  static int NAME##_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {       \
    static const char header[] = TARGET ",p" INPUTS(EXAMPLES_NAME_) "\n";                                             \
    return examples_open((struct examples *)state, s, ((const struct NAME##_args *)args)->path, output_path, header); \
  }                                                                                                                   \
  static void NAME##_close(void *state) { examples_close((struct examples *)state); }                                 \
  static int NAME##_finish(void *state, const struct sl_services *s, const struct sl_report *r) {                     \
    return examples_finish((struct examples *)state, s, r, TARGET);                                                   \
  }                                                                                                                   \
  TRACK_CHECK_SINK(NAME, examples, CHECK_EVENT, DOC)
#define EXAMPLES_NAME_(name) "," #name

#endif
