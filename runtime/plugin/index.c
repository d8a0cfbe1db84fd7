/* index.c: divides files into parts at record boundaries, which the source that recognises a file reports (struct
 * sl_source, index). Only the source knows the content of a record.
 */
#include "base/diagnostics.h"
#include "base/input.h"
#include "base/json.h"
#include "base/locale.h"
#include "base/processor.h"
#include "plugin/peek.h"
#include "plugin/registry.h"

#include <stdlib.h>
#include <string.h>

enum { PART_EVENTS_DEFAULT = 10000 };

struct sl_index {
  struct sl_part *parts;
  uint64_t count, capacity;
  char **paths; /* paths of the files, borrowed by the parts */
  uint32_t path_count;
};

/* ---------------------------------------------------------------------------------------------- one file */

struct cutter {
  struct sl_index *index;
  struct sl_diagnostics *diagnostics;
  const char *path;
  const struct sl_input_range *range; /* {0}: the whole file */
  uint64_t range_end;                 /* UINT64_MAX: the end of the file */
  uint64_t part_events;
  uint64_t records;     /* number of records of the file so far */
  uint64_t end_byte;    /* end of the last record of the range */
  int begins;           /* 1 if a record begins at the begin of the range */
  struct sl_part *part; /* the last part; NULL before the first record */
};

enum { PAST_RANGE = 1 }; /* ends the iteration */

static int begin_part(struct cutter *c, uint64_t first_byte) {
  struct sl_index *index = c->index;
  if (index->count == index->capacity) {
    const uint64_t capacity = index->capacity ? 2 * index->capacity : 64;
    struct sl_part *larger = realloc(index->parts, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    index->parts = larger;
    index->capacity = capacity;
  }
  c->part = &index->parts[index->count++];
  *c->part = (struct sl_part){.path = c->path, .range = {first_byte, 0, c->records}};
  return SL_OK;
}

static int add_record(void *context, const struct sl_index_record *record) {
  struct cutter *c = context;
  if (record->first_byte >= c->range_end) return PAST_RANGE;
  if (record->first_byte == c->range->first_byte) {
    c->begins = 1;
    if (c->range->first_record != SL_RECORD_UNKNOWN) c->records = c->range->first_record;
  }
  if (record->first_byte < c->range->first_byte) {
    c->records++;
    return SL_OK;
  }
  const int is_full = c->part && c->part->events >= c->part_events && record->begins_part;
  if ((!c->part || is_full) && begin_part(c, record->first_byte) < 0) return SL_ENOMEM;
  c->part->range.bytes += record->bytes;
  c->part->events += record->events;
  c->part->bad_records += record->fault != NULL;
  c->records++;
  c->end_byte = record->first_byte + record->bytes;
  if (record->fault)
    sl_diagnose_often(c->diagnostics, SL_WARNING, NULL, NULL, NULL, "bad record", "%s: record at byte %llu: %s",
                      c->path, (unsigned long long)record->first_byte, record->fault);
  return SL_OK;
}

__attribute__((format(printf, 3, 4))) static void tell(void *context, uint32_t severity, const char *format, ...) {
  const struct cutter *c = context;
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose(c->diagnostics, severity, NULL, NULL, NULL, format, arguments);
  va_end(arguments);
}

/* Checks that a record begins at the first byte of the range, and that one ends at its last. SL_EINVAL with a
 * message if not. */
static int check_range(const struct cutter *c) {
  const int is_whole = c->range->first_byte == 0 && c->range->bytes == 0;
  if (is_whole || (c->begins && (c->range->bytes == 0 || c->end_byte == c->range_end))) return SL_OK;
  sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, "`sluice index` lists ranges that can be read",
              "%s: no record %s at byte %llu, where the range %s", c->path, c->begins ? "ends" : "begins",
              (unsigned long long)(c->begins ? c->range_end : c->range->first_byte), c->begins ? "ends" : "begins");
  return SL_EINVAL;
}

