/* velo.c: particles through the VELO, on straight lines from material to material; the VELO has no field.
 * A particle crosses the RF foil (a cylinder) once, then sensors, module by module in its direction of flight. Per
 * crossing:
 * - multiple scattering (Highland, PDG review "Passage of particles through matter");
 * - energy loss: minimum ionising over beta squared; electrons also radiate, with a spectrum of roughly 1/k;
 * - delta electrons above delta_energy_min, with the 1/T^2 spectrum;
 * - photon conversion (7/9 per radiation length);
 * - interactions of hadrons: elastic and quasi-elastic scattering, or fast hadrons and slow protons.
 * Pions and kaons decay in flight; the decay point is drawn from the momentum at the origin. New particles are
 * appended and followed later. The daughters of K_S and Lambda exist before; they are cancelled if the mother
 * interacts first. */
#include "velo.h"

#include "generator/generator.h"
#include "secondary.h"

static const float end_of_velo = 770.0f;
static const float radius_max = 72.0f;         /* mm, outer radius of the active area */
static const float material_max = 0.6f;        /* radiation lengths on any path out with a slope below 0.5 */
static const float ionisation = 38.0f;         /* MeV per radiation length of silicon, minimum ionising particle */
static const float momentum_min = 2.0f;        /* MeV; slower particles end */
static const float photon_min = 5.0f;          /* MeV; softer photons are not followed */
static const float delta_energy_min = 2.0f;    /* MeV; slower electrons stay in their pixels */
static const float delta_rate = 1.7f;          /* MeV per radiation length of silicon: 0.1535 Z/A times its 22 g/cm2 */
static const float interaction_p_min = 200.0f; /* MeV */
/* Hadrons that scatter on a nucleus as a whole, or on one of its nucleons without breaking up themselves: rates
 * relative to interactions that make hadrons; the momentum transfer q has the density exp(-slope q^2), with slopes in
 * 1/MeV^2 as measured for aluminium and for protons (Bellettini et al., Nucl. Phys. 79 (1966) 609). */
static const float elastic_rate = 0.5f, elastic_slope = 75e-6f, quasi_elastic_rate = 0.3f, quasi_elastic_slope = 10e-6f;
static const float neutral_ctau_min = 1.0f; /* mm: shorter-lived particles reach no material */

/* A particle in flight. */
struct flight {
  const struct velo_description *velo;
  const struct sim_sensor_lookup *lookup;
  struct sim_event *event;
  struct sim_random random;
  uint32_t index;
  struct sim_state at;
  float p, mass; /* MeV */
  float decay_z; /* z of the decay */
  int32_t charge;
  uint32_t is_hadron, is_electron, is_photon;
  float to_pair;      /* radiation lengths until conversion */
  float crossed;      /* radiation lengths of the current material */
  uint32_t is_inside; /* inside the foil until it leaves the VELO */
  uint32_t has_ended;
};

static void advance(struct flight *f, float z) {
  const float dz = z - f->at.z;
  f->at.x = f->at.x + f->at.tx * dz;
  f->at.y = f->at.y + f->at.ty * dz;
  f->at.z = z;
}

/* Moves to z, or decays before. */
static int fly(struct flight *f, float z) {
  const float ahead = (f->decay_z - f->at.z) * f->at.direction, rest = (z - f->decay_z) * f->at.direction;
  if (ahead <= 0.0f || rest <= 0.0f) {
    advance(f, z);
    return SL_OK;
  }
  advance(f, f->decay_z);
  f->has_ended = 1;
  return f->charge != 0 ? sim_flight_decay(f->event, f->index, &f->at, f->p) : SL_OK;
}

/* Start of a production at the current state. */
static struct sim_interaction interaction_of(struct flight *f) {
  struct sim_interaction m = {.event = f->event,
                              .random = &f->random,
                              .index = f->index,
                              .x = f->at.x,
                              .y = f->at.y,
                              .z = f->at.z,
                              .p = f->p,
                              .mass = f->mass};
  sim_direction_of(&f->at, m.flight);
  return m;
}

/* ------------------------------------------------------------------------------------------- in the material */

/* sqrt(t) (1 + 0.038 ln t) with the tangent of the logarithm at t = 2 %: better than 1 % from 1 % to 4 %. */
static float highland(float t) { return sqrtf(t) * (0.8134f + 1.9f * t); }

