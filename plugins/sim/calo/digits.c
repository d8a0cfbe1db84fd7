/* digits.c: see digits.h.
 *
 * A photon or electron showers: its energy, with the calorimeter's resolution, is shared among the cell that it hits
 * and those that touch it, by a lateral profile at the depth of the shower's maximum. A muon leaves the energy of a
 * minimum ionising particle in the cells along its way. So does a hadron until it interacts, if it does; its shower is
 * wider, and a random part of it is seen.
 *
 * What is missing is made up (README.md): some hadrons come a second time as neutral ones, since collisions here have
 * no neutrons and K_L; particles come again at another place, since too few are made behind the VELO; and each brings
 * soft energies, more of them close to the beam.
 *
 * Then each cell gets noise, the pedestal and its gain. All sums are in the order of the passages.
 */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

/* Sums of a profile b / (2 pi (r^2 + b^2)^1.5) over rectangles from its centre, in steps of 1 mm. */
enum { PROFILE_MM = 192 };
struct profile {
  float sum[PROFILE_MM + 1][PROFILE_MM + 1];
};
enum { NORMAL_VALUES = 4096 };
struct sim_ecal_tables {
  struct profile electromagnetic, hadronic;
  float normal[NORMAL_VALUES];   /* quantiles of a normal distribution */
  float whole[CALO_AREAS];       /* over what a photon's cell and the eight around it collect */
  uint8_t is_inside[CALO_CELLS]; /* the eight around a cell are of its area */
};

/* The tower of lead and scintillator. */
static const float depth_mm = 430.0f, radiation_length = 17.2f, interaction_lengths = 1.1f, critical_energy = 10.0f;
static const float stochastic = 0.10f, constant = 0.01f;   /* of the resolution: 10 % / sqrt(E / GeV), 1 % */
static const float mip_energy = 290.0f, mip_width = 25.0f; /* MeV of a photon's, Moyal's distribution */
static const float mip_loss = 220.0f;                      /* MeV that it really loses */
static const float hadron_seen_min = 0.10f, hadron_seen_max = 0.90f;
static const float hadron_core = 0.5f, hadron_core_mm = 9.0f, hadron_halo_mm = 45.0f; /* of the profiles */
static const float photon_core = 0.88f, photon_core_mm = 5.0f, photon_halo_mm = 22.0f;
static const float noise_adc = 1.17f;

/* What is made up, a charged hadron; a photon or electron, a hadron; a passage of any, around the beam. */
static const float neutral_share = 0.16f;
static const float photon_again = 0.9f, hadron_again = 0.20f, again_min = 0.1f, again_max = 1.3f;
static const float soft_count = 1.2f, soft_energy = 180.0f, soft_width = 650.0f, soft_height = 450.0f;
static const float gev = 1000.0f;

/* ------------------------------------------------------------------------------------------------ the tables */

/* The integral of the profile over [0, x] x [0, y], which has a closed form. */
static float quadrant(float x, float y, float b) {
  return sl_atan2f(x * y, b * sqrtf(b * b + x * x + y * y)) * 0.159154943f;
}

static void make_profile(struct profile *p, float core, float core_width, float halo_width) {
  for (int i = 0; i <= PROFILE_MM; i++)
    for (int j = 0; j <= PROFILE_MM; j++)
      p->sum[i][j] =
          core * quadrant((float)i, (float)j, core_width) + (1.0f - core) * quadrant((float)i, (float)j, halo_width);
}

/* A distance from the centre as an index of the sums, and the sign of its side. */
struct edge {
  uint32_t index;
  float sign;
};

static struct edge edge_at(float distance) {
  const float size = sl_min_f32(sl_abs_f32(distance), (float)PROFILE_MM);
  return (struct edge){(uint32_t)(size + 0.5f), distance < 0.0f ? -1.0f : 1.0f};
}

/* Integral from the centre to a corner; negative where that is on one side of the centre only. */
static float corner(const struct profile *p, struct edge x, struct edge y) {
  return x.sign * y.sign * p->sum[x.index][y.index];
}

/* The share of a normal distribution above x >= 0: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17.
 */
