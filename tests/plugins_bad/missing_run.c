/* A kernel without a function to run. */
#define BAD_RUN NULL
#include "template.h"
