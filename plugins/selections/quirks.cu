/* selections.quirks: events with pairs of VELO hits back to back around the beam in consecutive module pairs, from two
 * heavy particles bound by a new force (README.md, "Quirks"). No tracks are used.
 *
 * Parallelism: one warp per event; a lane has one hit of the first module pair of a chain at a time.
 * Cost: reads 2 bytes per hit; 8 more for hits that may be back to back, 1 in 20.
 */
#define LINE_FAMILY "quirk_"
#include "selections/line.h"
#include "velo/event_model.h"

#include <sluice/math.h>

enum { MODULE_PAIRS = 26, PHI_BELOW = 0 }; /* phi of hits below y = 0 is at most PHI_BELOW */

/* Sines of the largest angles. */
struct quirk_angles {
  float pair, step;
  int32_t pair_window, step_window; /* the same in units of velo_hits.phi, and more */
};

#define SL_ARGS quirks_args
#define QUIRKS(M)                                                                                                     \
  LINE_OVER(M, events)                                                                                                \
  M(IN, hits, velo_hits, "offsets pair_first phi x y", "VELO hits, sorted by phi in each module pair")                \
  M(F32, max_pair_angle, 0.07, 0.0, 10.0, "deg", "maximum deviation of the two hits of a pair from back to back")     \
  M(F32, max_step_angle, 0.06, 0.0, 10.0, "deg", "maximum angle around the beam from a hit of the first pair")        \
  M(F32, max_r_difference, 5.0, 0.0, 1e9, "mm", "maximum difference of the distances of both hits from the z axis")   \
  M(U32, tried_hits, 6, 1, 1000, "", "hits that are tried as the second one of a pair")                               \
  M(U32, max_hits, 199, 0, 1000000, "", "maximum number of hits in a module pair; others are left out")               \
  M(U32, min_pairs, 6, 1, 26, "", "minimum number of module pairs in a chain; one between two others may be missing") \
  M(COMPUTED, angles, struct quirk_angles, "the maximum angles as sines")
SL_ARGUMENTS(quirks, QUIRKS);

/* The hits of a module pair, relative to the first hit of the event: [begin, end). Empty if there are too many. */
struct range {
  uint32_t begin, end;
};

static SL_DEVICE struct range hits_of(const struct quirks_args *a, uint32_t event, uint32_t module_pair) {
  const uint32_t *first = a->hits.pair_first + (size_t)(MODULE_PAIRS + 1) * event + module_pair;
  struct range r = {first[0], first[1]};
  if (r.end - r.begin > a->max_hits) r.end = r.begin;
  return r;
}

/* The first hit of a range with at least this phi; fast if it is near the begin. */
static SL_DEVICE uint32_t first_from(const int16_t *phi, struct range r, int32_t least) {
  uint32_t step = 1;
  for (; step <= r.end - r.begin && phi[r.begin + step - 1] < least; step *= 2) r.begin += step;
  if (step <= r.end - r.begin) r.end = r.begin + step - 1;
  while (r.begin < r.end) {
    const uint32_t middle = r.begin + (r.end - r.begin) / 2;
    if (phi[middle] < least)
      r.begin = middle + 1;
    else
      r.end = middle;
  }
  return r.begin;
}

/* Hits of the event. */
struct event_hits {
  const int16_t *phi;
  const float *x, *y;
};

static SL_DEVICE float radius(const struct event_hits *h, uint32_t i) {
  return sqrtf(h->x[i] * h->x[i] + h->y[i] * h->y[i]);
}

/* Azimuth from -180 degrees to 0. */
static SL_DEVICE uint32_t is_below(const struct event_hits *h, uint32_t i) {
  return h->y[i] < 0.0f || (h->y[i] == 0.0f && h->x[i] >= 0.0f);
}

/* |sin| of the angle around the beam between hit i and hit j, or the point opposite to j (`sign` -1); 2 if it is more
 * than 90 degrees. `is_larger`: whether j is at a larger azimuth. */
static SL_DEVICE float sine_between(const struct event_hits *h, uint32_t i, uint32_t j, float sign,
                                    uint32_t *is_larger) {
  const float cross = h->x[i] * h->y[j] - h->y[i] * h->x[j], dot = h->x[i] * h->x[j] + h->y[i] * h->y[j];
  *is_larger = sign * cross > 0.0f ? 1u : 0u;
  return sign * dot > 0.0f ? sl_abs_f32(cross) / (radius(h, i) * radius(h, j)) : 2.0f;
}

/* The search for hits back to back with a hit of a module pair. The hits that are tried begin with the first one that
 * is at most max_pair_angle before the opposite point. */
#define NONE UINT32_MAX
struct search {
  uint32_t next, tried;
};

static SL_DEVICE struct search search_from(const struct quirks_args *a, const struct event_hits *h, struct range r,
                                           uint32_t i) {
  const struct search s = {first_from(h->phi, r, h->phi[i] + 32768 - a->angles.pair_window), 0};
  return s;
}

