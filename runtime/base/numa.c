/* numa.c: see numa.h. Uses system calls, so that no library is needed. */
#include "base/numa.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POLICY_PREFERRED = 1 }; /* MPOL_PREFERRED of Linux */

static int has_node(int node) {
  char path[64];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
  return access(path, F_OK) == 0;
}

/* Returns 1 if the node exists and is not the only one. */
static int is_choice(int node) {
  return node >= 0 && node < SL_NUMA_NODES_MAX && has_node(node) && has_node(node == 0);
}

int sl_numa_prefer(int node, struct sl_numa_policy *before) {
  if (!is_choice(node)) return 0;
  unsigned long nodes[SL_NUMA_NODES_MAX / SL_NUMA_BITS] = {0};
  nodes[(size_t)node / SL_NUMA_BITS] = 1ul << ((size_t)node % SL_NUMA_BITS);
  memset(before, 0, sizeof *before);
  return syscall(SYS_get_mempolicy, &before->mode, before->nodes, (unsigned long)SL_NUMA_NODES_MAX, NULL, 0ul) == 0 &&
         syscall(SYS_set_mempolicy, POLICY_PREFERRED, nodes, (unsigned long)SL_NUMA_NODES_MAX) == 0;
}

void sl_numa_restore(const struct sl_numa_policy *before) {
  (void)syscall(SYS_set_mempolicy, before->mode, before->nodes, (unsigned long)SL_NUMA_NODES_MAX);
}

int sl_numa_read_cores(const char *text, struct sl_numa_cores *cores) {
  memset(cores, 0, sizeof *cores);
  while (isdigit((unsigned char)*text)) {
    char *end = NULL;
    const unsigned long first = strtoul(text, &end, 10);
    const int is_range = *end == '-' && isdigit((unsigned char)end[1]);
    const unsigned long last = is_range ? strtoul(end + 1, &end, 10) : first;
    if (last >= SL_NUMA_CORES_MAX) return 0;
    for (unsigned long core = first; core <= last; core++)
      cores->bits[core / SL_NUMA_BITS] |= 1ul << (core % SL_NUMA_BITS);
    if (*end != ',') return *end == '\0' || *end == '\n';
    text = end + 1;
  }
  return 0;
}

static int read_cores_of(int node, struct sl_numa_cores *cores) {
  char path[64], text[4096] = "";
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
  FILE *file = fopen(path, "r");
  const int is_read = file && fgets(text, sizeof text, file) && sl_numa_read_cores(text, cores);
  if (file) fclose(file);
  return is_read;
}

int sl_numa_run_on(int node, struct sl_numa_cores *before) {
  struct sl_numa_cores cores;
  memset(before, 0, sizeof *before);
  if (!is_choice(node) || !read_cores_of(node, &cores)) return 0;
  if (syscall(SYS_sched_getaffinity, 0, sizeof *before, before) < 0) return 0;
  for (size_t i = 0; i < sizeof cores.bits / sizeof *cores.bits; i++) cores.bits[i] &= before->bits[i];
  return syscall(SYS_sched_setaffinity, 0, sizeof cores, &cores) == 0; /* fails if no core is left */
}

void sl_numa_restore_cores(const struct sl_numa_cores *before) {
  (void)syscall(SYS_sched_setaffinity, 0, sizeof *before, before);
}
