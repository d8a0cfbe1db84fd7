/* processor_build.c: the processor extensions that the compiler may use according to SLUICE_ARCH. Contains data only
 * and is compiled with the options of the library. */
#include "base/processor.h"

const struct sl_processor_extensions sl_processor_required = {
#ifdef __AVX2__
    .AVX2 = 1,
#endif
#ifdef __AVX__
    .AVX = 1,
#endif
#ifdef __FMA__
    .FMA = 1,
#endif
#ifdef __BMI__
    .BMI = 1,
#endif
#ifdef __BMI2__
    .BMI2 = 1,
#endif
#ifdef __SSE4_2__
    .SSE4_2 = 1,
#endif
#ifdef __POPCNT__
    .POPCNT = 1,
#endif
#if defined(__SSSE3__) && defined(__x86_64__)
    .SSSE3 = 1,
#endif
#ifdef __AVX512F__
    .AVX512F = 1,
#endif
#ifdef __AVX512BW__
    .AVX512BW = 1,
#endif
#ifdef __AVX512CD__
    .AVX512CD = 1,
#endif
#ifdef __AVX512DQ__
    .AVX512DQ = 1,
#endif
#ifdef __AVX512VL__
    .AVX512VL = 1,
#endif
    .none = 0,
};
