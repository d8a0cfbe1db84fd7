/* test_mdf_damage.c: io.mdf_source on damaged files. Whatever is done to a file, the source neither crashes nor hangs,
 * and every event whose bytes were not touched comes out as before.
 *
 * Files: records made by hand, and where there is shared data a few banks of each event of the LHCb sample, and the
 * sample as it is. Damages are drawn from a seed; batches of them run in child processes, so that a crash is one failed
 * case with a number. SLUICE_TEST_SEED replays: it sets the seed, SLUICE_TEST_CASE one single damage.
 */
#include "source_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BATCH = 500, BATCH_SECONDS_MAX = 120, RECORDS_MAX = 64 };

/* ------------------------------------------------------------------------------------------------ originals */

struct original {
  struct bytes file;
  uint32_t record_count;
  size_t begin[RECORDS_MAX + 1]; /* of each record, then the end */
  struct seen seen[RECORDS_MAX];
};

static struct driver driver;

static void read_original(struct original *o) {
  for (size_t offset = 0; offset < o->file.size;) {
    uint32_t length;
    memcpy(&length, o->file.data + offset, 4);
    o->begin[o->record_count++] = offset;
    offset += length;
  }
  o->begin[o->record_count] = o->file.size;
  assert_int_equal(driver_run_bytes(&driver, o->file.data, o->file.size), 0);
  assert_int_equal(driver.seen_count, o->record_count);
  for (uint32_t i = 0; i < o->record_count; i++) {
    assert_int_equal(driver.seen[i].event.error, SL_EVENT_OK);
    o->seen[i] = driver.seen[i];
  }
}

static struct original original_by_hand(void) {
  struct original o = {.record_count = 0};
  for (uint64_t i = 0; i < 12; i++) add_simple_record(&o.file, 100 + i);
  read_original(&o);
  return o;
}

/* The first banks of the types that the source knows, of each event of the sample. */
static struct original original_from_sample(const struct bytes *sample) {
  enum { BANKS_MAX = 12 };
  struct original o = {.record_count = 0};
  for (size_t offset = 0; offset < sample->size;) {
    uint32_t length, taken[256] = {0};
    memcpy(&length, sample->data + offset, 4);
    struct bytes body = {0};
    for (size_t at = offset + 48; at < offset + length;) {
      const uint8_t *bank = sample->data + at;
      const uint32_t bank_bytes = bank[2] | (uint32_t)bank[3] << 8;
      if (bank_bytes < 1000 && (bank[4] == 16 || bank[4] == 63 || bank[4] == 73) && taken[bank[4]]++ < BANKS_MAX)
        bytes_add(&body, bank, (bank_bytes + 3) & ~3u);
      at += (bank_bytes + 3) & ~3u;
    }
    add_record(&o.file, &body, &(struct record_style){.version = 3, .run = 6718861});
    bytes_free(&body);
    offset += length;
  }
  read_original(&o);
  return o;
}

/* ------------------------------------------------------------------------------------------------ damages */

static uint64_t random_next(uint64_t *state) {
  uint64_t x = (*state += 0x9e3779b97f4a7c15ull);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/* Bytes [begin, end) of the original were touched; what follows them moved by `moved`. */
struct damage {
  struct bytes file;
  size_t begin, end;
  ptrdiff_t moved;
};

static struct damage damage_flip(const struct original *o, uint64_t *random) {
  struct damage d = {.file = {0}};
  bytes_add(&d.file, o->file.data, o->file.size);
  d.begin = random_next(random) % o->file.size;
  d.end = d.begin + 1;
  d.file.data[d.begin] ^= (uint8_t)(1 + random_next(random) % 255);
  return d;
}

/* A stretch that is zeroed, overwritten with noise or with other bytes of the file, cut out, or doubled. */
static struct damage damage_stretch(const struct original *o, uint64_t *random) {
  struct damage d = {.file = {0}};
  const uint64_t kind = random_next(random) % 5;
  const size_t largest = random_next(random) % 2 ? 64 : o->file.size / 3;
  d.begin = random_next(random) % o->file.size;
  d.end = d.begin + 1 + random_next(random) % largest;
  if (d.end > o->file.size) d.end = o->file.size;
  const size_t count = d.end - d.begin, from = random_next(random) % (o->file.size - count + 1);
  bytes_add(&d.file, o->file.data, kind == 3 ? d.begin : d.end);
  if (kind == 4) bytes_add(&d.file, o->file.data + d.begin, count);
  bytes_add(&d.file, o->file.data + d.end, o->file.size - d.end);
  if (kind == 0) memset(d.file.data + d.begin, 0, count);
  if (kind == 1)
    for (size_t i = d.begin; i < d.end; i++) d.file.data[i] = (uint8_t)random_next(random);
  if (kind == 2) memcpy(d.file.data + d.begin, o->file.data + from, count);
  d.moved = kind == 3 ? -(ptrdiff_t)count : kind == 4 ? (ptrdiff_t)count : 0;
  return d;
}

static int find_event(const struct seen *wanted, uint64_t offset, uint32_t *from) {
  for (uint32_t i = *from; i < driver.seen_count; i++) {
    const struct seen *s = &driver.seen[i];
    if (s->event.error || s->event.offset != offset) continue;
    *from = i + 1;
    return s->digest == wanted->digest && s->event.number == wanted->event.number && s->event.run == wanted->event.run;
  }
  return 0;
}

/* Reads a damaged file: 1 if all events that must be there are there, in order. */
static int survives(const struct original *o, const struct damage *d) {
  const int result = driver_run_bytes(&driver, d->file.data, d->file.size);
  if (result == SL_EFORMAT && (d->file.size == 0 || o->record_count <= 1)) return 1;
  if (result != 0) return 0;
  uint32_t from = 0;
  for (uint32_t i = 0; i < o->record_count; i++) {
    if (o->begin[i] < d->end && o->begin[i + 1] > d->begin) continue;
    const ptrdiff_t moved = o->begin[i] >= d->end ? d->moved : 0;
    if (!find_event(&o->seen[i], o->begin[i] + (uint64_t)moved, &from)) {
      fprintf(stderr, "the event at byte %zu is lost; bytes %zu to %zu were touched\n", o->begin[i], d->begin, d->end);
      return 0;
    }
  }
  return 1;
}

/* After one changed byte there are as many events as before, and exactly one of them is bad, at its place. */
static int survives_flip(const struct original *o, const struct damage *d) {
  if (!survives(o, d) || driver.seen_count != o->record_count) return 0;
  for (uint32_t i = 0; i < o->record_count; i++) {
    const int touched = o->begin[i] <= d->begin && d->begin < o->begin[i + 1];
    if ((driver.seen[i].event.error != 0) != touched || driver.seen[i].event.offset != o->begin[i]) return 0;
  }
  return 1;
}

typedef struct damage damage_function(const struct original *, uint64_t *);
typedef int survival_function(const struct original *, const struct damage *);

static int run_case(const struct original *o, damage_function *damage, survival_function *check, uint64_t seed,
                    uint32_t number) {
  uint64_t random = seed + number;
  struct damage d = damage(o, &random);
  const int good = check(o, &d);
  if (!good)
    fprintf(stderr, "SLUICE_TEST_SEED=%llu SLUICE_TEST_CASE=%u: %u events; messages:\n%s", (unsigned long long)seed,
            number, driver.seen_count, driver.messages);
  bytes_free(&d.file);
  return good;
}

static void run_batch(const struct original *o, damage_function *damage, survival_function *check, uint64_t seed,
                      uint32_t first) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(BATCH_SECONDS_MAX);
    for (uint32_t i = 0; i < BATCH; i++)
      if (!run_case(o, damage, check, seed, first + i)) _exit(1);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0)
    fail_msg("seed %llu, cases %u to %u: status %x", (unsigned long long)seed, first, first + BATCH, status);
}

