/* race.h: checks each memory access of instrumented kernels (sluice/simt_race.h): races, reads of unwritten memory,
 * accesses to memory that does not belong to the node.
 *
 *   race.c           one access: the memory's owner and the earlier accesses
 *   race_memory.c    shadows of memory, and the memory that the current node may use
 *   race_findings.c  findings: each pair of code locations once, with a count
 *   race_lines.c     file and line of a location, names of static variables, from the debugging information
 *
 * Two accesses are ordered if they are made by the same thread; if a barrier of the block or, for threads of one warp,
 * sl_warp_sync() is between them; or if they belong to different launches. Only one thread runs at a time, and a
 * barrier releases threads only after all have arrived. Therefore a counter of barriers is a sufficient clock: accesses
 * before the count of the block's last barrier are ordered before the present access. Blocks of a launch are never
 * ordered.
 *
 * A word (4 bytes) of memory has a cell with the last plain write, two plain reads and two atomics that are not ordered
 * with each other, of different warps if possible. Two are enough: a later access can be ordered after both only by a
 * barrier or, if all unordered accesses belong to one warp, by sl_warp_sync() of that warp; this also orders it after
 * the omitted accesses. If a word is not always accessed as a whole, each of its bytes has a cell.
 */
#ifndef SL_SIMT_RACE_ENGINE_H
#define SL_SIMT_RACE_ENGINE_H

#include "base/races.h"
#include "simt/machine.h"

#include <sluice/simt_race.h>

#include <pthread.h>

/* An access: thread, block, location number (race_places) and time. */
struct race_record {
  uint32_t time; /* 0: no access */
  uint32_t from; /* thread, block, location */
};
enum { RACE_THREAD_BITS = 10, RACE_BLOCK_BITS = 3, RACE_PLACE_BITS = 19 };
static inline uint32_t race_thread_of(struct race_record r) { return r.from & ((1u << RACE_THREAD_BITS) - 1); }
static inline uint32_t race_block_of(struct race_record r) {
  return r.from >> RACE_THREAD_BITS & ((1u << RACE_BLOCK_BITS) - 1);
}
static inline uint32_t race_place_of(struct race_record r) { return r.from >> (RACE_THREAD_BITS + RACE_BLOCK_BITS); }

enum { RACE_RECENT = 2 };
struct race_history {
  struct race_record write, reads[RACE_RECENT], atomics[RACE_RECENT];
};

enum { RACE_WORD = 4 };
struct race_cell {
  uint32_t generation; /* if older than the device's generation, the cell is empty */
  uint32_t bytes;      /* 0, or 1 + index of the first of RACE_WORD byte histories */
  struct race_history word;
};

/* An allocation that kernels may write, or shared memory. `written` has one bit per byte. */
struct race_shadow {
  char *memory;
  uint64_t bytes;
  struct race_cell *cells;
  unsigned char *written;
  int is_static; /* 1: shared memory, which is not unmapped with the shadow */
  struct race_shadow *next;
};

/* Memory with a name; `rights` are those of the current node. */
struct race_range {
  uintptr_t begin, end;
  uint32_t rights, tag;
  struct race_shadow *shadow; /* NULL: read-only memory that counts as written */
};

/* A code location, and the range that it accessed last. */
struct race_location {
  const void *code;
  const struct race_range *range;
  uint64_t node; /* node for which `range` is valid */
};

enum { RACE_LINE_BYTES = 256 };
enum { RACE_NO_BARRIER, RACE_UNWRITTEN, RACE_OUTSIDE, RACE_INPUT, RACE_SCANNED };
struct race_finding {
  uint32_t kind, location, other; /* numbers of locations; `other` is 0 if there is none */
  uint32_t same_as; /* 0, or 1 + index of the finding with the same lines at other instructions, which counts
                     * both */
  uint64_t count;
  char lines[2][RACE_LINE_BYTES];
  char node[64];
  char text[SL_RACE_TEXT_BYTES];
};

enum { RACE_LOCATIONS = 1 << 16, RACE_FINDINGS = 256, RACE_BYTES_MAX = 1 << 26 };

