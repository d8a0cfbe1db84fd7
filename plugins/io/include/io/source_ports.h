/* source_ports.h: the output ports and budgets that every source of raw banks has, so that one source can be swapped
 * for another in any graph.
 *
 *   struct my_source_args {
 *     IO_SOURCE_PORTS
 *     uint32_t strict;
 *   };
 *   #define SL_ARGS my_source_args
 *   static const struct sl_member my_source_members[] = {IO_SOURCE_MEMBERS SL_BOOL(strict, 0, "..."), };
 *
 * Budgets. Each kind of bank has one for banks and one for 32-bit words, per event, and a minimum for the whole slice:
 * slices of few events get the minimum, so that the largest event fits, and slices of many get what an average event
 * needs with some room. A slice ends early where a budget is used up.
 */
#ifndef IO_SOURCE_PORTS_H
#define IO_SOURCE_PORTS_H

#include "io/raw_banks.h"

/* B(port, banks an event, banks a slice at least, words an event, words a slice at least), in the order of
 * IO_RAW_BANK_KINDS. A minimum-bias event has on average (at most) 208 banks and 2,100 (6,000) words of retina
 * clusters, 208 banks and 2,600 (5,200) words of super-pixels, 8,000 to 26,000 (56,000) words of particles. */
#define IO_RAW_BANK_BUDGETS(B)                \
  B(odin, 1, 64, 16, 1024)                    \
  B(velo_superpixels, 256, 1024, 4096, 65536) \
  B(velo_clusters, 256, 1024, 4096, 65536)    \
  B(mc_particles, 4, 64, 32768, 262144)       \
  B(mc_vertices, 1, 64, 128, 16384)

#define IO_PORT_(port, collection, doc, ...)                      struct collection port;
#define IO_BUDGET_ARGS_(port, banks, banks_min, words, words_min) uint32_t port##_banks, port##_words;
#define IO_SOURCE_PORTS       \
  IO_RAW_BANK_KINDS(IO_PORT_) \
  IO_RAW_BANK_BUDGETS(IO_BUDGET_ARGS_)

#define IO_KIND_ENUM_(port, collection, doc, ...) IO_KIND_##port,
enum { IO_RAW_BANK_KINDS(IO_KIND_ENUM_) IO_KIND_COUNT };

#define IO_BUDGET_ENUM_(port, banks, banks_min, words, words_min) IO_BUDGET_##port,
#define IO_BUDGET_CHECK_(port, banks, banks_min, words, words_min) \
  SL_STATIC_ASSERT((int)IO_BUDGET_##port == (int)IO_KIND_##port, "one budget a kind, in their order");
enum { IO_RAW_BANK_BUDGETS(IO_BUDGET_ENUM_) IO_BUDGET_COUNT };
IO_RAW_BANK_BUDGETS(IO_BUDGET_CHECK_)
SL_STATIC_ASSERT((int)IO_BUDGET_COUNT == (int)IO_KIND_COUNT, "one budget a kind");

/* The minima as constants, since the two lists meet only by the name of the port. */
#define IO_BUDGET_MIN_(port, banks, banks_min, words, words_min) \
  io_##port##_banks_min = banks_min, io_##port##_words_min = words_min,
enum { IO_RAW_BANK_BUDGETS(IO_BUDGET_MIN_) io_budget_min_end };

#define IO_OUT_(port, collection, doc, ...)                                                            \
  SL_OUT(port, collection, doc, SL_ITEMS(SL_ONE(SL_BUDGET_TERM(port##_banks, io_##port##_banks_min))), \
         SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(port##_words, io_##port##_words_min)))),
#define IO_BUDGET_MEMBERS_(port, banks, banks_min, words, words_min)                        \
  SL_BUDGET(port##_banks, banks, 0, 100000, "banks of this kind, on average over a slice"), \
      SL_BUDGET(port##_words, words, 0, 10000000, "32-bit words of their payloads, on average over a slice"),
#define IO_SOURCE_MEMBERS IO_RAW_BANK_KINDS(IO_OUT_) IO_RAW_BANK_BUDGETS(IO_BUDGET_MEMBERS_)

#endif
