/* index.c: `sluice index`: divides files into parts that several runs can read. */
#include "cli/cli.h"

#include <sluice/text.h>

#include <inttypes.h>

static int write_table(const struct sl_index *index) {
  uint64_t count, events = 0, bad = 0;
  const struct sl_part *parts = sl_index_parts(index, &count);
  printf("%12s %6s  %s\n", "events", "bad", "part");
  for (uint64_t i = 0; i < count; i++) {
    const struct sl_input_range *range = &parts[i].range;
    printf("%12" PRIu64 " %6" PRIu64 "  -i %s --range %" PRIu64 "+%" PRIu64 "@%" PRIu64 "\n", parts[i].events,
           parts[i].bad_records, parts[i].path, range->first_byte, range->bytes, range->first_record);
    events += parts[i].events;
    bad += parts[i].bad_records;
  }
  printf("%12" PRIu64 " %6" PRIu64 "  in %" PRIu64 " %s\n", events, bad, count, sl_plural(count, "part", "parts"));
  return SL_OK;
}

int cli_index(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_index *index = NULL;
  if (!d) return cli_no_memory();
  int status = sl_index_files(a->options.plugin_paths, a->operands.items, a->part_events, d, &index);
  cli_print_messages(d, 0);
  if (status == SL_OK) status = a->as_json ? sl_index_write_json(index, stdout) : write_table(index);
  sl_index_close(index);
  sl_diagnostics_free(d);
  return status < 0 ? CLI_FAILED : CLI_OK;
}
