/* graph.c: `sluice graph`: a picture of a graph, or the whole graph as YAML. Graphviz lays out SVG: its program `dot`
 * gets the text that --dot writes.
 */
#include "cli/cli.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---------------------------------------------------------------------------------------------------- pictures */

struct picture {
  const struct sl_session *session;
  struct sl_drawing_options options;
};

static int write_picture(const void *what, FILE *file) {
  const struct picture *p = what;
  return sl_session_write_drawing(p->session, &p->options, NULL, file);
}

static struct picture picture_of(const struct cli_arguments *a, const struct sl_session *session) {
  struct picture p = {session, sl_drawing_options_default()};
  p.options.format = a->mermaid_path ? SL_DRAWING_MERMAID : SL_DRAWING_DOT;
  p.options.constants = a->draw_constants | a->draw_all;
  p.options.ports = a->draw_ports | a->draw_all;
  p.options.ungrouped = a->draw_all;
  p.options.depth = a->depth;
  p.options.from = a->from_nodes.items;
  p.options.to = a->to_nodes.items;
  return p;
}

/* CLI_WRONG with an error if the options name a node that does not exist, or leave no node. */
static int check_picture(const struct picture *p) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  FILE *nowhere = fopen("/dev/null", "w");
  int status = CLI_FAILED;
  if (d && nowhere) {
    status = sl_session_write_drawing(p->session, &p->options, d, nowhere) < 0 ? CLI_WRONG : CLI_OK;
    if (status != CLI_OK && sl_diagnostics_errors(d) == 0) status = cli_no_memory();
    cli_print_messages(d, 0);
  } else {
    cli_no_memory();
  }
  if (nowhere) fclose(nowhere);
  sl_diagnostics_free(d);
  return status;
}

/* --------------------------------------------------------------------------------------------------------- SVG */

/* Runs `dot -Tsvg` from `dot_text` to `svg`; CLI_FAILED with an error. */
static int run_dot(FILE *dot_text, FILE *svg) {
  char *const arguments[] = {"dot", "-Tsvg", NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return cli_no_memory();
  pid_t child = 0;
  int error = posix_spawn_file_actions_adddup2(&actions, fileno(dot_text), STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, fileno(svg), STDOUT_FILENO);
  if (error == 0) error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    fprintf(stderr,
            "error: --svg needs Graphviz, and there is no program `dot`\n"
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

/* Copies a temporary file. */
static int copy(const void *what, FILE *file) {
  FILE *from = *(FILE *const *)what;
  char bytes[BUFSIZ];
  size_t count;
  rewind(from);
  while ((count = fread(bytes, 1, sizeof bytes, from)) > 0) fwrite(bytes, 1, count, file);
  return ferror(from) ? SL_EIO : SL_OK;
}

static int write_svg(const struct picture *p, const char *path) {
  FILE *dot_text = tmpfile(), *svg = tmpfile();
  int status = CLI_FAILED;
  if (!dot_text || !svg) {
    fprintf(stderr, "error: a temporary file: %s\n", strerror(errno));
  } else {
    char buffer[BUFSIZ]; /* a buffer that cannot be allocated would lose text silently */
    setvbuf(dot_text, buffer, _IOFBF, sizeof buffer);
    if (write_picture(p, dot_text) == SL_OK && fflush(dot_text) == 0 && lseek(fileno(dot_text), 0, SEEK_SET) == 0)
      status = run_dot(dot_text, svg);
    else
      fprintf(stderr, "error: the drawing for dot could not be written\n");
    if (status == CLI_OK) status = cli_write_file(path, copy, &svg);
    fclose(dot_text);
    dot_text = NULL;
  }
  if (dot_text) fclose(dot_text);
  if (svg) fclose(svg);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- command */

static int write_yaml(const struct sl_session *session, FILE *file) { return sl_session_write_graph(session, 0, file); }

static int write_origins(const struct sl_session *session, FILE *file) {
  return sl_session_write_graph(session, 1, file);
}

static int show(const struct cli_arguments *a, struct sl_session *session) {
  if (a->as_yaml) return cli_write_session(session, "-", a->origins ? write_origins : write_yaml);
  const struct picture p = picture_of(a, session);
  const char *path = a->svg_path ? a->svg_path : a->mermaid_path ? a->mermaid_path : a->dot_path ? a->dot_path : "-";
  const char *option = a->svg_path ? "--svg" : a->mermaid_path ? "--mermaid" : "--dot";
  if (sl_session_claim_output(session, option, path, 0) < 0) return CLI_WRONG;
  const int status = check_picture(&p);
  if (status != CLI_OK) return status;
  return a->svg_path ? write_svg(&p, path) : cli_write_file(path, write_picture, &p);
}

int cli_graph(const struct cli_arguments *a) {
  if ((a->dot_path != NULL) + (a->svg_path != NULL) + (a->mermaid_path != NULL) + a->as_yaml > 1) {
    fprintf(stderr, "error: `sluice graph` takes one of --dot, --svg, --mermaid and --yaml\n");
    return CLI_WRONG;
  }
  if (a->origins && !a->as_yaml) {
    fprintf(stderr, "error: --origin has no effect without --yaml\n");
    return CLI_WRONG;
  }
  const char *of_picture = a->as_yaml ? cli_given_of(a, CLI_PICTURE) : NULL;
  if (of_picture) {
    fprintf(stderr, "error: %s has no effect with --yaml\n", of_picture);
    return CLI_WRONG;
  }
  return cli_look(a, show);
}
