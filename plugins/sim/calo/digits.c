/* digits.c: see digits.h. For each passage at the ECAL:
 * - photon, electron: the energy, smeared by the resolution, is shared by the cell at the shower maximum and the cells
 *   around it, with a lateral profile;
 * - muon: energy of a minimum ionising particle in the cells along its path;
 * - hadron: minimum ionising until it interacts, if at all; its shower is wider, with a random visible fraction.
 * Background is added for what the simulation lacks (README.md): neutral hadrons, since collisions have no neutrons and
 * K_L; repeated particles at mirrored positions, since too few are made downstream of the VELO; and soft energy near
 * the beam.
 * Each cell then gets noise, pedestal and gain. Sums are in the order of passages. */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

/* Integrals of a profile b / (2 pi (r^2 + b^2)^1.5) over rectangles from its centre, in steps of 1 mm. */
enum { PROFILE_MM = 192 };
struct profile {
  float sum[PROFILE_MM + 1][PROFILE_MM + 1];
};
enum { NORMAL_VALUES = 4096 };
struct sim_ecal_tables {
  struct profile electromagnetic, hadronic;
  float normal[NORMAL_VALUES];          /* quantiles of the normal distribution */
  float leakage_correction[CALO_AREAS]; /* 1 / fraction of a photon in its cell and the eight around it */
  uint8_t is_inside[CALO_CELLS];        /* all eight cells around are in the same area */
};

/* The tower of lead and scintillator. */
static const float depth_mm = 430.0f, radiation_length = 17.2f, interaction_lengths = 1.1f, critical_energy = 10.0f;
static const float stochastic = 0.10f, constant = 0.01f;   /* of the resolution: 10 % / sqrt(E / GeV), 1 % */
static const float mip_energy = 290.0f, mip_width = 25.0f; /* MeV of photon energy, Moyal distribution */
static const float mip_loss = 220.0f;                      /* MeV of energy loss */
static const float hadron_seen_min = 0.20f, hadron_seen_max = 1.05f;
static const float hadron_core = 0.65f, hadron_core_mm = 9.0f, hadron_halo_mm = 45.0f; /* of the profiles */
static const float photon_core = 0.88f, photon_core_mm = 5.0f, photon_halo_mm = 22.0f;
static const float noise_adc = 1.17f;

/* Added background: per charged hadron; per photon or electron; per passage, around the beam. */
static const float neutral_share = 0.04f;
static const float photon_repeated = 0.40f, repeated_min = 0.1f, repeated_max = 1.3f;
static const float soft_count = 0.90f, soft_energy = 180.0f, soft_width = 940.0f, soft_height = 490.0f;
static const float gev = 1000.0f;

/* ------------------------------------------------------------------------------------------------ the tables */

/* Integral of the profile over [0, x] x [0, y], in closed form. */
static float quadrant(float x, float y, float b) {
  return sl_atan2f(x * y, b * sqrtf(b * b + x * x + y * y)) * 0.159154943f;
}

static void make_profile(struct profile *p, float core, float core_width, float halo_width) {
  for (int i = 0; i <= PROFILE_MM; i++)
    for (int j = 0; j <= PROFILE_MM; j++)
      p->sum[i][j] =
          core * quadrant((float)i, (float)j, core_width) + (1.0f - core) * quadrant((float)i, (float)j, halo_width);
}

/* A distance from the centre as index of the integrals, and its sign. */
struct edge {
  uint32_t index;
  float sign;
};

static struct edge edge_at(float distance) {
  const float size = sl_min_f32(sl_abs_f32(distance), (float)PROFILE_MM);
  return (struct edge){(uint32_t)(size + 0.5f), distance < 0.0f ? -1.0f : 1.0f};
}

/* Integral from the centre to a corner; negative if one coordinate of the corner is negative. */
static float corner(const struct profile *p, struct edge x, struct edge y) {
  return x.sign * y.sign * p->sum[x.index][y.index];
}

/* Tail of the normal distribution above x >= 0: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17. */
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

/* Mean over the positions in a cell of 1 / fraction collected. */
static float leakage_correction_of(const struct profile *p, float cell) {
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

/* A normal number from the 12 lowest bits of a random number. */
static float normal(const struct sim_ecal_tables *t, uint32_t bits) { return t->normal[bits & (NORMAL_VALUES - 1)]; }

static struct sim_ecal_tables *make_tables(const struct calo_description *d) {
  struct sim_ecal_tables *t = (struct sim_ecal_tables *)malloc(sizeof *t);
  if (!t) return NULL;
  make_profile(&t->electromagnetic, photon_core, photon_core_mm, photon_halo_mm);
  make_profile(&t->hadronic, hadron_core, hadron_core_mm, hadron_halo_mm);
  make_normal(t->normal);
  for (uint32_t i = 0; i < CALO_AREAS; i++)
    t->leakage_correction[i] = leakage_correction_of(&t->electromagnetic, d->areas[i].cell);
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
  float x, y, tx, ty; /* local position at the front, and slopes */
};

static void add(const struct shower *s, float x, float y, float energy) {
  struct calo_place at;
  const uint32_t cell = calo_description_cell_at(s->ecal, x, y, &at);
  if (cell != CALO_CELLS) s->digits->energy[cell] += energy;
}

/* Shares energy among the cell and the eight around it, in the inside of an area. */
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

/* Adds the share of one cell of any area. */
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
  const float seen = smeared(s, energy) * s->tables->leakage_correction[at.area];
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

/* `later`: shift of the shower maximum, in radiation lengths; a photon converts first. */
static void add_electromagnetic(struct shower *s, float energy, float later) {
  const float maximum = sl_max_f32(sl_logf(energy / critical_energy), 0.0f) + later;
  share(s, &s->tables->electromagnetic, maximum * radiation_length, energy);
}

/* Adds the energy of a minimum ionising particle over a part of the depth. */
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
  const float left = 1.0f - to_interaction; /* remaining depth for the shower */
  const float energy = kinetic * (hadron_seen_min + (hadron_seen_max - hadron_seen_min) * seen) * sqrtf(left);
  share(s, &s->tables->hadronic, (to_interaction + 0.3f * left) * depth_mm, energy);
}