/* Radiated fraction of an electron's energy. Per radiation length, 4/3 ln(1/0.01) photons have more than 1 % of it. */
static float radiated_share(struct flight *f) {
  if (sim_uniform(&f->random) >= 6.1f * f->crossed) return 0.0f;
  return 0.01f * sl_expf(4.605f * sim_uniform(&f->random));
}

/* Small angles: covariance of slopes under scattering; larger angles: rotation of the direction. */
static void scatter_slopes(struct flight *f, float width) {
  const float a = width * sim_normal(&f->random), b = width * sim_normal(&f->random);
  struct sim_state *s = &f->at;
  const float square_x = 1.0f + s->tx * s->tx, square = square_x + s->ty * s->ty;
  if (width * width * square < 4e-4f) {
    const float root_x = sqrtf(square_x), root = sqrtf(square), tx = s->tx;
    s->tx = tx + a * root * root_x;
    s->ty = s->ty + root / root_x * (a * tx * s->ty + b * root);
    return;
  }
  float u[3];
  sim_direction_of(s, u);
  sim_turn(u, a, b);
  if (!sim_set_direction(s, u)) f->has_ended = 1;
}

/* A hadron scatters on a nucleus or a nucleon. */
static void scatter_on_nucleus(struct flight *f) {
  const float rate = elastic_rate + quasi_elastic_rate;
  const float slope = rate * sim_uniform(&f->random) < elastic_rate ? elastic_slope : quasi_elastic_slope;
  const float angle = sqrtf(sim_exponential(&f->random) / slope) / f->p;
  float sine, cosine, u[3];
  sl_sincosf(6.28318531f * sim_uniform(&f->random), &sine, &cosine);
  sim_direction_of(&f->at, u);
  sim_turn(u, angle * cosine, angle * sine);
  if (!sim_set_direction(&f->at, u)) f->has_ended = 1;
}

static void lose_energy(struct flight *f, float energy, float loss) {
  if (f->is_electron) energy = energy * (1.0f - radiated_share(f));
  energy = energy - loss;
  f->has_ended = energy <= f->mass;
  if (f->has_ended) return;
  f->p = sqrtf(energy * energy - f->mass * f->mass);
  f->has_ended = f->p < momentum_min;
}

/* Cancels the particle's decay and all its descendants. */
static void undo_decay(struct flight *f) {
  struct sim_particle *particles = f->event->particles.at;
  particles[f->index].lifetime_ns = 0.0f;
  for (uint32_t i = f->index + 1; i < f->event->particles.count; i++) {
    const int32_t mother = particles[i].mother;
    if (mother == (int32_t)f->index || (mother > (int32_t)f->index && (particles[mother].flags & SIM_IS_UNDONE)))
      particles[i].flags |= SIM_IS_UNDONE;
  }
}

static int cross_as_neutral(struct flight *f, float interaction_lengths) {
  f->has_ended = f->p > interaction_p_min && sim_uniform(&f->random) < interaction_lengths;
  if (!f->has_ended) return SL_OK;
  undo_decay(f);
  const struct sim_interaction interaction = interaction_of(f);
  return sim_make_hadrons(&interaction);
}

/* Crosses material of this thickness. */
static int cross(struct flight *f, float radiation_lengths, float interaction_lengths) {
  if (f->is_photon) {
    f->to_pair = f->to_pair - radiation_lengths;
    f->has_ended = f->to_pair < 0.0f;
    if (!f->has_ended) return SL_OK;
    const struct sim_interaction interaction = interaction_of(f);
    return sim_make_pair(&interaction);
  }
  if (f->charge == 0) return cross_as_neutral(f, interaction_lengths);
  f->crossed = radiation_lengths;
  const float energy = sqrtf(f->p * f->p + f->mass * f->mass), slowness = energy / f->p; /* 1 / beta */
  scatter_slopes(f, 13.6f * slowness / f->p * highland(radiation_lengths));
  if (!f->has_ended) lose_energy(f, energy, ionisation * radiation_lengths * slowness * slowness);
  if (f->has_ended) return SL_OK;
  const float choice = sim_uniform(&f->random);
  const float delta_chance = delta_rate / delta_energy_min * radiation_lengths * slowness * slowness;
  const float interacts = f->is_hadron && f->p > interaction_p_min ? interaction_lengths : 0.0f;
  const float scatters = interacts * (1.0f + elastic_rate + quasi_elastic_rate);
  if (choice >= scatters + delta_chance) return SL_OK;
  if (choice >= interacts && choice < scatters) {
    scatter_on_nucleus(f);
    return SL_OK;
  }
  const struct sim_interaction interaction = interaction_of(f);
  f->has_ended = choice < interacts;
  return f->has_ended ? sim_make_hadrons(&interaction) : sim_make_delta_electron(&interaction, delta_energy_min);
}

