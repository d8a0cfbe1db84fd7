/* lanes.h: kalman_transport with vectors of eight tracks. */
#ifndef TEST_KALMAN_LANES_H
#define TEST_KALMAN_LANES_H

struct kalman_leg_scales;
enum { TEST_LANES = 8 };

/* Polarity down. */
void transport_lanes(int leg, const struct kalman_leg_scales *scales, const float *coefficients,
                     float states[5][TEST_LANES], float ends[4][TEST_LANES], float jacobians[4][5][TEST_LANES]);

#endif