/* Transforms to the local frame at the front. The tilt is so small that slopes do not change. */
static void to_local_frame(struct shower *s, float x, float y, float z) {
  const float *m = s->ecal->to_local;
  const float local_z = m[9] * y + m[10] * z + m[11], to_front = s->ecal->front_z - local_z;
  s->x = x + s->tx * to_front;
  s->y = m[5] * y + m[6] * z + m[7] + s->ty * to_front;
}

/* Adds a neutral hadron for a charged one: with its momentum at the origin, rotated around z. */
static void add_neutral(struct shower *s, const struct sim_particle *p, const struct sim_passage *passage) {
  if (p->pz <= 0.0f || sim_uniform(&s->random) > neutral_share * s->background) return;
  float sine, cosine;
  sl_sincosf(6.28318531f * sim_uniform(&s->random), &sine, &cosine);
  const float tx = p->px / p->pz, ty = p->py / p->pz;
  s->tx = cosine * tx - sine * ty;
  s->ty = sine * tx + cosine * ty;
  to_local_frame(s, s->tx * (passage->z - p->z), s->ty * (passage->z - p->z), passage->z);
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

/* Rounds `mean` randomly to one of its neighbouring integers. */
static uint32_t random_round(struct sim_random *r, float mean) { return sl_to_u32(mean + sim_uniform(r)); }

/* Adds soft energy, concentrated near the beam. */
static void add_soft(struct shower *s) {
  const uint32_t count = random_round(&s->random, soft_count * s->background);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t bits = sim_random_u32(&s->random);
    const float x = soft_width * normal(s->tables, bits), y = soft_height * normal(s->tables, bits >> 16);
    add(s, x, y, soft_energy * sim_exponential(&s->random));
  }
}

/* Repeats a particle, mirrored in x, y or both, with a random multiple of its momentum. */
static void add_repeated(struct shower *s, const struct sim_particle *p, const struct sim_passage *passage) {
  const uint32_t mirror = 1 + sim_random_u32(&s->random) % 3;
  const float sign_x = mirror & 1 ? -1.0f : 1.0f, sign_y = mirror & 2 ? -1.0f : 1.0f;
  s->tx = sign_x * passage->tx;
  s->ty = sign_y * passage->ty;
  to_local_frame(s, sign_x * passage->x, sign_y * passage->y, passage->z);
  add_particle(s, p, passage->p * sim_uniform_in(&s->random, repeated_min, repeated_max));
}

static void add_passage(struct shower *s, const struct sim_event *event, const struct sim_passage *passage) {
  const struct sim_particle *p = &event->particles.at[passage->particle];
  s->random = sim_event_random(event, SIM_FOR_ECAL, passage->particle);
  s->tx = passage->tx;
  s->ty = passage->ty;
  to_local_frame(s, passage->x, passage->y, passage->z);
  add_particle(s, p, passage->p);
  if (p->flags & SIM_FROM_SIGNAL || p->species == &sim_species[SIM_MUON]) return;
  if (p->species->is_hadron && p->charge != 0) add_neutral(s, p, passage);
  add_soft(s);
  if (p->species->is_hadron) return;
  const uint32_t repeated = random_round(&s->random, s->background * photon_repeated);
  for (uint32_t i = 0; i < repeated; i++) add_repeated(s, p, passage);
}

/* ------------------------------------------------------------------------------------------------ the readout */

enum { WORD_CELLS = 2, BLOCK_CELLS = 4 * WORD_CELLS, BLOCKS = (CALO_CELLS + BLOCK_CELLS - 1) / BLOCK_CELLS };

/* Noise of the cells from block `first` on, eight blocks; two cells per word, from the last word of a block. */
static void draw_noise(const struct sim_ecal_tables *t, const struct sim_random *begin, uint32_t first,
                       float noise[SIM_RANDOM_LANES * BLOCK_CELLS]) {
  uint32_t words[4][SIM_RANDOM_LANES];
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    words[0][l] = first + l;
    for (int i = 1; i < 4; i++) words[i][l] = begin->counter[i];
  }
  sl_philox_lanes(begin->key, words);
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
