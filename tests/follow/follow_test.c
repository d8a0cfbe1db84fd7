/* follow_test.c: which files of a folder are taken, in which order, and when; files that inotify does not report; files
 * are moved when all their events are delivered; a later run continues.
 */
#define _GNU_SOURCE
#include "input/follow.h"

#include "../runtime/support.h"
#include "base/diagnostics.h"
#include "input/folder.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>

enum { RESCAN_MS = 40 };

struct fixture {
  char folder[SCRATCH_PATH_MAX], aside[SCRATCH_PATH_MAX + 8];
  struct sl_diagnostics *d;
};

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static const char *path_in(const char *folder, const char *name) {
  static char paths[4][PATH_MAX];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, PATH_MAX, "%s/%s", folder, name);
  return path;
}

static void put(const char *folder, const char *name) { scratch_write(folder, name, "text", 4); }

static void move(const char *folder, const char *from, const char *to) {
  assert_int_equal(rename(path_in(folder, from), path_in(folder, to)), 0);
}

static int set_up(void **state) {
  struct fixture *x = calloc(1, sizeof *x);
  scratch_folder(x->folder);
  snprintf(x->aside, sizeof x->aside, "%s/done", x->folder);
  assert_int_equal(mkdir(x->aside, 0777), 0);
  x->d = sl_diagnostics_new();
  *state = x;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *x = *state;
  sl_diagnostics_free(x->d);
  free(x);
  return 0;
}

static int is_reported(const struct fixture *x, uint32_t severity, const char *text) {
  for (size_t i = 0; i < sl_diagnostics_count(x->d); i++) {
    const struct sl_diagnostic *m = sl_diagnostics_at(x->d, i);
    if (m->severity == severity && strstr(m->message, text)) return 1;
  }
  sl_diagnostics_print(x->d, stderr);
  return 0;
}

/* ------------------------------------------------------------------------------------------------- a folder */

static struct sl_folder *open_folder(const struct fixture *x, uint32_t complete, uint32_t rescan_ms) {
  struct sl_folder *f = NULL;
  const struct sl_folder_options options = {x->folder, "*.mdf", complete, rescan_ms, x->d};
  assert_int_equal(sl_folder_open(&options, &f), SL_OK);
  return f;
}

/* Takes all complete files; returns their names, each with a blank after it. */
static const char *take_all(struct sl_folder *f) {
  static char names[512];
  names[0] = '\0';
  for (const char *name; (name = sl_folder_first(f)) != NULL;) {
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s ", name);
    char copy[NAME_MAX + 1];
    snprintf(copy, sizeof copy, "%s", name);
    assert_true(sl_folder_take(f, copy));
  }
  return names;
}

static const char *take_now(struct sl_folder *f, int must_scan) {
  assert_int_equal(sl_folder_update(f, must_scan), SL_OK);
  return take_all(f);
}

static void only_complete_names_that_match_are_taken(void **state) {
  (void)state;
  assert_true(sl_folder_takes("*.mdf", "a.mdf"));
  assert_true(sl_folder_takes("*", "part"));
  assert_true(sl_folder_takes("*", "a.part.mdf"));
  assert_true(sl_folder_takes("*", "1234"));
  assert_true(sl_folder_takes("*", "a.parts"));
  assert_false(sl_folder_takes("*.mdf", "a.mdf2"));
  assert_false(sl_folder_takes("*", ".a"));
  assert_false(sl_folder_takes(".*", ".a"));
  assert_false(sl_folder_takes("*", "a.part"));
  assert_false(sl_folder_takes("*", "a.mdf.part"));
  assert_false(sl_folder_takes("*", "a.part12"));
}

