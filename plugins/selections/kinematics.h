/* kinematics.h: straight lines of particles, their closest approach, momenta, and the flight of a decay vertex from its
 * primary vertex (README.md, "Pairs"). Only differences of slopes and positions are used, which avoids cancellation. */
#ifndef SELECTIONS_KINEMATICS_H
#define SELECTIONS_KINEMATICS_H

#include "pv/event_model.h"
#include "selections/event_model.h"

#include <sluice/kernel.h>

/* Within these limits no value of a pair or a composite overflows in single precision. */
static const float max_momentum = 1e12f; /* MeV */
static const float max_distance = 1e6f; /* mm, of a state from the origin and of the closest approach from the states */
static const float max_slope = 10.0f;   /* |t_x| + |t_y| */
static const float max_covariance = 100.0f;
static const float max_ip = 1e30f;
static const float min_sine2 = 1e-18f; /* with less, the lines are parallel */
static const float min_slope = 1e-6f;  /* limits the pseudorapidity */

/* Whether the numbers of a particle are within the limits above. */
static SL_DEVICE SL_UNUSED uint32_t is_sound(const struct particles_view *particles,
                                             const struct long_states_view *states, uint32_t i) {
  const float position = sl_abs_f32(states->x[i]) + sl_abs_f32(states->y[i]) + sl_abs_f32(states->z[i]);
  const float slope = sl_abs_f32(states->tx[i]) + sl_abs_f32(states->ty[i]);
  const float in_x = states->c00[i] + sl_abs_f32(states->c20[i]) + states->c22[i];
  const float in_y = states->c11[i] + sl_abs_f32(states->c31[i]) + states->c33[i];
  return position < max_distance && slope < max_slope &&
         sl_abs_f32(particles->p[i]) + particles->pt[i] < max_momentum && in_x + in_y < max_covariance &&
         particles->ip[i] < max_ip && particles->ip_chi2[i] < max_ip;
}

/* ---------------------------------------------------------------------------------------------------- lines */

struct line {
  float x, y, z, tx, ty;
};

/* Differences of position and slope of two lines at `z`, and their closest approach. */
struct crossing {
  float z, x, y, tx, ty, cross; /* cross: t_x1 t_y2 - t_y1 t_x2 */
  float sine2;                  /* squared sine of the angle, times (1 + t^2) of both lines */
  float on_one, on_other;       /* z of the closest points, relative to `z` */
  float nearest_z, doca;        /* z and distance of the closest approach */
};

static SL_DEVICE struct line line_of(const struct long_states_view *states, uint32_t i) {
  struct line line;
  line.x = states->x[i];
  line.y = states->y[i];
  line.z = states->z[i];
  line.tx = states->tx[i];
  line.ty = states->ty[i];
  return line;
}

/* Computes the closest approach of two lines. Returns 0 if the lines are parallel or the point is too far away. */
static SL_DEVICE uint32_t approach(const struct line *one, const struct line *other, struct crossing *c) {
  const float z = 0.5f * (one->z + other->z), to_one = z - one->z, to_other = z - other->z;
  const float x = (one->x + one->tx * to_one) - (other->x + other->tx * to_other);
  const float y = (one->y + one->ty * to_one) - (other->y + other->ty * to_other);
  const float tx = one->tx - other->tx, ty = one->ty - other->ty;
  const float cross = one->tx * other->ty - one->ty * other->tx;
  const float sine2 = tx * tx + ty * ty + cross * cross, along = x * tx + y * ty;
  c->on_one = -(along + cross * (x * other->ty - y * other->tx)) / sine2;
  c->on_other = -(along + cross * (x * one->ty - y * one->tx)) / sine2;
  c->z = z;
  c->x = x;
  c->y = y;
  c->tx = tx;
  c->ty = ty;
  c->cross = cross;
  c->sine2 = sine2;
  c->nearest_z = z + 0.5f * (c->on_one + c->on_other);
  c->doca = sl_abs_f32(x * ty - y * tx) / sqrtf(sine2);
  return sine2 > min_sine2 && sl_abs_f32(c->on_one) < max_distance && sl_abs_f32(c->on_other) < max_distance;
}

/* 1 - cos of the angle between the lines: sin^2 / (1 + cos). */
static SL_DEVICE float opening_of(const struct line *one, const struct line *other, float sine2) {
  const float n1 = 1.0f + one->tx * one->tx + one->ty * one->ty;
  const float n2 = 1.0f + other->tx * other->tx + other->ty * other->ty, lengths = sqrtf(n1 * n2);
  const float product = 1.0f + one->tx * other->tx + one->ty * other->ty;
  return sine2 / (lengths * (lengths + product));
}

/* -------------------------------------------------------------------------------------------------- momenta */

struct momentum {
  float x, y, z, p;
};

