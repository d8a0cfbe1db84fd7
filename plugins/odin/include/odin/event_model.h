/* event_model.h: collection of the ODIN plugin: identification of an event and conditions of its crossing. The layout
 * of the bank is in README.md. */
#ifndef ODIN_EVENT_MODEL_H
#define ODIN_EVENT_MODEL_H

#include <sluice/plugin.h>

enum { ODIN_SLOTS = 3564 /* bunch slots of an orbit, 25 ns each */ };

/* Bits of `event_type`. */
enum {
  ODIN_VELO_OPEN = 0x0001,
  ODIN_PHYSICS = 0x0002,
  ODIN_NO_BIAS = 0x0004,
  ODIN_LUMINOSITY = 0x0008,
  ODIN_BEAM_1_GAS = 0x0010,
  ODIN_BEAM_2_GAS = 0x0020
};

/* Values of `crossing_type`. */
enum { ODIN_NO_BEAM, ODIN_BEAM_1, ODIN_BEAM_2, ODIN_BEAM_BEAM };

/* Fields that a version of the bank does not have are 0. */
#define ODIN_EVENTS_FIELDS(F)                                                                                       \
  F(event_number, u64, PER_EVENT, "", "number of the event in its run")                                             \
  F(gps_time, u64, PER_EVENT, "us", "time since 1970")                                                              \
  F(run, u32, PER_EVENT, "", "run number")                                                                          \
  F(orbit, u32, PER_EVENT, "", "orbit number")                                                                      \
  F(tck, u32, PER_EVENT, "", "trigger configuration key")                                                           \
  F(partition, u32, PER_EVENT, "", "partition id; version 7")                                                       \
  F(detector_status, u32, PER_EVENT, "", "detector status, 24 bits; version 6")                                     \
  F(event_type, u16, PER_EVENT, "", "bits: 1 VELO open, 2 physics, 4 no bias, 8 luminosity, 16, 32 beam 1, 2 gas")  \
  F(calibration_step, u16, PER_EVENT, "", "step of a calibration run")                                              \
  F(bunch, u16, PER_EVENT, "", "bunch slot in the orbit")                                                           \
  F(crossing_type, u8, PER_EVENT, "", "0 no beam, 1 beam 1, 2 beam 2, 3 both")                                      \
  F(trigger_type, u8, PER_EVENT, "",                                                                                \
    "0 physics, 1 beam gas, 2 luminosity, 3 technical, 4 auxiliary, 5 not suppressed, 6 timing, 7 calibration")     \
  F(calibration_type, u8, PER_EVENT, "", "type of the calibration")                                                 \
  F(tae_index, u8, PER_EVENT, "", "index in a window of consecutive crossings")                                     \
  F(flags, u8, PER_EVENT, "",                                                                                       \
    "bits: 1 not zero-suppressed, 2 central and 4 first crossing of a window, 8 step run; of version 6: 16 forced") \
  F(error_bits, u8, PER_EVENT, "", "error bits of the readout, 8 bits; version 6")                                  \
  F(bunch_current, u8, PER_EVENT, "", "bunch current, 8 bits; version 6")
SL_COLLECTION(odin_events, ODIN_EVENTS_FIELDS, "ODIN fields of each event");

/* Bits of `flags`. */
enum { ODIN_NOT_SUPPRESSED = 1, ODIN_TAE_CENTRAL = 2, ODIN_TAE_FIRST = 4, ODIN_STEP_RUN = 8, ODIN_FORCED = 16 };

#endif
