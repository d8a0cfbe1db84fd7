/* errors.c: the text of SL_E... codes. */
#include "base/diagnostics.h"

#define SL_ERROR_CASE_(name, value, text) \
  case name:                              \
    return text;

const char *sl_error_text(int code) {
  switch (code) {
    case SL_OK:
      return "no error";
      SL_ERRORS(SL_ERROR_CASE_)
    default:
      return "an unknown error";
  }
}
