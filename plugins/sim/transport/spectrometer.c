/* spectrometer.c: see spectrometer.h. Makes the nodes and starts the particles. */
#include "spectrometer.h"

#include "magnet.h"
#include "secondary.h"

#include <math.h>
#include <stdlib.h>

static const double begin_z = 770.0; /* end of the VELO */
static const double strong_field[] = {1400.0, 9500.0}, step_max = 190.0, step_max_outside = 1000.0;
static const float charged_p_min = 2.0f; /* MeV */
static const float photon_min = 10.0f;   /* MeV: softer photons are not followed */

/* --------------------------------------------------------------------------------------------- the nodes */

static void add_node(struct sim_spectrometer *s, double z, const struct sim_plane *plane) {
  struct sim_node *node = &s->nodes[s->node_count];
  const double before = s->node_count > 0 ? s->nodes[s->node_count - 1].end.z : z;
  sim_field_plane_make(0.5 * (before + z), &node->middle);
  sim_field_plane_make(z, &node->end);
  node->plane = plane;
  s->node_count++;
}

struct sim_spectrometer *sim_spectrometer_new(double polarity) {
  struct sim_spectrometer *s = (struct sim_spectrometer *)calloc(1, sizeof *s);
  if (!s) return NULL;
  s->polarity = polarity;
  add_node(s, begin_z, NULL);
  for (uint32_t i = 0; i < sim_plane_count; i++) {
    const double from = s->nodes[s->node_count - 1].end.z, path = sim_planes[i].z - from;
    const int is_strong = from >= strong_field[0] && from < strong_field[1];
    const int steps = (int)ceil(path / (is_strong ? step_max : step_max_outside));
    for (int k = 1; k < steps; k++) add_node(s, from + path * k / steps, NULL);
    add_node(s, sim_planes[i].z, &sim_planes[i]);
  }
  return s;
}

void sim_spectrometer_free(struct sim_spectrometer *s) {
  if (!s) return;
  free(s->flock.blocks.at);
  free(s->starts.at);
  free(s);
}

static uint32_t last_node(const struct sim_spectrometer *s) { return s->node_count - 1; }

/* The first node at or after z; node_count if there is none. */
static uint32_t node_at(const struct sim_spectrometer *s, double z) {
  uint32_t node = 0;
  while (node < s->node_count && s->nodes[node].end.z < z) node++;
  return node;
}

static int is_in_aperture(double x, double y, double z) {
  return fabs(x) < SIM_APERTURE_X_SLOPE * z + SIM_APERTURE_X_SHIFT &&
         fabs(y) < SIM_APERTURE_Y_SLOPE * z + SIM_APERTURE_Y_SHIFT;
}

static int is_in_pipe(double x, double y, double z) { return x * x + y * y < SIM_PIPE_SLOPE * SIM_PIPE_SLOPE * z * z; }

/* ------------------------------------------------------------------------------------------ start of tracks */

int sim_add_passage(struct sim_event *event, enum sim_detector detector, uint32_t layer, const struct sim_track *t) {
  struct sim_passage *p = SIM_APPEND(&event->passages[detector]);
  if (!p) return SL_ENOMEM;
  *p = (struct sim_passage){.particle = t->particle,
                            .layer = layer,
                            .x = (float)t->x,
                            .y = (float)t->y,
                            .z = (float)t->z,
                            .tx = (float)t->tx,
                            .ty = (float)t->ty,
                            .p = t->p,
                            .time_ns = t->time_ns};
  return SL_OK;
}

static void move_straight(struct sim_track *t, double z) {
  const double dz = z - t->z;
  t->x += t->tx * dz;
  t->y += t->ty * dz;
  t->time_ns += (float)(dz * sqrt(1 + t->tx * t->tx + t->ty * t->ty)) / SIM_MM_PER_NS;
  t->z = z;
}

