/* records.c: reads record sources; see sluice/host.h, struct sl_records.
 *
 * 1. Find the records in the bytes of an input (bytes.h) or in a packet of a feed, one after another.
 * 2. Unpack several of them: concurrently if no output has items, else in order, until the slice is full.
 * 3. Report bad records and write the offsets, in input order.
 * Entries of a feed that hold arrays are appended by arrays.c. A slice of a feed is delivered if no further entry
 * arrives within `linger_us` after its first event.
 */
#include "records/records.h"

#include "base/clock.h"
#include "execute/setup.h"
#include "records/arrays.h"
#include "records/bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER_MAX = 1024, ENTRIES_MAX = 256, FIRST_WAIT_US = 5000, LINGER_US = 1000 };

/* A record that was found. */
struct found {
  const unsigned char *bytes;
  size_t count, step;
  uint64_t offset; /* in the input; of a feed: the index of the entry */
  uint32_t ends_entry, reserved;
  struct sl_unpack unpack;
};

struct reader {
  struct sl_record_reader base;
  const struct sl_services *services;
  const struct sl_node *node;
  const struct sl_records *records; /* NULL: only arrays */
  void *state;
  struct sl_filling filling;
  uint32_t has_items, is_strict, linger_us, timeout_s;
  struct found *found;
  uint64_t record_count; /* records so far: the number of the next event */
  /* files */
  struct sl_inputs inputs;
  uint32_t file; /* the current input */
  uint32_t is_open;
  struct sl_bytes bytes;
  size_t overlap; /* bytes at the beginning of the buffer that were part of the last record */
  uint64_t done_bytes;
  /* feed */
  struct sl_feed_entry entries[ENTRIES_MAX];
  uint32_t entry, entry_count;
  struct sl_arrays arrays;
  size_t packet_offset;
  uint64_t packet_events;
  uint64_t slice_ns, silent_ns, taken;
  uint32_t feed_has_ended, reserved;
};

static uint32_t property_of(const struct sl_node *node, const char *name, uint32_t otherwise) {
  const int m = sl_member_index(node->algorithm, name);
  const struct sl_member *property = m < 0 ? NULL : &node->algorithm->members[m];
  const int is_number = property && property->kind == SL_MEMBER_PROPERTY &&
                        (property->type == SL_TYPE_u32 || property->type == SL_TYPE_bool);
  return is_number ? (uint32_t)node->values[m].integer : otherwise;
}

/* ---------------------------------------------------------------------------------------------- bad records */

static void fail_record(struct sl_unpack *u, const char *format, ...) {
  va_list arguments;
  if (u->result == SL_UNPACK_FAILED) return;
  va_start(arguments, format);
  vsnprintf(u->text, sizeof u->text, format, arguments);
  va_end(arguments);
  u->result = SL_UNPACK_FAILED;
}

static void begin_record(struct sl_unpack *u) { *u = (struct sl_unpack){.size = sizeof *u, .fail = fail_record}; }

/* Reports a bad record of the current input: 0, or SL_ESTRICT. Each kind has its own format, because the runtime counts
 * messages by format. */
static int report_bad(const struct reader *r, const struct sl_event *event, uint64_t record, const char *text) {
  const struct sl_services *s = r->services;
  const uint32_t severity = r->is_strict ? SL_ERROR : SL_WARNING;
  const char *end = r->is_strict ? "; the run ends here, since the source is strict" : "";
  const char *file = event->file < r->inputs.path_count ? r->inputs.names[event->file] : "";
  if (s->feed)
    s->message(s->context, severity, "entry %" PRIu64 " of the feed (record %" PRIu64 "): %s%s", event->offset, record,
               text, end);
  else if (event->error == SL_EVENT_TRUNCATED)
    s->message(s->context, severity, "%s: record %" PRIu64 " at byte %" PRIu64 ": truncated: %s%s", file, record,
               event->offset, text, end);
  else if (event->error == SL_EVENT_TOO_LARGE)
    s->message(s->context, severity, "%s: record %" PRIu64 " at byte %" PRIu64 ": too large: %s%s", file, record,
               event->offset, text, end);
  else
    s->message(s->context, severity, "%s: record %" PRIu64 " at byte %" PRIu64 ": %s%s", file, record, event->offset,
               text, end);
  return r->is_strict ? SL_ESTRICT : SL_OK;
}

