/* banks.h: the raw banks of each kind, made of a simulated event. One file a kind. */
#ifndef SIM_BANKS_H
#define SIM_BANKS_H

#include "bank_list.h"
#include "ecal_digits.h"
#include "muon_digits.h"
#include "scifi_digits.h"
#include "ut_digits.h"
#include "velo_digits.h"

/* odin.c: versions 6 and 7. */
int sim_odin_bank(struct sim_bank_list *list, const struct sim_crossing *crossing, uint32_t version);

/* velo_banks.c: versions 2 to 4, a bank a sensor (4: a pair of sensors), empty ones too. */
int sim_velo_superpixel_banks(struct sim_bank_list *list, const struct sim_velo_digits *digits, uint32_t version);
int sim_velo_cluster_banks(struct sim_bank_list *list, const struct sim_velo_digits *digits, uint32_t version);
/* The identifier that the decoding of cluster banks of that version gives a cluster. */
uint32_t sim_velo_cluster_id(const struct sim_cluster *cluster, uint32_t version);

/* photon_banks.c: the truth about photons at the calorimeter, of type 240. */
int sim_photon_banks(struct sim_bank_list *list, const struct calo_description *ecal, const struct sim_event *event);

/* ecal_banks.c: version 2 is of type 21, versions 4 and 5 are of type 77. */
int sim_ecal_banks(struct sim_bank_list *list, const struct calo_description *ecal,
                   const struct sim_ecal_digits *digits, uint32_t version);
/* ut_banks.c: versions 3 and 4, a bank a board, empty ones too. */
int sim_ut_banks(struct sim_bank_list *list, const struct ut_description *ut, const struct sim_ut_digits *digits,
                 uint32_t version);
/* scifi_banks.c: versions 4 to 8, 240 banks, empty ones too. */
int sim_scifi_banks(struct sim_bank_list *list, const struct scifi_description *scifi,
                    const struct sim_scifi_digits *digits, uint32_t version);

/* muon_banks.c: versions 2 and 3, which is that of the digits; ten or 44 banks, empty ones too. */
int sim_muon_banks(struct sim_bank_list *list, const struct muon_description *muon,
                   const struct sim_muon_digits *digits, uint32_t version);

/* truth.c: which particles have which clusters, what they are reconstructible in, and how many there are of each
 * vertex. Then the banks: particles (32, version 2) and vertices (33, version 1). */
int sim_truth_make(struct sim_event *event, const struct sim_velo_digits *digits, uint32_t cluster_version);
int sim_truth_banks(struct sim_bank_list *list, const struct sim_event *event);

#endif
