/* make_corpus_elf.c: writes the seeds of fuzz_elf into a folder: shared objects of 2 kB that hold a plugin's tables,
 * and nothing else.
 *   cc make_corpus_elf.c -I../../runtime/include -o make_corpus && ./make_corpus corpus_elf
 */
#include <sluice/plugin.h>

#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NULL_SECTION, SYMBOLS, NAMES, RELOCATIONS, SECTION_COUNT, RELOCATIONS_MAX = 8 };

/* The file, and its memory once loaded: addresses are offsets. */
struct object {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  Elf64_Shdr sections[SECTION_COUNT];
  Elf64_Sym symbols[2];
  char names[16];
  Elf64_Rela relocations[RELOCATIONS_MAX];
  struct sl_plugin plugin;
  const void *algorithms[1];
  struct sl_algorithm algorithm;
  struct sl_source source;
  struct sl_collection collection;
  struct sl_member member;
};

enum style { WITH_RELOCATIONS = 1, WITH_PROBE = 2, WITH_TRAIT = 4, BY_SYMBOL = 8 };

/* Sets the pointer at `place` to `target`. */
static void point(struct object *o, unsigned style, size_t place, size_t target) {
  Elf64_Shdr *section = &o->sections[RELOCATIONS];
  const uint64_t address = target;
  if (!(style & WITH_RELOCATIONS)) {
    memcpy((char *)o + place, &address, sizeof address);
    return;
  }
  Elf64_Rela *r = &o->relocations[section->sh_size / sizeof *r];
  *r = (Elf64_Rela){.r_offset = place, .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE), .r_addend = (Elf64_Sxword)target};
  if (style & BY_SYMBOL) {
    r->r_info = ELF64_R_INFO(1, R_X86_64_64);
    r->r_addend -= (Elf64_Sxword)o->symbols[1].st_value;
  }
  section->sh_size += sizeof *r;
}

static void fill(struct object *o, unsigned style) {
  memset(o, 0, sizeof *o);
  memcpy(o->header.e_ident, ELFMAG, SELFMAG);
  o->header.e_ident[EI_CLASS] = ELFCLASS64;
  o->header.e_ident[EI_DATA] = ELFDATA2LSB;
  o->header.e_type = ET_DYN;
  o->header.e_phoff = offsetof(struct object, segment);
  o->header.e_phentsize = sizeof o->segment;
  o->header.e_phnum = 1;
  o->header.e_shoff = offsetof(struct object, sections);
  o->header.e_shentsize = sizeof o->sections[0];
  o->header.e_shnum = SECTION_COUNT;
  o->segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof *o, .p_memsz = sizeof *o};
  o->sections[SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
                                      .sh_offset = offsetof(struct object, symbols),
                                      .sh_size = sizeof o->symbols,
                                      .sh_link = NAMES,
                                      .sh_entsize = sizeof o->symbols[0]};
  o->sections[NAMES] =
      (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct object, names), .sh_size = sizeof o->names};
  o->sections[RELOCATIONS] = (Elf64_Shdr){.sh_type = SHT_RELA,
                                          .sh_offset = offsetof(struct object, relocations),
                                          .sh_link = SYMBOLS,
                                          .sh_entsize = sizeof o->relocations[0]};
  o->symbols[1] = (Elf64_Sym){.st_name = 1, .st_shndx = 1, .st_value = offsetof(struct object, plugin)};
  strcpy(o->names + 1, "sluice_plugin");
  o->plugin = (struct sl_plugin){
      .magic = SL_PLUGIN_MAGIC, .size = sizeof o->plugin, .abi_version = SL_ABI_VERSION, .algorithm_count = 1};
  o->algorithm.kind = SL_KIND_SOURCE;
  o->algorithm.member_count = 1;
  point(o, style, offsetof(struct object, plugin.algorithms), offsetof(struct object, algorithms));
  point(o, style, offsetof(struct object, algorithms), offsetof(struct object, algorithm));
  point(o, style, offsetof(struct object, algorithm.members), offsetof(struct object, member));
  point(o, style, offsetof(struct object, algorithm.source), offsetof(struct object, source));
  point(o, style, offsetof(struct object, member.collection), offsetof(struct object, collection));
  if (style & WITH_PROBE) point(o, style, offsetof(struct object, source.probe), 1);
  if (style & WITH_TRAIT) point(o, style, offsetof(struct object, collection.trait), 1);
}

static void save(const char *folder, const char *name, const struct object *o, size_t bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.so", folder, name);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(o, 1, bytes, f) != bytes || fclose(f)) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  static const struct {
    const char *name;
    unsigned style;
  } styles[] = {{"nothing", WITH_RELOCATIONS},
                {"probe", WITH_RELOCATIONS | WITH_PROBE},
                {"trait", WITH_RELOCATIONS | WITH_TRAIT},
                {"by_symbol", WITH_RELOCATIONS | BY_SYMBOL | WITH_TRAIT},
                {"in_place", WITH_PROBE | WITH_TRAIT}};
  static struct object o;
  for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
    fill(&o, styles[i].style);
    save(arguments[1], styles[i].name, &o, sizeof o);
  }
  save(arguments[1], "truncated", &o, sizeof o / 2);
  return 0;
}
