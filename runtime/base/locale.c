/* locale.c: see locale.h. */
#include "base/locale.h"

#include "base/processor.h"

#include <pthread.h>

static locale_t c_locale; /* 0: could not be created */
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* The locale that the thread had when it entered the library; 0 outside of the library. */
static _Thread_local locale_t users_locale;

/* Not called on a processor without the build's instructions, which functions that need a locale may use. */
static void make(void) {
  if (!sl_processor_lacks()) c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

struct sl_locale_scope sl_locale_enter(void) {
  if (users_locale) return (struct sl_locale_scope){0};
  pthread_once(&once, make);
  if (!c_locale) return (struct sl_locale_scope){.has_failed = 1};
  users_locale = uselocale(c_locale);
  return (struct sl_locale_scope){.users = users_locale};
}

void sl_locale_leave(struct sl_locale_scope *scope) {
  if (!scope->users) return;
  uselocale(scope->users);
  users_locale = (locale_t)0;
}

locale_t sl_locale_begin_callback(void) {
  const locale_t users = users_locale;
  if (users) uselocale(users);
  users_locale = (locale_t)0; /* functions that the callback calls enter again */
  return users;
}

void sl_locale_end_callback(locale_t users) {
  if (users) users_locale = uselocale(c_locale);
}
