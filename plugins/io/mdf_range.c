/* mdf_range.c: see mdf_range.h. */
#include "mdf_range.h"

#include "format/mdf_walk.h"

#include <inttypes.h>

int mdf_range_is_part(const struct sl_input_range *requested) {
  return requested && (requested->first_byte != 0 || requested->bytes != 0);
}

/* Finds the last record that begins at or before `byte`: its *begin and *end. Returns the number of records before
 * it. */
static uint64_t records_before(const struct input_file *f, uint32_t is_bare, uint64_t byte, uint64_t *begin,
                               uint64_t *end) {
  struct mdf_reader reader = mdf_reader_start(f->data, f->size);
  struct mdf_record record = {0};
  uint64_t count = 0;
  *begin = *end = 0;
  while (mdf_walk_next(&reader, is_bare, &record)) {
    mdf_walk_check(&reader, is_bare, &record);
    *begin = record.offset;
    *end = record.offset + record.bytes;
    if (*end > byte) break;
    count++;
  }
  return count;
}

static int refuse(const struct sl_services *s, const char *name, const struct input_file *f, uint64_t byte,
                  const char *what, uint64_t begin, uint64_t end) {
  s->message(s->context, SL_ERROR,
             "%s: no record begins at byte %" PRIu64 ", where the range %s; a record begins at byte %" PRIu64
             ", and %s byte %" PRIu64 "; `sluice index` lists the ranges that can be read",
             name, byte, what, begin, end < f->size ? "the next one at" : "the file ends at", end);
  return SL_EINVAL;
}

/* Checks that a record, sound or damaged, begins at `byte`; reports an error if not. */
static int check_begin(const struct sl_services *s, const char *name, const struct input_file *f, uint32_t is_bare,
                       uint64_t byte, const char *what) {
  uint64_t begin, end;
  if (mdf_walk_begins(f->data, f->size, is_bare, byte)) return SL_OK;
  (void)records_before(f, is_bare, byte, &begin, &end);
  return begin == byte ? SL_OK : refuse(s, name, f, byte, what, begin, end);
}

int mdf_range_find(struct mdf_range *range, const struct sl_services *s, const char *name, const struct input_file *f,
                   uint32_t is_bare, const struct sl_input_range *requested) {
  *range = (struct mdf_range){0};
  if (!mdf_range_is_part(requested)) return SL_OK;
  const uint64_t first = requested->first_byte, left = first < f->size ? f->size - first : 0;
  if (requested->bytes > left || left == 0) {
    s->message(s->context, SL_ERROR,
               "%s: %" PRIu64 " bytes from byte %" PRIu64 " on are requested, but the file has %" PRIu64
               " bytes; `sluice index` lists the ranges that can be read",
               name, requested->bytes, first, f->size);
    return SL_EINVAL;
  }
  *range = (struct mdf_range){first, first + (requested->bytes ? requested->bytes : left), requested->first_record};
  if (first != 0 && check_begin(s, name, f, is_bare, first, "begins")) return SL_EINVAL;
  if (range->end != f->size && check_begin(s, name, f, is_bare, range->end, "ends")) return SL_EINVAL;
  uint64_t begin, end;
  if (requested->first_record != SL_RECORD_UNKNOWN) return SL_OK;
  range->first_record = records_before(f, is_bare, first, &begin, &end);
  return begin == first ? SL_OK : refuse(s, name, f, first, "begins", begin, end);
}
