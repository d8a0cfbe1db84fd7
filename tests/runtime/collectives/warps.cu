/* warps.cu: every collective of sluice/kernel.h for warps, groups and teams, directly after each other. One warp of the
 * block per event. */
#include "collectives.h"
#include "sort_row.h"

#include <sluice/kernel.h>

#define SL_ARGS warps_args
static const struct sl_member warps_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, collectives_numbers, "", "any"),
    SL_OUT(results, warps_results, "one entry a number", SL_SHARES_OFFSETS(numbers)),
};
#undef SL_ARGS

/* Writes `before`, `kept`, kept_count and has_seventh for an event. */
static SL_DEVICE void scan_row(const struct warps_args *a, uint32_t event, uint32_t first, uint32_t count) {
  uint32_t sum = 0, kept = 0, has_seventh = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t mine = i < count ? a->numbers.value[first + i] : 0;
    const uint32_t wanted = i < count && mine % 3 == 0 ? 1u : 0u;
    const uint32_t before = sum + sl_warp_exclusive_scan(mine), place = sl_warp_append(wanted, &kept);
    if (i < count) a->results.before[first + i] = before;
    if (wanted) a->results.kept[first + place] = i;
    sl_warp_sync(); /* the next iteration starts with the last lane's sum */
    const uint32_t last = sl_base_i + sl_warp_lanes() < count ? sl_base_i + sl_warp_lanes() : count;
    sum = a->results.before[first + last - 1] + a->numbers.value[first + last - 1];
    has_seventh |= sl_warp_any(i < count && mine % 7 == 0);
  }
  if (sl_warp_lane() == 0) {
    a->results.kept_count[event] = kept;
    a->results.has_seventh[event] = has_seventh;
  }
}

/* Writes `begun`: a list begins at each number that scan_row selects. */
static SL_DEVICE void own_row(const struct warps_args *a, uint32_t event, uint32_t first, uint32_t count) {
  uint32_t begun = 0;
  sl_warp_sync();
  const uint32_t lists = a->results.kept_count[event];
  SL_FOR_WARP (i, count) {
    const uint32_t list = begun + sl_warp_lane();
    const uint32_t start = list < lists ? a->results.kept[first + list] - sl_base_i : UINT32_MAX;
    const uint32_t mine = sl_warp_list_index(start, &begun);
    if (i < count) a->results.begun[first + i] = mine;
  }
}

/* Writes `weighted`: each lane asks all lanes, in an order of its own. */
static SL_DEVICE void get_row(const struct warps_args *a, uint32_t first, uint32_t count) {
  uint32_t sum = 0;
  SL_FOR_WARP (i, count) {
    const uint32_t mine = i < count ? a->numbers.value[first + i] : 0;
    for (uint32_t k = 0; k < sl_warp_lanes(); k++) {
      const uint32_t lane = (sl_warp_lane() + k) % sl_warp_lanes();
      sum += (sl_base_i + lane + 1) * sl_warp_get_u32(mine, lane);
    }
  }
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) a->results.weighted[first + i] = sum;
}

/* Writes `largest`, `sum` and `has_odd`: eight numbers per group, or per thread on cpu. */
static SL_DEVICE void ask_groups(const struct warps_args *a, uint32_t first, uint32_t count) {
  const uint32_t groups = sl_warp_lanes() / SL_GROUP(8), eights = (count + 7) / 8;
  for (uint32_t base = 0; base < eights; base += groups) {
    const uint32_t begin = 8 * (base + sl_warp_lane() / SL_GROUP(8));
    uint32_t largest = 0, sum = 0, odd = 0;
    for (uint32_t i = begin + sl_group_lane(8); i < begin + 8 && i < count; i += SL_GROUP(8)) {
      const uint32_t mine = a->numbers.value[first + i];
      largest = mine > largest ? mine : largest;
      sum += mine;
      odd |= mine & 1;
    }
    largest = sl_group_max_u32(largest, 8);
    sum = sl_group_sum_u32(sum, 8);
    odd = sl_group_any(odd, 8);
    for (uint32_t i = begin + sl_group_lane(8); i < begin + 8 && i < count; i += SL_GROUP(8)) {
      a->results.largest[first + i] = largest;
      a->results.sum[first + i] = sum;
      a->results.has_odd[first + i] = odd;
    }
  }
}

/* Writes `turns`: each group of 32 makes as many iterations as its number among the groups. */
static SL_DEVICE void make_turns(const struct warps_args *a, uint32_t first, uint32_t count) {
  const uint32_t groups = sl_warp_lanes() / SL_GROUP(32), all = (count + 31) / 32;
  for (uint32_t base = 0; base < all; base += groups) {
    const uint32_t group = base + sl_warp_lane() / SL_GROUP(32), wanted = group < all ? group % 5 : 0;
    uint32_t turns = 0;
    for (uint32_t turn = 0; sl_warp_any_needed(turn < wanted); turn++) turns += sl_group_any(turn < wanted, 32);
    for (uint32_t i = 32 * group + sl_group_lane(32); i < 32 * group + 32 && i < count; i += SL_GROUP(32))
      a->results.turns[first + i] = turns;
  }
}

/* Writes `turned`, the numbers in reverse order, through a copy. */
static SL_DEVICE void turn_row(const struct warps_args *a, const struct sl_team *team, uint32_t first, uint32_t count) {
  uint32_t *turned = a->results.turned + first;
  for (uint32_t i = sl_team_thread(team); i < count; i += sl_team_threads(team))
    turned[i] = a->numbers.value[first + i];
  sl_team_sync(team);
  for (uint32_t i = sl_team_thread(team); i < count / 2; i += sl_team_threads(team)) {
    const uint32_t other = turned[count - 1 - i];
    turned[count - 1 - i] = turned[i];
    turned[i] = other;
  }
  sl_team_sync(team);
}

SL_KERNEL_ANY_BLOCK(warps_all, struct warps_args) {
  const struct sl_team warp = sl_team_of_warp(), block = sl_team_of_block();
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.numbers.offsets[event], count = a.numbers.offsets[event + 1] - first;
    if (event % 2 == 0) turn_row(&a, &block, first, count);
    if (event % sl_block_warps() != sl_warp_index()) continue;
    const struct sorted_row row = {a.results.sorted + first, a.results.part + first};
    if (event % 2 == 1) turn_row(&a, &warp, first, count);
    if (event % 4 == 0) sort_row(a.numbers.value + first, count, row, 1);
    if (event % 4 == 1) sort_row(a.numbers.value + first, count, row, 2);
    if (event % 4 == 2) sort_row(a.numbers.value + first, count, row, 4);
    if (event % 4 == 3) sort_row(a.numbers.value + first, count, row, 8);
    scan_row(&a, event, first, count);
    own_row(&a, event, first, count);
    get_row(&a, first, count);
    ask_groups(&a, first, count);
    make_turns(&a, first, count);
  }
}

static int run(const struct sl_launch *l, const struct warps_args *a) {
  return SL_LAUNCH(l, warps_all, SL_PER_EVENT, *a);
}
#define SL_ARGS warps_args
SL_ALGORITHM(warps, "every collective of warps, groups and teams", 64, run);
