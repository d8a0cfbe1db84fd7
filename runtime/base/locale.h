/* locale.h: the library formats and parses in the C locale, whatever the locale of the program that uses it, without
 * changing that one: a thread is in the C locale from the entry into a public function until its return, except during
 * callbacks into the program. Threads of the library are in it from their start (base/thread.h).
 *
 *   int sl_index_write_json(...) {
 *     SL_IN_C_LOCALE(SL_ENOMEM);
 *     ...
 *   }
 *
 * tests/runtime/locale_entries_test.py checks that each public function begins so.
 */
#ifndef SL_LOCALE_H
#define SL_LOCALE_H

#include <locale.h>

struct sl_locale_scope {
  locale_t users; /* to which the thread returns; 0: it was in the C locale of the library already */
  int has_failed;
};
struct sl_locale_scope sl_locale_enter(void);
void sl_locale_leave(struct sl_locale_scope *scope);

/* The rest of the function runs in the C locale. Returns `failure`, which may be left out in a function without a
 * result, if the system has no memory for a locale, or the processor lacks instructions (base/processor.h). */
#define SL_IN_C_LOCALE(failure)                                                                   \
  __attribute__((cleanup(sl_locale_leave))) struct sl_locale_scope sl_scope_ = sl_locale_enter(); \
  if (sl_scope_.has_failed) return failure

/* Around a callback into the program, which runs in the locale of the program. */
locale_t sl_locale_begin_callback(void);
void sl_locale_end_callback(locale_t users);

#endif
