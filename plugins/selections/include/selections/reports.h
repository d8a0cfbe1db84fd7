/* reports.h: decisions of all lines by event, totals, and the banks of reports. README.md, "Decisions and reports", has
 * the formats of the banks. */
#ifndef SELECTIONS_REPORTS_H
#define SELECTIONS_REPORTS_H

#include "io/made_banks.h"

#include <sluice/math.h>
#include <sluice/plugin.h>

/* Decisions of all lines, one bit per line and event. The id of a line is its position in `lines`, counted from 1. */
#define EVENT_DECISIONS_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "index of the first word of an event") \
  F(key, u32, PER_SLICE, "", "hash of the lines' ids and names")      \
  F(line_count, u32, PER_SLICE, "", "number of lines")                \
  F(passed, u32, PER_ITEM, "", "one bit per line, 32 lines per word, lowest bit first")
SL_COLLECTION(event_decisions, EVENT_DECISIONS_FIELDS, "lines that an event passed");

/* Word `word` of the decisions of an event; 0 if `decide` did not run on the event. */
SL_MATH_FUNCTION uint32_t event_decisions_word(const struct event_decisions_view *of, uint32_t event, uint32_t word) {
  return word < of->offsets[event + 1] - of->offsets[event] ? of->passed[of->offsets[event] + word] : 0;
}

/* One entry per line. */
#define LINE_TOTALS_FIELDS(F)                                                       \
  F(before_scale, u32, TOTAL, "events", "events that would pass with post_scale 1") \
  F(passed, u32, TOTAL, "events", "events that pass")                               \
  F(alone, u32, TOTAL, "events", "events that pass this line and no other")
SL_COLLECTION(line_totals, LINE_TOTALS_FIELDS, "number of events that pass a line, in the whole run");

IO_MADE_BANKS(decision_report, decision_report_banks, "HltDecReports banks (type 17)", 17, 3, 0x0100);
IO_MADE_BANKS(routing_bits, routing_bits_banks, "HltRoutingBits banks (type 53)", 53, 0, 0x0100);
IO_MADE_BANKS(selection_report, selection_report_banks, "HltSelReports banks (type 54)", 54, 11, 0x2000);

enum {
  DECISION_REPORT_HEAD_WORDS = 3,
  SELECTION_REPORT_HEAD_WORDS = 10,
  ROUTING_WORDS = 3,
  REPORT_BYTES_MAX = 65527,               /* payload of a raw bank: its 16-bit length includes the header */
  REPORT_WORDS_MAX = REPORT_BYTES_MAX / 4 /* more than the number of nodes in a graph: every line gets a word */
};

/* Key of the lines: 32-bit FNV-1a hash of "1:NAME\n2:NAME\n...". Never 0, which means "no key" in reports. */
static inline SL_UNUSED uint32_t lines_key_add(uint32_t hash, char character) {
  return (hash ^ (unsigned char)character) * 16777619u;
}

static inline SL_UNUSED uint32_t lines_key(const char *const *names, uint32_t count) {
  uint32_t hash = 2166136261u;
  for (uint32_t id = 1; id <= count; id++) {
    char digits[12];
    uint32_t length = 0;
    for (uint32_t rest = id; rest > 0; rest /= 10) digits[length++] = (char)('0' + rest % 10);
    while (length > 0) hash = lines_key_add(hash, digits[--length]);
    hash = lines_key_add(hash, ':');
    for (const char *c = names[id - 1]; *c; c++) hash = lines_key_add(hash, *c);
    hash = lines_key_add(hash, '\n');
  }
  return hash ? hash : 1;
}

#endif