static int cut_file(struct cutter *c, const struct sl_source *source) {
  const struct sl_index_calls calls = {.size = sizeof calls, .context = c, .add = add_record, .message = tell};
  const size_t errors = sl_diagnostics_errors(c->diagnostics);
  const int told = source->index(c->path, &calls);
  int status = told == PAST_RANGE ? SL_OK : told > 0 ? SL_EPLUGIN : told;
  if (status < 0 && sl_diagnostics_errors(c->diagnostics) == errors)
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: %s", c->path, sl_error_text(status));
  if (status == SL_OK) status = check_range(c);
  if (status == SL_OK && c->records == 0)
    sl_diagnose(c->diagnostics, SL_WARNING, NULL, NULL, NULL, "%s: is empty and has no parts", c->path);
  return status;
}

/* -------------------------------------------------------------------------------------------- its source */

/* Sources that recognise a file, with all their names. */
struct recognisers {
  const struct sl_algorithm *source; /* the first source; NULL: none */
  const char *plugin;
  uint32_t count;
  char names[256];
};

static void query_plugin(struct recognisers *found, const struct sl_plugin_entry *entry,
                         const struct sl_input_head *begin) {
  for (uint32_t k = 0; entry->status == SL_PLUGIN_LOADED && k < entry->plugin->algorithm_count; k++) {
    const struct sl_algorithm *a = entry->plugin->algorithms[k];
    if (a->kind != SL_KIND_SOURCE || !a->source->probe || !a->source->probe(begin->bytes, begin->count)) continue;
    const size_t used = strlen(found->names);
    snprintf(found->names + used, sizeof found->names - used, "%s%s.%s", used ? ", " : "", entry->file_name, a->name);
    if (found->count++ > 0) continue;
    found->source = a;
    found->plugin = entry->file_name;
  }
}

/* Calls probe of all plugins, which are opened one by one. Fails only if out of memory. */
static int find_source(struct sl_registry *r, const struct sl_input_head *begin, struct recognisers *found) {
  *found = (struct recognisers){.plugin = ""};
  for (size_t i = 0; i < r->entry_count; i++) {
    const struct sl_plugin_entry *entry = &r->entries[i];
    if (entry->status == SL_PLUGIN_UNOPENED &&
        sl_plugin_peek(entry->path, begin->bytes, begin->count) & SL_PEEK_PROBE && sl_registry_load_entry(r, i) < 0)
      return SL_ENOMEM;
    query_plugin(found, entry, begin);
  }
  return SL_OK;
}

/* Reports a file that cannot be divided. */
static int refuse(struct cutter *c, const struct recognisers *found, const struct sl_input_head *begin) {
  const char *compression = sl_compression_of(begin->bytes, begin->count);
  char hint[128];
  snprintf(hint, sizeof hint, SL_COMPRESSED_HINT, compression ? compression : "");
  if (compression)
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, hint,
                "%s: is compressed as a whole (%s) and can only be read as a whole", c->path, compression);
  else if (found->count > 1)
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, "remove the plugins of the other sources from the plugin folders",
                "%s: several sources recognise it: %s", c->path, found->names);
  else if (found->source)
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: is read by %s.%s, which cannot read parts of files",
                c->path, found->plugin, found->source->name);
  else
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL,
                "`sluice list` shows the plugins found, --plugin-path adds a folder", "%s: no source recognises it",
                c->path);
  return SL_EFORMAT;
}

