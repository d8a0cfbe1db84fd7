/* mep_source_test.c: io.mep_source on valid and damaged packets. It must deliver the events that io.mdf_source reads
 * from an MDF file with the same events. */
#include "mep_writer.h"
#include "source_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 50, FIRST = 500 }; /* more than workers count and copy per step */

static struct driver driver;
static struct seen expected[EVENTS]; /* events FIRST, FIRST + 1, ... */

static int start(void **state) {
  (void)state;
  driver_start_with(&driver, "mep_source");
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

static int read_expected(void **state) {
  (void)state;
  struct bytes file = {0};
  add_packet_records(&file, FIRST, EVENTS);
  driver_start(&driver);
  const int result = driver_run_bytes(&driver, file.data, file.size);
  if (result == 0 && driver.seen_count == EVENTS) memcpy(expected, driver.seen, sizeof expected);
  bytes_free(&file);
  driver_stop(&driver);
  return expected[0].digest ? 0 : -1;
}

static void assert_message(const char *text) {
  if (!strstr(driver.messages, text)) fail_msg("no message holds \"%s\"; they are:\n%s", text, driver.messages);
}

static uint32_t message_count(void) {
  uint32_t count = 0;
  for (const char *p = driver.messages; (p = strchr(p, '\n')); p++) count++;
  return count;
}

/* Checks that the events [begin, end) are the expected ones from `first` on. */
static void assert_expected(uint32_t begin, uint32_t end, uint32_t first) {
  assert_true(end <= driver.seen_count);
  for (uint32_t i = begin; i < end; i++) {
    const struct seen *s = &driver.seen[i], *e = &expected[first + i - begin];
    assert_int_equal(s->event.error, SL_EVENT_OK);
    assert_int_equal(s->event.number, e->event.number);
    assert_int_equal(s->event.run, e->event.run);
    assert_int_equal(s->digest, e->digest);
  }
}

static void assert_bad(uint32_t begin, uint32_t end, uint32_t error) {
  assert_true(end <= driver.seen_count);
  for (uint32_t i = begin; i < end; i++) assert_int_equal(driver.seen[i].event.error, error);
}

static void read_file(const struct bytes *file) {
  assert_int_equal(driver_run_bytes(&driver, file->data, file->size), 0);
}

/* Packets of 10, 1 and 12 events. */
static struct bytes three_packets(struct packet_style style, size_t offsets[3]) {
  static const uint32_t begin[] = {0, 10, 11, EVENTS};
  struct bytes file = {0};
  for (int i = 0; i < 3; i++) {
    style.event_id = 7000 + begin[i];
    offsets[i] = add_simple_packet(&file, &style, FIRST + begin[i], begin[i + 1] - begin[i]);
  }
  return file;
}

/* ------------------------------------------------------------------------------------------------ good files */

static void every_layout_gives_the_events_of_the_mdf_file_for_every_slice_size(void **state) {
  (void)state;
  static const struct packet_style styles[] = {
      {.alignment = 2, .padding = 0xEE},
      {.alignment = 0, .padding = 0xEE},
      {.alignment = 1, .padding = 0xEE},
      {.alignment = 3, .padding = 0xEE},
      {.alignment = 5, .aligned_start = 1, .padding = 0xEE},
      {.alignment = 2, .in_record = 1, .run = 1000, .padding = 0xEE},
      {.alignment = 2, .in_record = 1, .run = 1000, .signed_record = 1},
      {.is_prototype = 1, .run = 1000, .padding = 0xEE},
      {.is_prototype = 1, .run = 1000, .signed_record = 1},
  };
  for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
    size_t offsets[3];
    struct bytes file = three_packets(styles[i], offsets);
    for (uint32_t events_max = 1; events_max <= 64; events_max += 7) {
      driver.events_max = events_max;
      read_file(&file);
      assert_int_equal(driver.seen_count, EVENTS);
      assert_expected(0, EVENTS, 0);
      for (uint32_t e = 0; e < EVENTS; e++) {
        assert_int_equal(driver.seen[e].slice, e / events_max);
        assert_int_equal(driver.seen[e].event.offset, offsets[e < 10 ? 0 : e < 11 ? 1 : 2]);
      }
      assert_int_equal(driver.progress_done, file.size);
      assert_string_equal(driver.messages, "");
    }
    bytes_free(&file);
  }
}

