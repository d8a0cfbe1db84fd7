/* processor.h: checks that the processor has the instructions that the library was compiled for. processor.c and all
 * code that runs before the check are compiled for every processor of the architecture (runtime/CMakeLists.txt).
 */
#ifndef SL_PROCESSOR_H
#define SL_PROCESSOR_H

#include <sluice/sluice.h>

/* Attribute of a function that may be the first one a program calls: compiles it for every processor. Not possible in
 * functions that call functions of stdio.h: _FORTIFY_SOURCE inlines those, and gcc refuses that. Such a function begins
 * with SL_IN_C_LOCALE; tests/runtime/processor_test.py checks that no other instruction comes first. */
#ifdef __x86_64__
#define SL_ANY_PROCESSOR __attribute__((target("arch=x86-64")))
#else
#define SL_ANY_PROCESSOR
#endif

/* Returns SL_EINVAL, with a message, if the processor lacks instructions. Functions with diagnostics that open
 * something call it first; SL_IN_C_LOCALE fails in this case, too. */
int sl_processor_check(struct sl_diagnostics *d);

/* Extensions of x86-64 that a build may need; processor_build.c lists the extensions that the compiler may use. */
#ifdef __x86_64__
#define SL_PROCESSOR_EXTENSIONS(X) \
  X(AVX2, "avx2")                  \
  X(AVX, "avx")                    \
  X(FMA, "fma")                    \
  X(BMI, "bmi")                    \
  X(BMI2, "bmi2")                  \
  X(SSE4_2, "sse4.2")              \
  X(POPCNT, "popcnt")              \
  X(SSSE3, "ssse3")                \
  X(AVX512F, "avx512f")            \
  X(AVX512BW, "avx512bw")          \
  X(AVX512CD, "avx512cd")          \
  X(AVX512DQ, "avx512dq")          \
  X(AVX512VL, "avx512vl")
#else
#define SL_PROCESSOR_EXTENSIONS(X)
#endif
struct sl_processor_extensions {
#define SL_EXTENSION_(name, text) int name;
  SL_PROCESSOR_EXTENSIONS(SL_EXTENSION_)
#undef SL_EXTENSION_
  int none; /* so that the struct has a member on every architecture */
};
extern const struct sl_processor_extensions sl_processor_required;

#endif
