/* graph_fake.c: the algorithms of the fake registry. They are never run; only their tables are used. */
#include "graph_fake.h"

#define SL_TARGET "cpu"

/* ------------------------------------------------------------------------------------------- event model */

#define TOY_BANKS_FIELDS(F)                          \
  F(offsets, u32, OFFSETS, "", "first bank")         \
  F(first_word, u32, PER_ITEM, "", "payload's word") \
  F(payload, u32, BYTES, "", "words")
SL_COLLECTION(toy_banks, TOY_BANKS_FIELDS, "raw banks");

#define TOY_HEADER_FIELDS(F) F(time, u64, PER_EVENT, "ns", "time of the event")
SL_COLLECTION(toy_header, TOY_HEADER_FIELDS, "event headers");

#define TOY_GEOMETRY_FIELDS(F) F(z, f32, ARRAY, "mm", "place of each plane")
SL_COLLECTION(toy_geometry, TOY_GEOMETRY_FIELDS, "planes");
SL_COLLECTION(toy_alignment, TOY_GEOMETRY_FIELDS, "planes as measured");

#define TOY_HITS_FIELDS(F)                  \
  F(offsets, u32, OFFSETS, "", "first hit") \
  F(x, f32, PER_ITEM, "mm", "global x")     \
  F(y, f32, PER_ITEM, "mm", "global y")
SL_COLLECTION(toy_hits, TOY_HITS_FIELDS, "hits");
SL_COLLECTION(toy_sorted_hits, TOY_HITS_FIELDS, "hits by x");
SL_COLLECTION(toy_tracks, TOY_HITS_FIELDS, "tracks");
SL_COLLECTION(toy_seeds, TOY_HITS_FIELDS, "short tracks");
SL_COLLECTION(toy_pairs, TOY_HITS_FIELDS, "pairs of tracks");
SL_COLLECTION(toy_gathered, TOY_HITS_FIELDS, "counts");
SL_COLLECTION(toy_blends, TOY_HITS_FIELDS, "blends of blends");
SL_COLLECTION(toy_combined, TOY_GEOMETRY_FIELDS, "mean planes");

static int run_nothing(const struct sl_launch *l, const void *args) {
  (void)l;
  (void)args;
  return SL_OK;
}

static int make_nothing(const struct sl_services *s, const void *args) {
  (void)s;
  (void)args;
  return SL_OK;
}

static const struct sl_source no_source;
static const struct sl_sink no_sink;

/* ------------------------------------------------------------------------------------------------- source */

struct reader_args {
  struct toy_banks banks;
  struct toy_header header;
  uint64_t seed;
};
#define SL_ARGS reader_args
static const struct sl_member reader_members[] = {
    SL_OUT(banks, toy_banks, "all banks", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0)))),
    SL_OUT(header, toy_header, "all headers", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0)))),
    SL_U64(seed, 1, 0, 0x1p53, "", "of the random numbers"),
};
SL_SOURCE(reader, "makes events", uint64_t, no_source);
#undef SL_ARGS

/* ---------------------------------------------------------------------------------------------- constants */

struct geometry_args {
  struct toy_geometry geometry;
  const char *path;
};
#define SL_ARGS geometry_args
static const struct sl_member geometry_members[] = {
    SL_OUT(geometry, toy_geometry, "planes", SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(1)))),
    SL_FILE_IN(path, "", "", "file; empty for the nominal one"),
};
SL_CONSTANT(geometry, "reads the geometry", make_nothing);
#undef SL_ARGS

struct align_args {
  struct toy_geometry_view geometry;
  struct toy_alignment alignment;
};
#define SL_ARGS align_args
static const struct sl_member align_members[] = {
    SL_IN(geometry, toy_geometry, "", "planes"),
    SL_OUT(alignment, toy_alignment, "planes", SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(1)))),
};
SL_CONSTANT(align, "aligns the geometry", make_nothing);
#undef SL_ARGS

