/* graph_reading.c: see graph_reading.h. */
#define _GNU_SOURCE
#include "graph_reading.h"

#include "graph_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Removes the folders of this build from messages about missing files. */
static void leave_folders_out(char *messages) {
  for (char *at = messages; (at = strstr(at, "searched ")) != NULL; at++) {
    char *begin = strstr(at, ", in "), *end = strchr(at, ';');
    if (begin != NULL && end != NULL && begin < end) memmove(begin, end, strlen(end) + 1);
  }
}

void read_request(const struct sl_graph_request *request, struct reading *reading) {
  size_t bytes = 0;
  reading->diagnostics = sl_diagnostics_new();
  reading->messages = NULL;
  unsetenv("SLUICE_GRAPH_PATH");
  assert_non_null(reading->diagnostics);
  reading->result = sl_graph_read(request, reading->diagnostics, &reading->graph);
  FILE *stream = open_memstream(&reading->messages, &bytes);
  assert_non_null(stream);
  sl_diagnostics_print(reading->diagnostics, stream);
  fclose(stream);
  leave_folders_out(reading->messages);
  assert_true((reading->result == SL_OK) == (reading->graph != NULL));
  assert_true((reading->result == SL_OK) == (sl_diagnostics_errors(reading->diagnostics) == 0));
}

void read_bytes(const char *text, size_t bytes, struct reading *reading) {
  const struct sl_graph_request request = {
      .path = "text.yaml", .text = text, .text_bytes = bytes, .target = "cpu", .registry = fake_registry()};
  read_request(&request, reading);
}

void read_text(const char *text, struct reading *reading) { read_bytes(text, strlen(text), reading); }

void end_reading(struct reading *reading) {
  sl_graph_free(reading->graph);
  sl_diagnostics_free(reading->diagnostics);
  free(reading->messages);
}
