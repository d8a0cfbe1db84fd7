/* examples_file.h: a CSV file with examples to train a network (network/README.md, "Training"): a line of names, then
 * for each example the target, 0 or 1, the momentum in GeV, and the inputs. */
#ifndef TRUTH_EXAMPLES_FILE_H
#define TRUTH_EXAMPLES_FILE_H

#include <sluice/plugin.h>

struct examples_file {
  const struct sl_output_calls *to;
  struct sl_output *file;
  uint64_t examples, ones; /* all, and those with target 1 */
};

/* Opens `path`, or `output_path` if it is empty, and writes `header`. Returns SL_OK or an error after a message. */
int examples_open(struct examples_file *f, const struct sl_services *s, const char *path, const char *output_path,
                  const char *header);
int examples_add(struct examples_file *f, uint32_t target, float qop, const float *inputs, uint32_t count);
/* Ends the event. */
void examples_mark(const struct examples_file *f);
int examples_finish(const struct examples_file *f);
/* Path of the file, for messages. */
const char *examples_path(const struct examples_file *f);
void examples_close(struct examples_file *f);

#endif
