/* dimensions.c: the sizes of the dimensions of ports, and with them the number of values of fields. They are
 * properties, or sizes of inputs, so they are known before memory is planned. Later stages find them in the collections
 * of the node's algorithm (sl_dimension.size, sl_field.width).
 */
#include "plugin/dimensions.h"

#include "graph/stages.h"

#include <string.h>

static uint64_t property_of(const void *context, uint32_t member) {
  return ((const struct sl_node *)context)->values[member].integer;
}

static const char *term_text(struct sl_draft *draft, const struct sl_term *term) {
  const char *text = term->kind == SL_TERM_CONSTANT ? "constant" : term->of;
  if (term->multiply != 1) text = sl_arena_format(draft->reader->arena, "%s x %u", text, term->multiply);
  if (term->divide != 1) text = sl_arena_format(draft->reader->arena, "%s / %u", text, term->divide);
  if (term->kind != SL_TERM_CONSTANT && term->add != 0)
    text = sl_arena_format(draft->reader->arena, "%s %+d", text, (int32_t)term->add);
  return text;
}

static const struct sl_collection *size_output(struct sl_draft *draft, uint32_t n, const struct sl_member *output) {
  const struct sl_node *node = &draft->graph->nodes[n];
  const struct sl_collection *c = output->collection;
  const struct sl_mark mark = draft->nodes[n].mark;
  uint32_t sizes[SL_DIMENSIONS_MAX] = {0};
  for (uint32_t d = 0; d < c->dimension_count; d++) {
    const int64_t size = sl_dimension_size(node->algorithm, &output->dimensions[d], property_of, node);
    if (size < 1 || size > SL_DIMENSION_MAX)
      sl_report_error(draft->reader, mark, node->name, NULL,
                      "the dimension `%s` of output `%s` is %lld (%s); 1 to %u are expected", c->dimensions[d].name,
                      output->name, (long long)size, term_text(draft, &output->dimensions[d]), SL_DIMENSION_MAX);
    sizes[d] = size < 1 || size > SL_DIMENSION_MAX ? 1 : (uint32_t)size;
  }
  struct sl_collection *copy = sl_arena_get(draft->reader->arena, 1, sl_collection_copy_bytes(c));
  const struct sl_field *large = sl_collection_copy(c, sizes, copy);
  if (large != NULL)
    sl_report_error(draft->reader, mark, node->name, NULL,
                    "the field `%s` of output `%s` has more than %u values per entry (%s)", large->name, output->name,
                    SL_DIMENSION_MAX, large->dimensions);
  return copy;
}

/* The collection of an input is that of its producer; those of a list port have the same sizes. */
static const struct sl_collection *size_input(struct sl_draft *draft, uint32_t n, uint32_t m) {
  const struct sl_node *node = &draft->graph->nodes[n];
  const struct sl_wiring *wiring = &node->inputs[m];
  if (wiring->count == 0) return node->algorithm->members[m].collection;
  const struct sl_collection *first = sl_port_member(draft->graph, wiring->ports[0])->collection;
  for (uint32_t k = 1; k < wiring->count; k++) {
    const struct sl_collection *other = sl_port_member(draft->graph, wiring->ports[k])->collection;
    for (uint32_t d = 0; d < first->dimension_count; d++)
      if (first->dimensions[d].size != other->dimensions[d].size) {
        sl_report_error(draft->reader, draft->nodes[n].mark, node->name, NULL,
                        "the ports of input `%s` differ in dimension `%s`: %u in %s, %u in %s",
                        node->algorithm->members[m].name, first->dimensions[d].name, first->dimensions[d].size,
                        sl_port_name(draft, wiring->ports[0]), other->dimensions[d].size,
                        sl_port_name(draft, wiring->ports[k]));
        return first;
      }
  }
  return first;
}

void sl_draft_dimensions(struct sl_draft *draft, const uint32_t *sorted) {
  for (uint32_t i = 0; i < draft->graph->node_count; i++) {
    struct sl_node *node = &draft->graph->nodes[sorted[i]];
    if (!sl_has_dimensions(node->algorithm)) continue;
    struct sl_algorithm *own = sl_arena_get(draft->reader->arena, 1, sizeof *own);
    struct sl_member *members = sl_arena_get(draft->reader->arena, node->algorithm->member_count, sizeof *members);
    *own = *node->algorithm;
    memcpy(members, own->members, own->member_count * sizeof *members);
    own->members = members;
    node->algorithm = own;
    for (uint32_t m = 0; m < own->member_count; m++)
      if (members[m].kind == SL_MEMBER_IN && members[m].collection->dimension_count > 0)
        members[m].collection = size_input(draft, sorted[i], m);
    for (uint32_t m = 0; m < own->member_count; m++)
      if (members[m].kind == SL_MEMBER_OUT && members[m].collection->dimension_count > 0)
        members[m].collection = size_output(draft, sorted[i], &members[m]);
  }
}
