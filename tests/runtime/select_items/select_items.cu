/* select_items.cu: selects items with a key that is a multiple of `modulus`: single keys, groups with their parts, and
 * groups of two inputs; parts of the second input get 1000 added.
 */
#include "select_items.h"

#include <sluice/kernel.h>

#define SL_ARGS select_keys_args
#define SELECT_KEYS(M)                                                                                            \
  M(IN, keys, select_keys_of, "", "any")                                                                          \
  M(OUT, selected, select_keys_of, "multiples of modulus, in input order", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(keys)))) \
  M(U32, modulus, 1, 1, 1000, "", "divides the selected keys")
SL_ARGUMENTS(select_keys, SELECT_KEYS);

static SL_DEVICE uint32_t is_multiple(const struct select_keys_args *a, struct sl_item item) {
  return a->keys.key[item.input_index] % a->modulus == 0 ? 8u : 0u; /* any nonzero value selects */
}

static SL_DEVICE void write_key(const struct select_keys_args *a, struct sl_item item) {
  a->selected.key[item.output_index] = a->keys.key[item.input_index];
}

SL_SELECT_ITEMS(select_keys, keys, selected, is_multiple, write_key)
SL_ALGORITHM(select_keys, "keys that are multiples", 64, select_keys_run);
#undef SL_ARGS

#define SL_ARGS select_groups_args
#define SELECT_GROUPS(M)                                                                    \
  M(IN, groups, select_groups_of, "", "any")                                                \
  M(OUT, selected, select_groups_of, "groups with a key that is a multiple of modulus",     \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(groups))), SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(groups)))) \
  M(U32, modulus, 1, 1, 1000, "", "divides the selected keys")                              \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(groups)))
SL_ARGUMENTS(select_groups, SELECT_GROUPS);

static SL_DEVICE uint32_t part_count(const struct select_groups_args *a, struct sl_item item) {
  if (a->groups.key[item.input_index] % a->modulus != 0) return SL_NOT_SELECTED;
  return a->groups.part_offsets[item.input_index + 1] - a->groups.part_offsets[item.input_index];
}

static SL_DEVICE void write_group(const struct select_groups_args *a, struct sl_item item) {
  a->selected.key[item.output_index] = a->groups.key[item.input_index];
}

static SL_DEVICE void write_part(const struct select_groups_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  a->selected.part[to] = a->groups.part[a->groups.part_offsets[item.input_index] + h];
}

SL_SELECT_WITH_SUBITEMS(select_groups, groups, selected, selected.part_offsets, 4, part_count, write_group, write_part)
SL_ALGORITHM(select_groups, "groups of multiples, with their parts", 64, select_groups_run);
#undef SL_ARGS

#define SL_ARGS merge_groups_args
#define MERGE_GROUPS(M)                                                            \
  M(IN, first, select_groups_of, "", "any")                                        \
  M(IN, second, select_groups_of, "", "any")                                       \
  M(OUT, merged, select_groups_of, "of each event those of first, then of second", \
    SL_ITEMS(SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second))),                 \
    SL_SUBITEMS(SL_SUM(SL_SUBITEMS_TERM(first), SL_SUBITEMS_TERM(second))))        \
  M(U32, modulus, 1, 1, 1000, "", "divides the selected keys")                     \
  M(SCRATCH, sources, u64, "input item and event of each selected item",           \
    SL_SUM(SL_ITEMS_TERM(first), SL_ITEMS_TERM(second)))
SL_ARGUMENTS(merge_groups, MERGE_GROUPS);

static SL_DEVICE const struct select_groups_of_view *input_of(const struct merge_groups_args *a, struct sl_item item) {
  return item.is_second ? &a->second : &a->first;
}

static SL_DEVICE uint32_t merged_part_count(const struct merge_groups_args *a, struct sl_item item) {
  const struct select_groups_of_view *groups = input_of(a, item);
  if (groups->key[item.input_index] % a->modulus != 0) return SL_NOT_SELECTED;
  return groups->part_offsets[item.input_index + 1] - groups->part_offsets[item.input_index];
}

static SL_DEVICE void write_merged(const struct merge_groups_args *a, struct sl_item item) {
  a->merged.key[item.output_index] = input_of(a, item)->key[item.input_index];
}

static SL_DEVICE void write_merged_part(const struct merge_groups_args *a, struct sl_item item, uint32_t h,
                                        uint32_t to) {
  const struct select_groups_of_view *groups = input_of(a, item);
  a->merged.part[to] = groups->part[groups->part_offsets[item.input_index] + h] + 1000 * item.is_second;
}

SL_MERGE_WITH_SUBITEMS(merge_groups, first, second, merged, merged.part_offsets, 32, merged_part_count, write_merged,
                       write_merged_part)
SL_ALGORITHM(merge_groups, "groups of multiples of two inputs, with their parts", 64, merge_groups_run);
