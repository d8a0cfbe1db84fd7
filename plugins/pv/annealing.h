/* annealing.h: what the files of pv.annealing share: its arguments. Private to the plugin. */
#ifndef PV_ANNEALING_H
#define PV_ANNEALING_H

#include "finder.h"

/* Those of an event begin where its states do. A cpu's vectors may go up to 31 entries beyond the last. */
#define ANNEALING_ITEMS SL_ONE(SL_ITEMS_SCALED(states, 1, 1, 32))

/* Scratch: name, type, capacity, doc. */
#define ANNEALING_SCRATCH(S)                                                                                          \
  S(selected_z, f32, ANNEALING_ITEMS, "z of the tracks that are annealed, ascending; relative to their part's first") \
  S(selected_weight, f32, ANNEALING_ITEMS, "1 / variance of it")                                                      \
  S(selected_prior, f32, ANNEALING_ITEMS, "how likely each is to come from the beam line")                            \
  S(selected_reach, u32, ANNEALING_ITEMS, "how far downstream any track before each reaches, as ordered bits")        \
  S(highest_exponent, f32, ANNEALING_ITEMS, "of each track, over its prototypes and the noise")                       \
  S(partition_scale, f32, ANNEALING_ITEMS, "1 / sum of exponentials relative to that")                                \
  S(part_first, u32, ANNEALING_ITEMS, "the first track of each part")                                                 \
  S(part_seeds, u32, ANNEALING_ITEMS, "number of seeds of each part")                                                 \
  S(found_z, f32, ANNEALING_ITEMS, "z of a part's seeds, from the place of its first track on")                       \
  S(found_weight, f32, ANNEALING_ITEMS, "sum of the priors of their tracks, each times its share")

/* Properties: name, default, smallest, largest, unit, doc. */
#define ANNEALING_NUMBERS(P)                                                                                    \
  P(max_z_error, 2.0, 0.001, 1000.0, "mm", "tracks with a larger error in z make no seeds")                     \
  P(max_z_error_fixed_target, 10.0, 0.001, 1000.0, "mm", "the same, in the gas cell")                           \
  P(beam_spot_x, 0.035, 0.0, 10.0, "mm", "width of the beam spot in x")                                         \
  P(beam_spot_y, 0.035, 0.0, 10.0, "mm", "and in y")                                                            \
  P(vertex_size, 0.06, 0.001, 10.0, "mm", "added in quadrature to the tracks' errors in z")                     \
  P(max_impact, 3.0, 0.0, 8.0, "", "distance from the beam line, in errors, at which a track counts half")      \
  P(gap, 2.0, 0.1, 100.0, "", "tracks are apart where their errors times this do not overlap")                  \
  P(cooling, 0.6, 0.1, 0.95, "", "factor of the temperature from step to step")                                 \
  P(splitting_temperature, 10.0, 0.1, 100.0, "", "no prototype splits below")                                   \
  P(purging_temperature, 10.0, 0.1, 100.0, "", "where prototypes that are not needed go")                       \
  P(final_temperature, 0.5, 0.05, 100.0, "", "where tracks are assigned; Gaussian errors: 0.5")                 \
  P(merge_distance, 0.1, 0.0, 10.0, "mm", "prototypes that are closer become one")                              \
  P(split_distance, 0.01, 0.0, 10.0, "mm", "a prototype splits only into two that are farther apart")           \
  P(coarse_shift, 0.1, 1e-4, 10.0, "mm", "prototypes that move by less are at rest, while they split")          \
  P(fine_shift, 0.01, 1e-5, 10.0, "mm", "and afterwards")                                                       \
  P(noise_distance, 5.0, 0.0, 100.0, "", "distance, in errors, beyond which a track is rather noise")           \
  P(unique_share, 0.8, 0.0, 1.0, "", "a prototype is needed by tracks that share it so far, relative to noise") \
  P(unique_prior, 0.0, 0.0, 1.0, "", "and are more likely than this to come from the beam line")                \
  P(assigned_share, 0.5, 0.0, 1.0, "", "a track belongs to a seed that it shares so far")                       \
  P(min_seed_weight, 2.5, 0.0, 1000.0, "", "the least sum of priors times shares of a seed")
#define ANNEALING_COUNTS(P) P(max_updates, 128, 1, 100000, "", "at a temperature; prototypes then count as at rest")

struct annealing_args {
  PV_FIT_FIELDS
  ANNEALING_SCRATCH(PV_SCRATCH_FIELD_)
  ANNEALING_NUMBERS(PV_NUMBER_FIELD_)
  ANNEALING_COUNTS(PV_COUNT_FIELD_)
};

#endif
