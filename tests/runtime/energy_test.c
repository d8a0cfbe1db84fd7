/* energy_test.c: energy from the counters of devices and processors: counters that wrap, parts of packages that are not
 * counted twice, counters that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h needs the headers above */
#include "observe/energy.h"
#include "scratch.h"

#include <cmocka.h>

static char root[SCRATCH_PATH_MAX];
static double counter_j;
static int is_failing;

static int energy_of_device(struct sl_device *device, double *joules, char *reason, size_t reason_size) {
  (void)device;
  if (is_failing) snprintf(reason, reason_size, "the counter is broken");
  *joules = counter_j;
  return is_failing ? SL_EDEVICE : SL_OK;
}

static const struct sl_backend host = {.target = "host"}, counting = {.is_device = 1, .energy = energy_of_device},
                               silent = {.is_device = 1};

static void put(const char *package, const char *file, unsigned long long value) {
  char path[SCRATCH_PATH_MAX + 128];
  const char *const folders[] = {"/sys", "/sys/class", "/sys/class/powercap"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    snprintf(path, sizeof path, "%s%s", root, folders[i]);
    mkdir(path, 0755);
  }
  snprintf(path, sizeof path, "%s/sys/class/powercap/%s", root, package);
  mkdir(path, 0755);
  snprintf(path, sizeof path, "%s/sys/class/powercap/%s/%s", root, package, file);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "%llu\n", value);
  fclose(f);
}

static void put_package(const char *package, unsigned long long uj) {
  put(package, "energy_uj", uj);
  put(package, "max_energy_range_uj", 10000000);
}

static int open_root(void **state) {
  (void)state;
  scratch_folder(root);
  return 0;
}

static void start(struct sl_energy *e, struct sl_setup *setup, const struct sl_backend *backend) {
  memset(e, 0, sizeof *e);
  memset(setup, 0, sizeof *setup);
  setup->backend = backend;
  setup->device_count = 2;
  setup->options.energy = 1;
  pthread_mutex_init(&e->lock, NULL);
  sl_energy_open(e, setup, root);
  sl_energy_begin(e);
}

static void without_counters_there_is_a_reason(void **state) {
  (void)state;
  struct sl_energy e;
  struct sl_setup setup;
  start(&e, &setup, &host);
  sl_energy_end(&e, 10);
  assert_true(e.summary.host_joules < 0 && e.summary.device_joules < 0);
  assert_string_equal(e.summary.host_missing, "there is no RAPL counter below /sys/class/powercap");
  assert_string_equal(e.summary.device_missing, "");
  start(&e, &setup, &silent);
  sl_energy_end(&e, 10);
  assert_string_equal(e.summary.device_missing, "the device has no energy counter");
}

static void packages_are_summed_and_their_counters_wrap(void **state) {
  (void)state;
  struct sl_energy e;
  struct sl_setup setup;
  put_package("intel-rapl:0", 9000000);
  put_package("intel-rapl:1", 1000000);
  put_package("intel-rapl:0:0", 5000000); /* a part of package 0 */
  start(&e, &setup, &host);
  put_package("intel-rapl:0", 1000000); /* 2 J later */
  put_package("intel-rapl:1", 1500000);
  put_package("intel-rapl:0:0", 9000000);
  assert_int_equal(sl_energy_observer.tick(&e, 0), SL_OK);
  put_package("intel-rapl:0", 500000); /* 9.5 J later */
  sl_energy_end(&e, 10);
  assert_float_equal(e.summary.host_joules, 12.0, 1e-9);
  assert_int_equal(e.summary.events, 10);
  assert_true(e.summary.seconds > 0);
  assert_string_equal(e.summary.host_missing, "");
}

static void a_second_beginning_counts_from_there(void **state) {
  (void)state;
  struct sl_energy e;
  struct sl_setup setup;
  put_package("intel-rapl:0", 1000000);
  put_package("intel-rapl:1", 1000000);
  counter_j = 100;
  start(&e, &setup, &counting);
  put_package("intel-rapl:0", 4000000);
  counter_j = 150;
  sl_energy_begin(&e);
  put_package("intel-rapl:1", 1250000);
  counter_j = 157;
  sl_energy_end(&e, 5);
  assert_float_equal(e.summary.host_joules, 0.25, 1e-9);
  assert_float_equal(e.summary.device_joules, 14.0, 1e-9); /* two devices */
}

static void a_counter_that_cannot_be_read_gives_the_reason(void **state) {
  (void)state;
  struct sl_energy e;
  struct sl_setup setup;
  char path[SCRATCH_PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:1/energy_uj", root);
  put_package("intel-rapl:0", 1000000);
  start(&e, &setup, &counting);
  unlink(path);
  is_failing = 1;
  sl_energy_end(&e, 5);
  is_failing = 0;
  assert_true(e.summary.host_joules < 0 && e.summary.device_joules < 0);
  assert_non_null(strstr(e.summary.host_missing, "intel-rapl:1/energy_uj: No such file or directory"));
  assert_string_equal(e.summary.device_missing, "the counter is broken");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_counters_there_is_a_reason),
      cmocka_unit_test(packages_are_summed_and_their_counters_wrap),
      cmocka_unit_test(a_second_beginning_counts_from_there),
      cmocka_unit_test(a_counter_that_cannot_be_read_gives_the_reason),
  };
  return cmocka_run_group_tests(tests, open_root, NULL);
}