static float normal_tail(float x) {
  const float t = 1.0f / (1.0f + 0.2316419f * x);
  const float sum =
      t * (0.319381530f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  return 0.398942280f * sl_expf(-0.5f * x * x) * sum;
}

static void make_normal(float normal[NORMAL_VALUES]) {
  for (int i = 0; i < NORMAL_VALUES / 2; i++) {
    const float share = ((float)i + 0.5f) / NORMAL_VALUES;
    float low = 0.0f, high = 8.0f;
    for (int k = 0; k < 30; k++) {
      const float middle = 0.5f * (low + high);
      if (normal_tail(middle) > share)
        low = middle;
      else
        high = middle;
    }
    normal[i] = -0.5f * (low + high);
    normal[NORMAL_VALUES - 1 - i] = 0.5f * (low + high);
  }
}

/* On average over the cell. */
static float whole_over_collected(const struct profile *p, float cell) {
  enum { STEPS = 8 };
  float sum = 0.0f;
  for (int i = 0; i < STEPS; i++) {
    for (int j = 0; j < STEPS; j++) {
      const float x = ((float)i + 0.5f) / STEPS * cell, y = ((float)j + 0.5f) / STEPS * cell;
      const struct edge left = edge_at(-cell - x), right = edge_at(2.0f * cell - x);
      const struct edge low = edge_at(-cell - y), high = edge_at(2.0f * cell - y);
      sum = sum + corner(p, right, high) - corner(p, left, high) - corner(p, right, low) + corner(p, left, low);
    }
  }
  return STEPS * STEPS / sum;
}

static void find_inside(const struct calo_description *d, uint8_t *is_inside) {
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    const uint32_t area = calo_description_area_of(d, cell);
    uint32_t count = 0;
    for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) {
      const uint32_t other = d->neighbours[CALO_NEIGHBOURS * cell + k];
      count += other != CALO_NO_NEIGHBOUR && calo_description_area_of(d, other) == area;
    }
    is_inside[cell] = count == 8;
  }
}

/* By the 12 lowest bits of a random number. */
static float normal(const struct sim_ecal_tables *t, uint32_t bits) { return t->normal[bits & (NORMAL_VALUES - 1)]; }

static struct sim_ecal_tables *make_tables(const struct calo_description *d) {
  struct sim_ecal_tables *t = (struct sim_ecal_tables *)malloc(sizeof *t);
  if (!t) return NULL;
  make_profile(&t->electromagnetic, photon_core, photon_core_mm, photon_halo_mm);
  make_profile(&t->hadronic, hadron_core, hadron_core_mm, hadron_halo_mm);
  make_normal(t->normal);
  for (uint32_t i = 0; i < CALO_AREAS; i++) t->whole[i] = whole_over_collected(&t->electromagnetic, d->areas[i].cell);
  find_inside(d, t->is_inside);
  return t;
}

/* --------------------------------------------------------------------------------------------------- sharing */

struct shower {
  const struct calo_description *ecal;
  const struct sim_ecal_tables *tables;
  struct sim_ecal_digits *digits;
  struct sim_random random;
  float background;
  float x, y, tx, ty; /* local, at the front */
};

static void add(const struct shower *s, float x, float y, float energy) {
  struct calo_place at;
  const uint32_t cell = calo_description_cell_at(s->ecal, x, y, &at);
  if (cell != CALO_CELLS) s->digits->energy[cell] += energy;
}

/* Inside of an area: the cell and the eight around it. */
static void share_grid(const struct shower *s, const struct profile *p, const struct calo_place *at, float x, float y,
                       float energy) {
  const struct calo_area *a = &s->ecal->areas[at->area];
  float corners[4][4];
  for (uint32_t i = 0; i < 4; i++) {
    const struct edge edge_x = edge_at(((float)at->column - 1.0f + (float)i) * a->cell - a->half_x - x);
    for (uint32_t j = 0; j < 4; j++)
      corners[i][j] = corner(p, edge_x, edge_at(((float)at->row - 1.0f + (float)j) * a->cell - a->half_y - y));
  }
  for (uint32_t j = 0; j < 3; j++)
    for (uint32_t i = 0; i < 3; i++)
      s->digits->energy[a->cells[at->row + j - 1][at->column + i - 1]] +=
          energy * (corners[i + 1][j + 1] - corners[i][j + 1] - corners[i + 1][j] + corners[i][j]);
}

/* The share of one cell, of any area. */
static void share_cell(const struct shower *s, const struct profile *p, uint32_t cell, float x, float y, float energy) {
  const struct calo_description *d = s->ecal;
  const float half = 0.5f * d->areas[calo_description_area_of(d, cell)].cell;
  const float dx = d->local[2 * cell] - x, dy = d->local[2 * cell + 1] - y;
  const struct edge left = edge_at(dx - half), right = edge_at(dx + half), low = edge_at(dy - half),
                    high = edge_at(dy + half);
  s->digits->energy[cell] +=
      energy * (corner(p, right, high) - corner(p, left, high) - corner(p, right, low) + corner(p, left, low));
}

static float smeared(struct shower *s, float energy) {
  const float width = sqrtf(stochastic * stochastic * gev / energy + constant * constant);
  return sl_max_f32(energy * (1.0f + width * normal(s->tables, sim_random_u32(&s->random))), 0.0f);
}