/* Flies to the foil and through it, if it is ahead. */
static int cross_foil(struct flight *f) {
  const struct velo_description *v = f->velo;
  const struct sim_state *s = &f->at;
  const float r2 = s->x * s->x + s->y * s->y, slope2 = s->tx * s->tx + s->ty * s->ty;
  f->is_inside = slope2 < 1e-8f;
  if (r2 >= v->foil_radius * v->foil_radius || f->is_inside) return SL_OK;
  const float across = s->x * s->tx + s->y * s->ty;
  const float root = sqrtf(sl_max_f32(across * across + slope2 * (v->foil_radius * v->foil_radius - r2), 0.0f));
  const float z = s->z + (s->direction * root - across) / slope2;
  if (z > end_of_velo || z < -end_of_velo) {
    f->is_inside = 1;
    return SL_OK;
  }
  const int status = fly(f, z);
  if (status < 0 || f->has_ended) return status;
  float path = v->foil_thickness * sqrtf(1.0f + slope2) / sqrtf(slope2);
  if (path > v->foil_longest) path = v->foil_longest;
  return cross(f, path / v->foil_radiation_length, path / v->foil_interaction_length);
}

/* ------------------------------------------------------------------------------------------------ sensors */

enum { ALL_SENSORS = (1 << VELO_MODULE_SENSORS) - 1 };
static const uint8_t order[VELO_MODULE_SENSORS] = SIM_LOOKUP_ORDER;

/* Intersections of the line with the planes of a module's sensors. */
struct meeting {
  float lx[VELO_MODULE_SENSORS], ly[VELO_MODULE_SENSORS];
};

/* Returns the set of sensors with an intersection in the active area, more than `ahead` in flight direction. */
static uint32_t meet(const struct flight *f, uint32_t module, float ahead, struct meeting *m) {
  const struct sim_module_planes *p = &f->lookup->planes[module];
  const float width = f->velo->column_edge[VELO_SENSOR_COLUMNS], height = VELO_SENSOR_ROWS * f->velo->pixel;
  uint32_t is_met[VELO_MODULE_SENSORS], set = 0;
  for (int k = 0; k < VELO_MODULE_SENSORS; k++) {
    const float dz = p->corner[2][k] - f->at.z;
    const float x = f->at.x + f->at.tx * dz - p->corner[0][k], y = f->at.y + f->at.ty * dz - p->corner[1][k];
    const float lx = p->x_axis[0][k] * x + p->x_axis[1][k] * y, ly = p->y_axis[0][k] * x + p->y_axis[1][k] * y;
    is_met[k] = (uint32_t)((lx >= 0.0f) & (lx < width) & (ly >= 0.0f) & (ly < height) & (f->at.direction * dz > ahead));
    m->lx[k] = lx;
    m->ly[k] = ly;
  }
  for (int k = 0; k < VELO_MODULE_SENSORS; k++) set |= is_met[k] << k;
  return set;
}

/* Crosses the sensor at index `k` of the order. */
static int cross_sensor(struct flight *f, uint32_t module, uint32_t k, const struct meeting *m) {
  const struct sim_module_planes *p = &f->lookup->planes[module];
  const struct sim_velo_hit hit = {.sensor = VELO_MODULE_SENSORS * module + order[k],
                                   .particle = f->index,
                                   .lx = m->lx[k],
                                   .ly = m->ly[k],
                                   .slope_x = p->x_axis[0][k] * f->at.tx + p->x_axis[1][k] * f->at.ty,
                                   .slope_y = p->y_axis[0][k] * f->at.tx + p->y_axis[1][k] * f->at.ty};
  const int status = fly(f, p->corner[2][k]);
  if (status < 0 || f->has_ended) return status;
  if (f->charge != 0) {
    struct sim_velo_hit *added = SIM_APPEND(&f->event->velo_hits);
    if (!added) return SL_ENOMEM;
    *added = hit;
  }
  const float slant = sqrtf(1.0f + f->at.tx * f->at.tx + f->at.ty * f->at.ty);
  return cross(f, f->velo->sensor_radiation * slant, f->velo->sensor_interaction * slant);
}

