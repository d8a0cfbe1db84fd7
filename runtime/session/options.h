/* options.h: opens the devices and the graph that the options of a session name. See options.c. Functions that fail
 * report the reason.
 */
#ifndef SL_SESSION_OPTIONS_H
#define SL_SESSION_OPTIONS_H

#include "execute/setup.h"
#include "results/files.h"

/* Checks options that do not depend on the graph, and sets derived numbers. */
int sl_options_check(struct sl_setup *s);
/* Finds the plugin files for the devices (the graph opens them when it needs them) and opens the devices. */
int sl_options_open_devices(struct sl_setup *s);
/* Finds the first input and reads its first bytes. */
int sl_options_read_input(struct sl_setup *s, struct sl_input_head *begin);
/* `before`: the options with which the session was opened, for a new configuration of the run; else NULL. */
int sl_options_open_graph(struct sl_setup *s, const struct sl_input_head *begin, const struct sl_options *before);
/* Reports options without effect on this graph and device. */
int sl_options_check_effects(struct sl_setup *s);
int sl_options_choose_slice_events(struct sl_setup *s);

#endif
