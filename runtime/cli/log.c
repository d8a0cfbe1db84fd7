/* log.c: see log.h. A line is made in memory and written through the filter of terminal.c: a message cannot end a line
 * or send control codes to the terminal of a reader. The first failed write is reported on standard error and ends the
 * log; the run continues. */
#include "cli/log.h"

#include "base/file_identity.h"
#include "base/nearest.h"
#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "note", "warning", "error"};
enum { LEVELS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file; /* NULL: no log */
static const char *log_path, *log_option;
static struct sl_text_file pending; /* lines before cli_log_begin has checked the file */
static int opened = -1;             /* the file until then, if it exists */
static int least_level;
static int is_broken; /* under the lock */

static void break_off(void) {
  fprintf(stderr, "warning: %s: the log cannot be written, and ends here: %s\n", log_path, strerror(errno));
  is_broken = 1;
}

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

/* Does not wait for the reader of a FIFO. -1 after an error. */
static int open_file(const char *from, const char *path, int flags) {
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0666);
  if (file >= 0 && fcntl(file, F_SETFL, O_APPEND) == 0) return file;
  fprintf(stderr, "error: %s %s: %s\n", from, path, strerror(errno));
  if (file >= 0) close(file);
  return -1;
}

/* Opens the file if it exists; else checks that it can be created, and creates nothing. */
static int check_file(const char *from, const char *path) {
  char reason[PATH_MAX + 128];
  if (access(path, F_OK) == 0) {
    opened = open_file(from, path, 0);
    return opened < 0 ? CLI_WRONG : CLI_OK;
  }
  if (sl_file_may_be_written(path, reason, sizeof reason) == 0) return CLI_OK;
  fprintf(stderr, "error: %s %s: %s\n", from, path, reason);
  return CLI_WRONG;
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
  if (strcmp(path, "-") == 0) {
    log_path = "standard error";
    log_file = stderr;
    return CLI_OK;
  }
  if (check_file(from, path) != CLI_OK) return CLI_WRONG;
  log_path = path;
  log_option = from;
  log_file = sl_text_open(&pending);
  return log_file ? CLI_OK : cli_no_memory();
}

/* Is the open file empty, a log, or no regular file? */
static int is_log(int file) {
  static const char form[] = "0000-00-00T00:00:00.000Z ";
  char text[sizeof form - 1];
  struct stat status;
  if (fstat(file, &status) != 0) return 0;
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return 1;
  const int again = open(log_path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = again < 0 ? 0 : read(again, text, sizeof text);
  if (again >= 0) close(again);
  if (bytes != sizeof text) return 0;
  for (size_t i = 0; i < sizeof text; i++)
    if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return 0;
  return 1;
}

/* Ends the log. */
static int end_log(int status) {
  cli_log_close();
  return status;
}

int cli_log_begin(struct sl_session *session) {
  if (!pending.file) return CLI_OK;
  if (session && sl_session_claim_output(session, log_option, log_path, 1) < 0) return end_log(CLI_WRONG);
  if (opened < 0) opened = open_file(log_option, log_path, O_CREAT);
  if (opened < 0) return end_log(CLI_WRONG);
  if (!session && !is_log(opened)) {
    fprintf(stderr, "warning: %s: this file is not a log; the refused run is not appended\n", log_path);
    return end_log(CLI_WRONG);
  }
  FILE *file = cli_open_filtered(opened);
  if (!file) return end_log(cli_no_memory());
  opened = -1;
  log_file = file;
  if (sl_text_close(&pending) < 0) return cli_no_memory();
  for (char *line = pending.text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
    if (!is_broken && fwrite(line, 1, (size_t)(end + 1 - line), log_file) < (size_t)(end + 1 - line)) break_off();
  free(pending.text);
  return CLI_OK;
}

void cli_log_close(void) {
  if (pending.file) {
    (void)sl_text_close(&pending);
    free(pending.text);
  } else if (log_file && log_file != stderr) {
    fclose(log_file);
  }
  if (opened >= 0) close(opened);
  opened = -1;
  log_file = NULL;
}

/* ----------------------------------------------------------------------------------------------- writing */

int cli_log_is_enabled(int level) { return log_file && level >= least_level; }

static void write_line(int level, const char *text) {
  struct timespec now;
  struct tm utc;
  char day[32];
  pthread_mutex_lock(&lock);
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  if (!is_broken &&
      fprintf(log_file, "%s.%03ldZ %s %s\n", day, now.tv_nsec / 1000000, level_names[level - CLI_LOG_DEBUG], text) < 0)
    break_off();
  pthread_mutex_unlock(&lock);
}

/* Ends the text and writes it as one line. */
static void write_text(int level, struct sl_text_file *text, int is_open) {
  const int is_whole = sl_text_close(text) == SL_OK && is_open;
  for (char *c = is_whole ? text->text : NULL; c && (c = strpbrk(c, "\r\n\t")) != NULL;) *c = ' ';
  write_line(level, is_whole ? text->text : "(out of memory for this message)");
  free(text->text);
}

void cli_log(int level, const char *format, ...) {
  if (!cli_log_is_enabled(level)) return;
  struct sl_text_file text;
  va_list arguments;
  va_start(arguments, format);
  const int is_open = sl_text_open(&text) != NULL;
  if (is_open) vfprintf(text.file, format, arguments);
  va_end(arguments);
  write_text(level, &text, is_open);
}

void cli_log_message(const struct sl_diagnostic *m) {
  if (!cli_log_is_enabled((int)m->severity)) return;
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
