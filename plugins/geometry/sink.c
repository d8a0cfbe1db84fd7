/* sink.c: writes a constant as geometry files. */
#define _POSIX_C_SOURCE 200809L
#include "geometry/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int geometry_files_open(void *sink, const struct sl_services *s, const struct geometry_layout *layouts,
                        const char *path, const char *output) {
  struct geometry_files *m = (struct geometry_files *)sink;
  const char *folder = *path ? path : output;
  if (!folder || !*folder) {
    s->message(s->context, SL_ERROR, "no output folder is given: use -o, or the property path");
    return SL_EINVAL;
  }
  if (strlen(folder) >= sizeof m->path) {
    s->message(s->context, SL_ERROR, "path: longer than %zu characters", sizeof m->path - 1);
    return SL_EINVAL;
  }
  if (strcmp(folder, "-") == 0) {
    s->message(s->context, SL_ERROR, "a geometry is a folder with files, and cannot go to standard output");
    return SL_EINVAL;
  }
  memcpy(m->path, folder, strlen(folder) + 1);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    s->message(s->context, SL_ERROR, "%s: cannot make this folder: %s", folder, strerror(errno));
    return SL_EIO;
  }
  m->layouts = layouts;
  m->to = s->output;
  for (; m->count < GEOMETRY_FILES_MAX && layouts[m->count].name; m->count++) {
    char file[GEOMETRY_PATH_MAX + 64];
    snprintf(file, sizeof file, "%s/%s", m->path, layouts[m->count].name);
    const int status = m->to->open(s, file, 0, &m->files[m->count]);
    if (status < 0) return status;
  }
  return SL_OK;
}

int geometry_files_write(void *sink, const struct sl_services *s, const void *view) {
  struct geometry_files *m = (struct geometry_files *)sink;
  int status = SL_OK;
  for (uint32_t i = 0; i < m->count && !m->is_written && status == SL_OK; i++) {
    /* Writing changes nothing: a view is the collection with pointers to constant values. */
    status = geometry_write(&m->layouts[i], s, m->files[i], (void *)(uintptr_t)view);
    if (status == SL_OK) status = m->to->finish(m->files[i]);
  }
  m->is_written = status == SL_OK;
  return status;
}

int geometry_files_finish(void *sink, const struct sl_services *s, const struct sl_report *report) {
  const struct geometry_files *m = (const struct geometry_files *)sink;
  char names[256] = "";
  if (!m->is_written) {
    s->message(s->context, SL_ERROR, "there was no event, so nothing was written to %s", m->path);
    return SL_EINVAL;
  }
  for (uint32_t i = 0; i < m->count; i++) {
    const size_t length = strlen(names);
    const char *separator = i == 0 ? "" : i + 1 == m->count ? " and " : ", ";
    snprintf(names + length, sizeof names - length, "%s%s", separator, m->layouts[i].name);
  }
  report->text(report->context, "folder", m->path);
  report->line(report->context, "%s written to %s", names, m->path);
  return SL_OK;
}

void geometry_files_close(void *sink) {
  const struct geometry_files *m = (const struct geometry_files *)sink;
  for (uint32_t i = 0; i < m->count; i++) m->to->close(m->files[i]);
}
