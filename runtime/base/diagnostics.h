/* diagnostics.h: messages for a person, collected in a list so that all errors of a graph are shown at once.
 * Thread-safe where stated; library code adds to a list and never prints. */
#ifndef SL_DIAGNOSTICS_H
#define SL_DIAGNOSTICS_H

#include "base/nearest.h"

#include <sluice/sluice.h>

#include <stdarg.h>

/* A place in a text file; line and column count from 1, 0 = unknown. `source` is the whole line, or NULL. Without a
 * line: a place in an option, whose value is `source`. */
struct sl_place {
  const char *file;
  const char *source;
  uint32_t line, column;
};

/* Adds a message; strings are copied. `place`, `node` and `hint` may be NULL. Safe from any thread. */
void sl_diagnose(struct sl_diagnostics *d, uint32_t severity, const struct sl_place *place, const char *node,
                 const char *hint, const char *format, ...) __attribute__((format(printf, 6, 7)));
void sl_vdiagnose(struct sl_diagnostics *d, uint32_t severity, const struct sl_place *place, const char *node,
                  const char *hint, const char *format, va_list arguments);

/* The same for what may have to be said of every event: of one kind the first SL_TOLD_MAX messages are added, further
 * ones are counted. A kind is a severity, a node, and the text `kind`. */
enum { SL_TOLD_MAX = 20 };
void sl_diagnose_often(struct sl_diagnostics *d, uint32_t severity, const struct sl_place *place, const char *node,
                       const char *hint, const char *kind, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void sl_vdiagnose_often(struct sl_diagnostics *d, uint32_t severity, const struct sl_place *place, const char *node,
                        const char *hint, const char *kind, const char *format, va_list arguments);
/* Adds for each kind how many messages were only counted, and begins anew. */
void sl_diagnose_further(struct sl_diagnostics *d);

/* SL_EINVAL with a message if a struct that a program passes has another size than that of this library: the program
 * was built against another version of its header, and nothing else of the struct may be read. */
int sl_diagnose_size(struct sl_diagnostics *d, const char *name, uint32_t size, size_t expected);

/* The members of a message, into an object that is open. */
struct sl_json;
void sl_diagnostic_put(const struct sl_diagnostic *message, struct sl_json *j);

/* Text of an SL_E... code. */
const char *sl_error_text(int code);

#endif