static void files_are_taken_once_in_the_order_of_their_names(void **state) {
  const struct fixture *x = *state;
  put(x->folder, "b.mdf");
  put(x->folder, "d.mdf");
  put(x->folder, "c.txt");
  assert_int_equal(mkdir(path_in(x->folder, "a.mdf"), 0777), 0);
  struct sl_folder *f = open_folder(x, SL_COMPLETE_RENAME, 10000);
  assert_string_equal(take_all(f), "b.mdf d.mdf ");
  put(x->folder, "f.part");
  put(x->folder, "c.part");
  assert_string_equal(take_now(f, 1), "");
  move(x->folder, "f.part", "f.mdf");
  move(x->folder, "c.part", "c.mdf");
  assert_string_equal(take_now(f, 0), "c.mdf f.mdf ");
  assert_string_equal(take_now(f, 1), "");
  sl_folder_close(f);
}

static void names_of_files_that_are_gone_are_not_kept(void **state) {
  const struct fixture *x = *state;
  char name[32];
  struct sl_folder *f = open_folder(x, SL_COMPLETE_RENAME, 10000);
  for (int i = 0; i < 300; i++) {
    snprintf(name, sizeof name, "%03d.mdf", i);
    put(x->folder, "now.part");
    move(x->folder, "now.part", name);
    if (i % 3 == 0) assert_non_null(strstr(take_now(f, i % 2), name));
    if (i % 3 == 1) assert_int_equal(sl_folder_update(f, 0), SL_OK);
    scratch_remove(x->folder, name);
    assert_int_equal(sl_folder_update(f, i % 2), SL_OK);
    assert_int_equal(sl_folder_names(f), 0);
    assert_int_equal(sl_folder_waiting(f), 0);
  }
  assert_true(is_reported(x, SL_WARNING, "/001.mdf disappeared before it was read"));
  sl_folder_close(f);
}

static void a_file_that_is_moved_over_a_taken_one_is_another_file(void **state) {
  const struct fixture *x = *state;
  put(x->folder, "a.mdf");
  struct sl_folder *f = open_folder(x, SL_COMPLETE_RENAME, 10000);
  assert_string_equal(take_all(f), "a.mdf ");
  put(x->folder, "a.part");
  move(x->folder, "a.part", "a.mdf");
  assert_string_equal(take_now(f, 1), "a.mdf ");
  assert_string_equal(take_now(f, 1), "");
  sl_folder_close(f);
}

static void a_file_is_complete_when_its_writer_closes_it(void **state) {
  const struct fixture *x = *state;
  struct sl_folder *f = open_folder(x, SL_COMPLETE_CLOSE, RESCAN_MS);
  FILE *file = fopen(path_in(x->folder, "a.mdf"), "w");
  assert_non_null(file);
  for (int i = 0; i < 3; i++) {
    pause_ms(2 * RESCAN_MS);
    assert_string_equal(take_now(f, 0), "");
    assert_int_equal(sl_folder_incomplete(f), 1);
  }
  assert_false(sl_folder_is_undecided(f));
  fclose(file);
  assert_string_equal(take_now(f, 0), "a.mdf ");
  assert_int_equal(sl_folder_incomplete(f), 0);
  put(x->folder, "a.mdf");
  assert_string_equal(take_now(f, 0), "");
  assert_true(is_reported(x, SL_WARNING, "/a.mdf was written again after it had been taken"));
  put(x->folder, "b.part");
  move(x->folder, "b.part", "b.mdf");
  assert_string_equal(take_now(f, 0), "b.mdf ");
  sl_folder_close(f);
}

static void a_file_whose_writer_was_not_seen_is_complete_when_it_does_not_change(void **state) {
  const struct fixture *x = *state;
  FILE *file = fopen(path_in(x->folder, "a.mdf"), "w");
  assert_non_null(file);
  struct sl_folder *f = open_folder(x, SL_COMPLETE_CLOSE, RESCAN_MS);
  for (int i = 0; i < 5; i++) {
    fputs("more", file);
    fflush(file);
    assert_string_equal(take_now(f, 1), "");
    pause_ms(RESCAN_MS / 2);
  }
  assert_true(sl_folder_is_undecided(f));
  assert_int_equal(link(path_in(x->folder, "a.mdf"), path_in(x->folder, "b.mdf")), 0);
  pause_ms(RESCAN_MS + 1);
  assert_string_equal(take_now(f, 1), "a.mdf ");
  pause_ms(RESCAN_MS + 1);
  assert_string_equal(take_now(f, 1), "b.mdf ");
  fclose(file);
  sl_folder_close(f);
}

