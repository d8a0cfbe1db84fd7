/* services.h: services for plugins, checks of properties, and arrays of constants and tables. See services.c. */
#ifndef SL_SERVICES_H
#define SL_SERVICES_H

#include "execute/setup.h"

/* Open the services of all nodes; the arrays per node and storage (the layout must exist). Close both. */
int sl_services_open(struct sl_setup *s);
int sl_setup_open_tables(struct sl_setup *s);
void sl_setup_close_tables(struct sl_setup *s);
/* Gives the node a context of an earlier configuration, so that its services keep their address. */
void sl_services_keep(struct sl_setup *s, uint32_t node, struct sl_node_context *context);
/* Opens what belongs to the source, for all configurations of a run: its argument struct; its worker threads. */
int sl_setup_open_source(struct sl_setup *s);
int sl_setup_open_workers(struct sl_setup *s);
int sl_properties_check(struct sl_setup *s);

/* Allocates a zeroed array in host memory, NULL if out of memory. sl_array_upload copies it to the devices:
 * SL_ENOMEM, or the error of the backend for device *failed. */
void *sl_array_open(struct sl_setup *s, struct sl_array *array, uint64_t count, uint64_t bytes);
int sl_array_upload(struct sl_setup *s, struct sl_array *array, const struct sl_device_state **failed);
void sl_array_close(const struct sl_setup *s, struct sl_array *array);

void sl_prepared_close(const struct sl_setup *s, uint32_t node);

#endif
