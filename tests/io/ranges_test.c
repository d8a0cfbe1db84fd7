/* ranges_test.c: files read in parts. The index covers the file. The events of its parts, concatenated, are equal to
 * those of the whole file, also if it is damaged. A range that does not begin and end at records is an error that names
 * the nearest records. */
#include "damage.h"
#include "mep_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct driver driver;

static int start_mdf(void **state) {
  (void)state;
  driver_start_small(&driver, "mdf_source");
  return 0;
}

static int start_mep(void **state) {
  (void)state;
  driver_start_small(&driver, "mep_source");
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver.ranges = NULL;
  driver_stop(&driver);
  return 0;
}

/* ------------------------------------------------------------------------------------------------- parts */

enum { PARTS_MAX = 512 };

struct parts {
  struct sl_input_range ranges[PARTS_MAX];
  uint64_t events[PARTS_MAX], least_events, records, bytes;
  uint32_t count, faults, error_count;
  char text[512]; /* the last message */
};

static int add(void *context, const struct sl_index_record *record) {
  struct parts *p = context;
  if (record->first_byte != p->bytes) return SL_EPLUGIN; /* a gap */
  if (p->count == 0 || (record->begins_part && p->events[p->count - 1] >= p->least_events)) {
    p->ranges[p->count] = (struct sl_input_range){record->first_byte, 0, p->records};
    p->events[p->count++] = 0;
  }
  p->ranges[p->count - 1].bytes += record->bytes;
  p->events[p->count - 1] += record->events;
  p->bytes += record->bytes;
  p->records++;
  p->faults += record->fault != NULL;
  return p->count < PARTS_MAX - 1 ? 0 : SL_EPLUGIN;
}

__attribute__((format(printf, 3, 4))) static void on_message(void *context, uint32_t severity, const char *format,
                                                             ...) {
  struct parts *p = context;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->text, sizeof p->text, format, arguments);
  va_end(arguments);
  p->error_count += severity == SL_ERROR;
}

static int cut(const char *path, uint64_t least_events, struct parts *parts) {
  *parts = (struct parts){.least_events = least_events};
  const struct sl_index_calls calls = {sizeof calls, 0, parts, add, on_message};
  return driver_index(&driver, path, &calls);
}

/* A record within another one is not visible in the headers, unlike a wrong checksum; events numbered by their index
 * then have other numbers. */
static int is_same(const struct seen *a, const struct seen *b, int with_number) {
  return a->event.run == b->event.run && a->event.offset == b->event.offset && a->event.error == b->event.error &&
         a->digest == b->digest && (a->event.number == b->event.number || !with_number);
}

/* Reads the file as a whole and in parts of at least `least_events` events: 1 if the events are equal. */
static int parts_give_the_file(const struct bytes *file, uint64_t least_events, int records_known, int with_number) {
  static struct parts parts;
  struct memory_file f = memory_file_new(file->data, file->size);
  const char *const paths[] = {f.path};
  uint32_t done = 0;
  int right = 0;
  driver.ranges = NULL;
  const int result = driver_run(&driver, paths, 1);
  const uint32_t count = driver.seen_count;
  struct seen *whole = malloc((count + 1) * sizeof *whole);
  assert_non_null(whole);
  memcpy(whole, driver.seen, count * sizeof *whole);
  const int indexed = cut(f.path, least_events, &parts);
  if (result < 0) { /* both report an error */
    right = indexed < 0 && parts.error_count == 1;
    goto end;
  }
  if (indexed != 0 || parts.bytes != file->size) goto end;
  for (uint32_t i = 0; i < parts.count; i++) {
    if (!records_known) parts.ranges[i].first_record = SL_RECORD_UNKNOWN;
    driver.ranges = &parts.ranges[i];
    if (driver_run(&driver, paths, 1) != 0) goto end;
    if ((with_number && driver.seen_count != parts.events[i]) || done + driver.seen_count > count) goto end;
    for (uint32_t k = 0; k < driver.seen_count; k++)
      if (!is_same(&whole[done++], &driver.seen[k], with_number)) goto end;
    if (driver.progress_done != driver.progress_total || driver.progress_total != parts.ranges[i].bytes) goto end;
  }
  right = done == count;
end:
  free(whole);
  driver.ranges = NULL;
  memory_file_free(&f);
  return right;
}

static int damaged_parts_give_the_whole(const struct original *o, const struct damage *d) {
  (void)o;
  const int by_headers = d->begin % 2;
  driver_set(&driver, "checksum", !by_headers);
  return parts_give_the_file(&d->file, 1 + d->begin % 5, by_headers, by_headers);
}

/* ------------------------------------------------------------------------------------------------- files */