struct calibrate_args {
  struct toy_hits_view hits;
  struct toy_alignment alignment;
};
#define SL_ARGS calibrate_args
static const struct sl_member calibrate_members[] = {
    SL_IN(hits, toy_hits, "", "what no constant can take"),
    SL_OUT(alignment, toy_alignment, "planes", SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(1)))),
};
SL_CONSTANT(calibrate, "a constant that wants events", make_nothing);
#undef SL_ARGS

/* ------------------------------------------------------------------------------------------------ kernels */

struct decode_args {
  struct sl_events events;
  struct toy_banks_view banks;
  struct toy_geometry_view geometry;
  struct toy_hits hits;
  float near_beam;
  double far;
  int32_t shift;
  uint32_t planes;
  uint64_t mask;
  uint32_t strict;
  const char *label;
  uint32_t max_hits;
};
#define SL_ARGS decode_args
static const struct sl_member decode_members[] = {
    SL_EVENTS(),
    SL_IN(banks, toy_banks, "", "raw banks"),
    SL_IN(geometry, toy_geometry, "", "planes"),
    SL_OUT(hits, toy_hits, "hits", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(max_hits, 1)))),
    SL_F32(near_beam, 0.1, 0.0, 0.5, "mm", "near the beam"),
    SL_F64(far, 100.0, -1e300, 1e300, "mm", "far from the beam"),
    SL_I32(shift, -3, -100, 100, "bits", "to the right"),
    SL_U32(planes, 26, 1, 52, "", "number of planes"),
    SL_U64(mask, 0, 0, 0x1p64, "", "planes to use"),
    SL_BOOL(strict, 0, "refuse bad banks"),
    SL_STRING(label, "plain", "name in messages"),
    SL_BUDGET(max_hits, 1000, 1, 100000, "hits"),
};
SL_ALGORITHM(decode, "banks to hits", 64, run_nothing);
#undef SL_ARGS

struct sort_args {
  struct sl_events events;
  struct toy_hits_view hits;
  struct toy_sorted_hits sorted;
};
#define SL_ARGS sort_args
static const struct sl_member sort_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_hits, "", "hits"),
    SL_OUT(sorted, toy_sorted_hits, "by x", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
};
SL_ALGORITHM(sort, "sorts hits", 128, run_nothing, SL_TUNED(run_nothing));
#undef SL_ARGS

struct clean_args {
  struct sl_events events;
  struct toy_hits_view hits;
  struct toy_hits cleaned;
  float noise;
};
#define SL_ARGS clean_args
static const struct sl_member clean_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_hits, "", "hits"),
    SL_OUT(cleaned, toy_hits, "fewer hits", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
    SL_F32(noise, 1, 0, 10, "", "how much to remove"),
};
SL_ALGORITHM(clean, "removes noise", 64, run_nothing);
#undef SL_ARGS

struct split_args {
  struct sl_events events;
  struct toy_hits_view hits;
  struct toy_hits left, right;
};
#define SL_ARGS split_args
static const struct sl_member split_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_hits, "", "hits"),
    SL_OUT(left, toy_hits, "x < 0", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
    SL_OUT(right, toy_hits, "x >= 0", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
};
SL_ALGORITHM(split, "hits by side", 64, run_nothing);
#undef SL_ARGS

struct seed_args {
  struct sl_events events;
  struct toy_sorted_hits_view hits;
  struct toy_seeds seeds;
};
#define SL_ARGS seed_args
static const struct sl_member seed_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_sorted_hits, "", "hits by x"),
    SL_OUT(seeds, toy_seeds, "seeds", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
};
SL_ALGORITHM(seed, "short tracks", 64, run_nothing);
#undef SL_ARGS

struct search_args {
  struct sl_events events;
  struct toy_sorted_hits_view hits;
  struct toy_seeds_view seeds;
  struct toy_tracks tracks;
  float max_scatter;
};
#define SL_ARGS search_args
static const struct sl_member search_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_sorted_hits, "", "hits by x"),
    SL_OPTIONAL_IN(seeds, toy_seeds, "", "where to begin"),
    SL_OUT(tracks, toy_tracks, "tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
    SL_F32(max_scatter, 0.08, 0, 1, "mm", "largest scatter"),
};
static const struct sl_kernel_block search_blocks[] = {{"seeds", 64, 0}, {"tracks", 64, 0}};
SL_ALGORITHM(search, "finds tracks", 64, run_nothing, SL_BLOCKS(search_blocks));
#undef SL_ARGS

