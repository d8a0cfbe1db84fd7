/* The file is named bad.cpu.so, but the plugin is not named bad. */
#define BAD_NAME "good"
#include "template.h"
