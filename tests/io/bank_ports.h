/* bank_ports.h: an algorithm with one port per kind of raw banks declared by the plugins of this repository, made like
 * the registry makes it from an algorithm with open ports. */
#ifndef TEST_BANK_PORTS_H
#define TEST_BANK_PORTS_H

#include "plugin/expand.h"

#include <sluice/plugin.h>

#include <odin/raw_banks.h>
#include <truth/raw_banks.h>
#include <velo/raw_banks.h>

/* Returns the expanded plugin, which the caller frees with free(), or NULL if memory is exhausted. */
static inline struct sl_plugin *with_bank_ports(const struct sl_plugin *plugin) {
  const struct sl_collection *collections[] = {
      /* sorted by port name */
      &mc_particle_banks_collection, &mc_vertex_banks_collection, &odin_banks_collection, &velo_retina_banks_collection,
      &velo_superpixel_banks_collection};
  const struct sl_traits traits = {collections, sizeof collections / sizeof collections[0]};
  return sl_plugin_expand(plugin, &traits);
}

#endif
