/* dec_reports: writes one HltDecReports bank per event of the node (reports.md).
 *
 * Parallelism: one block per event, one thread per line. All banks have the same size, so that offsets need no scan.
 * Cost per event: reads one word per 32 lines, writes one word per line.
 */
#include "fixed_banks.h"

#define SL_ARGS dec_reports_args
#define DEC_REPORTS(M)                                                                                        \
  M(IN, decisions, event_decisions, "", "decisions of all lines")                                             \
  M(OUT, reports, decision_report_banks, "one bank per event", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))),        \
    SL_SUBITEMS(SL_SUM(SL_ITEMS_SCALED(decisions, 32, 1, 0), SL_EVENTS_TERM(DECISION_REPORT_HEAD_WORDS, 0)))) \
  M(U32, tck, 0, 0, 4294967295.0, "", "trigger configuration key")                                            \
  M(U32, task_id, 1, 0, 4294967295.0, "", "id of the task that made the decisions; 1: first trigger level")
SL_ARGUMENTS(dec_reports, DEC_REPORTS);

enum { ONE_CANDIDATE = 1u << 4, FIRST_STAGE = 1u << 8, ID_SHIFT = 16, WORD_LINES = 32 };

SL_KERNEL(write_decisions, struct dec_reports_args) {
  const uint32_t lines = *a.decisions.line_count, words = DECISION_REPORT_HEAD_WORDS + lines;
  const struct io_made_banks banks = FIXED_BANKS(a.reports);
  if (sl_grid_thread() == 0) FIXED_BANKS_BEGIN(a.events, a.reports, words);
  for (uint32_t item = blockIdx.x; item < *a.events.count; item += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, item);
    uint32_t *bank = a.reports.word + (uint64_t)item * words;
    fixed_bank_offsets(&a.events, &banks, item, words);
    if (threadIdx.x == 0) {
      bank[0] = *a.decisions.key;
      bank[1] = a.tck;
      bank[2] = a.task_id;
    }
    for (uint32_t k = threadIdx.x; k < lines; k += blockDim.x)
      bank[DECISION_REPORT_HEAD_WORDS + k] =
          (event_decisions_word(&a.decisions, event, k / WORD_LINES) >> k % WORD_LINES & 1u) | ONE_CANDIDATE |
          FIRST_STAGE | (k + 1) << ID_SHIFT;
  }
}

static int run(const struct sl_launch *l, const struct dec_reports_args *a) {
  return SL_LAUNCH(l, write_decisions, SL_PER_EVENT, *a);
}

SL_ALGORITHM(dec_reports, "writes the decisions of lines as HltDecReports banks", 64, run);