static void a_scan_finds_files_after_the_queue_of_inotify_overflowed(void **state) {
  const struct fixture *x = *state;
  FILE *limit = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
  unsigned events = 0;
  if (!limit || fscanf(limit, "%u", &events) != 1 || events > 1000000) skip();
  fclose(limit);
  put(x->folder, "a.part");
  struct sl_folder *f = open_folder(x, SL_COMPLETE_RENAME, 3600000);
  for (unsigned i = 0; i < events / 2 + 10; i++) {
    move(x->folder, "a.part", "b.part");
    move(x->folder, "b.part", "a.part");
  }
  move(x->folder, "a.part", "a.mdf");
  assert_int_equal(sl_folder_update(f, 0), SL_OK);
  assert_string_equal(take_now(f, 0), "a.mdf ");
  put(x->folder, "c.part");
  move(x->folder, "c.part", "c.mdf");
  assert_string_equal(take_now(f, 0), "c.mdf "); /* inotify works again */
  sl_folder_close(f);
}

static void a_scan_finds_files_without_inotify(void **state) {
  const struct fixture *x = *state;
  enum { MOST = 1000 };
  int others[MOST], count = 0;
  while (count < MOST && (others[count] = inotify_init1(IN_CLOEXEC)) >= 0) count++;
  const int is_limit = count < MOST && errno == EMFILE;
  struct sl_folder *f = is_limit ? open_folder(x, SL_COMPLETE_RENAME, RESCAN_MS) : NULL;
  while (count-- > 0) close(others[count]);
  if (!f) skip();
  assert_true(is_reported(x, SL_NOTE, "cannot be watched by inotify (Too many open files): it is scanned"));
  put(x->folder, "a.part");
  move(x->folder, "a.part", "a.mdf");
  assert_string_equal(take_now(f, 0), "");
  pause_ms(RESCAN_MS);
  assert_string_equal(take_now(f, 0), "a.mdf ");
  sl_folder_close(f);
}

static void a_folder_that_was_replaced_is_watched_again(void **state) {
  const struct fixture *x = *state;
  char moved[SCRATCH_PATH_MAX + 8];
  snprintf(moved, sizeof moved, "%s.old", x->folder);
  struct sl_folder *f = open_folder(x, SL_COMPLETE_RENAME, RESCAN_MS);
  assert_int_equal(rename(x->folder, moved), 0);
  assert_string_equal(take_now(f, 0), "");
  assert_true(is_reported(x, SL_ERROR, "cannot be read: No such file or directory"));
  assert_int_equal(mkdir(x->folder, 0777), 0);
  put(x->folder, "a.mdf");
  pause_ms(RESCAN_MS);
  assert_string_equal(take_now(f, 0), "a.mdf ");
  put(x->folder, "b.part");
  move(x->folder, "b.part", "b.mdf");
  assert_string_equal(take_now(f, 0), "b.mdf ");
  sl_folder_close(f);
  assert_int_equal(rmdir(path_in(moved, "done")), 0);
  assert_int_equal(rmdir(moved), 0);
}

/* -------------------------------------------------------------------------------------------------- a run */

static struct sl_follow_options options_of(const struct fixture *x) {
  return (struct sl_follow_options){.size = sizeof(struct sl_follow_options), .folder = x->folder};
}

static struct sl_follow *open_follow(const struct fixture *x, const struct sl_follow_options *options) {
  struct sl_follow *f = NULL;
  assert_int_equal(sl_follow_new(options, x->d, &f), SL_OK);
  return f;
}

/* Takes a file as a session does; returns its name, or NULL. */
static const char *next(struct sl_follow *f, struct sl_follow_file *file) {
  return sl_follow_next(f, 0, file) == SL_FOLLOW_FILE ? strrchr(file->path, '/') + 1 : NULL;
}

