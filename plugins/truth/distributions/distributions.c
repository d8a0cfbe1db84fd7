/* distributions.c: truth.distributions, histograms of clusters, tracks, true particles and vertices, to compare two
 * samples (scripts/distributions).
 * The histograms are one table (distributions.h) with bins of equal width. Values outside the range count in the
 * mean, and as `below` or `above`. Events with an error are ignored. Pixels come from super-pixel banks: an event
 * without them makes no entry. */
#include "distributions.h"

#include "velo/event_model.h"
#include "velo/raw_banks.h"

#include <sluice/math.h>
#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS distributions_args
#define BANKS   "offsets source_id type version size_bytes first_word payload"
#define DISTRIBUTIONS(M)                                                                                           \
  M(IN, hits, velo_hits, "offsets id x y", "VELO clusters")                                                        \
  M(IN, tracks, velo_tracks, "offsets hit_offsets", "VELO tracks")                                                 \
  M(IN, velo_superpixels, velo_superpixel_banks, "offsets version size_bytes first_word payload",                  \
    "VELO super-pixel banks; may be empty")                                                                        \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",                \
    "banks with true particles")                                                                                   \
  M(IN, mc_vertices, mc_vertex_banks, "offsets size_bytes first_word payload",                                     \
    "banks with true vertices; may be empty")                                                                      \
  M(OPTIONAL_IN, ut, ut_banks, BANKS, "UT banks; require ut_geometry")                                             \
  M(AUTO_IN, ut_geometry, ut_geometry, "x0 dx_di lane_layer lane_channel lane_index", "positions of UT strips")    \
  M(OPTIONAL_IN, scifi, scifi_banks, BANKS, "SciFi banks; require scifi_geometry")                                 \
  M(AUTO_IN, scifi_geometry, scifi_geometry,                                                                       \
    "source_id link_channel mirror_x mirror_y direction_x direction_y u_begin half_pitch die_gap sipm_pitch dxdy", \
    "positions of SciFi channels")                                                                                 \
  M(OPTIONAL_IN, muon, muon_banks, BANKS, "muon banks; require muon_geometry")                                     \
  M(AUTO_IN, muon_geometry, muon_geometry, "format channel_first tiles tell40_links grid", "map of muon channels") \
  M(OPTIONAL_IN, calo, calo_banks, BANKS, "calorimeter banks; require calo_geometry")                              \
  M(AUTO_IN, calo_geometry, calo_geometry, "", "map of calorimeter channels to cells, and their calibration")
SL_HOST_ARGUMENTS(distributions, DISTRIBUTIONS);

enum { MODULE_SENSORS = 4, VERTEX_BYTES = 28, VERTEX_TRACKS_MIN = 4, PDG_ELECTRON = 11 };

#define ENTRY_(name, what, bins, low, high, unit) {#name, what, unit, bins, low, high},
static const struct description {
  const char *name, *what, *unit;
  uint32_t bins;
  double low, high;
} descriptions[] = {HISTOGRAMS(ENTRY_)};

#define CHECK_(name, what, bins, low, high, unit) SL_STATIC_ASSERT(bins <= BINS_MAX, "too many bins");
HISTOGRAMS(CHECK_)

void distributions_fill(struct distributions *d, uint32_t which, double value) {
  const struct description *of = &descriptions[which];
  struct histogram *h = &d->histograms[which];
  const double bin = (value - of->low) / (of->high - of->low) * of->bins;
  h->entries++;
  h->sum += value;
  h->square_sum += value * value;
  if (!(bin >= 0))
    h->below++;
  else if (bin >= of->bins)
    h->above++;
  else
    h->counts[(uint32_t)bin]++;
}

/* ---------------------------------------------------------------------------------------------- true clusters */

