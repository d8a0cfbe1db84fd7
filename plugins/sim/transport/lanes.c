/* lanes.c: see lanes.h.
 * With t = (tx, ty) = d(x, y) / dz and n = bend sqrt(1 + tx^2 + ty^2), the equations of motion in the field B are
 *     dtx / dz = n ( ty (tx Bx + Bz) - (1 + tx^2) By)
 *     dty / dz = n (-tx (ty By + Bz) + (1 + ty^2) Bx).
 * A step is a fourth-order Runge-Kutta-Nystroem step with the field at its begin, middle and end. The field at the end
 * is reused at the begin of the next step: its position differs from the track's by third-order terms, which are within
 * the error of the step (README.md). A step thus costs two field evaluations.
 * Changes within a step are in single precision, positions and slopes in double precision. */
#include "lanes.h"

#include "magnet.h"

#include <math.h>
#include <string.h>

enum { LANES = SIM_LANES, TERMS = SIM_FIELD_TERMS };

/* ------------------------------------------------------------------------------------------------ the step */

/* Evaluates a polynomial; unrolled, so that the loops over lanes around it become vector instructions. */
static inline float polynomial(const float (*coefficients)[TERMS], float u, float v) {
  float sum = 0;
#pragma GCC unroll 6
  for (int j = TERMS - 1; j >= 0; j--) {
    float part = 0;
#pragma GCC unroll 6
    for (int i = TERMS - 1; i >= 0; i--) part = fmaf(part, u, coefficients[j][i]);
    sum = fmaf(sum, v, part);
  }
  return sum;
}

/* Field at each lane's (x, y) in the plane. */
struct lane_fields {
  float x[LANES], y[LANES], z[LANES];
};

static inline void evaluate(const struct sim_field_plane *plane, const float *x, const float *y,
                            struct lane_fields *field) {
  const float scale_x = (float)plane->scale_x, scale_y = (float)plane->scale_y;
  float u[LANES], v[LANES];
  for (int l = 0; l < LANES; l++) {
    u[l] = scale_x * (x[l] * x[l]);
    v[l] = scale_y * (y[l] * y[l]);
  }
  for (int l = 0; l < LANES; l++) field->x[l] = polynomial(plane->bx, u[l], v[l]) * (x[l] * y[l]);
  for (int l = 0; l < LANES; l++) field->y[l] = polynomial(plane->by, u[l], v[l]);
  for (int l = 0; l < LANES; l++) field->z[l] = polynomial(plane->bz, u[l], v[l]) * y[l];
}

/* d(tx, ty) / dz of a lane. */
static inline void bend(float k, const float slope[2], const float field[3], float change[2]) {
  const float tx = slope[0], ty = slope[1], n = k * sqrtf(1.0f + tx * tx + ty * ty);
  change[0] = n * (ty * (tx * field[0] + field[2]) - (1.0f + tx * tx) * field[1]);
  change[1] = n * ((1.0f + ty * ty) * field[0] - tx * (ty * field[1] + field[2]));
}

/* Slopes at the begin of the step, their derivatives at the begin, in the middle (twice), and the next field
 * position. */
struct stages {
  float tx[LANES], ty[LANES];
  float first_x[LANES], first_y[LANES], second_x[LANES], second_y[LANES], third_x[LANES], third_y[LANES];
  float x[LANES], y[LANES];
};

static void begin_step(const struct sim_lanes *a, float h, struct stages *s) {
  for (int l = 0; l < LANES; l++) {
    const float slope[2] = {(float)a->tx[l], (float)a->ty[l]};
    const float field[3] = {a->field_x[l], a->field_y[l], a->field_z[l]};
    float first[2];
    bend(a->bend[l], slope, field, first);
    s->tx[l] = slope[0];
    s->ty[l] = slope[1];
    s->first_x[l] = first[0];
    s->first_y[l] = first[1];
    s->x[l] = (float)a->x[l] + 0.5f * h * (slope[0] + 0.25f * h * first[0]);
    s->y[l] = (float)a->y[l] + 0.5f * h * (slope[1] + 0.25f * h * first[1]);
  }
}

