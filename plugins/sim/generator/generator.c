/* generator.c: proton-proton collisions, like minimum bias at 14 TeV, without conservation laws.
 * Each collision makes independent hadrons:
 * - number: gamma distribution of shape 1.2, the continuous limit of the negative binomial that describes charged
 *   multiplicities from 0.2 to 13 TeV (UA5, Phys. Lett. B 160 (1985) 193; ALICE, Eur. Phys. J. C 77 (2017) 33);
 * - rapidity: plateau with soft edges, 1 / (1 + exp((|y| - y0) / w)), with y0 and w from dN/deta beyond |eta| = 3
 *   (TOTEM, EPJ C 74 (2014) 3053; LHCb, EPJ C 74 (2014) 2888);
 * - transverse momentum: Tsallis, (1 + (mT - m) / (nT))^-n with n = 6.6 (CMS, Phys. Rev. Lett. 105 (2010) 022002), T
 *   per species;
 * - species: ratios to pions of ALICE at 7 and 13 TeV (EPJ C 75 (2015) 226, EPJ C 81 (2021) 256).
 * Collisions are distributed as a Gaussian luminous region. */
#include "generator.h"

#include <string.h>

static const float beam_sigma_xy = 0.027f, beam_sigma_z = 63.0f; /* mm */
static const float multiplicity_mean = 122.0f, multiplicity_shape = 1.2f;
static const float rapidity_edge = 5.3f, rapidity_width = 0.75f, rapidity_max = 7.5f;
static const float rapidity_seen = 6.2f; /* hadrons of larger |y| do not reach a sensor */
static const float tsallis_n = 6.6f;

/* Share of each species, and its T in MeV. The remainder are neutral particles that no detector here sees. Some
 * Lambdas represent Sigma and Xi. */
static const struct {
  enum sim_species_id species;
  float share, temperature;
} mixture[] = {
    {SIM_PION, 0.500f, 125.0f},       {SIM_PION_0, 0.310f, 125.0f}, {SIM_KAON, 0.068f, 165.0f},
    {SIM_KAON_SHORT, 0.035f, 165.0f}, {SIM_PROTON, 0.044f, 185.0f}, {SIM_LAMBDA, 0.021f, 195.0f},
};
enum { MIXTURE = sizeof mixture / sizeof mixture[0] };

/* Heavy flavour: a hadron in the acceptance of LHCb, with a spectrum as hard as FONLL (JHEP 05 (1998) 007): T in
 * MeV. */
static const float signal_rapidity_min = 2.0f, signal_rapidity_max = 4.5f, signal_temperature = 1400.0f;

/* Beam-gas: the same species, fewer, around the centre-of-mass rapidity of a 7 TeV proton and a proton at rest. */
static const float gas_rapidity = 4.8f, gas_rapidity_edge = 2.6f, gas_multiplicity = 24.0f, gas_z = 500.0f;

#define SPECIES_(name, species) species,
const int32_t sim_signal_species[] = {SIM_SIGNALS(SPECIES_)};

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

static struct sim_particle *add_hadron(struct sim_event *event, struct sim_random *r, enum sim_species_id id,
                                       float temperature, float rapidity) {
  const struct sim_species *species = &sim_species[id];
  const float mt = transverse_energy(r, species->mass, temperature) + species->mass;
  const float pt = sqrtf(sl_max_f32(mt * mt - species->mass * species->mass, 0.0f));
  float sine, cosine;
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  const float grow = sl_expf(rapidity), pz = 0.5f * mt * (grow - 1.0f / grow);
  const int32_t sign = species->is_own_antiparticle || sim_uniform(r) < 0.5f ? 1 : -1;
  return sim_event_add(event, species, sign, pt * cosine, pt * sine, pz);
}

/* ------------------------------------------------------------------------------------------- collisions */

static int add_hadrons(struct sim_event *event, struct sim_random *r, float mean, float centre, float edge) {
  const uint32_t count = sl_to_u32(mean / multiplicity_shape * sim_gamma(r, multiplicity_shape) + 0.5f);
  for (uint32_t i = 0; i < count; i++) {
    float choice = sim_uniform(r);
    uint32_t k = 0;
    while (k < MIXTURE && choice >= mixture[k].share) choice = choice - mixture[k++].share;
    const float rapidity = centre + plateau(r, edge, rapidity_width);
    if (k == MIXTURE || sl_abs_f32(rapidity) > rapidity_seen) continue;
    if (!add_hadron(event, r, mixture[k].species, mixture[k].temperature, rapidity)) return SL_ENOMEM;
  }
  return SL_OK;
}

static int add_signal(struct sim_event *event, enum sim_species_id id) {
  struct sim_random r = sim_event_random(event, SIM_FOR_SIGNAL, 0);
  const float rapidity = sim_uniform_in(&r, signal_rapidity_min, signal_rapidity_max);
  struct sim_particle *p = add_hadron(event, &r, id, signal_temperature, rapidity);
  if (!p) return SL_ENOMEM;
  p->flags |= SIM_FROM_SIGNAL;
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

static int add_collision(struct sim_event *event, uint32_t index, int32_t signal) {
  struct sim_random r = sim_event_random(event, SIM_FOR_COLLISION, index);
  struct sim_vertex *v = SIM_APPEND(&event->vertices);
  if (!v) return SL_ENOMEM;
  *v = (struct sim_vertex){.is_collision = 1};
  v->x = beam_sigma_xy * sim_normal(&r);
  v->y = beam_sigma_xy * sim_normal(&r);
  v->z = beam_sigma_z * sim_normal(&r);
  const uint32_t first = event->particles.count;
  if (signal >= 0 && add_signal(event, (enum sim_species_id)signal) < 0) return SL_ENOMEM;
  if (add_hadrons(event, &r, multiplicity_mean, 0.0f, rapidity_edge) < 0) return SL_ENOMEM;
  set_origin(event, first, event->vertices.count - 1);
  return SL_OK;
}

static int add_beam_gas(struct sim_event *event) {
  struct sim_random r = sim_event_random(event, SIM_FOR_COLLISION, 0);
  struct sim_vertex *v = SIM_APPEND(&event->vertices);
  if (!v) return SL_ENOMEM;
  *v = (struct sim_vertex){.x = beam_sigma_xy * sim_normal(&r), .y = 0};
  v->y = beam_sigma_xy * sim_normal(&r);
  v->z = sim_uniform_in(&r, -gas_z, gas_z);
  const uint32_t first = event->particles.count;
  const float centre = event->crossing.type == SIM_BEAM_2 ? -gas_rapidity : gas_rapidity;
  if (add_hadrons(event, &r, gas_multiplicity, centre, gas_rapidity_edge) < 0) return SL_ENOMEM;
  set_origin(event, first, event->vertices.count - 1);
  return SL_OK;
}

int sim_generate(const struct sim_settings *s, struct sim_event *event) {
  const struct sim_crossing *c = &event->crossing;
  int status = SL_OK;
  if (c->is_beam_gas) {
    status = add_beam_gas(event);
  } else if (c->type == SIM_BEAM_BEAM) {
    struct sim_random r = sim_event_random(event, SIM_FOR_CROSSING, 1);
    const int32_t signal = c->is_luminosity ? -1 : s->signal;
    uint32_t count = sim_poisson(&r, s->mu);
    if (count == 0 && signal >= 0) count = 1;
    for (uint32_t i = 0; i < count && status == SL_OK; i++) status = add_collision(event, i, i == 0 ? signal : -1);
  }
  for (uint32_t i = 0; i < event->particles.count && status == SL_OK; i++) status = sim_decay(event, i);
  return status;
}