/* State of a device, shared by its streams; only one of them runs a kernel at a time. */
struct race_device {
  struct sl_device device; /* first */
  pthread_mutex_t lock;    /* for the list of shadows */
  struct race_shadow *shadows;
  struct race_location *locations; /* hash table; index 0 is unused */
  uint32_t location_count;
  struct race_finding *findings;
  uint32_t finding_count;
  uint64_t omitted; /* findings that exceeded the capacity */
  struct race_history *bytes;
  uint32_t bytes_taken, generation;
  struct race_lines *lines;
};

/* A forbidden access. */
struct race_event {
  uint32_t kind, access, location, thread, block; /* SL_RACE_... of the access */
  const void *memory;
  uint64_t bytes;
  struct race_record other; /* RACE_NO_BARRIER: the earlier access, and its kind (SL_RACE_...) */
  uint32_t other_access;
};

/* A plain write to bytes that an unordered access wrote before: a race, unless it leaves the bytes unchanged. This is
 * decided at the thread's next access. */
struct race_pending {
  unsigned char before[16];
  struct race_event event; /* 0 bytes: none pending */
};

/* Memory of a plugin's file that is never written: read-only segments, and segments made read-only after loading. */
enum { RACE_SEGMENTS = 8 };
struct race_image {
  const void *of; /* shared memory of the plugin */
  uint32_t count;
  uintptr_t begin[RACE_SEGMENTS], end[RACE_SEGMENTS];
};

/* State of a stream. */
struct race {
  struct sl_race_api api; /* first */
  struct simt_machine *machine;
  struct race_device *device;
  const struct sl_race_node *node;
  uint64_t node_number;
  struct race_range *ranges; /* sorted by address */
  uint32_t range_count, range_capacity;
  struct race_shadow *shared;  /* of the running plugin, and the location of its constants */
  struct race_shadow *dynamic; /* of sl_shared_memory(); NULL: the launch has none */
  struct race_image image;
  struct race_pending pending;
};

/* race.c */
void race_access(const struct sl_race_api *api, const void *code, const void *memory, uint64_t bytes, uint32_t kind);
void race_copy(const struct sl_race_api *api, const void *code, void *to, const void *from, uint64_t bytes);
void race_settle(struct race *r); /* decides the pending write */
int race_is_written(const struct race_shadow *s, uint64_t first, uint64_t bytes);
extern const struct simt_watch race_watch;

/* race_memory.c */
void *race_allocate(struct race_device *d, uint64_t bytes); /* with a shadow; zeroed; NULL if out of memory */
void race_release(struct race_device *d, void *memory, uint64_t bytes);
struct race_shadow *race_shadow_of(struct race_device *d, const void *memory);
struct race_shadow *race_shadow_shared(struct race *r, char *begin, char *end); /* of a plugin; created on first use */
struct race_shadow *race_shadow_open(struct race_device *d, char *memory, uint64_t bytes); /* for race_release */
/* Returns the shadow of the running block's shared memory that contains the bytes; NULL if they are elsewhere. */
struct race_shadow *race_shadow_in_block(const struct race *r, const void *memory, uint64_t bytes);
void race_mark_unused(struct race_shadow *shadow); /* marks the memory as unwritten and not accessed */
/* Returns the shadow of the node's memory, or of the plugin's shared memory, that contains the address; NULL if
 * none. */
struct race_shadow *race_shadow_at(struct race *r, const void *memory);
/* Returns 1 for a read of a constant of the plugin. */
int race_is_constant(const struct race *r, const void *memory, uint32_t kind);
int race_begin(struct race *r, const struct sl_race_node *node);
void race_mark(struct race_shadow *shadow, uint64_t first, uint64_t bytes, int is_written);
/* Returns the range that contains the address, whatever the node's rights; otherwise the nearest one below it, or
 * NULL. */
const struct race_range *race_range_at(const struct race *r, uintptr_t address);

/* race_findings.c */
void race_found(struct race *r, const struct race_event *e);
void race_scan_found(struct race *r, const void *count); /* a scan reads an unwritten count */

/* race_lines.c */
struct race_lines *race_lines_open(void); /* NULL if out of memory */
void race_lines_close(struct race_lines *lines);
/* Writes the location of the instruction before `code`: "count.cu:12". */
void race_line(struct race_lines *lines, const void *code, char *text, size_t size);
/* Finds the static variable at the address; *begin is the offset of the address in it. Returns 0 if unknown. */
int race_variable(struct race_lines *lines, const void *address, char *name, size_t size, uint64_t *begin,
                  uint64_t *bytes);

#endif
