/* lanes.c: see lanes.h.
 *
 * With t = (tx, ty) = d(x, y) / dz and n = bend sqrt(1 + tx^2 + ty^2), motion in the field B is
 *     dtx / dz = n ( ty (tx Bx + Bz) - (1 + tx^2) By)
 *     dty / dz = n (-tx (ty By + Bz) + (1 + ty^2) Bx).
 * Nystroem's step of fourth order takes the field in three places: where it begins, in one place in the middle, and at
 * the end. The last one is kept for the begin of the next step: it lies where the track ends but for terms of third
 * order, which the step's error already has (README.md has the figures). So a step costs two evaluations.
 */
#include "lanes.h"

#include "magnet.h"

#include <math.h>
#include <string.h>

enum { LANES = SIM_LANES, TERMS = SIM_FIELD_TERMS };
static const float mm_a_ns = 299.792458f;

/* ------------------------------------------------------------------------------------------------ the step */

/* A polynomial with these coefficients; unrolled, so that loops over lanes around it become vector instructions. */
static inline float polynomial(const float (*coefficients)[TERMS], float u, float v) {
  float sum = 0;
#pragma GCC unroll 6
  for (int j = TERMS - 1; j >= 0; j--) {
    float part = 0;
#pragma GCC unroll 6
    for (int i = TERMS - 1; i >= 0; i--) part = part * u + coefficients[j][i];
    sum = sum * v + part;
  }
  return sum;
}

/* The field of each lane, at (x, y) of the plane. */
struct lane_fields {
  float x[LANES], y[LANES], z[LANES];
};

static inline void evaluate(const struct sim_field_plane *plane, const double *x, const double *y,
                            struct lane_fields *field) {
  float u[LANES], v[LANES], xy[LANES], just_y[LANES];
  for (int l = 0; l < LANES; l++) {
    u[l] = (float)(plane->scale_x * (x[l] * x[l]));
    v[l] = (float)(plane->scale_y * (y[l] * y[l]));
    xy[l] = (float)(x[l] * y[l]);
    just_y[l] = (float)y[l];
  }
  for (int l = 0; l < LANES; l++) field->x[l] = polynomial(plane->bx, u[l], v[l]) * xy[l];
  for (int l = 0; l < LANES; l++) field->y[l] = polynomial(plane->by, u[l], v[l]);
  for (int l = 0; l < LANES; l++) field->z[l] = polynomial(plane->bz, u[l], v[l]) * just_y[l];
}

/* d(tx, ty) / dz of a lane. */
static inline void bend(double k, const double slope[2], const double field[3], double change[2]) {
  const double tx = slope[0], ty = slope[1], n = k * sqrt(1 + tx * tx + ty * ty);
  change[0] = n * (ty * (tx * field[0] + field[2]) - (1 + tx * tx) * field[1]);
  change[1] = n * ((1 + ty * ty) * field[0] - tx * (ty * field[1] + field[2]));
}

/* Changes of the slopes: at the begin, at the middle (twice), and where the field there is taken. */
struct stages {
  double first_x[LANES], first_y[LANES], second_x[LANES], second_y[LANES], third_x[LANES], third_y[LANES];
  double x[LANES], y[LANES];
};

static void begin_step(const struct sim_lanes *a, double h, struct stages *s) {
  for (int l = 0; l < LANES; l++) {
    const double slope[2] = {a->tx[l], a->ty[l]};
    const double field[3] = {(double)a->field_x[l], (double)a->field_y[l], (double)a->field_z[l]};
    double first[2];
    bend(a->bend[l], slope, field, first);
    s->first_x[l] = first[0];
    s->first_y[l] = first[1];
    s->x[l] = a->x[l] + 0.5 * h * (a->tx[l] + 0.25 * h * first[0]);
    s->y[l] = a->y[l] + 0.5 * h * (a->ty[l] + 0.25 * h * first[1]);
  }
}

