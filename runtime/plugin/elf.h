/* elf.h: checks that a file is a complete shared object for this machine. */
#ifndef SL_ELF_H
#define SL_ELF_H

#include <stddef.h>

/* 0, or SL_EIO or SL_EPLUGIN with `reason`. */
int sl_elf_check(const char *path, char *reason, size_t reason_size);

#endif
