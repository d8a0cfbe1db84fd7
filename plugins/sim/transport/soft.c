/* soft.c: soft particles in the UT and SciFi that are sampled instead of followed.
 * They are electrons of a few MeV that curl up in a station, particles that turn round in the magnet or fly back from
 * supports and calorimeters, and protons knocked out by neutrons. For each kind:
 *   1. Draw the number: Poisson, with a mean proportional to the passages of other particles in a detector.
 *   2. Draw one of these passages at random; its particle becomes the mother.
 *   3. Start near the passage and continue in a straight line from layer to layer, with a given chance per layer.
 * Rates and ranges are those of full simulation, less the particles that are followed (README.md, "Soft particles"). */
#include "soft.h"

enum { LAYERS_MAX = 12 };

/* First layer: any with equal chance, or the first or last layer. */
enum first_layer { IN_ANY, AT_FIRST, AT_LAST };

struct soft_kind {
  enum sim_detector detector;
  enum sim_detector from; /* the number is proportional to the passages there */
  enum sim_species_id species;
  enum first_layer first;
  float mean_per_passage; /* mean number per passage */
  struct {
    float backward;  /* fraction that flies towards the VELO */
    float origin;    /* mm: largest distance from the origin to the first layer */
    float leaves;    /* chance to reach the second layer */
    float continues; /* chance to reach each further layer */
    float bridges;   /* chance to reach a layer that is more than 100 mm away */
    float again;     /* chance to cross a layer again, after each crossing */
  } path;
  struct {
    float x, y;     /* mm: mean distance from the mother's passage */
    float anywhere; /* fraction that is uniform over the detector instead */
    float slope;    /* mean tangent of the angle to z */
  } offset;
  struct {
    float least, rise, most; /* MeV: least exp(rise e), with e exponential, at most `most` */
  } momentum;
};

