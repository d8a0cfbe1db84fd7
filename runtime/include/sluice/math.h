#ifndef SLUICE_MATH_H
#define SLUICE_MATH_H
#include <math.h>
#include <stdint.h>
#endif
