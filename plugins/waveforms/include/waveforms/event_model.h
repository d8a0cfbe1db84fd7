/* event_model.h: collections of waveforms of a digitiser. An event is one waveform: one row of a table.
 *
 * Times are indices of samples: index * period_ns + begin_ns is a time in ns, with the source's values of the file's
 * header. A result that does not exist has the value 0, or the index -1, and its bit in `valid` is 0: bit i belongs to
 * the i-th other field of the collection. No output is NaN.
 */
#ifndef WAVEFORMS_EVENT_MODEL_H
#define WAVEFORMS_EVENT_MODEL_H

#include <sluice/plugin.h>

enum { WAVEFORMS_TABLE_BYTES = 32 };

#define WAVEFORMS_TRACES_FIELDS(F)                                                                              \
  F(samples, u32, DIMENSION, "", "number of samples of a waveform")                                             \
  F(value, u16, PER_EVENT_BY(samples), "ADC", "samples")                                                        \
  F(baseline, u16, PER_EVENT, "ADC", "baseline that the digitiser determined; 0 if the table has none")         \
  F(channel, u32, PER_EVENT, "", "number of the channel: the digits at the end of the table's name; 0 without") \
  F(table, u8, PER_EVENT_OF(WAVEFORMS_TABLE_BYTES), "", "name of the table, ch1084803; the rest is 0")          \
  F(timestamp, f64, PER_EVENT, "s", "time of the waveform; 0 if the table has none")                            \
  F(digitiser_energy, f32, PER_EVENT, "ADC", "energy that the digitiser determined; 0 if the table has none")
SL_COLLECTION(waveforms_traces, WAVEFORMS_TRACES_FIELDS, "waveforms as digitised");

#define WAVEFORMS_TRUTH_FIELDS(F)                                                       \
  F(amplitude, f32, PER_EVENT, "ADC", "height of the pulse without decay; 0: no pulse") \
  F(begin, f64, PER_EVENT, "samples", "time at which the pulse begins")                 \
  F(rise, f32, PER_EVENT, "samples", "time constant of its rise")                       \
  F(pile_up, u32, PER_EVENT, "", "number of further pulses")
SL_COLLECTION(waveforms_truth, WAVEFORMS_TRUTH_FIELDS, "simulated pulses");

/* Constants of the channels, in ascending order of `number`; the last entry, WAVEFORMS_ANY_CHANNEL, is for all others.
 */
#define WAVEFORMS_ANY_CHANNEL 0xffffffffu
#define WAVEFORMS_CHANNELS_FIELDS(F)                 \
  F(number, u32, ARRAY, "", "number of the channel") \
  F(decay, f64, ARRAY, "1/samples", "1 - exp(-1/tau), with the decay time tau of the pulses")
SL_COLLECTION(waveforms_channels, WAVEFORMS_CHANNELS_FIELDS, "constants of channels");

#define WAVEFORMS_SERIES_FIELDS(F)                                              \
  F(length, u32, DIMENSION, "", "number of values of a waveform")               \
  F(value, f32, PER_EVENT_BY(length), "ADC", "values; all 0 if there are none") \
  F(valid, u32, PER_EVENT, "", "1: the waveform has values; 0: it has none")
SL_COLLECTION(waveforms_series, WAVEFORMS_SERIES_FIELDS, "filtered waveforms");

#define WAVEFORMS_TAPS_FIELDS(F) F(value, f64, ARRAY, "", "factor of a sample; the first is that of the latest sample")
SL_COLLECTION(waveforms_taps, WAVEFORMS_TAPS_FIELDS, "taps of a filter with a finite response");

/* In double precision, with room for `length` values; `count` of them exist: the size of a dimension cannot be that of
 * an input less a property, such as the lag of a difference. */
#define WAVEFORMS_SERIES64_FIELDS(F)                                                \
  F(length, u32, DIMENSION, "", "largest number of values of a waveform")           \
  F(value, f64, PER_EVENT_BY(length), "ADC", "values; 0 from the index `count` on") \
  F(count, u32, PER_EVENT, "", "number of values")
