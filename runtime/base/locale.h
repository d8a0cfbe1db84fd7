/* locale.h: the library formats and parses in the C locale, whatever locale the program uses, and does not change the
 * program's locale: a thread is in the C locale from the entry into a public function until its return, except during
 * callbacks into the program. The library's own threads are in it from their start (base/thread.h).
 *
 *   int sl_index_write_json(...) {
 *     SL_IN_C_LOCALE(SL_ENOMEM);
 *     ...
 *   }
 *
 * tests/runtime/locale_entries_test.py checks that each public function begins with it.
 */
#ifndef SL_LOCALE_H
#define SL_LOCALE_H

#include <locale.h>

struct sl_locale_scope {
  locale_t users; /* locale to restore; 0: the thread was already in the C locale */
  int has_failed;
};
struct sl_locale_scope sl_locale_enter(void);
void sl_locale_leave(struct sl_locale_scope *scope);

/* The rest of the function runs in the C locale. Returns `failure` (empty in a void function) if there is no memory for
 * a locale, or if the processor lacks instructions (base/processor.h). */
#define SL_IN_C_LOCALE(failure)                                                                   \
  __attribute__((cleanup(sl_locale_leave))) struct sl_locale_scope sl_scope_ = sl_locale_enter(); \
  if (sl_scope_.has_failed) return failure

/* Call these around a callback, which runs in the program's locale. */
locale_t sl_locale_begin_callback(void);
void sl_locale_end_callback(locale_t users);

#endif
