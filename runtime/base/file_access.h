/* file_access.h: who may use a file that replaces another one. */
#ifndef SL_FILE_ACCESS_H
#define SL_FILE_ACCESS_H

/* Gives the open file `file`, which only its owner may use so far, the group, the permissions and the access control
 * list of the regular file `replaced`, and its owner, where the process may give files away. SL_EIO where group or list
 * cannot be set: then the group gets no permissions, so that no one may use the file who could not use the old one. */
int sl_file_keep_access(const char *replaced, int file);

#endif