/* Appends an event for a record without data: 0, or SL_ESTRICT. */
static int append_bad(struct reader *r, struct sl_fill *fill, uint64_t offset, uint32_t error, const char *text) {
  struct sl_event *event = &fill->events[fill->event_count];
  *event = (struct sl_event){.number = r->record_count, .offset = offset, .file = r->file, .error = error};
  const int status = report_bad(r, event, r->record_count, text);
  if (status < 0) return status;
  sl_filling_end_event(&r->filling, fill->event_count++, 1);
  r->record_count++;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ unpacking */

struct unpacking {
  struct reader *reader;
  const void *args;
  struct sl_fill *fill;
  uint32_t first; /* event of the first record */
};

static void unpack(void *work, uint32_t index, uint32_t worker) {
  const struct unpacking *w = work;
  struct reader *r = w->reader;
  struct found *f = &r->found[index];
  const uint32_t event = w->first + index;
  (void)worker;
  begin_record(&f->unpack);
  w->fill->events[event] = (struct sl_event){.number = r->record_count + index, .offset = f->offset, .file = r->file};
  f->unpack.event = event;
  f->unpack.about = &w->fill->events[event];
  r->records->unpack(r->state, w->args, f->bytes, f->count, &f->unpack);
}

/* Whether an event is too large must not depend on the events before it: all its items count. */
static void limit_record(struct reader *r, struct sl_unpack *u, int is_alone) {
  const struct sl_bound *exceeded = u->result == SL_UNPACK_OK ? sl_filling_exceeded(&r->filling, &u->needed) : NULL;
  if (exceeded) u->exceeded = exceeded;
  if (exceeded || (u->result == SL_UNPACK_FULL && is_alone)) u->result = SL_UNPACK_TOO_LARGE;
  if (u->result != SL_UNPACK_OK) sl_filling_undo(&r->filling);
}

/* Ends the event of a record that was unpacked: 1; 0 if it does not fit into the slice; or SL_ESTRICT. */
static int end_record(struct reader *r, struct sl_fill *fill, const struct found *f, uint64_t record) {
  const struct sl_unpack *u = &f->unpack;
  struct sl_event *event = &fill->events[fill->event_count];
  char text[256];
  if (u->result == SL_UNPACK_FULL) return 0;
  if (u->result == SL_UNPACK_TOO_LARGE) {
    const int length = snprintf(text, sizeof text, "%" PRIu64 " ", u->needed);
    sl_filling_describe(&r->filling, u->exceeded, text + length, sizeof text - (size_t)length);
    event->error = SL_EVENT_TOO_LARGE;
  }
  if (u->result == SL_UNPACK_FAILED) event->error = SL_EVENT_CORRUPT;
  if (event->error != SL_EVENT_OK) {
    const int status = report_bad(r, event, record, event->error == SL_EVENT_CORRUPT ? u->text : text);
    if (status < 0) return status;
  }
  sl_filling_end_event(&r->filling, fill->event_count++, event->error != SL_EVENT_OK);
  return 1;
}

/* Unpacks `count` records. Returns the number of records in the slice, or SL_ESTRICT. */
static int64_t unpack_found(struct reader *r, const void *args, struct sl_fill *fill, uint32_t count) {
  struct unpacking work = {r, args, fill, fill->event_count};
  const uint64_t first = r->record_count;
  if (!r->has_items) r->services->in_parallel(r->services->context, count, unpack, &work);
  for (uint32_t i = 0; i < count; i++) {
    if (r->has_items) {
      sl_filling_save(&r->filling);
      unpack(&work, i, 0);
      limit_record(r, &r->found[i].unpack, fill->event_count == 0);
    }
    const int status = end_record(r, fill, &r->found[i], first + i);
    if (status <= 0) {
      r->record_count += i;
      return status < 0 ? status : (int64_t)i;
    }
  }
  r->record_count += count;
  return count;
}

/* Finds the record at the beginning of `left` bytes; `is_end`: no bytes follow. Returns its length; more than `left` if
 * it is not complete; 0 if it cannot be found, with the text in f->unpack. Without `length` all bytes are one record.
 */
static size_t find_record(struct reader *r, const void *args, const unsigned char *bytes, size_t left, int is_end,
                          struct found *f) {
  struct sl_unpack *u = &f->unpack;
  begin_record(u);
  uint64_t length = r->records->length ? r->records->length(r->state, args, bytes, left, u) : left;
  if (length == 0) u->fail(u, "its length is 0");
  if (u->result == SL_UNPACK_FAILED) return 0;
  const int is_rest = length > left && is_end && r->records->takes_rest;
  if (length > left && !is_rest) return length > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)length;
  if (is_rest) length = left;
  f->bytes = bytes;
  f->count = (size_t)length;
  f->step = is_rest || u->step == 0 || u->step > length ? f->count : (size_t)u->step;
  f->ends_entry = 0;
  return f->count;
}

