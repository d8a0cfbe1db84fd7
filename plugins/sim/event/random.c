/* random.c: see random.h. */
#include "random.h"

void sim_random_lanes(const struct sim_random *first, uint32_t words[4][SIM_RANDOM_LANES]) {
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    words[0][l] = first->counter[0];
    words[1][l] = first->counter[1] + l;
    words[2][l] = first->counter[2];
    words[3][l] = first->counter[3];
  }
  sl_philox_lanes(first->key, words);
}

void sim_random_begin_lanes(const struct sim_random *first, struct sim_random streams[SIM_RANDOM_LANES]) {
  uint32_t words[4][SIM_RANDOM_LANES];
  sim_random_lanes(first, words);
  for (uint32_t l = 0; l < SIM_RANDOM_LANES; l++) {
    streams[l] = *first;
    streams[l].counter[0]++;
    streams[l].counter[1] += l;
    for (int i = 0; i < 4; i++) streams[l].numbers[i] = words[i][l];
    streams[l].left = 4;
  }
}