/* Interchangeable with search, but takes unsorted hits and has other properties. */
struct anneal_args {
  struct sl_events events;
  struct toy_hits_view raw_hits;
  struct toy_tracks tracks;
  float temperature;
};
#define SL_ARGS anneal_args
static const struct sl_member anneal_members[] = {
    SL_EVENTS(),
    SL_IN(raw_hits, toy_hits, "", "hits"),
    SL_OUT(tracks, toy_tracks, "tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(raw_hits)))),
    SL_F32(temperature, 300, 0, 1000, "K", "to begin with"),
};
SL_ALGORITHM(anneal, "finds tracks slowly", 32, run_nothing);
#undef SL_ARGS

struct pair_args {
  struct sl_events events;
  struct toy_tracks_view first, second;
  struct toy_pairs pairs;
};
#define SL_ARGS pair_args
static const struct sl_member pair_members[] = {
    SL_EVENTS(),
    SL_IN(first, toy_tracks, "", "tracks"),
    SL_IN(second, toy_tracks, "", "tracks"),
    SL_OUT(pairs, toy_pairs, "pairs", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(first)))),
};
SL_ALGORITHM(pair, "pairs of tracks", 64, run_nothing);
#undef SL_ARGS

struct filter_args {
  struct sl_events events;
  struct toy_hits_view hits;
  struct sl_event_list passed, failed;
  uint32_t max_hits;
};
#define SL_ARGS filter_args
static const struct sl_member filter_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_hits, "offsets", "hits"),
    SL_OUT(passed, sl_event_list, "few hits", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0)))),
    SL_OUT(failed, sl_event_list, "many hits", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0)))),
    SL_U32(max_hits, 100, 0, 100000, "", "what is few"),
};
SL_ALGORITHM(filter, "events with few hits", 256, run_nothing);
#undef SL_ARGS

struct lumi_args {
  struct sl_events events;
  struct toy_header_view header;
  struct sl_event_list lumi;
};
#define SL_ARGS lumi_args
static const struct sl_member lumi_members[] = {
    SL_EVENTS(),
    SL_IN(header, toy_header, "", "headers"),
    SL_OUT(lumi, sl_event_list, "luminosity events", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0)))),
};
SL_ALGORITHM(lumi, "luminosity events", 256, run_nothing);
#undef SL_ARGS

struct tally_args {
  struct sl_events events;
  struct sl_event_list_view list;
  struct toy_header tally;
};
#define SL_ARGS tally_args
static const struct sl_member tally_members[] = {
    SL_EVENTS(),
    SL_IN(list, sl_event_list, "", "what to count"),
    SL_OUT(tally, toy_header, "1 where on the list", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0)))),
};
SL_ALGORITHM(tally, "counts a list", 256, run_nothing);
#undef SL_ARGS

/* Two algorithms that can feed each other. */
struct refine_args {
  struct sl_events events;
  struct toy_pairs_view pairs;
  struct toy_tracks refined;
};
#define SL_ARGS refine_args
static const struct sl_member refine_members[] = {
    SL_EVENTS(),
    SL_IN(pairs, toy_pairs, "", "pairs"),
    SL_OUT(refined, toy_tracks, "better tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(pairs)))),
};
SL_ALGORITHM(refine, "tracks from pairs", 64, run_nothing);
#undef SL_ARGS

struct echo_args {
  struct sl_events events;
  struct sl_event_list_view list;
  struct toy_tracks_view tracks;
  struct toy_tracks again;
};
#define SL_ARGS echo_args
static const struct sl_member echo_members[] = {
    SL_EVENTS(),
    SL_OPTIONAL_IN(list, sl_event_list, "", "a list as data"),
    SL_IN(tracks, toy_tracks, "", "tracks"),
    SL_OUT(again, toy_tracks, "the same", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(tracks)))),
};
SL_ALGORITHM(echo, "copies tracks", 64, run_nothing);
#undef SL_ARGS

