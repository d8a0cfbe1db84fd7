/* summarize_event.h: one luminosity event's counters, and their summary. For kernels; a block works on an event.
 *
 * All counters stand in shared memory, as ones before a detector fills its own: a detector that is not in the graph
 * leaves them so, as the format wants it. Threads count tracks, vertices and hits there with integer atomics, so that
 * their order does not matter. Then a thread a counter puts it into its bit field, and the words are written once.
 */
#ifndef LUMI_SUMMARIZE_EVENT_H
#define LUMI_SUMMARIZE_EVENT_H

#include "calo/event_model.h"
#include "lumi/counters.h"
#include "lumi/made_banks.h"
#include "muon/event_model.h"
#include "odin/event_model.h"
#include "plume/event_model.h"
#include "pv/event_model.h"
#include "scifi/event_model.h"
#include "velo/event_model.h"
#include "velo/pseudorapidity.h"

#include <sluice/kernel.h>

enum { LUMI_ETA_EDGES = 7 }; /* between 8 bins */

#define LUMI_UNFILLED 0xFFFFFFFFu /* fits no field of less than 32 bits, and is all ones in one of 32 */

enum { LUMI_DOES_NOT_FIT = 1 };
static const struct sl_event_error lumi_errors[] SL_UNUSED = {
    {LUMI_DOES_NOT_FIT, 0,
     "a counter, whose number is the detail, does not fit its bits of the summary, which stay ones"}};

/* What a kernel reads of ODIN besides; " FIELD FIELD" where there is something. */
#ifndef LUMI_MORE_OF_ODIN
#define LUMI_MORE_OF_ODIN ""
#endif

/* 1 / slope of tracks on the edges of the bins, negative for backward ones. */
struct lumi_edges {
  float sinh_of_eta[LUMI_ETA_EDGES];
};

/* What counters are made of, and where the summaries go; a detector that is not there has null pointers. */
#define SL_ARGS summarize_args
#define LUMI_SUMMARIZE(M)                                                                                        \
  M(IN, schema, lumi_schema, "word bit size_bits shift scale key word_count", "where counters stand")            \
  M(IN, odin, odin_events, "event_number gps_time orbit bunch crossing_type" LUMI_MORE_OF_ODIN, "of the events") \
  M(OPTIONAL_IN, gec, sl_event_list, "", "events that passed the global event cut; without: all")                \
  M(OPTIONAL_IN, states, track_states, "offsets x y z tx ty backward", "tracks of the VELO")                     \
  M(OPTIONAL_IN, vertices, pv_vertices, "offsets x y z", "primary vertices, by ascending z")                     \
  M(OPTIONAL_IN, scifi_hits, scifi_hits, "offsets id", "hits of the fibre tracker")                              \
  M(OPTIONAL_IN, muon_tiles, muon_tiles, "first", "what is hit of the muon chambers")                            \
  M(OPTIONAL_IN, muon_stubs, muon_stubs, "offsets", "muons found in these alone")                                \
  M(OPTIONAL_IN, calo_sums, calo_sums, "energy et part_et", "energy in the calorimeter")                         \
  M(OPTIONAL_IN, plume, plume_signals, "", "what PLUME saw")                                                     \
  M(U32, full_period, 30, 1, 0xFFFFFFFF, "", "of so many orbits, one has full summaries")                        \
  M(U32, full_phase, 1, 0, 0xFFFFFFFF, "", "that whose number is this, modulo full_period")                      \
  M(F32_ARRAY, eta_edges, LUMI_ETA_EDGES, "[-4, -3, -2, 2, 3, 4, 5]", -20.0, 20.0, "",                           \
    "pseudorapidity between bins of tracks, ascending")                                                          \
  M(F32, fiducial_z, 300.0, 0.0, 1e6, "mm", "tracks and vertices nearer than this to z = 0 are fiducial,")       \
  M(F32, fiducial_rho, 3.0, 0.0, 1e6, "mm", "if they are also nearer than this to the z axis")                   \
  M(OUT, summaries, luminosity_summary_banks, "one an event", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))),            \
    SL_SUBITEMS(SL_ONE(SL_EVENTS_TERM(LUMI_MAX_WORDS, 0))))                                                      \
  M(COMPUTED, edges, struct lumi_edges, "of the bins, to compare slopes with")
SL_ARGUMENTS(summarize, LUMI_SUMMARIZE);

