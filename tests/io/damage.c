/* damage.c: see damage.h. */
#include "damage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BATCH = 500, BATCH_SECONDS_MAX = 120 };

void original_read(struct original *o) {
  assert_int_equal(driver_run_bytes(o->driver, o->file.data, o->file.size), 0);
  assert_true(o->driver->seen_count <= EVENTS_MAX);
  o->event_count = o->driver->seen_count;
  for (uint32_t i = 0; i < o->event_count; i++) {
    const struct seen *s = &o->driver->seen[i];
    assert_int_equal(s->event.error, SL_EVENT_OK);
    o->seen[i] = *s;
    if (i > 0 && s->event.offset == o->seen[i - 1].event.offset) continue;
    o->begin[o->record_count++] = s->event.offset;
  }
  o->begin[o->record_count] = o->file.size;
}

/* ------------------------------------------------------------------------------------------------ damages */

static uint64_t random_next(uint64_t *state) {
  uint64_t x = (*state += 0x9e3779b97f4a7c15ull);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

struct damage damage_flip(const struct original *o, uint64_t *random) {
  struct damage d = {.file = {0}};
  bytes_add(&d.file, o->file.data, o->file.size);
  d.begin = random_next(random) % o->file.size;
  d.end = d.begin + 1;
  d.file.data[d.begin] ^= (uint8_t)(1 + random_next(random) % 255);
  return d;
}

/* Zeroes a range, overwrites it with noise or other bytes of the file, removes it, or doubles it. */
struct damage damage_stretch(const struct original *o, uint64_t *random) {
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

static int find_event(const struct driver *d, const struct seen *expected, uint64_t offset, uint32_t *from) {
  for (uint32_t i = *from; i < d->seen_count; i++) {
    const struct seen *s = &d->seen[i];
    if (s->event.error || s->event.offset != offset || s->event.number != expected->event.number) continue;
    *from = i + 1;
    return s->digest == expected->digest && s->event.run == expected->event.run;
  }
  return 0;
}

static uint32_t record_of(const struct original *o, uint64_t offset) {
  uint32_t i = 0;
  while (o->begin[i + 1] <= offset) i++;
  return i;
}

int survives(const struct original *o, const struct damage *d) {
  const int result = driver_run_bytes(o->driver, d->file.data, d->file.size);
  if (result == SL_EFORMAT && (d->file.size == 0 || o->record_count <= 1)) return 1;
  if (result != 0) return 0;
  uint32_t from = 0;
  for (uint32_t e = 0; e < o->event_count; e++) {
    const uint64_t begin = o->seen[e].event.offset;
    if (begin < d->end && o->begin[record_of(o, begin) + 1] > d->begin) continue;
    const ptrdiff_t moved = begin >= d->end ? d->moved : 0;
    if (!find_event(o->driver, &o->seen[e], begin + (uint64_t)moved, &from)) {
      fprintf(stderr, "event %u, at byte %zu, is lost; bytes %zu to %zu were changed\n", e, (size_t)begin, d->begin,
              d->end);
      return 0;
    }
  }
  return 1;
}

static int run_case(const struct original *o, damage_function *damage, survival_function *check, uint64_t seed,
                    uint32_t number) {
  uint64_t random = seed + number;
  struct damage d = damage(o, &random);
  const int good = check(o, &d);
  if (!good)
    fprintf(stderr, "SLUICE_TEST_SEED=%llu SLUICE_TEST_CASE=%u: %u events; messages:\n%s", (unsigned long long)seed,
            number, o->driver->seen_count, o->driver->messages);
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

void damage_run_cases(const struct original *o, damage_function *damage, survival_function *check, uint32_t count) {
  const char *seed_text = getenv("SLUICE_TEST_SEED"), *case_text = getenv("SLUICE_TEST_CASE");
  const uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 20240601;
  printf("seed %llu\n", (unsigned long long)seed);
  if (case_text) {
    assert_true(run_case(o, damage, check, seed, (uint32_t)strtoul(case_text, NULL, 10)));
    return;
  }
  for (uint32_t first = 0; first < count; first += BATCH) run_batch(o, damage, check, seed, first);
}
