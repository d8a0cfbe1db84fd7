/* lint_file.c: checks of the ELF dynamic section and symbol table of a plugin file, without running it:
 *
 *   - exported symbols other than sluice_plugin, and linked libraries of Sluice;
 *   - in a plugin with kernels, imported functions that kernels must not call: functions of the math library that are
 *     not exactly rounded, and functions that write output. Symbols do not distinguish kernels from host code, so the
 *     rule holds for the whole plugin.
 *
 * Not found: calls into statically linked libraries, and calls through dlsym.
 */
#include "plugin/elf.h"
#include "trial/trial.h"

#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lint {
  const char *shown; /* prefix of the message for the file variant in the other folder; else "" */
  char *reason;
  size_t reason_size;
};

static int refuse(const struct lint *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(const struct lint *l, const char *format, ...) {
  const int used = snprintf(l->reason, l->reason_size, "%s%s", l->shown, *l->shown ? ": " : "");
  va_list arguments;
  va_start(arguments, format);
  if (used >= 0 && (size_t)used < l->reason_size)
    vsnprintf(l->reason + used, l->reason_size - (size_t)used, format, arguments);
  va_end(arguments);
  return 1;
}

/* ------------------------------------------------------------------------------------------ functions by name */

/* Functions of libm that are not exactly rounded, and their replacement in kernels. Functions with a result fixed by
 * IEEE 754 (sqrt, fma, fmin, floor, rint, fmod, ldexp ...) are not listed. */
static const struct replacement {
  const char *functions; /* names without type suffix, separated by blanks */
  const char *instead;
} replacements[] = {
    {" exp exp2 exp10 pow10 expm1 exp2m1 exp10m1 cosh tanh ", "sl_expf"},
    {" log log2 log10 log1p log2p1 log10p1 logp1 ", "sl_logf"},
    {" sinh ", "sl_sinhf"},
    {" sin cos sincos tan sinpi cospi tanpi ", "sl_sincosf"},
    {" atan atan2 asin acos atanpi atan2pi asinpi acospi ", "sl_atan2f"},
    {" pow powr pown powi rootn compoundn cbrt ", "sl_expf and sl_logf"},
    {" hypot rsqrt ", "sl_sqrtf"},
    {" asinh acosh atanh ", "sl_logf"},
    {" erf erfc gamma lgamma tgamma j0 j1 jn y0 y1 yn ", NULL},
    {" cabs carg cacos cacosh casin casinh catan catanh ccos ccosh cexp clog clog10 cpow csin csinh csqrt ctan ctanh ",
     NULL},
};

static const char outputs[] =
    " printf vprintf fprintf vfprintf dprintf vdprintf puts fputs putchar putc fputc putw fwrite wprintf vwprintf "
    "fwprintf vfwprintf putwchar putwc fputwc fputws write writev pwrite pwrite64 pwritev pwritev64 perror psignal "
    "psiginfo syslog vsyslog err errx verr verrx warn warnx vwarn vwarnx error error_at_line stdout stderr _IO_putc "
    "_IO_puts _ZSt4cout _ZSt4cerr _ZSt4clog ";

static int is_in(const char *list, const char *name, size_t length) {
  for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
    if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ') return 1;
  return 0;
}

/* Skips the prefix of vector variants such as "_ZGVdN8v_expf" and "__svml_expf8". Returns the start of the name. */
static const char *skip_vector_prefix(const char *name) {
  if (strncmp(name, "__svml_", 7) == 0) return name + 7;
  const char *end = strncmp(name, "_ZGV", 4) == 0 ? strchr(name + 4, '_') : NULL;
  return end ? end + 1 : name;
}

static size_t cut(const char *name, size_t length, const char *suffix) {
  const size_t suffix_length = strlen(suffix);
  const int ends = length > suffix_length && memcmp(name + length - suffix_length, suffix, suffix_length) == 0;
  return ends ? length - suffix_length : length;
}

/* Standard name of a function with several symbols: __expf_finite, lgammaf_r, __fprintf_chk, fputs_unlocked. */
static const char *standard_name(const char *symbol, size_t *length) {
  const char *name = skip_vector_prefix(symbol);
  static const char *const suffixes[] = {"_finite", "_chk", "_unlocked", "_r", "_ha", "_ep"};
  *length = strlen(name);
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) *length = cut(name, *length, suffixes[i]);
  if (name != symbol) /* how many values the vector has */
    while (*length > 1 && isdigit((unsigned char)name[*length - 1])) --*length;
  const int is_internal = strncmp(name, "__", 2) == 0 && *length > 2;
  *length -= is_internal ? 2 : 0;
  return is_internal ? name + 2 : name;
}