static int lumi_check(const struct sl_services *s, const void *args) {
  const struct summarize_args *a = (const struct summarize_args *)args;
  for (uint32_t k = 1; k < LUMI_ETA_EDGES; k++) {
    if (a->eta_edges[k] > a->eta_edges[k - 1]) continue;
    s->message(s->context, SL_ERROR, "eta_edges: %g comes after %g; edges must ascend", (double)a->eta_edges[k],
               (double)a->eta_edges[k - 1]);
    return SL_EINVAL;
  }
  return SL_OK;
}

static int lumi_prepare(const struct sl_services *s, void *args) {
  struct summarize_args *a = (struct summarize_args *)args;
  (void)s;
  for (uint32_t k = 0; k < LUMI_ETA_EDGES; k++) a->edges.sinh_of_eta[k] = sl_sinhf(a->eta_edges[k]);
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------- the detectors */

/* Is the event on the list? It is ascending. */
static SL_DEVICE uint32_t lumi_is_listed(const struct sl_event_list_view *list, uint32_t event) {
  uint32_t low = 0, high = *list->count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (list->numbers[middle] < event)
      low = middle + 1;
    else
      high = middle;
  }
  return low < *list->count && list->numbers[low] == event ? 1u : 0u;
}

/* T0: when the run's orbit 0 began, in us; a crossing takes 1000 / 40078 us. */
static SL_DEVICE void lumi_fill_basic(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  const uint64_t crossing = (uint64_t)in->odin.orbit[event] * ODIN_SLOTS + in->odin.bunch[event];
  const uint64_t start = in->odin.gps_time[event] - crossing * 1000 / 40078;
  values[LUMI_T0Low] = (uint32_t)start;
  values[LUMI_T0High] = (uint32_t)(start >> 32);
  values[LUMI_BCIDLow] = (uint32_t)crossing;
  values[LUMI_BCIDHigh] = (uint32_t)(crossing >> 32);
  values[LUMI_BXType] = in->odin.crossing_type[event];
  values[LUMI_GEC] = in->gec.count == NULL ? 1u : lumi_is_listed(&in->gec, event);
}

/* How many of the edges a track's pseudorapidity reaches. */
static SL_DEVICE uint32_t lumi_eta_bin(const struct lumi_edges *edges, float slope, uint32_t backward) {
  uint32_t bin = 0;
  for (uint32_t k = 0; k < LUMI_ETA_EDGES; k++) bin += velo_eta_reaches(edges->sinh_of_eta[k], slope, backward);
  return bin;
}

static SL_DEVICE void lumi_count_track(const struct summarize_args *in, uint32_t track, uint32_t *values) {
  const float tx = in->states.tx[track], ty = in->states.ty[track], z = in->states.z[track];
  const float slope = sqrtf(tx * tx + ty * ty);
  const float across = sl_abs_f32(ty * in->states.x[track] - tx * in->states.y[track]); /* slope * distance to z axis */
  if (z > -in->fiducial_z && z < in->fiducial_z && across < in->fiducial_rho * slope)
    atomicAdd(&values[LUMI_VeloFiducialTracks], 1u);
  atomicAdd(&values[LUMI_VeloTracksEtaBin0 + lumi_eta_bin(&in->edges, slope, in->states.backward[track])], 1u);
}

/* floor(shift + scale * quantity), within what the counter's field holds. */
static SL_DEVICE uint32_t lumi_code(const struct lumi_schema_view *schema, uint32_t counter, float quantity) {
  const uint32_t largest = (1u << schema->size_bits[counter]) - 1;
  const float value = schema->shift[counter] + schema->scale[counter] * quantity;
  if (value < 1.0f) return 0;
  return value >= (float)largest ? largest : sl_to_u32(value);
}

/* The position of one vertex, drawn by the event's number: vertices are in ascending z, so that it is a function of the
 * event alone. Without a vertex, 0. */
static SL_DEVICE void lumi_fill_position(const struct summarize_args *in, uint32_t event, uint32_t first,
                                         uint32_t count, uint32_t *values) {
  const uint32_t v = count == 0 ? first : first + (uint32_t)(in->odin.event_number[event] % count);
  values[LUMI_VeloVertexX] = lumi_code(&in->schema, LUMI_VeloVertexX, count == 0 ? 0.0f : in->vertices.x[v]);
  values[LUMI_VeloVertexY] = lumi_code(&in->schema, LUMI_VeloVertexY, count == 0 ? 0.0f : in->vertices.y[v]);
  values[LUMI_VeloVertexZ] = lumi_code(&in->schema, LUMI_VeloVertexZ, count == 0 ? 0.0f : in->vertices.z[v]);
}

