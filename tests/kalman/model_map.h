/* model_map.h: the simulation's field as a map. */
#ifndef TEST_KALMAN_MODEL_MAP_H
#define TEST_KALMAN_MODEL_MAP_H

#include "field.h"

/* Samples the field on a grid of this spacing in mm, writes the map as text, and reads it. */
void model_map(double spacing, int is_quadrant, struct field_map *map);

#endif
