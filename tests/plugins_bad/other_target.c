/* The file is named bad.cpu.so, but the plugin is for cuda. */
#define BAD_TARGET "cuda"
#include "template.h"
