/* radii.h: what the radius plugin offers to others. */
#ifndef RADIUS_RADII_H
#define RADIUS_RADII_H

#include <sluice/plugin.h>

#define RADIUS_RADII_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "first hit of each event")          \
  F(r, f32, PER_ITEM, "mm", "distance of the hit from the z axis") \
  F(near_count, u32, PER_EVENT, "", "number of hits nearer than near_beam")
SL_COLLECTION(radius_radii, RADIUS_RADII_FIELDS, "distances of VELO hits from the z axis");

#endif
