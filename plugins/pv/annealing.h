/* annealing.h: arguments of pv.annealing. Private to the plugin. */
#ifndef PV_ANNEALING_H
#define PV_ANNEALING_H

#include "finder.h"

/* Entries of an event begin at the index of its states. CPU vectors may use up to 31 entries beyond the last. */
#define ANNEALING_ITEMS SL_ONE(SL_ITEMS_SCALED(beamline_states, 1, 1, 32))

#define SL_ARGS annealing_args
#define ANNEALING(M)                                                                                                   \
  M(SCRATCH, selected_z, f32, "z of a selected track, ascending; later relative to the first track of the part",       \
    ANNEALING_ITEMS)                                                                                                   \
  M(SCRATCH, selected_weight, f32, "1 / variance of z of a selected track", ANNEALING_ITEMS)                           \
  M(SCRATCH, selected_prior, f32, "prior of a selected track: probability to come from the beam line",                 \
    ANNEALING_ITEMS)                                                                                                   \
  M(SCRATCH, selected_limit, u32, "largest downstream limit of earlier tracks, as ordered bits", ANNEALING_ITEMS)      \
  M(SCRATCH, highest_exponent, f32, "largest exponent of a track over prototypes and noise", ANNEALING_ITEMS)          \
  M(SCRATCH, partition_scale, f32, "1 / sum of a track's exponentials relative to the largest", ANNEALING_ITEMS)       \
  M(SCRATCH, cut_first, u32, "first track between two gaps", ANNEALING_ITEMS)                                          \
  M(SCRATCH, part_first, u32, "first track of a part: all tracks between two gaps, or a window of them",               \
    ANNEALING_ITEMS)                                                                                                   \
  M(SCRATCH, part_seeds, u32, "number of seeds of a part", ANNEALING_ITEMS)                                            \
  M(SCRATCH, found_z, f32, "z of a part's seeds, from the index of its first track on", ANNEALING_ITEMS)               \
  M(F32, max_z_error, 2.0, 0.001, 1000.0, "mm", "largest error in z of a selected track")                              \
  M(F32, max_z_error_fixed_target, 10.0, 0.001, 1000.0, "mm",                                                          \
    "largest error in z of a selected track in the gas cell")                                                          \
  M(F32, beam_spot_x, 0.035, 0.0, 10.0, "mm", "width of the beam spot in x")                                           \
  M(F32, beam_spot_y, 0.035, 0.0, 10.0, "mm", "width of the beam spot in y")                                           \
  M(F32, vertex_size, 0.06, 0.001, 10.0, "mm", "size of a vertex, added in quadrature to the errors in z of tracks")   \
  M(F32, max_impact, 3.0, 0.0, 8.0, "", "distance from the beam line, in errors, at which a track has prior 1/2")      \
  M(F32, gap, 2.0, 0.1, 100.0, "", "factor of the errors of tracks that must not overlap at a cut of the event")       \
  M(F32, cooling, 0.6, 0.1, 0.95, "", "factor of the temperature per step")                                            \
  M(F32, splitting_temperature, 10.0, 0.1, 100.0, "", "lowest temperature at which prototypes split")                  \
  M(F32, purging_temperature, 10.0, 0.1, 100.0, "",                                                                    \
    "temperature at which prototypes that too few tracks need are removed")                                            \
  M(F32, final_temperature, 0.5, 0.05, 100.0, "", "temperature at which tracks are assigned; 0.5 for Gaussian errors") \
  M(F32, merge_distance, 0.1, 0.0, 10.0, "mm", "distance below which prototypes merge")                                \
  M(F32, split_distance, 0.01, 0.0, 10.0, "mm", "least distance of the two prototypes of a split")                     \
  M(F32, coarse_shift, 0.1, 1e-4, 10.0, "mm", "largest shift of prototypes at rest, during splitting")                 \
  M(F32, fine_shift, 0.01, 1e-5, 10.0, "mm", "largest shift of prototypes at rest, after splitting")                   \
  M(F32, noise_distance, 5.0, 0.0, 100.0, "",                                                                          \
    "distance, in errors, beyond which a track is noise rather than part of a vertex")                                 \
  M(F32, unique_share, 0.8, 0.0, 1.0, "", "least share of a track that needs a prototype, relative to noise")          \
  M(F32, unique_prior, 0.0, 0.0, 1.0, "", "a track that needs a prototype has a larger prior than this")               \
  M(F32, assigned_share, 0.5, 0.0, 1.0, "", "least share of a track that belongs to a seed")                           \
  M(F32, min_seed_weight, 2.5, 0.0, 1000.0, "", "least sum of priors times shares of a seed")                          \
  M(U32, max_updates, 128, 1, 100000, "", "largest number of updates per temperature")
PV_FINDER(annealing, ANNEALING);

#endif
