/* event_id.c: see event_id.h. */
#include "base/event_id.h"

#include <errno.h>
#include <stdlib.h>

int sl_take_number(const char **text, uint64_t maximum, uint64_t *number) {
  char *end = NULL;
  if (**text < '0' || **text > '9') return 0;
  errno = 0;
  *number = strtoull(*text, &end, 10);
  *text = end;
  return errno == 0 && *number <= maximum;
}

int sl_take_event_id(const char **text, struct sl_event_id *id) {
  *id = (struct sl_event_id){.any_run = 1};
  if (!sl_take_number(text, UINT64_MAX, &id->number)) return 0;
  if (**text != ':') return 1;
  if (id->number > UINT32_MAX) return 0;
  ++*text;
  id->run = (uint32_t)id->number;
  id->any_run = 0;
  return sl_take_number(text, UINT64_MAX, &id->number);
}
