/* crossing.c: see crossing.h.
 * Both beams are filled in batches of 80 slots, 72 of them with a bunch, up to the abort gap. Every twelfth batch is
 * in beam 1 only and every twelfth in beam 2 only, so that all four crossing types exist. Luminosity events are
 * taken at all types, as in the experiment, for the subtraction of background; the other types follow the fractions
 * of the settings. There is one event per orbit; the orbit number is the event number plus 1. */
#include "crossing.h"

enum {
  SLOTS = 3564,            /* per orbit */
  FIRST_EMPTY_SLOT = 3444, /* the abort gap, 3 us */
  BATCH = 80,
  BUNCHES = 72,
  SINGLE_BEAM_PERIOD = 12
};

/* 2024-05-01 00:00 UTC, microseconds since 1970. */
static const uint64_t first_orbit_us = 1714521600000000ull;

static enum sim_crossing_type type_of_slot(uint32_t slot) {
  if (slot >= FIRST_EMPTY_SLOT || slot % BATCH >= BUNCHES) return SIM_NO_BEAM;
  const uint32_t batch = slot / BATCH % SINGLE_BEAM_PERIOD;
  return batch == 3 ? SIM_BEAM_1 : batch == 9 ? SIM_BEAM_2 : SIM_BEAM_BEAM;
}

/* Fractions of luminosity events: both beams; beam 1, beam 2 and no beam. */
static const float luminosity_both = 0.7f, luminosity_each = 0.1f;

static enum sim_crossing_type luminosity_type(float u) {
  if (u < luminosity_both) return SIM_BEAM_BEAM;
  if (u < luminosity_both + luminosity_each) return SIM_BEAM_1;
  return u < luminosity_both + 2.0f * luminosity_each ? SIM_BEAM_2 : SIM_NO_BEAM;
}

void sim_crossing_make(const struct sim_settings *s, uint64_t number, struct sim_crossing *crossing) {
  struct sim_random r = sim_random_begin(s->seed, number, SIM_FOR_CROSSING, 0);
  const float kind = sim_uniform(&r), choice = sim_uniform(&r);
  *crossing =
      (struct sim_crossing){.number = number, .run = s->run, .orbit = (uint32_t)(number + 1), .type = SIM_BEAM_BEAM};
  crossing->is_luminosity = kind < s->luminosity_fraction;
  crossing->is_beam_gas = !crossing->is_luminosity && kind < s->luminosity_fraction + s->beam_gas_fraction;
  const int is_empty = !crossing->is_luminosity && !crossing->is_beam_gas &&
                       kind < s->luminosity_fraction + s->beam_gas_fraction + s->empty_fraction;
  if (crossing->is_luminosity)
    crossing->type = luminosity_type(choice);
  else if (crossing->is_beam_gas)
    crossing->type = choice < 0.5f ? SIM_BEAM_1 : SIM_BEAM_2;
  else if (is_empty)
    crossing->type = SIM_NO_BEAM;
  do {
    crossing->bunch_id = sim_random_u32(&r) % SLOTS;
  } while (type_of_slot(crossing->bunch_id) != crossing->type);
  /* A slot is 25 ns. */
  crossing->gps_time_us = first_orbit_us + ((number + 1) * SLOTS + crossing->bunch_id) / 40;
}

/* --------------------------------------------------------------------------------------------- ODIN bank */

enum { WORDS = 10, TRIGGER_PHYSICS = 0, TRIGGER_BEAM_GAS = 1, TRIGGER_LUMINOSITY = 2 };
enum { TYPE_PHYSICS = 0x0002, TYPE_LUMINOSITY = 0x0008, TYPE_BEAM_1_GAS = 0x0010, TYPE_BEAM_2_GAS = 0x0020 };
static const uint32_t trigger_configuration = 0x10000001;

static uint32_t event_type(const struct sim_crossing *c) {
  const uint32_t physics = c->type == SIM_BEAM_BEAM ? TYPE_PHYSICS : 0;
  if (c->is_luminosity) return physics | TYPE_LUMINOSITY;
  if (c->is_beam_gas) return c->type == SIM_BEAM_1 ? TYPE_BEAM_1_GAS : TYPE_BEAM_2_GAS;
  return physics;
}

int sim_odin_bank(struct sim_bank_list *list, const struct sim_crossing *c, uint32_t version) {
  const uint32_t trigger = c->is_luminosity ? TRIGGER_LUMINOSITY : c->is_beam_gas ? TRIGGER_BEAM_GAS : TRIGGER_PHYSICS;
  const uint32_t type = (uint32_t)c->type;
  const uint32_t gps_low = (uint32_t)c->gps_time_us, gps_high = (uint32_t)(c->gps_time_us >> 32);
  const uint32_t number_low = (uint32_t)c->number, number_high = (uint32_t)(c->number >> 32);
  const uint32_t words_6[WORDS] = {c->run,
                                   event_type(c),
                                   c->orbit,
                                   number_high,
                                   number_low,
                                   gps_high,
                                   gps_low,
                                   0,
                                   c->bunch_id | trigger << 16 | type << 22,
                                   trigger_configuration};
  const uint32_t words_7[WORDS] = {
      c->run,   event_type(c), gps_low,    gps_high, trigger_configuration, 0, c->bunch_id | type << 12 | trigger << 23,
      c->orbit, number_low,    number_high};
  return sim_banks_add(list, SIM_BANK_ODIN, (uint8_t)version, 0, version == 6 ? words_6 : words_7, WORDS * 4);
}