/* List ports: of event lists, of its own output type, of constants. */
struct gather_args {
  struct sl_events events;
  struct sl_event_list_views lists;
  struct toy_tracks_views tracks;
  struct toy_gathered gathered;
};
#define SL_ARGS gather_args
static const struct sl_member gather_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(lists, sl_event_list, "", "what to count"),
    SL_LIST_IN(tracks, toy_tracks, "", "what to count too"),
    SL_OUT(gathered, toy_gathered, "counts", SL_ITEMS(SL_SUM(SL_EVENT_ENTRIES_TERM(lists), SL_ITEMS_TERM(tracks)))),
};
SL_ALGORITHM(gather, "counts lists and tracks", 64, run_nothing);
#undef SL_ARGS

struct blend_args {
  struct sl_events events;
  struct toy_blends_views parts;
  struct toy_blends blend;
};
#define SL_ARGS blend_args
static const struct sl_member blend_members[] = {
    SL_EVENTS(),
    SL_LIST_IN(parts, toy_blends, "", "what to blend"),
    SL_OUT(blend, toy_blends, "all of them", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(parts)))),
};
SL_ALGORITHM(blend, "blends blends", 64, run_nothing);
#undef SL_ARGS

struct combine_args {
  struct toy_alignment_views alignments;
  struct toy_combined combined;
};
#define SL_ARGS combine_args
static const struct sl_member combine_members[] = {
    SL_LIST_IN(alignments, toy_alignment, "", "planes"),
    SL_OUT(combined, toy_combined, "their mean", SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(1)))),
};
SL_CONSTANT(combine, "the mean of alignments", make_nothing);
#undef SL_ARGS

