/* elf.c: checks a file before dlopen. dlopen maps the segments of a header without comparing them with the file length,
 * so that a truncated file ends the process with SIGBUS; and its messages for other files differ between systems. Reads
 * only headers.
 */
#include "plugin/elf.h"

#include "base/input.h"

#include <sluice/plugin.h>

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 256 };

static int refuse_length(char *reason, size_t size, const char *what, uint64_t end, uint64_t file_bytes) {
  snprintf(reason, size, "truncated: %s ends at byte %llu, the file has %llu", what, (unsigned long long)end,
           (unsigned long long)file_bytes);
  return SL_EPLUGIN;
}

/* 1 if [first, first + bytes) is inside the file; 0 if the sum overflows. */
static int lies_within(uint64_t first, uint64_t bytes, uint64_t file_bytes) {
  return first <= file_bytes && bytes <= file_bytes - first;
}

static int check_header(const ElfW(Ehdr) * header, char *reason, size_t size) {
  const unsigned char own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG)) {
    snprintf(reason, size, "not a shared object: it does not begin with an ELF header");
    return SL_EPLUGIN;
  }
  if (header->e_ident[EI_CLASS] != own_class || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_phentsize != sizeof(ElfW(Phdr))) {
    snprintf(reason, size, "an ELF file of another word size or byte order than this machine's");
    return SL_EPLUGIN;
  }
  if (header->e_type != ET_DYN) {
    snprintf(reason, size, "ELF type %u, a shared object is of type %u", (unsigned)header->e_type, (unsigned)ET_DYN);
    return SL_EPLUGIN;
  }
  return SL_OK;
}

static int check_segments(FILE *file, const ElfW(Ehdr) * header, uint64_t file_bytes, char *reason, size_t size) {
  ElfW(Phdr) segments[SEGMENTS_MAX];
  const uint64_t table_bytes = (uint64_t)header->e_phnum * sizeof(segments[0]);
  if (header->e_phnum > SEGMENTS_MAX) {
    snprintf(reason, size, "%u ELF segments, at most %d are expected", (unsigned)header->e_phnum, SEGMENTS_MAX);
    return SL_EPLUGIN;
  }
  if (!lies_within(header->e_phoff, table_bytes, file_bytes))
    return refuse_length(reason, size, "the segment table", header->e_phoff + table_bytes, file_bytes);
  if (fseek(file, (long)header->e_phoff, SEEK_SET) || fread(segments, 1, table_bytes, file) != table_bytes) {
    snprintf(reason, size, "cannot be read: %s", strerror(errno));
    return SL_EIO;
  }
  for (unsigned i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && !lies_within(segments[i].p_offset, segments[i].p_filesz, file_bytes))
      return refuse_length(reason, size, "a segment", segments[i].p_offset + segments[i].p_filesz, file_bytes);
  const uint64_t sections_bytes = (uint64_t)header->e_shnum * header->e_shentsize;
  if (!lies_within(header->e_shoff, sections_bytes, file_bytes))
    return refuse_length(reason, size, "the section table", header->e_shoff + sections_bytes, file_bytes);
  return SL_OK;
}

int sl_elf_check(const char *path, char *reason, size_t reason_size) {
  int status = SL_EIO;
  struct stat about;
  ElfW(Ehdr) header = {0};
  char why[128];
  const int descriptor = sl_open_regular(path, why, sizeof why);
  if (descriptor < 0) {
    snprintf(reason, reason_size, "cannot be opened: %s", why);
    return SL_EIO;
  }
  FILE *file = fdopen(descriptor, "rb");
  if (!file || fstat(descriptor, &about)) {
    snprintf(reason, reason_size, "cannot be opened: %s", strerror(errno));
    if (!file) close(descriptor);
    goto close_file;
  }
  const size_t got = fread(&header, 1, sizeof(header), file);
  if (got < sizeof(header) && (uint64_t)about.st_size >= sizeof(header)) {
    snprintf(reason, reason_size, "cannot be read: %s", strerror(errno));
    goto close_file;
  }
  status = check_header(&header, reason, reason_size);
  if (status) goto close_file;
  if (got < sizeof(header))
    status = refuse_length(reason, reason_size, "the ELF header", sizeof(header), got);
  else
    status = check_segments(file, &header, (uint64_t)about.st_size, reason, reason_size);
close_file:
  if (file) fclose(file);
  return status;
}
