/* fuzz_case.c: the reader of cases of `sluice capture`. An accepted case can be divided: the case without every other
 * event, and without every other entry of each axis, is again a valid case. */
#define _GNU_SOURCE
#include "fuzz_file.h"
#include "replay/replay.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_valid(const struct sl_case *c, const struct replay_cut *cut) {
  char reason[1024];
  struct sl_case *smaller = replay_cut_case(c, cut);
  require(smaller->event_count <= c->event_count);
  require(sl_case_check(smaller, reason, sizeof reason) == SL_OK);
  sl_case_free(smaller);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fuzz_file file;
  char reason[1024] = "";
  struct sl_case *c = NULL;
  struct replay_cut cut;
  const int status = sl_case_read(fuzz_file_of(&file, data, size), &c, reason, sizeof reason);
  require((status == SL_OK) == (c != NULL) && (status == SL_OK || *reason));
  if (!c) return 0;
  require(replay_cut_open(c, &cut) == SL_OK);
  for (uint32_t a = 0; !cut.why_whole && a < cut.axis_count; a++) {
    for (uint32_t i = 0; i < cut.axes[a].count; i += 2) cut.axes[a].keep[i] = 0;
    require_valid(c, &cut);
  }
  sl_case_free(c);
  return 0;
}