static SL_DEVICE struct momentum momentum_of(const struct line *line, float p) {
  struct momentum m;
  m.z = p / sqrtf(1.0f + line->tx * line->tx + line->ty * line->ty);
  m.x = line->tx * m.z;
  m.y = line->ty * m.z;
  m.p = p;
  return m;
}

static SL_DEVICE struct momentum sum_of(const struct momentum *one, const struct momentum *other) {
  struct momentum m;
  m.x = one->x + other->x;
  m.y = one->y + other->y;
  m.z = one->z + other->z;
  m.p = sqrtf(m.x * m.x + m.y * m.y + m.z * m.z);
  return m;
}

/* --------------------------------------------------------------------------------- flight from a primary vertex */

struct point {
  float x, y, z;
};

/* Quantities of a decay vertex with respect to a primary vertex. */
struct flight {
  uint32_t vertex;
  float vertex_z, ip, dz, rho, fd_chi2, dira, eta, m_corrected;
};

/* Flight vector, from the primary vertex `p` to the decay vertex. */
static SL_DEVICE struct point flight_vector(const struct pv_vertices_view *vertices, uint32_t p,
                                            const struct point *at) {
  struct point d;
  d.x = at->x - vertices->x[p];
  d.y = at->y - vertices->y[p];
  d.z = at->z - vertices->z[p];
  return d;
}

/* The primary vertex with the least impact parameter of the line (at, m); ties: the lowest index. PARTICLE_NO_VERTEX:
 * there is none. */
static SL_DEVICE uint32_t nearest_vertex(const struct pv_vertices_view *vertices, uint32_t event,
                                         const struct point *at, const struct momentum *m, float *ip) {
  const float tx = m->x / m->z, ty = m->y / m->z;
  uint32_t best = PARTICLE_NO_VERTEX;
  float least = max_ip;
  for (uint32_t p = vertices->offsets[event]; p < vertices->offsets[event + 1]; p++) {
    const float dz = vertices->z[p] - at->z, x = at->x + tx * dz - vertices->x[p], y = at->y + ty * dz - vertices->y[p];
    const float distance2 = x * x + y * y;
    if (!(distance2 < least)) continue;
    least = distance2;
    best = p;
  }
  *ip = sqrtf(least / (1.0f + tx * tx + ty * ty));
  return best;
}

/* Corrected mass sqrt(m^2 + q^2) + q, with m the mass as pions and q the momentum transverse to the flight vector. */
static SL_DEVICE float corrected_mass(float m_pions, const struct momentum *m, const struct point *d, float distance) {
  const float x = m->y * d->z - m->z * d->y, y = m->z * d->x - m->x * d->z, z = m->x * d->y - m->y * d->x;
  const float across = distance > 0.0f ? sqrtf(x * x + y * y + z * z) / distance : 0.0f;
  return sqrtf(m_pions * m_pions + across * across) + across;
}

/* The flight from the primary vertex `p`, which nearest_vertex returned with `ip`. The values without a primary vertex
 * are also used if a value is not finite. */
static SL_DEVICE struct flight flight_from(const struct pv_vertices_view *vertices, uint32_t event, uint32_t p,
                                           float ip, const struct point *at, const struct momentum *m, float m_pions,
                                           float fd_chi2) {
  const struct flight none = {PARTICLE_NO_VERTEX, SELECTIONS_NO_Z, 0.0f, 0.0f, 0.0f, -1.0f, 0.0f, 0.0f, 0.0f};
  if (p == PARTICLE_NO_VERTEX) return none;
  const struct point d = flight_vector(vertices, p, at);
  const float rho2 = d.x * d.x + d.y * d.y, distance = sqrtf(rho2 + d.z * d.z);
  const uint32_t is_apart = distance > 0.0f;
  const float product = m->x * d.x + m->y * d.y + m->z * d.z;
  struct flight f;
  f.vertex = p - vertices->offsets[event];
  f.vertex_z = vertices->z[p];
  f.ip = ip;
  f.dz = d.z;
  f.rho = sqrtf(rho2);
  f.fd_chi2 = fd_chi2;
  f.dira = is_apart ? sl_clamp_f32(product / (m->p * distance), -1.0f, 1.0f) : 0.0f;
  const float slope = sl_max_f32(f.rho, min_slope * distance);
  f.eta = is_apart ? sl_copysign_f32(sl_logf((sl_abs_f32(d.z) + distance) / slope), d.z) : 0.0f;
  f.m_corrected = corrected_mass(m_pions, m, &d, distance);
  const float size = sl_abs_f32(f.vertex_z) + f.ip + sl_abs_f32(f.dz) + f.rho + f.fd_chi2 + sl_abs_f32(f.dira) +
                     sl_abs_f32(f.eta) + f.m_corrected;
  return sl_is_finite(size) ? f : none;
}

#endif
