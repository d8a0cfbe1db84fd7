/* digits.h: readout of the VELO: pixels over threshold, clusters, and their banks. */
#ifndef SIM_VELO_DIGITS_H
#define SIM_VELO_DIGITS_H

#include "charge.h"
#include "event/bank_list.h"

struct sim_pixel {
  uint32_t address;
  uint32_t cluster; /* index */
  uint32_t first;   /* first of its charges in `sorted` */
  uint32_t count;
};

/* 8-connected pixels of a sensor; the sums give the centre. */
struct sim_cluster {
  uint32_t sensor, pixel_count, columns, rows; /* columns, rows: sums over pixels */
  uint32_t last_linked;                        /* particle; used while links are made */
};

/* A particle that contributed to a cluster. */
struct sim_link {
  uint32_t particle, cluster;
};

struct sim_velo_digits {
  struct sim_charges charges, sorted;
  SIM_LIST(struct sim_pixel) pixels; /* by ascending address */
  SIM_LIST(struct sim_cluster) clusters;
  SIM_LIST(struct sim_link) links; /* by particle; no duplicates */
  SIM_LIST(uint32_t) offsets;      /* offset per particle, while links are made */
};

/* Fills `digits` from the event's hits. 0 or SL_ENOMEM. */
int sim_velo_digitise(const struct velo_description *velo, float efficiency, const struct sim_event *event,
                      struct sim_velo_digits *digits);
void sim_velo_digits_free(struct sim_velo_digits *digits);

/* banks.c: versions 2 to 4, one bank per sensor (version 4: per pair of sensors), empty ones included. */
int sim_velo_superpixel_banks(struct sim_bank_list *list, const struct sim_velo_digits *digits, uint32_t version);
int sim_velo_cluster_banks(struct sim_bank_list *list, const struct sim_velo_digits *digits, uint32_t version);
/* Identifier of a cluster as decoded from cluster banks of this version. */
uint32_t sim_velo_cluster_id(const struct sim_cluster *cluster, uint32_t version);

#endif