static void middle_of_step(const struct sim_lanes *a, double h, const struct lane_fields *there, struct stages *s) {
  for (int l = 0; l < LANES; l++) {
    const double field[3] = {(double)there->x[l], (double)there->y[l], (double)there->z[l]};
    const double slope[2] = {a->tx[l] + 0.5 * h * s->first_x[l], a->ty[l] + 0.5 * h * s->first_y[l]};
    double second[2], third[2];
    bend(a->bend[l], slope, field, second);
    const double again[2] = {a->tx[l] + 0.5 * h * second[0], a->ty[l] + 0.5 * h * second[1]};
    bend(a->bend[l], again, field, third);
    s->second_x[l] = second[0];
    s->second_y[l] = second[1];
    s->third_x[l] = third[0];
    s->third_y[l] = third[1];
    s->x[l] = a->x[l] + h * (a->tx[l] + 0.5 * h * third[0]);
    s->y[l] = a->y[l] + h * (a->ty[l] + 0.5 * h * third[1]);
  }
}

static void end_step(struct sim_lanes *a, double h, const struct lane_fields *there, const struct stages *s) {
  for (int l = 0; l < LANES; l++) {
    const double field[3] = {(double)there->x[l], (double)there->y[l], (double)there->z[l]};
    const double slope[2] = {a->tx[l] + h * s->third_x[l], a->ty[l] + h * s->third_y[l]};
    const double x = a->x[l], y = a->y[l], sixth = h / 6;
    double fourth[2];
    bend(a->bend[l], slope, field, fourth);
    a->x[l] = x + h * a->tx[l] + h * sixth * (s->first_x[l] + s->second_x[l] + s->third_x[l]);
    a->y[l] = y + h * a->ty[l] + h * sixth * (s->first_y[l] + s->second_y[l] + s->third_y[l]);
    a->tx[l] = a->tx[l] + sixth * (s->first_x[l] + 2 * s->second_x[l] + 2 * s->third_x[l] + fourth[0]);
    a->ty[l] = a->ty[l] + sixth * (s->first_y[l] + 2 * s->second_y[l] + 2 * s->third_y[l] + fourth[1]);
    const double dx = a->x[l] - x, dy = a->y[l] - y;
    a->path[l] = sqrt(h * h + dx * dx + dy * dy);
    a->field_x[l] = there->x[l];
    a->field_y[l] = there->y[l];
    a->field_z[l] = there->z[l];
  }
}

/* Proper time and time go on by the last step's length. */
static void age(struct sim_lanes *a) {
  for (int l = 0; l < LANES; l++) {
    const float path = (float)a->path[l], per_p = 1.0f / a->p[l];
    const float slowness = sqrtf(1.0f + a->mass[l] * a->mass[l] * (per_p * per_p)); /* 1 / beta */
    a->time_ns[l] = a->time_ns[l] + path * slowness / mm_a_ns;
    a->to_decay[l] = a->to_decay[l] - path * (a->unstable[l] * per_p);
  }
}

void sim_lanes_step(struct sim_lanes *a, double z, const struct sim_field_plane *middle,
                    const struct sim_field_plane *end) {
  const double h = end->z - z;
  struct lane_fields field;
  struct stages s;
  begin_step(a, h, &s);
  evaluate(middle, s.x, s.y, &field);
  middle_of_step(a, h, &field, &s);
  evaluate(end, s.x, s.y, &field);
  end_step(a, h, &field, &s);
  age(a);
}

/* --------------------------------------------------------------------------------------------- the flock */

static double bend_of(double charge, double p) { return SIM_BENDING * charge / p; }

static int is_unstable(uint32_t kind) { return (kind & SIM_LANE_UNSTABLE) != 0; }