static int index_file(struct cutter *c, struct sl_registry *r) {
  struct sl_input_head begin;
  struct recognisers found;
  if (sl_input_head_read(&begin, c->path, 0) < 0) return SL_ENOMEM;
  int status = SL_EIO;
  if (begin.is_pipe) {
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: a pipe, not a regular file", c->path);
  } else if (*begin.reason) {
    sl_diagnose(c->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: %s", c->path, begin.reason);
  } else {
    status = find_source(r, &begin, &found);
    const int is_cut = found.count == 1 && found.source->source->index != NULL;
    if (status == SL_OK) status = is_cut ? cut_file(c, found.source->source) : refuse(c, &found, &begin);
  }
  sl_input_head_close(&begin);
  return status;
}

/* ---------------------------------------------------------------------------------------------- all files */

static struct cutter begin_file(struct sl_index *index, struct sl_diagnostics *d, const char *path,
                                const struct sl_input_range *range, uint64_t part_events) {
  static const struct sl_input_range whole = {0};
  struct cutter c = {.index = index, .diagnostics = d, .path = path, .range = range ? range : &whole};
  c.range_end = c.range->bytes ? c.range->first_byte + c.range->bytes : UINT64_MAX;
  if (c.range_end < c.range->first_byte) c.range_end = UINT64_MAX; /* no record ends there */
  c.part_events = part_events ? part_events : PART_EVENTS_DEFAULT;
  return c;
}

SL_ANY_PROCESSOR int sl_index_ranges(const char *const *plugin_paths, const char *const *paths,
                                     const struct sl_input_range *ranges, uint64_t part_events,
                                     struct sl_diagnostics *d, struct sl_index **index) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  const char *const targets[] = {"cpu", NULL};
  struct sl_registry r = {0};
  uint32_t path_count = 0;
  while (paths && paths[path_count]) path_count++;
  struct sl_index *made = calloc(1, sizeof *made);
  *index = NULL;
  int status = made ? sl_registry_scan(plugin_paths, targets, &r) : SL_ENOMEM;
  if (made) made->paths = calloc(path_count + 1u, sizeof *made->paths);
  if (made && !made->paths) status = SL_ENOMEM;
  for (uint32_t i = 0; i < path_count && status != SL_ENOMEM; i++) {
    char *path = made->paths[made->path_count++] = strdup(paths[i]);
    struct cutter c = begin_file(made, d, path, ranges ? &ranges[i] : NULL, part_events);
    const int cut = path ? index_file(&c, &r) : SL_ENOMEM;
    if (cut == SL_ENOMEM || status == SL_OK) status = cut;
  }
  sl_diagnose_counted(d);
  sl_registry_close(&r);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(status));
  if (status == SL_OK)
    *index = made;
  else
    sl_index_close(made);
  return status;
}

SL_ANY_PROCESSOR int sl_index_files(const char *const *plugin_paths, const char *const *paths, uint64_t part_events,
                                    struct sl_diagnostics *d, struct sl_index **index) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  return sl_index_ranges(plugin_paths, paths, NULL, part_events, d, index);
}

const struct sl_part *sl_index_parts(const struct sl_index *index, uint64_t *count) {
  *count = index->count;
  return index->parts;
}

int sl_index_write_json(const struct sl_index *index, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_json j;
  uint64_t events = 0, bad_records = 0;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_json_begin_array(&j, "parts");
  for (uint64_t i = 0; i < index->count; i++) {
    const struct sl_part *part = &index->parts[i];
    sl_json_begin_object(&j, NULL);
    sl_json_string(&j, "path", part->path);
    sl_json_integer(&j, "first_byte", (int64_t)part->range.first_byte);
    sl_json_integer(&j, "bytes", (int64_t)part->range.bytes);
    sl_json_integer(&j, "first_record", (int64_t)part->range.first_record);
    sl_json_integer(&j, "events", (int64_t)part->events);
    sl_json_integer(&j, "bad_records", (int64_t)part->bad_records);
    sl_json_end_object(&j);
    events += part->events;
    bad_records += part->bad_records;
  }
  sl_json_end_array(&j);
  sl_json_integer(&j, "events", (int64_t)events);
  sl_json_integer(&j, "bad_records", (int64_t)bad_records);
  sl_json_end_object(&j);
  return sl_json_finish(&j, file);
}

void sl_index_close(struct sl_index *index) {
  if (!index) return;
  for (uint32_t i = 0; i < index->path_count; i++) free(index->paths[i]);
  free(index->paths);
  free(index->parts);
  free(index);
}
