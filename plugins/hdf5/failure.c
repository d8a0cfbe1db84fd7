/* failure.c: see failure.h. */
#include "failure.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

void hdf5_begin(void) {
  (void)H5dont_atexit(); /* fails on the second call */
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Called for each error, from the innermost outwards. Extracts the message of the system from a text with addresses
 * and sizes. */
static herr_t note(unsigned n, const H5E_error2_t *error, void *context) {
  static const char before[] = "error message = '";
  struct hdf5_reason *reason = (struct hdf5_reason *)context;
  if (n > 0 || !error->desc) return 0;
  const char *word = strstr(error->desc, before);
  snprintf(reason->text, sizeof reason->text, "%s", word ? word + strlen(before) : error->desc);
  reason->text[strcspn(reason->text, word ? "'" : "\n")] = '\0';
  return 0;
}

struct hdf5_reason hdf5_reason(void) {
  struct hdf5_reason reason = {"HDF5 gives no reason"};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note, &reason);
  return reason;
}
