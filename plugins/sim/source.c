/* source.c: sim.source, simulated events as raw banks, on the ports of io.mdf_source.
 * 1. Events are simulated several at a time, one per worker; a single worker makes one event at a time.
 * 2. They are packed into slices in the order of their numbers; events that do not fit wait for the next slice.
 * An event depends on seed and event number alone (random.h), not on slices or workers.
 * Banks are on the ports in the order of a file, by ascending type and sensor. Ports and budgets are those of the
 * file readers (io/bank_packer.h). */
#include "io/bank_packer.h"
#include "simulation.h"
#include "transport/magnet.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS source_args
#define SOURCE(M)                                                                                                   \
  M(OPEN_OUT, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "raw banks, one port per bank type")                         \
  IO_RAW_RECORD_OUT(M)                                                                                              \
  M(U64, seed, 1, 0, 0x1p64, "", "seed; an event depends on seed and event number alone")                           \
  M(U64, events, 1000, 0, 0x1p64, "", "number of events; 0: no limit")                                              \
  M(ENUM, conditions, "pp_2024", "conditions of data taking: mean number of collisions", SIM_CONDITIONS_NAMES)      \
  M(F32, mu, -1, -1, 60, "", "mean number of visible collisions per crossing of two bunches; -1: as `conditions`")  \
  M(F32, gas_mu, 0, 0, 60, "", "mean number of collisions with gas at z of -537 to -337 mm per crossing of beam 1") \
  M(ENUM, signal, "none", "decay of a particle, or two jets, added to each event", SIM_SIGNAL_NAMES)                \
  M(ENUM, signal_in, "collision", "collision with the signal: of protons, or with gas", "collision gas")            \
  M(F32, luminosity_fraction, 0.01, 0, 1, "", "fraction of luminosity events, at crossings of any type")            \
  M(F32, beam_gas_fraction, 0, 0, 1, "", "fraction of beam-gas events")                                             \
  M(F32, empty_fraction, 0, 0, 1, "", "fraction of events without beam")                                            \
  M(ENUM, polarity, "down", "magnet polarity", "down up")                                                           \
  M(FILE_IN, velo, "", "", "file with the VELO description; empty: nominal")                                        \
  M(FILE_IN, ut, "", "", "file with the UT description; empty: nominal")                                            \
  M(FILE_IN, scifi, "", "", "file with the SciFi description; empty: nominal")                                      \
  M(FILE_IN, calo, "", "", "file with the calorimeter description; empty: nominal")                                 \
  M(FILE_IN, muon, "", "", "file with the description of the muon chambers; empty: nominal")                        \
  M(F32, velo_efficiency, 0.99, 0, 1, "", "efficiency of a VELO sensor, per track")                                 \
  M(F32, ut_efficiency, 0.998, 0, 1, "", "efficiency of a UT sensor, per track")                                    \
  M(F32, scifi_efficiency, 0.98, 0, 1, "", "efficiency of a SciFi layer, per track")                                \
  M(F32, muon_efficiency, 0.99, 0, 1, "", "efficiency of a muon chamber, per track")                                \
  M(F32, calo_background, 1, 0, 10, "", "scale of the calorimeter's added background; 1: as in full simulation")    \
  M(U32, run, 1, 0, UINT32_MAX, "", "run number")                                                                   \
  M(U32, odin_version, 7, 6, 7, "", "version of the ODIN bank")                                                     \
  M(U32, superpixel_version, 2, 2, 4, "", "version of the super-pixel banks")                                       \
  M(U32, cluster_version, 3, 2, 4, "", "version of the retina cluster banks and of the VELO ids in the truth")      \
  M(U32, ut_version, 3, 3, 4, "", "version of the UT banks and of the UT ids in the truth")                         \
  M(U32, scifi_version, 5, 4, 8, "", "version of the SciFi banks and of the SciFi ids in the truth")                \
  M(U32, calo_version, 2, 2, 5, "", "version of the calorimeter banks: 2 (type 21), 4 or 5 (type 77)")              \
  M(U32, muon_version, 2, 2, 3, "", "version of the muon banks")
SL_HOST_ARGUMENTS(source, SOURCE);

/* Events simulated ahead per worker: enough that workers seldom wait for the slowest one. */
enum { EVENTS_AHEAD = 32 };

/* A simulated event; `status` is 0 or an error. */
struct made_event {
  struct sim_bank_list banks;
  int status;
};

struct source {
  const struct sl_services *services;
  struct sim_simulation *simulations; /* one per worker */
  uint32_t worker_count, made_capacity;
  struct made_event *made; /* of events [made_first, made_end) */
  uint64_t made_first, made_end;
  uint64_t next; /* number of the next event */
  struct io_packer packer;
};

