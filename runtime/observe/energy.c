/* energy.c: the energy that devices and processors use during a run, from their own counters: of whole devices and
 * whole processor packages, including other programs.
 *
 * Devices count through their backend (NVML on NVIDIA GPUs). Processor packages count in RAPL, which Linux shows below
 * /sys/class/powercap; since 2020 only root can read it, unless an administrator changes that. Those counters wrap
 * after some minutes, so they are read once a second. A counter that cannot be read has no value; the summary has the
 * reason.
 */
#include "observe/energy.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define POWERCAP "/sys/class/powercap"

/* Returns 0 with errno if the file cannot be read. */
static int read_count(const char *folder, const char *file, uint64_t *value) {
  char path[192];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE *f = fopen(path, "re");
  if (!f) return 0;
  errno = EIO;
  const int found = fscanf(f, "%" SCNu64, value) == 1;
  fclose(f);
  return found;
}

/* "intel-rapl:0" is a package, on AMD too; "intel-rapl:0:1" is a part of one. */
static int is_package(const char *name) {
  const char *number = name + strlen("intel-rapl:");
  if (strncmp(name, "intel-rapl:", strlen("intel-rapl:")) != 0 || !*number) return 0;
  return number[strspn(number, "0123456789")] == '\0';
}

static void open_packages(struct sl_energy *e, const char *root) {
  char folder[64];
  snprintf(folder, sizeof folder, "%s%s", root, POWERCAP);
  snprintf(e->summary.host_missing, sizeof e->summary.host_missing, "there is no RAPL counter below %s", POWERCAP);
  DIR *all = opendir(folder);
  for (const struct dirent *at = all ? readdir(all) : NULL; at; at = readdir(all)) {
    struct sl_package *p = &e->packages[e->package_count];
    if (!is_package(at->d_name) || e->package_count == SL_PACKAGES_MAX) continue;
    snprintf(p->path, sizeof p->path, "%s/%.24s", folder, at->d_name);
    if (read_count(p->path, "energy_uj", &p->last_uj) && read_count(p->path, "max_energy_range_uj", &p->range_uj)) {
      e->package_count++;
      continue;
    }
    snprintf(e->summary.host_missing, sizeof e->summary.host_missing, "%s/energy_uj: %s", p->path, strerror(errno));
    e->package_count = 0; /* a part of the processors is no measurement */
    break;
  }
  if (all) closedir(all);
}

/* With the lock held. A counter that cannot be read any more ends the measurement of the processors. */
static void read_packages(struct sl_energy *e) {
  for (uint32_t i = 0; i < e->package_count; i++) {
    struct sl_package *p = &e->packages[i];
    uint64_t now;
    if (!read_count(p->path, "energy_uj", &now)) {
      snprintf(e->summary.host_missing, sizeof e->summary.host_missing, "%s/energy_uj: %s", p->path, strerror(errno));
      e->package_count = 0;
      return;
    }
    p->used_uj += now >= p->last_uj ? now - p->last_uj : now + p->range_uj - p->last_uj;
    p->last_uj = now;
  }
}

/* Sets the counter of each device. Returns 0, with the reason, if one cannot be read. */
static int read_devices(struct sl_energy *e, double joules[SL_DEVICES_MAX]) {
  const struct sl_backend *backend = e->setup->backend;
  if (!backend->energy) {
    snprintf(e->summary.device_missing, sizeof e->summary.device_missing, "%s",
             backend->is_device ? "the device has no energy counter" : "");
    return 0;
  }
  for (uint32_t d = 0; d < e->setup->device_count; d++)
    if (backend->energy(e->setup->devices[d].device, &joules[d], e->summary.device_missing,
                        sizeof e->summary.device_missing) < 0)
      return 0;
  return 1;
}

void sl_energy_open(struct sl_energy *e, const struct sl_setup *setup, const char *root) {
  double joules[SL_DEVICES_MAX];
  e->setup = setup;
  e->is_on = setup->options.energy || setup->options.profile;
  if (!e->is_on) return;
  e->summary = (struct sl_energy_summary){.device_joules = -1, .host_joules = -1};
  open_packages(e, root);
  (void)read_devices(e, joules); /* loads the vendor's library before the run */
}

void sl_energy_begin(struct sl_energy *e) {
  if (!e->is_on) return;
  pthread_mutex_lock(&e->lock);
  read_packages(e);
  for (uint32_t i = 0; i < e->package_count; i++) e->packages[i].used_uj = 0;
  (void)read_devices(e, e->device_begin_j);
  e->begin_ns = sl_now_ns();
  pthread_mutex_unlock(&e->lock);
}

void sl_energy_so_far(struct sl_energy *e, double *device_joules, double *host_joules) {
  double joules[SL_DEVICES_MAX];
  *device_joules = *host_joules = -1;
  if (!e->is_on) return;
  pthread_mutex_lock(&e->lock);
  read_packages(e);
  if (e->package_count > 0) *host_joules = 0;
  for (uint32_t i = 0; i < e->package_count; i++) *host_joules += 1e-6 * (double)e->packages[i].used_uj;
  if (read_devices(e, joules)) {
    *device_joules = 0;
    for (uint32_t d = 0; d < e->setup->device_count; d++) *device_joules += joules[d] - e->device_begin_j[d];
  }
  pthread_mutex_unlock(&e->lock);
}

void sl_energy_end(struct sl_energy *e, uint64_t events) {
  struct sl_energy_summary *sum = &e->summary;
  if (!e->is_on) return;
  sl_energy_so_far(e, &sum->device_joules, &sum->host_joules);
  sum->seconds = (double)(sl_now_ns() - e->begin_ns) * 1e-9;
  sum->events = events;
  if (sum->host_joules >= 0) sum->host_missing[0] = '\0';
}

static int tick(void *context, uint64_t now_ns) {
  struct sl_energy *e = context;
  (void)now_ns;
  pthread_mutex_lock(&e->lock);
  read_packages(e);
  pthread_mutex_unlock(&e->lock);
  return SL_OK;
}

const struct sl_observer_calls sl_energy_observer = {.tick = tick};