static void middle_of_step(const struct sim_lanes *a, float h, const struct lane_fields *there, struct stages *s) {
  for (int l = 0; l < LANES; l++) {
    const float field[3] = {there->x[l], there->y[l], there->z[l]};
    const float slope[2] = {s->tx[l] + 0.5f * h * s->first_x[l], s->ty[l] + 0.5f * h * s->first_y[l]};
    float second[2], third[2];
    bend(a->bend[l], slope, field, second);
    const float again[2] = {s->tx[l] + 0.5f * h * second[0], s->ty[l] + 0.5f * h * second[1]};
    bend(a->bend[l], again, field, third);
    s->second_x[l] = second[0];
    s->second_y[l] = second[1];
    s->third_x[l] = third[0];
    s->third_y[l] = third[1];
    s->x[l] = (float)a->x[l] + h * (s->tx[l] + 0.5f * h * third[0]);
    s->y[l] = (float)a->y[l] + h * (s->ty[l] + 0.5f * h * third[1]);
  }
}

static void end_step(struct sim_lanes *a, double dz, const struct lane_fields *there, const struct stages *s) {
  const float h = (float)dz, sixth = h * (1.0f / 6.0f);
  for (int l = 0; l < LANES; l++) {
    const float field[3] = {there->x[l], there->y[l], there->z[l]};
    const float slope[2] = {s->tx[l] + h * s->third_x[l], s->ty[l] + h * s->third_y[l]};
    float fourth[2];
    bend(a->bend[l], slope, field, fourth);
    const float shift_x = h * sixth * (s->first_x[l] + s->second_x[l] + s->third_x[l]);
    const float shift_y = h * sixth * (s->first_y[l] + s->second_y[l] + s->third_y[l]);
    const float turn_x = sixth * (s->first_x[l] + 2.0f * s->second_x[l] + 2.0f * s->third_x[l] + fourth[0]);
    const float turn_y = sixth * (s->first_y[l] + 2.0f * s->second_y[l] + 2.0f * s->third_y[l] + fourth[1]);
    const float dx = h * s->tx[l] + shift_x, dy = h * s->ty[l] + shift_y;
    a->x[l] = a->x[l] + (dz * a->tx[l] + (double)shift_x);
    a->y[l] = a->y[l] + (dz * a->ty[l] + (double)shift_y);
    a->tx[l] = a->tx[l] + (double)turn_x;
    a->ty[l] = a->ty[l] + (double)turn_y;
    a->path[l] = sqrtf(h * h + dx * dx + dy * dy);
    a->field_x[l] = there->x[l];
    a->field_y[l] = there->y[l];
    a->field_z[l] = there->z[l];
  }
}

/* Updates time and remaining proper time after a step. */
static void age(struct sim_lanes *a) {
  for (int l = 0; l < LANES; l++) {
    a->time_ns[l] = a->time_ns[l] + a->path[l] * a->slowness[l];
    a->to_decay[l] = a->to_decay[l] - a->path[l] * a->aging[l];
  }
}

void sim_lanes_step(struct sim_lanes *a, double z, const struct sim_field_plane *middle,
                    const struct sim_field_plane *end) {
  const double h = end->z - z;
  struct lane_fields field;
  struct stages s;
  begin_step(a, (float)h, &s);
  evaluate(middle, s.x, s.y, &field);
  middle_of_step(a, (float)h, &field, &s);
  evaluate(end, s.x, s.y, &field);
  end_step(a, h, &field, &s);
  age(a);
}

/* ---------------------------------------------------------------------------------------- the tracks */

/* Updates what depends on the momentum of lane l. */
static inline void fit_momentum(struct sim_lanes *a, int l) {
  const float per_p = 1.0f / a->p[l];
  a->bend[l] = (float)SIM_BENDING * (float)a->charge[l] * per_p;
  a->slowness[l] = sqrtf(1.0f + a->mass[l] * a->mass[l] * (per_p * per_p)) * (1.0f / SIM_MM_PER_NS);
  a->aging[l] = a->unstable[l] * per_p;
}

static int is_unstable(uint32_t kind) { return (kind & SIM_LANE_UNSTABLE) != 0; }

