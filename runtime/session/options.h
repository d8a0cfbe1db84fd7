/* options.h: from the options to the devices and the graph of a session. See options.c. Functions fail with a message.
 */
#ifndef SL_SESSION_OPTIONS_H
#define SL_SESSION_OPTIONS_H

#include "execute/setup.h"
#include "results/files.h"

/* Checks options that depend on nothing else, and sets numbers that follow from them. */
int sl_options_check(struct sl_setup *s);
/* Finds the plugin files for the devices, which the graph opens as it needs them, and opens the devices. */
int sl_options_open_devices(struct sl_setup *s);
int sl_options_open_graph(struct sl_setup *s, struct sl_files *files);
/* Reports options without effect on this graph and device. */
int sl_options_check_effects(struct sl_setup *s);
int sl_options_choose_slice_events(struct sl_setup *s);

#endif
