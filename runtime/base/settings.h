/* settings.h: settings that differ between the whole texts of two graphs (sl_session_write_graph). */
#ifndef SL_SETTINGS_H
#define SL_SETTINGS_H

#include <stdint.h>

/* A setting with different values. */
struct sl_difference {
  char *setting;      /* "Hlt1TrackMVA.alpha" of a property, "decide.events" of anything else */
  char *before, *now; /* as in the texts; NULL: it is missing there */
};
struct sl_differences {
  struct sl_difference *at;
  uint32_t count;
};

/* Compares two texts, which may be anything, in the order of the settings. A node that one text lacks is one
 * difference, "NODE.use". SL_ENOMEM on failure. */
int sl_settings_compare(const char *before, const char *now, struct sl_differences *differences);
void sl_differences_close(struct sl_differences *d);

#endif
