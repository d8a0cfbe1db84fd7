/* embed.c: runs a graph from C and looks at its outputs event by event.
 *
 *   cc embed.c $(pkg-config --cflags --libs sluice) -o embed
 *   ./embed [-i FILE]... [-s NODE.PROPERTY=VALUE | -s PARAMETER=VALUE]... [-p PLUGIN_FOLDER]... GRAPH
 */
#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 16 };

/* The field of a collection that tells how many items each event has, or NULL. */
static const uint32_t *offsets_of(const struct sl_output_view *output) {
  for (uint32_t f = 0; f < output->collection->field_count; f++)
    if (output->collection->fields[f].shape == SL_SHAPE_CODE_OFFSETS) return output->fields[f];
  return NULL;
}

static int print_batch(void *context, const struct sl_batch *batch) {
  (void)context;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    printf("event %" PRIu64 ":", batch->events[e].number);
    if (batch->events[e].error != SL_EVENT_OK) printf(" error %u", batch->events[e].error);
    for (uint32_t o = 0; o < batch->output_count; o++) {
      const uint32_t *offsets = offsets_of(&batch->outputs[o]);
      if (offsets) printf(" %u %s", offsets[e + 1] - offsets[e], batch->outputs[o].name);
    }
    printf("\n");
  }
  return 0; /* anything else ends the run */
}

int main(int argc, char **argv) {
  const char *inputs[ARGUMENTS_MAX + 1] = {0}, *sets[ARGUMENTS_MAX + 1] = {0}, *folders[ARGUMENTS_MAX + 1] = {0};
  int input_count = 0, set_count = 0, folder_count = 0, option = 0;
  while ((option = getopt(argc, argv, "i:s:p:")) != -1) {
    if (option == 'i' && input_count < ARGUMENTS_MAX) {
      inputs[input_count++] = optarg;
    } else if (option == 's' && set_count < ARGUMENTS_MAX) {
      sets[set_count++] = optarg;
    } else if (option == 'p' && folder_count < ARGUMENTS_MAX) {
      folders[folder_count++] = optarg;
    } else {
      return 2;
    }
  }
  if (optind + 1 != argc) {
    fprintf(stderr, "usage: %s [-i FILE]... [-s NAME=VALUE]... [-p FOLDER]... GRAPH\n", argv[0]);
    return 2;
  }

  struct sl_diagnostics *diagnostics = sl_diagnostics_new();
  struct sl_options options = sl_options_default();
  options.graph_path = argv[optind];
  options.input_paths = input_count > 0 ? inputs : NULL;
  options.sets = sets;
  options.plugin_paths = folders;
  options.on_batch = print_batch;

  struct sl_session *session = NULL;
  int error = sl_session_open(&options, diagnostics, &session);
  if (error == 0) error = sl_session_run(session);
  if (error == 0) printf("%" PRIu64 " events\n", sl_session_summary(session)->events);
  sl_session_close(session);
  sl_diagnostics_print(diagnostics, stderr);
  sl_diagnostics_free(diagnostics);
  return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