/* Sensors of a module that a line may cross, as a set. The line crosses the middle of the module at (x, y), less
 * than radius_max from the beam. */
static uint32_t sensors_near(const struct flight *f, uint32_t module, float x, float y) {
  const float turn = 1.0f - 2.0f * (float)(int32_t)(module % 2);
  if (sl_abs_f32(f->at.tx) + sl_abs_f32(f->at.ty) > SIM_LOOKUP_SLOPE) return 15;
  const int32_t i = (int32_t)((turn * x + SIM_LOOKUP_EXTENT) / SIM_LOOKUP_CELL);
  const int32_t j = (int32_t)((turn * y + SIM_LOOKUP_EXTENT) / SIM_LOOKUP_CELL);
  if (i < 0 || j < 0 || i >= SIM_LOOKUP_CELLS || j >= SIM_LOOKUP_CELLS) return 0;
  return f->lookup->sensors[j][i];
}

static void find_planes(const struct velo_description *v, struct sim_sensor_lookup *lookup) {
  for (uint32_t module = 0; module < VELO_MODULES; module++) {
    struct sim_module_planes *p = &lookup->planes[module];
    for (uint32_t k = 0; k < VELO_MODULE_SENSORS; k++) {
      const float *t = v->transform[VELO_MODULE_SENSORS * module + order[k]];
      for (int i = 0; i < 2; i++) {
        p->x_axis[i][k] = t[3 * i];
        p->y_axis[i][k] = t[3 * i + 1];
      }
      for (int i = 0; i < 3; i++) p->corner[i][k] = t[9 + i];
    }
  }
}

void sim_sensor_lookup_make(const struct velo_description *v, struct sim_sensor_lookup *lookup) {
  find_planes(v, lookup);
  const float margin = SIM_LOOKUP_CELL * 0.75f + 0.6f * SIM_LOOKUP_SLOPE; /* half a diagonal, and the change along z */
  const float width = v->column_edge[VELO_SENSOR_COLUMNS], height = VELO_SENSOR_ROWS * v->pixel;
  for (uint32_t j = 0; j < SIM_LOOKUP_CELLS; j++) {
    for (uint32_t i = 0; i < SIM_LOOKUP_CELLS; i++) {
      lookup->sensors[j][i] = 0;
      for (uint32_t k = 0; k < VELO_MODULE_SENSORS; k++) {
        const float *t = v->transform[order[k]];
        const float x = ((float)i + 0.5f) * SIM_LOOKUP_CELL - SIM_LOOKUP_EXTENT - t[9];
        const float y = ((float)j + 0.5f) * SIM_LOOKUP_CELL - SIM_LOOKUP_EXTENT - t[10];
        const float lx = t[0] * x + t[3] * y, ly = t[1] * x + t[4] * y;
        if (lx > -margin && lx < width + margin && ly > -margin && ly < height + margin)
          lookup->sensors[j][i] |= (uint8_t)(1u << k);
      }
    }
  }
}

/* Crosses the sensors of the set more than `ahead` in flight direction, in the order of their planes. */
static int cross_module(struct flight *f, uint32_t module, uint32_t set, float ahead) {
  const uint32_t first = f->at.direction > 0.0f ? 0 : 2;
  struct meeting m;
  uint32_t left = set, met = meet(f, module, ahead, &m) & set;
  for (uint32_t i = 0; met != 0; i++) {
    const uint32_t k = (first + i) % VELO_MODULE_SENSORS;
    left &= ~(1u << k);
    if (!(met >> k & 1)) continue;
    const int status = cross_sensor(f, module, k, &m);
    if (status < 0 || f->has_ended || left == 0) return status;
    met = meet(f, module, ahead, &m) & left;
  }
  return SL_OK;
}

