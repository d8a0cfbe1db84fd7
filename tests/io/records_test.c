/* records_test.c: io.mdf_sink writes byte for byte what was read, directly and through packets, for all banks; omitted
 * banks are counted. */
#include "mep_writer.h"
#include "scratch.h"
#include "sink_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 16];
static struct bytes file; /* the input file */

static int start(void **state) {
  (void)state;
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/out", folder);
  file = (struct bytes){0};
  return 0;
}

static int stop(void **state) {
  (void)state;
  bytes_free(&file);
  return 0;
}

/* ---------------------------------------------------------------------------------------------------- copies */

/* How a copy is made; all zero: a copy of everything. */
struct style {
  const char *only, *without;
  uint32_t slice_events, set_compression, set_checksum, record_words, port_words;
  int32_t compression;
  uint32_t checksum, codec;
  /* Reported by the sink. */
  int64_t events, omitted, with_errors, banks_omitted, headers_not_representable;
  uint32_t slices;
  char messages[2048];
};

static struct bytes copy_with(const char *source_name, const char *sink_name, const struct bytes *from,
                              struct style *style) {
  struct driver source;
  struct sink_driver sink;
  driver_start_with(&source, source_name);
  sink_start(&sink, sink_name);
  if (style->slice_events) source.events_max = style->slice_events;
  if (style->record_words) source.record_words = style->record_words;
  if (style->port_words) source.word_capacity[DRIVER_velo_clusters] = style->port_words;
  if (style->only) sink_set_text(&sink, "only_types", style->only);
  if (style->without) sink_set_text(&sink, "excluded_types", style->without);
  if (style->set_compression) sink_set(&sink, "compression", style->compression);
  if (style->set_compression) sink_set(&sink, "codec", style->codec);
  if (style->set_checksum) sink_set(&sink, "checksum", style->checksum);
  assert_int_equal(sink_copy(&sink, &source, from->data, from->size, path), 0);
  style->events = sink.events;
  style->omitted = sink.omitted;
  style->with_errors = sink.with_errors;
  style->banks_omitted = sink.banks_omitted;
  style->headers_not_representable = sink.headers_not_representable;
  style->slices = source.slices;
  snprintf(style->messages, sizeof style->messages, "%s", source.messages);
  sink_stop(&sink);
  driver_stop(&source);
  return read_whole(path);
}

static void assert_same(const struct bytes *a, const struct bytes *b) {
  assert_int_equal(a->size, b->size);
  assert_memory_equal(a->data, b->data, a->size);
}

static void assert_copies_to(const struct bytes *expected, const char *source_name, const char *sink_name,
                             struct style *style) {
  struct bytes written = copy_with(source_name, sink_name, &file, style);
  assert_same(&written, expected);
  bytes_free(&written);
}

/* ----------------------------------------------------------------------------------------------------- events */

static uint32_t random_state;
static uint32_t draw(uint32_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % below;
}

/* Appends a bank with a random payload and non-zero padding. */
static void add_odd_bank(struct bytes *body, uint8_t type, uint8_t version, uint16_t source, uint16_t size) {
  static uint8_t payload[65536];
  for (uint32_t i = 0; i < size; i++) payload[i] = (uint8_t)draw(256);
  const size_t end = body->size + 8u + size;
  add_bank(body, type, version, source, payload, size);
  for (size_t i = end; i < body->size; i++) body->data[i] = (uint8_t)(1 + draw(255));
}

/* Random banks of all types, sources, sizes and orders. If `for_packets`, only banks that packets can represent: no
 * source id that would be read back as another. */
static struct bytes odd_body(uint32_t banks, int for_packets) {
  struct bytes body = {0};
  add_odin(&body, 7, 1000, draw(1000000));
  for (uint32_t i = 0; i < banks; i++) {
    uint8_t type = (uint8_t)draw(256);
    const uint16_t source = (uint16_t)draw(for_packets ? 300 : 65536);
    if (type == 16 || type == 48 || type == 92 || (type == 15 && !for_packets)) type = 200;
    add_odd_bank(&body, type, (uint8_t)(for_packets ? type % 5 : draw(256)), source, (uint16_t)draw(90));
  }
  return body;
}

static void add_odd_records(uint32_t count, int for_packets) {
  random_state = 1;
  for (uint32_t i = 0; i < count; i++) {
    struct bytes body = odd_body(draw(60), for_packets);
    const struct record_style style =
        for_packets ? (struct record_style){.version = 3, .run = 1000}
                    : (struct record_style){.version = i % 4, .run = i, .trigger_number = i, .no_checksum = i % 3 == 0};
    const size_t at = add_record(&file, &body, &style);
    if (!for_packets && i % 4 == 3) file.data[at + 20 + i % 16] = 0x5a; /* a distinct trigger mask */
    if (!for_packets && !style.no_checksum) sign_record(&file, at);
    bytes_free(&body);
  }
}