static int exists(const char *folder, const char *name) { return access(path_in(folder, name), F_OK) == 0; }

static void files_are_moved_in_order_when_all_their_events_are_delivered(void **state) {
  const struct fixture *x = *state;
  struct sl_follow_options options = options_of(x);
  struct sl_follow_file a, b, c, none;
  put(x->folder, "a");
  put(x->folder, "b");
  put(x->folder, "c");
  options.done = x->aside;
  struct sl_follow *f = open_follow(x, &options);
  assert_int_equal(sl_follow_wait(f, 0), 1);
  assert_int_equal(sl_follow_count(f).waiting, 3);
  assert_int_equal(sl_follow_attach(f), SL_OK);
  assert_int_equal(sl_follow_attach(f), SL_EINVAL);
  assert_string_equal(next(f, &a), "a");
  sl_follow_read(f, a.number, 10);
  sl_follow_delivered(f, a.number, 4);
  assert_int_equal(sl_follow_position_of(f).events, 4);
  assert_false(sl_follow_position_of(f).is_whole);
  sl_follow_read(f, a.number, 5);
  sl_follow_ended(f, a.number);
  assert_string_equal(next(f, &b), "b");
  assert_int_equal(b.events_before, 15);
  sl_follow_ended(f, b.number); /* without events; not before a */
  assert_string_equal(next(f, &c), "c");
  assert_true(exists(x->folder, "a") && exists(x->folder, "b"));
  sl_follow_delivered(f, a.number, 15);
  assert_true(exists(x->aside, "a") && exists(x->aside, "b") && !exists(x->folder, "a"));
  assert_string_equal(sl_follow_position_of(f).name, "b");
  assert_true(sl_follow_position_of(f).is_whole);
  sl_follow_read(f, c.number, 2);
  sl_follow_refuse(f, c.number, "is %s", "damaged");
  sl_follow_delivered(f, c.number, 2);
  assert_true(exists(x->folder, "c"));
  assert_true(is_reported(x, SL_WARNING, "/c: is damaged"));
  assert_null(next(f, &none));
  assert_int_equal(sl_follow_count(f).moved, 2);
  assert_int_equal(sl_follow_count(f).refused, 1);
  sl_follow_free(f); /* its session may be closed later */
  sl_follow_detach(f);
}

static void files_that_cannot_be_moved_stay(void **state) {
  const struct fixture *x = *state;
  struct sl_follow_options options = options_of(x);
  struct sl_follow_file file;
  put(x->folder, "a");
  put(x->folder, "b");
  put(x->aside, "a");
  options.done = x->aside;
  struct sl_follow *f = open_follow(x, &options);
  assert_string_equal(next(f, &file), "a");
  sl_follow_ended(f, file.number);
  assert_true(exists(x->folder, "a"));
  assert_true(is_reported(x, SL_WARNING, "File exists"));
  assert_string_equal(next(f, &file), "b");
  put(x->folder, ".b");
  move(x->folder, ".b", "b");
  sl_follow_ended(f, file.number);
  assert_true(exists(x->folder, "b"));
  assert_true(is_reported(x, SL_WARNING, "it was replaced by another file"));
  assert_string_equal(next(f, &file), "b");
  sl_follow_ended(f, file.number);
  assert_true(exists(x->aside, "b") && !exists(x->folder, "b"));
  sl_follow_free(f);
}

static void a_late_file_is_taken_with_a_warning(void **state) {
  const struct fixture *x = *state;
  const struct sl_follow_options options = options_of(x);
  struct sl_follow_file file;
  put(x->folder, "c");
  struct sl_follow *f = open_follow(x, &options);
  assert_string_equal(next(f, &file), "c");
  put(x->folder, ".b");
  move(x->folder, ".b", "b");
  assert_string_equal(next(f, &file), "b");
  assert_int_equal(sl_follow_count(f).late, 1);
  assert_true(is_reported(x, SL_WARNING, "/b is late: c was taken before it"));
  sl_follow_free(f);
}

