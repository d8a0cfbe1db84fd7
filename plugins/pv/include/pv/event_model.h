/* event_model.h: the collection of primary vertices. Lengths in mm. README.md describes how they are found. */
#ifndef PV_EVENT_MODEL_H
#define PV_EVENT_MODEL_H

#include <sluice/plugin.h>

enum { PV_MAX_VERTICES = 128 /* per event; an event with more is refused */ };

/* Vertices of an event, by ascending z. */
#define PV_VERTICES_FIELDS(F)                                                                       \
  F(offsets, u32, OFFSETS, "", "first vertex of each event")                                        \
  F(ignored, u32, PER_EVENT, "",                                                                    \
    "number of ignored tracks: a number of the state is not finite, or a variance is not positive") \
  F(x, f32, PER_ITEM, "mm", "x of the vertex")                                                      \
  F(y, f32, PER_ITEM, "mm", "y of the vertex")                                                      \
  F(z, f32, PER_ITEM, "mm", "z of the vertex")                                                      \
  F(c_xx, f32, PER_ITEM, "mm2", "variance of x")                                                    \
  F(c_xy, f32, PER_ITEM, "mm2", "covariance of x and y")                                            \
  F(c_yy, f32, PER_ITEM, "mm2", "variance of y")                                                    \
  F(c_xz, f32, PER_ITEM, "mm2", "covariance of x and z")                                            \
  F(c_yz, f32, PER_ITEM, "mm2", "covariance of y and z")                                            \
  F(c_zz, f32, PER_ITEM, "mm2", "variance of z")                                                    \
  F(chi2, f32, PER_ITEM, "", "weighted sum of the tracks' chi2")                                    \
  F(weight, f32, PER_ITEM, "", "sum of the tracks' weights, the effective number of tracks")        \
  F(tracks, u32, PER_ITEM, "", "number of tracks within the fit's largest chi2")
SL_COLLECTION(pv_vertices, PV_VERTICES_FIELDS, "primary vertices, by ascending z");

#endif