/* ------------------------------------------------------------------------------------------------------- MDF */

static void copied_records_of_all_versions_and_banks_are_equal(void **state) {
  (void)state;
  add_odd_records(200, 0);
  for (uint32_t slice = 1; slice <= 64; slice = 4 * slice - 1) {
    struct style style = {.slice_events = slice};
    assert_copies_to(&file, "mdf_source", "mdf_sink", &style);
    assert_int_equal(style.banks_omitted, 0);
    assert_int_equal(style.events, 200);
  }
}

static void copied_compressed_records_are_equal(void **state) {
  (void)state;
  random_state = 2;
  for (uint32_t i = 0; i < 40; i++) {
    struct bytes body = odd_body(50, 0);
    add_record(&file, &body, &(struct record_style){.version = 3, .codec = 1 + i % 4, .expansion = 15});
    bytes_free(&body);
  }
  struct style style = {0};
  assert_copies_to(&file, "mdf_source", "mdf_sink", &style);
}

static void copied_records_without_padding_and_with_crossings_are_equal(void **state) {
  (void)state;
  struct bytes body = {0}, crossing = {0}, heads = {0};
  add_odin(&body, 7, 1000, 1);
  add_odd_bank(&body, 77, 1, 5, 13);
  body.size -= 3;
  add_record(&file, &body, &(struct record_style){.version = 3, .run = 1000});
  /* Three crossings, the central one in the middle; preceded by a status bank. */
  add_odin(&crossing, 7, 1000, 2);
  add_odd_bank(&crossing, 78, 1, 5, 14);
  const int32_t crossings[9] = {-1,
                                0,
                                (int32_t)crossing.size,
                                0,
                                (int32_t)crossing.size,
                                (int32_t)crossing.size,
                                1,
                                2 * (int32_t)crossing.size,
                                (int32_t)crossing.size};
  add_bank(&heads, 15, 16, 0, "status", 6);
  add_bank(&heads, 48, 0, 0, crossings, sizeof crossings);
  for (int i = 0; i < 3; i++) bytes_add(&heads, crossing.data, crossing.size);
  add_record(&file, &heads, &(struct record_style){.version = 3, .run = 1000});
  struct style style = {0};
  assert_copies_to(&file, "mdf_source", "mdf_sink", &style);

  /* A changed record keeps the central crossing. */
  struct bytes expected = {0}, remaining = {0};
  add_odin(&remaining, 7, 1000, 1);
  add_record(&expected, &remaining, &(struct record_style){.version = 3, .run = 1000});
  remaining.size = 0;
  add_odin(&remaining, 7, 1000, 2);
  add_record(&expected, &remaining, &(struct record_style){.version = 3, .run = 1000});
  style = (struct style){.without = "77 78"};
  assert_copies_to(&expected, "mdf_source", "mdf_sink", &style);
  assert_int_equal(style.banks_omitted, 1 + 1 + 2 + 4);
  /* A packet also contains only the central crossing. */
  struct bytes packets = copy_with("mdf_source", "mep_sink", &file, &style);
  assert_int_equal(style.banks_omitted, 1 + 1 + 2 + 4);
  assert_int_equal(style.events, 2);
  bytes_free(&packets);
  bytes_free(&expected);
  bytes_free(&remaining);
  bytes_free(&body);
  bytes_free(&crossing);
  bytes_free(&heads);
}

static void unreadable_records_are_copied_and_bytes_between_records_are_not(void **state) {
  (void)state;
  struct bytes expected = {0}, body = {0};
  for (uint32_t i = 0; i < 6; i++) add_simple_record(&file, i);
  uint32_t length;
  memcpy(&length, file.data, 4);
  file.data[60] ^= 1; /* a wrong checksum */
  const size_t broken = add_simple_record(&file, 6);
  file.data[broken + 48] = 0; /* a bank without its magic number */
  sign_record(&file, broken);
  add_odin(&body, 7, 1000, 7);
  const size_t packed = add_record(&file, &body, &(struct record_style){.version = 3, .codec = WITH_ZSTD});
  file.data[packed + 48] = 'Q'; /* a codec that does not exist */
  sign_record(&file, packed);
  bytes_add(&expected, file.data, file.size);
  bytes_add(&file, "no record at all, but some bytes between two of them", 52);
  const size_t last = add_simple_record(&file, 8);
  bytes_add(&expected, file.data + last, file.size - last);
  /* The records that cannot be read stay unchanged even if valid records are changed. */
  static const char *const without[] = {NULL, "99"};
  for (int i = 0; i < 2; i++) {
    struct style style = {.without = without[i]};
    assert_copies_to(&expected, "mdf_source", "mdf_sink", &style);
    assert_int_equal(style.events, 9);
    assert_int_equal(style.with_errors, 3);
    assert_int_equal(style.omitted, 1);
  }
  bytes_free(&body);
  bytes_free(&expected);
}