static int compare_ids(const void *a, const void *b) {
  const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

int64_t distributions_gather_ids(struct distributions *d, const struct distributions_lists *lists) {
  uint64_t count = 0, particles = 0;
  if (d->id_capacity < d->mc.id_count) {
    uint32_t *ids = (uint32_t *)realloc(d->ids, d->mc.id_count * sizeof *ids);
    if (!ids) return SL_ENOMEM;
    d->ids = ids;
    d->id_capacity = d->mc.id_count;
  }
  for (uint32_t i = 0; i < d->mc.particle_count; i++) {
    const struct mc_hits *hits =
        (const struct mc_hits *)(const void *)((const char *)&d->mc.particles[i] + lists->offset);
    if (hits->count == 0) continue;
    particles++;
    distributions_fill(d, lists->hits, hits->count);
    for (uint32_t k = 0; k < hits->count; k++) d->ids[count++] = d->mc.ids[hits->first + k];
  }
  distributions_fill(d, lists->particles, (double)particles);
  if (count > 0) qsort(d->ids, count, sizeof *d->ids, compare_ids);
  return (int64_t)count;
}

uint32_t distributions_parents(const struct distributions *d, uint64_t count, uint32_t id) {
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (d->ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  uint32_t parents = 0;
  while (low + parents < count && d->ids[low + parents] == id) parents++;
  return parents;
}

/* ------------------------------------------------------------------------------------------------ one event */

static double distance(float x, float y) { return (double)sl_sqrtf(x * x + y * y); }

static void fill_clusters(struct distributions *d, const struct velo_hits_view *hits, uint32_t event) {
  for (uint32_t i = hits->offsets[event]; i < hits->offsets[event + 1]; i++) {
    const uint32_t module = (hits->id[i] >> 18 & 0xff) / MODULE_SENSORS;
    distributions_fill(d, H_modules, module);
    distributions_fill(d, H_radii, distance(hits->x[i], hits->y[i]));
  }
  distributions_fill(d, H_clusters, hits->offsets[event + 1] - hits->offsets[event]);
}

/* Counts pixels: the low byte of each word after the count (version 4: of all words). */
static void fill_pixels(struct distributions *d, const struct velo_superpixel_banks_view *b, uint32_t event) {
  uint32_t superpixels = 0, pixels = 0;
  if (b->offsets[event] == b->offsets[event + 1]) return;
  for (uint32_t bank = b->offsets[event]; bank < b->offsets[event + 1]; bank++) {
    const uint32_t *words = b->payload + b->first_word[bank], count = b->size_bytes[bank] / 4u;
    for (uint32_t i = b->version[bank] < 4; i < count; i++) {
      const uint32_t here = (uint32_t)__builtin_popcount(words[i] & 0xff);
      distributions_fill(d, H_pixels_per_superpixel, here);
      pixels += here;
      superpixels++;
    }
  }
  distributions_fill(d, H_pixels, pixels);
  distributions_fill(d, H_superpixels, superpixels);
}

static void fill_tracks(struct distributions *d, const struct velo_tracks_view *t, uint32_t event) {
  for (uint32_t i = t->offsets[event]; i < t->offsets[event + 1]; i++)
    distributions_fill(d, H_track_hits, t->hit_offsets[i + 1] - t->hit_offsets[i]);
  distributions_fill(d, H_tracks, t->offsets[event + 1] - t->offsets[event]);
}

static void fill_particle(struct distributions *d, const struct mc_particle *p) {
  const int is_electron = p->pdg == PDG_ELECTRON || p->pdg == -PDG_ELECTRON;
  const double radius = distance(p->x, p->y);
  distributions_fill(d, H_particle_hits, p->velo.count);
  distributions_fill(d, H_particle_pt, (double)p->pt);
  distributions_fill(d, H_particle_p, (double)(0.43429448f * sl_logf(p->p)));
  distributions_fill(d, H_particle_eta, (double)p->eta);
  distributions_fill(d, H_origin_z, (double)p->z);
  if (is_electron) distributions_fill(d, H_electron_eta, (double)p->eta);
  if (radius > 0.5) distributions_fill(d, H_flight, radius);
  if (p->flags & MC_IS_LONG && !is_electron && p->eta > 2 && p->eta < 5)
    distributions_fill(d, H_long_pt, (double)p->pt);
}

static void fill_particles(struct distributions *d) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->mc.particle_count; i++) {
    if (!(d->mc.particles[i].flags & MC_HAS_VELO)) continue;
    fill_particle(d, &d->mc.particles[i]);
    count++;
  }
  distributions_fill(d, H_particles, count);
}

/* Format: i32 number of vertices; for each i32 tracks, f64 x, y, z, packed (README.md). Returns 0 if the bank does
 * not fit the format. */
static int fill_vertices(struct distributions *d, const struct mc_vertex_banks_view *b, uint32_t event) {
  const uint32_t bank = b->offsets[event];
  if (bank == b->offsets[event + 1]) return 1;
  const unsigned char *at = (const unsigned char *)(b->payload + b->first_word[bank]);
  int32_t count = -1, visible = 0, tracks;
  if (b->size_bytes[bank] >= sizeof count) memcpy(&count, at, sizeof count);
  if (count < 0 || b->size_bytes[bank] != sizeof count + VERTEX_BYTES * (uint64_t)count) return 0;
  for (int32_t i = 0; i < count; i++) {
    memcpy(&tracks, at + sizeof count + VERTEX_BYTES * i, sizeof tracks);
    visible += tracks >= VERTEX_TRACKS_MIN;
  }
  distributions_fill(d, H_vertices, visible);
  return 1;
}

/* ------------------------------------------------------------------------------------------------- the sink */

