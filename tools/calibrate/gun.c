/* gun.c: see gun.h. */
#include "gun.h"

#include "transport/lanes.h"
#include "transport/magnet.h"
#include "transport/steps.h"

#include <math.h>
#include <stdlib.h>

const double gun_z_velo = 770.0, gun_z_end = 9410.0;
const double gun_ut_z[UT_LAYERS] = {2327.5, 2372.5, 2597.5, 2642.5};
const double gun_ut_dxdy[UT_LAYERS] = {0, 0.08748867, -0.0874886, 0};
const double gun_scifi_z[SCIFI_LAYERS] = {7826.1, 7895.9, 7966.1, 8035.9, 8508.1, 8577.9,
                                          8648.1, 8717.9, 9193.1, 9262.9, 9333.1, 9402.9};
const double gun_scifi_dxdy[SCIFI_LAYERS] = {0,          0.0874892, -0.0874892, 0,         0,          0.0874892,
                                             -0.0874892, 0,         0,          0.0874892, -0.0874892, 0};

static const double step = 100.0;      /* Runge-Kutta step, mm; errors are below 0.001 mm */
static const double tangent_z = 570.0; /* mm: z at which the VELO line touches the curve of the track, GUN_DETECTOR */
static const double lost = 6.7;        /* MeV lost before the magnet, GUN_DETECTOR */
static const double ut_error = 0.19 / 3.4641016, scifi_error = 0.1; /* mm */

/* Errors of the VELO line at its end: position, mm; slope, a constant and a part proportional to 1/p, as from hits
 * with 12.5 um and a module's material. */
static const double velo_position_error = 0.02, velo_slope_error = 1e-4, velo_slope_error_p = 1.3;

/* Half sizes of the layers, mm; they have no hole here. */
static const double ut_size[2] = {867.0, 675.0}, wide_ut_size[2] = {1100.0, 675.0},
                    scifi_size[2][2] = {{2650.0, 2417.0}, {3180.0, 2417.0}};

/* ------------------------------------------------------------------------------------------------ one track */

static void draw_track(const struct gun_settings *g, uint32_t number, struct gun_track *t) {
  struct sim_random r = sim_random_begin(g->seed, number, SIM_FOR_COLLISION, 0);
  float sine, cosine;
  const double inverse_low = 1 / g->p_max, inverse_high = 1 / g->p_min;
  t->p = 1 / (inverse_low + (inverse_high - inverse_low) * (double)sim_uniform(&r));
  t->p = (double)(float)t->p; /* single precision, as in the transport */
  t->charge = number % 2 ? 1 : -1;
  const double away = (double)sl_expf(sim_uniform_in(&r, (float)g->eta_min, (float)g->eta_max));
  sl_sincosf(6.28318531f * sim_uniform(&r), &sine, &cosine);
  t->origin_z = g->spread * (double)sim_normal(&r);
  const double slope = 2 / (away - 1 / away); /* 1 / sinh(eta) */
  t->velo.tx = slope * (double)cosine;
  t->velo.ty = slope * (double)sine;
  t->velo.x = t->velo.tx * (gun_z_velo - t->origin_z);
  t->velo.y = t->velo.ty * (gun_z_velo - t->origin_z);
}

static struct gun_state state_of(const struct sim_track *t) { return (struct gun_state){t->x, t->y, t->tx, t->ty}; }

static int is_within(const struct gun_state *s, const double size[2]) {
  return fabs(s->x) < size[0] && fabs(s->y) < size[1];
}

/* Half size of a SciFi layer; the third station is wider. */
static const double *size_of(uint32_t layer) { return scifi_size[layer >= 8]; }

static struct sim_track begin(const struct gun_settings *g, struct gun_track *t) {
  struct sim_track at = {.x = t->velo.x,
                         .y = t->velo.y,
                         .z = gun_z_velo,
                         .tx = t->velo.tx,
                         .ty = t->velo.ty,
                         .charge = t->charge * SIM_POLARITY_DOWN,
                         .p = (float)t->p};
  if (g->kind != GUN_DETECTOR) return at;
  at.p = (float)(t->p - lost);
  at.x = at.y = 0;
  at.z = t->origin_z;
  sim_track_advance(&at, tangent_z, step);
  t->velo = (struct gun_state){at.x + at.tx * (gun_z_velo - tangent_z), at.y + at.ty * (gun_z_velo - tangent_z), at.tx,
                               at.ty};
  sim_track_advance(&at, gun_z_velo, step);
  return at;
}

/* Takes a track through the field without material; returns 1 if it crosses all layers. */
static int fly(const struct gun_settings *g, struct gun_track *t) {
  struct sim_track at = begin(g, t);
  for (uint32_t l = 0; l < UT_LAYERS; l++) {
    sim_track_advance(&at, gun_ut_z[l], step);
    t->ut[l] = state_of(&at);
    if (!is_within(&t->ut[l], g->only_ut ? wide_ut_size : ut_size)) return 0;
  }
  for (uint32_t l = 0; l < SCIFI_LAYERS && !g->only_ut; l++) {
    sim_track_advance(&at, gun_scifi_z[l], step);
    t->scifi[l] = state_of(&at);
    if (!is_within(&t->scifi[l], size_of(l))) return 0;
  }
  sim_track_advance(&at, gun_z_end, step);
  t->end = state_of(&at);
  return 1;
}

/* ----------------------------------------------------------------------------------------- simulated tracks */

enum { BATCH = 256 }; /* tracks per event */