/* Some records have a number of their own, others are numbered by their index. */
static struct bytes mdf_file(void) {
  struct bytes file = {0}, body = {0};
  add_clusters(&body, 3, 17, 9);
  for (uint32_t i = 0; i < 40; i++) {
    if (i % 3 == 0) add_record(&file, &body, &(struct record_style){.version = 3, .run = 7});
    if (i % 3 == 1) add_simple_record(&file, 1000 + i);
    if (i % 3 == 2) add_record(&file, &body, &(struct record_style){.version = 2, .codec = 1 + i % 4});
  }
  bytes_free(&body);
  return file;
}

static struct bytes mep_file(struct packet_style style) {
  struct bytes file = {0};
  static const uint32_t counts[] = {4, 7, 1, 3, 6, 2, 5};
  uint32_t first = 300;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    style.event_id = first;
    add_simple_packet(&file, &style, first, counts[i]);
    first += counts[i];
  }
  return file;
}

static const struct packet_style styles[] = {
    {.alignment = 2},
    {.alignment = 0},
    {.alignment = 3, .aligned_start = 1, .in_record = 1, .run = 1000},
    {.is_prototype = 1, .run = 1000, .signed_record = 1},
};
enum { STYLES = sizeof styles / sizeof styles[0] };

/* ------------------------------------------------------------------------------------------------- cases */

static void parts_of_records_give_the_events_of_the_file(void **state) {
  (void)state;
  struct bytes file = mdf_file();
  for (uint64_t events = 1; events < 44; events += 3)
    for (int records_known = 0; records_known < 2; records_known++)
      assert_true(parts_give_the_file(&file, events, records_known, 1));
  bytes_free(&file);
}

static void parts_of_packets_give_the_events_of_the_file(void **state) {
  (void)state;
  for (uint32_t i = 0; i < STYLES; i++) {
    struct bytes file = mep_file(styles[i]);
    for (uint64_t events = 1; events < 30; events += 3)
      for (int records_known = 0; records_known < 2; records_known++)
        assert_true(parts_give_the_file(&file, events, records_known, 1));
    bytes_free(&file);
  }
}

static void run_damages(struct bytes file) {
  struct original o = {.driver = &driver, .file = file};
  original_read(&o);
  damage_run_cases(&o, damage_stretch, damaged_parts_give_the_whole, 500);
  bytes_free(&o.file);
}

static void parts_of_damaged_records_give_the_events_of_the_file(void **state) {
  (void)state;
  run_damages(mdf_file());
}

static void parts_of_damaged_packets_give_the_events_of_the_file(void **state) {
  (void)state;
  run_damages(mep_file(styles[0]));
  run_damages(mep_file(styles[2])); /* in records */
}

static void bad_headers_are_reported_with_their_offset(void **state) {
  (void)state;
  static struct parts parts;
  struct bytes file = {0};
  add_simple_record(&file, 1);
  const size_t second = add_simple_record(&file, 2);
  const size_t third = add_simple_record(&file, 3);
  file.data[second + 4] ^= 1; /* one of three lengths */
  struct memory_file f = memory_file_new(file.data, file.size);
  assert_int_equal(cut(f.path, 1, &parts), 0);
  assert_int_equal(parts.faults, 1);
  assert_int_equal(parts.count, 2); /* no part begins at the damaged record */
  assert_int_equal(parts.ranges[1].first_byte, third);
  assert_int_equal(parts.ranges[1].first_record, 2);
  memory_file_free(&f);
  bytes_free(&file);
}

/* Returns the messages of a run over the range. */
static const char *messages_of_range(const struct bytes *file, struct sl_input_range range, int expected) {
  struct memory_file f = memory_file_new(file->data, file->size);
  const char *const paths[] = {f.path};
  driver.ranges = &range;
  assert_int_equal(driver_run(&driver, paths, 1), expected);
  driver.ranges = NULL;
  memory_file_free(&f);
  return driver.messages;
}

static void assert_contains(const char *messages, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void assert_contains(const char *messages, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!strstr(messages, text)) fail_msg("'%s' is not in '%s'", text, messages);
}

static void wrong_ranges_are_errors_with_the_nearest_records(void **state) {
  (void)state;
  struct bytes file = {0};
  const size_t second = (add_simple_record(&file, 1), add_simple_record(&file, 2));
  const size_t third = add_simple_record(&file, 3), size = file.size;
  const char *messages = messages_of_range(&file, (struct sl_input_range){second + 8, 0, 1}, SL_EINVAL);
  assert_contains(messages, "no record begins at byte %zu, where the range begins; a record begins at byte %zu",
                  second + 8, second);
  assert_contains(messages, "and the next one at byte %zu", third);
  messages = messages_of_range(&file, (struct sl_input_range){second, third + 1 - second, 1}, SL_EINVAL);
  assert_contains(messages, "no record begins at byte %zu, where the range ends", third + 1);
  assert_contains(messages, "the file ends at byte %zu", size);
  messages = messages_of_range(&file, (struct sl_input_range){second, size, 1}, SL_EINVAL);
  assert_contains(messages, "%zu bytes from byte %zu on are requested, but the file has %zu", size, second, size);
  messages = messages_of_range(&file, (struct sl_input_range){size, 0, 3}, SL_EINVAL);
  assert_contains(messages, "the file has %zu bytes", size);
  messages = messages_of_range(&file, (struct sl_input_range){UINT64_MAX, UINT64_MAX, 0}, SL_EINVAL);
  assert_contains(messages, "the file has %zu bytes", size);
  messages = messages_of_range(&file, (struct sl_input_range){1, UINT64_MAX, 0}, SL_EINVAL);
  assert_contains(messages, "the file has %zu bytes", size);
  bytes_free(&file);
}