/* Crosses the modules from the current position to the end of the detector. */
static int cross_modules(struct flight *f) {
  const float *z = f->velo->module_z;
  const int step = f->at.direction > 0.0f ? 1 : -1;
  const float from = f->at.z, margin = 1.0f, everywhere = 1e6f;
  int passed = 0;
  for (int k = 0; k < VELO_MODULES; k++) passed += (float)step * (z[k] - from) < -margin;
  int m = step > 0 ? passed : VELO_MODULES - 1 - passed;
  for (; m >= 0 && m < VELO_MODULES && !f->has_ended; m += step) {
    const float dz = z[m] - f->at.z, x = f->at.x + f->at.tx * dz, y = f->at.y + f->at.ty * dz;
    if (x * x + y * y > radius_max * radius_max) break;
    const uint32_t lookup = sensors_near(f, (uint32_t)m, x, y);
    if (lookup == 0) continue;
    const float margin_z = 0.7f; /* largest distance of a sensor from its module's middle */
    if ((float)step * dz < -margin_z) continue;
    const int is_inside = (float)step * dz < margin_z; /* made inside the module: only sensors ahead */
    const int status = is_inside ? cross_module(f, (uint32_t)m, ALL_SENSORS, 1e-3f)
                                 : cross_module(f, (uint32_t)m, lookup, -everywhere);
    if (status < 0) return status;
    if (!is_inside && f->at.direction * (float)step < 0.0f) break; /* scattered back */
  }
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------------- flights */

static int is_followed(const struct sim_particle *p) {
  const struct sim_species *s = p->species;
  if (p->flags & SIM_IS_UNDONE) return 0;
  if (p->charge == 0) return s == &sim_species[SIM_PHOTON] || s->ctau > neutral_ctau_min;
  return !sim_decays_at_once(s);
}

/* z of the decay; for neutral particles the origin of the daughters. */
static float decay_z_of(const struct sim_particle *p, struct sim_random *r) {
  const struct sim_species *s = p->species;
  const float never = 1e9f;
  if (s->ctau_in_flight > 0.0f && p->lifetime_ns == 0.0f)
    return p->z + p->pz / s->mass * (s->ctau_in_flight * sim_exponential(r));
  if (p->lifetime_ns > 0.0f) return p->z + p->pz / s->mass * (p->lifetime_ns * SIM_MM_PER_NS);
  return p->pz > 0.0f ? never : -never;
}

static int follow(const struct velo_description *velo, const struct sim_sensor_lookup *lookup, struct sim_event *event,
                  uint32_t index, const struct sim_random *random) {
  const struct sim_particle *p = &event->particles.at[index];
  struct flight f = {
      .velo = velo, .lookup = lookup, .event = event, .index = index, .mass = p->species->mass, .charge = p->charge};
  f.random = *random;
  f.is_hadron = p->species->is_hadron;
  f.is_electron = p->species == &sim_species[SIM_ELECTRON];
  f.is_photon = p->species == &sim_species[SIM_PHOTON];
  f.p = sim_momentum(p);
  f.decay_z = decay_z_of(p, &f.random);
  f.at = (struct sim_state){.x = p->x, .y = p->y, .z = p->z};
  if (f.p < momentum_min) return SL_OK;
  const float u[3] = {p->px / f.p, p->py / f.p, p->pz / f.p};
  if (!sim_set_direction(&f.at, u)) return SL_OK;
  int skips_material = 0, status = SL_OK;
  if (f.is_photon) { /* most photons cross all material without conversion and need not be followed */
    f.to_pair = 9.0f / 7.0f * sim_exponential(&f.random);
    if (f.p < photon_min) return SL_OK;
    skips_material = f.to_pair > material_max && f.at.tx * f.at.tx + f.at.ty * f.at.ty < 0.25f;
  }
  if (!skips_material) status = cross_foil(&f);
  if (!skips_material && status == SL_OK && !f.has_ended && !f.is_inside) status = cross_modules(&f);
  if (status == SL_OK && !f.has_ended && f.at.direction > 0.0f && f.at.z < end_of_velo) status = fly(&f, end_of_velo);
  if (status < 0 || f.has_ended || f.at.direction < 0.0f) return status;
  struct sim_particle *added = &event->particles.at[index]; /* may have moved */
  added->reached_end = 1;
  added->end = f.at;
  added->end_p = f.p;
  return SL_OK;
}

int sim_transport(const struct velo_description *velo, const struct sim_sensor_lookup *lookup,
                  struct sim_event *event) {
  struct sim_random streams[SIM_RANDOM_LANES];
  event->velo_hits.count = 0;
  for (uint32_t i = 0; i < event->particles.count; i++) {
    const uint32_t lane = i % SIM_RANDOM_LANES;
    const struct sim_random first = sim_event_random(event, SIM_FOR_TRANSPORT, i);
    if (lane == 0) sim_random_begin_lanes(&first, streams);
    if (!is_followed(&event->particles.at[i])) continue;
    const int status = follow(velo, lookup, event, i, &streams[lane]);
    if (status < 0) return status;
  }
  return SL_OK;
}
