/* ends.h: a transported state and its Jacobian, for scalars and vectors. */
#ifndef TEST_KALMAN_ENDS_H
#define TEST_KALMAN_ENDS_H

#include "kalman/transport.h"

KALMAN_INLINE_ void ends_of(const struct kalman_leg_scales *leg, const KALMAN_NUMBER state[5],
                            const struct kalman_change *change, KALMAN_NUMBER end[4], KALMAN_NUMBER jacobian[4][5]) {
  for (int o = 0; o < 4; o++) {
    end[o] = state[o] + (o < 2 ? state[o + 2] * leg->dz + change->value[o] : change->value[o]);
    for (int k = 0; k < 5; k++) jacobian[o][k] = change->by[o][k];
    jacobian[o][o] = jacobian[o][o] + 1.0f;
    if (o < 2) jacobian[o][o + 2] = jacobian[o][o + 2] + leg->dz;
  }
}

#endif