static SL_DEVICE void lumi_count_vertex(const struct summarize_args *in, uint32_t vertex, uint32_t *values) {
  const float x = in->vertices.x[vertex], y = in->vertices.y[vertex], z = in->vertices.z[vertex];
  if (z > -in->fiducial_z && z < in->fiducial_z && x * x + y * y < in->fiducial_rho * in->fiducial_rho)
    atomicAdd(&values[LUMI_FiducialVeloVertices], 1u);
}

/* Hits are counted by module and pair of quarters, 0 and 2 or 1 and 3; what base summaries have are sums of these. */
enum { LUMI_SCIFI_STATION = LUMI_SciFiT2Q02M0 - LUMI_SciFiT1Q02M0 /* counters of a station */ };

/* LUMI_COUNTERS for what is no channel of the detector. */
static SL_DEVICE uint32_t lumi_scifi_counter(uint32_t id) {
  const uint32_t station = (id >> SCIFI_STATION_BIT & 3u) - 1, module = id >> SCIFI_MODULE_BIT & 7u;
  const uint32_t modules = station + 1 < SCIFI_STATIONS ? 5 : 6;
  if (station >= SCIFI_STATIONS || module >= modules) return LUMI_COUNTERS;
  return LUMI_SciFiT1Q02M0 + LUMI_SCIFI_STATION * station + 2 * module + (id >> SCIFI_QUARTER_BIT & 1u);
}

static SL_DEVICE void lumi_add(uint32_t counter, uint32_t count, uint32_t *values) {
  if (counter < LUMI_COUNTERS && count > 0) atomicAdd(&values[counter], count);
}

/* Hits stand by zone and x, so that neighbours are of one module: a thread counts neighbours, and adds them at once. */
static SL_DEVICE void lumi_count_scifi(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  const uint32_t begin = in->scifi_hits.offsets[event], hits = in->scifi_hits.offsets[event + 1] - begin;
  const uint32_t each = (hits + blockDim.x - 1) / blockDim.x, first = each * threadIdx.x;
  const uint32_t end = first + each < hits ? first + each : hits;
  uint32_t counter = LUMI_COUNTERS, count = 0;
  for (uint32_t h = first; h < end; h++) {
    const uint32_t next = lumi_scifi_counter(in->scifi_hits.id[begin + h]);
    if (next != counter) {
      lumi_add(counter, count, values);
      count = 0;
    }
    counter = next;
    count++;
  }
  lumi_add(counter, count, values);
}

static SL_DEVICE uint32_t lumi_scifi_modules(uint32_t station, uint32_t first, uint32_t end, const uint32_t *values) {
  const uint32_t *of_station = values + LUMI_SciFiT1Q02M0 + LUMI_SCIFI_STATION * station;
  uint32_t hits = 0;
  for (uint32_t i = 2 * first; i < 2 * end; i++) hits += of_station[i];
  return hits;
}

static SL_DEVICE void lumi_sum_scifi(uint32_t *values) {
  for (uint32_t station = 0; station < SCIFI_STATIONS; station++) {
    values[LUMI_SciFiT1M123 + station] = lumi_scifi_modules(station, 1, 4, values);
    values[LUMI_SciFiT1M4 + station] = lumi_scifi_modules(station, 4, station + 1 < SCIFI_STATIONS ? 5 : 6, values);
  }
}

/* Of stations M2 to M4, which come first among the grids. */
static SL_DEVICE void lumi_fill_muon_tiles(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  const uint16_t *first = in->muon_tiles.first + (uint64_t)MUON_FIRSTS * event;
  for (uint32_t grid = 0; grid <= LUMI_MuonHitsM4R4 - LUMI_MuonHitsM2R1; grid++)
    values[LUMI_MuonHitsM2R1 + grid] = (uint32_t)first[grid + 1] - first[grid];
}

/* An energy in units of 1e-8 MeV. */
static SL_DEVICE uint32_t lumi_code_energy(const struct summarize_args *in, uint32_t counter, int64_t energy) {
  return lumi_code(&in->schema, counter, (float)((double)energy / (double)CALO_UNITS_A_MEV));
}

