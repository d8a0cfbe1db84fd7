/* feed.c: rates of a graph with events from the memory of the program, compared with other inputs of the same events.
 *
 *   bench_feed [-d DEVICE] [-S SLICE_EVENTS] [-k SLOTS] [-t SOURCE_THREADS] [-r ROUNDS] [-w SECONDS] [-s SET]...
 *              GRAPH EVENTS.mdf [PACKETS.mep]
 *
 *   repeat   slices kept in memory, run repeatedly (--repeat): the graph alone, on a GPU with its uploads
 *   events   each event given by one thread as pointers to its banks (sl_feed_give_event), packed into slices, run
 *   packets  packets of the event builder, given by one thread (sl_feed_give_packet)
 *   file     the MDF file, which is in the page cache, without checksums
 *
 * Files are not compressed, and packets have nothing around them (io.mep_sink writes both). Each way runs for about
 * SECONDS, ROUNDS times in turn; the median is printed, with the least and the most; the median rate of the source
 * alone, which packs slices and waits for events; and the least time of all processors that an event took. One pass of
 * each is compared by its digest first.
 */
#define _GNU_SOURCE
#include <sluice/sluice.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RECORD_HEADER_BYTES = 48, BANK_HEADER_BYTES = 8, ROUNDS_MAX = 99, SETS_MAX = 16 };
enum { REPEAT, EVENTS, PACKETS, FROM_FILE, WAYS };
static const char *const way_names[WAYS] = {"repeat", "events", "packets", "file"};

static void fail(const char *text, const char *what) {
  fprintf(stderr, "bench_feed: %s%s\n", text, what);
  exit(EXIT_FAILURE);
}

static void *grow(void *array, size_t count, size_t bytes) {
  if (count & (count - 1)) return array; /* at powers of two */
  void *larger = realloc(array, 2 * (count + 1) * bytes);
  if (!larger) fail("out of memory", "");
  return larger;
}

/* --------------------------------------------------------------------------------------------------- memory */

struct memory {
  uint8_t *bytes;
  size_t size;
};

static struct memory load(const char *path) {
  struct memory m = {NULL, 0};
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) fail("cannot read ", path);
  const long size = ftell(file);
  rewind(file);
  m.size = size > 0 ? (size_t)size : 0;
  m.bytes = malloc(m.size + 1);
  if (!m.bytes || fread(m.bytes, 1, m.size, file) != m.size) fail("cannot read ", path);
  fclose(file);
  return m;
}