int sim_track_batch_add(struct sim_track_batch *flock, const struct sim_field_plane *plane, const struct sim_track *t) {
  const uint32_t l = flock->count % LANES;
  if (l == 0 && flock->count / LANES == flock->blocks.count) {
    struct sim_lanes *added = SIM_APPEND(&flock->blocks);
    if (!added) return SL_ENOMEM;
    memset(added, 0, sizeof *added);
    for (int i = 0; i < LANES; i++) added->p[i] = 1.0f; /* unused lanes are stepped, too */
  }
  struct sim_lanes *a = &flock->blocks.at[flock->count++ / LANES];
  const float u = (float)(plane->scale_x * (t->x * t->x)), v = (float)(plane->scale_y * (t->y * t->y));
  a->x[l] = t->x;
  a->y[l] = t->y;
  a->tx[l] = t->tx;
  a->ty[l] = t->ty;
  a->charge[l] = t->charge;
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
  fit_momentum(a, (int)l);
  return SL_OK;
}

void sim_track_batch_get(const struct sim_track_batch *flock, uint32_t index, double z, struct sim_track *t) {
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

void sim_track_batch_remove(struct sim_track_batch *flock, uint32_t index) {
  const uint32_t last = --flock->count, i = index % LANES, k = last % LANES;
  struct sim_lanes *to = &flock->blocks.at[index / LANES], *from = &flock->blocks.at[last / LANES];
#define MOVE(type, field) to->field[i] = from->field[k];
  SIM_LANE_FIELDS(MOVE)
#undef MOVE
  from->bend[k] = 0; /* an unused lane stays near the beam */
  from->tx[k] = from->ty[k] = 0;
}

void sim_lanes_slow(struct sim_lanes *a) {
  for (int l = 0; l < LANES; l++) fit_momentum(a, l);
}

/* --------------------------------------------------------------------------------------------- one track */

/* In double precision: d(tx, ty) / dz. */
static void bend_exactly(double k, const double slope[2], const double field[3], double change[2]) {
  const double tx = slope[0], ty = slope[1], n = k * sqrt(1 + tx * tx + ty * ty);
  change[0] = n * (ty * (tx * field[0] + field[2]) - (1 + tx * tx) * field[1]);
  change[1] = n * ((1 + ty * ty) * field[0] - tx * (ty * field[1] + field[2]));
}

static void step_alone(struct sim_track *t, double h) {
  const double k = SIM_BENDING * t->charge / (double)t->p, half = 0.5 * h, sixth = h / 6;
  const double slope[2] = {t->tx, t->ty}, begin[3] = {t->x, t->y, t->z};
  double field[3], first[2], second[2], third[2], fourth[2];
  sim_magnet_field(SIM_POLARITY_UP, begin, field);
  bend_exactly(k, slope, field, first);
  const double middle[3] = {t->x + half * (t->tx + 0.5 * half * first[0]),
                            t->y + half * (t->ty + 0.5 * half * first[1]), t->z + half};
  const double slope_2[2] = {t->tx + half * first[0], t->ty + half * first[1]};
  sim_magnet_field(SIM_POLARITY_UP, middle, field);
  bend_exactly(k, slope_2, field, second);
  const double slope_3[2] = {t->tx + half * second[0], t->ty + half * second[1]};
  bend_exactly(k, slope_3, field, third);
  const double end[3] = {t->x + h * (t->tx + half * third[0]), t->y + h * (t->ty + half * third[1]), t->z + h};
  const double slope_4[2] = {t->tx + h * third[0], t->ty + h * third[1]};
  sim_magnet_field(SIM_POLARITY_UP, end, field);
  bend_exactly(k, slope_4, field, fourth);
  t->x += h * t->tx + h * sixth * (first[0] + second[0] + third[0]);
  t->y += h * t->ty + h * sixth * (first[1] + second[1] + third[1]);
  t->z += h;
  t->tx += sixth * (first[0] + 2 * second[0] + 2 * third[0] + fourth[0]);
  t->ty += sixth * (first[1] + 2 * second[1] + 2 * third[1] + fourth[1]);
}

void sim_track_advance(struct sim_track *t, double z, double step) {
  const double dz = z - t->z;
  const int steps = (int)(fabs(dz) / step) + 1;
  for (int i = 0; i < steps; i++) step_alone(t, dz / steps);
  t->z = z;
}