/* The parts' counters go from the inner area to the outer one, the parts the other way. */
static SL_DEVICE void lumi_fill_energy(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  const int64_t *part_et = in->calo_sums.part_et + (uint64_t)CALO_PARTS * event;
  values[LUMI_ECalET] = lumi_code_energy(in, LUMI_ECalET, in->calo_sums.et[event]);
  values[LUMI_ECalEtot] = lumi_code_energy(in, LUMI_ECalEtot, in->calo_sums.energy[event]);
  for (uint32_t part = 0; part < CALO_PARTS; part++) {
    const uint32_t half = part / CALO_AREAS, area = CALO_AREAS - 1 - part % CALO_AREAS;
    const uint32_t counter = LUMI_ECalETInnerTop + CALO_AREAS * half + area;
    values[counter] = lumi_code_energy(in, counter, part_et[part]);
  }
}

/* Flags of a board's channels for luminosity, channel 0 the highest. */
static SL_DEVICE uint32_t lumi_plume_flags(uint32_t over_threshold) {
  uint32_t flags = 0;
  for (uint32_t c = 0; c < PLUME_LUMINOSITY_CHANNELS; c++)
    flags |= (over_threshold >> c & 1u) << (PLUME_LUMINOSITY_CHANNELS - 1 - c);
  return flags;
}

/* The mean is that of both boards' sums, halved before it is divided by the channels of one. */
static SL_DEVICE void lumi_fill_plume(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  const uint32_t *over_threshold = in->plume.over_threshold + (uint64_t)PLUME_BOARDS * event;
  const uint16_t *adc = in->plume.adc + (uint64_t)PLUME_CHANNELS * event;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < PLUME_BOARDS * PLUME_LUMINOSITY_CHANNELS; i++) {
    const uint32_t board = i / PLUME_LUMINOSITY_CHANNELS, channel = i % PLUME_LUMINOSITY_CHANNELS;
    const uint32_t value = adc[PLUME_BOARD_CHANNELS * board + channel];
    values[LUMI_PlumeLumiADC00 + i] = value;
    sum += value;
  }
  values[LUMI_PlumeAvgLumiADC] = sum / 2 / PLUME_LUMINOSITY_CHANNELS;
  values[LUMI_PlumeLumiOverthrLow] = lumi_plume_flags(over_threshold[0]);
  values[LUMI_PlumeLumiOverthrHigh] = lumi_plume_flags(over_threshold[1]);
}

/* ---------------------------------------------------------------------------------------------- the summary */

/* What a thread can fill alone, and zeros where several will count: a warp has a thread for each of these parts. */
enum {
  LUMI_OF_ODIN,
  LUMI_OF_TRACKS,
  LUMI_OF_VERTICES,
  LUMI_OF_SCIFI,
  LUMI_OF_MUONS,
  LUMI_OF_CALO,
  LUMI_OF_PLUME,
  LUMI_PARTS
};

static SL_DEVICE void lumi_begin_tracks(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  for (uint32_t c = LUMI_VeloFiducialTracks; c <= LUMI_VeloTracksEtaBin7; c++) values[c] = 0;
  values[LUMI_VeloTracks] = in->states.offsets[event + 1] - in->states.offsets[event];
}

static SL_DEVICE void lumi_begin_vertices(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  const uint32_t first = in->vertices.offsets[event], count = in->vertices.offsets[event + 1] - first;
  values[LUMI_VeloVertices] = count;
  values[LUMI_FiducialVeloVertices] = 0;
  lumi_fill_position(in, event, first, count, values);
}

static SL_DEVICE void lumi_begin_muons(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  if (in->muon_tiles.first != NULL) lumi_fill_muon_tiles(in, event, values);
  if (in->muon_stubs.offsets != NULL)
    values[LUMI_MuonTracks] = in->muon_stubs.offsets[event + 1] - in->muon_stubs.offsets[event];
}

static SL_DEVICE void lumi_begin(const struct summarize_args *in, uint32_t event, uint32_t part, uint32_t *values) {
  if (part == LUMI_OF_ODIN) lumi_fill_basic(in, event, values);
  if (part == LUMI_OF_TRACKS && in->states.offsets != NULL) lumi_begin_tracks(in, event, values);
  if (part == LUMI_OF_VERTICES && in->vertices.offsets != NULL) lumi_begin_vertices(in, event, values);
  if (part == LUMI_OF_SCIFI && in->scifi_hits.offsets != NULL)
    for (uint32_t c = LUMI_SciFiT1Q02M0; c <= LUMI_SciFiT3Q13M5; c++) values[c] = 0;
  if (part == LUMI_OF_MUONS) lumi_begin_muons(in, event, values);
  if (part == LUMI_OF_CALO && in->calo_sums.energy != NULL) lumi_fill_energy(in, event, values);
  if (part == LUMI_OF_PLUME && in->plume.is_there != NULL && in->plume.is_there[event])
    lumi_fill_plume(in, event, values);
}

