/* harness.h: shared parts of the test harness. */
#ifndef SL_HARNESS_H
#define SL_HARNESS_H

#include "base/guarded.h"
#include "base/json.h"
#include "base/output.h"
#include "base/received_text.h"
#include "plugin/tables.h"

#include <sluice/testing.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* A field of a port. Inputs live as long as the test, outputs until the next run. */
struct test_field {
  struct sl_guarded memory;
  const void *alias; /* OFFSETS of an output that shares them: those of its partner */
  uint64_t count;    /* number of values */
  uint64_t hash;     /* inputs: hash of the given values */
};

/* Data of an input, or of one producer of a list port. */
struct test_entry {
  struct test_field *fields;
  uint64_t capacities[SL_BOUNDS_MAX];
};

struct test_member {
  struct test_field *fields; /* fields of ports except list ports; scratch has one */
  uint32_t field_count;
  uint64_t capacities[SL_BOUNDS_MAX]; /* per bound; inputs: given entries; list ports: sums */
  struct test_entry *entries;         /* list ports: one entry per producer */
  char **names;
  uint32_t entry_count;
  struct sl_guarded views; /* views of the entries */
  uint32_t budgets[SL_BOUNDS_MAX];
  uint8_t has_budget[SL_BOUNDS_MAX];
  struct sl_guarded used; /* one u32 per bound */
  char *text;             /* text of a string property */
};

struct test_text {
  char *text;
  size_t length;
};

struct sl_test {
  void *handle;
  const struct sl_plugin *plugin;
  struct sl_plugin *expanded; /* owner of the expanded plugin if it has open ports */
  const struct sl_algorithm *algorithm;
  struct test_references *references; /* tables with resolved field references; or NULL */
  struct test_member *members;        /* per member of the algorithm */
  unsigned char *args;                /* the argument struct */
  uint32_t event_count;
  uint32_t block_threads;
  uint32_t one_block; /* block size of all kernels */
  int shared, has_run;
  void *(*forbidden)(uint32_t member, uint32_t field);
  int poison;                     /* byte that fills outputs and scratch; the canaries depend on it */
  struct test_emulator *emulator; /* target simt; emulator.c */
  struct test_device *device;     /* targets with memory of their own; device.c */
  uint32_t *list;                 /* NULL: all events */
  uint32_t list_count;
  struct sl_guarded count, numbers, errors; /* memory that struct sl_events points to */
  pthread_mutex_t mutex;                    /* protects the messages */
  struct test_text messages;
  struct sl_json report;
  uint32_t drawn_event; /* with services.draws: the event to draw */
  struct sl_received_text drawing;
  struct sl_services services;
  char *node_name;
  int is_preparing;
  int is_quiet;           /* 1: messages are dropped */
  struct sl_case **cases; /* of sl_test_load */
  char **case_paths;
  uint32_t case_count;
};

/* A node of a family: the data that differs between nodes. */
struct test_node {
  unsigned char *args;
  struct test_member *members;
  uint32_t *list, list_count;
  struct sl_guarded count, numbers, errors;
};

/* Prints "sl_test: PLUGIN.ALGORITHM: text" and ends the program. */
void test_die(const struct sl_test *t, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void *test_allocate(size_t count, size_t bytes);                  /* Returns zeroed memory; ends the program if out
                                                                     of memory. */
struct sl_guarded test_guarded(size_t bytes, int fill, int salt); /* Calls sl_guarded_new; ends the program if out of
                                                                     memory. */

/* Index of the member of that name and kind, and of a field of it; both end the program if there is none. */
uint32_t test_member_index(const struct sl_test *t, const char *name, uint32_t kind);
uint32_t test_field_index(const struct sl_test *t, uint32_t member, const char *name);
uint64_t test_bytes_hash(const void *values, size_t bytes);
void test_add_line(struct sl_test *t, const char *prefix, const char *format, va_list arguments);
void test_release_run(struct sl_test *t); /* Frees the memory of the last run. */
/* Finds a file. A relative path is searched in the current folder, in the folder of the program and in the parent of
 * that folder. A file of that name in SLUICE_TEST_FOLDER comes first. */
void test_find_file(const char *path, char *found, size_t size);
/* Like sl_test_new, for exactly that file and its own target. */
struct sl_test *test_open(const char *plugin_path, const char *algorithm);
/* Sets the address of fields that the algorithm does not declare as read, so that reading them traps; NULL
 * (initially): null pointers. */
void test_forbid(struct sl_test *t, void *(*place)(uint32_t member, uint32_t field));

/* load.c: gives the test all of a case, which must live as long as the test; ends the program if it does not fit. */
struct sl_case;
void test_load_case(struct sl_test *t, const struct sl_case *c);
void test_cases_close(struct sl_test *t);

/* reference.c */
void test_references_close(struct test_references *r);
void test_size_outputs(struct sl_test *t); /* Gives the outputs the sizes of their dimensions. */

/* run.c, for family.c: allocate and bind; compute the data that nodes prepare; hide strings from kernels; run the
 * kernels; check canaries and inputs. */
void test_bind(struct sl_test *t);
int test_prepare(struct sl_test *t);
void test_hide_strings(struct sl_test *t);
struct sl_launch test_launch(struct sl_test *t);
int test_run_kernel(struct sl_test *t);
void test_check(const struct sl_test *t);
/* 1 for fields that are zero before a kernel runs: totals, and outputs of a node on a list, because events that are not
 * on the list have empty outputs. */
int test_is_zeroed(const struct sl_test *t, const struct sl_field *field);
/* family.c. Runs a kernel of a family as several nodes, after it has run; ends the program if they differ from nodes
 * that run alone. `test_exchange` swaps the data of the node with that of the test. */
void test_family_run(struct sl_test *t);
void test_exchange(struct sl_test *t, struct test_node *n);

/* emulator.c. Opened once, for a plugin of target simt; sl_launch.backend points to the stream. */
void test_emulator_open(struct sl_test *t);
struct sl_stream *test_emulator_stream(struct sl_test *t);
void test_emulator_close(struct sl_test *t);
/* device.c. Opened once; ends the program with status 77 (skipped) if there is no such device. */
void test_device_open(struct sl_test *t);
void test_device_close(struct sl_test *t);
int test_detects_races(const struct sl_test *t);
/* Sets an option of the emulator with race detection. Returns 0 on devices without options. */
int test_device_set(struct sl_test *t, const char *key, const char *value);
/* Runs the kernels on copies of all memory that the arguments point to, and copies everything back. Completes
 * `launch`. With `nodes`: `count` nodes as a family. */
int test_device_run(struct sl_test *t, struct sl_launch *launch, struct test_node *nodes, uint32_t count);
/* Replaces the path of a plugin for `target` by that of the plugin for SLUICE_TEST_TARGET. Returns 1 if that
 * variable is set to another target. */
int test_other_target(const char *target, char *path, size_t size);

#endif