static void packet_is_recognised_by_its_magic_number_without_data_type(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes file = three_packets((struct packet_style){.alignment = 2, .in_record = 1, .run = 1000}, offsets);
  for (int i = 0; i < 3; i++) file.data[offsets[i] + 18] = 1;
  read_file(&file);
  assert_expected(0, EVENTS, 0);
  bytes_free(&file);
}

static void several_files_of_both_generations_and_passes_are_one_stream(void **state) {
  (void)state;
  struct bytes new = {0}, old = {0};
  add_simple_packet(&new, &(struct packet_style){.alignment = 2}, FIRST, 9);
  add_simple_packet(&old, &(struct packet_style){.is_prototype = 1, .run = 1000}, FIRST + 9, EVENTS - 9);
  struct memory_file a = memory_file_new(new.data, new.size), b = memory_file_new(old.data, old.size);
  const char *const paths[] = {a.path, b.path};
  driver_set(&driver, "passes", 2);
  driver.events_max = 10;
  assert_int_equal(driver_run(&driver, paths, 2), 0);
  assert_int_equal(driver.seen_count, 2 * EVENTS);
  assert_expected(0, EVENTS, 0);
  assert_expected(EVENTS, 2 * EVENTS, 0);
  assert_int_equal(driver.seen[9].event.file, 1);
  memory_file_free(&a);
  memory_file_free(&b);
  bytes_free(&new);
  bytes_free(&old);
}

/* Returns a body with ODIN and one bank per given (type, source); the payload is the event number. */
static struct bytes body_of(uint64_t number, const uint8_t *types, const uint16_t *sources, uint32_t count) {
  struct bytes body = {0};
  add_odin(&body, 7, 1000, number);
  for (uint32_t i = 0; i < count; i++) add_bank(&body, types[i], 2, sources[i], &number, 8);
  return body;
}

static void source_ids_without_subsystem_are_restored_and_others_unchanged(void **state) {
  (void)state;
  static const uint8_t types[] = {63, 63, 8, 73, 73, 32, 33, 63, 8};
  static const uint16_t sources[] = {0, 207, 300, 0, 1023, 511, 511, 0x1001, 0x1be7};
  struct bytes body = body_of(1, types, sources, 9), file = {0};
  add_packet(&file, &(struct packet_style){.alignment = 2}, &body, 1);
  add_record(&file, &body, &(struct record_style){.version = 3, .run = 1000});
  struct driver mdf;
  driver_start(&mdf);
  uint32_t words;
  memcpy(&words, file.data + 4, 4);
  assert_int_equal(driver_run_bytes(&mdf, file.data + 4 * words, file.size - 4 * words), 0);
  assert_int_equal(driver_run_bytes(&driver, file.data, 4 * words), 0);
  assert_int_equal(driver.seen_count, 1);
  assert_int_equal(driver.seen[0].banks[DRIVER_velo_superpixels], 5);
  assert_int_equal(driver.seen[0].banks[DRIVER_velo_clusters], 2);
  assert_int_equal(driver.seen[0].banks[DRIVER_mc_particles], 1);
  assert_int_equal(driver.seen[0].words[DRIVER_velo_superpixels], mdf.seen[0].words[DRIVER_velo_superpixels]);
  driver_stop(&mdf);
  bytes_free(&body);
  bytes_free(&file);
}

