/* abi_test.c: the layout of everything that sluice_plugin reaches is that of abi.expected. A difference means that
 * SL_ABI_VERSION must rise, and only then may the file be replaced (by this program's output with -v). */
#define _GNU_SOURCE
#include "support.h"

#include <sluice/plugin.h>

static void member(FILE *out, const char *name, size_t offset, size_t bytes) {
  fprintf(out, "  %-20s %4zu %4zu\n", name, offset, bytes);
}

#define BEGIN(s) fprintf(out, "%s %zu\n", #s, sizeof(struct s))
#define M(s, m)  member(out, #m, offsetof(struct s, m), sizeof(((struct s *)0)->m))

static void write_tables(FILE *out) {
  BEGIN(sl_field);
  M(sl_field, name);
  M(sl_field, type);
  M(sl_field, shape);
  M(sl_field, width);
  M(sl_field, reserved);
  M(sl_field, unit);
  M(sl_field, doc);
  BEGIN(sl_collection);
  M(sl_collection, name);
  M(sl_collection, doc);
  M(sl_collection, fields);
  M(sl_collection, field_count);
  M(sl_collection, reserved);
  M(sl_collection, trait);
  BEGIN(sl_trait);
  M(sl_trait, name);
  M(sl_trait, port);
  M(sl_trait, members);
  M(sl_trait, member_count);
  M(sl_trait, data_bytes);
  M(sl_trait, data);
  BEGIN(sl_bound);
  M(sl_bound, capacity);
  M(sl_bound, event_limit);
  M(sl_bound, used);
  M(sl_bound, limit_error);
  BEGIN(sl_event_list);
  M(sl_event_list, count);
  M(sl_event_list, numbers);
  M(sl_event_list, bound);
  BEGIN(sl_event_list_each);
  M(sl_event_list_each, at);
  M(sl_event_list_each, names);
  M(sl_event_list_each, count);
  M(sl_event_list_each, reserved);
  BEGIN(sl_events);
  M(sl_events, count);
  M(sl_events, numbers);
  M(sl_events, errors);
  M(sl_events, error_base);
  M(sl_events, max);
  M(sl_events, reserved);
  BEGIN(sl_term);
  M(sl_term, kind);
  M(sl_term, multiply);
  M(sl_term, divide);
  M(sl_term, add);
  M(sl_term, of);
  BEGIN(sl_capacity);
  M(sl_capacity, combine);
  M(sl_capacity, reserved);
  M(sl_capacity, terms);
  BEGIN(sl_member);
  M(sl_member, name);
  M(sl_member, doc);
  M(sl_member, kind);
  M(sl_member, flags);
  M(sl_member, args_offset);
  M(sl_member, args_size);
  M(sl_member, collection);
  M(sl_member, fields);
  M(sl_member, shares);
  M(sl_member, in_place);
  M(sl_member, trait);
  M(sl_member, unit);
  M(sl_member, default_text);
  M(sl_member, choices);
  M(sl_member, type);
  M(sl_member, count);
  M(sl_member, default_value);
  M(sl_member, minimum);
  M(sl_member, maximum);
  M(sl_member, capacity);
  M(sl_member, sub_capacities);
}

