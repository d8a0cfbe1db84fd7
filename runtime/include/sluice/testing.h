/* testing.h: runs one algorithm of one plugin on arrays and returns its outputs, for tests.
 *
 *   struct sl_test *t = sl_test_new("plugins/velo.cpu.so", "decode_retina");  absolute, or relative to the build folder
 *   sl_test_events(t, 2);                                  two events in the slice
 *   sl_test_input(t, "banks", "offsets", offsets, 3);      one array per field; copied
 *   sl_test_set(t, "max_scatter", 0.08);
 *   sl_test_set_text(t, "path", "...");
 *   sl_test_budget(t, "points", 1000);                     capacity of an output; default: from its terms
 *   assert_int_equal(sl_test_run(t), 0);
 *   const float *x = sl_test_output(t, "points", "x");
 *   sl_test_free(t);
 *
 * Works for kernels (sl_test_run runs them on all events, or on sl_test_list), constants (make) and sinks (open,
 * consume once, draw, finish). Every field is a separate allocation with poisoned contents and canaries after it, so
 * that a sanitizer detects errors that an arena would hide. Input capacities are the sizes of the given arrays. Fields
 * that the algorithm does not list as read are NULL. A wrong name ends the program with a message, because the test
 * itself is wrong.
 *
 * A kernel with run_family also runs through it, as several nodes together; sl_test_run ends the program if they do not
 * write the same results as a single node.
 *
 * Environment: SLUICE_TEST_TARGET=simt runs the kernels of NAME.simt.so instead of NAME.cpu.so, on the emulator of a
 * GPU with the settings SLUICE_TEST_SIMT_SEED and SLUICE_TEST_SIMT_WARP. SLUICE_TEST_FOLDER: plugin files in this
 * folder replace those of equal name.
 */
#ifndef SLUICE_TESTING_H
#define SLUICE_TESTING_H

#include <sluice/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif
#define SL_TEST_API __attribute__((visibility("default")))

struct sl_test;

SL_TEST_API struct sl_test *sl_test_new(const char *plugin_path, const char *algorithm);
SL_TEST_API void sl_test_free(struct sl_test *t);

SL_TEST_API void sl_test_events(struct sl_test *t, uint32_t event_count);
SL_TEST_API void sl_test_list(struct sl_test *t, const uint32_t *numbers, uint32_t count); /* selects the events to run
                                                                                            * on */
SL_TEST_API void sl_test_input(struct sl_test *t, const char *port, const char *field, const void *values,
                               uint64_t count);
/* Sets the size of a dimension of an input; those of outputs follow. */
SL_TEST_API void sl_test_dimension(struct sl_test *t, const char *port, const char *dimension, uint32_t size);
/* sl_test_input for a producer of a list port, by the producer's name; a new name adds a producer at the end. */
SL_TEST_API void sl_test_list_input(struct sl_test *t, const char *port, const char *name, const char *field,
                                    const void *values, uint64_t count);
/* Gives the test an input of a case (sluice capture); `input` NULL: all its inputs, properties and events. Ends the
 * program if the file cannot be read, or if the case does not fit the plugin. */
SL_TEST_API void sl_test_load(struct sl_test *t, const char *path, const char *input);
SL_TEST_API void sl_test_set(struct sl_test *t, const char *property, double value);
/* Sets a string, or an enumeration by name. */
SL_TEST_API void sl_test_set_text(struct sl_test *t, const char *property, const char *value);
SL_TEST_API void sl_test_set_array(struct sl_test *t, const char *property, const double *values, uint32_t count);
/* Sets the field that a reference (SL_FIELD_REF) refers to. The reference is then an input: give its values and offsets
 * with sl_test_input. */
SL_TEST_API void sl_test_field(struct sl_test *t, const char *reference, const struct sl_collection *collection,
                               const char *field);
/* Sets the node's name, for services->node_name and SL_NODE_HASH; default: the name of the algorithm. */
SL_TEST_API void sl_test_node(struct sl_test *t, const char *name);
/* Sets the capacity of an output's items ("pulses"), or of a group of its subitems ("pulses.member_offsets"). */
SL_TEST_API void sl_test_budget(struct sl_test *t, const char *name, uint32_t capacity);
SL_TEST_API void sl_test_shared(struct sl_test *t, int shared); /* 1: use `run` even if there is a tuned version */
SL_TEST_API void sl_test_block(struct sl_test *t, uint32_t threads);
/* For plugins/NAME.simt.so: seed of the thread order; 32 or 64 threads per warp. No effect on other targets. */
SL_TEST_API void sl_test_seed(struct sl_test *t, uint64_t seed);
SL_TEST_API void sl_test_warp(struct sl_test *t, uint32_t threads);

/* For a sink that draws: sl_test_run is a run that draws events on request, and draws this event after `consume`. */
SL_TEST_API void sl_test_draw(struct sl_test *t, uint32_t event);

/* Returns 0, or the return value of the algorithm. Ends the program if a canary was overwritten. */
SL_TEST_API int sl_test_run(struct sl_test *t);

SL_TEST_API const void *sl_test_output(const struct sl_test *t, const char *port, const char *field);
SL_TEST_API uint64_t sl_test_output_count(const struct sl_test *t, const char *port, const char *field); /* in values */
/* Returns the largest number of items or subitems needed, named like a capacity; above the capacity: overflow. */
SL_TEST_API uint32_t sl_test_used(const struct sl_test *t, const char *name);
/* Returns the error word of an event: 0, or code << 32 | detail, as given to sl_event_fail. */
SL_TEST_API uint64_t sl_test_event_error(const struct sl_test *t, uint32_t event);
/* All messages so far, one per line; for sinks, the report as JSON. */
SL_TEST_API const char *sl_test_messages(const struct sl_test *t);
SL_TEST_API const char *sl_test_report(const struct sl_test *t);
/* The drawing of the last sl_test_run; NULL if nothing was drawn, or if the text was too long. */
SL_TEST_API const char *sl_test_drawing(const struct sl_test *t);

#ifdef __cplusplus
}
#endif
#endif