static int distributions_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)s, (void)args, (void)output_path;
  *(struct distributions *)state = (struct distributions){.events = 0};
  return SL_OK;
}

/* Detectors with optional banks: D(name, a field of their geometry). */
#define DETECTORS(D) D(ut, x0) D(scifi, source_id) D(muon, format) D(calo, xy)

static int has_geometries(const struct sl_services *s, const struct distributions_args *args) {
  int has = 1;
#define CHECK_GEOMETRY(detector, field)                                                         \
  if (args->detector.offsets && !args->detector##_geometry.field) {                             \
    s->message(s->context, SL_ERROR, #detector " is connected without " #detector "_geometry"); \
    has = 0;                                                                                    \
  }
  DETECTORS(CHECK_GEOMETRY)
  return has;
}

/* Fills the histograms of the other detectors: number of malformed banks, or SL_ENOMEM. */
static int fill_detectors(struct distributions *d, const struct distributions_args *args, uint32_t event) {
  int malformed = 0;
#define FILL_DETECTOR(detector, field)                                                                      \
  if (malformed >= 0) {                                                                                     \
    const int found = distributions_fill_##detector(d, &args->detector, &args->detector##_geometry, event); \
    malformed = found < 0 ? found : malformed + found;                                                      \
  }
  DETECTORS(FILL_DETECTOR)
  return malformed;
}

static int distributions_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct distributions_args *args = (const struct distributions_args *)args_;
  struct distributions *d = (struct distributions *)state;
  if (!has_geometries(s, args)) return SL_EINVAL;
  SL_FOR_BATCH (event, batch) {
    const char *reason;
    if (batch->events[event].error != SL_EVENT_OK) {
      d->error_events++;
      continue;
    }
    const int status = mc_event_decode(&d->mc, &args->mc_particles, event, &reason);
    if (status == SL_ENOMEM) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
    d->events++;
    fill_clusters(d, &args->hits, event);
    fill_pixels(d, &args->velo_superpixels, event);
    fill_tracks(d, &args->tracks, event);
    if (status == SL_OK) fill_particles(d);
    const int has_vertices = fill_vertices(d, &args->mc_vertices, event);
    const int malformed = fill_detectors(d, args, event);
    if (malformed < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return malformed;
    }
    d->malformed_events += status != SL_OK || !has_vertices || malformed > 0;
  }
  return SL_OK;
}

static double mean_of(const struct histogram *h) { return h->entries > 0 ? h->sum / (double)h->entries : 0; }

static double rms_of(const struct histogram *h) {
  const double mean = mean_of(h), variance = h->entries > 0 ? h->square_sum / (double)h->entries - mean * mean : 0;
  return variance > 0 ? sqrt(variance) : 0;
}

static void report_histogram(const struct sl_report *r, const struct description *of, const struct histogram *h) {
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", of->name);
  r->text(r->context, "entry", of->what);
  r->text(r->context, "unit", of->unit);
  r->number(r->context, "low", of->low);
  r->number(r->context, "high", of->high);
  r->integer(r->context, "entries", (int64_t)h->entries);
  r->number(r->context, "mean", mean_of(h));
  r->number(r->context, "rms", rms_of(h));
  r->integer(r->context, "below", (int64_t)h->below);
  r->integer(r->context, "above", (int64_t)h->above);
  r->begin_array(r->context, "counts");
  for (uint32_t i = 0; i < of->bins; i++) r->integer(r->context, NULL, (int64_t)h->counts[i]);
  r->end_array(r->context);
  r->end_object(r->context);
  r->line(r->context, "%-60s %9" PRIu64 "  mean %8.4g  rms %8.4g %s", of->what, h->entries, mean_of(h), rms_of(h),
          of->unit);
}

static int distributions_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct distributions *d = (const struct distributions *)state;
  r->integer(r->context, "events", (int64_t)d->events);
  r->integer(r->context, "error_events", (int64_t)d->error_events);
  r->integer(r->context, "malformed_events", (int64_t)d->malformed_events);
  r->begin_array(r->context, "histograms");
  for (uint32_t k = 0; k < HISTOGRAM_COUNT; k++) report_histogram(r, &descriptions[k], &d->histograms[k]);
  r->end_array(r->context);
  if (d->malformed_events > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " events have malformed MC or detector banks, which were ignored",
               d->malformed_events);
  return SL_OK;
}

static void distributions_close(void *state) {
  struct distributions *d = (struct distributions *)state;
  mc_event_free(&d->mc);
  free(d->ids);
}

static const struct sl_sink distributions_functions = {.open = distributions_open,
                                                       .consume = distributions_consume,
                                                       .finish = distributions_finish,
                                                       .close = distributions_close};

SL_SINK(distributions, "histograms of clusters, tracks, true particles and vertices", struct distributions,
        distributions_functions);
