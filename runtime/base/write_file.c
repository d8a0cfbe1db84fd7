/* write_file.c: sl_write_file, which writes a whole file. */
#include "base/diagnostics.h"
#include "base/locale.h"
#include "base/output.h"
#include "base/processor.h"

static void say(void *context, uint32_t severity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose(context, severity, NULL, NULL, NULL, format, arguments);
  va_end(arguments);
}

SL_ANY_PROCESSOR int sl_write_file(const char *path, const void *data, size_t bytes, struct sl_diagnostics *d) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_output *file = NULL;
  int status = sl_output_open(path, 0, say, d, &file);
  if (status == SL_OK) status = sl_output_add(file, data, bytes);
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s: %s", path, sl_error_text(status));
  return status;
}
