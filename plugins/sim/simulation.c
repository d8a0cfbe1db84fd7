/* simulation.c: see simulation.h. To add a detector, call its digits in make_digits and its banks in make_banks. */
#include "simulation.h"

#include "calo/bank_words.h"
#include "generator/crossing.h"
#include "transport/soft.h"

static int make_particles(struct sim_simulation *s, uint64_t number) {
  struct sim_event *event = &s->event;
  sim_event_clear(event);
  event->seed = s->settings.seed;
  sim_crossing_make(&s->settings, number, &event->crossing);
  const int status = sim_generate(&s->settings, event);
  return status == SL_OK ? sim_transport(&s->velo, &s->lookup, event) : status;
}

/* Passages through the detectors downstream of the VELO. */
static int make_passages(struct sim_simulation *s) {
  if (!s->spectrometer) s->spectrometer = sim_spectrometer_new((double)s->settings.polarity);
  const int status = s->spectrometer ? sim_spectrometer_run(s->spectrometer, &s->event) : SL_ENOMEM;
  return status == SL_OK ? sim_soft(&s->event) : status;
}

static int makes(const struct sim_simulation *s, uint32_t banks) { return (s->make_flags & banks) != 0; }

/* Digitises the detectors. The truth needs the hit identifiers of the UT and the SciFi. */
static int make_digits(struct sim_simulation *s) {
  int status = sim_velo_digitise(&s->velo, s->settings.efficiency, &s->event, &s->velo_digits);
  if (status == SL_OK && makes(s, SIM_MAKE_TRUTH | SIM_MAKE_UT))
    status = sim_ut_digitise(&s->ut, &s->settings, s->versions.ut, &s->event, &s->ut_digits);
  if (status == SL_OK && makes(s, SIM_MAKE_TRUTH | SIM_MAKE_SCIFI))
    status = sim_scifi_digitise(&s->scifi, &s->settings, s->versions.scifi, &s->event, &s->scifi_digits);
  if (status == SL_OK && makes(s, SIM_MAKE_ECAL))
    status = sim_ecal_digitise(&s->calo, &s->settings, &s->event, &s->ecal_digits);
  if (status == SL_OK && makes(s, SIM_MAKE_MUON))
    status = sim_muon_digitise(&s->muon, &s->settings, s->versions.muon, &s->event, &s->muon_digits);
  return status;
}

static int make_banks(struct sim_simulation *s) {
  struct sim_bank_list *banks = &s->banks;
  sim_banks_clear(banks);
  int status = SL_OK;
  if (makes(s, SIM_MAKE_MUON)) status = sim_muon_banks(banks, &s->muon, &s->muon_digits, s->versions.muon);
  if (status == SL_OK) status = sim_odin_bank(banks, &s->event.crossing, s->versions.odin);
  const int with_ecal = makes(s, SIM_MAKE_ECAL), ecal_is_packed = s->versions.calo <= CALO_PACKED_VERSION_MAX;
  if (status == SL_OK && with_ecal && ecal_is_packed)
    status = sim_ecal_banks(banks, &s->calo, &s->ecal_digits, s->versions.calo);
  if (status == SL_OK && makes(s, SIM_MAKE_TRUTH)) status = sim_truth_banks(banks, &s->event);
  if (status == SL_OK && makes(s, SIM_MAKE_SUPERPIXELS))
    status = sim_velo_superpixel_banks(banks, &s->velo_digits, s->versions.superpixels);
  if (status == SL_OK && makes(s, SIM_MAKE_SCIFI))
    status = sim_scifi_banks(banks, &s->scifi, &s->scifi_digits, s->versions.scifi);
  if (status == SL_OK && makes(s, SIM_MAKE_UT)) status = sim_ut_banks(banks, &s->ut, &s->ut_digits, s->versions.ut);
  if (status == SL_OK) status = sim_velo_cluster_banks(banks, &s->velo_digits, s->versions.clusters);
  if (status == SL_OK && with_ecal && !ecal_is_packed)
    status = sim_ecal_banks(banks, &s->calo, &s->ecal_digits, s->versions.calo);
  if (status == SL_OK && makes(s, SIM_MAKE_PHOTONS)) status = sim_photon_banks(banks, &s->calo, &s->event);
  return status;
}

int sim_simulate(struct sim_simulation *s, uint64_t number) {
  int status = make_particles(s, number);
  if (status == SL_OK && makes(s, SIM_NEED_SPECTROMETER)) status = make_passages(s);
  if (status == SL_OK) status = make_digits(s);
  if (status == SL_OK && makes(s, SIM_MAKE_TRUTH))
    status = sim_truth_make(&s->event, &s->velo_digits, s->versions.clusters);
  return status == SL_OK ? make_banks(s) : status;
}

void sim_simulation_free(struct sim_simulation *s) {
  sim_event_free(&s->event);
  sim_velo_digits_free(&s->velo_digits);
  sim_ut_digits_free(&s->ut_digits);
  sim_scifi_digits_free(&s->scifi_digits);
  sim_ecal_digits_free(&s->ecal_digits);
  sim_muon_digits_free(&s->muon_digits);
  sim_banks_free(&s->banks);
  sim_spectrometer_free(s->spectrometer);
  s->spectrometer = NULL;
}
