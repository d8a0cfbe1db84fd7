/* pv.annealing: primary vertices by deterministic annealing in z (README.md, "Annealing").
 *   1. Select tracks near the beam line with a small error in z; assign a weight and a prior to each.
 *   2. Cut the event into parts at gaps in z between tracks that are larger than their errors times `gap`.
 *   3. Divide parts of many tracks into windows where tracks are sparse: cost grows with a power of the number of
 *      tracks.
 *   4. Anneal each part (annealing_schedule.h): the final prototypes are seeds.
 *   5. Gather the seeds of all parts and fit (fit.h); an event with more seeds than PV_MAX_VERTICES is refused.
 * Parallelism: one block per event; the whole block anneals large parts, then each warp takes the next free part.
 * Determinism: each part stores its seeds at its own index, so it does not matter which warp anneals it.
 * Cost per event (250 tracks, 30 parts, 6 with enough tracks): reads 28 bytes per track, 12 per update of a part.
 * Plain version: tests/pv/annealing_reference.h.
 */
#include "annealing_schedule.h"
#include "fit.h"
#include "prepare.h"

/* Tracks with a smaller prior are not selected. */
#define ANNEALING_LEAST_PRIOR 1e-4f

/* Largest number of tracks of a part that one warp anneals; the whole block anneals larger parts. */
#if !defined(ANNEALING_MOST_ALONE)
#define ANNEALING_MOST_ALONE 40u
#endif

/* Largest number of tracks of an undivided part, and least number of tracks of a window. */
enum { ANNEALING_WHOLE = 384, ANNEALING_WINDOW = 128 };

enum { ANNEALING_FULL = 1 };
static const struct sl_event_error annealing_errors[] = {
    {ANNEALING_FULL, 0,
     "a part of the event needs more than 32 prototypes of vertices, so some prototypes did not split"}};

struct annealing_track {
  float z, weight, prior; /* weight 0: not selected */
};

static SL_DEVICE struct annealing_track annealing_track_of(const struct annealing_args *a, const struct pv_tracks *t,
                                                           uint32_t i) {
  struct annealing_track track = {t->z[i], 0.0f, 0.0f};
  const float tx = t->tx[i], ty = t->ty[i], wx = t->wx[i], wy = t->wy[i];
  const float spot_x = a->beam_spot_x * a->beam_spot_x, spot_y = a->beam_spot_y * a->beam_spot_y;
  const float slope2 = tx * tx + ty * ty, error2 = 1.0f / (tx * tx * wx + ty * ty * wy);
  const float limit = track.z < a->fixed_target_z ? a->max_z_error_fixed_target : a->max_z_error;
  const float smearing = (spot_x * tx * tx + spot_y * ty * ty) / (slope2 * slope2);
  const float weight = 1.0f / (error2 + smearing + a->vertex_size * a->vertex_size);
  const float dx = t->x[i] - a->geometry.beam[0], dy = t->y[i] - a->geometry.beam[1];
  const float chi2 = dx * dx / (1.0f / wx + spot_x) + dy * dy / (1.0f / wy + spot_y);
  track.prior = 1.0f / (1.0f + sl_expf(chi2 - a->max_impact * a->max_impact));
  if (error2 < limit * limit && weight > 0.0f && track.prior >= ANNEALING_LEAST_PRIOR) track.weight = weight;
  return track;
}