static uint32_t kind_of(const struct sim_species *species) {
  uint32_t kind = species->is_hadron ? SIM_LANE_HADRON : 0;
  if (species == &sim_species[SIM_ELECTRON]) kind |= SIM_LANE_ELECTRON;
  if (species == &sim_species[SIM_MUON]) kind |= SIM_LANE_MUON;
  if (species->ctau_in_flight > 0.0f) kind |= SIM_LANE_UNSTABLE;
  return kind;
}

enum { NO_FLIGHTS = UINT32_MAX };

/* Start of a particle's random stream for flights; made for eight neighbouring particles together. */
static struct sim_random flight_of(struct sim_spectrometer *s, const struct sim_event *event, uint32_t particle) {
  const uint32_t lane = particle % SIM_RANDOM_LANES;
  if (s->first_flight != particle - lane) {
    const struct sim_random first = sim_event_random(event, SIM_FOR_FLIGHT, particle - lane);
    sim_random_begin_lanes(&first, s->flights);
    s->first_flight = particle - lane;
  }
  return s->flights[lane];
}

/* Starts a charged track at the node `b->node`, where it joins the others. */
static int start(struct sim_spectrometer *s, struct sim_event *event, struct sim_track *t, const struct sim_birth *b) {
  const struct sim_particle *particle = &event->particles.at[t->particle];
  if (t->p < charged_p_min || fabs(t->tx) > SIM_SLOPE_MAX || fabs(t->ty) > SIM_SLOPE_MAX) return SL_OK;
  if (!is_in_aperture(t->x, t->y, t->z) || b->node >= s->node_count) return SL_OK;
  t->charge = particle->charge * s->polarity;
  t->mass = particle->species->mass;
  t->kind = kind_of(particle->species);
  if (t->kind & SIM_LANE_UNSTABLE) {
    struct sim_random r = flight_of(s, event, t->particle);
    t->to_decay = particle->species->ctau_in_flight * sim_exponential(&r);
  }
  const double z = s->nodes[b->node].end.z;
  if (t->z < z) sim_track_advance(t, z, SIM_STEP_ALONE_MAX);
  if (is_in_pipe(t->x, t->y, z)) t->kind |= SIM_LANE_IN_PIPE;
  struct sim_start *new = SIM_APPEND(&s->starts);
  if (!new) return SL_ENOMEM;
  uint32_t *first = &s->first_start[b->is_after_material][b->node];
  *new = (struct sim_start){*t, *first};
  *first = s->starts.count - 1;
  return SL_OK;
}

/* Converts a photon to a pair at the node. */
static int convert(struct sim_spectrometer *s, struct sim_event *event, const struct sim_track *t, uint32_t node,
                   struct sim_random *r) {
  struct sim_interaction interaction = {.event = event,
                                        .random = r,
                                        .index = t->particle,
                                        .x = (float)t->x,
                                        .y = (float)t->y,
                                        .z = (float)t->z,
                                        .p = t->p};
  const struct sim_state state = {.tx = (float)t->tx, .ty = (float)t->ty, .direction = 1.0f};
  const struct sim_birth birth = {event->particles.count, node, 1, t->time_ns};
  sim_direction_of(&state, interaction.flight);
  const int status = sim_make_pair(&interaction);
  return status < 0 ? status : sim_spectrometer_add(s, event, &birth);
}

static void add_to_photon_path(struct sim_photon_path *path, uint32_t node, const struct sim_plane *plane) {
  const double z = plane->z, from = (double)plane->ring[0] * z, to = (double)plane->ring[1] * z;
  const uint32_t i = path->count++;
  const double ring_end = (double)plane->ring[1];
  const int is_ring = to > 0;
  path->node[i] = node;
  path->z[i] = z;
  path->pipe2[i] = SIM_PIPE_SLOPE * SIM_PIPE_SLOPE * z * z;
  path->from2[i] = is_ring ? from * from : -1;
  path->to2[i] = is_ring ? to * to : HUGE_VAL;
  path->material[i] = (double)plane->radiation_lengths;
  if (path->ring_end < ring_end) path->ring_end = ring_end;
  path->whole_planes += is_ring ? 0 : path->material[i];
}