static void write_calls(FILE *out) {
  BEGIN(sl_field_ref);
  M(sl_field_ref, values);
  M(sl_field_ref, offsets);
  M(sl_field_ref, item_offsets);
  M(sl_field_ref, type);
  M(sl_field_ref, shape);
  M(sl_field_ref, width);
  M(sl_field_ref, reserved);
  BEGIN(sl_run_setting);
  M(sl_run_setting, name);
  M(sl_run_setting, text);
  M(sl_run_setting, number);
  M(sl_run_setting, field);
  BEGIN(sl_run_output);
  M(sl_run_output, name);
  M(sl_run_output, collection);
  M(sl_run_output, items);
  M(sl_run_output, digest);
  M(sl_run_output, totals);
  M(sl_run_output, algorithm);
  M(sl_run_output, settings);
  M(sl_run_output, setting_count);
  M(sl_run_output, reserved);
  BEGIN(sl_run);
  M(sl_run, size);
  M(sl_run, plugin_count);
  M(sl_run, output_count);
  M(sl_run, is_interrupted);
  M(sl_run, sluice_version);
  M(sl_run, device);
  M(sl_run, graph_text);
  M(sl_run, graph_digest);
  M(sl_run, plugins);
  M(sl_run, outputs);
  BEGIN(sl_services);
  M(sl_services, size);
  M(sl_services, reserved);
  M(sl_services, context);
  M(sl_services, message);
  M(sl_services, make_array);
  M(sl_services, array_count);
  M(sl_services, run);
  M(sl_services, node_name);
  M(sl_services, make_table);
  M(sl_services, output);
  M(sl_services, in_parallel);
  M(sl_services, workers);
  M(sl_services, reserved_workers);
  M(sl_services, feed);
  BEGIN(sl_feed_block);
  M(sl_feed_block, data);
  M(sl_feed_block, bytes);
  M(sl_feed_block, source_id);
  M(sl_feed_block, type);
  M(sl_feed_block, version);
  BEGIN(sl_feed_entry);
  M(sl_feed_entry, index);
  M(sl_feed_entry, blocks);
  M(sl_feed_entry, packet);
  M(sl_feed_entry, packet_bytes);
  M(sl_feed_entry, number);
  M(sl_feed_entry, run);
  M(sl_feed_entry, block_count);
  BEGIN(sl_feed_calls);
  M(sl_feed_calls, size);
  M(sl_feed_calls, reserved);
  M(sl_feed_calls, context);
  M(sl_feed_calls, take);
  M(sl_feed_calls, packed);
  BEGIN(sl_output_calls);
  M(sl_output_calls, size);
  M(sl_output_calls, reserved);
  M(sl_output_calls, open);
  M(sl_output_calls, place);
  M(sl_output_calls, bytes);
  M(sl_output_calls, room);
  M(sl_output_calls, reserve);
  M(sl_output_calls, trim);
  M(sl_output_calls, add);
  M(sl_output_calls, mark);
  M(sl_output_calls, flush);
  M(sl_output_calls, fail);
  M(sl_output_calls, finish);
  M(sl_output_calls, close);
  BEGIN(sl_kernel_block);
  M(sl_kernel_block, kernel);
  M(sl_kernel_block, threads);
  M(sl_kernel_block, reserved);
  BEGIN(sl_launch);
  M(sl_launch, size);
  M(sl_launch, block_threads);
  M(sl_launch, grid_blocks);
  M(sl_launch, events_max);
  M(sl_launch, device_threads);
  M(sl_launch, block_count);
  M(sl_launch, blocks);
  M(sl_launch, services);
  M(sl_launch, backend);
  M(sl_launch, scan);
  M(sl_launch, scan_items);
  BEGIN(sl_event);
  M(sl_event, number);
  M(sl_event, offset);
  M(sl_event, run);
  M(sl_event, file);
  M(sl_event, error);
  M(sl_event, reserved);
  BEGIN(sl_fill);
  M(sl_fill, events_max);
  M(sl_fill, event_count);
  M(sl_fill, events);
  M(sl_fill, progress_done);
  M(sl_fill, progress_total);
  BEGIN(sl_inputs);
  M(sl_inputs, paths);
  M(sl_inputs, path_count);
  M(sl_inputs, reserved);
  M(sl_inputs, names);
  BEGIN(sl_source);
  M(sl_source, open);
  M(sl_source, fill);
  M(sl_source, close);
  M(sl_source, probe);
  BEGIN(sl_report);
  M(sl_report, size);
  M(sl_report, reserved);
  M(sl_report, context);
  M(sl_report, begin_object);
  M(sl_report, end_object);
  M(sl_report, begin_array);
  M(sl_report, end_array);
  M(sl_report, integer);
  M(sl_report, number);
  M(sl_report, text);
  M(sl_report, line);
  BEGIN(sl_output_view);
  M(sl_output_view, name);
  M(sl_output_view, collection);
  M(sl_output_view, fields);
  BEGIN(sl_batch);
  M(sl_batch, event_count);
  M(sl_batch, output_count);
  M(sl_batch, events);
  M(sl_batch, outputs);
  M(sl_batch, selected);
  M(sl_batch, selected_count);
  M(sl_batch, reserved);
  BEGIN(sl_sink);
  M(sl_sink, open);
  M(sl_sink, consume);
  M(sl_sink, finish);
  M(sl_sink, close);
  M(sl_sink, takes_outputs);
  M(sl_sink, reserved);
  M(sl_sink, flush);
}

static void write_plugin(FILE *out) {
  BEGIN(sl_event_error);
  M(sl_event_error, code);
  M(sl_event_error, reserved);
  M(sl_event_error, text);
  BEGIN(sl_algorithm);
  M(sl_algorithm, name);
  M(sl_algorithm, doc);
  M(sl_algorithm, kind);
  M(sl_algorithm, args_size);
  M(sl_algorithm, member_count);
  M(sl_algorithm, block_threads);
  M(sl_algorithm, state_size);
  M(sl_algorithm, takes_feed);
  M(sl_algorithm, members);
  M(sl_algorithm, run);
  M(sl_algorithm, make);
  M(sl_algorithm, source);
  M(sl_algorithm, sink);
  M(sl_algorithm, errors);
  M(sl_algorithm, error_count);
  M(sl_algorithm, reserved_errors);
  M(sl_algorithm, check);
  M(sl_algorithm, prepare);
  M(sl_algorithm, run_tuned);
  M(sl_algorithm, blocks);
  M(sl_algorithm, block_count);
  M(sl_algorithm, reserved_blocks);
  M(sl_algorithm, family);
  M(sl_algorithm, run_family);
  BEGIN(sl_plugin);
  M(sl_plugin, magic);
  M(sl_plugin, size);
  M(sl_plugin, abi_version);
  M(sl_plugin, name);
  M(sl_plugin, version);
  M(sl_plugin, target);
  M(sl_plugin, doc);
  M(sl_plugin, algorithms);
  M(sl_plugin, algorithm_count);
  M(sl_plugin, reserved);
}

