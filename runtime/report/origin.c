/* origin.c: see origin.h. A constant with only empty strings is built into its plugin, not read from a file. Its
 * checksum identifies the values. */
#include "report/origin.h"

#include "plugin/property.h"
#include "plugin/tables.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const struct sl_node *source_of(const struct sl_session *s) {
  const struct sl_graph *g = sl_session_graph(s);
  return &g->nodes[g->source];
}

/* The node at index `i` of the execution order if it is a constant, else NULL. */
static const struct sl_node *constant_at(const struct sl_session *s, uint32_t i) {
  const struct sl_graph *g = sl_session_graph(s);
  const struct sl_node *node = &g->nodes[g->order[i]];
  return node->algorithm->kind == SL_KIND_CONSTANT ? node : NULL;
}

static int is_given_text(const struct sl_node *node, uint32_t m) {
  const struct sl_member *member = &node->algorithm->members[m];
  return member->kind == SL_MEMBER_PROPERTY && member->type == SL_TYPE_string && member->count == 0 &&
         node->values[m].text && *node->values[m].text;
}

static int is_given(const struct sl_node *node) {
  int given = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) given |= is_given_text(node, m);
  return given;
}

/* ------------------------------------------------------------------------------------------------- the table */

/* The range of the first file. */
static void write_range(const struct sl_session *s, FILE *file) {
  const struct sl_input_range *range = sl_session_options(s)->input_ranges;
  if (!range || (range->first_byte == 0 && range->bytes == 0)) return;
  if (range->bytes)
    fprintf(file, ", bytes %" PRIu64 " to %" PRIu64, range->first_byte, range->first_byte + range->bytes);
  else
    fprintf(file, ", from byte %" PRIu64 " on", range->first_byte);
}

static void write_input(const struct sl_session *s, FILE *file) {
  const char *const *paths = sl_session_options(s)->input_paths;
  const struct sl_node *source = source_of(s);
  uint32_t count = 0;
  while (paths && paths[count]) count++;
  fprintf(file, "input        ");
  const struct sl_follow_summary *follow = sl_session_summary(s)->follow;
  if (follow) {
    fprintf(file, "%s, followed: %" PRIu64 " %s taken, %" PRIu64 " refused, %" PRIu64 " late, %" PRIu64 " waiting",
            follow->folder, follow->taken, sl_plural(follow->taken, "file", "files"), follow->refused, follow->late,
            follow->waiting);
    if (follow->moved) fprintf(file, ", %" PRIu64 " moved", follow->moved);
    fprintf(file, "; read by %s", source->use);
  } else if (count == 0) {
    const int seed = sl_member_index(source->algorithm, "seed");
    fprintf(file, "no file: made by %s", source->use);
    if (seed >= 0 && source->algorithm->members[seed].kind == SL_MEMBER_PROPERTY)
      fprintf(file, ", seed %" PRIu64, source->values[seed].integer);
  } else {
    fprintf(file, "%s", paths[0]);
    write_range(s, file);
    if (count > 1) fprintf(file, " and %u more", count - 1);
    fprintf(file, ", read by %s", source->use);
  }
  fprintf(file, "\n");
}

void sl_origin_write_constants(const struct sl_session *s, FILE *file) {
  const struct sl_graph *g = sl_session_graph(s);
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = constant_at(s, i);
    if (!node) continue;
    fprintf(file, "constants    %s: ", node->name);
    if (!is_given(node)) fprintf(file, "built in, ");
    for (uint32_t m = 0; m < node->algorithm->member_count; m++)
      if (is_given_text(node, m)) fprintf(file, "%s, ", node->values[m].text);
    fprintf(file, "checksum %016" PRIx64 "\n", sl_session_constant_checksum(s, g->order[i]));
  }
}

void sl_origin_write(const struct sl_session *s, FILE *file) {
  const char *const *with = sl_session_options(s)->with_paths;
  fprintf(file, "graph        %s", sl_session_options(s)->graph_path);
  for (; with && *with; with++) fprintf(file, " with %s", *with);
  fprintf(file, ", digest %016" PRIx64 "\n", sl_session_summary(s)->graph_digest);
  write_input(s, file);
}

/* ------------------------------------------------------------------------------------------------------ JSON */

