/* spectrometer.h: the tracks between the end of the VELO and the ECAL.
 *
 * All tracks go together from node to node, values of z at which there is material or a detector, or a step ends
 * (steps.h). A charged particle starts at the first node behind its origin. A photon is followed at once, in a straight
 * line to the ECAL or to the node where it becomes a pair.
 *
 * Everything is simulated, whichever detectors are read, so that a detector's hits do not depend on which others are.
 */
#ifndef SIM_SPECTROMETER_H
#define SIM_SPECTROMETER_H

#include "lanes.h"
#include "planes.h"

enum { SIM_NODES_MAX = 96 };

#define SIM_SLOPE_MAX      2.0   /* steeper tracks end */
#define SIM_STEP_ALONE_MAX 250.0 /* mm, of a track that joins or leaves the others between nodes */

/* Where tracks stop over. `middle` is half way from the node before. */
struct sim_node {
  struct sim_field_plane middle, end;
  const struct sim_plane *plane; /* what is there, or NULL */
};

/* A track that begins at a node, in a list of those that begin at the same one. */
enum { SIM_NO_START = UINT32_MAX };
struct sim_start {
  struct sim_track track;
  uint32_t next; /* index in `starts`, or SIM_NO_START */
};

/* What photons meet: by ascending z, the nodes with material, which is between two squares of the distance from the
 * beam, outside of the pipe. `whole_planes` is the sum without the rings, which lie within slopes of `ring_end`. */
struct sim_photon_way {
  uint32_t count, node[SIM_NODES_MAX];
  double z[SIM_NODES_MAX], pipe2[SIM_NODES_MAX], from2[SIM_NODES_MAX], to2[SIM_NODES_MAX], material[SIM_NODES_MAX];
  double whole_planes, ring_end;
};

struct sim_spectrometer {
  double polarity;
  uint32_t node_count, reserved;
  struct sim_node nodes[SIM_NODES_MAX];
  struct sim_photon_way photon_way;
  struct sim_random flights[SIM_RANDOM_LANES]; /* SIM_FOR_FLIGHT: of the particles from `first_flight` on */
  uint32_t first_flight;
  struct sim_flock flock;
  SIM_LIST(struct sim_start) starts;
  uint32_t first_start[2][SIM_NODES_MAX]; /* before the material of each node, and behind it */
};

/* NULL when memory is out. */
struct sim_spectrometer *sim_spectrometer_new(double polarity);
void sim_spectrometer_free(struct sim_spectrometer *spectrometer);

/* Empties the flock and starts the particles that have `reached_end`, and neutral ones; 0 or SL_ENOMEM. */
int sim_spectrometer_begin(struct sim_spectrometer *spectrometer, struct sim_event *event);

/* Lets the particles from index `first` on, which were just made, go on; what they meet first is the material of
 * `node`, or, if `is_behind`, that of the next one. */
struct sim_birth {
  uint32_t first, node;
  uint32_t is_behind;
  float time_ns;
};
int sim_spectrometer_add(struct sim_spectrometer *spectrometer, struct sim_event *event, const struct sim_birth *birth);

/* Adds a passage; 0 or SL_ENOMEM. */
int sim_pass(struct sim_event *event, enum sim_detector detector, uint32_t layer, const struct sim_track *track);

#endif