static void event_that_lacks_a_source_has_no_bank_of_it(void **state) {
  (void)state;
  static const uint8_t types[] = {73, 73, 63};
  static const uint16_t sources[] = {4, 9, 4};
  struct bytes bodies[4] = {body_of(1, types, sources, 3), body_of(2, types, sources, 1),
                            body_of(3, types + 1, sources + 1, 2), body_of(4, types, sources, 0)},
               file = {0};
  add_packet(&file, &(struct packet_style){.alignment = 2}, bodies, 4);
  read_file(&file);
  static const uint32_t clusters[] = {2, 1, 1, 0}, superpixels[] = {1, 0, 1, 0};
  assert_int_equal(driver.seen_count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(driver.seen[i].event.number, i + 1);
    assert_int_equal(driver.seen[i].banks[DRIVER_velo_clusters], clusters[i]);
    assert_int_equal(driver.seen[i].banks[DRIVER_velo_superpixels], superpixels[i]);
    assert_int_equal(driver.seen[i].banks[DRIVER_odin], 1);
    bytes_free(&bodies[i]);
  }
  assert_string_equal(driver.messages, "");
  bytes_free(&file);
}

static void without_odin_events_are_numbered_by_the_event_id_of_the_packet(void **state) {
  (void)state;
  struct bytes bodies[3] = {{0}}, file = {0};
  for (uint32_t i = 0; i < 3; i++) add_clusters(&bodies[i], 1, 2, i);
  add_packet(&file, &(struct packet_style){.alignment = 2, .in_record = 1, .run = 77, .event_id = 0x100000005ull},
             bodies, 3);
  read_file(&file);
  assert_int_equal(driver.seen_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(driver.seen[i].event.number, 0x100000005ull + i);
    assert_int_equal(driver.seen[i].event.run, 77);
    bytes_free(&bodies[i]);
  }
  bytes_free(&file);
}

/* ------------------------------------------------------------------------------------------------ budgets */

static void window_ends_when_a_budget_is_used_up(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes file = three_packets((struct packet_style){.alignment = 2}, offsets);
  driver.events_max = 64;
  driver.bank_capacity[DRIVER_velo_clusters] = 3 * 4 + 2;
  read_file(&file);
  assert_expected(0, EVENTS, 0);
  for (uint32_t i = 0; i < EVENTS; i++) assert_int_equal(driver.seen[i].slice, i / 4);
  driver.bank_capacity[DRIVER_velo_clusters] = 4096;
  driver.word_capacity[DRIVER_velo_clusters] = 100;
  read_file(&file);
  assert_int_equal(driver.seen_count, EVENTS);
  assert_expected(0, EVENTS, 0);
  assert_true(driver.slices > 5);
  bytes_free(&file);
}

static void event_that_fits_no_slice_is_too_large_and_its_neighbours_are_not(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes file = three_packets((struct packet_style){.alignment = 2}, offsets);
  driver.events_max = 64;
  driver.word_capacity[DRIVER_velo_clusters] = 80; /* an event has up to 29 + 28 + 27 words */
  read_file(&file);
  assert_int_equal(driver.seen_count, EVENTS);
  uint32_t large = 0;
  for (uint32_t i = 0; i < EVENTS; i++) {
    if (expected[i].words[DRIVER_velo_clusters] <= 80) {
      assert_expected(i, i + 1, i);
      continue;
    }
    assert_int_equal(driver.seen[i].event.error, SL_EVENT_TOO_LARGE);
    assert_int_equal(driver.seen[i].event.number, FIRST + i);
    large++;
  }
  assert_true(large > 0);
  assert_message("words of velo_clusters, an event may have 80 (a higher budget velo_clusters_words allows more)");
  bytes_free(&file);
}