static void share(struct shower *s, const struct profile *p, float depth, float energy) {
  const struct calo_description *d = s->ecal;
  const float x = s->x + s->tx * depth, y = s->y + s->ty * depth;
  struct calo_place at;
  const uint32_t cell = calo_description_cell_at(d, x, y, &at);
  if (cell == CALO_CELLS) return;
  const float seen = smeared(s, energy) * s->tables->whole[at.area];
  if (s->tables->is_inside[cell]) {
    share_grid(s, p, &at, x, y, seen);
    return;
  }
  const uint16_t *others = d->neighbours + CALO_NEIGHBOURS * cell;
  share_cell(s, p, cell, x, y, seen);
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++)
    share_cell(s, p, others[k], x, y, seen);
}

/* ----------------------------------------------------------------------------------------------- one particle */

/* `later`: a photon's shower begins after a pair. */
static void add_electromagnetic(struct shower *s, float energy, float later) {
  const float maximum = sl_max_f32(sl_logf(energy / critical_energy), 0.0f) + later;
  share(s, &s->tables->electromagnetic, maximum * radiation_length, energy);
}

/* Minimum ionising, over a part of the depth. */
static void add_track(struct shower *s, float part, float energy) {
  enum { PIECES = 4 };
  for (int i = 0; i < PIECES; i++) {
    const float depth = ((float)i + 0.5f) / PIECES * part * depth_mm;
    add(s, s->x + s->tx * depth, s->y + s->ty * depth, energy * part / PIECES);
  }
}

static float ionisation(struct sim_random *r) {
  const float z = sim_normal(r);
  return mip_energy - mip_width * sl_logf(z * z + 1e-6f);
}

static void add_hadron(struct shower *s, float kinetic, int is_charged) {
  const float to_interaction = sim_exponential(&s->random) / interaction_lengths, seen = sim_uniform(&s->random);
  const float part = sl_min_f32(to_interaction, 1.0f), range = sl_min_f32(kinetic / mip_loss, 1.0f);
  if (is_charged) add_track(s, sl_min_f32(part, range), ionisation(&s->random));
  if (to_interaction >= 1.0f || kinetic < mip_loss) return;
  const float left = 1.0f - to_interaction; /* of the depth, for the shower */
  const float energy = kinetic * (hadron_seen_min + (hadron_seen_max - hadron_seen_min) * seen) * sqrtf(left);
  share(s, &s->tables->hadronic, (to_interaction + 0.3f * left) * depth_mm, energy);
}

/* To the local frame, at the front: places and slopes. The tilt is so small that slopes stay. */
static void place(struct shower *s, float x, float y, float z) {
  const float *m = s->ecal->to_local;
  const float local_z = m[9] * y + m[10] * z + m[11], to_front = s->ecal->front_z - local_z;
  s->x = x + s->tx * to_front;
  s->y = m[5] * y + m[6] * z + m[7] + s->ty * to_front;
}

/* A neutral hadron instead of a charged one: with the momentum at its origin, turned around z. */
static void add_neutral(struct shower *s, const struct sim_particle *p, const struct sim_passage *passage) {
  if (p->pz <= 0.0f || sim_uniform(&s->random) > neutral_share * s->background) return;
  float sine, cosine;
  sl_sincosf(6.28318531f * sim_uniform(&s->random), &sine, &cosine);
  const float tx = p->px / p->pz, ty = p->py / p->pz;
  s->tx = cosine * tx - sine * ty;
  s->ty = sine * tx + cosine * ty;
  place(s, s->tx * (passage->z - p->z), s->ty * (passage->z - p->z), passage->z);
  const float mass = p->species->mass;
  add_hadron(s, sqrtf(passage->p * passage->p + mass * mass) - mass, 0);
}

static void add_particle(struct shower *s, const struct sim_particle *p, float momentum) {
  const float mass = p->species->mass, kinetic = sqrtf(momentum * momentum + mass * mass) - mass;
  if (p->species == &sim_species[SIM_PHOTON])
    add_electromagnetic(s, momentum, 0.5f);
  else if (p->species == &sim_species[SIM_ELECTRON])
    add_electromagnetic(s, momentum, -0.5f);
  else if (p->species == &sim_species[SIM_MUON])
    add_track(s, sl_min_f32(kinetic / mip_loss, 1.0f), ionisation(&s->random));
  else
    add_hadron(s, kinetic, p->charge != 0);
}

/* A whole number with this mean, next to it. */
static uint32_t times(struct sim_random *r, float mean) { return sl_to_u32(mean + sim_uniform(r)); }

/* Soft particles, more of them close to the beam. */
static void add_soft(struct shower *s) {
  const uint32_t count = times(&s->random, soft_count * s->background);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t bits = sim_random_u32(&s->random);
    const float x = soft_width * normal(s->tables, bits), y = soft_height * normal(s->tables, bits >> 16);
    add(s, x, y, soft_energy * sim_exponential(&s->random));
  }
}

