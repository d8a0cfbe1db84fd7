/* feed.h: events from memory (sluice.h), as a session sees them: what a program gives, until it was delivered. */
#ifndef SL_FEED_H
#define SL_FEED_H

#include <sluice/sluice.h>

/* The feed is this session's from now on, and stays until sl_feed_detach; SL_EINVAL if it was one's before. */
int sl_feed_attach(struct sl_feed *feed);
void sl_feed_detach(struct sl_feed *feed);
/* For the source. */
const struct sl_feed_calls *sl_feed_calls_of(const struct sl_feed *feed);
/* The next `events` events have gone through sinks and callbacks. */
void sl_feed_delivered(struct sl_feed *feed, uint64_t events);
/* Nobody will take anything any more: releases what is left, and wakes who waits. A second call does nothing. */
void sl_feed_over(struct sl_feed *feed);

#endif
