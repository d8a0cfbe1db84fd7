/* diagnostics.h: messages for users, collected in a list so that all errors of a graph are shown at once. Library code
 * adds messages and never prints. Thread-safe where stated. */
#ifndef SL_DIAGNOSTICS_H
#define SL_DIAGNOSTICS_H

#include "base/nearest.h"

#include <sluice/sluice.h>

#include <stdarg.h>

/* A location in a text file; line and column count from 1, 0: unknown. `source` is the whole line, or NULL. Without a
 * line: a location in the value of an option, which is `source`. */
struct sl_location {
  const char *file;
  const char *source;
  uint32_t line, column;
};

/* Adds a message; strings are copied. `location`, `node` and `hint` may be NULL. Callable from any thread. */
void sl_diagnose(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location, const char *node,
                 const char *hint, const char *format, ...) __attribute__((format(printf, 6, 7)));
void sl_vdiagnose(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location, const char *node,
                  const char *hint, const char *format, va_list arguments);

/* Adds a message that may occur for every event: the first SL_REPORTED_MAX messages of a kind are added, further ones
 * are counted. A kind is a severity, a node and the text `kind`. */
enum { SL_REPORTED_MAX = 20 };
void sl_diagnose_often(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location,
                       const char *node, const char *hint, const char *kind, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void sl_vdiagnose_often(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location,
                        const char *node, const char *hint, const char *kind, const char *format, va_list arguments);
/* Adds the number of messages that were only counted, for each kind, and resets the counts. */
void sl_diagnose_counted(struct sl_diagnostics *d);

/* Returns SL_EINVAL, with a message, if a struct passed by a program has a different size than in this library: the
 * program was built with another version of the header, and no other member of the struct may be read. */
int sl_diagnose_size(struct sl_diagnostics *d, const char *name, uint32_t size, size_t expected);

/* Writes the members of a message into an open JSON object. */
struct sl_json;
void sl_diagnostic_put(const struct sl_diagnostic *message, struct sl_json *j);

/* Returns the text of an SL_E... code. */
const char *sl_error_text(int code);

#endif
