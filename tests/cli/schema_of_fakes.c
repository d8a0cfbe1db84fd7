/* schema_of_fakes.c: prints the JSON Schema of graphs for the fake registry of the graph reader's tests, so that
 * schema_test.py can compare the schema with the reader on tests/runtime/graph_cases. */
#include "../runtime/graph_fake.h"
#include "report/describe.h"

#include <stdio.h>

int main(void) {
  struct sl_json j;
  sl_json_begin(&j);
  sl_schema_put(fake_registry(), &j);
  return sl_json_finish(&j, stdout) == SL_OK ? 0 : 1;
}
