/* dec_reports: an HltDecReports bank of each event that the node runs on (README.md, "Decisions and reports").
 *
 * One kernel, a block an event, a thread a line. Reads a word for 32 lines, writes one a line.
 */
#include "fixed_banks.h"

#define SL_ARGS dec_reports_args
#define DEC_REPORTS(M)                                                                                        \
  M(IN, decisions, event_decisions, "", "of the lines")                                                       \
  M(OUT, reports, decision_report_banks, "one for each event", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))),        \
    SL_SUBITEMS(SL_SUM(SL_ITEMS_SCALED(decisions, 32, 1, 0), SL_EVENTS_TERM(DECISION_REPORT_HEAD_WORDS, 0)))) \
  M(U32, tck, 0, 0, 4294967295.0, "", "trigger configuration key")                                            \
  M(U32, task_id, 1, 0, 4294967295.0, "", "who decided; 1: the first level")
SL_ARGUMENTS(dec_reports, DEC_REPORTS);

enum { ONE_CANDIDATE = 1u << 4, FIRST_STAGE = 1u << 8, ID_SHIFT = 16, WORD_LINES = 32 };

SL_KERNEL(write_decisions, struct dec_reports_args) {
  const uint32_t lines = *a.decisions.line_count, words = DECISION_REPORT_HEAD_WORDS + lines;
  const struct io_made_banks banks = FIXED_BANKS(a.reports);
  if (sl_grid_thread() == 0) FIXED_BANKS_BEGIN(a.events, a.reports, words);
  for (uint32_t item = blockIdx.x; item < *a.events.count; item += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, item);
    uint32_t *to = a.reports.word + (uint64_t)item * words;
    fixed_bank_place(&a.events, &banks, item, words);
    if (threadIdx.x == 0) {
      to[0] = *a.decisions.key;
      to[1] = a.tck;
      to[2] = a.task_id;
    }
    for (uint32_t k = threadIdx.x; k < lines; k += blockDim.x)
      to[DECISION_REPORT_HEAD_WORDS + k] =
          (event_decisions_word(&a.decisions, event, k / WORD_LINES) >> k % WORD_LINES & 1u) | ONE_CANDIDATE |
          FIRST_STAGE | (k + 1) << ID_SHIFT;
  }
}

static int run(const struct sl_launch *l, const struct dec_reports_args *a) {
  return SL_LAUNCH(l, write_decisions, SL_PER_EVENT, *a);
}

SL_ALGORITHM(dec_reports, "decisions of lines, as HltDecReports banks", 64, run);