/* Numbers in the tables mean something too. */
static void write_codes(FILE *out) {
  fprintf(out, "abi_version %u\nmagic %016llx\n", SL_ABI_VERSION, (unsigned long long)SL_PLUGIN_MAGIC);
#define TYPE(name, c, bytes) fprintf(out, "type %s %d\n", #name, (int)SL_TYPE_##name);
  SL_TYPES(TYPE)
  fprintf(out, "type bool %d\ntype string %d\n", (int)SL_TYPE_bool, (int)SL_TYPE_string);
  fprintf(out, "type enumeration %d\n", (int)SL_TYPE_enumeration);
#define ERROR(name, code, text) fprintf(out, "error %s %d\n", #name, (int)name);
  SL_ERRORS(ERROR)
#define CODE(name) fprintf(out, "%s %d\n", #name, (int)name)
  CODE(SL_SHAPE_CODE_PER_SLICE);
  CODE(SL_SHAPE_CODE_PER_EVENT);
  CODE(SL_SHAPE_CODE_OFFSETS);
  CODE(SL_SHAPE_CODE_PER_ITEM);
  CODE(SL_SHAPE_CODE_ITEM_OFFSETS);
  CODE(SL_SHAPE_CODE_PER_SUBITEM);
  CODE(SL_SHAPE_CODE_BYTES);
  CODE(SL_SHAPE_CODE_ARRAY);
  CODE(SL_SHAPE_CODE_TOTAL);
  CODE(SL_MEMBER_EVENTS);
  CODE(SL_MEMBER_IN);
  CODE(SL_MEMBER_OUT);
  CODE(SL_MEMBER_SCRATCH);
  CODE(SL_MEMBER_PROPERTY);
  CODE(SL_MEMBER_OPEN_IN);
  CODE(SL_MEMBER_OPEN_OUT);
  CODE(SL_MEMBER_COMPUTED);
  CODE(SL_MEMBER_TABLE);
  CODE(SL_MEMBER_NODE_HASH);
  CODE(SL_MEMBER_FIELD);
  CODE(SL_FLAG_OPTIONAL);
  CODE(SL_FLAG_BUDGET);
  CODE(SL_FLAG_EACH);
  CODE(SL_FLAG_WANTED);
  CODE(SL_FLAG_OPENED);
  CODE(SL_TERM_NONE);
  CODE(SL_TERM_CONSTANT);
  CODE(SL_TERM_EVENTS);
  CODE(SL_TERM_ITEMS);
  CODE(SL_TERM_SUBITEMS);
  CODE(SL_TERM_BUDGET);
  CODE(SL_TERM_ENTRIES);
  CODE(SL_TERM_EVENT_ENTRIES);
  CODE(SL_TERM_PROPERTY);
  CODE(SL_TERMS_MAX);
  CODE(SL_COMBINE_MIN);
  CODE(SL_COMBINE_MAX);
  CODE(SL_COMBINE_SUM);
  CODE(SL_COMBINE_PRODUCT);
  CODE(SL_KIND_KERNEL);
  CODE(SL_KIND_CONSTANT);
  CODE(SL_KIND_SOURCE);
  CODE(SL_KIND_SINK);
  CODE(SL_NOTE);
  CODE(SL_WARNING);
  CODE(SL_ERROR);
  CODE(SL_EVENT_OK);
  CODE(SL_EVENT_CORRUPT);
  CODE(SL_EVENT_TRUNCATED);
  CODE(SL_EVENT_TOO_LARGE);
  CODE(SL_EVENT_OVERFLOW);
  CODE(SL_EVENT_REFUSED);
}

static char *layout_text(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  write_codes(out);
  write_tables(out);
  write_calls(out);
  write_plugin(out);
  fclose(out);
  return text;
}

static void layouts_are_those_of_the_abi_version(void **state) {
  (void)state;
  size_t size;
  char *expected = read_whole_file(ABI_EXPECTED, &size), *found = layout_text();
  assert_string_equal(found, expected);
  free(expected);
  free(found);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "-v") == 0) {
    char *text = layout_text();
    fputs(text, stdout);
    free(text);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_are_those_of_the_abi_version)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
