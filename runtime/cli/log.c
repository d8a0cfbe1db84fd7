/* log.c: see log.h. A line is made in memory and goes to the file through the filter of terminal.c, so that a message
 * can neither end a line nor hold codes for the terminal of who reads it. What cannot be written is said once on
 * standard error, and the run goes on. */
#include "cli/log.h"

#include "base/file_identity.h"
#include "base/nearest.h"
#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "note", "warning", "error"};
enum { LEVELS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file; /* NULL: there is none */
static const char *log_path;
static int least_level;
static int is_broken; /* under the lock */

/* ----------------------------------------------------------------------------------------------- opening */

/* `from`: the option or variable that names the level. */
static int choose_level(const char *from, const char *name) {
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  for (int i = 0; i < LEVELS; i++) {
    if (strcmp(name, level_names[i]) == 0) {
      least_level = i + CLI_LOG_DEBUG;
      return CLI_OK;
    }
    sl_nearest_offer(&nearest, level_names[i]);
  }
  fprintf(stderr, "error: %s is error, warning, note or debug, not '%s'\n", from, name);
  cli_suggest(&nearest);
  return CLI_WRONG;
}

/* Lines among the bytes of a file that the run reads or writes would spoil it. */
static const char *use_of(const struct cli_arguments *a, const char *path) {
  const struct sl_file_identity log = sl_file_identify(path);
  const char *const others[] = {a->operand, a->options.output_path, a->json_path, a->options.trace_path,
                                a->options.metrics_path};
  static const char *const uses[] = {"the graph", "the file of -o", "the file of --json", "the file of --trace",
                                     "the file of --metrics"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    const struct sl_file_identity other = others[i] ? sl_file_identify(others[i]) : log;
    if (others[i] && sl_file_is_same(&log, &other)) return uses[i];
  }
  const struct cli_list *const lists[] = {&a->inputs, &a->withs};
  for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
    for (size_t i = 0; i < lists[l]->count; i++) {
      const struct sl_file_identity other = sl_file_identify(lists[l]->items[i]);
      if (sl_file_is_same(&log, &other)) return l == 0 ? "an input of this run" : "part of the graph";
    }
  return NULL;
}

static int open_file(const char *from, const char *path) {
  /* Without waiting for a reader, if it is a FIFO. */
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (file < 0 || fcntl(file, F_SETFL, O_APPEND) < 0) {
    fprintf(stderr, "error: %s %s: %s\n", from, path, strerror(errno));
    if (file >= 0) close(file);
    return CLI_WRONG;
  }
  log_file = cli_open_filtered(file);
  if (!log_file) {
    close(file);
    return cli_no_memory();
  }
  log_path = path;
  return CLI_OK;
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

int cli_log_open(const struct cli_arguments *a) {
  const char *path = a->log_path ? a->log_path : variable("SLUICE_LOG");
  const char *level = a->log_level ? a->log_level : variable("SLUICE_LOG_LEVEL");
  const char *from = a->log_path ? "--log" : "SLUICE_LOG";
  if (a->log_level && !path) {
    fprintf(stderr, "error: --log-level has no effect without --log or SLUICE_LOG\n");
    return CLI_WRONG;
  }
  if (!path) return CLI_OK;
  least_level = SL_NOTE;
  if (level && choose_level(a->log_level ? "--log-level" : "SLUICE_LOG_LEVEL", level) != CLI_OK) return CLI_WRONG;
  const char *use = use_of(a, path);
  if (use) {
    fprintf(stderr, "error: %s %s: the same file is %s\n", from, path, use);
    return CLI_WRONG;
  }
  return open_file(from, path);
}

void cli_log_close(void) {
  if (log_file) fclose(log_file);
  log_file = NULL;
}

/* ----------------------------------------------------------------------------------------------- writing */

int cli_log_takes(int level) { return log_file && level >= least_level; }

static void write_line(int level, const char *text) {
  struct timespec now;
  struct tm utc;
  char day[32];
  pthread_mutex_lock(&lock);
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  if (!is_broken && fprintf(log_file, "%s.%03ldZ %s %s\n", day, now.tv_nsec / 1000000,
                            level_names[level - CLI_LOG_DEBUG], text) < 0) {
    fprintf(stderr, "warning: %s: the log cannot be written, and ends here: %s\n", log_path, strerror(errno));
    is_broken = 1;
  }
  pthread_mutex_unlock(&lock);
}

/* Ends the text and writes it as one line. */
static void write_text(int level, struct sl_text_file *text, int is_open) {
  const int is_whole = sl_text_close(text) == SL_OK && is_open;
  for (char *c = is_whole ? text->text : NULL; c && (c = strpbrk(c, "\r\n\t")) != NULL;) *c = ' ';
  write_line(level, is_whole ? text->text : "(out of memory for what happened here)");
  free(text->text);
}

void cli_log(int level, const char *format, ...) {
  if (!cli_log_takes(level)) return;
  struct sl_text_file text;
  va_list arguments;
  va_start(arguments, format);
  const int is_open = sl_text_open(&text) != NULL;
  if (is_open) vfprintf(text.file, format, arguments);
  va_end(arguments);
  write_text(level, &text, is_open);
}

void cli_log_message(const struct sl_diagnostic *m) {
  if (!cli_log_takes((int)m->severity)) return;
  struct sl_text_file text;
  const int is_open = sl_text_open(&text) != NULL;
  if (is_open) {
    if (m->file) fprintf(text.file, "%s:", m->file);
    if (m->file && m->line) fprintf(text.file, "%u:", m->line);
    if (m->file && m->line && m->column) fprintf(text.file, "%u:", m->column);
    if (m->file) fputc(' ', text.file);
    if (m->node) fprintf(text.file, "node %s: ", m->node);
    fputs(m->message, text.file);
    if (m->hint) fprintf(text.file, " (hint: %s)", m->hint);
  }
  write_text((int)m->severity, &text, is_open);
}
