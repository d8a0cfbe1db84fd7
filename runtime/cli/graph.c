/* graph.c: `sluice graph`: a picture of a graph, the whole graph as YAML, or its lines. Graphviz lays out SVG: its
 * program `dot` gets the text that --dot writes.
 */
#include "base/graphviz.h"
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------- pictures */

static struct sl_drawing_options drawing_options(const struct cli_arguments *a) {
  struct sl_drawing_options o = sl_drawing_options_default();
  o.format = a->mermaid_path ? SL_DRAWING_MERMAID : SL_DRAWING_DOT;
  o.constants = a->draw_constants | a->draw_all;
  o.ports = a->draw_ports | a->draw_all;
  o.ungrouped = a->draw_all;
  o.depth = a->depth;
  o.from = a->from_nodes.items;
  o.to = a->to_nodes.items;
  return o;
}

/* Writes the text of the picture. CLI_WRONG with an error if the options name a node that does not exist, or leave no
 * node. */
static int draw(const struct cli_arguments *a, const struct sl_session *session, FILE *file) {
  const struct sl_drawing_options options = drawing_options(a);
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  int status = sl_session_write_drawing(session, &options, d, file) < 0 ? CLI_WRONG : CLI_OK;
  if (status != CLI_OK && sl_diagnostics_errors(d) == 0) status = cli_no_memory();
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  return status;
}

/* --------------------------------------------------------------------------------------------------------- SVG */

/* Copies a temporary file. */
static int copy(const void *what, FILE *file) {
  FILE *from = *(FILE *const *)what;
  char bytes[BUFSIZ];
  size_t count;
  rewind(from);
  while ((count = fread(bytes, 1, sizeof bytes, from)) > 0) fwrite(bytes, 1, count, file);
  return ferror(from) ? SL_EIO : SL_OK;
}

/* Replaces the text for dot by the SVG that dot makes of it. */
static int make_svg(FILE **text) {
  FILE *svg = tmpfile();
  char reason[160] = "";
  int status = CLI_FAILED;
  if (!svg)
    snprintf(reason, sizeof reason, "a temporary file: %s", strerror(errno));
  else if (sl_graphviz_run(fileno(*text), fileno(svg), reason, sizeof reason) == SL_OK)
    status = CLI_OK;
  if (*reason) fprintf(stderr, "error: --svg: %s\n  hint: --dot and --mermaid need no other program\n", reason);
  if (status == CLI_OK) {
    fclose(*text);
    *text = svg;
  } else if (svg) {
    fclose(svg);
  }
  return status;
}

static int write_picture(const struct cli_arguments *a, const struct sl_session *session, const char *path) {
  char buffer[BUFSIZ]; /* a buffer that cannot be allocated would lose text silently */
  FILE *text = tmpfile();
  if (!text) {
    fprintf(stderr, "error: a temporary file: %s\n", strerror(errno));
    return CLI_FAILED;
  }
  setvbuf(text, buffer, _IOFBF, sizeof buffer);
  int status = draw(a, session, text);
  if (status == CLI_OK && fflush(text) != 0) {
    fprintf(stderr, "error: a temporary file: %s\n", strerror(errno));
    status = CLI_FAILED;
  }
  if (status == CLI_OK && a->svg_path) status = make_svg(&text);
  if (status == CLI_OK) status = cli_write_file(path, copy, &text);
  fclose(text);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- command */

static int write_yaml(const struct sl_session *session, FILE *file) { return sl_session_write_graph(session, 0, file); }

static int write_origins(const struct sl_session *session, FILE *file) {
  return sl_session_write_graph(session, 1, file);
}

static int write_lines(const struct sl_session *session, FILE *file) {
  return sl_session_write_lines(session, 0, file);
}

static int write_lines_json(const struct sl_session *session, FILE *file) {
  return sl_session_write_lines(session, 1, file);
}

static int show(const struct cli_arguments *a, struct sl_session *session) {
  if (a->as_lines) return cli_write_session(session, "-", a->as_json ? write_lines_json : write_lines);
  if (a->as_yaml) return cli_write_session(session, "-", a->origins ? write_origins : write_yaml);
  const char *path = a->svg_path ? a->svg_path : a->mermaid_path ? a->mermaid_path : a->dot_path ? a->dot_path : "-";
  const char *option = a->svg_path ? "--svg" : a->mermaid_path ? "--mermaid" : "--dot";
  if (sl_session_claim_output(session, option, path, 0) < 0) return CLI_WRONG;
  return write_picture(a, session, path);
}

int cli_graph(const struct cli_arguments *a) {
  if ((a->dot_path != NULL) + (a->svg_path != NULL) + (a->mermaid_path != NULL) + a->as_yaml + a->as_lines > 1) {
    fprintf(stderr, "error: `sluice graph` takes one of --dot, --svg, --mermaid, --yaml and --lines\n");
    return CLI_WRONG;
  }
  if (a->origins && !a->as_yaml) {
    fprintf(stderr, "error: --origin has no effect without --yaml\n");
    return CLI_WRONG;
  }
  if (a->as_json && !a->as_lines) {
    fprintf(stderr, "error: --json has no effect without --lines\n");
    return CLI_WRONG;
  }
  const char *of_picture = a->as_yaml || a->as_lines ? cli_given_of(a, CLI_PICTURE) : NULL;
  if (of_picture) {
    fprintf(stderr, "error: %s has no effect with %s\n", of_picture, a->as_yaml ? "--yaml" : "--lines");
    return CLI_WRONG;
  }
  return cli_inspect(a, show);
}
