/* generator.c: proton-proton collisions, like minimum bias at 14 TeV, without conservation laws.
 * Each collision makes independent hadrons:
 * - number: a sum of two gamma distributions, the continuous limits of the negative binomials that describe charged
 *   multiplicities of soft and of hard collisions (Giovannini and Ugoccioni, PRD 59 (1999) 094020; ALICE, EPJ C 77
 *   (2017) 33); shares and shapes are those of the tracks of vertices in 300 events of full simulation;
 * - rapidity: plateau with soft edges, 1 / (1 + exp((|y| - y0) / w)), with y0 and w from dN/deta beyond |eta| = 3
 *   (TOTEM, EPJ C 74 (2014) 3053; LHCb, EPJ C 74 (2014) 2888);
 * - transverse momentum: Tsallis, (1 + (mT - m) / (nT))^-n with n = 6.6 (CMS, Phys. Rev. Lett. 105 (2010) 022002), T
 *   per species;
 * - species: ratios to pions of ALICE at 7 and 13 TeV (EPJ C 75 (2015) 226, EPJ C 81 (2021) 256, Nature Phys. 13 (2017)
 *   535).
 * Charm and beauty are added in pairs (flavours).
 * Collisions are distributed as a Gaussian luminous region. */
#include "generator.h"

#include <string.h>

static const float beam_sigma_xy = 0.027f, beam_sigma_z = 63.0f; /* mm */
static const float multiplicity_mean = 119.0f;
/* The two components of the multiplicity: soft and hard collisions. `mean`: relative to that of all. */
static const struct { float share, mean, shape; } components[] = {{0.60f, 0.50f, 4.0f}, {0.40f, 1.75f, 4.0f}};
static const float rapidity_edge = 5.3f, rapidity_width = 0.75f, rapidity_max = 7.5f;
static const float rapidity_seen = 6.2f; /* hadrons of larger |y| do not reach a sensor */
static const float tsallis_n = 6.6f;

/* Share of each species, and its T in MeV. The remainder are neutral particles that no detector here sees. */
static const struct {
  enum sim_species_id species;
  float share, temperature;
} mixture[] = {
    {SIM_PION, 0.500f, 125.0f},       {SIM_PION_0, 0.310f, 125.0f},      {SIM_KAON, 0.068f, 165.0f},
    {SIM_KAON_SHORT, 0.035f, 165.0f}, {SIM_PROTON, 0.044f, 185.0f},      {SIM_LAMBDA, 0.0175f, 195.0f},
    {SIM_SIGMA_PLUS, 0.003f, 195.0f}, {SIM_SIGMA_MINUS, 0.003f, 195.0f}, {SIM_XI_0, 0.0018f, 210.0f},
    {SIM_XI_MINUS, 0.0018f, 210.0f},  {SIM_OMEGA, 0.00015f, 230.0f},
};
enum { MIXTURE = sizeof mixture / sizeof mixture[0] };

/* Heavy flavour: pairs of hadrons with a charm or beauty quark, of opposite directions in azimuth apart from the spread
 * of a gluon splitting. `pairs`: mean number per visible collision, the cross section of pairs over the 72 mb of
 * visible collisions; 12.6 mb of charm, 0.61 mb of beauty. LHCb measured 2.4 mb of charm at 2 < y < 4.5 and 144 ub of
 * beauty at 2 < eta < 5 at 13 TeV (JHEP 03 (2016) 159; PRL 118 (2017) 052002); the step to 14 TeV adds 5 and 8 %. Charm
 * is 10 % more, within the error of the measurement: then the particles from charm are as many as in 300 events of full
 * simulation. The density of pt is pt / (1 + (pt / scale)^2)^3. */