static uint32_t load_u32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
static uint16_t load_u16(const uint8_t *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* An entry of the feed: the banks of an event, or a packet. */
struct entry {
  size_t first_block, block_count;
  const uint8_t *packet;
  size_t bytes;
};
struct entries {
  struct entry *at;
  size_t count;
  struct sl_feed_block *blocks;
  size_t block_count;
};

static void add_banks(struct entries *e, const uint8_t *at, const uint8_t *end) {
  e->at = grow(e->at, e->count, sizeof *e->at);
  struct entry *entry = &e->at[e->count++];
  *entry = (struct entry){.first_block = e->block_count};
  while (end - at >= BANK_HEADER_BYTES) {
    const uint16_t length = load_u16(at + 2);
    if (load_u16(at) != 0xCBCB || length < BANK_HEADER_BYTES || length > end - at) fail("a record has no banks", "");
    e->blocks = grow(e->blocks, e->block_count, sizeof *e->blocks);
    e->blocks[e->block_count++] =
        (struct sl_feed_block){at + BANK_HEADER_BYTES, length - BANK_HEADER_BYTES, load_u16(at + 6), at[4], at[5]};
    at += (length + 3u) & ~3u;
  }
  entry->block_count = e->block_count - entry->first_block;
}

static struct entries events_of(const struct memory *file) {
  struct entries e = {0};
  for (size_t at = 0; at < file->size;) {
    const uint32_t bytes = file->size - at >= RECORD_HEADER_BYTES ? load_u32(file->bytes + at) : 0;
    if (bytes <= RECORD_HEADER_BYTES || bytes > file->size - at || file->bytes[at + 16] != 0)
      fail("not an uncompressed MDF file", "");
    add_banks(&e, file->bytes + at + RECORD_HEADER_BYTES, file->bytes + at + bytes);
    at += bytes;
  }
  return e;
}

static struct entries packets_of(const struct memory *file) {
  struct entries e = {0};
  for (size_t at = 0; at < file->size;) {
    const uint64_t bytes =
        file->size - at >= 8 && load_u16(file->bytes + at) == 0xCEFA ? 4ull * load_u32(file->bytes + at + 4) : 0;
    if (bytes == 0 || bytes > file->size - at) fail("not a file of packets", "");
    e.at = grow(e.at, e.count, sizeof *e.at);
    e.at[e.count++] = (struct entry){.packet = file->bytes + at, .bytes = bytes};
    at += bytes;
  }
  return e;
}

/* ----------------------------------------------------------------------------------------------------- runs */

struct bench {
  struct sl_options options;
  const char *sets[SETS_MAX + 3];
  uint32_t set_count;
  const char *path;
  struct entries entries[WAYS];
};

struct run {
  struct sl_session *session;
  int status;
};
static void *run_session(void *argument) {
  struct run *run = argument;
  run->status = sl_session_run(run->session);
  return NULL;
}

static void give_all(struct sl_feed *feed, const struct entries *e, uint64_t passes) {
  for (uint64_t pass = 0; pass < passes; pass++)
    for (size_t i = 0; i < e->count; i++) {
      const struct entry *entry = &e->at[i];
      const struct sl_feed_event event = {
          .size = sizeof event, .block_count = (uint32_t)entry->block_count, .blocks = e->blocks + entry->first_block};
      const int taken = entry->packet ? sl_feed_give_packet(feed, entry->packet, entry->bytes, NULL, -1, NULL)
                                      : sl_feed_give_event(feed, &event, -1, NULL);
      if (taken != 1) return; /* the run failed, and says why */
    }
}

struct result {
  double hz, source_hz; /* of the source alone */
  double cpu_us;        /* of all threads, an event; the opening counts */
  uint64_t events, digest;
};

static double cpu_us(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return 1e6 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static struct result run_way(const struct bench *b, int way, uint64_t passes, uint32_t digest) {
  struct sl_options options = b->options;
  const char *sets[SETS_MAX + 3] = {NULL}, *inputs[] = {b->path, NULL};
  char pass_text[64];
  snprintf(pass_text, sizeof pass_text, "raw.passes=%" PRIu64, passes);
  memcpy(sets, b->sets, sizeof sets);
  options.sets = sets;
  options.digest = digest;
  if (way == REPEAT || way == FROM_FILE) options.input_paths = inputs;
  if (way == REPEAT) options.repeat = (uint32_t)passes;
  if (way == FROM_FILE) {
    sets[b->set_count] = pass_text;
    sets[b->set_count + 1] = "raw.checksum=false";
  }
  struct sl_feed *feed = way == EVENTS || way == PACKETS ? sl_feed_new(NULL) : NULL;
  options.feed = feed;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const double cpu_before = cpu_us();
  struct run run = {NULL, sl_session_open(&options, d, &run.session)};
  pthread_t thread;
  if (run.status == 0 && pthread_create(&thread, NULL, run_session, &run) == 0) {
    if (feed) give_all(feed, &b->entries[way], passes);
    if (feed) sl_feed_end(feed);
    pthread_join(thread, NULL);
  }
  if (run.status != 0) {
    sl_diagnostics_print(d, stderr);
    fail("a run failed: ", way_names[way]);
  }
  const struct sl_summary *sum = sl_session_summary(run.session);
  const double events = (double)sum->events * (way == REPEAT ? (double)passes : 1);
  const struct result result = {way == REPEAT ? sum->throughput_hz : sum->wall_hz, sum->source_hz,
                                (cpu_us() - cpu_before) / events, sum->events,
                                sum->output_count ? sum->outputs[0].digest : 0};
  sl_session_close(run.session);
  sl_diagnostics_free(d);
  sl_feed_free(feed);
  return result;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const struct bench *b, int rounds, double seconds) {
  static double hz[WAYS][ROUNDS_MAX], source_hz[WAYS][ROUNDS_MAX], cpu[WAYS];
  const struct result first = run_way(b, EVENTS, 1, 1);
  uint64_t passes = 1;
  for (int way = 0; way < WAYS; way++) {
    if (way == PACKETS && b->entries[way].count == 0) continue;
    const struct result r = run_way(b, way, 1, 1);
    if (r.events != first.events || r.digest != first.digest) fail("another digest than the events: ", way_names[way]);
  }
  printf("%" PRIu64 " events, digest 0x%016" PRIx64 " whichever way\n", first.events, first.digest);
  for (double took = 0; took < seconds / 4 && passes < 1u << 30;) {
    const struct result r = run_way(b, EVENTS, passes, 0);
    took = (double)r.events / r.hz;
    passes = took < seconds / 8 ? 2 * passes : (uint64_t)((double)passes * seconds / took) + 1;
  }
  for (int round = 0; round < rounds; round++)
    for (int way = 0; way < WAYS; way++) {
      if (way == PACKETS && b->entries[way].count == 0) continue;
      const struct result r = run_way(b, way, passes + (way == REPEAT), 0);
      hz[way][round] = r.hz;
      source_hz[way][round] = r.source_hz;
      if (round == 0 || r.cpu_us < cpu[way]) cpu[way] = r.cpu_us;
    }
  printf("%-8s %12s %12s %12s %10s %12s %14s\n", "events/s", "median", "least", "most", "of repeat", "CPU us/event",
         "source alone");
  for (int way = 0; way < WAYS; way++) {
    qsort(hz[way], (size_t)rounds, sizeof *hz[way], compare);
    qsort(source_hz[way], (size_t)rounds, sizeof *source_hz[way], compare);
  }
  for (int way = 0; way < WAYS; way++) {
    if (way == PACKETS && b->entries[way].count == 0) continue;
    const double median = hz[way][rounds / 2];
    printf("%-8s %12.0f %12.0f %12.0f %9.0f%% %12.1f", way_names[way], median, hz[way][0], hz[way][rounds - 1],
           100 * median / hz[REPEAT][rounds / 2], cpu[way]);
    if (way != REPEAT) printf(" %14.0f", source_hz[way][rounds / 2]);
    printf("\n");
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  int rounds = 5, option = 0;
  double seconds = 2;
  b.options = sl_options_default();
  while ((option = getopt(argc, argv, "d:S:k:t:r:w:s:")) != -1) {
    if (option == 'd') b.options.device = optarg;
    if (option == 'S') b.options.slice_events = (uint32_t)atoi(optarg);
    if (option == 'k') b.options.slots = (uint32_t)atoi(optarg);
    if (option == 't') b.options.source_threads = (uint32_t)atoi(optarg);
    if (option == 'r') rounds = atoi(optarg);
    if (option == 'w') seconds = atof(optarg);
    if (option == 's' && b.set_count < SETS_MAX) b.sets[b.set_count++] = optarg;
    if (option == '?') return 2;
  }
  if (argc - optind < 2 || argc - optind > 3 || rounds < 1 || rounds > ROUNDS_MAX)
    fail("usage: see the head of bench/feed.c", "");
  b.options.graph_path = argv[optind];
  b.path = argv[optind + 1];
  const struct memory events = load(b.path);
  b.entries[EVENTS] = events_of(&events);
  struct memory packets = {NULL, 0};
  if (argc - optind == 3) packets = load(argv[optind + 2]);
  if (packets.size > 0) b.entries[PACKETS] = packets_of(&packets);
  measure(&b, rounds, seconds);
  for (int way = 0; way < WAYS; way++) {
    free(b.entries[way].at);
    free(b.entries[way].blocks);
  }
  free(events.bytes);
  free(packets.bytes);
  return EXIT_SUCCESS;
}
