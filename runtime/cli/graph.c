/* graph.c: `sluice graph`: a drawing of a graph, or the whole of it as YAML. SVG is laid out by Graphviz: its program
 * `dot` gets what --dot prints. */
#include "cli/cli.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs `dot -Tsvg` with `dot_text` as its input and the same standard output; CLI_FAILED after a complaint. */
static int run_dot(FILE *dot_text) {
  char *const arguments[] = {"dot", "-Tsvg", NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return cli_no_memory();
  pid_t child = 0;
  int error = posix_spawn_file_actions_adddup2(&actions, fileno(dot_text), STDIN_FILENO);
  if (error == 0) error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    fprintf(stderr,
            "error: --svg wants Graphviz, and there is no program `dot`\n"
            "  hint: install the package graphviz, or use --dot or --mermaid\n");
    return CLI_FAILED;
  }
  if (error != 0) {
    fprintf(stderr, "error: dot: %s\n", strerror(error));
    return CLI_FAILED;
  }
  int status = 0;
  while ((error = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
  if (error > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return CLI_OK;
  fprintf(stderr, "error: dot failed\n");
  return CLI_FAILED;
}

static int draw_svg(const struct sl_session *session) {
  FILE *dot_text = tmpfile();
  if (!dot_text) {
    fprintf(stderr, "error: a temporary file: %s\n", strerror(errno));
    return CLI_FAILED;
  }
  char buffer[BUFSIZ]; /* one that cannot be allocated would lose text silently */
  setvbuf(dot_text, buffer, _IOFBF, sizeof buffer);
  int status = CLI_FAILED;
  if (sl_session_write_dot(session, dot_text) == SL_OK && fflush(dot_text) == 0 &&
      lseek(fileno(dot_text), 0, SEEK_SET) == 0)
    status = run_dot(dot_text);
  else
    fprintf(stderr, "error: the drawing for dot could not be written\n");
  fclose(dot_text);
  return status;
}

static int write_yaml(const struct sl_session *session, FILE *file) { return sl_session_write_graph(session, 0, file); }

static int write_origins(const struct sl_session *session, FILE *file) {
  return sl_session_write_graph(session, 1, file);
}

static int show(const struct cli_arguments *a, struct sl_session *session) {
  if (a->as_yaml) return cli_write_session(session, "-", a->origins ? write_origins : write_yaml);
  if (a->as_svg) return draw_svg(session);
  return cli_write_session(session, "-", a->as_mermaid ? sl_session_write_mermaid : sl_session_write_dot);
}

int cli_graph(const struct cli_arguments *a) {
  if (a->as_dot + a->as_svg + a->as_mermaid + a->as_yaml > 1) {
    fprintf(stderr, "error: `sluice graph` takes one of --dot, --svg, --mermaid and --yaml\n");
    return CLI_WRONG;
  }
  if (a->origins && !a->as_yaml) {
    fprintf(stderr, "error: --origin has no effect without --yaml\n");
    return CLI_WRONG;
  }
  return cli_look(a, show);
}
