/* processor.h: does the processor have the instructions that the library was compiled for? processor.c and what else
 * runs before it has answered is compiled for every processor of the architecture (runtime/CMakeLists.txt).
 */
#ifndef SL_PROCESSOR_H
#define SL_PROCESSOR_H

#include <sluice/sluice.h>

/* On a function that may be the first one that a program calls: it is compiled for every processor. Not where functions
 * of stdio.h are called, which _FORTIFY_SOURCE inlines: gcc refuses that. Such a function begins with SL_IN_C_LOCALE,
 * and tests/runtime/processor_test.py shows that nothing comes before it. */
#ifdef __x86_64__
#define SL_ANY_PROCESSOR __attribute__((target("arch=x86-64")))
#else
#define SL_ANY_PROCESSOR
#endif

/* SL_EINVAL with a message if the processor lacks instructions. A function with diagnostics that opens something begins
 * with it; SL_IN_C_LOCALE fails there, too. */
int sl_processor_check(struct sl_diagnostics *d);

/* Extensions of x86-64 that a build may need; processor_build.c has those that the compiler may use. */
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
  int none; /* a struct has a member on every architecture */
};
extern const struct sl_processor_extensions sl_processor_wanted;

#endif
