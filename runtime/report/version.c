/* version.c: version, commit, build, targets and libraries. */
#include "base/locale.h"
#include "zmq/hub.h"

#include <sluice/sluice.h>

#include <gnu/libc-version.h>
#include <xxhash.h>
#include <yaml.h>

#if defined(__clang__)
#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)
#define COMPILER      "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZERS ", sanitizers"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZERS ", sanitizers"
#endif
#endif
#ifndef SANITIZERS
#define SANITIZERS ""
#endif

/* The shared library has a strong definition from cmake/Commit.cmake; tests, which link statically, have none. */
extern const char sl_commit_text[];
__attribute__((weak)) const char sl_commit_text[] = "unknown";

const char *sl_version(void) { return SLUICE_VERSION; }

const char *sl_commit(void) { return sl_commit_text; }

void sl_write_version(FILE *file) {
  SL_IN_C_LOCALE();
  char zmq[64];
  sl_zmq_describe(zmq, sizeof zmq);
  const unsigned hash = XXH_versionNumber(); /* major * 10000 + minor * 100 + release */
  fprintf(file,
          "sluice %s\n"
          "commit     %s\n"
          "build      %s, %s, %s%s\n"
          "plugins    interface %u\n"
          "targets    %s\n"
          "libraries  libyaml %s, xxHash %u.%u.%u, glibc %s, %s\n",
          SLUICE_VERSION, sl_commit(), SLUICE_BUILD_TYPE, COMPILER, SLUICE_PROCESSOR, SANITIZERS, SL_ABI_VERSION,
          sl_devices(), yaml_get_version_string(), hash / 10000, hash / 100 % 100, hash % 100, gnu_get_libc_version(),
          zmq);
}
