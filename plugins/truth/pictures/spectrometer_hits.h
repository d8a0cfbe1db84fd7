/* spectrometer_hits.h: adds decoded hits or raw banks of an event to a struct spectrometer, one function per
 * detector. */
#ifndef TRUTH_SPECTROMETER_HITS_H
#define TRUTH_SPECTROMETER_HITS_H

#include "calo/event_model.h"
#include "calo/raw_banks.h"
#include "muon/event_model.h"
#include "muon/raw_banks.h"
#include "scifi/event_model.h"
#include "spectrometer.h"
#include "ut/event_model.h"

/* Banks that were ignored. */
struct spectrometer_faults {
  uint32_t count, source_id; /* source_id: of the last one */
  const char *text;          /* error in the last one */
};

/* Return 0 or SL_ENOMEM. */
int spectrometer_take_ut(struct spectrometer *p, const struct ut_hits_view *hits, uint32_t event);
int spectrometer_take_scifi(struct spectrometer *p, const struct scifi_hits_view *hits, uint32_t event);
/* Return 0 or SL_ENOMEM. Malformed banks are added to `faults`. */
int spectrometer_read_muon(struct spectrometer *p, const struct muon_geometry_view *geometry,
                           const struct muon_banks_view *banks, uint32_t event, struct spectrometer_faults *faults);
void spectrometer_read_calo(struct spectrometer *p, const struct calo_geometry_view *geometry,
                            const struct calo_banks_view *banks, uint32_t event, struct spectrometer_faults *faults);

#endif
