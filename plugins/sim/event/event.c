/* event.c: see event.h. */
#include "event.h"

#include <stdlib.h>
#include <string.h>

int sim_reserve(void **array, uint32_t *capacity, uint32_t needed, size_t entry_bytes) {
  if (needed <= *capacity) return 1;
  const uint32_t larger = needed + needed / 2 + 256;
  void *grown = realloc(*array, larger * entry_bytes);
  if (!grown) return 0;
  *array = grown;
  *capacity = larger;
  return 1;
}

void sim_event_clear(struct sim_event *event) {
  event->vertices.count = event->particles.count = event->velo_hits.count = event->velo_ids.count = 0;
  event->tracker_ids.count = 0;
  for (int i = 0; i < SIM_DETECTORS; i++) event->passages[i].count = event->links[i].count = 0;
}

void sim_event_free(struct sim_event *event) {
  free(event->vertices.at);
  free(event->particles.at);
  free(event->velo_hits.at);
  free(event->velo_ids.at);
  free(event->tracker_ids.at);
  for (int i = 0; i < SIM_DETECTORS; i++) {
    free(event->passages[i].at);
    free(event->links[i].at);
  }
  *event = (struct sim_event){.seed = 0};
}

struct sim_particle *sim_event_add(struct sim_event *event, const struct sim_species *species, int32_t sign, float px,
                                   float py, float pz) {
  struct sim_particle *p = SIM_APPEND(&event->particles);
  if (!p) return NULL;
  *p = (struct sim_particle){.species = species,
                             .charge = sign * species->charge,
                             .sign = sign,
                             .mother = SIM_NO_PARTICLE,
                             .px = px,
                             .py = py,
                             .pz = pz};
  return p;
}
