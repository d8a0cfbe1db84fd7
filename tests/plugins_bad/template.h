/* template.h: a correct plugin with one kernel. Each file of this folder breaks one part of it by defining one of the
 * names below before including it. */
#include <sluice/plugin.h>

#ifndef BAD_MAGIC
#define BAD_MAGIC SL_PLUGIN_MAGIC
#endif
#ifndef BAD_SIZE
#define BAD_SIZE sizeof(struct sl_plugin)
#endif
#ifndef BAD_ABI_VERSION
#define BAD_ABI_VERSION SL_ABI_VERSION
#endif
#ifndef BAD_NAME
#define BAD_NAME "bad"
#endif
#ifndef BAD_TARGET
#define BAD_TARGET "cpu"
#endif
#ifndef BAD_ALGORITHMS
#define BAD_ALGORITHMS &copy
#endif
#ifndef BAD_RUN
#define BAD_RUN run
#endif
#ifndef BAD_MEMBERS
#define BAD_MEMBERS members
#endif
#ifndef BAD_VALUE
#define BAD_VALUE(F) F(value, f32, PER_ITEM, "", "a value")
#endif
#ifndef BAD_TRAIT
#define BAD_TRAIT NULL
#endif
#ifndef BAD_FIELDS_READ
#define BAD_FIELDS_READ "offsets value"
#endif
#ifndef BAD_CAPACITY
#define BAD_CAPACITY SL_ITEMS(SL_ONE(SL_ITEMS_TERM(in)))
#endif
#ifndef BAD_DEFAULT
#define BAD_DEFAULT 1.0
#endif
#ifndef BAD_MORE_ARGS
#define BAD_MORE_ARGS
#define BAD_MORE_MEMBERS
#endif
#ifndef BAD_FACTOR_OFFSET
#define BAD_FACTOR_OFFSET offsetof(struct bad_args, factor)
#endif

#ifndef BAD_FIELDS
#define BAD_FIELDS(F)                                      \
  F(offsets, u32, OFFSETS, "", "first item of each event") \
  BAD_VALUE(F)
#endif
#define BAD_COLLECTION(name, trait) SL_COLLECTION_WITH_TRAIT(name, BAD_FIELDS, "values", trait)
BAD_COLLECTION(bad_values, BAD_TRAIT);

struct bad_args {
  struct sl_events events;
  struct bad_values_view in;
  struct bad_values out;
  float factor;
  BAD_MORE_ARGS
};
#define SL_ARGS bad_args
static const struct sl_member members[] SL_UNUSED = {
    SL_EVENTS(),
    SL_IN(in, bad_values, BAD_FIELDS_READ, "any"),
    SL_OUT(out, bad_values, "a copy", BAD_CAPACITY),
    {.name = "factor",
     .doc = "multiplies",
     .kind = SL_MEMBER_PROPERTY,
     .args_offset = BAD_FACTOR_OFFSET,
     .args_size = sizeof(float),
     .unit = "",
     .type = SL_TYPE_f32,
     .default_value = BAD_DEFAULT,
     .minimum = 0.0,
     .maximum = 10.0} BAD_MORE_MEMBERS,
};

SL_UNUSED static int run(const struct sl_launch *l, const void *args) {
  (void)l, (void)args;
  return SL_OK;
}

static const struct sl_algorithm copy SL_UNUSED = {.name = "copy",
                                                   .doc = "copies",
                                                   .kind = SL_KIND_KERNEL,
                                                   .args_size = sizeof(struct bad_args),
                                                   .member_count = sizeof(members) / sizeof(members[0]),
                                                   .block_threads = 32,
                                                   .members = BAD_MEMBERS,
                                                   .run = BAD_RUN};
static const struct sl_algorithm *const table[] SL_UNUSED = {BAD_ALGORITHMS};
#ifndef BAD_FORMER_NAMES
#define BAD_FORMER_COUNT 0
#define BAD_FORMER_NAMES NULL
#endif
#ifndef BAD_TABLE
#define BAD_TABLE table
#endif

SL_EXTERN_ __attribute__((visibility("default"))) const struct sl_plugin sluice_plugin;
const struct sl_plugin sluice_plugin = {BAD_MAGIC,
                                        (uint32_t)(BAD_SIZE),
                                        BAD_ABI_VERSION,
                                        BAD_NAME,
                                        "1.0",
                                        BAD_TARGET,
                                        "breaks one thing",
                                        BAD_TABLE,
                                        sizeof(table) / sizeof(table[0]),
                                        BAD_FORMER_COUNT,
                                        BAD_FORMER_NAMES};
