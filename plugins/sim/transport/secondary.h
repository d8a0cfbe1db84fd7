/* secondary.h: what particles make in material, wherever that stands. New particles are added to the event's list; whom
 * they come from is their mother. */
#ifndef SIM_SECONDARY_H
#define SIM_SECONDARY_H

#include "event/event.h"

/* Who makes them, and where. */
struct sim_maker {
  struct sim_event *event;
  struct sim_random *random;
  uint32_t index;  /* of the mother */
  float x, y, z;   /* the place */
  float flight[3]; /* unit vector, along the mother's momentum */
  float p;         /* the mother's, MeV */
  float mass;      /* likewise */
};

/* The unit vector of a state, and back; false where the line is too steep to follow along z. */
void sim_direction_of(const struct sim_state *state, float flight[3]);
int sim_set_direction(struct sim_state *state, const float flight[3]);
/* Turns a unit vector by the angles a and b in two directions orthogonal to it and each other. */
void sim_turn(float flight[3], float a, float b);

/* Adds one particle of momentum p; 0 or SL_ENOMEM, as all of these. */
int sim_make(const struct sim_maker *maker, const struct sim_species *species, int32_t sign, const float flight[3],
             float p);
/* A photon becomes an electron and a positron, which share the energy uniformly, at angles of the order of m / E. */
int sim_make_pair(const struct sim_maker *maker);
/* A hadron becomes a leading one with about half of its momentum, and slower ones of some 300 MeV in all directions of
 * the forward hemisphere and beyond, more of them at high energy, and `richness` times as many. */
int sim_make_hadrons(const struct sim_maker *maker, uint32_t richness);
/* A charged particle knocks out an electron of more than `energy_min` MeV, with the 1/T^2 spectrum, at
 * tan(angle) = sqrt(2 m / T), nearly; it loses no noticeable momentum. */
int sim_make_knocked(const struct sim_maker *maker, float energy_min);

#endif
