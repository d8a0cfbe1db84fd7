/* secondary.h: particles that are made in material, in all parts of the detector. They are appended to the event's
 * particles, with the primary particle as their mother. */
#ifndef SIM_SECONDARY_H
#define SIM_SECONDARY_H

#include "event/event.h"

/* Primary particle and position of the production. */
struct sim_interaction {
  struct sim_event *event;
  struct sim_random *random;
  uint32_t index;  /* of the mother */
  float x, y, z;   /* position */
  float flight[3]; /* unit vector, along the mother's momentum */
  float p;         /* of the mother, MeV */
  float mass;      /* of the mother, MeV */
};

/* Unit vector of a state, and its inverse: sim_set_direction returns 0 if the direction is too steep to follow along
 * z. */
void sim_direction_of(const struct sim_state *state, float flight[3]);
int sim_set_direction(struct sim_state *state, const float flight[3]);
/* Turns a unit vector by the angles a and b in two directions orthogonal to it and to each other. */
void sim_turn(float flight[3], float a, float b);

/* Adds one particle of momentum p. This and the functions below return 0 or SL_ENOMEM. */
int sim_make(const struct sim_interaction *interaction, const struct sim_species *species, int32_t sign,
             const float flight[3], float p);
/* Photon conversion: electron and positron share the energy uniformly, at angles of the order of m / E. */
int sim_make_pair(const struct sim_interaction *interaction);
/* An interaction of a hadron: fast hadrons and slow protons. */
int sim_make_hadrons(const struct sim_interaction *interaction);
/* A charged particle knocks out a delta electron of more than `energy_min` MeV, with the 1/T^2 spectrum, at about
 * tan(angle) = sqrt(2 m / T). The momentum of the particle does not change. */
int sim_make_delta_electron(const struct sim_interaction *interaction, float energy_min);

#endif
