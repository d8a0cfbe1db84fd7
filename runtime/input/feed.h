/* feed.h: events from memory (sluice.h), from the side of the session. */
#ifndef SL_FEED_H
#define SL_FEED_H

#include <sluice/sluice.h>

/* Attaches the feed to a session until sl_feed_detach. SL_EINVAL if it was attached before. */
int sl_feed_attach(struct sl_feed *feed);
void sl_feed_detach(struct sl_feed *feed);
/* Calls for the source. */
const struct sl_feed_calls *sl_feed_calls_of(const struct sl_feed *feed);
int sl_feed_is_arrays(const struct sl_feed *feed);
/* Records that the next `events` events were delivered to sinks and callbacks. */
void sl_feed_delivered(struct sl_feed *feed, uint64_t events);
/* Ends the feed: releases all remaining entries and wakes blocked threads. A second call does nothing. */
void sl_feed_over(struct sl_feed *feed);

#endif
