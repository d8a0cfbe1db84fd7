/* schema_of_fakes.c: prints the JSON Schema of graphs for the fake registry of the graph reader's tests, so that
 * schema_test.py can compare what the schema says of tests/runtime/graph_cases with what the reader says. */
#include "../runtime/graph_fake.h"
#include "report/describe.h"

#include <stdio.h>

int main(void) {
  struct sl_json j;
  sl_json_begin(&j);
  sl_schema_put(fake_registry(), &j);
  return sl_json_finish(&j, stdout) == SL_OK ? 0 : 1;
}