static void kinds_that_are_not_read_take_no_memory(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes file = three_packets((struct packet_style){.alignment = 2}, offsets);
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    driver.bank_capacity[kind] = driver.word_capacity[kind] = 0;
    driver.not_read[kind] = 1;
  }
  driver.not_read[DRIVER_velo_clusters] = 2; /* all but the payload */
  driver.bank_capacity[DRIVER_velo_clusters] = driver.word_capacity[DRIVER_velo_clusters] = 1000;
  read_file(&file);
  assert_int_equal(driver.seen_count, EVENTS);
  for (uint32_t i = 0; i < EVENTS; i++) {
    assert_int_equal(driver.seen[i].event.number, FIRST + i); /* ODIN is read nevertheless */
    assert_int_equal(driver.seen[i].banks[DRIVER_velo_clusters], 3);
    assert_int_equal(driver.seen[i].words[DRIVER_velo_clusters], expected[i].words[DRIVER_velo_clusters]);
  }
  bytes_free(&file);
}

/* ------------------------------------------------------------------------------------------------ bad files */

/* Returns the offset of block i of a packet at `packet`. There are 5 blocks: ODIN, 3 of clusters, 1 of vertices. */
static size_t block_at(const struct bytes *file, size_t packet, uint32_t i) {
  uint32_t words;
  memcpy(&words, file->data + packet + 8 + 12 + 4 * i, 4);
  return packet + 4 * words;
}

