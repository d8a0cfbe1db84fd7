/* numa.h: places memory and threads near a device on machines with several memory nodes. Affects speed only: all
 * functions do nothing and return 0 if the node is unknown (negative) or the only one, or if the system refuses. */
#ifndef SL_NUMA_H
#define SL_NUMA_H

enum { SL_NUMA_NODES_MAX = 1024, SL_NUMA_CORES_MAX = 1024, SL_NUMA_BITS = 8 * sizeof(unsigned long) };

struct sl_numa_policy {
  int mode;
  unsigned long nodes[SL_NUMA_NODES_MAX / SL_NUMA_BITS];
};

struct sl_numa_cores {
  unsigned long bits[SL_NUMA_CORES_MAX / SL_NUMA_BITS];
};

/* From now on, memory of the calling thread comes from the node, as long as the node has free memory. Returns 1 on
 * success; `before` is for sl_numa_restore. */
int sl_numa_prefer(int node, struct sl_numa_policy *before);
void sl_numa_restore(const struct sl_numa_policy *before);

/* From now on, the calling thread runs on those of its cores that belong to the node. Returns 1 on success; `before` is
 * for sl_numa_restore_cores. Returns 0 also if none of its cores belongs to the node. */
int sl_numa_run_on(int node, struct sl_numa_cores *before);
void sl_numa_restore_cores(const struct sl_numa_cores *before);

/* Parses a core list in Linux format, "0-3,8". Returns 0 if it is invalid. */
int sl_numa_read_cores(const char *text, struct sl_numa_cores *cores);

#endif