#define KIND(detector, from, species, first, ...) \
  { SIM_IN_##detector, SIM_IN_##from, SIM_##species, first, __VA_ARGS__ }
static const struct soft_kind kinds[] = {
    /* Curling up in the UT. */
    KIND(UT, UT, ELECTRON, IN_ANY, 0.0108f, {0.2f, 3, 0.5f, 0.6f, 0.6f, 0.69f}, {20, 20, 0.05f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* From the UT box. */
    KIND(UT, UT, ELECTRON, AT_FIRST, 0.0075f, {0, 100, 0.6f, 0.7f, 0.5f, 0.58f}, {20, 20, 0.05f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* Turned round in the magnet. */
    KIND(UT, UT, ELECTRON, AT_LAST, 0.0265f, {1, 500, 0.87f, 0.84f, 0.65f, 0.43f}, {350, 60, 0, 0.3f}, {20, 1.4f, 800}),
    /* Knocked out in the UT. */
    KIND(UT, UT, PROTON, IN_ANY, 0.0140f, {0.2f, 3, 0.78f, 0.9f, 0.85f, 0.12f}, {20, 20, 0.05f, 0.9f},
         {180, 0.9f, 4000}),
    /* Back from the supports of the beam pipe in the magnet. */
    KIND(UT, UT, PROTON, AT_LAST, 0.0043f, {1, 500, 0.9f, 0.9f, 0.8f, 0}, {200, 150, 0, 0.9f}, {150, 0.6f, 1500}),
    /* Curling up in the SciFi. */
    KIND(SCIFI, SCIFI, ELECTRON, IN_ANY, 0.0380f, {0.45f, 3, 0.46f, 0.84f, 0.08f, 0.44f}, {200, 150, 0.15f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* From the last supports in the magnet. */
    KIND(SCIFI, SCIFI, ELECTRON, AT_FIRST, 0.0014f, {0, 600, 0.9f, 0.9f, 0.1f, 0.6f}, {200, 150, 0, 0.58f},
         {20, 1.5f, 800}),
    /* From the magnet, curling up in the first station. */
    KIND(SCIFI, SCIFI, ELECTRON, AT_FIRST, 0.0042f, {0, 600, 0.6f, 0.7f, 0.03f, 0.4f}, {300, 200, 0.15f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* Knocked out in the SciFi. */
    KIND(SCIFI, SCIFI, PROTON, IN_ANY, 0.0120f, {0.42f, 3, 0.75f, 0.9f, 0.6f, 0.1f}, {50, 50, 0.15f, 0.7f},
         {180, 0.9f, 4000}),
    /* Back from RICH2 and the calorimeters (this and the next). */
    KIND(SCIFI, ECAL, ELECTRON, AT_LAST, 0.0095f, {1, 3000, 0.55f, 0.7f, 0.5f, 0.15f}, {200, 200, 0.2f, 0.6f},
         {4, 1.5f, 200}),
    KIND(SCIFI, ECAL, PROTON, AT_LAST, 0.0055f, {1, 3000, 0.8f, 0.9f, 0.5f, 0}, {200, 200, 0.2f, 0.6f},
         {170, 0.7f, 1500}),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const float half_width[SIM_DETECTORS] = {800.0f, 2900.0f}, half_height[SIM_DETECTORS] = {670.0f, 2417.0f};
static const float far_away = 100.0f, outside = 100.0f, curl_x = 220.0f, curl_y = 80.0f, slope_max = 3.0f; /* mm */

struct layers {
  uint32_t count;
  float z[LAYERS_MAX];
};

static void find_layers(enum sim_detector detector, struct layers *layers) {
  layers->count = 0;
  for (uint32_t i = 0; i < sim_plane_count; i++)
    if (sim_planes[i].detector == detector) layers->z[layers->count++] = (float)sim_planes[i].z;
}

/* Draws a two-sided exponential of mean absolute value `size`. */
static float shift(struct sim_random *r, float size) {
  const float u = sim_uniform_in(r, -1.0f, 1.0f), far = -size * sl_logf(sl_max_f32(sl_abs_f32(u), 1e-6f));
  return u < 0.0f ? -far : far;
}

/* Draws the passage through the first layer. */
static struct sim_passage begin(const struct soft_kind *k, const struct layers *layers,
                                const struct sim_passage *mother, struct sim_random *r) {
  struct sim_passage p = *mother;
  float sine, cosine;
  p.layer = k->first == AT_FIRST ? 0 : k->first == AT_LAST ? layers->count - 1 : sim_random_u32(r) % layers->count;
  p.z = layers->z[p.layer];
  p.x = mother->x + mother->tx * (p.z - mother->z) + shift(r, k->offset.x);
  p.y = mother->y + mother->ty * (p.z - mother->z) + shift(r, k->offset.y);
  if (sim_uniform(r) < k->offset.anywhere) {
    p.x = half_width[k->detector] * sim_uniform_in(r, -1.0f, 1.0f);
    p.y = half_height[k->detector] * sim_uniform_in(r, -1.0f, 1.0f);
  }
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  const float slope = sl_min_f32(k->offset.slope * sim_exponential(r), slope_max);
  p.tx = slope * cosine;
  p.ty = slope * sine;
  p.p = sl_min_f32(k->momentum.least * sl_expf(k->momentum.rise * sim_exponential(r)), k->momentum.most);
  p.time_ns = mother->time_ns + sl_abs_f32(p.z - mother->z) / SIM_MM_PER_NS;
  return p;
}

static void move(struct sim_passage *p, float z) {
  const float dz = z - p->z;
  p->x = p->x + p->tx * dz;
  p->y = p->y + p->ty * dz;
  p->time_ns = p->time_ns + sl_abs_f32(dz) * sqrtf(1.0f + p->tx * p->tx + p->ty * p->ty) / SIM_MM_PER_NS;
  p->z = z;
}

static int add_passage(struct sim_event *event, enum sim_detector detector, const struct sim_passage *p) {
  struct sim_passage *added = SIM_APPEND(&event->passages[detector]);
  if (!added) return SL_ENOMEM;
  *added = *p;
  return SL_OK;
}

/* Adds the passages through a layer: the field may bend the particle round to cross the layer again from the other
 * side. */
static int pass_layer(struct sim_event *event, const struct soft_kind *k, struct sim_passage *p, struct sim_random *r) {
  int status = add_passage(event, k->detector, p);
  while (status == SL_OK && sim_uniform(r) < k->path.again) {
    p->x = p->x + shift(r, curl_x);
    p->y = p->y + shift(r, curl_y);
    p->tx = -p->tx;
    p->ty = -p->ty;
    status = add_passage(event, k->detector, p);
  }
  return status;
}

/* Adds the particle, with its origin upstream or downstream of its first passage. */
static int make(struct sim_event *event, const struct soft_kind *k, const struct sim_passage *first, float direction,
                struct sim_random *r) {
  const float distance = (k->first == IN_ANY ? 0.0f : outside) + k->path.origin * sim_uniform(r);
  const float along = direction * first->p / sqrtf(1.0f + first->tx * first->tx + first->ty * first->ty);
  struct sim_passage origin = *first;
  move(&origin, first->z - direction * distance);
  const int32_t vertex = event->particles.at[first->particle].vertex;
  struct sim_particle *new =
      sim_event_add(event, &sim_species[k->species], 1, first->tx * along, first->ty * along, along);
  if (!new) return SL_ENOMEM;
  new->mother = (int32_t)first->particle;
  new->vertex = vertex;
  new->flags = SIM_IS_SECONDARY;
  new->x = origin.x;
  new->y = origin.y;
  new->z = origin.z;
  return SL_OK;
}

static int fly(struct sim_event *event, const struct soft_kind *k, const struct layers *layers,
               const struct sim_passage *mother, struct sim_random *r) {
  struct sim_passage p = begin(k, layers, mother, r);
  const int32_t step = sim_uniform(r) < k->path.backward ? -1 : 1;
  int status = make(event, k, &p, (float)step, r);
  p.particle = event->particles.count - 1;
  float chance = k->path.leaves;
  for (int32_t next = (int32_t)p.layer + step; status == SL_OK; next += step, chance = k->path.continues) {
    status = pass_layer(event, k, &p, r);
    if (status < 0 || next < 0 || next >= (int32_t)layers->count) return status;
    const float z = layers->z[next];
    if (sim_uniform(r) >= (sl_abs_f32(z - p.z) > far_away ? k->path.bridges : chance)) return SL_OK;
    move(&p, z);
    p.layer = (uint32_t)next;
  }
  return status;
}

int sim_soft(struct sim_event *event) {
  uint32_t passages[SIM_DETECTORS];
  for (int d = 0; d < SIM_DETECTORS; d++) passages[d] = event->passages[d].count;
  for (uint32_t i = 0; i < KINDS; i++) {
    const struct soft_kind *k = &kinds[i];
    struct sim_random r = sim_event_random(event, SIM_FOR_SOFT, i);
    struct layers layers;
    find_layers(k->detector, &layers);
    const uint32_t mothers = passages[k->from], count = sim_poisson(&r, k->mean_per_passage * (float)(int32_t)mothers);
    for (uint32_t n = 0; n < count; n++) {
      const struct sim_passage mother = event->passages[k->from].at[sim_random_u32(&r) % mothers];
      if (fly(event, k, &layers, &mother, &r) < 0) return SL_ENOMEM;
    }
  }
  return SL_OK;
}