static void an_event_too_large_for_a_port_keeps_its_record(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 20; i++) add_simple_record(&file, i);
  struct style style = {.port_words = 40};
  assert_copies_to(&file, "mdf_source", "mdf_sink", &style);
  assert_true(style.with_errors > 0 && style.with_errors < 20);
  assert_non_null(strstr(style.messages, "words of velo_clusters, an event may have 40"));
}

static void checksums_and_compression_are_as_read_or_as_set(void **state) {
  (void)state;
  struct bytes plain = {0}, unsigned_ = {0};
  for (uint32_t i = 0; i < 30; i++) {
    struct bytes body = packet_body(i);
    for (uint16_t k = 0; k < 20; k++) add_bank(&body, 73, 3, (uint16_t)(10 + k), "the same text in every bank", 28);
    add_record(&file, &body, &(struct record_style){.version = 3, .run = i, .codec = WITH_ZLIB, .expansion = 15});
    add_record(&plain, &body, &(struct record_style){.version = 3, .run = i});
    add_record(&unsigned_, &body, &(struct record_style){.version = 3, .run = i, .no_checksum = 1});
    bytes_free(&body);
  }
  struct style style = {.set_compression = 1, .compression = 0};
  assert_copies_to(&plain, "mdf_source", "mdf_sink", &style);
  style = (struct style){.set_compression = 1, .compression = 0, .set_checksum = 1, .checksum = 2};
  assert_copies_to(&unsigned_, "mdf_source", "mdf_sink", &style);
  struct bytes whole = file;
  file = unsigned_;
  style = (struct style){0};
  assert_copies_to(&unsigned_, "mdf_source", "mdf_sink", &style);
  style = (struct style){.set_checksum = 1, .checksum = 1};
  assert_copies_to(&plain, "mdf_source", "mdf_sink", &style);
  file = whole;
  /* A changed record is compressed with its previous codec and level. */
  style = (struct style){.without = "33"};
  struct bytes changed = copy_with("mdf_source", "mdf_sink", &file, &style);
  assert_int_equal(style.banks_omitted, 30);
  for (size_t at = 0; at < changed.size;) {
    uint32_t size;
    memcpy(&size, changed.data + at, 4);
    assert_int_equal(changed.data[at + 16] & 0xf, 1);
    assert_memory_equal(changed.data + at + 48, "ZL", 2);
    at += size;
  }
  bytes_free(&changed);
  bytes_free(&plain);
  bytes_free(&unsigned_);
}

static void only_selected_types_are_written_and_others_counted(void **state) {
  (void)state;
  struct bytes expected = {0};
  for (uint32_t i = 0; i < 10; i++) {
    struct bytes body = {0}, remaining = {0};
    add_odin(&body, 7, 1000, i);
    add_bank(&body, 90, 1, 3, "unknown", 7);
    bytes_add(&remaining, body.data, body.size);
    add_bank(&body, 91, 1, 3, "to go", 5);
    add_record(&file, &body, &(struct record_style){.version = 1, .run = 4});
    add_record(&expected, &remaining, &(struct record_style){.version = 1, .run = 4});
    bytes_free(&body);
    bytes_free(&remaining);
  }
  static const char *const lists[][2] = {{"16 90", NULL}, {NULL, " 91 "}, {"16 90 91", "91 3"}};
  for (size_t i = 0; i < 3; i++) {
    struct style style = {.only = lists[i][0], .without = lists[i][1]};
    assert_copies_to(&expected, "mdf_source", "mdf_sink", &style);
    assert_int_equal(style.banks_omitted, 10);
  }
  struct style style = {.only = "44"};
  struct bytes none = copy_with("mdf_source", "mdf_sink", &file, &style);
  assert_int_equal(none.size, 0);
  assert_int_equal(style.omitted, 10);
  assert_int_equal(style.banks_omitted, 30);
  bytes_free(&none);
  bytes_free(&expected);
}