struct flavour {
  float pairs, rapidity_edge, rapidity_width, scale;
  struct {
    enum sim_species_id species;
    float share;
  } hadrons[4];
};
static const struct flavour flavours[] = {
    /* The ratios of LHCb's cross sections (D0, D+, Ds), and of Lambda_c to D0 of ALICE (PRD 105 (2022) L011103). D0 and
     * D+ come from D* as well. */
    {0.175f, 4.6f, 0.8f, 3300.0f, {{SIM_D_0, 0.48f}, {SIM_D_PLUS, 0.20f}, {SIM_D_S, 0.09f}, {SIM_LAMBDA_C, 0.23f}}},
    /* f_s and f_Lambda_b over f_u + f_d: 0.122 and 0.259 (LHCb, PRD 100 (2019) 031102). */
    {0.0085f,
     3.6f,
     0.8f,
     6700.0f,
     {{SIM_B_0, 0.362f}, {SIM_B_PLUS, 0.362f}, {SIM_B_S, 0.088f}, {SIM_LAMBDA_B, 0.188f}}},
};
static const float pair_rapidity_spread = 1.2f, pair_azimuth_spread = 1.0f;

/* Signals: a particle in the acceptance of LHCb, with a spectrum as hard as FONLL (JHEP 05 (1998) 007): T in MeV. */
static const float signal_rapidity_min = 2.0f, signal_rapidity_max = 4.5f, signal_temperature = 1400.0f;

/* Jets: two partons of opposite pt above jet_pt_min with the density pt^-5, each in hadrons: their number is Poisson
 * with a mean that grows with ln pt, they share the momentum like exponential numbers, and have a normal momentum
 * across. */
static const float jet_pt_min = 15000.0f, jet_across = 350.0f, jet_hadrons_at_5_gev = 4.0f, jet_hadrons_per_ln = 4.2f;
enum { JET_HADRONS_MAX = 64 };

/* The storage cell of the gas target SMOG2: its ends, mm; the density falls from the middle to both. */
static const float cell_begin = -537.0f, cell_end = -337.0f;

/* Beam-gas: the same species, fewer, around the centre-of-mass rapidity of a 7 TeV proton and a proton at rest. */
static const float gas_rapidity = 4.8f, gas_rapidity_edge = 2.6f, gas_multiplicity = 24.0f, gas_z = 500.0f;

#define MU_(name, mu) mu,
const float sim_conditions_mu[SIM_CONDITIONS_COUNT] = {SIM_CONDITIONS(MU_)};

#define DECAY_(name, species, first_z, last_z, ...) {SIM_##species, first_z, last_z, {1.0f, {__VA_ARGS__}}},
const struct sim_signal_decay sim_signal_decays[SIM_SIGNAL_COUNT] = {{SIM_NOTHING, 0, 0, {0.0f, {0}}},
                                                                     SIM_SIGNALS(DECAY_)};

/* ------------------------------------------------------------------------------------------- kinematics */

/* Draws mT - m of density (x + m) (1 + x / (nT))^-n, a mixture of two beta prime distributions; each is a power of
 * uniform numbers. */
static float transverse_energy(struct sim_random *r, float mass, float temperature) {
  const float n = tsallis_n, scale = n * temperature;
  const float weight_x = scale / (n - 2.0f);
  const int of_x = sim_uniform(r) * (weight_x + mass) < weight_x;
  const float first = sl_expf(sim_exponential(r) / (n - 1.0f));
  const float second = of_x ? sl_expf(sim_exponential(r) / (n - 2.0f)) : 1.0f;
  return scale * (first * second - 1.0f);
}

/* Draws a rapidity from a plateau around 0 with soft edges. */
static float plateau(struct sim_random *r, float edge, float width) {
  for (;;) {
    const float y = sim_uniform_in(r, -rapidity_max, rapidity_max);
    const float size = sl_abs_f32(y);
    if (sim_uniform(r) * (1.0f + sl_expf((size - edge) / width)) < 1.0f) return y;
  }
}

/* Momentum along the beam for a transverse mass and a rapidity. */
static float along_beam(float transverse_mass, float rapidity) {
  const float grow = sl_expf(rapidity);
  return 0.5f * transverse_mass * (grow - 1.0f / grow);
}

