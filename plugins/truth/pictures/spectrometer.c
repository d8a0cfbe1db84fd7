/* spectrometer.c: see spectrometer.h. The lists of hits and tracks. */
#include "spectrometer.h"

#include "association/mc_banks.h"

#include <stdlib.h>

void spectrometer_clear(struct spectrometer *p) {
  struct spectrometer empty = {.tracks = p->tracks,
                               .points = p->points,
                               .lines = p->lines,
                               .candidates = p->candidates,
                               .vertices = p->vertices,
                               .is_extended = p->is_extended,
                               .track_capacity = p->track_capacity,
                               .point_capacity = p->point_capacity,
                               .line_capacity = p->line_capacity,
                               .candidate_capacity = p->candidate_capacity,
                               .vertex_capacity = p->vertex_capacity,
                               .extended_capacity = p->extended_capacity};
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
  free(p->lines);
  free(p->candidates);
  free(p->vertices);
  free(p->is_extended);
  *p = (struct spectrometer){0};
}

int spectrometer_add_hit(struct spectrometer *p, enum spectrometer_detector detector,
                         const struct spectrometer_hit *hit) {
  struct spectrometer_hits *hits = &p->hits[detector];
  if (!mc_reserve((void **)&hits->at, &hits->capacity, hits->count + 1, sizeof *hits->at)) return 0;
  hits->at[hits->count++] = *hit;
  for (uint32_t axis = 0; axis < SPECTROMETER_AXES; axis++) hits->on_axis[axis] += hit->axes >> axis & 1;
  return 1;
}

static int compare_hits(const void *left, const void *right) {
  const struct spectrometer_hit *a = (const struct spectrometer_hit *)left;
  const struct spectrometer_hit *b = (const struct spectrometer_hit *)right;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (a->z != b->z) return a->z < b->z ? -1 : 1;
  return a->at[0] < b->at[0] ? -1 : a->at[0] > b->at[0];
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

int spectrometer_add_point(struct spectrometer *p, const struct spectrometer_point *point) {
  if (!mc_reserve((void **)&p->points, &p->point_capacity, p->point_count + 1, sizeof *p->points)) return 0;
  p->points[p->point_count++] = *point;
  p->tracks[p->track_count - 1].point_count++;
  return 1;
}

int spectrometer_add_track(struct spectrometer *p, const struct spectrometer_track *track) {
  struct spectrometer_counts *counts = &p->kinds[track->kind];
  const int is_hidden = !track->is_extended && track->lines == 0 && track->p_mev < (float)p->min_p_mev;
  counts->tracks++;
  counts->ghosts += track->is_ghost;
  counts->muons += track->is_muon;
  counts->hidden += (uint32_t)is_hidden;
  if (track->is_extended || is_hidden) return 0;
  if (!mc_reserve((void **)&p->tracks, &p->track_capacity, p->track_count + 1, sizeof *p->tracks)) return -1;
  counts->drawn++;
  counts->drawn_ghosts += track->is_ghost;
  counts->drawn_muons += track->is_muon;
  struct spectrometer_track *added = &p->tracks[p->track_count++];
  *added = *track;
  added->first_point = (uint32_t)p->point_count;
  added->point_count = 0;
  return 1;
}