int sim_flock_add(struct sim_flock *flock, const struct sim_field_plane *plane, const struct sim_track *t) {
  const uint32_t l = flock->count % LANES;
  if (l == 0 && flock->count / LANES == flock->blocks.count) {
    struct sim_lanes *added = SIM_APPEND(&flock->blocks);
    if (!added) return SL_ENOMEM;
    memset(added, 0, sizeof *added);
    for (int i = 0; i < LANES; i++) added->p[i] = 1.0f; /* lanes without a track fly too */
  }
  struct sim_lanes *a = &flock->blocks.at[flock->count++ / LANES];
  const float u = (float)(plane->scale_x * (t->x * t->x)), v = (float)(plane->scale_y * (t->y * t->y));
  a->x[l] = t->x;
  a->y[l] = t->y;
  a->tx[l] = t->tx;
  a->ty[l] = t->ty;
  a->charge[l] = t->charge;
  a->bend[l] = bend_of(t->charge, (double)t->p);
  a->field_x[l] = polynomial(plane->bx, u, v) * (float)(t->x * t->y);
  a->field_y[l] = polynomial(plane->by, u, v);
  a->field_z[l] = polynomial(plane->bz, u, v) * (float)t->y;
  a->path[l] = 0;
  a->p[l] = t->p;
  a->mass[l] = t->mass;
  a->time_ns[l] = t->time_ns;
  a->to_decay[l] = t->to_decay;
  a->unstable[l] = is_unstable(t->kind) ? t->mass : 0.0f;
  a->particle[l] = t->particle;
  a->kind[l] = t->kind;
  return SL_OK;
}

void sim_flock_get(const struct sim_flock *flock, uint32_t index, double z, struct sim_track *t) {
  const struct sim_lanes *a = &flock->blocks.at[index / LANES];
  const uint32_t l = index % LANES;
  *t = (struct sim_track){.x = a->x[l],
                          .y = a->y[l],
                          .z = z,
                          .tx = a->tx[l],
                          .ty = a->ty[l],
                          .charge = a->charge[l],
                          .p = a->p[l],
                          .mass = a->mass[l],
                          .time_ns = a->time_ns[l],
                          .to_decay = a->to_decay[l],
                          .particle = a->particle[l],
                          .kind = a->kind[l]};
}

void sim_flock_remove(struct sim_flock *flock, uint32_t index) {
  const uint32_t last = --flock->count, i = index % LANES, k = last % LANES;
  struct sim_lanes *to = &flock->blocks.at[index / LANES], *from = &flock->blocks.at[last / LANES];
#define MOVE(type, field) to->field[i] = from->field[k];
  SIM_LANE_FIELDS(MOVE)
#undef MOVE
  from->bend[k] = from->tx[k] = from->ty[k] = 0; /* to fly on without going far */
}

void sim_lanes_slow(struct sim_lanes *a) {
  for (int l = 0; l < LANES; l++) a->bend[l] = bend_of(a->charge[l], (double)a->p[l]);
}

/* --------------------------------------------------------------------------------------------- one track */

static void step_alone(struct sim_track *t, double h) {
  const double k = bend_of(t->charge, (double)t->p), half = 0.5 * h, sixth = h / 6;
  const double slope[2] = {t->tx, t->ty}, begin[3] = {t->x, t->y, t->z};
  double field[3], first[2], second[2], third[2], fourth[2];
  sim_magnet_field(SIM_POLARITY_UP, begin, field);
  bend(k, slope, field, first);
  const double middle[3] = {t->x + half * (t->tx + 0.5 * half * first[0]),
                            t->y + half * (t->ty + 0.5 * half * first[1]), t->z + half};
  const double slope_2[2] = {t->tx + half * first[0], t->ty + half * first[1]};
  sim_magnet_field(SIM_POLARITY_UP, middle, field);
  bend(k, slope_2, field, second);
  const double slope_3[2] = {t->tx + half * second[0], t->ty + half * second[1]};
  bend(k, slope_3, field, third);
  const double end[3] = {t->x + h * (t->tx + half * third[0]), t->y + h * (t->ty + half * third[1]), t->z + h};
  const double slope_4[2] = {t->tx + h * third[0], t->ty + h * third[1]};
  sim_magnet_field(SIM_POLARITY_UP, end, field);
  bend(k, slope_4, field, fourth);
  t->x += h * t->tx + h * sixth * (first[0] + second[0] + third[0]);
  t->y += h * t->ty + h * sixth * (first[1] + second[1] + third[1]);
  t->z += h;
  t->tx += sixth * (first[0] + 2 * second[0] + 2 * third[0] + fourth[0]);
  t->ty += sixth * (first[1] + 2 * second[1] + 2 * third[1] + fourth[1]);
}

void sim_track_advance(struct sim_track *t, double z, double step) {
  const double way = z - t->z;
  const int steps = (int)(fabs(way) / step) + 1;
  for (int i = 0; i < steps; i++) step_alone(t, way / steps);
  t->z = z;
}