/* Properties of all kinds other than single numbers. */
struct smear_args {
  struct sl_events events;
  struct toy_hits_view hits;
  struct toy_hits smeared;
  uint32_t shape;
  float shift[3];
  double width[1];
  int32_t turns[2];
  uint32_t planes[2];
};
#define SL_ARGS smear_args
static const struct sl_member smear_members[] = {
    SL_EVENTS(),
    SL_IN(hits, toy_hits, "", "hits"),
    SL_OUT(smeared, toy_hits, "the same, smeared", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
    SL_ENUM(shape, "gauss", "of the noise", "gauss flat none"),
    SL_F32_ARRAY(shift, 3, "[0, 0.1, -1.5]", -10, 10, "mm", "in x, y and z"),
    SL_F64_ARRAY(width, 1, "[1e-3]", 0, 1e6, "mm", "of the noise"),
    SL_I32_ARRAY(turns, 2, "[-1, 1]", -2, 2, "", "by side"),
    SL_U32_ARRAY(planes, 2, "[0, 4294967295]", 0, 4294967295.0, "", "from and to"),
};
SL_ALGORITHM(smear, "adds noise", 64, run_nothing);
#undef SL_ARGS

/* Field references: of two types, and of any type. */
struct compare_args {
  struct sl_events events;
  struct sl_field_ref of, to;
  struct sl_event_list passed;
  float limit;
};
#define SL_ARGS compare_args
static const struct sl_member compare_members[] = {
    SL_EVENTS(),
    SL_FIELD_REF(of, "f32 f64", "what is compared"),
    SL_FIELD_REF(to, "", "with what"),
    SL_OUT(passed, sl_event_list, "events where they are close"),
    SL_F32(limit, 1, 0, 10, "", "what is close"),
};
SL_ALGORITHM(compare, "compares two fields", 64, run_nothing);
#undef SL_ARGS

/* ------------------------------------------------------------------------------------------------- sink */

struct writer_args {
  struct toy_tracks_view tracks;
  struct toy_pairs_view pairs;
  const char *path;
};
#define SL_ARGS writer_args
static const struct sl_member writer_members[] = {
    SL_IN(tracks, toy_tracks, "", "tracks"),
    SL_AUTO_IN(pairs, toy_pairs, "", "pairs"),
    SL_STRING(path, "", "file"),
};
SL_SINK(writer, "writes tracks", uint64_t, no_sink);
#undef SL_ARGS

/* --------------------------------------------------------------------------- a plugin with another layout */

#define OTHER_HITS_FIELDS(F)                \
  F(offsets, u32, OFFSETS, "", "first hit") \
  F(x, f64, PER_ITEM, "mm", "global x")     \
  F(y, f32, PER_ITEM, "mm", "global y")
SL_COLLECTION(other_hits, OTHER_HITS_FIELDS, "hits as another plugin sees them");
static const struct sl_collection other_toy_hits = {
    "toy_hits", "hits", other_hits_fields, SL_COUNT_(other_hits_fields), 0, NULL, NULL};

struct take_args {
  struct sl_events events;
  struct other_hits_view hits;
  struct toy_tracks tracks;
};
#define SL_ARGS take_args
static const struct sl_member take_members[] = {
    SL_EVENTS(),
    {.name = "hits",
     .doc = "hits",
     .kind = SL_MEMBER_IN,
     .args_offset = SL_OFFSET_(hits, struct other_hits_view),
     .args_size = SL_SIZE_(hits),
     .collection = &other_toy_hits,
     .fields = ""},
    SL_OUT(tracks, toy_tracks, "tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(hits)))),
};
SL_ALGORITHM(take, "takes hits", 64, run_nothing);
#undef SL_ARGS

/* ------------------------------------------------------------------------------------------------ plugins */

static const struct sl_algorithm *const toy_algorithms[] = {
    SL_ENTRY(reader), SL_ENTRY(geometry), SL_ENTRY(align), SL_ENTRY(calibrate), SL_ENTRY(decode), SL_ENTRY(sort),
    SL_ENTRY(clean),  SL_ENTRY(split),    SL_ENTRY(seed),  SL_ENTRY(search),    SL_ENTRY(anneal), SL_ENTRY(pair),
    SL_ENTRY(filter), SL_ENTRY(lumi),     SL_ENTRY(tally), SL_ENTRY(refine),    SL_ENTRY(echo),   SL_ENTRY(writer),
    SL_ENTRY(smear),  SL_ENTRY(gather),   SL_ENTRY(blend), SL_ENTRY(combine),   SL_ENTRY(compare)};
static const struct sl_algorithm *const toy_cuda_algorithms[] = {SL_ENTRY(decode), SL_ENTRY(search)};
static const struct sl_algorithm *const other_algorithms[] = {SL_ENTRY(take)};

#define PLUGIN(name, target, algorithms)                                                                          \
  {                                                                                                               \
    SL_PLUGIN_MAGIC, (uint32_t)sizeof(struct sl_plugin), SL_ABI_VERSION, name, "1.0", target, "fake", algorithms, \
        SL_COUNT_(algorithms), 0, NULL                                                                            \
  }
static const struct sl_plugin toy_plugin = PLUGIN("toy", "cpu", toy_algorithms);
static const struct sl_plugin toy_cuda_plugin = PLUGIN("toy", "cuda", toy_cuda_algorithms);
static const struct sl_plugin other_plugin = PLUGIN("other", "cpu", other_algorithms);

static char toy_name[] = "toy", other_name[] = "other", broken_name[] = "broken", cpu[] = "cpu", cuda[] = "cuda";
static char path[] = "fake.so", reason[] = "it has ABI version 9, this program has 2";

static struct sl_plugin_entry entries[] = {
    {path, toy_name, cpu, SL_PLUGIN_LOADED, 0, NULL, NULL, &toy_plugin, NULL},
    {path, toy_name, cuda, SL_PLUGIN_LOADED, 0, NULL, NULL, &toy_cuda_plugin, NULL},
    {path, other_name, cpu, SL_PLUGIN_LOADED, 0, NULL, NULL, &other_plugin, NULL},
    {path, broken_name, cpu, SL_PLUGIN_REFUSED, 0, reason, NULL, NULL, NULL},
};
static struct sl_registry registry = {.entries = entries, .entry_count = SL_COUNT_(entries)};

struct sl_registry *fake_registry(void) {
  return &registry;
}
