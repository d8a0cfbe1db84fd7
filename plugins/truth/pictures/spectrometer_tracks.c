/* spectrometer_tracks.c: lines of tracks, and true tracks through the hits of a struct spectrometer.
 * A track is a line through points by ascending z: its origin, its last hit in the VELO, and its hits in x layers of
 * UT and SciFi. In the magnet x is a cubic polynomial between the points before and after it, with the track's slopes
 * there. Slopes are those of the hits; at its origin, a track has the slope of its true momentum. Between two points y
 * is a straight line; y of a true track, which its hits do not measure, is that of a straight line from its origin. */
#include "spectrometer.h"

#include <sluice/math.h>

#include <stdlib.h>
#include <string.h>

static const float scifi_begin = 7800, bent_min = 1000; /* shorter gaps before the SciFi are straight lines */
static const float last_station = 9100;                 /* of the SciFi */
static const float lever_min = 100;                     /* between hits that give a slope; more than a layer's depth */
static const float slope_max = 2;
enum { CURVE_STEPS = 12, NODES_MAX = 64 };

/* Points of a track without those of the curve in the magnet. */
struct nodes {
  struct spectrometer_point at[NODES_MAX];
  uint32_t count;
};

static int compare_points(const void *left, const void *right) {
  const struct spectrometer_point *a = (const struct spectrometer_point *)left;
  const struct spectrometer_point *b = (const struct spectrometer_point *)right;
  if (a->z != b->z) return a->z < b->z ? -1 : 1;
  return a->at[SPECTROMETER_X] < b->at[SPECTROMETER_X] ? -1 : a->at[SPECTROMETER_X] > b->at[SPECTROMETER_X];
}

static void add_node(struct nodes *n, float z, float x) {
  if (n->count < NODES_MAX) n->at[n->count++] = (struct spectrometer_point){z, {x, 0}};
}

/* Adds the last hit in the VELO; lines are straight up to it. */
static void add_velo_node(struct nodes *n, const struct spectrometer_hits *hits, const uint32_t *ids, uint32_t count,
                          uint32_t mask) {
  const struct spectrometer_hit *last = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const struct spectrometer_hit *hit = spectrometer_find_hit(hits, ids[i] & mask);
    if (hit && (!last || hit->z > last->z)) last = hit;
  }
  if (last) add_node(n, last->z, last->at[SPECTROMETER_X]);
}

static void add_nodes(struct nodes *n, const struct spectrometer_hits *hits, const uint32_t *ids, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const struct spectrometer_hit *hit = spectrometer_find_hit(hits, ids[i]);
    if (hit) add_node(n, hit->z, hit->at[SPECTROMETER_X]);
  }
}

/* Sorts the nodes by z and inserts the origin in front, if it is known and upstream of them. `ty`: slope of the
 * particle in y. */
static void find_nodes(const struct spectrometer *p, const struct mc_event *mc, const struct mc_particle *particle,
                       uint32_t velo_mask, float ty, struct nodes *n) {
  const uint32_t *ids = mc->ids;
  n->count = 0;
  add_velo_node(n, &p->hits[SPECTROMETER_VELO], ids + particle->velo.first, particle->velo.count, velo_mask);
  add_nodes(n, &p->hits[SPECTROMETER_UT], ids + particle->ut.first, particle->ut.count);
  add_nodes(n, &p->hits[SPECTROMETER_SCIFI], ids + particle->scifi.first, particle->scifi.count);
  if (n->count == 0) return;
  qsort(n->at, n->count, sizeof n->at[0], compare_points);
  const int is_known = particle->x != 0 || particle->y != 0 || particle->z != 0;
  if (is_known && particle->z < n->at[0].z && n->count < NODES_MAX) {
    memmove(n->at + 1, n->at, n->count++ * sizeof n->at[0]);
    n->at[0] = (struct spectrometer_point){particle->z, {particle->x, 0}};
  }
  for (uint32_t i = 0; i < n->count; i++) n->at[i].at[SPECTROMETER_Y] = particle->y + ty * (n->at[i].z - particle->z);
}

static float limited(float slope) { return slope > slope_max ? slope_max : slope < -slope_max ? -slope_max : slope; }

/* Slope along an axis between a node and the next one at a distance of at least lever_min, towards lower or higher z
 * (step -1 or 1). Returns 0 if there is none. */
static int find_slope(const struct nodes *n, uint32_t node, int step, enum spectrometer_axis axis, float *slope) {
  const struct spectrometer_point *a = &n->at[node];
  for (int64_t i = (int64_t)node + step; i >= 0 && i < (int64_t)n->count; i += step) {
    const struct spectrometer_point *b = &n->at[i];
    if (sl_abs_f32(b->z - a->z) < lever_min) continue;
    *slope = limited((b->at[axis] - a->at[axis]) / (b->z - a->z));
    return 1;
  }
  return 0;
}

