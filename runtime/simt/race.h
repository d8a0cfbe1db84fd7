/* race.h: looks at each access to memory of a kernel that was compiled for it (sluice/simt_race.h): races, memory that
 * nobody wrote, memory that is not the node's.
 *
 *   race.c           one access: whose memory it is, and what was done there before
 *   race_memory.c    shadows of memory, and which of it the node at hand may use
 *   race_findings.c  what was found: each pair of places once, with a count
 *   race_lines.c     file and line of a place, names of static variables, from the debugging information
 *
 * Two accesses are ordered if the same thread makes them, if a barrier of the block or, for threads of one warp,
 * sl_warp_sync() lies between them, or if they belong to two launches. One thread runs at a time and a barrier lets
 * nobody through before all are there. So a counter of barriers is enough of a clock: what was done before the count
 * of the block's last barrier is ordered before what is done now. Blocks of a launch are never ordered.
 *
 * A word (4 bytes) of memory has a cell: the last plain write, two plain reads and two atomics that are not ordered to
 * each other. Two are enough: whoever is ordered after both is ordered after all that were left out, since of two
 * in different warps, or by different threads of the same, no third can be ordered after one alone by what that one's
 * warp does. Of a word that is not used as a whole each byte has a cell.
 */
#ifndef SL_SIMT_RACE_ENGINE_H
#define SL_SIMT_RACE_ENGINE_H

#include "base/races.h"
#include "simt/machine.h"

#include <sluice/simt_race.h>

#include <pthread.h>

/* Who, where and when: of the place only the number (race_places). */
struct race_record {
  uint32_t time; /* 0: nobody */
  uint32_t who;  /* thread, block, place */
};
enum { RACE_THREAD_BITS = 10, RACE_BLOCK_BITS = 3, RACE_PLACE_BITS = 19 };
static inline uint32_t race_thread_of(struct race_record r) { return r.who & ((1u << RACE_THREAD_BITS) - 1); }
static inline uint32_t race_block_of(struct race_record r) {
  return r.who >> RACE_THREAD_BITS & ((1u << RACE_BLOCK_BITS) - 1);
}
static inline uint32_t race_place_of(struct race_record r) { return r.who >> (RACE_THREAD_BITS + RACE_BLOCK_BITS); }

enum { RACE_KEPT = 2 };
struct race_history {
  struct race_record write, reads[RACE_KEPT], atomics[RACE_KEPT];
};

enum { RACE_WORD = 4 };
struct race_cell {
  uint32_t generation; /* older than the memory's: the rest says nothing */
  uint32_t bytes;      /* 0, or 1 + the first of RACE_WORD histories of single bytes */
  struct race_history word;
};

/* An allocation that kernels may write, or a plugin's shared memory; `written` has a bit a byte. */
struct race_shadow {
  char *memory;
  uint64_t bytes;
  struct race_cell *cells;
  unsigned char *written;
  int is_static; /* a plugin's shared memory: not mapped by us */
  struct race_shadow *next;
};

/* Memory that is known by a name; `rights` are those of the node at hand. */
struct race_range {
  uintptr_t begin, end;
  uint32_t rights, tag;
  struct race_shadow *shadow; /* NULL: read only, and written */
};

/* A place in the code, and the range that it used last. */
struct race_place {
  const void *code;
  const struct race_range *range;
  uint64_t node; /* in which `range` holds */
};

enum { RACE_LINE_BYTES = 256 };
enum { RACE_NO_BARRIER, RACE_UNWRITTEN, RACE_OUTSIDE, RACE_INPUT, RACE_SCANNED };
struct race_finding {
  uint32_t kind, place, other; /* numbers of places, `other` 0 if there is none */
  uint32_t same_as;            /* 1 + the finding of the same lines, at other instructions, which counts for it; or 0 */
  uint64_t count;
  char lines[2][RACE_LINE_BYTES];
  char node[64];
  char text[SL_RACE_TEXT_BYTES];
};

enum { RACE_PLACES = 1 << 16, RACE_FINDINGS = 256, RACE_BYTES_MAX = 1 << 26 };