/* ---------------------------------------------------------------------------------------------------- files */

struct header_check {
  const struct reader *reader;
  const char *name;
  int status;
};

static void check_value(void *context, const char *property, double value) {
  struct header_check *h = context;
  const struct sl_services *s = h->reader->services;
  const struct sl_node *node = h->reader->node;
  const int m = sl_member_index(node->algorithm, property);
  if (m < 0 || !(node->algorithm->members[m].flags & SL_FLAG_INPUT)) {
    s->message(s->context, SL_ERROR, "the header sets %s, which is no value of the input of %s", property, node->use);
    h->status = SL_EPLUGIN;
  } else if (node->values[m].number != value) {
    s->message(s->context, SL_ERROR, "%s: %s is %.17g; the run was planned for %.17g", h->name, property, value,
               node->values[m].number);
    h->status = SL_EFORMAT;
  }
}

static void forward_message(void *context, uint32_t severity, const char *format, ...) {
  const struct header_check *h = context;
  const struct sl_services *s = h->reader->services;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  s->message(s->context, severity, "%s", text);
}

static int report_file(const struct reader *r, const char *what, const char *reason) {
  const struct sl_services *s = r->services;
  s->message(s->context, SL_ERROR, "%s %s: %s", what, r->inputs.names[r->file], reason);
  return SL_EIO;
}

/* Reads and skips the header of the current input: 1; 0 if its bytes have not arrived; or an error. */
static int skip_header(struct reader *r) {
  char reason[128];
  struct header_check check = {r, r->inputs.names[r->file], SL_OK};
  const struct sl_header_calls calls = {
      .size = sizeof calls, .context = &check, .set = check_value, .message = forward_message};
  size_t needed = 1;
  while (r->records->header) {
    const int status = sl_bytes_need(&r->bytes, needed, reason, sizeof reason);
    if (status <= 0) return status < 0 ? report_file(r, "cannot read", reason) : 0;
    const size_t count = sl_bytes_count(&r->bytes);
    const int64_t bytes = r->records->header(check.name, r->bytes.buffer + r->bytes.begin, count, &calls);
    if (bytes < 0 || check.status < 0) return check.status < 0 ? check.status : (int)bytes;
    if ((uint64_t)bytes <= count) {
      sl_bytes_skip(&r->bytes, (size_t)bytes);
      return 1;
    }
    if (r->bytes.has_ended) {
      snprintf(reason, sizeof reason, "it ends after %zu of the %" PRId64 " bytes of its header", count, bytes);
      return report_file(r, "cannot read", reason);
    }
    needed = (size_t)bytes;
  }
  return 1;
}

/* Opens the next input: 1; 0 if its header has not arrived; or an error. */
static int open_file(struct reader *r) {
  char reason[128];
  if (r->is_open == 0) {
    if (sl_bytes_open(&r->bytes, r->inputs.paths[r->file], reason, sizeof reason) < 0)
      return report_file(r, "cannot open", reason);
    r->is_open = 1;
    r->overlap = 0;
  }
  const int status = skip_header(r);
  if (status == 1) r->is_open = 2;
  return status;
}