static void broken_packet_makes_its_events_errors_with_one_message(void **state) {
  (void)state;
  static const struct {
    int block; /* -1: of the packet */
    uint32_t byte;
    uint8_t flip;
    const char *message;
  } cases[] = {
      {-1, 8 + 12 + 4, 0x01, "block 1 of the packet"},
      {-1, 10, 0x04, "block 1 of the packet: source 0x7e00, but the packet header lists 0x7e04"},
      {-1, 8 + 12 + 7, 0x80, "extends beyond the packet or overlaps another block"},
      {2, 0, 0x01, "block 2 of the packet: magic 0x40cf, expected 0x40ce"},
      {2, 2, 0x01, "block 2 of the packet"},
      {2, 7, 0x10, "extends beyond the packet or overlaps another block"},
      {3, 8, 0x01, "block 3 of the packet: first event id 7001, the first block has 7000"},
      {1, 18, 0x01, "the sizes of its fragments do not add up to"},
      {1, 18, 0x80, "the sizes of its fragments do not add up to"},
      {4, 20 + 12, 0x08, "the sizes of its fragments do not add up to"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
    for (uint32_t in_record = 0; in_record < 2; in_record++) {
      size_t offsets[3];
      struct bytes file =
          three_packets((struct packet_style){.alignment = 2, .in_record = in_record, .run = 1000}, offsets);
      const size_t packet = offsets[0] + (in_record ? 48 : 0);
      const size_t at = cases[c].block < 0 ? packet : block_at(&file, packet, (uint32_t)cases[c].block);
      file.data[at + cases[c].byte] ^= cases[c].flip;
      driver.events_max = 4;
      read_file(&file);
      assert_int_equal(driver.seen_count, EVENTS);
      assert_bad(0, 10, SL_EVENT_CORRUPT);
      for (uint32_t i = 0; i < 10; i++) assert_int_equal(driver.seen[i].event.number, 7000 + i);
      assert_expected(10, EVENTS, 10);
      assert_message(cases[c].message);
      assert_message("record at byte 0 (events 7000 to 7009)");
      assert_int_equal(message_count(), 1);
      bytes_free(&file);
    }
}

static void wrong_checksum_of_the_record_is_a_broken_packet(void **state) {
  (void)state;
  size_t offsets[3];
  const struct packet_style style = {.is_prototype = 1, .run = 1000, .signed_record = 1};
  struct bytes file = three_packets(style, offsets);
  file.data[offsets[2] - 5] ^= 1;
  read_file(&file);
  assert_expected(0, 10, 0);
  assert_bad(10, 11, SL_EVENT_CORRUPT);
  assert_expected(11, EVENTS, 11);
  assert_message("the checksum is 0x");
  driver_set(&driver, "checksum", 0);
  read_file(&file);
  assert_int_equal(driver.seen[10].event.error, SL_EVENT_OK);
  bytes_free(&file);
}

static void reading_continues_at_the_next_packet_after_damage(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes clean = three_packets((struct packet_style){.alignment = 2}, offsets), file = {0};
  /* The second packet has a wrong magic number; other bytes precede the third. */
  bytes_add(&file, clean.data, offsets[2]);
  file.data[offsets[1]] ^= 1;
  bytes_add(&file, "garbage", 7);
  bytes_add(&file, clean.data + offsets[2], clean.size - offsets[2]);
  read_file(&file);
  assert_int_equal(driver.seen_count, EVENTS);
  assert_expected(0, 10, 0);
  assert_bad(10, 11, SL_EVENT_CORRUPT);
  assert_expected(11, EVENTS, 11);
  assert_message("no readable packet (magic 0xcefb); skipped");
  bytes_free(&clean);
  bytes_free(&file);
}

static void damaged_size_hides_no_packet(void **state) {
  (void)state;
  for (uint32_t to_the_end = 0; to_the_end < 2; to_the_end++) {
    size_t offsets[3];
    struct bytes file = three_packets((struct packet_style){.alignment = 2}, offsets);
    /* The size of the first packet reaches to the third packet, or to the end of the file, and one of its blocks is
     * broken. */
    const uint32_t words = (uint32_t)(to_the_end ? file.size : offsets[2]) / 4;
    memcpy(file.data + 4, &words, 4);
    file.data[block_at(&file, 0, 1)] ^= 1;
    read_file(&file);
    assert_int_equal(driver.seen_count, EVENTS);
    assert_bad(0, 10, SL_EVENT_CORRUPT);
    assert_expected(10, EVENTS, 10);
    bytes_free(&file);
  }
}

static void truncated_packet_loses_and_counts_its_events(void **state) {
  (void)state;
  for (uint32_t style_index = 0; style_index < 3; style_index++) {
    size_t offsets[3];
    const struct packet_style style = {
        .alignment = 2, .in_record = style_index == 1, .is_prototype = style_index == 2, .run = 1000};
    struct bytes file = three_packets(style, offsets);
    for (size_t cut = offsets[2] + 160; cut < file.size; cut += 97) {
      assert_int_equal(driver_run_bytes(&driver, file.data, cut), 0);
      assert_expected(0, 11, 0);
      assert_int_equal(driver.seen_count, style_index == 2 ? driver.seen_count : EVENTS);
      assert_bad(11, driver.seen_count, SL_EVENT_TRUNCATED);
      assert_true(driver.seen_count > 11);
      assert_message("the file ends after");
    }
    bytes_free(&file);
  }
}

static void shrink(void *context) {
  const struct memory_file *f = context;
  if (ftruncate(f->descriptor, 4096)) abort();
}

static void file_that_shrinks_within_a_packet_ends_the_run(void **state) {
  (void)state;
  struct bytes file = {0};
  add_simple_packet(&file, &(struct packet_style){.alignment = 2}, FIRST, 5000); /* one packet, many pages, 79 slices */
  struct memory_file f = memory_file_new(file.data, file.size);
  const char *const paths[] = {f.path};
  driver.events_max = 64;
  driver.between_slices = shrink;
  driver.context = &f;
  assert_int_equal(driver_run(&driver, paths, 1), SL_EIO);
  assert_message("to 4096 bytes while it was being read");
  assert_int_equal(driver.seen_count, 64);
  memory_file_free(&f);
  bytes_free(&file);
}

static void broken_odin_loses_its_event_and_other_broken_fragments_their_bank(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes file = three_packets((struct packet_style){.alignment = 2}, offsets);
  const size_t odin = block_at(&file, 0, 0), clusters = block_at(&file, 0, 2);
  file.data[odin + 20 + 3] = 91;
  file.data[clusters + 20 + 5] = 93;
  driver.events_max = 64;
  read_file(&file);
  assert_int_equal(driver.seen_count, EVENTS);
  assert_expected(0, 3, 0);
  assert_bad(3, 4, SL_EVENT_CORRUPT);
  assert_expected(4, 5, 4);
  assert_int_equal(driver.seen[5].event.error, SL_EVENT_OK);
  assert_int_equal(driver.seen[5].banks[DRIVER_velo_clusters], 2);
  assert_expected(6, EVENTS, 6);
  assert_message("(event 7003): the ODIN fragment is marked broken (type 91)");
  assert_int_equal(message_count(), 1);
  bytes_free(&file);
}

static void strict_ends_the_run_at_a_bad_packet(void **state) {
  (void)state;
  size_t offsets[3];
  struct bytes file = three_packets((struct packet_style){.alignment = 2}, offsets);
  file.data[block_at(&file, offsets[1], 3)] ^= 1;
  driver_set(&driver, "strict", 1);
  driver.events_max = 64;
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), SL_ESTRICT);
  assert_int_equal(driver.seen_count, 10);
  assert_expected(0, 10, 0);
  assert_message("error: ");
  bytes_free(&file);
}

