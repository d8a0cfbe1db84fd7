/* annealing.h: what the files of pv.annealing share: its arguments. Private to the plugin. */
#ifndef PV_ANNEALING_H
#define PV_ANNEALING_H

#include "finder.h"

/* Those of an event begin where its states do. A cpu's vectors may go up to 31 entries beyond the last. */
#define ANNEALING_ITEMS SL_ONE(SL_ITEMS_SCALED(beamline_states, 1, 1, 32))

#define SL_ARGS annealing_args
#define ANNEALING(M)                                                                                                 \
  M(SCRATCH, selected_z, f32, "z of the tracks that are annealed, ascending; relative to their part's first",        \
    ANNEALING_ITEMS)                                                                                                 \
  M(SCRATCH, selected_weight, f32, "1 / variance of it", ANNEALING_ITEMS)                                            \
  M(SCRATCH, selected_prior, f32, "how likely each is to come from the beam line", ANNEALING_ITEMS)                  \
  M(SCRATCH, selected_reach, u32, "how far downstream any track before each reaches, as ordered bits",               \
    ANNEALING_ITEMS)                                                                                                 \
  M(SCRATCH, highest_exponent, f32, "of each track, over its prototypes and the noise", ANNEALING_ITEMS)             \
  M(SCRATCH, partition_scale, f32, "1 / sum of exponentials relative to that", ANNEALING_ITEMS)                      \
  M(SCRATCH, cut_first, u32, "the first track of what lies between two gaps", ANNEALING_ITEMS)                       \
  M(SCRATCH, part_first, u32, "the first track of each part, which is that or a window of it", ANNEALING_ITEMS)      \
  M(SCRATCH, part_seeds, u32, "number of seeds of each part", ANNEALING_ITEMS)                                       \
  M(SCRATCH, found_z, f32, "z of a part's seeds, from the place of its first track on", ANNEALING_ITEMS)             \
  M(F32, max_z_error, 2.0, 0.001, 1000.0, "mm", "tracks with a larger error in z make no seeds")                     \
  M(F32, max_z_error_fixed_target, 10.0, 0.001, 1000.0, "mm", "the same, in the gas cell")                           \
  M(F32, beam_spot_x, 0.035, 0.0, 10.0, "mm", "width of the beam spot in x")                                         \
  M(F32, beam_spot_y, 0.035, 0.0, 10.0, "mm", "and in y")                                                            \
  M(F32, vertex_size, 0.06, 0.001, 10.0, "mm", "added in quadrature to the tracks' errors in z")                     \
  M(F32, max_impact, 3.0, 0.0, 8.0, "", "distance from the beam line, in errors, at which a track counts half")      \
  M(F32, gap, 2.0, 0.1, 100.0, "", "tracks are apart where their errors times this do not overlap")                  \
  M(F32, cooling, 0.6, 0.1, 0.95, "", "factor of the temperature from step to step")                                 \
  M(F32, splitting_temperature, 10.0, 0.1, 100.0, "", "no prototype splits below")                                   \
  M(F32, purging_temperature, 10.0, 0.1, 100.0, "", "where prototypes that are not needed go")                       \
  M(F32, final_temperature, 0.5, 0.05, 100.0, "", "where tracks are assigned; Gaussian errors: 0.5")                 \
  M(F32, merge_distance, 0.1, 0.0, 10.0, "mm", "prototypes that are closer become one")                              \
  M(F32, split_distance, 0.01, 0.0, 10.0, "mm", "a prototype splits only into two that are farther apart")           \
  M(F32, coarse_shift, 0.1, 1e-4, 10.0, "mm", "prototypes that move by less are at rest, while they split")          \
  M(F32, fine_shift, 0.01, 1e-5, 10.0, "mm", "and afterwards")                                                       \
  M(F32, noise_distance, 5.0, 0.0, 100.0, "", "distance, in errors, beyond which a track is rather noise")           \
  M(F32, unique_share, 0.8, 0.0, 1.0, "", "a prototype is needed by tracks that share it so far, relative to noise") \
  M(F32, unique_prior, 0.0, 0.0, 1.0, "", "and are more likely than this to come from the beam line")                \
  M(F32, assigned_share, 0.5, 0.0, 1.0, "", "a track belongs to a seed that it shares so far")                       \
  M(F32, min_seed_weight, 2.5, 0.0, 1000.0, "", "the least sum of priors times shares of a seed")                    \
  M(U32, max_updates, 128, 1, 100000, "", "at a temperature; prototypes then count as at rest")
PV_FINDER(annealing, ANNEALING);

#endif