/* A header within a record does not begin a record; the records before it are read. */
static void ranges_that_cut_a_record_are_errors(void **state) {
  (void)state;
  struct bytes inner = {0}, body = {0}, file = {0};
  add_simple_record(&inner, 7);
  add_bank(&body, 1, 0, 0, inner.data, (uint16_t)inner.size);
  add_simple_record(&file, 1);
  const size_t outer = add_record(&file, &body, &(struct record_style){.version = 3});
  const size_t within = outer + 48 + 8, size = file.size;
  const char *messages = messages_of_range(&file, (struct sl_input_range){0, within, 0}, SL_EFORMAT);
  assert_contains(messages, "the range ends at byte %zu, within the record from byte %zu to %zu", within, outer, size);
  assert_int_equal(driver.seen_count, 1);
  messages = messages_of_range(&file, (struct sl_input_range){within, 0, SL_RECORD_UNKNOWN}, SL_EINVAL);
  assert_contains(messages, "no record begins at byte %zu, where the range begins; a record begins at byte %zu", within,
                  outer);
  bytes_free(&inner);
  bytes_free(&body);
  bytes_free(&file);
}

static void a_range_of_a_pipe_is_an_error(void **state) {
  (void)state;
  struct bytes file = mdf_file();
  int ends[2];
  char path[40];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], file.data, 4000), 4000);
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
  const char *const paths[] = {path};
  const struct sl_input_range range = {0, 100, 0};
  driver.ranges = &range;
  assert_int_equal(driver_run(&driver, paths, 1), SL_EINVAL);
  assert_contains(driver.messages, "is a pipe, which has no ranges");
  static struct parts parts;
  assert_int_equal(cut(path, 1, &parts), SL_EINVAL);
  assert_contains(parts.text, "is a pipe, which can be read only once");
  close(ends[0]);
  close(ends[1]);
  bytes_free(&file);
}

/* Several ranges of one file, in any order, also repeated. */
static void ranges_are_read_in_the_order_given(void **state) {
  (void)state;
  struct bytes file = {0};
  size_t begin[7];
  for (uint64_t i = 0; i < 6; i++) begin[i] = add_simple_record(&file, i);
  begin[6] = file.size;
  struct memory_file f = memory_file_new(file.data, file.size);
  const char *const paths[] = {f.path, f.path, f.path};
  const struct sl_input_range ranges[] = {{begin[4], 0, 4}, {0, begin[2], 0}, {begin[2], begin[3] - begin[2], 2}};
  driver.ranges = ranges;
  driver_set(&driver, "passes", 2);
  assert_int_equal(driver_run(&driver, paths, 3), 0);
  static const uint64_t expected[] = {4, 5, 0, 1, 2};
  assert_int_equal(driver.seen_count, 10);
  for (uint32_t i = 0; i < 10; i++) assert_int_equal(driver.seen[i].event.number, expected[i % 5]);
  assert_int_equal(driver.progress_done, 2 * (file.size - begin[4] + begin[3]));
  driver.ranges = &ranges[2];
  driver_set(&driver, "passes", 3);
  assert_int_equal(driver_run(&driver, paths, 1), 0);
  assert_int_equal(driver.seen_count, 3);
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(driver.seen[i].event.number, 2);
  assert_int_equal(driver.progress_done, 3 * ranges[2].bytes);
  memory_file_free(&f);
  bytes_free(&file);
}

int main(void) {
#define CASE(name, start) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(parts_of_records_give_the_events_of_the_file, start_mdf),
      CASE(parts_of_packets_give_the_events_of_the_file, start_mep),
      CASE(parts_of_damaged_records_give_the_events_of_the_file, start_mdf),
      CASE(parts_of_damaged_packets_give_the_events_of_the_file, start_mep),
      CASE(bad_headers_are_reported_with_their_offset, start_mdf),
      CASE(wrong_ranges_are_errors_with_the_nearest_records, start_mdf),
      CASE(ranges_that_cut_a_record_are_errors, start_mdf),
      CASE(a_range_of_a_pipe_is_an_error, start_mdf),
      CASE(ranges_are_read_in_the_order_given, start_mdf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
