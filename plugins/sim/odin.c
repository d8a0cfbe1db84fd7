/* odin.c: the ODIN bank (odin's README.md has its layout). */
#include "banks.h"

#include <string.h>

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