static void a_file_that_disappears_is_counted(void **state) {
  const struct fixture *x = *state;
  const struct sl_follow_options options = options_of(x);
  struct sl_follow_file file;
  put(x->folder, "a");
  put(x->folder, "b");
  struct sl_follow *f = open_follow(x, &options);
  scratch_remove(x->folder, "a");
  assert_string_equal(next(f, &file), "b");
  assert_int_equal(sl_follow_count(f).refused, 1);
  assert_true(is_reported(x, SL_WARNING, "/a disappeared before it was read"));
  sl_follow_free(f);
}

static void the_first_file_is_one_that_can_be_opened(void **state) {
  const struct fixture *x = *state;
  const struct sl_follow_options options = options_of(x);
  struct sl_follow_file file;
  if (geteuid() == 0) skip();
  put(x->folder, "a");
  put(x->folder, "b");
  assert_int_equal(chmod(path_in(x->folder, "a"), 0), 0);
  struct sl_follow *f = open_follow(x, &options);
  assert_int_equal(sl_follow_wait(f, 0), 1);
  assert_string_equal(next(f, &file), "b");
  assert_true(is_reported(x, SL_WARNING, "/a: cannot be read: Permission denied"));
  sl_follow_free(f);
}

static void the_input_ends_when_nothing_arrived_for_the_idle_time(void **state) {
  const struct fixture *x = *state;
  struct sl_follow_options options = options_of(x);
  struct sl_follow_file file;
  put(x->folder, "a");
  options.until_idle_seconds = 0.05;
  struct sl_follow *f = open_follow(x, &options);
  assert_string_equal(next(f, &file), "a");
  sl_follow_read(f, file.number, 1);
  sl_follow_ended(f, file.number);
  assert_int_equal(sl_follow_next(f, 100, &file), SL_FOLLOW_LATER); /* an event is not delivered */
  sl_follow_delivered(f, file.number, 1);
  assert_int_equal(sl_follow_next(f, 1000, &file), SL_FOLLOW_END);
  sl_follow_free(f);
  f = open_follow(x, &options);
  assert_string_equal(next(f, &file), "a");
  sl_follow_end(f);
  assert_int_equal(sl_follow_next(f, 1000, &file), SL_FOLLOW_END);
  assert_int_equal(sl_follow_wait(f, -1), SL_EINTERRUPTED);
  sl_follow_free(f);
}

static void a_run_continues_in_the_middle_of_a_file(void **state) {
  const struct fixture *x = *state;
  const struct sl_follow_options options = options_of(x);
  const char *const processed[] = {"a", "c", NULL};
  struct sl_follow_position at = {.name = "d", .events = 7, .events_before = 100, .number = 3};
  struct sl_follow_file file;
  for (const char *name = "abcde"; *name; name++) put(x->folder, (const char[]){*name, '\0'});
  struct sl_follow *f = open_follow(x, &options);
  assert_int_equal(sl_follow_resume(f, &at, processed), SL_OK);
  assert_string_equal(next(f, &file), "d");
  assert_int_equal(file.skip_events, 7);
  assert_int_equal(file.events_before, 100);
  assert_int_equal(file.number, 3);
  sl_follow_read(f, file.number, 9);
  sl_follow_ended(f, file.number);
  assert_string_equal(next(f, &file), "b");
  assert_int_equal(file.events_before, 109);
  assert_int_equal(file.skip_events, 0);
  assert_string_equal(next(f, &file), "e");
  assert_null(next(f, &file));
  sl_follow_free(f);

  at.is_whole = 1;
  f = open_follow(x, &options);
  assert_int_equal(sl_follow_resume(f, &at, processed), SL_OK);
  assert_string_equal(next(f, &file), "b");
  assert_int_equal(file.events_before, 107);
  assert_int_equal(file.number, 4);
  assert_string_equal(next(f, &file), "e");
  sl_follow_free(f);

  at = (struct sl_follow_position){.name = "gone", .events = 1};
  f = open_follow(x, &options);
  assert_int_equal(sl_follow_resume(f, &at, NULL), SL_OK);
  assert_string_equal(next(f, &file), "a");
  assert_true(is_reported(x, SL_WARNING, "/gone is gone, after 1 of its events was delivered"));
  sl_follow_free(f);
}

