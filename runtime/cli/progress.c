/* progress.c: see progress.h. One line, rewritten as the run proceeds:
 *
 *   [##########----------]  50 %  5000 events, 812/s, 0:06 left
 *
 * The bar takes the width of the terminal that the text leaves, up to 40 columns, and is left out if that is too narrow
 * or the number of events is not known. Several threads draw it and print messages, so a lock protects the text of the
 * line. Standard error is not buffered: one call of fprintf is one write.
 */
#define _GNU_SOURCE
#include "cli/progress.h"

#include "base/text_file.h"
#include "cli/cli.h"
#include "cli/log.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char drawn[512]; /* text of the line; "" if there is none */
static int hidden;

enum { COLUMNS_DEFAULT = 80, BAR_MIN = 10, BAR_MAX = 40, SECONDS_SHOWN_MAX = 359999 };

static int terminal_columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS_DEFAULT;
}

/* "1:05" or "2:01:05". */
static void write_duration(char *text, size_t size, double seconds) {
  const uint32_t s = seconds < SECONDS_SHOWN_MAX ? (uint32_t)(seconds + 0.5) : SECONDS_SHOWN_MAX;
  if (s < 3600)
    snprintf(text, size, "%" PRIu32 ":%02" PRIu32, s / 60, s % 60);
  else
    snprintf(text, size, "%" PRIu32 ":%02" PRIu32 ":%02" PRIu32, s / 3600, s / 60 % 60, s % 60);
}

void cli_show_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds) {
  (void)context;
  if (hidden) return;
  char text[128], left[16], bar[BAR_MAX + 1];
  const int has_end = total > 0 && done > 0 && done <= total;
  const double share = has_end ? (double)done / (double)total : 0;
  int length = snprintf(text, sizeof text, "%" PRIu64 " %s, %.0f/s", events, sl_plural(events, "event", "events"),
                        seconds > 0 ? (double)events / seconds : 0.0);
  if (has_end) {
    write_duration(left, sizeof left, seconds * (1 - share) / share);
    snprintf(text + length, sizeof text - (size_t)length, ", %s left", left);
  }
  const int columns = terminal_columns() - 1; /* the last column would wrap */
  length = (int)strlen(text);
  const int around_bar = 10, step = 8; /* "[]  50 %  "; one more digit of the text does not change the bar */
  int width = columns - (length + step - 1) / step * step - around_bar;
  if (width > BAR_MAX) width = BAR_MAX;
  pthread_mutex_lock(&lock);
  if (!has_end || width < BAR_MIN) {
    snprintf(drawn, sizeof drawn, "%.*s", columns, text);
  } else {
    const int filled = (int)(share * width);
    memset(bar, '#', (size_t)filled);
    memset(bar + filled, '-', (size_t)(width - filled));
    snprintf(drawn, sizeof drawn, "[%.*s] %3d %%  %s", width, bar, (int)(share * 100), text);
  }
  fprintf(stderr, CLI_CLEAR_LINE "%s", drawn);
  pthread_mutex_unlock(&lock);
}

void cli_hide_progress(void) { hidden = 1; }

void cli_end_progress(void) {
  pthread_mutex_lock(&lock);
  if (*drawn) fputs(CLI_CLEAR_LINE, stderr);
  *drawn = '\0';
  pthread_mutex_unlock(&lock);
}

void cli_show_message(void *quiet, const struct sl_diagnostic *message) {
  cli_log_message(message);
  if (*(const uint32_t *)quiet && message->severity != SL_ERROR) return;
  struct sl_text_file text;
  if (sl_text_open(&text)) cli_write_message(message, text.file);
  const int is_whole = sl_text_close(&text) == SL_OK;
  pthread_mutex_lock(&lock);
  if (is_whole) {
    fprintf(stderr, "%s%s%s", *drawn ? CLI_CLEAR_LINE : "", text.text, drawn);
  } else {
    if (*drawn) fputs(CLI_CLEAR_LINE, stderr);
    *drawn = '\0';
    cli_write_message(message, stderr);
  }
  pthread_mutex_unlock(&lock);
  free(text.text);
}
