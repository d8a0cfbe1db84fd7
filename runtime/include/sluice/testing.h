/* testing.h: run one algorithm of one plugin on arrays, and look at what it wrote.
 *
 *   struct sl_test *t = sl_test_new("plugins/velo.cpu.so", "decode_retina");  relative to the build folder, or absolute
 *   sl_test_events(t, 2);                                  two events in the slice
 *   sl_test_input(t, "banks", "offsets", offsets, 3);      an array a field; copied
 *   sl_test_set(t, "max_scatter", 0.08);
 *   sl_test_set_text(t, "path", "...");
 *   sl_test_budget(t, "hits", 1000);                       the capacity of an output, else taken from its terms
 *   assert_int_equal(sl_test_run(t), 0);
 *   const float *x = sl_test_output(t, "hits", "x");
 *   sl_test_free(t);
 *
 * Works for kernels (sl_test_run runs them on all events, or on sl_test_list), constants (make) and sinks (open,
 * consume once, finish). Every field is an allocation of its own with canaries after it and poisoned contents, so that
 * a sanitizer sees what an arena would hide. The input capacities are the sizes of the arrays given. Fields that the
 * algorithm does not name as read are null. Wrong names end the program with a message: a test that asks for what is
 * not there is a broken test.
 *
 * A kernel whose algorithm has a run_family runs by it too, as several nodes together, which must write what they write
 * alone; sl_test_run ends the program if they do not.
 *
 * With SLUICE_TEST_TARGET=simt in the environment the kernels of NAME.cpu.so are run as those of NAME.simt.so, by the
 * emulator of a GPU, with SLUICE_TEST_SIMT_SEED and SLUICE_TEST_SIMT_WARP as its settings. With SLUICE_TEST_FOLDER a
 * plugin that this folder has a file of is taken from there.
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
SL_TEST_API void sl_test_list(struct sl_test *t, const uint32_t *numbers, uint32_t count); /* run on these events */
SL_TEST_API void sl_test_input(struct sl_test *t, const char *port, const char *field, const void *values,
                               uint64_t count);
/* The same for a producer of a list port, by its name; one that is new comes after the others. */
SL_TEST_API void sl_test_input_each(struct sl_test *t, const char *port, const char *name, const char *field,
                                    const void *values, uint64_t count);
SL_TEST_API void sl_test_set(struct sl_test *t, const char *property, double value);
/* A string, or the name of an enumeration's choice. */
SL_TEST_API void sl_test_set_text(struct sl_test *t, const char *property, const char *value);
SL_TEST_API void sl_test_set_array(struct sl_test *t, const char *property, const double *values, uint32_t count);
/* What a reference (SL_FIELD_REF) refers to; then it is an input, whose field and offsets are given with sl_test_input.
 */
SL_TEST_API void sl_test_field(struct sl_test *t, const char *reference, const struct sl_collection *collection,
                               const char *field);
/* The node's name, for services->node_name and SL_NODE_HASH; at first that of the algorithm. */
SL_TEST_API void sl_test_node(struct sl_test *t, const char *name);
/* The capacity of an output's items ("tracks"), or of a group of its subitems ("tracks.hit_offsets"). */
SL_TEST_API void sl_test_budget(struct sl_test *t, const char *name, uint32_t capacity);
SL_TEST_API void sl_test_shared(struct sl_test *t, int shared); /* 1: the shared version even if there is a tuned one */
SL_TEST_API void sl_test_block(struct sl_test *t, uint32_t threads);
/* For plugins/NAME.simt.so: the order of threads, and 32 or 64 threads a warp. No effect on other targets. */
SL_TEST_API void sl_test_seed(struct sl_test *t, uint64_t seed);
SL_TEST_API void sl_test_warp(struct sl_test *t, uint32_t threads);

/* 0, or what the algorithm returned. Ends the program if a canary is damaged. */
SL_TEST_API int sl_test_run(struct sl_test *t);

SL_TEST_API const void *sl_test_output(const struct sl_test *t, const char *port, const char *field);
SL_TEST_API uint64_t sl_test_output_count(const struct sl_test *t, const char *port, const char *field); /* values */
/* The most that was wanted of it, named like a capacity; more than the capacity means overflow. */
SL_TEST_API uint32_t sl_test_used(const struct sl_test *t, const char *name);
/* Error word of an event: 0, or code << 32 | detail, as given to sl_event_fail. */
SL_TEST_API uint64_t sl_test_event_error(const struct sl_test *t, uint32_t event);
/* All messages so far, one a line. Sinks: the report as JSON. */
SL_TEST_API const char *sl_test_messages(const struct sl_test *t);
SL_TEST_API const char *sl_test_report(const struct sl_test *t);

#ifdef __cplusplus
}
#endif
#endif