static void overlapping_blocks_are_refused(void **state) {
  (void)state;
  struct bytes file = {0};
  add_simple_packet(&file, &(struct packet_style){.alignment = 2}, FIRST, 4);
  for (uint32_t i = 1; i < 5; i++) { /* all offsets are that of the first block */
    memcpy(file.data + 8 + 12 + 4 * i, file.data + 8 + 12, 4);
    memcpy(file.data + 8 + 2 * i, file.data + 8, 2);
  }
  read_file(&file);
  assert_bad(0, 4, SL_EVENT_CORRUPT);
  assert_message("or overlaps another block");
  bytes_free(&file);
}

static void files_of_other_formats_are_reported(void **state) {
  (void)state;
  struct bytes banks = {0}, junk = {0};
  add_packet_records(&banks, 1, 3);
  read_file(&banks);
  assert_bad(0, 3, SL_EVENT_CORRUPT);
  assert_message("data type 1 is not MEP (2)");
  for (int i = 0; i < 100; i++) bytes_add(&junk, "no packets here ", 16);
  assert_int_equal(driver_run_bytes(&driver, junk.data, junk.size), SL_EFORMAT);
  assert_message("is not a MEP file: no packet header in its 1600 bytes");
  assert_int_equal(driver_run_bytes(&driver, junk.data, 0), SL_EFORMAT);
  bytes_free(&banks);
  bytes_free(&junk);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(every_layout_gives_the_events_of_the_mdf_file_for_every_slice_size),
      CASE(packet_is_recognised_by_its_magic_number_without_data_type),
      CASE(several_files_of_both_generations_and_passes_are_one_stream),
      CASE(source_ids_without_subsystem_are_restored_and_others_unchanged),
      CASE(event_that_lacks_a_source_has_no_bank_of_it),
      CASE(without_odin_events_are_numbered_by_the_event_id_of_the_packet),
      CASE(window_ends_when_a_budget_is_used_up),
      CASE(event_that_fits_no_slice_is_too_large_and_its_neighbours_are_not),
      CASE(kinds_that_are_not_read_take_no_memory),
      CASE(broken_packet_makes_its_events_errors_with_one_message),
      CASE(wrong_checksum_of_the_record_is_a_broken_packet),
      CASE(reading_continues_at_the_next_packet_after_damage),
      CASE(damaged_size_hides_no_packet),
      CASE(truncated_packet_loses_and_counts_its_events),
      CASE(file_that_shrinks_within_a_packet_ends_the_run),
      CASE(broken_odin_loses_its_event_and_other_broken_fragments_their_bank),
      CASE(strict_ends_the_run_at_a_bad_packet),
      CASE(overlapping_blocks_are_refused),
      CASE(files_of_other_formats_are_reported),
  };
  return cmocka_run_group_tests(tests, read_expected, NULL);
}