static void run_cases(const struct original *o, damage_function *damage, survival_function *check, uint32_t count) {
  const char *seed_text = getenv("SLUICE_TEST_SEED"), *case_text = getenv("SLUICE_TEST_CASE");
  const uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 20240601;
  printf("seed %llu\n", (unsigned long long)seed);
  if (case_text) {
    assert_true(run_case(o, damage, check, seed, (uint32_t)strtoul(case_text, NULL, 10)));
    return;
  }
  for (uint32_t first = 0; first < count; first += BATCH) run_batch(o, damage, check, seed, first);
}

/* ------------------------------------------------------------------------------------------------ cases */

static struct bytes sample;

static void small_buffers(void) {
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    driver.bank_capacity[kind] = 256;
    driver.word_capacity[kind] = 4096;
  }
}

static void one_changed_byte_costs_exactly_its_event(void **state) {
  (void)state;
  small_buffers();
  struct original o = original_by_hand();
  run_cases(&o, damage_flip, survives_flip, 10000);
  bytes_free(&o.file);
}

static void damaged_stretch_costs_only_the_events_that_it_touches(void **state) {
  (void)state;
  small_buffers();
  struct original o = original_by_hand();
  run_cases(&o, damage_stretch, survives, 10000);
  bytes_free(&o.file);
}

static void real_banks_survive_the_same(void **state) {
  (void)state;
  if (!sample.size) skip();
  small_buffers();
  struct original o = original_from_sample(&sample);
  run_cases(&o, damage_flip, survives_flip, 5000);
  run_cases(&o, damage_stretch, survives, 5000);
  bytes_free(&o.file);
}

static void every_prefix_gives_the_records_that_it_holds(void **state) {
  (void)state;
  if (!sample.size) skip();
  struct original o = {.file = sample};
  driver_set(&driver, "checksum", 0);
  read_original(&o);
  for (uint32_t cut = 0; cut <= 1000; cut++) {
    /* Evenly spread, then close around the ends of records. */
    size_t size = sample.size * cut / 800;
    if (cut > 800) size = o.begin[1 + (cut - 801) / 40] + (cut - 801) % 40 * 3 - 60;
    if (size > sample.size) size = sample.size;
    const int result = driver_run_bytes(&driver, sample.data, size);
    if (size < 20) {
      assert_int_equal(result, SL_EFORMAT);
      continue;
    }
    assert_int_equal(result, 0);
    uint32_t whole = 0;
    while (whole < o.record_count && o.begin[whole + 1] <= size) whole++;
    const uint32_t cut_one = o.begin[whole] < size;
    assert_int_equal(driver.seen_count, whole + cut_one);
    for (uint32_t i = 0; i < whole; i++) assert_int_equal(driver.seen[i].digest, o.seen[i].digest);
    if (cut_one) assert_int_equal(driver.seen[whole].event.error, SL_EVENT_TRUNCATED);
  }
}

static int start(void **state) {
  (void)state;
  driver_start(&driver);
  return 0;
}

static int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

int main(void) {
  sample = shared_file("lhcb/minbias.mdf");
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(one_changed_byte_costs_exactly_its_event),
      CASE(damaged_stretch_costs_only_the_events_that_it_touches),
      CASE(real_banks_survive_the_same),
      CASE(every_prefix_gives_the_records_that_it_holds),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  bytes_free(&sample);
  return failed;
}
