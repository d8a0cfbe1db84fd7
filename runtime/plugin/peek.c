/* peek.c: reads the descriptor of a plugin from its file without loading it. Loading also maps and initialises all
 * linked libraries, which is too slow for a search through all plugins. The tables are constant data: the file holds
 * them except for pointers, which are in the relocations.
 *
 * The symbol `sluice_plugin` gives the address of the descriptor after loading, the segments give the bytes of the file
 * at that address, and a pointer is the addend of its relocation plus the value of its symbol, if any. A file that is
 * not a plugin, or would be refused, has no features. For any other unexpected content the plugin must be loaded.
 */
#include "plugin/peek.h"

#include "base/input.h"
#include "plugin/check.h"
#include "plugin/elf.h"

#include <sluice/plugin.h>

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALL = SL_PEEK_ALL };

struct image {
  const unsigned char *bytes;
  uint64_t size;
  const ElfW(Ehdr) * header;
  const ElfW(Phdr) * segments;
  const ElfW(Shdr) * sections;
  const unsigned char *input; /* first bytes of an input, or NULL */
  size_t input_count;
};

/* Bytes of the file as an array of elements, NULL if they are not in the file or not aligned. */
static const void *file_array(const struct image *m, uint64_t offset, uint64_t count, uint64_t element_bytes) {
  if (offset > m->size || count > (m->size - offset) / element_bytes) return NULL;
  return element_bytes == 1 || offset % sizeof(void *) == 0 ? m->bytes + offset : NULL;
}

/* Array at an address after loading. */
static const void *loaded_array(const struct image *m, uint64_t address, uint64_t count, uint64_t element_bytes) {
  for (unsigned i = 0; i < m->header->e_phnum; i++) {
    const ElfW(Phdr) *s = &m->segments[i];
    if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz) continue;
    const uint64_t within = address - s->p_vaddr;
    if (count > (s->p_filesz - within) / element_bytes) return NULL;
    return file_array(m, s->p_offset + within, count, element_bytes);
  }
  return NULL;
}

static int image_parse(struct image *m) {
  m->header = file_array(m, 0, 1, sizeof *m->header);
  if (!m->header || m->header->e_shentsize != sizeof *m->sections) return 0;
  m->segments = file_array(m, m->header->e_phoff, m->header->e_phnum, sizeof *m->segments);
  m->sections = file_array(m, m->header->e_shoff, m->header->e_shnum, sizeof *m->sections);
  return m->segments && m->sections;
}

/* Elements of a section, NULL if they are incomplete. */
static const void *section_array(const struct image *m, const ElfW(Shdr) * section, uint64_t element_bytes,
                                 uint64_t *count) {
  *count = section->sh_size / element_bytes;
  return section->sh_entsize == element_bytes ? file_array(m, section->sh_offset, *count, element_bytes) : NULL;
}

/* Symbols of a section, or of the symbol section that it is linked to. */
static const ElfW(Sym) * symbols_of(const struct image *m, const ElfW(Shdr) * section, uint64_t *count) {
  if (section->sh_type != SHT_DYNSYM && section->sh_link < m->header->e_shnum) section = &m->sections[section->sh_link];
  return section->sh_type == SHT_DYNSYM ? section_array(m, section, sizeof(ElfW(Sym)), count) : NULL;
}

/* Address of the exported `sluice_plugin`, 0 if there is none. */
static uint64_t find_descriptor(const struct image *m) {
  static const char symbol[] = "sluice_plugin";
  for (unsigned i = 0; i < m->header->e_shnum; i++) {
    uint64_t count = 0;
    const ElfW(Shdr) *section = &m->sections[i];
    const ElfW(Sym) *symbols = section->sh_type == SHT_DYNSYM ? symbols_of(m, section, &count) : NULL;
    if (!symbols || section->sh_link >= m->header->e_shnum) continue;
    const ElfW(Shdr) *names = &m->sections[section->sh_link];
    if (names->sh_offset > m->size || names->sh_size > m->size - names->sh_offset) continue;
    for (uint64_t k = 0; k < count; k++)
      if (symbols[k].st_name <= names->sh_size && names->sh_size - symbols[k].st_name >= sizeof symbol &&
          memcmp(m->bytes + names->sh_offset + symbols[k].st_name, symbol, sizeof symbol) == 0)
        return symbols[k].st_value;
  }
  return 0;
}

/* Target of the pointer at an address, 0 for NULL. Returns 0 if the target is unknown. */
static int read_pointer(const struct image *m, uint64_t place, uint64_t *target) {
  for (unsigned i = 0; i < m->header->e_shnum; i++) {
    const ElfW(Shdr) *section = &m->sections[i];
    uint64_t count = 0, symbol_count = 0;
    if (section->sh_type != SHT_RELA) continue;
    const ElfW(Rela) *relocations = section_array(m, section, sizeof(ElfW(Rela)), &count);
    const ElfW(Sym) *symbols = symbols_of(m, section, &symbol_count);
    for (uint64_t k = 0; relocations && k < count; k++) {
      if (relocations[k].r_offset != place) continue;
      const uint64_t symbol = ELF64_R_SYM(relocations[k].r_info);
      if (symbol && (!symbols || symbol >= symbol_count || symbols[symbol].st_shndx == SHN_UNDEF)) return 0;
      *target = (uint64_t)relocations[k].r_addend + (symbol ? symbols[symbol].st_value : 0);
      return 1;
    }
  }
  const uint64_t *in_place = loaded_array(m, place, 1, sizeof *in_place);
  if (in_place) *target = *in_place; /* NULL, or packed relocations, which store the value in place */
  return in_place != NULL;
}

