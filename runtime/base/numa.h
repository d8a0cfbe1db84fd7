/* numa.h: memory and threads near to a device, on machines with several memory nodes. All of it does nothing, and
 * returns 0, where the node is not known (negative), is the only one, or the system refuses: it is for speed alone. */
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

/* From here on the calling thread's memory comes from the node, if there is some left. 1: it does, and `before` is what
 * sl_numa_restore goes back to. */
int sl_numa_prefer(int node, struct sl_numa_policy *before);
void sl_numa_restore(const struct sl_numa_policy *before);

/* The calling thread runs on those of its cores that are the node's from here on. 1: it does, and `before` is what
 * sl_numa_run_again_on goes back to; 0 also where none of its cores is. */
int sl_numa_run_on(int node, struct sl_numa_cores *before);
void sl_numa_run_again_on(const struct sl_numa_cores *before);

/* "0-3,8": the cores of a list as Linux writes them; 0 if it is none. */
int sl_numa_read_cores(const char *text, struct sl_numa_cores *cores);

#endif