/* Adds the cubic Hermite polynomial between two nodes; the caller adds the nodes. */
static int add_curve(struct spectrometer *p, const struct spectrometer_point ends[2], const float slopes[2]) {
  const float length = ends[1].z - ends[0].z;
  for (int i = 1; i < CURVE_STEPS; i++) {
    const float t = (float)i / CURVE_STEPS, u = 1 - t;
    const float x = u * u * (1 + 2 * t) * ends[0].at[SPECTROMETER_X] +
                    t * t * (1 + 2 * u) * ends[1].at[SPECTROMETER_X] + length * t * u * (u * slopes[0] - t * slopes[1]);
    const float y = u * ends[0].at[SPECTROMETER_Y] + t * ends[1].at[SPECTROMETER_Y];
    if (!spectrometer_add_point(p, &(struct spectrometer_point){ends[0].z + length * t, {x, y}})) return 0;
  }
  return 1;
}

static int is_bent(const struct spectrometer_point *from, const struct spectrometer_point *to) {
  return from->z < scifi_begin && to->z >= scifi_begin && to->z - from->z >= bent_min;
}

static int add_line(struct spectrometer *p, const struct nodes *n, float origin_slope) {
  for (uint32_t i = 0; i < n->count; i++) {
    const struct spectrometer_point *from = &n->at[i], *to = from + 1;
    if (!spectrometer_add_point(p, from)) return 0;
    if (i + 1 == n->count || !is_bent(from, to)) continue;
    float slopes[2] = {limited(origin_slope), 0};
    find_slope(n, i, -1, SPECTROMETER_X, &slopes[0]);
    /* without further hits: slope of a parabola */
    if (!find_slope(n, i + 1, 1, SPECTROMETER_X, &slopes[1]))
      slopes[1] = limited(2 * (to->at[SPECTROMETER_X] - from->at[SPECTROMETER_X]) / (to->z - from->z) - slopes[0]);
    if (!add_curve(p, from, slopes)) return 0;
  }
  return 1;
}

/* Finds the slopes after the last node, for tracks that end downstream of the magnet. */
static void find_exit(const struct nodes *n, struct spectrometer_track *track) {
  const uint32_t last = n->count - 1;
  track->has_exit = n->at[last].z > last_station;
  for (enum spectrometer_axis axis = SPECTROMETER_X; axis < SPECTROMETER_AXES && track->has_exit; axis++)
    track->has_exit = find_slope(n, last, -1, axis, &track->exit_slope[axis]);
}

/* Kind of a true track; 0 if it has no hits downstream of the VELO. */
static int find_kind(const struct mc_particle *particle, enum spectrometer_kind *kind) {
  const uint32_t flags = particle->flags;
  if (flags & MC_IS_LONG)
    *kind = SPECTROMETER_TRUE_LONG;
  else if (flags & MC_IS_DOWN)
    *kind = SPECTROMETER_TRUE_DOWNSTREAM;
  else if (flags & MC_HAS_SCIFI)
    *kind = SPECTROMETER_TRUE_SCIFI;
  else if ((flags & MC_HAS_VELO) && (flags & MC_HAS_UT))
    *kind = SPECTROMETER_TRUE_UPSTREAM;
  else
    return 0;
  return 1;
}

int spectrometer_add_tracks(struct spectrometer *p, const struct mc_event *mc, uint32_t velo_mask) {
  struct nodes nodes;
  for (uint32_t i = 0; i < mc->particle_count; i++) {
    const struct mc_particle *particle = &mc->particles[i];
    struct spectrometer_track track = {
        .is_muon = mc_is_muon(particle), .pdg = particle->pdg, .p_mev = particle->p, .eta = particle->eta};
    float tx, ty;
    if (!find_kind(particle, &track.kind)) continue;
    mc_slopes(particle, &tx, &ty);
    find_nodes(p, mc, particle, velo_mask, ty, &nodes);
    if (nodes.count < 2) continue;
    find_exit(&nodes, &track);
    const int added = spectrometer_add_track(p, &track);
    if (added < 0 || (added && !add_line(p, &nodes, tx))) return 0;
  }
  return 1;
}

int spectrometer_add_found(struct spectrometer *p, const struct spectrometer_track *track,
                           const struct spectrometer_point *points, uint32_t count, float origin_slope) {
  struct nodes nodes = {.count = 0};
  for (uint32_t i = 0; i < count && i < NODES_MAX; i++) nodes.at[nodes.count++] = points[i];
  qsort(nodes.at, nodes.count, sizeof nodes.at[0], compare_points);
  const int added = spectrometer_add_track(p, track);
  return added < 0 ? 0 : !added || add_line(p, &nodes, origin_slope);
}