/* Particle or antiparticle, with equal chances. */
static int32_t any_sign(const struct sim_species *species, struct sim_random *r) {
  return species->is_own_antiparticle || sim_uniform(r) < 0.5f ? 1 : -1;
}

/* A member of the mixture, or MIXTURE: one of the particles that no detector sees. */
static uint32_t choose_hadron(struct sim_random *r) {
  float choice = sim_uniform(r);
  uint32_t k = 0;
  while (k < MIXTURE && choice >= mixture[k].share) choice = choice - mixture[k++].share;
  return k;
}

static struct sim_particle *add_hadron(struct sim_event *event, struct sim_random *r, enum sim_species_id id,
                                       float temperature, float rapidity) {
  const struct sim_species *species = &sim_species[id];
  const float mt = transverse_energy(r, species->mass, temperature) + species->mass;
  const float pt = sqrtf(sl_max_f32(mt * mt - species->mass * species->mass, 0.0f));
  float sine, cosine;
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  return sim_event_add(event, species, any_sign(species, r), pt * cosine, pt * sine, along_beam(mt, rapidity));
}

/* ------------------------------------------------------------------------------------------- collisions */

static int add_hadrons(struct sim_event *event, struct sim_random *r, float mean, float centre, float edge) {
  const uint32_t component = sim_uniform(r) < components[0].share ? 0 : 1;
  const float shape = components[component].shape;
  const uint32_t count = sl_to_u32(mean * components[component].mean / shape * sim_gamma(r, shape) + 0.5f);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t k = choose_hadron(r);
    const float rapidity = centre + plateau(r, edge, rapidity_width);
    if (k == MIXTURE || sl_abs_f32(rapidity) > rapidity_seen) continue;
    if (!add_hadron(event, r, mixture[k].species, mixture[k].temperature, rapidity)) return SL_ENOMEM;
  }
  return SL_OK;
}

/* Adds a hadron of the flavour; its species is drawn by the shares. */
static struct sim_particle *add_flavoured(struct sim_event *event, struct sim_random *r, const struct flavour *f,
                                          float rapidity, float phi, int32_t sign) {
  const float pt = f->scale * sqrtf(1.0f / sqrtf(sim_uniform(r)) - 1.0f);
  float choice = sim_uniform(r), sine, cosine;
  uint32_t k = 0;
  while (k < 3 && choice >= f->hadrons[k].share) choice = choice - f->hadrons[k++].share;
  const struct sim_species *species = &sim_species[f->hadrons[k].species];
  const float mt = sqrtf(pt * pt + species->mass * species->mass);
  sl_sincosf(phi, &sine, &cosine);
  return sim_event_add(event, species, sign, pt * cosine, pt * sine, along_beam(mt, rapidity));
}

