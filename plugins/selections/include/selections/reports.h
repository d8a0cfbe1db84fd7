/* reports.h: what is made of the decisions of lines. README.md, "Decisions and reports", has the formats of the banks.
 */
#ifndef SELECTIONS_REPORTS_H
#define SELECTIONS_REPORTS_H

#include "io/made_banks.h"

#include <sluice/math.h>
#include <sluice/plugin.h>

/* The decisions of all lines, of events by event. A line's id is its place among them, from 1 on. */
#define EVENT_DECISIONS_FIELDS(F)                                \
  F(offsets, u32, OFFSETS, "", "first word of each event")       \
  F(key, u32, PER_SLICE, "", "hash of the lines' ids and names") \
  F(line_count, u32, PER_SLICE, "", "how many lines there are")  \
  F(passed, u32, PER_ITEM, "", "a bit a line, from the lowest on; an event has as many words as the lines need")
SL_COLLECTION(event_decisions, EVENT_DECISIONS_FIELDS, "which lines each event passed");

/* A word of an event's decisions; 0 of an event that is not on the list of who decided. */
SL_MATH_FUNCTION uint32_t event_decisions_word(const struct event_decisions_view *of, uint32_t event, uint32_t word) {
  return word < of->offsets[event + 1] - of->offsets[event] ? of->passed[of->offsets[event] + word] : 0;
}

/* An entry a line. */
#define LINE_TOTALS_FIELDS(F)                                                    \
  F(before_scale, u32, TOTAL, "", "events that would pass if post_scale were 1") \
  F(passed, u32, TOTAL, "", "events that pass")                                  \
  F(alone, u32, TOTAL, "", "those that pass no other line")
SL_COLLECTION(line_totals, LINE_TOTALS_FIELDS, "how many events of the run pass each line");

IO_MADE_BANKS(decision_report, decision_report_banks, "HltDecReports banks (type 17)", 17, 3, 0x0100);
IO_MADE_BANKS(routing_bits, routing_bits_banks, "HltRoutingBits banks (type 53)", 53, 0, 0x0100);
IO_MADE_BANKS(selection_report, selection_report_banks, "HltSelReports banks (type 54)", 54, 11, 0x2000);

enum {
  DECISION_REPORT_HEAD_WORDS = 3,
  SELECTION_REPORT_HEAD_WORDS = 10,
  ROUTING_WORDS = 3,
  REPORT_BYTES_MAX = 65527,               /* what a raw bank holds: its length is of 16 bits, and counts its header */
  REPORT_WORDS_MAX = REPORT_BYTES_MAX / 4 /* more than a graph has nodes, so that all lines have a word */
};

/* The key of the lines: the hash FNV-1a, of 32 bits, of "1:NAME\n2:NAME\n..."; never 0, which says that there is none.
 */
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
