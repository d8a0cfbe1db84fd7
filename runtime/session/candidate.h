/* candidate.h: a configuration of a run that is not the present one. */
#ifndef SL_SESSION_CANDIDATE_H
#define SL_SESSION_CANDIDATE_H

#include "session/session.h"

/* Checked, or replaced. Devices, registry and worker threads of its setup
 * are those of the session. */
struct sl_candidate {
  struct sl_setup setup;
  struct sl_constant_conditions conditions;
  struct sl_files files;
  struct sl_reload_texts texts;
  struct sl_slot *slots;     /* of a replaced one, for memory of batches that the program keeps */
  int keeps_graph;           /* the session frees the graph */
  struct sl_candidate *next; /* in sl_reloading.replaced */
};

/* Closes what it owns; its setup may have lost parts to the session. */
void sl_candidate_free(struct sl_candidate *c);

#endif