static const struct replacement *find_replacement(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof replacements / sizeof replacements[0]; i++)
    if (is_in(replacements[i].functions, name, length)) return &replacements[i];
  return NULL;
}

static const struct replacement *find_inexact(const char *name, size_t length) {
  static const char *const types[] = {"f", "l", "q", "f16", "f32", "f64", "f128", "f32x", "f64x"};
  const struct replacement *found = find_replacement(name, length);
  for (size_t i = 0; !found && i < sizeof types / sizeof types[0]; i++) {
    const size_t shorter = cut(name, length, types[i]);
    if (shorter < length) found = find_replacement(name, shorter);
  }
  return found;
}

/* A symbol of a plugin with kernels that is defined elsewhere. */
static int lint_import(const struct lint *l, const char *symbol) {
  size_t length;
  const char *name = standard_name(symbol, &length);
  if (is_in(outputs, name, length) || is_in(outputs, symbol, strlen(symbol)))
    return refuse(l,
                  "it uses %s: a plugin with kernels prints and writes nothing by itself; host code reports by "
                  "`message` of struct sl_services, and a sink writes by its `output`",
                  symbol);
  const struct replacement *inexact = find_inexact(name, length);
  if (!inexact) return 0;
  static const char host[] = "host code that needs it goes into a plugin without kernels";
  if (inexact->instead)
    return refuse(l,
                  "it calls %s, which has different results in different math libraries: use %s of "
                  "sluice/math.h; %s",
                  symbol, inexact->instead, host);
  return refuse(l,
                "it calls %s, which has different results in different math libraries; sluice/math.h has "
                "no such function; %s",
                symbol, host);
}

/* ------------------------------------------------------------------------------------------------ the file */

/* Reads `bytes` bytes of the file and appends a zero; NULL if they are not in the file. */
static char *read_at(FILE *file, uint64_t file_bytes, uint64_t offset, uint64_t bytes) {
  if (offset > file_bytes || bytes > file_bytes - offset) return NULL;
  char *memory = malloc((size_t)bytes + 1);
  if (memory && (fseek(file, (long)offset, SEEK_SET) || fread(memory, 1, (size_t)bytes, file) != bytes)) {
    free(memory);
    return NULL;
  }
  if (memory) memory[bytes] = '\0';
  return memory;
}

/* 1 for symbols that sanitizers add to instrumented shared objects. */
static int is_instrumentation(const char *name) {
  return strncmp(name, "__asan", 6) == 0 || strncmp(name, "__odr_asan", 10) == 0 || strncmp(name, "__ubsan", 7) == 0;
}

/* A section of entries and its string table. */
struct table {
  char *entries, *names;
  uint64_t bytes, name_bytes;
};

static const char *name_at(const struct table *t, uint64_t offset) {
  return offset < t->name_bytes ? t->names + offset : "";
}

static int lint_symbols(const struct lint *l, const struct table *t, int has_kernels) {
  for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= t->bytes; at += sizeof(ElfW(Sym))) {
    ElfW(Sym) symbol;
    memcpy(&symbol, t->entries + at, sizeof symbol);
    const char *name = name_at(t, symbol.st_name);
    if (!*name) continue;
    if (symbol.st_shndx == SHN_UNDEF) {
      if (has_kernels && lint_import(l, name)) return 1;
    } else if (strcmp(name, "sluice_plugin") != 0 && !is_instrumentation(name)) {
      return refuse(l, "it exports %s: hide all symbols but sluice_plugin (-fvisibility=hidden)", name);
    }
  }
  return 0;
}

