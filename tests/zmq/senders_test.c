/* senders_test.c: headers of messages, and what sequence numbers show about senders. */
#include "zmq/senders.h"

#include "support.h"

#include <string.h>

static struct sl_zmq_finding take(struct sl_zmq_senders *s, uint64_t id, uint64_t sequence, uint32_t kind) {
  const struct sl_zmq_message m = {kind, id, sequence, 0, 0};
  return sl_zmq_senders_take(s, &m, (int)(id % 100));
}

static void a_header_is_read_as_it_was_written(void **state) {
  (void)state;
  const struct sl_zmq_message m = {SL_ZMQ_END, 0x0123456789abcdef, 1u << 31, 77, UINT32_MAX};
  struct sl_zmq_message read;
  unsigned char header[SL_ZMQ_HEADER_BYTES];
  sl_zmq_encode(&m, header);
  assert_int_equal(header[8], 0xef);
  assert_null(sl_zmq_decode(&read, header, sizeof header, UINT32_MAX));
  assert_int_equal(read.kind, m.kind);
  assert_true(read.sender == m.sender && read.sequence == m.sequence && read.events == m.events);
  assert_non_null(sl_zmq_decode(&read, header, sizeof header, 5));
  assert_non_null(sl_zmq_decode(&read, header, sizeof header - 1, UINT32_MAX));
  for (size_t i = 0; i < 8; i++) { /* magic, kind and the reserved bytes */
    unsigned char wrong[SL_ZMQ_HEADER_BYTES];
    memcpy(wrong, header, sizeof wrong);
    wrong[i] ^= 0x40;
    assert_non_null(sl_zmq_decode(&read, wrong, sizeof wrong, UINT32_MAX));
  }
}

static void gaps_and_repeats_are_found(void **state) {
  (void)state;
  struct sl_zmq_senders s = {0};
  assert_true(take(&s, 1, 0, SL_ZMQ_DATA).is_new);
  assert_int_equal(take(&s, 1, 1, SL_ZMQ_DATA).missing, 0);
  assert_int_equal(take(&s, 1, 5, SL_ZMQ_DATA).missing, 3);
  assert_true(take(&s, 1, 5, SL_ZMQ_DATA).is_repeated);
  assert_true(take(&s, 1, 2, SL_ZMQ_DATA).is_repeated);
  assert_int_equal(take(&s, 1, 6, SL_ZMQ_DATA).missing, 0);
  const struct sl_zmq_finding joined = take(&s, 2, 9, SL_ZMQ_DATA);
  assert_true(joined.is_new);
  assert_int_equal(joined.missing, 9);
  assert_true(take(&s, 1, 0, SL_ZMQ_DATA).is_new); /* it begins again */
  assert_int_equal(take(&s, 1, 1, SL_ZMQ_DATA).missing, 0);
}

static void a_closed_connection_is_a_loss_only_without_an_end(void **state) {
  (void)state;
  struct sl_zmq_senders s = {0};
  (void)take(&s, 1, 0, SL_ZMQ_DATA);
  (void)take(&s, 2, 0, SL_ZMQ_DATA);
  (void)take(&s, 2, 1, SL_ZMQ_END);
  sl_zmq_senders_cut(&s, 1);
  sl_zmq_senders_cut(&s, 2);
  sl_zmq_senders_cut(&s, -1);
  const struct sl_zmq_sender *lost = sl_zmq_senders_lost(&s);
  assert_non_null(lost);
  assert_int_equal(lost->id, 1);
  assert_null(sl_zmq_senders_lost(&s));
  assert_true(take(&s, 1, 1, SL_ZMQ_DATA).is_back);
  assert_null(sl_zmq_senders_lost(&s));
}

static void a_message_that_was_queued_when_its_connection_closed_is_no_return(void **state) {
  (void)state;
  struct sl_zmq_senders s = {0};
  (void)take(&s, 1, 0, SL_ZMQ_DATA);
  sl_zmq_senders_cut(&s, 1);
  assert_false(take(&s, 1, 1, SL_ZMQ_END).is_back);
  assert_null(sl_zmq_senders_lost(&s));
  (void)take(&s, 2, 0, SL_ZMQ_DATA);
  sl_zmq_senders_cut(&s, 2);
  assert_false(take(&s, 2, 1, SL_ZMQ_DATA).is_back);
  assert_int_equal(sl_zmq_senders_lost(&s)->id, 2);
}

static void the_table_forgets_ended_senders_first(void **state) {
  (void)state;
  static struct sl_zmq_senders s;
  for (uint64_t id = 0; id < SL_ZMQ_SENDERS_MAX; id++) (void)take(&s, id, 0, id == 77 ? SL_ZMQ_END : SL_ZMQ_DATA);
  (void)take(&s, 1000, 0, SL_ZMQ_DATA); /* in the place of 77 */
  assert_int_equal(take(&s, 0, 1, SL_ZMQ_DATA).missing, 0);
  (void)take(&s, 1001, 0, SL_ZMQ_DATA); /* in the place of 1, which was used the longest time ago */
  assert_int_equal(s.count, SL_ZMQ_SENDERS_MAX);
  assert_false(take(&s, 0, 2, SL_ZMQ_DATA).is_new);
  assert_true(take(&s, 1, 1, SL_ZMQ_DATA).is_new);
}

static void endpoints_are_checked(void **state) {
  (void)state;
  const char *reason;
  int binds;
  assert_true(sl_zmq_is_endpoint("zmq:tcp://*:1"));
  assert_false(sl_zmq_is_endpoint("zmq"));
  assert_string_equal(sl_zmq_endpoint("zmq:tcp://*:1", 1, &binds, &reason), "tcp://*:1");
  assert_true(binds);
  assert_string_equal(sl_zmq_endpoint("zmq:>ipc:///f", 1, &binds, &reason), "ipc:///f");
  assert_false(binds);
  assert_string_equal(sl_zmq_endpoint("zmq:tcp://h:1", 0, &binds, &reason), "tcp://h:1");
  assert_false(binds);
  static const char *const wrong[] = {"zmq:", "zmq:>", "zmq:udp://h:1", "zmq:h:1", "zmq:@tcp://h:1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_null(sl_zmq_endpoint(wrong[i], 1, &binds, &reason));
    assert_non_null(reason);
    assert_null(sl_zmq_endpoint(wrong[i], 0, &binds, &reason));
  }
  assert_null(sl_zmq_endpoint("zmq:>tcp://h:1", 0, &binds, &reason));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_header_is_read_as_it_was_written),
      cmocka_unit_test(gaps_and_repeats_are_found),
      cmocka_unit_test(a_closed_connection_is_a_loss_only_without_an_end),
      cmocka_unit_test(a_message_that_was_queued_when_its_connection_closed_is_no_return),
      cmocka_unit_test(the_table_forgets_ended_senders_first),
      cmocka_unit_test(endpoints_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