/* Of a device: all its streams together, of which one runs a kernel at a time. */
struct race_device {
  struct sl_device device; /* first */
  pthread_mutex_t lock;    /* of the list of shadows */
  struct race_shadow *shadows;
  struct race_place *places; /* a hash table; 0 is none */
  uint32_t place_count;
  struct race_finding *findings;
  uint32_t finding_count;
  uint64_t left_out; /* findings for which there was no room */
  struct race_history *bytes;
  uint32_t bytes_taken, generation;
  struct race_lines *lines;
};

/* What a thread did that it must not. */
struct race_event {
  uint32_t kind, access, place, thread, block; /* SL_RACE_... of the access */
  const void *memory;
  uint64_t bytes;
  struct race_record other; /* RACE_NO_BARRIER: what was done before, and how (SL_RACE_...) */
  uint32_t other_access;
};

/* A plain write to where an unordered one wrote before: a race, unless it leaves the bytes as they are. It is known
 * when the thread makes its next access. */
struct race_pending {
  unsigned char before[16];
  struct race_event event; /* of 0 bytes: none */
};

/* Memory of a plugin's file that nobody writes: as it is loaded, and what is closed after that. */
enum { RACE_SEGMENTS = 8 };
struct race_image {
  const void *of; /* its shared memory */
  uint32_t count;
  uintptr_t begin[RACE_SEGMENTS], end[RACE_SEGMENTS];
};

/* Of a stream. */
struct race {
  struct sl_race_api api; /* first */
  struct simt_machine *machine;
  struct race_device *device;
  const struct sl_race_node *node;
  uint64_t node_number;
  struct race_range *ranges; /* by address */
  uint32_t range_count, range_capacity;
  struct race_shadow *shared; /* of the plugin that runs, and where its constants are */
  struct race_image image;
  struct race_pending pending;
};

/* race.c */
void race_access(const struct sl_race_api *api, const void *code, const void *memory, uint64_t bytes, uint32_t kind);
void race_copy(const struct sl_race_api *api, const void *code, void *to, const void *from, uint64_t bytes);
void race_settle(struct race *r); /* decides on the write that waits */
int race_is_written(const struct race_shadow *s, uint64_t first, uint64_t bytes);
extern const struct simt_watch race_watch;

/* race_memory.c */
void *race_allocate(struct race_device *d, uint64_t bytes); /* with a shadow; zeroed. NULL: out of memory */
void race_release(struct race_device *d, void *memory, uint64_t bytes);
struct race_shadow *race_shadow_of(struct race_device *d, const void *memory);
struct race_shadow *race_shadow_shared(struct race *r, char *begin, char *end); /* of a plugin, made at the first use */
void race_forget(struct race_shadow *shadow); /* nobody has written it, and nobody has been there */
/* The shadow of the node's memory, or of the plugin's shared memory, that holds the address; NULL: none. */
struct race_shadow *race_shadow_at(struct race *r, const void *memory);
/* Does it read what the plugin has as a constant? */
int race_is_constant(const struct race *r, const void *memory, uint32_t kind);
int race_begin(struct race *r, const struct sl_race_node *node);
void race_mark(struct race_shadow *shadow, uint64_t first, uint64_t bytes, int is_written);
/* The range that holds the address, whatever the node's rights; else the nearest one below it, or NULL. */
const struct race_range *race_range_at(const struct race *r, uintptr_t address);

/* race_findings.c */
void race_found(struct race *r, const struct race_event *e);
void race_scan_found(struct race *r, const void *count); /* a scan reads a count that nobody wrote */

/* race_lines.c */
struct race_lines *race_lines_open(void); /* NULL: out of memory */
void race_lines_close(struct race_lines *lines);
/* "hits.cu:12" of the instruction before `code`. */
void race_line(struct race_lines *lines, const void *code, char *text, size_t size);
/* The static variable at the address, and where it begins; 0 if none is known. */
int race_variable(struct race_lines *lines, const void *address, char *name, size_t size, uint64_t *begin,
                  uint64_t *bytes);

#endif