static void wrong_lists_of_types_are_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"256", "-1", "velo", "16,73", "16x", "99999999999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct driver source;
    struct sink_driver sink;
    driver_start(&source);
    sink_start(&sink, "mdf_sink");
    sink_set_text(&sink, "only_types", wrong[i]);
    add_simple_record(&file, 1);
    assert_int_equal(sink_copy(&sink, &source, file.data, file.size, path), SL_EINVAL);
    assert_non_null(strstr(source.messages, "is not a list of bank types"));
    sink_stop(&sink);
    driver_stop(&source);
  }
}

/* --------------------------------------------------------------------------------------------------- packets */

/* Copies the file to packets and back; the result must be equal byte for byte. */
static void assert_restored(const struct bytes *expected, uint32_t slice_events) {
  struct style style = {.slice_events = slice_events};
  struct bytes packets = copy_with("mdf_source", "mep_sink", &file, &style);
  assert_int_equal(style.banks_omitted, 0);
  assert_int_equal(style.headers_not_representable, 0);
  struct bytes back = copy_with("mep_source", "mdf_sink", &packets, &style);
  assert_same(&back, expected);
  bytes_free(&back);
  /* Packets copied to packets must be equal, too. */
  struct bytes again = copy_with("mep_source", "mep_sink", &packets, &style);
  assert_same(&again, &packets);
  bytes_free(&again);
  bytes_free(&packets);
}

static void packets_restore_banks_of_any_type_source_and_order(void **state) {
  (void)state;
  add_odd_records(100, 1);
  assert_restored(&file, 3);
  assert_restored(&file, 64);
}

static void packets_restore_several_banks_of_one_source_and_type(void **state) {
  (void)state;
  random_state = 3;
  for (uint32_t i = 0; i < 50; i++) {
    struct bytes body = {0};
    add_odin(&body, 7, 1000, i);
    for (uint32_t k = 0; k < i % 7; k++) add_odd_bank(&body, 73, 3, 5, (uint16_t)(7 * k));
    for (uint32_t k = 0; k < i % 3; k++) add_odd_bank(&body, (uint8_t)(20 + k), 3, 0, (uint16_t)k);
    add_record(&file, &body, &(struct record_style){.version = 3, .run = 1000});
    bytes_free(&body);
  }
  assert_restored(&file, 10);
}

/* Events in the order of types and sources, each without some of the banks, must fit into one packet. */
static void packets_of_events_in_the_usual_order_do_not_end_early(void **state) {
  (void)state;
  random_state = 4;
  for (uint32_t i = 0; i < 60; i++) {
    struct bytes body = {0};
    for (uint8_t type = 9; type < 80; type = (uint8_t)(type + 7))
      for (uint16_t source = 0; source < 30; source++)
        if (draw(3)) add_odd_bank(&body, type, 1, source, (uint16_t)draw(20));
    add_record(&file, &body, &(struct record_style){.version = 3});
    bytes_free(&body);
  }
  struct style style = {0};
  struct bytes packets = copy_with("mdf_source", "mep_sink", &file, &style);
  uint32_t words;
  memcpy(&words, packets.data + 4, sizeof words);
  assert_int_equal(4 * (size_t)words, packets.size);
  bytes_free(&packets);
}

static void banks_and_headers_that_packets_cannot_represent_are_counted(void **state) {
  (void)state;
  struct bytes body = {0}, expected = {0};
  add_odin(&body, 7, 1000, 1);
  struct bytes remaining = {0};
  bytes_add(&remaining, body.data, body.size);
  add_bank(&body, 73, 3, 0x1c01, "read back as number 1", 20);
  add_bank(&body, 92, 1, 4, "", 0);
  for (int i = 0; i < 300; i++) {
    add_bank(&body, 20, 1, 9, &i, 4);
    if (i < 256) add_bank(&remaining, 20, 1, 9, &i, 4);
  }
  add_record(&file, &body, &(struct record_style){.version = 3, .run = 1000});
  add_record(&expected, &remaining, &(struct record_style){.version = 3, .run = 1000});
  struct style style = {0};
  struct bytes packets = copy_with("mdf_source", "mep_sink", &file, &style);
  assert_int_equal(style.banks_omitted, 2 + 44);
  assert_int_equal(style.headers_not_representable, 0);
  struct bytes back = copy_with("mep_source", "mdf_sink", &packets, &style);
  assert_same(&back, &expected);
  bytes_free(&packets);
  bytes_free(&back);
  /* Headers with another run than ODIN, no checksum, a mask, a version, no padding at the end. */
  file.size = 0;
  add_record(&file, &remaining, &(struct record_style){.version = 3, .run = 1000});
  add_record(&file, &remaining, &(struct record_style){.version = 3, .run = 1001});
  add_record(&file, &remaining, &(struct record_style){.version = 3, .run = 1000, .no_checksum = 1});
  add_record(&file, &remaining, &(struct record_style){.version = 2});
  const size_t masked = add_record(&file, &remaining, &(struct record_style){.version = 3, .run = 1000});
  file.data[masked + 25] = 3;
  sign_record(&file, masked);
  add_odd_bank(&remaining, 77, 1, 1, 5);
  remaining.size -= 3;
  add_record(&file, &remaining, &(struct record_style){.version = 3, .run = 1000});
  packets = copy_with("mdf_source", "mep_sink", &file, &style);
  assert_int_equal(style.headers_not_representable, 5);
  assert_int_equal(style.banks_omitted, 0);
  bytes_free(&packets);
  bytes_free(&remaining);
  bytes_free(&body);
  bytes_free(&expected);
}