SL_COLLECTION(waveforms_series64, WAVEFORMS_SERIES64_FIELDS, "filtered waveforms in double precision");

/* sum[n]: sum of the values of a waveform before index n, rounded once from exact sums of integers, so that differences
 * are sums over windows. */
#define WAVEFORMS_SUMS_FIELDS(F)                                           \
  F(entries, u32, DIMENSION, "", "number of samples of a waveform, and 1") \
  F(sum, f64, PER_EVENT_BY(entries), "ADC", "sum of the values before each index")
SL_COLLECTION(waveforms_sums, WAVEFORMS_SUMS_FIELDS, "sums of waveforms");

#define WAVEFORMS_POINTS_FIELDS(F) F(index, i32, PER_EVENT, "samples", "index of a sample; -1: not found")
SL_COLLECTION(waveforms_points, WAVEFORMS_POINTS_FIELDS, "time points");

/* A time between two samples. */
#define WAVEFORMS_TIMES_FIELDS(F)                                              \
  F(time, f32, PER_EVENT, "samples", "time; 0: not found")                     \
  F(after, f32, PER_EVENT, "periods", "time after a time point; 0: not found") \
  F(valid, u32, PER_EVENT, "", "bits of the fields above")
SL_COLLECTION(waveforms_times, WAVEFORMS_TIMES_FIELDS, "times between samples");

#define WAVEFORMS_VALUES_FIELDS(F)                         \
  F(value, f32, PER_EVENT, "ADC", "value; 0: it has none") \
  F(valid, u32, PER_EVENT, "", "bit 0: there is a value")
SL_COLLECTION(waveforms_values, WAVEFORMS_VALUES_FIELDS, "one value of each waveform");

#define WAVEFORMS_EXTREMES_FIELDS(F)                                                      \
  F(minimum, f32, PER_EVENT, "ADC", "smallest value")                                     \
  F(maximum, f32, PER_EVENT, "ADC", "largest value")                                      \
  F(first_minimum, i32, PER_EVENT, "samples", "index of the first smallest value, or -1") \
  F(first_maximum, i32, PER_EVENT, "samples", "index of the first largest value, or -1")  \
  F(valid, u32, PER_EVENT, "", "bits of the fields above")
SL_COLLECTION(waveforms_extremes, WAVEFORMS_EXTREMES_FIELDS, "smallest and largest values");

#define WAVEFORMS_FITS_FIELDS(F)                                                             \
  F(mean, f32, PER_EVENT, "ADC", "mean of the values")                                       \
  F(deviation, f32, PER_EVENT, "ADC", "standard deviation, with the divisor n - 1")          \
  F(slope, f32, PER_EVENT, "ADC/samples", "slope of the line of least squares")              \
  F(intercept, f32, PER_EVENT, "ADC", "value of the line at the first sample of the window") \
  F(valid, u32, PER_EVENT, "", "bits of the fields above")
SL_COLLECTION(waveforms_fits, WAVEFORMS_FITS_FIELDS, "statistics and linear fits of windows");

#define WAVEFORMS_WIDTHS_FIELDS(F)                                                                      \
  F(half_width, f64, PER_EVENT, "ADC", "half width of the fullest peak of the histogram of the values") \
  F(position, f64, PER_EVENT, "ADC", "lower edge of its fullest bin")                                   \
  F(valid, u32, PER_EVENT, "", "bits of the fields above")
SL_COLLECTION(waveforms_widths, WAVEFORMS_WIDTHS_FIELDS, "widths of noise");

#define WAVEFORMS_PULSES_FIELDS(F)                                                \
  F(offsets, u32, OFFSETS, "", "first pulse of each waveform")                    \
  F(index, i32, PER_ITEM, "samples", "index of the maximum, in descending order") \
  F(energy, f32, PER_ITEM, "ADC", "value of the maximum")
SL_COLLECTION(waveforms_pulses, WAVEFORMS_PULSES_FIELDS, "pulses in a waveform");

#endif
