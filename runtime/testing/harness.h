/* harness.h: what the files of the test harness share. */
#ifndef SL_HARNESS_H
#define SL_HARNESS_H

#include "base/guarded.h"
#include "base/json.h"
#include "base/output.h"
#include "plugin/tables.h"

#include <sluice/testing.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* A field of a port. Inputs live as long as the test, outputs until the next run. */
struct test_field {
  struct sl_guarded memory;
  const void *alias; /* OFFSETS of an output that shares them: the partner's */
  uint64_t count;    /* values */
  uint64_t hash;     /* inputs: of the values as given */
};

/* What an input gets; of a list port, from one of its producers. */
struct test_entry {
  struct test_field *fields;
  uint64_t capacities[SL_BOUNDS_MAX];
};

struct test_member {
  struct test_field *fields; /* ports; a scratch has one; not list ports */
  uint32_t field_count;
  uint64_t capacities[SL_BOUNDS_MAX]; /* of the bounds; of an input, what was given; of a list port, the sums */
  struct test_entry *entries;         /* list ports: a producer each */
  char **names;
  uint32_t entry_count;
  struct sl_guarded views; /* of them */
  uint32_t budgets[SL_BOUNDS_MAX];
  uint8_t has_budget[SL_BOUNDS_MAX];
  struct sl_guarded used; /* a u32 for each bound */
  char *text;             /* property of type string */
};

struct test_text {
  char *text;
  size_t length;
};

struct sl_test {
  void *handle;
  const struct sl_plugin *plugin;
  struct sl_plugin *expanded; /* owns it where it has open ports */
  const struct sl_algorithm *algorithm;
  struct test_references *references; /* its tables where references to fields are known; or NULL */
  struct test_member *members;        /* per member of the algorithm */
  unsigned char *args;                /* the argument struct */
  uint32_t event_count;
  uint32_t block_threads;
  uint32_t one_block; /* of all kernels */
  int shared, has_run;
  void *(*forbidden)(uint32_t member, uint32_t field);
  int poison;                     /* byte that outputs and scratch are filled with; canaries differ with it */
  struct test_emulator *emulator; /* target simt; emulator.c */
  struct test_device *device;     /* targets with a memory of their own; device.c */
  uint32_t *list;                 /* NULL: all events */
  uint32_t list_count;
  struct sl_guarded count, numbers, errors; /* that struct sl_events points to */
  pthread_mutex_t mutex;                    /* of the messages */
  struct test_text messages;
  struct sl_json report;
  struct sl_services services;
  char *node_name;
  int is_preparing;
  int is_quiet; /* messages are left out */
};

/* A node of a family: what of the test is its own. */
struct test_node {
  unsigned char *args;
  struct test_member *members;
  uint32_t *list, list_count;
  struct sl_guarded count, numbers, errors;
};

/* Prints "sl_test: PLUGIN.ALGORITHM: text" and ends the program. */
void test_die(const struct sl_test *t, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void *test_allocate(size_t count, size_t bytes);                  /* zeroed; ends the program when memory is out */
struct sl_guarded test_guarded(size_t bytes, int fill, int salt); /* sl_guarded_new; likewise */

/* The member of that name and kind, and a field of it; both end the program if there is none. */
uint32_t test_member_index(const struct sl_test *t, const char *name, uint32_t kind);
uint32_t test_field_index(const struct sl_test *t, uint32_t member, const char *name);
uint64_t test_bytes_hash(const void *values, size_t bytes);
void test_add_line(struct sl_test *t, const char *prefix, const char *format, va_list arguments);
void test_release_run(struct sl_test *t); /* frees what the last run allocated */
/* sl_test_new for exactly that file and its own target. */
struct sl_test *test_open(const char *plugin_path, const char *algorithm);
/* Where a field that the algorithm does not say that it reads is, so that reading it traps; NULL (at first): nowhere.
 */
void test_forbid(struct sl_test *t, void *(*place)(uint32_t member, uint32_t field));

void test_references_close(struct test_references *r); /* reference.c */

/* run.c, for family.c: allocates and binds; computes what nodes prepare; takes strings away from kernels; runs the
 * algorithm's kernels, once all that is done; looks at canaries and inputs. */
void test_bind(struct sl_test *t);
int test_prepare(struct sl_test *t);
void test_hide_strings(struct sl_test *t);
struct sl_launch test_launch(struct sl_test *t);
int test_run_kernel(struct sl_test *t);
void test_check(const struct sl_test *t);
/* family.c. Runs a kernel of a family as several nodes, after it has run; ends the program where they differ from
 * nodes that run alone. `test_exchange`: what is the node's own becomes the test's, and back. */
void test_family_run(struct sl_test *t);
void test_exchange(struct sl_test *t, struct test_node *n);

/* emulator.c. Opened once, for a plugin of target simt; the stream is what sl_launch.backend points to. */
void test_emulator_open(struct sl_test *t);
struct sl_stream *test_emulator_stream(struct sl_test *t);
void test_emulator_close(struct sl_test *t);
/* device.c. Opened once; ends the program with 77, skipped, where there is no such device. */
void test_device_open(struct sl_test *t);
void test_device_close(struct sl_test *t);
/* Runs the kernels on copies of all that the arguments point to, and copies all back. Completes `launch`. With nodes,
 * `count` of them as a family. */
int test_device_run(struct sl_test *t, struct sl_launch *launch, struct test_node *nodes, uint32_t count);
/* Makes of the path of a plugin for `target` that of the same plugin for SLUICE_TEST_TARGET, and returns 1, if that is
 * set and is another one. */
int test_other_target(const char *target, char *path, size_t size);

#endif