static void find_photon_path(struct sim_spectrometer *s) {
  s->photon_path.count = 0;
  s->photon_path.whole_planes = s->photon_path.ring_end = 0;
  for (uint32_t i = 0; i < s->node_count; i++)
    if (s->nodes[i].plane && s->nodes[i].plane->radiation_lengths > 0.0f)
      add_to_photon_path(&s->photon_path, i, s->nodes[i].plane);
}

/* Fast test: is there too little material on the path for a pair? For the slopes as seen from the origin, an upper
 * limit of their difference to the photon's slopes is used: the distance of the photon's line from the origin over
 * z. */
static int is_conversion_excluded(const struct sim_photon_path *path, const struct sim_track *t, double to_pair) {
  const double beside_x = (t->x - t->tx * t->z) / t->z, beside_y = (t->y - t->ty * t->z) / t->z;
  const double slope = sqrt(t->tx * t->tx + t->ty * t->ty), beside = sqrt(beside_x * beside_x + beside_y * beside_y);
  const double margin = 1e-4;
  if (slope + beside < SIM_PIPE_SLOPE - margin) return 1;
  return slope - beside > path->ring_end + margin && to_pair > path->whole_planes + margin;
}

/* The node, from `first` on, at which the photon converts, or node_count. */
static uint32_t pair_node(const struct sim_spectrometer *s, const struct sim_track *t, uint32_t first, double to_pair) {
  const struct sim_photon_path *path = &s->photon_path;
  double material[SIM_NODES_MAX];
  if (is_conversion_excluded(path, t, to_pair)) return s->node_count;
  for (uint32_t i = 0; i < path->count; i++) {
    const double dz = path->z[i] - t->z, x = t->x + t->tx * dz, y = t->y + t->ty * dz, r2 = x * x + y * y;
    const int meets = (r2 >= path->pipe2[i]) & (r2 > path->from2[i]) & (r2 < path->to2[i]) & (path->node[i] >= first);
    material[i] = meets ? path->material[i] : 0;
  }
  for (uint32_t i = 0; i < path->count; i++) {
    to_pair -= material[i];
    if (to_pair <= 0) return path->node[i];
  }
  return s->node_count;
}

/* Follows a photon in a straight line to its conversion or to the ECAL. */
static int fly_photon(struct sim_spectrometer *s, struct sim_event *event, struct sim_track *t,
                      const struct sim_birth *b) {
  const double slant = sqrt(1 + t->tx * t->tx + t->ty * t->ty), end = s->nodes[last_node(s)].end.z;
  const double end_x = t->x + t->tx * (end - t->z), end_y = t->y + t->ty * (end - t->z);
  if (t->p < photon_min || !is_in_aperture(t->x, t->y, t->z)) return SL_OK;
  struct sim_random r = flight_of(s, event, t->particle);
  const uint32_t node =
      pair_node(s, t, b->node + b->is_after_material, 9.0 / 7.0 * (double)sim_exponential(&r) / slant);
  if (node < s->node_count) {
    move_straight(t, s->nodes[node].end.z);
    return is_in_aperture(t->x, t->y, t->z) ? convert(s, event, t, node, &r) : SL_OK;
  }
  if (t->z > end || !is_in_aperture(end_x, end_y, end)) return SL_OK; /* the aperture is a linear function of z */
  move_straight(t, end);
  return sim_add_passage(event, SIM_IN_ECAL, 0, t);
}

