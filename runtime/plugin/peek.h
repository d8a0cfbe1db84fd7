/* peek.h: a look into a plugin's tables without loading it. */
#ifndef SL_PEEK_H
#define SL_PEEK_H

#include <stdint.h>

/* What a plugin may have: a source with the function `probe`, a collection with a trait, a source that takes a feed. */
enum { SL_PEEK_PROBE = 1, SL_PEEK_TRAIT = 2, SL_PEEK_FEED = 4, SL_PEEK_ALL = 7 };

/* Bits of the above: those that are not set it has not. None for what is no plugin of this version. Where a
 * plugin cannot be read this way all are set, so that it has to be loaded to know. */
uint32_t sl_plugin_peek(const char *path);

#endif
