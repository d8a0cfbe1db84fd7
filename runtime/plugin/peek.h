/* peek.h: reads the tables of a plugin without loading it. */
#ifndef SL_PEEK_H
#define SL_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* Features: a source with the function `probe`, a collection with a trait, a source that takes a feed. */
enum { SL_PEEK_PROBE = 1, SL_PEEK_TRAIT = 2, SL_PEEK_FEED = 4, SL_PEEK_ALL = 7 };

/* Returns the features that the plugin may have; 0 for a file that is not a plugin of this version; all bits if the
 * tables cannot be read this way and the plugin must be loaded. A source with a signature has SL_PEEK_PROBE only if the
 * `count` first bytes of an input begin with it; `bytes` NULL: any source. */
uint32_t sl_plugin_peek(const char *path, const unsigned char *bytes, size_t count);

#endif
