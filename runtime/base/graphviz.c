/* graphviz.c: see graphviz.h. */
#include "base/graphviz.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int sl_graphviz_run(int dot_text, int svg, char *reason, size_t reason_size) {
  char *const arguments[] = {"dot", "-Tsvg", NULL};
  posix_spawn_file_actions_t actions;
  pid_t child = 0;
  if (lseek(dot_text, 0, SEEK_SET) < 0) {
    snprintf(reason, reason_size, "the text for dot cannot be read: %s", strerror(errno));
    return SL_EIO;
  }
  if (posix_spawn_file_actions_init(&actions) != 0) return SL_ENOMEM;
  int error = posix_spawn_file_actions_adddup2(&actions, dot_text, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, svg, STDOUT_FILENO);
  if (error == 0) error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    snprintf(reason, reason_size,
             error == ENOENT ? "there is no program `dot`; install the package graphviz" : "dot: %s", strerror(error));
    return SL_EIO;
  }
  int status = 0;
  while ((error = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
  if (error > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return SL_OK;
  snprintf(reason, reason_size, "dot failed");
  return SL_EIO;
}
