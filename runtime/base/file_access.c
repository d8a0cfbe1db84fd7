/* file_access.c: see file_access.h. Sets the group first, then the permissions, and the owner last, so that no other
 * user can ever open the file.
 *
 * With an access control list, the group bits of the mode are the mask of the list. Without the list they would give
 * permissions to the group itself, which may have none. A list inherited from the folder is removed.
 */
#define _GNU_SOURCE
#include "base/file_access.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LIST_BYTES_MAX = 1 << 13, PERMISSIONS = 0777, GROUP_PERMISSIONS = 070 };
static const char list_name[] = "system.posix_acl_access";

static int copy_list(const char *replaced, int file) {
  char list[LIST_BYTES_MAX];
  const ssize_t bytes = getxattr(replaced, list_name, list, sizeof list);
  if (bytes > 0) return fsetxattr(file, list_name, list, (size_t)bytes, 0) == 0 ? SL_OK : SL_EIO;
  (void)fremovexattr(file, list_name);
  return bytes == 0 || errno == ENODATA || errno == ENOTSUP ? SL_OK : SL_EIO;
}

int sl_file_keep_access(const char *replaced, int file) {
  struct stat old, new;
  if (stat(replaced, &old) != 0 || fstat(file, &new) != 0) return SL_EIO;
  int status = old.st_gid == new.st_gid || fchown(file, (uid_t)-1, old.st_gid) == 0 ? SL_OK : SL_EIO;
  if (status == SL_OK) status = copy_list(replaced, file);
  mode_t mode = old.st_mode & PERMISSIONS;
  if (status < 0) mode &= ~(mode_t)GROUP_PERMISSIONS;
  (void)fchmod(file, mode);
  if (old.st_uid != new.st_uid) (void)!fchown(file, old.st_uid, (gid_t)-1);
  return old.st_mode & GROUP_PERMISSIONS ? status : SL_OK; /* a group without permissions loses none */
}