static void end_file(struct reader *r) {
  r->done_bytes += r->bytes.offset;
  sl_bytes_close(&r->bytes);
  r->is_open = 0;
  r->file++;
}

/* Ends an input that has less than a whole record left: 1, or SL_ESTRICT. `length`: of the record. */
static int end_with_rest(struct reader *r, struct sl_fill *fill, size_t length) {
  const size_t rest = sl_bytes_count(&r->bytes);
  char text[96];
  int status = SL_OK;
  if (rest > r->overlap) {
    snprintf(text, sizeof text, "the input ends after %zu of its %zu bytes", rest, length);
    status = append_bad(r, fill, r->bytes.offset, SL_EVENT_TRUNCATED, text);
  }
  sl_bytes_skip(&r->bytes, rest);
  end_file(r);
  return status < 0 ? status : 1;
}

/* Finds up to `most` whole records in the buffer; *length: that of the record after them, if it is not complete; 0: it
 * cannot be found. */
static uint32_t find_records(struct reader *r, const void *args, uint32_t most, size_t *length) {
  size_t at = 0;
  uint32_t count = 0;
  *length = 1;
  while (count < most && sl_bytes_count(&r->bytes) > at) {
    struct found *f = &r->found[count];
    const size_t left = sl_bytes_count(&r->bytes) - at;
    *length = find_record(r, args, r->bytes.buffer + r->bytes.begin + at, left, r->bytes.has_ended, f);
    if (*length == 0 || *length > left) return count;
    f->offset = r->bytes.offset + at;
    at += f->step;
    count++;
    *length = 1;
  }
  return count;
}

/* The whole input as one record. */
static int step_whole_file(struct reader *r, const void *args, struct sl_fill *fill) {
  char reason[128];
  const int status = sl_bytes_need(&r->bytes, SIZE_MAX / 4, reason, sizeof reason);
  if (status < 0) return report_file(r, "cannot read", reason);
  if (status == 0 || !r->bytes.has_ended) return 0;
  r->found[0] = (struct found){
      .bytes = r->bytes.buffer + r->bytes.begin, .count = sl_bytes_count(&r->bytes), .offset = r->bytes.offset};
  const int64_t done = unpack_found(r, args, fill, 1);
  if (done <= 0) return (int)done;
  sl_bytes_skip(&r->bytes, sl_bytes_count(&r->bytes));
  end_file(r);
  return 1;
}

/* Appends records of the current input: 1; 0 if the slice must be delivered; or an error. */
static int step_file(struct reader *r, const void *args, struct sl_fill *fill) {
  char reason[128];
  size_t length;
  if (r->is_open < 2) return open_file(r);
  if (!r->records->length) return step_whole_file(r, args, fill);
  const uint32_t room = fill->events_max - fill->event_count;
  const uint32_t found = find_records(r, args, room < TOGETHER_MAX ? room : TOGETHER_MAX, &length);
  if (found == 0) {
    if (length == 0) { /* nothing after it can be found either */
      char text[320];
      snprintf(text, sizeof text, "%s; the rest of the input is skipped", r->found[0].unpack.text);
      const int status = append_bad(r, fill, r->bytes.offset, SL_EVENT_CORRUPT, text);
      sl_bytes_skip(&r->bytes, sl_bytes_count(&r->bytes));
      end_file(r);
      return status < 0 ? status : 1;
    }
    if (r->bytes.has_ended) return end_with_rest(r, fill, length);
    const int status = sl_bytes_need(&r->bytes, length, reason, sizeof reason);
    if (status < 0) return report_file(r, "cannot read", reason);
    return status; /* a pipe has nothing now: deliver */
  }
  const int64_t done = unpack_found(r, args, fill, found);
  for (int64_t i = 0; i < done; i++) {
    sl_bytes_skip(&r->bytes, r->found[i].step);
    r->overlap = r->found[i].count - r->found[i].step;
  }
  return done < 0 ? (int)done : done == found;
}