static void assert_refused(const struct fixture *x, const struct sl_follow_options *options, const char *text) {
  struct sl_follow *f = NULL;
  assert_int_equal(sl_follow_new(options, x->d, &f), SL_EINVAL);
  assert_null(f);
  assert_true(is_reported(x, SL_ERROR, text));
}

static void wrong_options_are_refused(void **state) {
  const struct fixture *x = *state;
  const struct sl_follow_options right = options_of(x);
  struct sl_follow_options o = right;
  struct stat here, there;
  o.size = 1;
  assert_refused(x, &o, "sl_follow_options has 1 bytes");
  o = right;
  o.folder = NULL;
  assert_refused(x, &o, "the followed folder has no name");
  o.folder = path_in(x->folder, "none");
  assert_refused(x, &o, "none: No such file or directory");
  put(x->folder, "file");
  o.folder = path_in(x->folder, "file");
  assert_refused(x, &o, "file is not a folder");
  o = right;
  o.complete = 2;
  assert_refused(x, &o, "complete is 2");
  o = right;
  o.pattern = "a/*";
  assert_refused(x, &o, "the pattern 'a/*' matches no name of a file");
  o = right;
  o.until_idle_seconds = -1;
  assert_refused(x, &o, "the idle time is -1 seconds");
  o = right;
  o.done = x->folder;
  assert_refused(x, &o, "is the followed folder");
  o.done = path_in(x->folder, "done/..");
  assert_refused(x, &o, "done/.. is the followed folder");
  o.done = "/dev/shm";
  assert_int_equal(stat(x->folder, &here), 0);
  if (stat(o.done, &there) == 0 && here.st_dev != there.st_dev && access(o.done, W_OK) == 0)
    assert_refused(x, &o, "is on another file system than");
}

static void an_output_in_the_folder_is_recognised(void **state) {
  const struct fixture *x = *state;
  struct sl_follow_options options = options_of(x);
  options.pattern = "*.mdf";
  struct sl_follow *f = open_follow(x, &options);
  assert_true(sl_follow_would_take(f, path_in(x->folder, "out.mdf")));
  assert_true(sl_follow_would_take(f, path_in(x->folder, "done/../out.mdf")));
  assert_false(sl_follow_would_take(f, path_in(x->folder, "out.csv")));
  assert_false(sl_follow_would_take(f, path_in(x->folder, "done/out.mdf")));
  sl_follow_free(f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(only_complete_names_that_match_are_taken),
      CASE(files_are_taken_once_in_the_order_of_their_names),
      CASE(names_of_files_that_are_gone_are_not_kept),
      CASE(a_file_that_is_moved_over_a_taken_one_is_another_file),
      CASE(a_file_is_complete_when_its_writer_closes_it),
      CASE(a_file_whose_writer_was_not_seen_is_complete_when_it_does_not_change),
      CASE(a_scan_finds_files_after_the_queue_of_inotify_overflowed),
      CASE(a_scan_finds_files_without_inotify),
      CASE(a_folder_that_was_replaced_is_watched_again),
      CASE(files_are_moved_in_order_when_all_their_events_are_delivered),
      CASE(files_that_cannot_be_moved_stay),
      CASE(a_late_file_is_taken_with_a_warning),
      CASE(a_file_that_disappears_is_counted),
      CASE(the_first_file_is_one_that_can_be_opened),
      CASE(the_input_ends_when_nothing_arrived_for_the_idle_time),
      CASE(a_run_continues_in_the_middle_of_a_file),
      CASE(wrong_options_are_refused),
      CASE(an_output_in_the_folder_is_recognised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
