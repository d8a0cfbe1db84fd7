/* The file is called bad.cpu.so, the plugin is not. */
#define BAD_NAME "good"
#include "template.h"
