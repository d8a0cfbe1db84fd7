/* spectrometer.c: see spectrometer.h. The lists of hits and tracks. */
#include "spectrometer.h"

#include "association/mc_banks.h"

#include <stdlib.h>

void spectrometer_clear(struct spectrometer *p) {
  struct spectrometer empty = {.tracks = p->tracks,
                               .points = p->points,
                               .track_capacity = p->track_capacity,
                               .point_capacity = p->point_capacity};
  for (uint32_t d = 0; d < SPECTROMETER_DETECTORS; d++) {
    empty.hits[d].at = p->hits[d].at;
    empty.hits[d].capacity = p->hits[d].capacity;
  }
  *p = empty;
}

void spectrometer_free(struct spectrometer *p) {
  for (uint32_t d = 0; d < SPECTROMETER_DETECTORS; d++) free(p->hits[d].at);
  free(p->tracks);
  free(p->points);
  *p = (struct spectrometer){0};
}

int spectrometer_add_hit(struct spectrometer *p, enum spectrometer_detector detector,
                         const struct spectrometer_hit *hit) {
  struct spectrometer_hits *hits = &p->hits[detector];
  if (!mc_reserve((void **)&hits->at, &hits->capacity, hits->count + 1, sizeof *hits->at)) return 0;
  hits->at[hits->count++] = *hit;
  return 1;
}

static int compare_hits(const void *left, const void *right) {
  const struct spectrometer_hit *a = (const struct spectrometer_hit *)left;
  const struct spectrometer_hit *b = (const struct spectrometer_hit *)right;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->z != b->z) return a->z < b->z ? -1 : 1;
  return a->x < b->x ? -1 : a->x > b->x;
}

void spectrometer_sort_hits(struct spectrometer *p) {
  for (uint32_t d = 0; d < SPECTROMETER_DETECTORS; d++)
    if (p->hits[d].count > 1) qsort(p->hits[d].at, p->hits[d].count, sizeof *p->hits[d].at, compare_hits);
}

const struct spectrometer_hit *spectrometer_find_hit(const struct spectrometer_hits *hits, uint32_t id) {
  uint64_t low = 0, high = hits->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (hits->at[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < hits->count && hits->at[low].id == id ? &hits->at[low] : NULL;
}

int spectrometer_add_point(struct spectrometer *p, float z, float x) {
  if (!mc_reserve((void **)&p->points, &p->point_capacity, p->point_count + 1, sizeof *p->points)) return 0;
  p->points[p->point_count++] = (struct spectrometer_point){z, x};
  p->tracks[p->track_count - 1].point_count++;
  return 1;
}

int spectrometer_add_track(struct spectrometer *p, const struct spectrometer_track *track) {
  if (!mc_reserve((void **)&p->tracks, &p->track_capacity, p->track_count + 1, sizeof *p->tracks)) return 0;
  struct spectrometer_track *added = &p->tracks[p->track_count++];
  *added = *track;
  added->first_point = (uint32_t)p->point_count;
  added->point_count = 0;
  p->counts[track->kind]++;
  p->muons += track->is_muon;
  if (spectrometer_is_true(track->kind)) {
    p->true_tracks++;
  } else {
    p->found[track->end].tracks++;
    p->found[track->end].ghosts += track->kind == SPECTROMETER_GHOST;
  }
  return 1;
}
