/* channels.h: the map of channels of a description: the tile of each address of a bank. Link Sluice::geometry.
 *
 * Format 2 follows the sectors of the description. In format 3 the links of a station, of 48 channels each, ordered by
 * quarter, then region, are distributed over the halves of its Tell40s: half h of n gets the L links from h L / n on. A
 * link has tiles of one region of a quarter: first x strips or pads, then y strips, by their running numbers.
 */
#ifndef MUON_CHANNELS_H
#define MUON_CHANNELS_H

#include "muon/positions.h"

/* channel_first of format 2. */
void muon_channels_sizes(const struct muon_description *d, struct muon_geometry *g);
/* `tiles` of format 2. */
void muon_channels_fill(const struct muon_description *d, uint32_t *tiles);
/* The map of format 3. Returns 0 if a station has more links than its Tell40s take. The arrays must be zero. */
int muon_links_fill(const struct muon_description *d, const struct muon_geometry *g);

#endif