/* ---------------------------------------------------------------------------------------------------- feed */

/* Takes entries: 1; 0 if the slice must be delivered; or an error. */
static int take_entries(struct reader *r, struct sl_fill *fill) {
  const struct sl_feed_calls *feed = r->services->feed;
  const uint64_t begin = sl_now_ns();
  const uint64_t waited_us = (begin - r->slice_ns) / 1000;
  const uint64_t wait_us = fill->event_count == 0     ? FIRST_WAIT_US
                           : waited_us < r->linger_us ? r->linger_us - waited_us
                                                      : 0;
  r->entry = r->entry_count = 0;
  r->feed_has_ended = !feed->take(feed->context, r->entries, ENTRIES_MAX, wait_us, &r->entry_count);
  r->taken += r->entry_count;
  if (r->entry_count > 0) {
    r->silent_ns = 0;
    return 1;
  }
  r->silent_ns += sl_now_ns() - begin;
  if (r->feed_has_ended || r->timeout_s == 0 || r->silent_ns < (uint64_t)r->timeout_s * 1000000000u) return 0;
  r->services->message(r->services->context, SL_ERROR, "no event was fed for %" PRIu32 " s, and the feed was not ended",
                       r->timeout_s);
  return SL_EIO;
}

/* Finds the records of packets, from the current entry on. An entry without a record ends the search. */
static uint32_t find_in_packets(struct reader *r, const void *args, uint32_t most, const char **fault) {
  uint32_t count = 0, entry = r->entry;
  size_t at = r->packet_offset;
  for (; entry < r->entry_count && count < most; entry++, at = 0) {
    const struct sl_feed_entry *e = &r->entries[entry];
    if (!e->packet || !r->records) break;
    while (at < e->packet_bytes && count < most) {
      struct found *f = &r->found[count];
      const size_t left = e->packet_bytes - at;
      const size_t length = find_record(r, args, (const unsigned char *)e->packet + at, left, 1, f);
      if (length == 0 || length > left) {
        *fault = length == 0 ? f->unpack.text : "the packet ends within the record";
        return count;
      }
      f->offset = e->index;
      at += f->step;
      f->ends_entry = at + (f->count - f->step) >= e->packet_bytes; /* no bytes beyond this record */
      if (f->ends_entry) at = e->packet_bytes;
      count++;
    }
    if (at < e->packet_bytes) break;
  }
  return count;
}

/* Ends the current entry; `packet_events` of its events are in slices. */
static void end_entry(struct reader *r) {
  r->services->feed->packed(r->services->feed->context, 1, r->packet_events);
  r->entry++;
  r->packet_offset = 0;
  r->packet_events = 0;
}

/* Appends a bad event for the current entry, and ends it: 1, or SL_ESTRICT. */
static int refuse_entry(struct reader *r, struct sl_fill *fill, const char *text) {
  const int status = append_bad(r, fill, r->entries[r->entry].index, SL_EVENT_CORRUPT, text);
  if (status < 0) return status;
  r->packet_events++;
  end_entry(r);
  return 1;
}

static int step_arrays(struct reader *r, struct sl_fill *fill) {
  const struct sl_feed_entry *e = &r->entries[r->entry];
  int status = SL_OK;
  if (r->arrays.entry != e) status = sl_arrays_begin(&r->arrays, r->services, &r->filling, e, r->record_count);
  if (status == SL_OK) status = sl_arrays_append(&r->arrays, r->services, &r->filling, fill);
  if (status != 1) return status;
  r->packet_events = e->event_count;
  r->record_count += e->event_count;
  r->arrays.entry = NULL;
  end_entry(r);
  return 1;
}

