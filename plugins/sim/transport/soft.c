/* soft.c: soft particles in the UT and SciFi whose ways are not followed step by step.
 *
 * Electrons of a few MeV curl up in a station; others turn round in the magnet, or fly back out of supports and
 * calorimeters; neutrons knock out protons. Following them costs much for little. So they are drawn: as many of each
 * kind as its share of the passages that others have, each beside one of these, whose particle is taken for its mother,
 * and then from layer to layer in a line. How many there are, how far they come and how often they meet a layer are
 * those of full simulation, less what is followed (README.md, "Soft particles").
 */
#include "soft.h"

enum { LAYERS_MAX = 12 };

/* Which layer is met first: each as often, or the one at an end. */
enum first_layer { IN_ANY, AT_FIRST, AT_LAST };

struct soft_kind {
  enum sim_detector detector;
  enum sim_detector from; /* it grows with the passages there */
  enum sim_species_id species;
  enum first_layer first;
  float a_passage; /* how many, for each of those */
  struct {
    float backward; /* share that flies back */
    float origin;   /* mm, at most: how far before the first layer it was made */
    float leaves;   /* chance to come from the first layer to the next */
    float goes_on;  /* likewise from each further layer */
    float bridges;  /* likewise where the next layer is more than 100 mm away */
    float again;    /* chance to come through a layer once more, after each time */
  } way;
  struct {
    float x, y;     /* mm: mean distance from its mother */
    float anywhere; /* share that is evenly spread over the detector instead */
    float slope;    /* mean tangent of the angle to z */
  } beside;
  struct {
    float least, rise, most; /* MeV: least exp(rise e), with e exponential, up to most */
  } momentum;
};

