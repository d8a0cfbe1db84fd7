/* counters.h: the counters of a luminosity summary and the collection with their bit fields (README.md).
 *
 * A summary is a row of 32-bit words with counters packed as bit fields. A base summary has the counters of
 * LUMI_BASE_COUNTERS; a full summary also has those of LUMI_EXTRA_COUNTERS, in further words. All bits of a counter
 * that is not filled, or does not fit, are ones.
 *
 * C(name, largest value, shift, scale): a counter with a scale other than 1 holds floor(shift + scale * quantity),
 * limited to its field; the others hold a number. Names are those of the format; the order is that of packing
 * (lumi.schema); groups are the detectors that fill them (summarize_event.h).
 */
#ifndef LUMI_COUNTERS_H
#define LUMI_COUNTERS_H

#include <sluice/plugin.h>

/* ODIN: time and crossing of the event; global event cut. */
#define LUMI_BASIC_COUNTERS(C)      \
  C(encodingKey, 4294967295u, 0, 1) \
  C(T0Low, 4294967295u, 0, 1)       \
  C(T0High, 4294967295u, 0, 1)      \
  C(BCIDLow, 4294967295u, 0, 1)     \
  C(BCIDHigh, 16383, 0, 1)          \
  C(BXType, 3, 0, 1)                \
  C(GEC, 1, 0, 1)

/* VELO tracks: all, in the fiducial region, and by pseudorapidity: below -4, -3, -2, 2, 3, 4, 5, and above. */
#define LUMI_VELO_COUNTERS(C)       \
  C(VeloTracks, 1913, 0, 1)         \
  C(VeloFiducialTracks, 1913, 0, 1) \
  C(VeloTracksEtaBin0, 68, 0, 1)    \
  C(VeloTracksEtaBin1, 294, 0, 1)   \
  C(VeloTracksEtaBin2, 302, 0, 1)   \
  C(VeloTracksEtaBin3, 287, 0, 1)   \
  C(VeloTracksEtaBin4, 471, 0, 1)   \
  C(VeloTracksEtaBin5, 427, 0, 1)   \
  C(VeloTracksEtaBin6, 328, 0, 1)   \
  C(VeloTracksEtaBin7, 81, 0, 1)

/* Primary vertices: all, in the fiducial region, and the position of one of them in mm. */
#define LUMI_VERTEX_COUNTERS(C)       \
  C(VeloVertices, 33, 0, 1)           \
  C(FiducialVeloVertices, 33, 0, 1)   \
  C(VeloVertexX, 16383, 8192, 1638.4) \
  C(VeloVertexY, 16383, 8192, 1638.4) \
  C(VeloVertexZ, 16383, 8192, 16.384)

/* SciFi clusters by station and modules. */
#define LUMI_SCIFI_COUNTERS(C) \
  C(SciFiT1M123, 7650, 0, 1)   \
  C(SciFiT2M123, 7590, 0, 1)   \
  C(SciFiT3M123, 7890, 0, 1)   \
  C(SciFiT1M4, 765, 0, 1)      \
  C(SciFiT2M4, 805, 0, 1)      \
  C(SciFiT3M45, 1405, 0, 1)

/* Muon tiles by station and region; stand-alone muon tracks. */
#define LUMI_MUON_COUNTERS(C) \
  C(MuonHitsM2R1, 696, 0, 1)  \
  C(MuonHitsM2R2, 593, 0, 1)  \
  C(MuonHitsM2R3, 263, 0, 1)  \
  C(MuonHitsM2R4, 200, 0, 1)  \
  C(MuonHitsM3R1, 478, 0, 1)  \
  C(MuonHitsM3R2, 212, 0, 1)  \
  C(MuonHitsM3R3, 161, 0, 1)  \
  C(MuonHitsM3R4, 102, 0, 1)  \
  C(MuonHitsM4R1, 134, 0, 1)  \
  C(MuonHitsM4R2, 108, 0, 1)  \
  C(MuonHitsM4R3, 409, 0, 1)  \
  C(MuonHitsM4R4, 227, 0, 1)  \
  C(MuonTracks, 127, 0, 1)

/* Energy in the calorimeter, MeV; transverse energy by area, above (top) and below the beam. */
#define LUMI_CALORIMETER_COUNTERS(C)        \
  C(ECalET, 1048575, 65536, 0.2)            \
  C(ECalEtot, 4194303, 65536, 0.0667)       \
  C(ECalETInnerTop, 262143, 16384, 0.2)     \
  C(ECalETMiddleTop, 262143, 16384, 0.2)    \
  C(ECalETOuterTop, 262143, 16384, 0.2)     \
  C(ECalETInnerBottom, 262143, 16384, 0.2)  \
  C(ECalETMiddleBottom, 262143, 16384, 0.2) \
  C(ECalETOuterBottom, 262143, 16384, 0.2)

/* PLUME: average ADC value, and flags of channels over threshold. */
#define LUMI_PLUME_COUNTERS(C)          \
  C(PlumeAvgLumiADC, 4095, 0, 1)        \
  C(PlumeLumiOverthrLow, 4194303, 0, 1) \
  C(PlumeLumiOverthrHigh, 4194303, 0, 1)