/* What all threads count together. */
static SL_DEVICE void lumi_count(const struct summarize_args *in, uint32_t event, uint32_t *values) {
  if (in->states.offsets != NULL) {
    const uint32_t end = in->states.offsets[event + 1];
    for (uint32_t t = in->states.offsets[event] + threadIdx.x; t < end; t += blockDim.x)
      lumi_count_track(in, t, values);
  }
  if (in->vertices.offsets != NULL) {
    const uint32_t end = in->vertices.offsets[event + 1];
    for (uint32_t v = in->vertices.offsets[event] + threadIdx.x; v < end; v += blockDim.x)
      lumi_count_vertex(in, v, values);
  }
  if (in->scifi_hits.offsets != NULL) lumi_count_scifi(in, event, values);
}

/* Puts a value into its bit field, if it fits; all bits of the words are ones, and stay so where it does not. */
static SL_DEVICE void lumi_store(const struct summarize_args *in, uint32_t event, uint32_t counter, uint32_t value,
                                 uint32_t *words) {
  const struct lumi_schema_view *schema = &in->schema;
  const uint32_t mask = 0xFFFFFFFFu >> (32 - schema->size_bits[counter]);
  if (value <= mask)
    atomicAnd(&words[schema->word[counter]], ~(mask << schema->bit[counter]) | value << schema->bit[counter]);
  else if (value != LUMI_UNFILLED)
    sl_event_truncated(&in->events, event, LUMI_DOES_NOT_FIT, counter);
}

/* Makes the summary of an event and writes it as bank `item`; word_offsets[0] is the caller's. Every thread of the
 * block calls it. */
static SL_DEVICE void lumi_summarize_event(const struct summarize_args *in, uint32_t event, uint32_t item) {
  __shared__ uint32_t values[LUMI_COUNTERS];
  __shared__ uint32_t words[LUMI_MAX_WORDS];
  const uint32_t is_full = in->odin.orbit[event] % in->full_period == in->full_phase % in->full_period;
  const uint32_t kind = is_full ? LUMI_FULL_SUMMARY : LUMI_BASE_SUMMARY;
  const uint32_t counter_count = is_full ? (uint32_t)LUMI_COUNTERS : (uint32_t)LUMI_BASE;
  const uint32_t word_count = in->schema.word_count[kind];
  for (uint32_t c = threadIdx.x; c < LUMI_COUNTERS; c += blockDim.x) values[c] = LUMI_UNFILLED;
  for (uint32_t w = threadIdx.x; w < LUMI_MAX_WORDS; w += blockDim.x) words[w] = w < word_count ? 0xFFFFFFFFu : 0;
  __syncthreads();
  if (threadIdx.x == 0) values[LUMI_encodingKey] = in->schema.key[kind];
  for (uint32_t part = sl_warp_index(); part < LUMI_PARTS; part += sl_block_warps())
    if (sl_warp_lane() == 0) lumi_begin(in, event, part, values);
  __syncthreads();
  lumi_count(in, event, values);
  __syncthreads();
  if (in->scifi_hits.offsets != NULL) {
    if (threadIdx.x == 0) lumi_sum_scifi(values);
    __syncthreads();
  }
  for (uint32_t c = threadIdx.x; c < counter_count; c += blockDim.x) lumi_store(in, event, c, values[c], words);
  __syncthreads();
  for (uint32_t w = threadIdx.x; w < LUMI_MAX_WORDS; w += blockDim.x)
    in->summaries.word[item * LUMI_MAX_WORDS + w] = words[w];
  if (threadIdx.x == 0) {
    in->summaries.size_bytes[item] = (uint16_t)(4 * word_count);
    in->summaries.word_offsets[item + 1] = (item + 1) * LUMI_MAX_WORDS;
    if (in->summaries.word_offsets_bound.used)
      atomicMax(in->summaries.word_offsets_bound.used, (item + 1) * LUMI_MAX_WORDS);
  }
  __syncthreads(); /* the shared memory is free for the block's next event */
}

#endif
