/* fuzz_plan_csv.c: the reader of planning problems on any text. An accepted problem is unchanged after writing and
 * reading; a small one is solved, and the checker of plans accepts the solution. */
#define _GNU_SOURCE
#include "fuzz_file.h"
#include "plan/csv.h"

#include <sluice/plugin.h>

#include <string.h>

enum { SOLVED_MAX = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_csv(const char *path, struct sl_plan_csv *csv) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  require(d != NULL);
  const int status = sl_plan_csv_read(path, d, csv);
  require(status == SL_OK || status == SL_EFORMAT);
  require((status != SL_OK) == (sl_diagnostics_errors(d) > 0));
  sl_diagnostics_free(d);
  return status;
}

/* Removes the fifth column, `offset`, from a text, because it would be a constraint. */
static size_t without_offsets(char *text) {
  uint32_t column = 0;
  char *to = text;
  for (const char *from = text; *from; from++) {
    column = *from == '\n' ? 0 : column + (*from == ',');
    if (column != 4) *to++ = *from;
  }
  *to = '\0';
  return (size_t)(to - text);
}

static void check_written(const struct sl_plan_csv *csv) {
  static struct fuzz_file file;
  struct sl_plan_csv again;
  char *text = NULL;
  size_t bytes = 0;
  FILE *memory = open_memstream(&text, &bytes);
  require(memory != NULL);
  sl_plan_csv_write(csv, memory);
  fclose(memory);
  bytes = without_offsets(text);
  require(read_csv(fuzz_file_of(&file, (const uint8_t *)text, bytes), &again) == SL_OK && again.count == csv->count);
  for (uint32_t i = 0; i < csv->count; i++) {
    const struct sl_plan_buffer *a = &csv->buffers[i], *b = &again.buffers[i];
    require(a->size == b->size && a->lower == b->lower && a->upper == b->upper);
    require(a->alignment == b->alignment || (a->alignment == 0 && b->alignment == 1));
    require(strcmp(csv->ids[i], again.ids[i]) == 0);
  }
  sl_plan_csv_free(&again);
  free(text);
}

static void solve(const struct sl_plan_csv *csv) {
  const struct sl_plan_request request = {.buffers = csv->buffers, .count = csv->count, .alignment = 1};
  struct sl_plan_result result;
  char reason[256];
  require(sl_plan_solve(&request, &result) == SL_OK && result.arena_bytes >= result.lower_bound_bytes);
  require(sl_plan_verify(csv->buffers, csv->count, 1, result.arena_bytes, reason, sizeof reason) == SL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fuzz_file file;
  struct sl_plan_csv csv;
  if (read_csv(fuzz_file_of(&file, data, size), &csv) != SL_OK) return 0;
  if (csv.count <= SOLVED_MAX) solve(&csv);
  check_written(&csv);
  sl_plan_csv_free(&csv);
  return 0;
}
