/* examples_file.c: see examples_file.h. */
#include "examples_file.h"

#include <sluice/math.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS_MAX = 64, CELL_BYTES = 24 };

int examples_open(struct examples_file *f, const struct sl_services *s, const char *path, const char *output_path,
                  const char *header) {
  f->to = s->output;
  const int status = f->to->open(s, *path ? path : output_path, 0, &f->file);
  return status < 0 ? status : f->to->add(f->file, header, strlen(header));
}

int examples_add(struct examples_file *f, uint32_t target, float qop, const float *inputs, uint32_t count) {
  const float gev = 1e-3f, least_qop = 1e-9f;
  char row[CELL_BYTES * (INPUTS_MAX + 2)];
  int used =
      snprintf(row, sizeof row, "%" PRIu32 ",%.9g", target, (double)(gev / sl_max_f32(sl_abs_f32(qop), least_qop)));
  for (uint32_t i = 0; i < count; i++)
    used += snprintf(row + used, sizeof row - (size_t)used, ",%.9g", (double)inputs[i]);
  row[used++] = '\n';
  f->examples++;
  f->ones += target;
  return f->to->add(f->file, row, (uint64_t)used);
}

void examples_mark(const struct examples_file *f) { f->to->mark(f->file, 1); }

int examples_finish(const struct examples_file *f) { return f->to->finish(f->file); }

const char *examples_path(const struct examples_file *f) { return f->to->path(f->file); }

void examples_close(struct examples_file *f) {
  if (f->file) f->to->close(f->file);
}