/* 1 if the input may begin with the signature at an address. Address 0: no signature. */
static int may_begin_with(const struct image *m, uint64_t address) {
  if (!m->input || !address) return 1;
  for (size_t i = 0; i < m->input_count; i++) {
    const unsigned char *byte = loaded_array(m, address + i, 1, 1);
    if (!byte || *byte == '\0') return 1;
    if (*byte != m->input[i]) return 0;
  }
  return 1;
}

/* 1 if the source at an address has the function `probe`, and the input may be one of its files. */
static int may_read(const struct image *m, uint64_t source) {
  uint64_t probe = 0, signature = 0;
  if (!source || !read_pointer(m, source + offsetof(struct sl_source, probe), &probe)) return 1;
  if (!probe) return 0;
  return !read_pointer(m, source + offsetof(struct sl_source, signature), &signature) || may_begin_with(m, signature);
}

/* Features of the algorithm at an address, as bits. */
static uint32_t peek_algorithm(const struct image *m, uint64_t address) {
  uint64_t source = 0, members = 0, collection = 0, trait = 0;
  uint32_t bits = 0;
  const struct sl_algorithm *a = address ? loaded_array(m, address, 1, sizeof *a) : NULL;
  if (!a || a->member_count > CHECK_MEMBERS_MAX ||
      !read_pointer(m, address + offsetof(struct sl_algorithm, members), &members))
    return ALL;
  if (a->kind == SL_KIND_SOURCE &&
      (!read_pointer(m, address + offsetof(struct sl_algorithm, source), &source) || may_read(m, source)))
    bits |= SL_PEEK_PROBE;
  if (a->takes_feed) bits |= SL_PEEK_FEED;
  for (uint32_t i = 0; i < a->member_count && !(bits & SL_PEEK_TRAIT); i++) {
    const uint64_t member = members + i * sizeof(struct sl_member);
    if (!read_pointer(m, member + offsetof(struct sl_member, collection), &collection) ||
        (collection && (!read_pointer(m, collection + offsetof(struct sl_collection, trait), &trait) || trait)))
      bits |= SL_PEEK_TRAIT;
  }
  return bits;
}

static uint32_t peek(struct image *m) {
  uint64_t table = 0, algorithm = 0;
  uint32_t bits = 0;
  if (!image_parse(m)) return ALL;
  const uint64_t address = find_descriptor(m);
  if (!address) return 0;
  const struct sl_plugin *plugin = loaded_array(m, address, 1, sizeof *plugin);
  if (plugin &&
      (plugin->magic != SL_PLUGIN_MAGIC || plugin->size != sizeof *plugin || plugin->abi_version != SL_ABI_VERSION))
    return 0;
  if (!plugin || plugin->algorithm_count > CHECK_ALGORITHMS_MAX ||
      !read_pointer(m, address + offsetof(struct sl_plugin, algorithms), &table))
    return ALL;
  for (uint32_t i = 0; i < plugin->algorithm_count && bits != ALL; i++)
    bits |= read_pointer(m, table + i * sizeof(void *), &algorithm) ? peek_algorithm(m, algorithm) : ALL;
  return bits;
}

/* Returns a copy of the file, because a mapped file that another process truncates would end this process. NULL if
 * it cannot be read. */
static unsigned char *read_whole(int file, uint64_t size) {
  unsigned char *bytes = malloc(size);
  uint64_t done = 0;
  while (bytes && done < size) {
    const ssize_t got = pread(file, bytes + done, size - done, (off_t)done);
    if (got <= 0) break;
    done += (uint64_t)got;
  }
  if (bytes && done == size) return bytes;
  free(bytes);
  return NULL;
}

uint32_t sl_plugin_peek(const char *path, const unsigned char *bytes, size_t count) {
  char reason[256];
  struct stat about;
  struct image image = {.input = bytes, .input_count = count};
  uint32_t bits = ALL;
  const int status = sl_elf_check(path, reason, sizeof reason);
  if (status != SL_OK) return status == SL_EIO ? ALL : 0; /* loading reports that the file cannot be read */
  if (sizeof(void *) != sizeof(uint64_t)) return ALL;
  const int file = sl_open_regular(path, reason, sizeof reason);
  if (file < 0 || fstat(file, &about) < 0 || about.st_size <= 0) goto close_file;
  image.size = (uint64_t)about.st_size;
  image.bytes = read_whole(file, image.size);
  if (image.bytes) bits = peek(&image);
  free((void *)image.bytes);
close_file:
  if (file >= 0) close(file);
  return bits;
}
