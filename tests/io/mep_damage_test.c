/* mep_damage_test.c: io.mep_source on damaged files must neither crash nor hang, and must deliver every event of an
 * undamaged packet unchanged. Packets have no checksum, so damage within fragments is not detected. */
#include "damage.h"
#include "mep_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct driver driver;

static int start(void **state) {
  (void)state;
  driver_start_with(&driver, "mep_source");
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    driver.bank_capacity[kind] = 256;
    driver.word_capacity[kind] = 4096;
  }
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

static struct original original_of(struct packet_style style) {
  struct original o = {.driver = &driver};
  static const uint32_t counts[] = {4, 7, 1, 3, 6, 2, 5};
  uint32_t first = 300;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    style.event_id = first;
    add_simple_packet(&o.file, &style, first, counts[i]);
    first += counts[i];
  }
  original_read(&o);
  assert_int_equal(o.record_count, 7);
  assert_int_equal(o.event_count, 28);
  return o;
}

static void run_style(const struct packet_style style) {
  struct original o = original_of(style);
  damage_run_cases(&o, damage_flip, survives, 2000);
  damage_run_cases(&o, damage_stretch, survives, 2000);
  bytes_free(&o.file);
}

static void damage_to_bare_packets_loses_only_the_damaged_packets(void **state) {
  (void)state;
  run_style((struct packet_style){.alignment = 2});
}

static void damage_to_unaligned_packets_loses_only_the_damaged_packets(void **state) {
  (void)state;
  run_style((struct packet_style){.alignment = 0});
}

static void damage_to_packets_in_records_loses_only_the_damaged_packets(void **state) {
  (void)state;
  run_style((struct packet_style){.alignment = 3, .aligned_start = 1, .in_record = 1, .run = 1000});
}

static void damage_to_prototype_packets_loses_only_the_damaged_packets(void **state) {
  (void)state;
  run_style((struct packet_style){.is_prototype = 1, .run = 1000, .signed_record = 1});
}

/* Each byte of the file belongs to delivered events or to a reported event. */
static void every_prefix_gives_the_packets_that_it_contains(void **state) {
  (void)state;
  struct original o = original_of((struct packet_style){.alignment = 2});
  for (size_t size = 8; size < o.file.size; size += 11) {
    assert_int_equal(driver_run_bytes(&driver, o.file.data, size), 0);
    uint32_t whole = 0, events = 0;
    while (o.begin[whole + 1] <= size) whole++;
    while (o.seen[events].event.offset < o.begin[whole]) events++;
    const uint32_t is_cut = o.begin[whole] < size;
    assert_true(driver.seen_count >= events + is_cut);
    for (uint32_t i = 0; i < events; i++) assert_int_equal(driver.seen[i].digest, o.seen[i].digest);
    for (uint32_t i = events; i < driver.seen_count; i++)
      assert_int_equal(driver.seen[i].event.error, SL_EVENT_TRUNCATED);
    if (!is_cut) assert_int_equal(driver.seen_count, events);
  }
  bytes_free(&o.file);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(damage_to_bare_packets_loses_only_the_damaged_packets),
      CASE(damage_to_unaligned_packets_loses_only_the_damaged_packets),
      CASE(damage_to_packets_in_records_loses_only_the_damaged_packets),
      CASE(damage_to_prototype_packets_loses_only_the_damaged_packets),
      CASE(every_prefix_gives_the_packets_that_it_contains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