static int step_feed(struct reader *r, const void *args, struct sl_fill *fill) {
  if (r->entry == r->entry_count) return r->feed_has_ended ? 0 : take_entries(r, fill);
  const struct sl_feed_entry *e = &r->entries[r->entry];
  if (e->arrays) return step_arrays(r, fill);
  if (!e->packet || !r->records)
    return refuse_entry(r, fill,
                        r->records ? "an event as blocks; this source takes packets that hold its records, or arrays"
                                   : "no arrays; the feed was opened for arrays");
  const uint32_t room = fill->events_max - fill->event_count;
  const char *fault = "a packet without a record";
  const uint32_t found = find_in_packets(r, args, room < TOGETHER_MAX ? room : TOGETHER_MAX, &fault);
  if (found == 0) return refuse_entry(r, fill, fault);
  const int64_t done = unpack_found(r, args, fill, found);
  for (int64_t i = 0; i < done; i++) {
    r->packet_offset += r->found[i].step;
    r->packet_events++;
    if (r->found[i].ends_entry) end_entry(r);
  }
  return done < 0 ? (int)done : done == found;
}

/* ------------------------------------------------------------------------------------------------- the source */

static int fill_slice(struct sl_record_reader *reader, const struct sl_services *s, const void *args,
                      struct sl_fill *fill) {
  struct reader *r = (struct reader *)reader;
  int more = 1;
  sl_filling_begin(&r->filling, args);
  while (more == 1 && fill->event_count < fill->events_max) {
    const uint32_t before = fill->event_count;
    if (!s->feed && r->file == r->inputs.path_count) break;
    more = s->feed ? step_feed(r, args, fill) : step_file(r, args, fill);
    if (before == 0 && fill->event_count > 0) r->slice_ns = sl_now_ns();
  }
  fill->progress_done = s->feed ? r->taken : r->done_bytes + r->bytes.offset;
  if (more < 0) return more;
  return s->feed ? !(r->feed_has_ended && r->entry == r->entry_count) : r->file < r->inputs.path_count;
}

static void close_reader(struct sl_record_reader *reader) {
  struct reader *r = (struct reader *)reader;
  if (r->records && r->records->close) r->records->close(r->state);
  sl_bytes_close(&r->bytes);
  free(r->bytes.buffer);
  sl_filling_close(&r->filling);
  free(r->found);
  free(r);
}

static int open_reader(const struct sl_services *s, const void *args, const struct sl_inputs *inputs,
                       const struct sl_records *records, void *state, struct sl_record_reader **reader) {
  const struct sl_node_context *context = s->context;
  const struct sl_node *node = &context->setup->graph->nodes[context->node];
  struct reader *r = calloc(1, sizeof *r);
  if (!r) return SL_ENOMEM;
  r->base.close = close_reader;
  r->services = s;
  r->node = node;
  r->inputs = *inputs;
  r->record_count = context->setup->first_record;
  r->bytes.descriptor = -1;
  r->has_items = (uint32_t)sl_filling_has_items(node->algorithm);
  r->is_strict = property_of(node, "strict", 0);
  r->linger_us = property_of(node, "linger_us", LINGER_US);
  r->timeout_s = property_of(node, "timeout_s", 0);
  r->found = calloc(TOGETHER_MAX, sizeof *r->found);
  int status = sl_filling_open(&r->filling, node->algorithm);
  if (!r->found) status = SL_ENOMEM;
  if (status == SL_OK && records && records->open) status = records->open(state, s, args);
  if (status < 0) {
    close_reader(&r->base);
    return status;
  }
  r->records = records;
  r->state = state;
  *reader = &r->base;
  return SL_OK;
}

const struct sl_record_calls sl_record_calls = {sizeof sl_record_calls, 0, open_reader, fill_slice};

/* ---------------------------------------------------------------------------------------- a source of arrays */

uint32_t sl_arrays_state_bytes(void) { return sizeof(struct sl_record_reader *); }

static int arrays_open(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  return open_reader(s, args, inputs, NULL, NULL, state);
}

static int arrays_fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  return fill_slice(*(struct sl_record_reader **)state, s, args, fill);
}

static void arrays_close(void *state) {
  struct sl_record_reader *reader = *(struct sl_record_reader **)state;
  if (reader) reader->close(reader);
}

const struct sl_source sl_arrays_source = {.open = arrays_open, .fill = arrays_fill, .close = arrays_close};
