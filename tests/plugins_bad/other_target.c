/* The file is called bad.cpu.so, the plugin says it is for cuda. */
#define BAD_TARGET "cuda"
#include "template.h"
