/* file_identity.h: decides whether two paths name the same file: by device and inode or, if there is no file yet, by
 * device and inode of the folder and the name in it. */
#ifndef SL_FILE_IDENTITY_H
#define SL_FILE_IDENTITY_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

enum {
  SL_FILE_NONE,    /* a character device, which can be shared; or unknown */
  SL_FILE_THERE,   /* exists; device and inode are those of the file */
  SL_FILE_MISSING, /* does not exist yet; device and inode are those of its folder */
  SL_FILE_STDOUT   /* standard output, if it is not a file */
};

struct sl_file_identity {
  int kind;
  dev_t device;
  ino_t inode;
  char name[256]; /* TO_COME: name of the file in its folder */
};

/* Returns the name in a path and copies its folder to `folder`; NULL if the path is too long. */
const char *sl_file_split(const char *path, char folder[PATH_MAX]);
/* Returns 1 if the path means standard output: "-", or one of the system's names for it. */
int sl_file_is_stdout(const char *path);
/* Returns the identity of a path. A path that leads nowhere has the kind NONE. */
struct sl_file_identity sl_file_identify(const char *path);
int sl_file_is_same(const struct sl_file_identity *a, const struct sl_file_identity *b);
/* Returns 0 if a file can be written there, as far as this can be checked without writing; else -1 and the reason. */
int sl_file_may_be_written(const char *path, char *reason, size_t reason_bytes);

#endif