static int lint_needed(const struct lint *l, const struct table *t) {
  for (uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= t->bytes; at += sizeof(ElfW(Dyn))) {
    ElfW(Dyn) entry;
    memcpy(&entry, t->entries + at, sizeof entry);
    const char *name = entry.d_tag == DT_NEEDED ? name_at(t, entry.d_un.d_val) : "";
    if (strncmp(name, "libsluice", 9) == 0)
      return refuse(l, "it links %s: a plugin links against nothing of Sluice", name);
  }
  return 0;
}

static int lint_section(const struct lint *l, FILE *file, uint64_t file_bytes, const ElfW(Shdr) * section,
                        const ElfW(Shdr) * names, int has_kernels) {
  struct table t = {.bytes = section->sh_size, .name_bytes = names->sh_size};
  t.entries = read_at(file, file_bytes, section->sh_offset, t.bytes);
  t.names = read_at(file, file_bytes, names->sh_offset, t.name_bytes);
  int wrong = 0;
  if (t.entries && t.names)
    wrong = section->sh_type == SHT_DYNSYM ? lint_symbols(l, &t, has_kernels) : lint_needed(l, &t);
  free(t.entries);
  free(t.names);
  return wrong;
}

/* The file is complete and made for this machine, see sl_elf_check. */
static int lint_file(const struct lint *l, const char *path, int has_kernels) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  ElfW(Ehdr) header;
  int wrong = 0;
  const uint64_t file_bytes = fseek(file, 0, SEEK_END) == 0 ? (uint64_t)ftell(file) : 0;
  rewind(file);
  if (fread(&header, sizeof header, 1, file) != 1 || header.e_shentsize != sizeof(ElfW(Shdr))) header.e_shnum = 0;
  ElfW(Shdr) *sections =
      (ElfW(Shdr) *)read_at(file, file_bytes, header.e_shoff, (uint64_t)header.e_shnum * sizeof *sections);
  for (unsigned i = 0; sections && i < header.e_shnum && !wrong; i++)
    if ((sections[i].sh_type == SHT_DYNSYM || sections[i].sh_type == SHT_DYNAMIC) &&
        sections[i].sh_link < header.e_shnum)
      wrong = lint_section(l, file, file_bytes, &sections[i], &sections[sections[i].sh_link], has_kernels);
  free(sections);
  fclose(file);
  return wrong;
}

/* A plugin may have a second variant for cpu, in this folder, for processors of that level. A processor uses one of
 * the two. */
#define LEVEL_FOLDER "x86-64-v4"

static void find_other(const char *path, char *other, size_t size) {
  char folder[PATH_MAX], up[PATH_MAX], file[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  snprintf(file, sizeof file, "%s", path);
  const char *in = dirname(folder), *name = basename(file);
  const char *last = strrchr(in, '/');
  if (strcmp(last ? last + 1 : in, LEVEL_FOLDER) == 0) {
    snprintf(up, sizeof up, "%s", in);
    snprintf(other, size, "%s/%s", dirname(up), name);
  } else {
    snprintf(other, size, "%s/" LEVEL_FOLDER "/%s", in, name);
  }
}

int trial_lint_files(const char *path, int has_kernels, char *reason, size_t reason_size) {
  char other[2 * PATH_MAX + 16], why[256];
  const struct lint named = {"", reason, reason_size}, beside = {other, reason, reason_size};
  if (lint_file(&named, path, has_kernels)) return 1;
  find_other(path, other, sizeof other);
  if (access(other, F_OK) != 0) return 0;
  if (sl_elf_check(other, why, sizeof why) < 0) return refuse(&beside, "%s", why);
  return lint_file(&beside, other, has_kernels);
}
