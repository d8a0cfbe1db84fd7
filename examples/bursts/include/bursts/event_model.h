/* event_model.h: the collections of the radio-burst search. An event is a block of power samples of a radio telescope.
 */
#ifndef BURSTS_EVENT_MODEL_H
#define BURSTS_EVENT_MODEL_H

#include <sluice/plugin.h>

#define BURSTS_BLOCKS_FIELDS(F)                                    \
  F(samples, u32, DIMENSION, "", "number of samples of the block") \
  F(channels, u32, DIMENSION, "", "number of frequency channels")  \
  F(power, u8, PER_EVENT_BY(channels, samples), "", "detected power")
SL_COLLECTION(bursts_blocks, BURSTS_BLOCKS_FIELDS, "blocks of power samples");

#define BURSTS_DELAYS_FIELDS(F)                                                                          \
  F(delay, u32, ARRAY, "samples", "delay of each channel against the highest frequency, for each trial") \
  F(measure, f32, ARRAY, "pc/cm3", "dispersion measure of each trial")                                   \
  F(longest, u32, ARRAY, "samples", "one value: the longest delay")
SL_COLLECTION(bursts_delays, BURSTS_DELAYS_FIELDS, "delays by dispersion");

#define BURSTS_SERIES_FIELDS(F)                                                                       \
  F(trials, u32, DIMENSION, "", "number of dispersion measures that are tried")                       \
  F(times, u32, DIMENSION, "", "number of sums of each trial")                                        \
  F(sum, i32, PER_EVENT_BY(trials, times), "", "power summed over the channels, each with its delay") \
  F(mean, f32, PER_EVENT_BY(trials), "", "mean of the sums")                                          \
  F(deviation, f32, PER_EVENT_BY(trials), "", "standard deviation of the sums")
SL_COLLECTION(bursts_series, BURSTS_SERIES_FIELDS, "dedispersed time series");

#define BURSTS_PULSES_FIELDS(F)                                        \
  F(offsets, u32, OFFSETS, "", "first pulse of each block")            \
  F(time, u32, PER_ITEM, "samples", "begin of the pulse in its block") \
  F(trial, u32, PER_ITEM, "", "index of its dispersion measure")       \
  F(width, u32, PER_ITEM, "samples", "its length")                     \
  F(snr, f32, PER_ITEM, "", "its signal-to-noise ratio")
SL_COLLECTION(bursts_pulses, BURSTS_PULSES_FIELDS, "pulses above the noise");

/* Pulses of 1, 2, 4, 8 and 16 samples are searched. */
enum { BURSTS_WIDTHS = 5, BURSTS_WIDEST = 16 };

#endif