static void json_value(struct sl_json *j, const char *key, const struct sl_member *property,
                       const struct sl_value *value) {
  char text[128];
  size_t length;
  const char *choice;
  switch (property->type) {
    case SL_TYPE_string:
      sl_json_string(j, key, value->text);
      break;
    case SL_TYPE_enumeration:
      choice = sl_choice_name(property, (uint32_t)value->integer, &length);
      snprintf(text, sizeof text, "%.*s", (int)length, choice);
      sl_json_string(j, key, text);
      break;
    case SL_TYPE_bool:
      sl_json_boolean(j, key, value->integer != 0);
      break;
    case SL_TYPE_u32:
    case SL_TYPE_u64:
      snprintf(text, sizeof text, "%" PRIu64, value->integer);
      sl_json_raw(j, key, text);
      break;
    default:
      sl_json_raw(j, key, sl_number_text(property->type, value->number, text));
  }
}

static void json_properties(struct sl_json *j, const struct sl_node *node) {
  sl_json_begin_object(j, "properties");
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *property = &node->algorithm->members[m];
    if (property->kind != SL_MEMBER_PROPERTY) continue;
    if (!node->values[m].items) {
      json_value(j, property->name, property, &node->values[m]);
      continue;
    }
    sl_json_begin_array(j, property->name);
    for (uint32_t i = 0; i < property->count; i++) json_value(j, NULL, property, &node->values[m].items[i]);
    sl_json_end_array(j);
  }
  sl_json_end_object(j);
}

static void json_inputs(const struct sl_session *s, struct sl_json *j) {
  const char *const *paths = sl_session_options(s)->input_paths;
  const struct sl_input_range *ranges = sl_session_options(s)->input_ranges;
  sl_json_begin_array(j, "inputs");
  for (uint32_t i = 0; paths && paths[i]; i++) {
    struct stat about;
    const int is_file = stat(paths[i], &about) == 0 && S_ISREG(about.st_mode);
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "path", paths[i]);
    if (ranges) {
      sl_json_unsigned(j, "first_byte", ranges[i].first_byte);
      sl_json_unsigned(j, "range_bytes", ranges[i].bytes);
    }
    if (is_file)
      sl_json_unsigned(j, "bytes", (uint64_t)about.st_size);
    else
      sl_json_string(j, "bytes", NULL); /* null */
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

/* null unless a folder was followed */
static void json_follow(const struct sl_follow_summary *follow, struct sl_json *j) {
  if (!follow) {
    sl_json_string(j, "follow", NULL);
    return;
  }
  sl_json_begin_object(j, "follow");
  sl_json_string(j, "folder", follow->folder);
  sl_json_unsigned(j, "taken", follow->taken);
  sl_json_unsigned(j, "refused", follow->refused);
  sl_json_unsigned(j, "late", follow->late);
  sl_json_unsigned(j, "waiting", follow->waiting);
  sl_json_unsigned(j, "moved", follow->moved);
  sl_json_end_object(j);
}

static void json_node(struct sl_json *j, const struct sl_node *node) {
  sl_json_string(j, "node", node->name);
  sl_json_string(j, "algorithm", node->use);
  json_properties(j, node);
}

static void json_constants(const struct sl_session *s, struct sl_json *j) {
  const struct sl_graph *g = sl_session_graph(s);
  char checksum[24];
  sl_json_begin_array(j, "constants");
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = constant_at(s, i);
    if (!node) continue;
    sl_json_begin_object(j, NULL);
    json_node(j, node);
    sl_json_boolean(j, "built_in", !is_given(node));
    snprintf(checksum, sizeof checksum, "%016" PRIx64, sl_session_constant_checksum(s, g->order[i]));
    sl_json_string(j, "checksum", checksum);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
}

void sl_origin_json(const struct sl_session *s, struct sl_json *j) {
  const char *const *words = sl_session_options(s)->command_line;
  sl_json_begin_array(j, "command_line");
  for (uint32_t i = 0; words && words[i]; i++) sl_json_string(j, NULL, words[i]);
  sl_json_end_array(j);
  json_inputs(s, j);
  json_follow(sl_session_summary(s)->follow, j);
  sl_json_begin_object(j, "source");
  json_node(j, source_of(s));
  sl_json_end_object(j);
  json_constants(s, j);
}
