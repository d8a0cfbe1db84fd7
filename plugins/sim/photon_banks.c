/* photon_banks.c: the truth about photons at the calorimeter (truth's photons.h): those of collisions and decays, not
 * those that were made in material, nor what is made up there.
 */
#include "banks.h"
#include "truth/photons.h"

#include <stdlib.h>

/* Where the shower is largest, in the plane of that name. */
static uint32_t cell_of(const struct calo_description *d, const struct sim_passage *p) {
  const float *plane = d->planes + CALO_PLANE_VALUES * CALO_SHOWER_MAX;
  const float way = -(plane[0] * p->x + plane[1] * p->y + plane[2] * p->z + plane[3]) /
                    (plane[0] * p->tx + plane[1] * p->ty + plane[2]);
  const float x = p->x + p->tx * way, y = p->y + p->ty * way, z = p->z + way;
  struct calo_place at;
  return calo_description_cell_at(d, x, d->to_local[5] * y + d->to_local[6] * z + d->to_local[7], &at);
}

static struct truth_photon photon_of(const struct sim_event *event, const struct calo_description *d,
                                     const struct sim_passage *p) {
  const int32_t mother = event->particles.at[p->particle].mother;
  const int is_of_pi0 = mother >= 0 && event->particles.at[mother].species == &sim_species[SIM_PION_0];
  return (struct truth_photon){.energy = p->p,
                               .x = p->x + p->tx * (TRUTH_PHOTON_Z - p->z),
                               .y = p->y + p->ty * (TRUTH_PHOTON_Z - p->z),
                               .cell = cell_of(d, p),
                               .pi0 = is_of_pi0 ? mother : TRUTH_NO_PI0};
}

int sim_photon_banks(struct sim_bank_list *list, const struct calo_description *ecal, const struct sim_event *event) {
  const uint32_t most = event->passages[SIM_IN_ECAL].count;
  struct truth_photon *photons = (struct truth_photon *)malloc((most + 1) * sizeof *photons);
  uint32_t count = 0;
  if (!photons) return SL_ENOMEM;
  for (uint32_t i = 0; i < most; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_ECAL].at[i];
    const struct sim_particle *particle = &event->particles.at[p->particle];
    if (particle->species != &sim_species[SIM_PHOTON] || (particle->flags & SIM_IS_SECONDARY)) continue;
    const struct truth_photon photon = photon_of(event, ecal, p);
    const float r2 = photon.x * photon.x + photon.y * photon.y;
    if (photon.energy * sqrtf(r2 / (r2 + TRUTH_PHOTON_Z * TRUTH_PHOTON_Z)) < TRUTH_PHOTON_ET_MIN) continue;
    photons[count++] = photon;
  }
  const int status =
      sim_banks_add_parts(list, SIM_BANK_MC_PHOTONS, TRUTH_PHOTONS_VERSION, photons, count * sizeof *photons);
  free(photons);
  return status;
}