/* The next hit that is back to back with hit i; NONE if there is none. */
static SL_DEVICE uint32_t partner_of(const struct quirks_args *a, const struct event_hits *h, struct range r,
                                     uint32_t i, struct search *s) {
  const int32_t most = h->phi[i] + 32768 + a->angles.pair_window;
  while (s->next < r.end && h->phi[s->next] <= most && s->tried < a->tried_hits) {
    const uint32_t j = s->next++;
    uint32_t is_larger;
    const float sine = sine_between(h, i, j, -1.0f, &is_larger);
    if (!is_larger && sine > a->angles.pair) continue;
    s->tried++;
    if (sine <= a->angles.pair && sl_abs_f32(radius(h, i) - radius(h, j)) < a->max_r_difference) return j;
  }
  return NONE;
}

/* The pair with the first hits of a module pair near hit i or j; its first hit, or NONE. */
static SL_DEVICE uint32_t first_pair_from(const struct quirks_args *a, const struct event_hits *h, struct range r,
                                          uint32_t i, uint32_t j, int32_t least, int32_t most, uint32_t *partner) {
  uint32_t is_larger;
  for (uint32_t k = first_from(h->phi, r, least); k < r.end && h->phi[k] <= most; k++) {
    if (!is_below(h, k)) continue;
    if (sine_between(h, i, k, 1.0f, &is_larger) > a->angles.step &&
        sine_between(h, j, k, 1.0f, &is_larger) > a->angles.step)
      continue;
    struct search s = search_from(a, h, r, k);
    *partner = partner_of(a, h, r, k, &s);
    if (*partner != NONE) return k;
  }
  return NONE;
}

/* Azimuths of i, and those of j that are below, in ascending order: just above -180 degrees, near i, just below 0. */
static SL_DEVICE uint32_t first_pair(const struct quirks_args *a, const struct event_hits *h, struct range r,
                                     uint32_t i, uint32_t j, uint32_t *partner) {
  const int32_t near = a->angles.step_window, of_i = h->phi[i], of_j = h->phi[j];
  uint32_t found = NONE;
  if (of_j + near > INT16_MAX) found = first_pair_from(a, h, r, i, j, INT16_MIN, of_j + near - 65536, partner);
  if (found == NONE) found = first_pair_from(a, h, r, i, j, of_i - near, of_i + near, partner);
  if (found == NONE && of_j - near <= 0) found = first_pair_from(a, h, r, i, j, of_j - near, near, partner);
  return found;
}

/* Number of pairs in the chain that begins with hits i and j of a module pair; 0 if the distance from the beam only
 * grows or only falls. */
static SL_DEVICE uint32_t chain_from(const struct quirks_args *a, const struct event_hits *h, uint32_t event,
                                     uint32_t module_pair, uint32_t i, uint32_t j) {
  uint32_t count = 1, missing = 0, falls = 0, grows = 0, partner = NONE;
  float r = 0.5f * (radius(h, i) + radius(h, j));
  for (uint32_t m = module_pair + 1; m < MODULE_PAIRS && missing < 2; m++) {
    const uint32_t k = first_pair(a, h, hits_of(a, event, m), i, j, &partner);
    if (k == NONE) {
      missing++;
      continue;
    }
    const float next = 0.5f * (radius(h, k) + radius(h, partner));
    count++;
    falls |= next <= r ? 1u : 0u;
    grows |= next >= r ? 1u : 0u;
    r = next;
  }
  return falls && grows ? count : 0;
}

static int make_angles(const struct sl_services *s, void *args) {
  struct quirks_args *a = (struct quirks_args *)args;
  const double degree = 3.14159265358979323846 / 180.0;
  float cosine;
  (void)s;
  sl_sincosf((float)((double)a->max_pair_angle * degree), &a->angles.pair, &cosine);
  sl_sincosf((float)((double)a->max_step_angle * degree), &a->angles.step, &cosine);
  /* phi grows by at most 16384 per radian, by at least half of that */
  a->angles.pair_window = (int32_t)(16384.0 * (double)a->max_pair_angle * degree) + 3;
  a->angles.step_window = (int32_t)(16384.0 * (double)a->max_step_angle * degree) + 3;
  return SL_OK;
}

LINE_WITH(quirks, "events with VELO hits back to back in consecutive module pairs", events, NULL, make_angles) {
  const uint32_t first = a->hits.offsets[event];
  const struct event_hits h = {a->hits.phi + first, a->hits.x + first, a->hits.y + first};
  uint32_t longest = 0;
  for (uint32_t m = 0; m + a->min_pairs < MODULE_PAIRS; m++) {
    const struct range r = hits_of(a, event, m);
    struct range opposite = r; /* the opposite point moves with phi, which grows with k */
    for (uint32_t k = r.begin + sl_warp_lane(); k < r.end && h.phi[k] <= PHI_BELOW; k += sl_warp_lanes()) {
      struct search s = search_from(a, &h, opposite, k);
      opposite.begin = s.next;
      if (s.next == r.end) break;
      if (h.phi[s.next] > h.phi[k] + 32768 + a->angles.pair_window || !is_below(&h, k)) continue;
      for (uint32_t j; (j = partner_of(a, &h, r, k, &s)) != NONE;) {
        const uint32_t count = chain_from(a, &h, event, m, k, j);
        longest = count > longest ? count : longest;
      }
    }
  }
  LINE_REQUIRE_ANY("pairs of hits in the longest chain", longest, >=, a->min_pairs);
  return 1;
}

#define LINES(L) L(quirks)
LINES_OVER(events, LINES);
