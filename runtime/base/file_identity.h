/* file_identity.h: is it the same file? Two paths are compared by what they lead to, not by their text: by device and
 * inode, or, where nothing is there yet, by those of the folder and the name in it. */
#ifndef SL_FILE_IDENTITY_H
#define SL_FILE_IDENTITY_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

enum {
  SL_FILE_NONE,    /* a character device: whoever shares it takes nothing from another; or nothing can be said */
  SL_FILE_THERE,   /* device and inode are its own */
  SL_FILE_TO_COME, /* they are its folder's */
  SL_FILE_STDOUT   /* standard output, where that is no file */
};

struct sl_file_identity {
  int kind;
  dev_t device;
  ino_t inode;
  char name[256]; /* of a file to come */
};

/* The folder of a path, into `folder`, and the name in it; NULL where the path is too long. */
const char *sl_file_split(const char *path, char folder[PATH_MAX]);
/* Does the path mean standard output? "-", or one of the names that it has in the system. */
int sl_file_is_stdout(const char *path);
/* What the path leads to. A path that leads nowhere has the kind NONE. */
struct sl_file_identity sl_file_identify(const char *path);
int sl_file_is_same(const struct sl_file_identity *a, const struct sl_file_identity *b);
/* Can a file be written there, as far as can be said without writing? 0, or -1 and why not. */
int sl_file_may_be_written(const char *path, char *reason, size_t reason_bytes);

#endif