/* A neutral hadron that decays beyond the face of the ECAL leaves a passage there. */
static int fly_neutral(struct sim_spectrometer *s, struct sim_event *event, struct sim_track *t) {
  const struct sim_particle *p = &event->particles.at[t->particle];
  const double end = s->nodes[last_node(s)].end.z;
  const float flight = p->lifetime_ns * SIM_MM_PER_NS, lives_to = p->z + p->pz / p->species->mass * flight;
  if (p->pz <= 0.0f || (double)lives_to < end || t->z > end) return SL_OK;
  move_straight(t, end);
  return is_in_aperture(t->x, t->y, t->z) ? sim_add_passage(event, SIM_IN_ECAL, 0, t) : SL_OK;
}

static int is_photon(const struct sim_particle *p) { return p->species == &sim_species[SIM_PHOTON]; }

/* Starts one new particle at its origin. */
static int begin_made(struct sim_spectrometer *s, struct sim_event *event, uint32_t index, const struct sim_birth *b) {
  const struct sim_particle *p = &event->particles.at[index];
  if (sim_decays_at_once(p->species) || p->pz <= 0.0f) return SL_OK;
  struct sim_track t = {.x = (double)p->x,
                        .y = (double)p->y,
                        .z = (double)p->z,
                        .tx = (double)(p->px / p->pz),
                        .ty = (double)(p->py / p->pz),
                        .p = sim_momentum(p),
                        .time_ns = b->time_ns,
                        .particle = index};
  if (is_photon(p)) return fly_photon(s, event, &t, b);
  return p->charge != 0 ? start(s, event, &t, b) : SL_OK;
}

int sim_spectrometer_add(struct sim_spectrometer *s, struct sim_event *event, const struct sim_birth *b) {
  const uint32_t end = event->particles.count;
  int status = SL_OK;
  for (uint32_t i = b->first; i < end && status == SL_OK; i++) status = begin_made(s, event, i, b);
  return status;
}

/* Time since the collision at the speed of light. */
static float time_at(const struct sim_event *event, const struct sim_particle *p, const struct sim_state *at) {
  const struct sim_vertex *v = &event->vertices.at[p->vertex];
  const float dx = at->x - v->x, dy = at->y - v->y, dz = at->z - v->z;
  return sqrtf(dx * dx + dy * dy + dz * dz) / SIM_MM_PER_NS;
}

/* Starts a particle that left the VELO or was made downstream of it, or a neutral hadron. */
static int begin_at_end(struct sim_spectrometer *s, struct sim_event *event, uint32_t index) {
  const struct sim_particle *p = &event->particles.at[index];
  struct sim_track t = {.particle = index};
  if (p->charge == 0 && p->species->ctau > 0.0f) {
    const float pz = p->pz > 0.0f ? p->pz : 1.0f;
    t = (struct sim_track){.x = (double)p->x,
                           .y = (double)p->y,
                           .z = (double)p->z,
                           .tx = (double)(p->px / pz),
                           .ty = (double)(p->py / pz),
                           .p = sim_momentum(p),
                           .particle = index};
    return fly_neutral(s, event, &t);
  }
  if (!p->reached_end || p->end.direction < 0.0f) return SL_OK;
  t.x = (double)p->end.x;
  t.y = (double)p->end.y;
  t.z = (double)p->end.z;
  t.tx = (double)p->end.tx;
  t.ty = (double)p->end.ty;
  t.p = p->end_p;
  t.time_ns = time_at(event, p, &p->end);
  const struct sim_birth birth = {index, node_at(s, t.z), 0, t.time_ns};
  return is_photon(p) ? fly_photon(s, event, &t, &birth) : start(s, event, &t, &birth);
}

int sim_spectrometer_begin(struct sim_spectrometer *s, struct sim_event *event) {
  const uint32_t count = event->particles.count;
  int status = SL_OK;
  s->flock.count = s->starts.count = 0;
  s->first_flight = NO_FLIGHTS;
  find_photon_path(s);
  for (uint32_t i = 0; i < SIM_NODES_MAX; i++) s->first_start[0][i] = s->first_start[1][i] = SIM_NO_START;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) status = begin_at_end(s, event, i);
  return status;
}
