/* file_access.h: permissions of a file that replaces another one. */
#ifndef SL_FILE_ACCESS_H
#define SL_FILE_ACCESS_H

/* Gives the open file `file`, which so far only its owner can use, the group, the permissions and the access control
 * list of the regular file `replaced`, and its owner if the process may change owners. Returns SL_EIO if the group or
 * the list cannot be set; the group then gets no permissions, so that only users of the old file can open the new
 * one. */
int sl_file_keep_access(const char *replaced, int file);

#endif
