/* spectrometer.h: tracks between the end of the VELO and the ECAL.
 * All tracks are stepped together from node to node: values of z with material or a detector layer, or at the end of a
 * step (steps.h). A charged particle starts at the first node after its origin. A photon is followed at once in a
 * straight line, to the ECAL or to its conversion at a node.
 * All detectors are simulated together, so that hits in one do not depend on the banks that are requested of others. */
#ifndef SIM_SPECTROMETER_H
#define SIM_SPECTROMETER_H

#include "lanes.h"
#include "planes.h"

enum { SIM_NODES_MAX = 96 };

#define SIM_SLOPE_MAX      2.0   /* tracks with larger slopes end */
#define SIM_STEP_ALONE_MAX 250.0 /* mm, for a track that starts or decays between nodes */

/* End of a step; `middle` is half way from the previous node. */
struct sim_node {
  struct sim_field_plane middle, end;
  const struct sim_plane *plane; /* at `end`, or NULL */
};

/* A track that starts at a node, in a linked list per node. */
enum { SIM_NO_START = UINT32_MAX };
struct sim_start {
  struct sim_track track;
  uint32_t next; /* index in `starts`, or SIM_NO_START */
};

/* Material for photons: the nodes with material, by ascending z. It is outside of the beam pipe (pipe2) and between
 * two squared distances from the beam (from2, to2). `whole_planes` is the sum without rings; rings are within slopes
 * of `ring_end`. */
struct sim_photon_path {
  uint32_t count, node[SIM_NODES_MAX];
  double z[SIM_NODES_MAX], pipe2[SIM_NODES_MAX], from2[SIM_NODES_MAX], to2[SIM_NODES_MAX], material[SIM_NODES_MAX];
  double whole_planes, ring_end;
};

struct sim_spectrometer {
  double polarity;
  uint32_t node_count, reserved;
  struct sim_node nodes[SIM_NODES_MAX];
  struct sim_photon_path photon_path;
  struct sim_random flights[SIM_RANDOM_LANES]; /* SIM_FOR_FLIGHT streams of the particles from `first_flight` on */
  uint32_t first_flight;
  struct sim_track_batch flock;
  SIM_LIST(struct sim_start) starts;
  uint32_t first_start[2][SIM_NODES_MAX]; /* lists per node: before the material, and after it */
};

/* Returns NULL when out of memory. */
struct sim_spectrometer *sim_spectrometer_new(double polarity);
void sim_spectrometer_free(struct sim_spectrometer *spectrometer);

/* Removes all tracks and starts the particles with `reached_end` and the neutral hadrons. 0 or SL_ENOMEM. */
int sim_spectrometer_begin(struct sim_spectrometer *spectrometer, struct sim_event *event);

/* Starts the new particles from index `first` on. The first material that they meet is that of `node`, or, if
 * `is_after_material`, that of the next node. */
struct sim_birth {
  uint32_t first, node;
  uint32_t is_after_material;
  float time_ns;
};
int sim_spectrometer_add(struct sim_spectrometer *spectrometer, struct sim_event *event, const struct sim_birth *birth);

/* Adds a passage. 0 or SL_ENOMEM. */
int sim_add_passage(struct sim_event *event, enum sim_detector detector, uint32_t layer, const struct sim_track *track);

#endif