/* Comes again, mirrored in x or y or both, at any energy around its own. */
static void add_again(struct shower *s, const struct sim_particle *p, const struct sim_passage *passage) {
  const uint32_t mirror = 1 + sim_random_u32(&s->random) % 3;
  const float sign_x = mirror & 1 ? -1.0f : 1.0f, sign_y = mirror & 2 ? -1.0f : 1.0f;
  s->tx = sign_x * passage->tx;
  s->ty = sign_y * passage->ty;
  place(s, sign_x * passage->x, sign_y * passage->y, passage->z);
  add_particle(s, p, passage->p * sim_uniform_in(&s->random, again_min, again_max));
}

static void add_passage(struct shower *s, const struct sim_event *event, const struct sim_passage *passage) {
  const struct sim_particle *p = &event->particles.at[passage->particle];
  s->random = sim_event_random(event, SIM_FOR_ECAL, passage->particle);
  s->tx = passage->tx;
  s->ty = passage->ty;
  place(s, passage->x, passage->y, passage->z);
  add_particle(s, p, passage->p);
  if (p->flags & SIM_FROM_SIGNAL || p->species == &sim_species[SIM_MUON]) return;
  if (p->species->is_hadron && p->charge != 0) add_neutral(s, p, passage);
  add_soft(s);
  const uint32_t again = times(&s->random, s->background * (p->species->is_hadron ? hadron_again : photon_again));
  for (uint32_t i = 0; i < again; i++) add_again(s, p, passage);
}

/* ------------------------------------------------------------------------------------------------ the readout */

enum { WORD_CELLS = 2, BLOCK_CELLS = 4 * WORD_CELLS, BLOCKS = (CALO_CELLS + BLOCK_CELLS - 1) / BLOCK_CELLS };

/* Of cells from block `first` on, as many as lanes have; two cells a word, from the last word of a block. */
static void draw_noise(const struct sim_ecal_tables *t, const struct sim_random *begin, uint32_t first,
                       float noise[SIM_RANDOM_LANES * BLOCK_CELLS]) {
  uint32_t words[4][SIM_RANDOM_LANES];
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    words[0][l] = first + l;
    for (int i = 1; i < 4; i++) words[i][l] = begin->counter[i];
  }
  sim_philox_lanes(begin->key, words);
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++)
    for (uint32_t k = 0; k < BLOCK_CELLS; k++)
      noise[BLOCK_CELLS * l + k] = noise_adc * normal(t, words[3 - k / WORD_CELLS][l] >> 16 * (k % WORD_CELLS));
}

static void read_out(const struct calo_description *d, const struct sim_event *event, struct sim_ecal_digits *digits) {
  const struct sim_random begin = sim_event_random(event, SIM_FOR_ECAL_NOISE, 0);
  const float low = (float)SIM_ECAL_ADC_MIN, high = (float)SIM_ECAL_ADC_MAX, pedestal = d->pedestal;
  for (uint32_t block = 0; block < BLOCKS; block += SIM_RANDOM_LANES) {
    const uint32_t first = block * BLOCK_CELLS, most = SIM_RANDOM_LANES * BLOCK_CELLS;
    const uint32_t count = CALO_CELLS - first < most ? CALO_CELLS - first : most;
    float noise[SIM_RANDOM_LANES * BLOCK_CELLS];
    draw_noise(digits->tables, &begin, block, noise);
    for (uint32_t k = 0; k < count; k++) {
      const float counts = digits->energy[first + k] / d->gain[first + k] + pedestal + noise[k];
      const float in_range = sl_clamp_f32(counts, low, high);
      digits->adc[first + k] = (int16_t)((int32_t)(in_range - low + 0.5f) + SIM_ECAL_ADC_MIN);
    }
  }
}

int sim_ecal_digitise(const struct calo_description *ecal, const struct sim_settings *settings, struct sim_event *event,
                      struct sim_ecal_digits *digits) {
  if (!digits->tables) digits->tables = make_tables(ecal);
  if (!digits->tables) return SL_ENOMEM;
  memset(digits->energy, 0, sizeof digits->energy);
  struct shower s = {.ecal = ecal, .tables = digits->tables, .digits = digits, .background = settings->calo_background};
  for (uint32_t i = 0; i < event->passages[SIM_IN_ECAL].count; i++)
    add_passage(&s, event, &event->passages[SIM_IN_ECAL].at[i]);
  read_out(ecal, event, digits);
  return SL_OK;
}

void sim_ecal_digits_free(struct sim_ecal_digits *digits) {
  free(digits->tables);
  digits->tables = NULL;
}
