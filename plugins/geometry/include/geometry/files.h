/* files.h: LHCb's binary files of detector constants in a folder, read by constants and written by sinks.
 *
 * A file is little-endian arrays back to back. Its layout is a table of fields, and a function where the layout depends
 * on values. The same layout serves both directions: reading checks each value and makes the arrays of a collection,
 * writing takes them from the collection. Errors name the file, the byte, what was found and what was expected; the
 * first one ends the file. For host code in C; link Sluice::geometry.
 */
#ifndef GEOMETRY_FILES_H
#define GEOMETRY_FILES_H

#include <sluice/plugin.h>

#include <stddef.h>

enum { GEOMETRY_PATH_MAX = 4096 };

/* A file that is being read or written. */
struct geometry_file {
  const struct sl_services *services;
  const char *port; /* port of the arrays that are made */
  char path[GEOMETRY_PATH_MAX];
  unsigned char *bytes;     /* content of a file that is read */
  struct sl_output *output; /* output of a file that is written, else NULL */
  size_t size, position;
  int status; /* SL_OK, or the first error, after which nothing is read or written */
};

/* An array of a collection, or a number that the file must have. */
struct geometry_field {
  const char *what;             /* name of a value in messages; of a number: what it counts */
  const char *array;            /* the collection's field; NULL: a number, which must be `low` */
  uint32_t type, count;         /* SL_TYPE_u16, u32, i32, u64 or f32 */
  uint32_t member;              /* offset of the array's pointer in the collection */
  uint32_t is_ascending;        /* 1: each value must be larger than the one before */
  double low, high;             /* inclusive */
  int (*accepts)(double value); /* optional: a further requirement of each value */
  const char *expected;         /* the requirement in words */
};
/* No detector is larger than this, in mm; it keeps all positions far from overflow. */
#define GEOMETRY_LENGTH_MAX 1e5
#define GEOMETRY_NUMBER(type_, value_, what_) \
  { .what = what_, .type = SL_TYPE_##type_, .count = 1, .low = value_ }
#define GEOMETRY_ARRAY(collection_, field_, type_, count_, low_, high_, what_, ...)         \
  {                                                                                         \
    .what = what_, .array = #field_, .type = SL_TYPE_##type_, .count = count_,              \
    .member = offsetof(struct collection_, field_), .low = low_, .high = high_, __VA_ARGS__ \
  }
#define GEOMETRY_LENGTHS(collection_, field_, count_, what_, ...) \
  GEOMETRY_ARRAY(collection_, field_, f32, count_, -GEOMETRY_LENGTH_MAX, GEOMETRY_LENGTH_MAX, what_, __VA_ARGS__)
#define GEOMETRY_FIELDS(table_) .fields = table_, .field_count = sizeof(table_) / sizeof(table_[0])

/* A list of layouts ends with a layout without a name. */
struct geometry_layout {
  const char *name; /* of the file */
  const struct geometry_field *fields;
  uint32_t field_count;
  /* Optional: passes what follows the fields. It may rewind `position` and pass the file again. */
  void (*rest)(struct geometry_file *f, void *collection);
  const char *if_absent; /* note for a missing file; NULL: a missing file is an error */
};

/* 1 if the path is a folder, which then has such files; anything else is a description. */
int geometry_is_folder(const char *path);

/* Makes the arrays of all fields that the collection does not have yet. Returns SL_OK or SL_ENOMEM. */
int geometry_make(const struct geometry_layout *layouts, const struct sl_services *s, const char *port,
                  void *collection);

/* Makes the arrays and reads all files of a list from a folder. Returns SL_OK or an error after a message. */
int geometry_read(const struct geometry_layout *layouts, const struct sl_services *s, const char *port,
                  const char *folder, void *collection);

/* Writes a file through its layout. Returns SL_OK or an error. */
int geometry_write(const struct geometry_layout *layout, const struct sl_services *s, struct sl_output *output,
                   void *collection);

/* Parts of a layout, for `rest`. While reading, values without a destination (NULL) are skipped. */
void geometry_fields(struct geometry_file *f, const struct geometry_field *fields, size_t count, void *collection);
void geometry_number(struct geometry_file *f, uint32_t type, uint64_t expected, const char *what);
void geometry_values(struct geometry_file *f, uint32_t type, void *values, size_t count, double low, double high,
                     const char *what);
/* A length, which must be a multiple of `unit` and at most `most`, as `*count` of units; 0 only if the unit is 1. */
void geometry_count(struct geometry_file *f, uint32_t type, uint32_t unit, uint32_t most, const char *what,
                    uint32_t *count);
/* Reports an error of the file, unless one was reported. */
void geometry_fail(struct geometry_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