/* Returns SIM_MAKE_... of the banks that the graph reads. */
static uint32_t banks_to_make(const struct io_packer *packer) {
  static const struct {
    uint8_t type;
    uint8_t banks;
  } types[] = {{SIM_BANK_MC_PARTICLES, SIM_MAKE_TRUTH},
               {SIM_BANK_MC_VERTICES, SIM_MAKE_TRUTH},
               {SIM_BANK_VELO_SUPERPIXELS, SIM_MAKE_SUPERPIXELS},
               {SIM_BANK_UT, SIM_MAKE_UT},
               {SIM_BANK_SCIFI, SIM_MAKE_SCIFI},
               {SIM_BANK_ECAL_PACKED, SIM_MAKE_ECAL},
               {SIM_BANK_CALO, SIM_MAKE_ECAL},
               {SIM_BANK_MUON, SIM_MAKE_MUON},
               {SIM_BANK_MC_PHOTONS, SIM_MAKE_PHOTONS}};
  uint32_t make_flags = io_packer_record_is_read(packer) ? SIM_MAKE_ALL : 0;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (io_packer_type_is_read(packer, types[i].type)) make_flags |= types[i].banks;
  return make_flags;
}

/* ------------------------------------------------------------------------------------------------- the source */

/* Loads the descriptions of all detectors, so that all errors are reported at once. */
static int load_descriptions(const struct sl_services *s, const struct source_args *args, struct sim_simulation *to) {
  int status = SL_OK, one;
#define LOAD(detector)                                                                     \
  one = statements_load(&detector##_description_format, s, args->detector, &to->detector); \
  if (one < 0) status = one;
  SIM_DESCRIBED(LOAD)
#undef LOAD
  return status;
}

static int source_check(const struct sl_services *s, const void *args_) {
  const struct source_args *args = (const struct source_args *)args_;
  const float sum = args->luminosity_fraction + args->beam_gas_fraction + args->empty_fraction;
  int status = SL_OK;
  if (sum > 1.0f) {
    s->message(s->context, SL_ERROR,
               "luminosity_fraction: its sum with beam_gas_fraction and empty_fraction is %g, expected at most 1",
               (double)sum);
    status = SL_EINVAL;
  }
  if (args->mu < 0.0f && args->mu != -1.0f) {
    s->message(s->context, SL_ERROR, "mu: it is %g, expected 0 to 60, or -1 for that of `conditions`",
               (double)args->mu);
    status = SL_EINVAL;
  }
  if (args->signal_in && args->signal == SIM_SIGNAL_none) {
    s->message(s->context, SL_ERROR, "signal_in: there is no signal, expected a `signal`");
    status = SL_EINVAL;
  }
  if (args->calo_version == 3) {
    s->message(s->context, SL_ERROR, "calo_version: it is 3, expected 2, 4 or 5");
    status = SL_EINVAL;
  }
  struct sim_simulation *trial = (struct sim_simulation *)calloc(1, sizeof *trial); /* too large for a stack */
  const int described = trial ? load_descriptions(s, args, trial) : SL_ENOMEM;
  free(trial);
  return described < 0 ? described : status;
}

static void set_up(struct sim_simulation *to, const struct source_args *args) {
  to->settings = (struct sim_settings){.seed = args->seed,
                                       .mu = args->mu < 0.0f ? sim_conditions_mu[args->conditions] : args->mu,
                                       .gas_mu = args->gas_mu,
                                       .luminosity_fraction = args->luminosity_fraction,
                                       .beam_gas_fraction = args->beam_gas_fraction,
                                       .empty_fraction = args->empty_fraction,
                                       .signal = (enum sim_signal)args->signal,
                                       .signal_in_gas = args->signal_in,
                                       .run = args->run,
                                       .efficiency = args->velo_efficiency,
                                       .ut_efficiency = args->ut_efficiency,
                                       .scifi_efficiency = args->scifi_efficiency,
                                       .muon_efficiency = args->muon_efficiency,
                                       .calo_background = args->calo_background,
                                       .polarity = args->polarity ? SIM_POLARITY_UP : SIM_POLARITY_DOWN};
  to->versions = (struct sim_versions){.odin = args->odin_version,
                                       .superpixels = args->superpixel_version,
                                       .clusters = args->cluster_version,
                                       .ut = args->ut_version,
                                       .scifi = args->scifi_version,
                                       .calo = args->calo_version,
                                       .muon = args->muon_version};
}

static int source_open(void *state, const struct sl_services *s, const void *args_, const struct sl_inputs *inputs) {
  const struct source_args *args = (const struct source_args *)args_;
  struct source *m = (struct source *)state;
  (void)inputs; /* a source without `probe` has no inputs */
  m->services = s;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  m->worker_count = s->workers;
  m->made_capacity = m->worker_count == 1 ? 1 : EVENTS_AHEAD * m->worker_count;
  m->simulations = (struct sim_simulation *)calloc(m->worker_count, sizeof *m->simulations);
  m->made = (struct made_event *)calloc(m->made_capacity, sizeof *m->made);
  if (!m->simulations || !m->made) return SL_ENOMEM;
  struct sim_simulation *first = &m->simulations[0];
  set_up(first, args);
  const int status = load_descriptions(s, args, first);
  if (status == SL_OK) sim_sensor_lookup_make(&first->velo, &first->lookup);
  for (uint32_t i = 1; i < m->worker_count; i++) m->simulations[i] = *first; /* it owns no memory yet */
  return status;
}

static void source_close(void *state) {
  struct source *m = (struct source *)state;
  io_packer_report_absent(&m->packer, m->services);
  io_packer_close(&m->packer);
  for (uint32_t i = 0; m->simulations && i < m->worker_count; i++) sim_simulation_free(&m->simulations[i]);
  for (uint32_t i = 0; m->made && i < m->made_capacity; i++) sim_banks_free(&m->made[i].banks);
  free(m->simulations);
  free(m->made);
}

/* One iteration of the parallel loop. The banks are swapped with those of an earlier event, to reuse memory. */
static void make_event(void *work, uint32_t index, uint32_t worker) {
  struct source *m = (struct source *)work;
  struct sim_simulation *simulation = &m->simulations[worker];
  struct made_event *made = &m->made[index];
  made->status = sim_simulate(simulation, m->made_first + index);
  const struct sim_bank_list before = made->banks;
  made->banks = simulation->banks;
  simulation->banks = before;
}

/* Simulates the next events, at most `left` of them. */
static void make_events(struct source *m, const struct sl_services *s, uint64_t left) {
  const uint32_t count = left < m->made_capacity ? (uint32_t)left : m->made_capacity;
  const uint32_t make_flags = banks_to_make(&m->packer);
  for (uint32_t i = 0; i < m->worker_count; i++) m->simulations[i].make_flags = make_flags;
  m->made_first = m->next;
  s->in_parallel(s->context, count, make_event, m);
  m->made_end = m->next + count;
}

static void add_banks(struct source *m, const struct sim_bank_list *list) {
  for (uint32_t i = 0; i < list->banks.count; i++) {
    const struct sim_bank *bank = &list->banks.at[i];
    const struct io_bank added = {(const uint8_t *)(list->words.at + bank->first_word), bank->size_bytes,
                                  bank->source_id, bank->type, bank->version};
    io_packer_add(&m->packer, &added);
    if (bank->type != SIM_BANK_MC_PHOTONS) io_packer_add_to_record(&m->packer, &added, 0); /* not an LHCb bank */
  }
}

/* Appends the next event: 1, 0 if the slice is full, or the error of the event's simulation. */
static int append(struct source *m, const struct sl_services *s, const struct source_args *args, struct sl_fill *fill) {
  struct sl_event out = {.number = m->next, .offset = m->next, .run = args->run};
  struct io_packer_excess excess;
  char text[256];
  const struct made_event *made = &m->made[m->next - m->made_first];
  if (made->status < 0) return made->status;
  add_banks(m, &made->banks);
  switch (io_packer_fit(&m->packer, &excess)) {
    case IO_PACKER_SLICE_IS_FULL:
      io_packer_cancel(&m->packer);
      return 0;
    case IO_PACKER_TOO_LARGE:
      out.error = SL_EVENT_TOO_LARGE;
      io_packer_excess_text(&excess, text, sizeof text);
      s->message(s->context, SL_WARNING, "event %" PRIu64 ": %s", m->next, text);
      io_packer_drop(&m->packer, fill->event_count);
      break;
    default:
      io_packer_commit(&m->packer, fill->event_count);
  }
  fill->events[fill->event_count++] = out;
  return 1;
}

static int source_fill(void *state, const struct sl_services *s, const void *args_, struct sl_fill *fill) {
  const struct source_args *args = (const struct source_args *)args_;
  struct source *m = (struct source *)state;
  int more = 1;
  io_packer_begin(&m->packer, &args->banks, &args->record);
  while (fill->event_count < fill->events_max) {
    more = args->events == 0 || m->next < args->events;
    if (!more) break;
    if (m->next == m->made_end) make_events(m, s, args->events == 0 ? UINT64_MAX : args->events - m->next);
    const int appended = append(m, s, args, fill);
    if (appended < 0) return appended;
    if (appended == 0) break;
    m->next++;
  }
  io_packer_finish(&m->packer);
  fill->progress_done = m->next;
  fill->progress_total = args->events;
  return more;
}

static const struct sl_source source_functions = {.open = source_open, .fill = source_fill, .close = source_close};

SL_SOURCE(source, "simulated events", struct source, source_functions, SL_CHECK(source_check));