static int add_heavy_flavour(struct sim_event *event, struct sim_random *r) {
  for (uint32_t k = 0; k < sizeof flavours / sizeof flavours[0]; k++) {
    const struct flavour *f = &flavours[k];
    const uint32_t pairs = sim_poisson(r, f->pairs);
    for (uint32_t i = 0; i < pairs; i++) {
      const float rapidity = plateau(r, f->rapidity_edge, f->rapidity_width);
      const float other = rapidity + pair_rapidity_spread * sim_normal(r);
      const float phi = 6.28318531f * sim_uniform(r);
      const float opposite = phi + 3.14159265f + pair_azimuth_spread * sim_normal(r);
      if (sl_abs_f32(rapidity) < rapidity_seen && !add_flavoured(event, r, f, rapidity, phi, 1)) return SL_ENOMEM;
      if (sl_abs_f32(other) < rapidity_seen && !add_flavoured(event, r, f, other, opposite, -1)) return SL_ENOMEM;
    }
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- signals */

static int add_jet(struct sim_event *event, struct sim_random *r, float pt, float phi, float rapidity) {
  const float pz = along_beam(pt, rapidity);
  const float mean = jet_hadrons_at_5_gev + jet_hadrons_per_ln * sl_logf(pt / 5000.0f);
  const uint32_t drawn = 1 + sim_poisson(r, mean), count = drawn < JET_HADRONS_MAX ? drawn : JET_HADRONS_MAX;
  float shares[JET_HADRONS_MAX], sum = 0.0f, sine, cosine;
  sl_sincosf(phi, &sine, &cosine);
  for (uint32_t i = 0; i < count; i++) sum = sum + (shares[i] = sim_exponential(r));
  for (uint32_t i = 0; i < count; i++) {
    const float part = shares[i] / sum;
    uint32_t k = choose_hadron(r);
    while (k == MIXTURE) k = choose_hadron(r);
    const struct sim_species *species = &sim_species[mixture[k].species];
    const int32_t sign = any_sign(species, r);
    const float x = part * pt * cosine + jet_across * sim_normal(r), y = part * pt * sine + jet_across * sim_normal(r);
    struct sim_particle *p = sim_event_add(event, species, sign, x, y, part * pz + jet_across * sim_normal(r));
    if (!p) return SL_ENOMEM;
    p->flags |= SIM_FROM_SIGNAL;
  }
  return SL_OK;
}

static int add_jets(struct sim_event *event, struct sim_random *r) {
  const float pt = jet_pt_min / sqrtf(sqrtf(sim_uniform(r))), phi = 6.28318531f * sim_uniform(r);
  const float first = sim_uniform_in(r, signal_rapidity_min, signal_rapidity_max);
  const float second = sim_uniform_in(r, signal_rapidity_min, signal_rapidity_max);
  const int status = add_jet(event, r, pt, phi, first);
  return status < 0 ? status : add_jet(event, r, pt, phi + 3.14159265f, second);
}

/* Adds the signal, of a collision at z. */
static int add_signal(struct sim_event *event, enum sim_signal signal, float z) {
  struct sim_random r = sim_event_random(event, SIM_FOR_SIGNAL, 0);
  const struct sim_signal_decay *decay = &sim_signal_decays[signal];
  if (decay->species == SIM_NOTHING) return add_jets(event, &r);
  const float rapidity = sim_uniform_in(&r, signal_rapidity_min, signal_rapidity_max);
  struct sim_particle *p = add_hadron(event, &r, decay->species, signal_temperature, rapidity);
  if (!p) return SL_ENOMEM;
  p->flags |= SIM_FROM_SIGNAL;
  p->mode = &decay->mode;
  if (decay->last_z > decay->first_z) {
    const float path = sim_uniform_in(&r, decay->first_z, decay->last_z) - z;
    p->lifetime_ns = sl_max_f32(path, 1e-3f) * p->species->mass / p->pz / SIM_MM_PER_NS;
  }
  return SL_OK;
}

/* Sets the vertex as origin of the particles from `first` on. */
static void set_origin(struct sim_event *event, uint32_t first, uint32_t vertex) {
  struct sim_vertex *v = &event->vertices.at[vertex];
  for (uint32_t i = first; i < event->particles.count; i++) {
    struct sim_particle *p = &event->particles.at[i];
    p->x = v->x;
    p->y = v->y;
    p->z = v->z;
    p->vertex = (int32_t)vertex;
  }
  v->first = first;
  v->count = event->particles.count - first;
}

static int add_collision(struct sim_event *event, uint32_t index, enum sim_signal signal) {
  struct sim_random r = sim_event_random(event, SIM_FOR_COLLISION, index);
  struct sim_vertex *v = SIM_APPEND(&event->vertices);
  if (!v) return SL_ENOMEM;
  *v = (struct sim_vertex){.is_collision = 1};
  v->x = beam_sigma_xy * sim_normal(&r);
  v->y = beam_sigma_xy * sim_normal(&r);
  v->z = beam_sigma_z * sim_normal(&r);
  const uint32_t first = event->particles.count;
  if (signal != SIM_SIGNAL_none && add_signal(event, signal, v->z) < 0) return SL_ENOMEM;
  if (add_hadrons(event, &r, multiplicity_mean, 0.0f, rapidity_edge) < 0) return SL_ENOMEM;
  if (add_heavy_flavour(event, &r) < 0) return SL_ENOMEM;
  set_origin(event, first, event->vertices.count - 1);
  return SL_OK;
}

/* A collision of a beam with gas at z. */
static int add_gas_collision(struct sim_event *event, struct sim_random *r, float z, float centre,
                             enum sim_signal signal) {
  struct sim_vertex *v = SIM_APPEND(&event->vertices);
  if (!v) return SL_ENOMEM;
  *v = (struct sim_vertex){.z = z, .is_collision = 0};
  v->x = beam_sigma_xy * sim_normal(r);
  v->y = beam_sigma_xy * sim_normal(r);
  const uint32_t first = event->particles.count;
  if (signal != SIM_SIGNAL_none && add_signal(event, signal, z) < 0) return SL_ENOMEM;
  if (add_hadrons(event, r, gas_multiplicity, centre, gas_rapidity_edge) < 0) return SL_ENOMEM;
  set_origin(event, first, event->vertices.count - 1);
  return SL_OK;
}

/* Residual gas anywhere along the beam. */
static int add_beam_gas(struct sim_event *event) {
  struct sim_random r = sim_event_random(event, SIM_FOR_COLLISION, 0);
  const float z = sim_uniform_in(&r, -gas_z, gas_z);
  const float centre = event->crossing.type == SIM_BEAM_2 ? -gas_rapidity : gas_rapidity;
  return add_gas_collision(event, &r, z, centre, SIM_SIGNAL_none);
}

/* Gas in the storage cell. */
static int add_cell_gas(struct sim_event *event, float mu, enum sim_signal signal) {
  struct sim_random r = sim_event_random(event, SIM_FOR_GAS, 0);
  uint32_t count = sim_poisson(&r, mu);
  if (count == 0 && signal != SIM_SIGNAL_none) count = 1;
  int status = SL_OK;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) {
    const float place = 0.5f * (sim_uniform(&r) + sim_uniform(&r));
    status = add_gas_collision(event, &r, cell_begin + (cell_end - cell_begin) * place, gas_rapidity,
                               i == 0 ? signal : SIM_SIGNAL_none);
  }
  return status;
}

static int add_collisions(const struct sim_settings *s, struct sim_event *event, enum sim_signal signal) {
  struct sim_random r = sim_event_random(event, SIM_FOR_CROSSING, 1);
  uint32_t count = sim_poisson(&r, s->mu);
  if (count == 0 && signal != SIM_SIGNAL_none) count = 1;
  int status = SL_OK;
  for (uint32_t i = 0; i < count && status == SL_OK; i++)
    status = add_collision(event, i, i == 0 ? signal : SIM_SIGNAL_none);
  return status;
}

int sim_generate(const struct sim_settings *s, struct sim_event *event) {
  const struct sim_crossing *c = &event->crossing;
  const int is_crossing = c->type == SIM_BEAM_BEAM && !c->is_beam_gas;
  const enum sim_signal signal = is_crossing && !c->is_luminosity ? s->signal : SIM_SIGNAL_none;
  int status = SL_OK;
  if (c->is_beam_gas) status = add_beam_gas(event);
  if (is_crossing) status = add_collisions(s, event, s->signal_in_gas ? SIM_SIGNAL_none : signal);
  if (status == SL_OK && (c->type == SIM_BEAM_BEAM || c->type == SIM_BEAM_1))
    status = add_cell_gas(event, s->gas_mu, s->signal_in_gas ? signal : SIM_SIGNAL_none);
  for (uint32_t i = 0; i < event->particles.count && status == SL_OK; i++) status = sim_decay(event, i);
  return status;
}
