/* mdf_files_test.c: io.mdf_source on files that cannot be read, or that change while they are read. */
#define _GNU_SOURCE
#include "mdf_source_case.h"
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void inputs_that_cannot_be_read_are_named_in_errors(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 2);
  struct memory_file good = memory_file_new(file.data, file.size);
  struct memory_file text = memory_file_new("this is a text and no raw data, of course\n", 42);
  struct memory_file empty = memory_file_new("", 0);
  const char *const missing[] = {good.path, "/nonexistent/x.mdf", "/tmp", "/dev/null"};
  assert_int_equal(driver_run(&driver, missing, 4), SL_EIO);
  assert_message("error: /nonexistent/x.mdf: No such file or directory");
  assert_message("error: /tmp: Is a directory");
  assert_message("error: /dev/null: is neither a regular file nor a pipe");
  const char *const wrong[] = {good.path, text.path};
  assert_int_equal(driver_run(&driver, wrong, 2), SL_EFORMAT);
  assert_message("is not an MDF file: no record header in its 42 bytes");
  const char *const nothing[] = {empty.path, empty.path};
  assert_int_equal(driver_run(&driver, nothing, 2), SL_EFORMAT);
  assert_message("all input files are empty");
  assert_int_equal(driver_run(&driver, nothing, 0), SL_EINVAL);
  assert_message("no input file");
  memory_file_free(&good);
  memory_file_free(&text);
  memory_file_free(&empty);
  bytes_free(&file);
}

static void shrink(void *context) {
  const struct memory_file *f = context;
  if (ftruncate(f->descriptor, 5000)) abort();
}

static void file_that_shrinks_while_it_is_read_ends_the_run(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 1000);
  struct memory_file f = memory_file_new(file.data, file.size);
  const char *const paths[] = {f.path};
  driver.between_slices = shrink;
  driver.context = &f;
  assert_int_equal(driver_run(&driver, paths, 1), SL_EIO);
  assert_numbered(0, driver.seen_count, 1);
  assert_message("to 5000 bytes while it was being read");
  memory_file_free(&f);
  bytes_free(&file);
}

static void file_that_shrinks_within_a_slice_ends_the_run(void **state) {
  (void)state;
  for (uint32_t with_checksum = 0; with_checksum <= 1; with_checksum++) {
    struct bytes file = simple_file(1, 1000);
    file.data[48] ^= 1; /* the source reports this while it fills the slice; then the file shrinks */
    struct memory_file f = memory_file_new(file.data, file.size);
    const char *const paths[] = {f.path};
    driver_set(&driver, "checksum", with_checksum);
    driver.events_max = 64;
    driver.on_message = shrink;
    driver.context = &f;
    assert_int_equal(driver_run(&driver, paths, 1), SL_EIO);
    assert_message("to 5000 bytes while it was being read");
    assert_int_equal(driver.seen_count, 0); /* none of them is certain to be unchanged */
    assert_null(strstr(strstr(driver.messages, "to 5000 bytes"), "corrupt"));
    memory_file_free(&f);
    bytes_free(&file);
  }
}

static void grow(void *context) {
  const struct memory_file *f = context;
  struct bytes more = simple_file(9, 3);
  if (pwrite(f->descriptor, more.data, more.size, lseek(f->descriptor, 0, SEEK_END)) != (ssize_t)more.size) abort();
  bytes_free(&more);
}

static void file_that_grows_is_read_to_its_size_at_the_start(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 5);
  struct memory_file first = memory_file_new(file.data, file.size), second = memory_file_new(file.data, file.size);
  const char *const paths[] = {first.path, second.path};
  driver.between_slices = grow;
  driver.context = &second;
  driver_set(&driver, "passes", 2);
  assert_int_equal(driver_run(&driver, paths, 2), 0);
  assert_int_equal(driver.seen_count, 20);
  assert_int_equal(driver.progress_done, driver.progress_total);
  memory_file_free(&first);
  memory_file_free(&second);
  bytes_free(&file);
}

static void handler_of_lost_pages_is_removed_with_the_last_file(void **state) {
  (void)state;
  struct bytes file = simple_file(1, 5);
  struct sigaction before, after;
  assert_int_equal(sigaction(SIGBUS, NULL, &before), 0);
  assert_int_equal(driver_run_bytes(&driver, file.data, file.size), 0);
  assert_int_equal(sigaction(SIGBUS, NULL, &after), 0);
  assert_ptr_equal(after.sa_handler, before.sa_handler);
  bytes_free(&file);
}

/* Writes five events to a new file; the context of the driver is its path. */
static struct bytes five_events_in(char path[SCRATCH_PATH_MAX]) {
  struct bytes file = simple_file(1, 5);
  scratch_file(path);
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (descriptor < 0 || write(descriptor, file.data, file.size) != (ssize_t)file.size) abort();
  close(descriptor);
  driver.events_max = 2;
  driver.context = path;
  return file;
}

static void remove_file(void *path) { (void)unlink(path); }

static void file_that_is_removed_before_it_is_opened_ends_the_run(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  struct bytes file = five_events_in(path);
  struct memory_file first = memory_file_new(file.data, file.size);
  const char *const paths[] = {first.path, path};
  driver.between_slices = remove_file;
  assert_int_equal(driver_run(&driver, paths, 2), SL_EIO);
  assert_message("No such file or directory");
  assert_numbered(0, 4, 1);
  memory_file_free(&first);
  bytes_free(&file);
}

static void unlinked_file_is_read_to_its_end(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  struct bytes file = five_events_in(path);
  const char *const paths[] = {path};
  driver.between_slices = remove_file;
  assert_int_equal(driver_run(&driver, paths, 1), 0);
  assert_int_equal(driver.seen_count, 5);
  assert_numbered(0, 5, 1);
  bytes_free(&file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(inputs_that_cannot_be_read_are_named_in_errors),
      CASE(file_that_shrinks_while_it_is_read_ends_the_run),
      CASE(file_that_shrinks_within_a_slice_ends_the_run),
      CASE(file_that_grows_is_read_to_its_size_at_the_start),
      CASE(handler_of_lost_pages_is_removed_with_the_last_file),
      CASE(file_that_is_removed_before_it_is_opened_ends_the_run),
      CASE(unlinked_file_is_read_to_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