/* A muon neither interacts nor radiates. */
static int add_to_event(struct sim_event *event, const struct gun_track *t) {
  const double pz = t->p / sqrt(1 + t->velo.tx * t->velo.tx + t->velo.ty * t->velo.ty);
  const int32_t sign = (int32_t)t->charge * sim_species[SIM_MUON].charge;
  struct sim_particle *p =
      sim_event_add(event, &sim_species[SIM_MUON], sign, (float)(pz * t->velo.tx), (float)(pz * t->velo.ty), (float)pz);
  if (!p) return SL_ENOMEM;
  p->vertex = 0;
  p->z = (float)t->origin_z;
  p->reached_end = 1;
  p->end = (struct sim_state){(float)t->velo.x,  (float)t->velo.y,  (float)gun_z_velo,
                              (float)t->velo.tx, (float)t->velo.ty, 1.0f};
  p->end_p = (float)t->p;
  return SL_OK;
}

/* Collects the hits of the batch's tracks; `met` counts the layers crossed within their outlines. */
static void collect(const struct sim_event *event, struct gun_track *tracks, uint32_t *met) {
  for (uint32_t i = 0; i < event->passages[SIM_IN_UT].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_UT].at[i];
    const struct gun_state s = {(double)p->x, (double)p->y, (double)p->tx, (double)p->ty};
    if (p->particle >= BATCH) continue;
    tracks[p->particle].ut[p->layer] = s;
    met[p->particle] += is_within(&s, ut_size);
  }
  for (uint32_t i = 0; i < event->passages[SIM_IN_SCIFI].count; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_SCIFI].at[i];
    const struct gun_state s = {(double)p->x, (double)p->y, (double)p->tx, (double)p->ty};
    if (p->particle >= BATCH) continue;
    tracks[p->particle].scifi[p->layer] = s;
    met[p->particle] += is_within(&s, size_of(p->layer));
  }
}

/* Sets the measured quantities. */
static void measure(const struct gun_settings *g, uint32_t number, struct gun_track *t) {
  struct sim_random r = sim_random_begin(g->seed, number, SIM_FOR_VELO_HIT, 0);
  const double is_measured = g->kind == GUN_SIMULATED;
  const double slope_error =
      is_measured * sqrt(velo_slope_error * velo_slope_error + velo_slope_error_p * velo_slope_error_p / (t->p * t->p));
  t->velo.x += is_measured * velo_position_error * (double)sim_normal(&r);
  t->velo.y += is_measured * velo_position_error * (double)sim_normal(&r);
  t->velo.tx += slope_error * (double)sim_normal(&r);
  t->velo.ty += slope_error * (double)sim_normal(&r);
  for (uint32_t l = 0; l < UT_LAYERS; l++)
    t->ut_measured[l] = t->ut[l].x - gun_ut_dxdy[l] * t->ut[l].y + is_measured * ut_error * (double)sim_normal(&r);
  for (uint32_t l = 0; l < SCIFI_LAYERS; l++)
    t->scifi_measured[l] =
        t->scifi[l].x - gun_scifi_dxdy[l] * t->scifi[l].y + is_measured * scifi_error * (double)sim_normal(&r);
}

static int fly_batch(const struct gun_settings *g, struct sim_spectrometer *spectrometer, struct sim_event *event,
                     struct gun_track *tracks, uint32_t *met) {
  sim_event_clear(event);
  struct sim_vertex *vertex = SIM_APPEND(&event->vertices);
  if (!vertex) return SL_ENOMEM;
  *vertex = (struct sim_vertex){.count = BATCH};
  event->seed = g->seed;
  int status = SL_OK;
  for (uint32_t i = 0; i < BATCH && status == SL_OK; i++) status = add_to_event(event, &tracks[i]);
  if (status == SL_OK) status = sim_spectrometer_run(spectrometer, event);
  if (status < 0) return status;
  collect(event, tracks, met);
  return SL_OK;
}

static int shoot_simulated(const struct gun_settings *g, uint32_t shots, struct gun_sample *sample) {
  struct sim_event event = {.seed = g->seed};
  struct sim_spectrometer *spectrometer = sim_spectrometer_new(SIM_POLARITY_DOWN);
  int status = spectrometer ? SL_OK : SL_ENOMEM;
  for (uint32_t first = 0; first + BATCH <= shots && status == SL_OK; first += BATCH) {
    struct gun_track tracks[BATCH] = {{0}};
    uint32_t met[BATCH] = {0};
    for (uint32_t i = 0; i < BATCH; i++) draw_track(g, first + i, &tracks[i]);
    event.crossing.number = first / BATCH;
    status = fly_batch(g, spectrometer, &event, tracks, met);
    for (uint32_t i = 0; i < BATCH && status == SL_OK; i++) {
      if (met[i] != UT_LAYERS + SCIFI_LAYERS) continue;
      measure(g, first + i, &tracks[i]);
      sample->tracks[sample->count++] = tracks[i];
    }
  }
  sim_spectrometer_free(spectrometer);
  sim_event_free(&event);
  return status;
}

int gun_shoot(const struct gun_settings *g, uint32_t shots, struct gun_sample *sample) {
  *sample = (struct gun_sample){.tracks = (struct gun_track *)calloc(shots, sizeof *sample->tracks)};
  if (!sample->tracks) return SL_ENOMEM;
  sample->is_simulated = g->kind == GUN_SIMULATED;
  if (sample->is_simulated) return shoot_simulated(g, shots, sample);
  for (uint32_t n = 0; n < shots; n++) {
    struct gun_track t = {0};
    draw_track(g, n, &t);
    if (!fly(g, &t)) continue;
    measure(g, n, &t);
    sample->tracks[sample->count++] = t;
  }
  return SL_OK;
}
