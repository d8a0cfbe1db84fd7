/* sluice.h: run graphs from C. The `sluice` command is a client of this header.
 *
 *   struct sl_diagnostics *d = sl_diagnostics_new();
 *   struct sl_options options = sl_options_default();
 *   options.graph_path = "graphs/velo.yaml";
 *   struct sl_session *session = NULL;
 *   if (sl_session_open(&options, d, &session) == 0 && sl_session_run(session) == 0) ... sl_session_summary(session) ...
 *   sl_session_close(session);
 *   sl_diagnostics_print(d, stderr); sl_diagnostics_free(d);
 *
 * Nothing here prints, exits or aborts. A session is used by one thread at a time; several sessions may coexist.
 * Functions return 0 or a negative SL_E... of sluice/plugin.h, with the reason in the diagnostics.
 */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <sluice/plugin.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SL_API __attribute__((visibility("default")))

/* --------------------------------------------------------------------------------------------- diagnostics */

struct sl_diagnostic {
  uint32_t severity; /* SL_NOTE, SL_WARNING, SL_ERROR */
  uint32_t line, column; /* from 1; 0: unknown */
  uint32_t reserved;
  const char *file, *source_line, *node, *message, *hint; /* NULL where absent */
};
struct sl_diagnostics;

SL_API struct sl_diagnostics *sl_diagnostics_new(void); /* NULL when memory is out */
SL_API void sl_diagnostics_free(struct sl_diagnostics *d);
SL_API size_t sl_diagnostics_count(const struct sl_diagnostics *d);
SL_API size_t sl_diagnostics_errors(const struct sl_diagnostics *d);
SL_API const struct sl_diagnostic *sl_diagnostics_at(const struct sl_diagnostics *d, size_t index);
/* As text: "file:line:column: error: message", the source line with a caret, the hint. */
SL_API void sl_diagnostics_print(const struct sl_diagnostics *d, FILE *file);

#ifdef __cplusplus
}
#endif
#endif