/* Fragments of other alignments, with padding between them, and of the prototype, become banks with equal payloads. */
static void packets_of_other_formats_become_records_of_their_banks(void **state) {
  (void)state;
  struct bytes expected = {0};
  for (uint32_t i = 0; i < 20; i++) add_packet_records(&expected, 1 + i, 1);
  for (uint32_t alignment = 0; alignment <= 4; alignment++) {
    file.size = 0;
    add_simple_packet(&file, &(struct packet_style){.alignment = alignment, .event_id = 5}, 1, 20);
    struct style style = {.slice_events = 1 + 3 * alignment};
    assert_copies_to(&expected, "mep_source", "mdf_sink", &style);
  }
  file.size = 0;
  add_simple_packet(&file, &(struct packet_style){.is_prototype = 1, .run = 1000}, 1, 20);
  struct style style = {0};
  assert_copies_to(&expected, "mep_source", "mdf_sink", &style);
  bytes_free(&expected);
}

/* ---------------------------------------------------------------------------------------------------- limits */

static void slices_end_when_full_of_records_and_larger_records_are_reported(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 30; i++) add_simple_record(&file, i);
  struct driver source;
  driver_start(&source);
  source.events_max = 30;
  source.record_words = 140;
  assert_int_equal(driver_run_bytes(&source, file.data, file.size), 0);
  assert_int_equal(source.seen_count, 30);
  assert_true(source.slices > 3);
  for (uint32_t i = 0; i < 30; i++) assert_int_equal(source.seen[i].event.error, SL_EVENT_OK);
  source.record_words = 60;
  assert_int_equal(driver_run_bytes(&source, file.data, file.size), 0);
  uint32_t too_large = 0;
  for (uint32_t i = 0; i < 30; i++) too_large += source.seen[i].event.error == SL_EVENT_TOO_LARGE;
  assert_true(too_large > 0 && too_large < 30);
  assert_non_null(strstr(source.messages, "words of record, an event may have 60 (a higher budget record_words"));
  driver_stop(&source);
}

static void copied_samples_are_equal_also_through_packets(void **state) {
  (void)state;
  static const char *const names[] = {"lhcb/minbias.mdf", "velo/minbias_300.mdf"};
  uint32_t found = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    bytes_free(&file);
    file = shared_file(names[i]);
    if (file.size == 0) continue;
    found++;
    struct style style = {.slice_events = 5};
    assert_copies_to(&file, "mdf_source", "mdf_sink", &style);
    assert_int_equal(style.banks_omitted, 0);
    assert_restored(&file, 7);
  }
  if (found == 0) skip();
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(copied_records_of_all_versions_and_banks_are_equal),
      CASE(copied_compressed_records_are_equal),
      CASE(copied_records_without_padding_and_with_crossings_are_equal),
      CASE(unreadable_records_are_copied_and_bytes_between_records_are_not),
      CASE(an_event_too_large_for_a_port_keeps_its_record),
      CASE(checksums_and_compression_are_as_read_or_as_set),
      CASE(only_selected_types_are_written_and_others_counted),
      CASE(wrong_lists_of_types_are_refused),
      CASE(packets_restore_banks_of_any_type_source_and_order),
      CASE(packets_restore_several_banks_of_one_source_and_type),
      CASE(packets_of_events_in_the_usual_order_do_not_end_early),
      CASE(banks_and_headers_that_packets_cannot_represent_are_counted),
      CASE(packets_of_other_formats_become_records_of_their_banks),
      CASE(slices_end_when_full_of_records_and_larger_records_are_reported),
      CASE(copied_samples_are_equal_also_through_packets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
