/* support.c: see support.h. */
#include "support.h"

char *nominal_text(void) {
  enum { BYTES_MAX = 1 << 20 };
  FILE *file = fopen(KALMAN_FOLDER "/nominal.kalman", "rb");
  char *text = (char *)calloc(1, BYTES_MAX);
  assert_non_null(file);
  assert_non_null(text);
  const size_t bytes = fread(text, 1, BYTES_MAX - 1, file);
  assert_true(bytes > 0 && bytes < BYTES_MAX - 1);
  fclose(file);
  return text;
}

char *text_with(const char *text, const char *old, const char *new) {
  const char *at = strstr(text, old);
  assert_non_null(at);
  char *result = (char *)calloc(1, strlen(text) + strlen(new) + 1);
  assert_non_null(result);
  memcpy(result, text, (size_t)(at - text));
  strcat(result, new);
  strcat(result, at + strlen(old));
  return result;
}

uint32_t line_of(const char *text, const char *there) {
  const char *at = strstr(text, there);
  assert_non_null(at);
  uint32_t line = 1;
  for (const char *c = text; c < at; c++) line += *c == '\n';
  return line;
}

struct kalman_description *nominal(void) {
  struct messages m;
  struct kalman_description *d = (struct kalman_description *)calloc(1, sizeof *d);
  assert_non_null(d);
  messages_begin(&m);
  if (kalman_load_path(&m.services, KALMAN_FOLDER "/nominal.kalman", d) != SL_OK) fail_msg("%s", m.last);
  return d;
}

static void store(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void store(void *context, uint32_t severity, const char *format, ...) {
  struct messages *m = (struct messages *)context;
  va_list arguments;
  (void)severity;
  va_start(arguments, format);
  vsnprintf(m->last, sizeof m->last, format, arguments);
  va_end(arguments);
}

void messages_begin(struct messages *m) {
  memset(m, 0, sizeof *m);
  m->services.context = m;
  m->services.message = store;
}