/* Bits of a float as an integer that sorts like the float. */
static SL_DEVICE uint32_t annealing_ordered(float value) {
  const uint32_t bits = sl_bits_from_f32(value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* Stores the selected tracks of an event, each with the downstream limit of all earlier tracks; returns their number.
 */
static SL_DEVICE uint32_t annealing_select(const struct annealing_args *a, const struct pv_tracks *t, uint32_t first) {
  uint32_t selected = 0, limit = 0;
  SL_FOR_BLOCK (i, t->count) {
    struct annealing_track track = {0.0f, 0.0f, 0.0f};
    if (i < t->count) track = annealing_track_of(a, t, i);
    const uint32_t is_selected = track.weight > 0.0f ? 1u : 0u;
    const uint32_t place = first + sl_block_append(is_selected, &selected);
    const float end = is_selected ? track.z + a->gap * sl_sqrtf(1.0f / track.weight) : 0.0f;
    uint32_t farthest;
    const uint32_t before = sl_block_exclusive_max_u32(is_selected ? annealing_ordered(end) : 0u, &farthest);
    if (is_selected) {
      a->selected_z[place] = track.z;
      a->selected_weight[place] = track.weight;
      a->selected_prior[place] = track.prior;
      a->selected_limit[place] = before > limit ? before : limit;
    }
    limit = farthest > limit ? farthest : limit;
  }
  __syncthreads();
  return selected;
}

/* Lists the first tracks of the parts between gaps, by descending z; returns the number of parts. */
static SL_DEVICE uint32_t annealing_cut(const struct annealing_args *a, uint32_t first, uint32_t selected) {
  uint32_t cuts = 0,
           limit = 0; /* upstream limit of all later tracks, as complement, so that the minimum becomes a maximum */
  SL_FOR_BLOCK (i, selected) {
    const uint32_t from_first = selected - 1 - i, track = first + from_first;
    const uint32_t inside = i < selected ? 1u : 0u;
    const float begin = inside ? a->selected_z[track] - a->gap * sl_sqrtf(1.0f / a->selected_weight[track]) : 0.0f;
    const uint32_t own = inside ? ~annealing_ordered(begin) : 0u;
    uint32_t farthest;
    uint32_t downstream = sl_block_exclusive_max_u32(own, &farthest);
    downstream = downstream > own ? downstream : own;
    downstream = downstream > limit ? downstream : limit;
    const uint32_t begins = inside && a->selected_limit[track] < ~downstream ? 1u : 0u;
    const uint32_t place = sl_block_append(begins, &cuts);
    if (begins) a->cut_first[first + place] = from_first;
    limit = farthest > limit ? farthest : limit;
  }
  __syncthreads();
  return cuts;
}

/* First track of the last window of tracks begin, ..., end - 1; `begin` if they are not divided. A window is at least
 * as long as twice the range of the worst track, so that a vertex of many tracks is not divided; within half as many
 * tracks again, it begins where eight tracks are farthest apart. */
static SL_DEVICE uint32_t annealing_last_window(const struct annealing_args *a, const float *z, uint32_t begin,
                                                uint32_t end) {
  const float error = z[end - 1] < a->fixed_target_z ? a->max_z_error_fixed_target : a->max_z_error;
  const float length = 2.0f * a->gap * error;
  uint32_t first = begin;
  float widest = -1.0f;
  if (end - begin < 2 * ANNEALING_WINDOW) return begin;
  uint32_t from = end - ANNEALING_WINDOW;
  while (from > begin + ANNEALING_WINDOW && z[end - 1] - z[from] < length) from--;
  for (uint32_t i = from; i >= begin + ANNEALING_WINDOW && z[i] - z[begin] >= length; i--) {
    if (from - i >= ANNEALING_WINDOW / 2 && z[from] - z[i] >= 0.5f * length) break;
    const float width = z[i + 3] - z[i - 4];
    first = width > widest ? i : first;
    widest = sl_max_f32(width, widest);
  }
  return first;
}

/* Lists the first tracks of a part's windows, by descending z, unless `listed` is NULL; returns their number. */
static SL_DEVICE uint32_t annealing_windows(const struct annealing_args *a, const float *z, uint32_t begin,
                                            uint32_t end, uint32_t *listed) {
  const uint32_t is_whole = end - begin <= ANNEALING_WHOLE ? 1u : 0u;
  uint32_t windows = 0;
  while (begin < end) {
    end = is_whole ? begin : annealing_last_window(a, z, begin, end);
    if (listed) listed[windows] = end;
    windows++;
  }
  return windows;
}

/* Lists the parts to anneal, the windows of all cuts, by descending z; returns their number. */
static SL_DEVICE uint32_t annealing_divide(const struct annealing_args *a, uint32_t first, uint32_t selected,
                                           uint32_t cuts) {
  const float *z = a->selected_z + first;
  const uint32_t *cut_first = a->cut_first + first;
  uint32_t parts = 0;
  SL_FOR_BLOCK (i, cuts) {
    const uint32_t begin = i < cuts ? cut_first[i] : 0u;
    const uint32_t end = i >= cuts ? 0u : i > 0 ? cut_first[i - 1] : selected;
    uint32_t total;
    const uint32_t place = parts + sl_block_exclusive_scan(annealing_windows(a, z, begin, end, NULL), &total);
    annealing_windows(a, z, begin, end, a->part_first + first + place);
    parts += total;
  }
  __syncthreads();
  return parts;
}

/* Number of tracks of part `number`, counted by descending z; `first`: first track of the event. */
static SL_DEVICE uint32_t annealing_part_tracks(const struct annealing_args *a, uint32_t first, uint32_t selected,
                                                uint32_t number) {
  const uint32_t *listed = a->part_first + first + number;
  return (number > 0 ? *(listed - 1) : selected) - listed[0];
}

/* Anneals a part with a team. On a CPU it may overwrite tracks of the previous part, which is complete, or of the next
 * event. */
static SL_DEVICE void annealing_part(const struct annealing_part *team, uint32_t event, uint32_t selected,
                                     uint32_t number) {
  const struct annealing_args *a = team->a;
  const uint32_t first = a->beamline_states.offsets[event];
  const uint32_t begin = first + a->part_first[first + number];
  struct annealing_part t = *team;
  t.z = a->selected_z + begin;
  t.weight = a->selected_weight + begin;
  t.prior = a->selected_prior + begin;
  t.highest = a->highest_exponent + begin;
  t.scale = a->partition_scale + begin;
  t.near = a->selected_limit + begin; /* free after annealing_cut */
  t.tracks = annealing_part_tracks(a, first, selected, number);
  const uint32_t seeds = annealing_solve(&t, a->found_z + begin, NULL);
  if (sl_team_thread(&t.team) != 0) return;
  a->part_seeds[first + number] = seeds;
  if (t.is_full) sl_event_truncated(&a->events, event, ANNEALING_FULL, t.tracks);
}

struct annealing_shared {
  struct annealing_prototypes prototypes[ANNEALING_WARPS];
  float stored[ANNEALING_WARPS * ANNEALING_STORED];
  uint32_t next, taken[ANNEALING_WARPS];
};

/* The whole block as a team, with all shared memory. */
static SL_DEVICE struct annealing_part annealing_block(const struct annealing_args *a, struct annealing_shared *s) {
  struct annealing_part team;
  memset(&team, 0, sizeof team);
  team.a = a;
  team.p = s->prototypes;
  team.stored = s->stored;
  team.most_stored = ANNEALING_WARPS * ANNEALING_STORED;
  team.team = sl_team_of_block();
  return team;
}

/* Turns each warp of the block into a team. */
static SL_DEVICE void annealing_disband(struct annealing_part *team, struct annealing_shared *s) {
  const uint32_t warp = sl_warp_index();
  team->team = sl_team_of_warp();
  team->p = s->prototypes + warp;
  team->stored = s->stored + warp * ANNEALING_STORED;
  team->most_stored = ANNEALING_STORED;
}

/* Takes the next part for a warp. */
static SL_DEVICE uint32_t annealing_take(struct annealing_shared *s) {
  const uint32_t warp = sl_warp_index();
  if (sl_warp_lane() == 0) s->taken[warp] = atomicAdd(&s->next, 1u);
  sl_warp_sync();
  const uint32_t number = s->taken[warp];
  sl_warp_sync();
  return number;
}

/* Anneals all parts: first the whole block takes the large parts, one after the other, then each warp takes small
 * parts. One loop for both, so that a GPU has one copy of its body. */
static SL_DEVICE void annealing_parts(const struct annealing_args *a, uint32_t event, uint32_t selected,
                                      uint32_t parts) {
  const uint32_t first = a->beamline_states.offsets[event];
  __shared__ struct annealing_shared shared;
  struct annealing_part team = annealing_block(a, &shared);
  const uint32_t most_alone = team.team.warps > 1 ? ANNEALING_MOST_ALONE : UINT32_MAX;
  uint32_t number = 0, is_alone = 0;
  if (threadIdx.x == 0) shared.next = 0;
  for (;;) {
    if (!is_alone && number == parts) {
      __syncthreads(); /* all warps have finished the last large part */
      if (sl_warp_index() >= ANNEALING_WARPS) break;
      annealing_disband(&team, &shared);
      is_alone = 1;
    }
    if (is_alone) number = annealing_take(&shared);
    if (number >= parts) break;
    const uint32_t is_small = annealing_part_tracks(a, first, selected, number) <= most_alone ? 1u : 0u;
    if (is_small == is_alone) annealing_part(&team, event, selected, number);
    if (!is_alone) number++;
  }
  __syncthreads();
}

/* Gathers the seeds of all parts in one list, up to PV_MAX_VERTICES. */
static SL_DEVICE void annealing_gather(const struct annealing_args *a, uint32_t event, uint32_t first, uint32_t parts) {
  uint32_t found = 0;
  SL_FOR_BLOCK (part, parts) {
    const uint32_t listed = first + (parts - 1 - part);
    const uint32_t seeds = part < parts ? a->part_seeds[listed] : 0u;
    const uint32_t begin = part < parts ? first + a->part_first[listed] : 0u;
    uint32_t total;
    const uint32_t place = found + sl_block_exclusive_scan(seeds, &total);
    for (uint32_t s = 0; s < seeds && place + s < PV_MAX_VERTICES; s++)
      a->seed_z[PV_MAX_VERTICES * event + place + s] = a->found_z[begin + s];
    found += total;
  }
  if (threadIdx.x == 0) a->seed_count[event] = found;
  __syncthreads();
}

SL_KERNEL_ANY_BLOCK(annealing_find, struct annealing_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.beamline_states.offsets[event];
    const struct pv_tracks tracks = pv_tracks_of(&a.fit, event);
    const uint32_t selected = annealing_select(&a, &tracks, first);
    const uint32_t cuts = annealing_cut(&a, first, selected);
    const uint32_t parts = annealing_divide(&a, first, selected, cuts);
    annealing_parts(&a, event, selected, parts);
    annealing_gather(&a, event, first, parts);
  }
}

static int run(const struct sl_launch *l, const struct annealing_args *a) {
  int error = pv_prepare_launch(l, &a->fit);
  if (!error) error = SL_LAUNCH(l, annealing_find, SL_PER_EVENT, *a);
  if (!error) error = pv_fit_launch(l, &a->fit);
  return error;
}

static int check(const struct sl_services *s, const void *args) {
  const struct annealing_args *a = (const struct annealing_args *)args;
  const float splitting = a->splitting_temperature, purging = a->purging_temperature, end = a->final_temperature;
  if (splitting >= purging && purging >= end) return SL_OK;
  s->message(s->context, SL_ERROR,
             "temperatures must not increase: splitting_temperature is %g, purging_temperature %g, "
             "final_temperature %g",
             (double)splitting, (double)purging, (double)end);
  return SL_EINVAL;
}

SL_ALGORITHM(annealing, "finds primary vertices by deterministic annealing along the beam line", 128, run,
             SL_ERRORS_OF(annealing_errors), SL_CHECK(check));