/* SciFi clusters by station, pair of quarters and module. */
#define LUMI_SCIFI_MODULE_(C, module, max, station) \
  C(SciFiT##station##Q02M##module, max, 0, 1)       \
  C(SciFiT##station##Q13M##module, max, 0, 1)
#define LUMI_SCIFI_STATION_(C, station)   \
  LUMI_SCIFI_MODULE_(C, 0, 8191, station) \
  LUMI_SCIFI_MODULE_(C, 1, 8191, station) \
  LUMI_SCIFI_MODULE_(C, 2, 8191, station) \
  LUMI_SCIFI_MODULE_(C, 3, 8191, station) \
  LUMI_SCIFI_MODULE_(C, 4, 1023, station)
#define LUMI_SCIFI_MODULE_COUNTERS(C) \
  LUMI_SCIFI_STATION_(C, 1)           \
  LUMI_SCIFI_STATION_(C, 2)           \
  LUMI_SCIFI_STATION_(C, 3)           \
  LUMI_SCIFI_MODULE_(C, 5, 1023, 3)

/* PLUME: the ADC of each of its 44 channels for luminosity. */
#define LUMI_PLUME_ADC_(C, channel) C(PlumeLumiADC##channel, 4095, 0, 1)
#define LUMI_PLUME_TEN_(C, ten) \
  LUMI_PLUME_ADC_(C, ten##0)    \
  LUMI_PLUME_ADC_(C, ten##1)    \
  LUMI_PLUME_ADC_(C, ten##2)    \
  LUMI_PLUME_ADC_(C, ten##3)    \
  LUMI_PLUME_ADC_(C, ten##4)    \
  LUMI_PLUME_ADC_(C, ten##5)    \
  LUMI_PLUME_ADC_(C, ten##6)    \
  LUMI_PLUME_ADC_(C, ten##7)    \
  LUMI_PLUME_ADC_(C, ten##8)    \
  LUMI_PLUME_ADC_(C, ten##9)
#define LUMI_PLUME_CHANNEL_COUNTERS(C) \
  LUMI_PLUME_TEN_(C, 0)                \
  LUMI_PLUME_TEN_(C, 1)                \
  LUMI_PLUME_TEN_(C, 2)                \
  LUMI_PLUME_TEN_(C, 3)                \
  LUMI_PLUME_ADC_(C, 40)               \
  LUMI_PLUME_ADC_(C, 41)               \
  LUMI_PLUME_ADC_(C, 42)               \
  LUMI_PLUME_ADC_(C, 43)

/* ---------------------------------------------------------------------------------------------- the summaries */

#define LUMI_BASE_COUNTERS(C)  \
  LUMI_BASIC_COUNTERS(C)       \
  LUMI_VELO_COUNTERS(C)        \
  LUMI_VERTEX_COUNTERS(C)      \
  LUMI_SCIFI_COUNTERS(C)       \
  LUMI_MUON_COUNTERS(C)        \
  LUMI_CALORIMETER_COUNTERS(C) \
  LUMI_PLUME_COUNTERS(C)
#define LUMI_EXTRA_COUNTERS(C)  \
  LUMI_SCIFI_MODULE_COUNTERS(C) \
  LUMI_PLUME_CHANNEL_COUNTERS(C)

/* Indices of the counters: LUMI_encodingKey, ... */
#define LUMI_ENUM_(name, max, shift, scale) LUMI_##name,
#define LUMI_ONE_(name, max, shift, scale)  +1
enum { LUMI_BASE_COUNTERS(LUMI_ENUM_) LUMI_EXTRA_COUNTERS(LUMI_ENUM_) LUMI_COUNTERS };
enum {
  LUMI_BASE = 0 LUMI_BASE_COUNTERS(LUMI_ONE_),
  LUMI_MAX_WORDS = 59 /* of a full summary; lumi.schema finds no more */
};

/* Kinds of summaries; indices of the arrays of two in the schema. */
enum { LUMI_BASE_SUMMARY, LUMI_FULL_SUMMARY };

#define LUMI_SCHEMA_FIELDS(F)                                                                      \
  F(word, u8, ARRAY, "", "word of each counter, in the order of counters.h")                       \
  F(bit, u8, ARRAY, "", "lowest bit of each counter in its word")                                  \
  F(size_bits, u8, ARRAY, "", "number of bits of each counter")                                    \
  F(shift, f32, ARRAY, "", "shift of each counter: value = floor(shift + scale * quantity)")       \
  F(scale, f32, ARRAY, "", "scale of each counter; 1: the value is a number")                      \
  F(key, u32, ARRAY, "", "encoding keys of base and full summaries: hashes of their descriptions") \
  F(word_count, u32, ARRAY, "", "number of words of base and full summaries")                      \
  F(document, u8, ARRAY, "", "JSON description of both summaries, under their keys in hexadecimal")
SL_COLLECTION(lumi_schema, LUMI_SCHEMA_FIELDS, "bit fields of the counters in a luminosity summary");

#endif
