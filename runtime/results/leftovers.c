/* leftovers.c: temporary files of the outputs of a run that a process has left because it was killed, stopped or
 * failed.
 *
 * They are found by the names that the run can give to its own temporary files; in a pattern of --rotate, number and
 * time stand for any digits. A file that a process is writing is locked, and is left alone.
 */
#include "results/leftovers.h"

#include "base/output_part.h"
#include "results/rotation.h"
#include "zmq/message.h"

#include <sluice/text.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns a pattern of glob(3) for the temporary files of an output, to be freed; NULL if it has none, or, with
 * *status, if there is no memory. */
static char *glob_of(const struct sl_files *f, const struct sl_file *file, int *status) {
  char whole[PATH_MAX], followed[PATH_MAX], stem[PATH_MAX];
  const char *path = file->option ? sl_files_resolve(f, file->path, whole) : "";
  if (!*path || sl_file_is_stdout(path) || sl_zmq_is_endpoint(path)) return NULL;
  const int is_pattern = sl_rotation_is_on(f->rotation) && (file->is_for_sink || file->node != SL_NONE);
  const char *target = is_pattern ? NULL : sl_output_target(path, followed);
  if (!is_pattern && (!target || !sl_output_part_stem(target, stem))) return NULL;
  char *text = sl_rotation_glob(is_pattern ? path : stem, is_pattern);
  if (!text) *status = SL_ENOMEM;
  return text;
}

/* Names the first files. */
static void report(const struct sl_files *f, const struct sl_file *file, char *const *parts, size_t count) {
  const struct sl_node *node = file->node == SL_NONE ? NULL : &f->setup->graph->nodes[file->node];
  const struct sl_location *value = node ? &node->value_locations[file->member] : NULL;
  const char *hint = sl_rotation_is_on(f->rotation)
                         ? "remove what is not needed; a run with --checkpoint FILE --resume removes such files"
                         : "remove what is not needed";
  char more[32] = "";
  if (count > 3) snprintf(more, sizeof more, " and %zu more", count - 3);
  sl_diagnose(f->setup->diagnostics, SL_WARNING, value && !value->file ? &node->location : value,
              node ? node->name : NULL, hint, "%s%s%s: %s left %s%s%s%s%s%s", file->option, node ? ": " : " ",
              file->path, sl_plural(count, "an earlier run has", "earlier runs have"), parts[0], count > 1 ? ", " : "",
              count > 1 ? parts[1] : "", count > 2 ? ", " : "", count > 2 ? parts[2] : "", more);
}

static void remove_all(const struct sl_files *f, char *const *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (unlink(parts[i]) == 0)
      sl_diagnose(f->setup->diagnostics, SL_NOTE, NULL, NULL, NULL,
                  "--resume: removed %s, written after the checkpoint", parts[i]);
}

static int handle(const struct sl_files *f, const struct sl_file *file) {
  int status = SL_OK;
  char *text = glob_of(f, file, &status);
  glob_t found;
  if (!text) return status;
  const int failed = glob(text, 0, NULL, &found);
  free(text);
  if (failed) return failed == GLOB_NOSPACE ? SL_ENOMEM : SL_OK;
  size_t count = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char *part = found.gl_pathv[i];
    if (!sl_output_is_part(part) || sl_output_writer(part) != 0) continue;
    found.gl_pathv[i] = found.gl_pathv[count];
    found.gl_pathv[count++] = part;
  }
  if (f->setup->options.resume)
    remove_all(f, found.gl_pathv, count);
  else if (count > 0)
    report(f, file, found.gl_pathv, count);
  globfree(&found);
  return SL_OK;
}

int sl_leftovers_open(const struct sl_files *f) {
  int status = SL_OK;
  for (uint32_t i = 0; i < f->count && status == SL_OK && !f->setup->options.inspect_only; i++)
    status = handle(f, &f->at[i]);
  return status;
}