#define KIND(detector, from, species, first, ...) \
  { SIM_IN_##detector, SIM_IN_##from, SIM_##species, first, __VA_ARGS__ }
static const struct soft_kind kinds[] = {
    /* Curls up in the UT. */
    KIND(UT, UT, ELECTRON, IN_ANY, 0.0108f, {0.2f, 3, 0.5f, 0.6f, 0.6f, 0.63f}, {20, 20, 0.05f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* Out of its box. */
    KIND(UT, UT, ELECTRON, AT_FIRST, 0.0075f, {0, 100, 0.6f, 0.7f, 0.5f, 0.5f}, {20, 20, 0.05f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* Turned round in the magnet. */
    KIND(UT, UT, ELECTRON, AT_LAST, 0.0265f, {1, 500, 0.87f, 0.84f, 0.65f, 0.31f}, {350, 60, 0, 0.3f}, {20, 1.4f, 800}),
    /* Knocked out in the UT. */
    KIND(UT, UT, PROTON, IN_ANY, 0.0140f, {0.15f, 3, 0.65f, 0.8f, 0.8f, 0}, {20, 20, 0.05f, 0.9f}, {180, 0.9f, 4000}),
    /* Back from the supports of the pipe in the magnet. */
    KIND(UT, UT, PROTON, AT_LAST, 0.0043f, {1, 500, 0.9f, 0.9f, 0.8f, 0}, {200, 150, 0, 0.9f}, {150, 0.6f, 1500}),
    /* Curls up in the SciFi. */
    KIND(SCIFI, SCIFI, ELECTRON, IN_ANY, 0.0405f, {0.14f, 3, 0.46f, 0.9f, 0.1f, 0.44f}, {200, 150, 0.15f, 0.58f},
         {1.8f, 1.9f, 2000}),
    /* From the last supports in the magnet. */
    KIND(SCIFI, SCIFI, ELECTRON, AT_FIRST, 0.0014f, {0, 600, 0.9f, 0.9f, 0.1f, 0.6f}, {200, 150, 0, 0.58f},
         {20, 1.5f, 800}),
    /* Knocked out in the SciFi. */
    KIND(SCIFI, SCIFI, PROTON, IN_ANY, 0.0150f, {0.25f, 3, 0.75f, 0.9f, 0.6f, 0}, {50, 50, 0.15f, 0.7f},
         {180, 0.9f, 4000}),
    /* Back from RICH2 and the calorimeters, both. */
    KIND(SCIFI, ECAL, ELECTRON, AT_LAST, 0.0070f, {1, 3000, 0.55f, 0.7f, 0.5f, 0.15f}, {200, 200, 0.2f, 0.6f},
         {4, 1.5f, 200}),
    KIND(SCIFI, ECAL, PROTON, AT_LAST, 0.0055f, {1, 3000, 0.8f, 0.9f, 0.5f, 0}, {200, 200, 0.2f, 0.6f},
         {170, 0.7f, 1500}),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const float half_width[SIM_DETECTORS] = {800.0f, 2900.0f}, half_height[SIM_DETECTORS] = {670.0f, 2417.0f};
static const float far_away = 100.0f, outside = 100.0f, curl_x = 220.0f, curl_y = 80.0f, slope_max = 3.0f; /* mm */
static const float mm_a_ns = 299.792458f;

struct layers {
  uint32_t count;
  float z[LAYERS_MAX];
};

static void find_layers(enum sim_detector detector, struct layers *layers) {
  layers->count = 0;
  for (uint32_t i = 0; i < sim_plane_count; i++)
    if (sim_planes[i].detector == detector) layers->z[layers->count++] = (float)sim_planes[i].z;
}

/* Exponential to both sides, of this mean size. */
static float shift(struct sim_random *r, float size) {
  const float u = sim_uniform_in(r, -1.0f, 1.0f), far = -size * sl_logf(sl_max_f32(sl_abs_f32(u), 1e-6f));
  return u < 0.0f ? -far : far;
}

/* Where its first layer is met, and how. */
static struct sim_passage begin(const struct soft_kind *k, const struct layers *layers,
                                const struct sim_passage *mother, struct sim_random *r) {
  struct sim_passage p = *mother;
  float sine, cosine;
  p.layer = k->first == AT_FIRST ? 0 : k->first == AT_LAST ? layers->count - 1 : sim_random_u32(r) % layers->count;
  p.z = layers->z[p.layer];
  p.x = mother->x + mother->tx * (p.z - mother->z) + shift(r, k->beside.x);
  p.y = mother->y + mother->ty * (p.z - mother->z) + shift(r, k->beside.y);
  if (sim_uniform(r) < k->beside.anywhere) {
    p.x = half_width[k->detector] * sim_uniform_in(r, -1.0f, 1.0f);
    p.y = half_height[k->detector] * sim_uniform_in(r, -1.0f, 1.0f);
  }
  sl_sincosf(6.28318531f * sim_uniform(r), &sine, &cosine);
  const float slope = sl_min_f32(k->beside.slope * sim_exponential(r), slope_max);
  p.tx = slope * cosine;
  p.ty = slope * sine;
  p.p = sl_min_f32(k->momentum.least * sl_expf(k->momentum.rise * sim_exponential(r)), k->momentum.most);
  p.time_ns = mother->time_ns + sl_abs_f32(p.z - mother->z) / mm_a_ns;
  return p;
}

static void move(struct sim_passage *p, float z) {
  const float dz = z - p->z;
  p->x = p->x + p->tx * dz;
  p->y = p->y + p->ty * dz;
  p->time_ns = p->time_ns + sl_abs_f32(dz) * sqrtf(1.0f + p->tx * p->tx + p->ty * p->ty) / mm_a_ns;
  p->z = z;
}

static int keep(struct sim_event *event, enum sim_detector detector, const struct sim_passage *p) {
  struct sim_passage *kept = SIM_APPEND(&event->passages[detector]);
  if (!kept) return SL_ENOMEM;
  *kept = *p;
  return SL_OK;
}

/* All times that it comes through a layer. Its field bends it round, so that it meets the layer from the other side. */
static int pass_layer(struct sim_event *event, const struct soft_kind *k, struct sim_passage *p, struct sim_random *r) {
  int status = keep(event, k->detector, p);
  while (status == SL_OK && sim_uniform(r) < k->way.again) {
    p->x = p->x + shift(r, curl_x);
    p->y = p->y + shift(r, curl_y);
    p->tx = -p->tx;
    p->ty = -p->ty;
    status = keep(event, k->detector, p);
  }
  return status;
}

/* The particle itself, made some way before its first passage. */
static int make(struct sim_event *event, const struct soft_kind *k, const struct sim_passage *first, float direction,
                struct sim_random *r) {
  const float way = (k->first == IN_ANY ? 0.0f : outside) + k->way.origin * sim_uniform(r);
  const float along = direction * first->p / sqrtf(1.0f + first->tx * first->tx + first->ty * first->ty);
  struct sim_passage origin = *first;
  move(&origin, first->z - direction * way);
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
  const int32_t step = sim_uniform(r) < k->way.backward ? -1 : 1;
  int status = make(event, k, &p, (float)step, r);
  p.particle = event->particles.count - 1;
  float chance = k->way.leaves;
  for (int32_t next = (int32_t)p.layer + step; status == SL_OK; next += step, chance = k->way.goes_on) {
    status = pass_layer(event, k, &p, r);
    if (status < 0 || next < 0 || next >= (int32_t)layers->count) return status;
    const float z = layers->z[next];
    if (sim_uniform(r) >= (sl_abs_f32(z - p.z) > far_away ? k->way.bridges : chance)) return SL_OK;
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
    const uint32_t mothers = passages[k->from], count = sim_poisson(&r, k->a_passage * (float)(int32_t)mothers);
    for (uint32_t n = 0; n < count; n++) {
      const struct sim_passage mother = event->passages[k->from].at[sim_random_u32(&r) % mothers];
      if (fly(event, k, &layers, &mother, &r) < 0) return SL_ENOMEM;
    }
  }
  return SL_OK;
}
