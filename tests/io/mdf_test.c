/* mdf_test.c: the parts of the MDF reader that read from memory: records, banks, checksums, decompression. */
#include "format/mdf.h"

#include "format/mdf_checksum.h"
#include "format/mdf_decompress.h"
#include "mdf_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t random_state = 12345;
static uint32_t random_u32(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  return random_state ^= random_state << 5;
}

static void checksum_follows_its_definition(void **state) {
  (void)state;
  assert_int_equal(mdf_checksum((const uint8_t *)"", 0), 0);
  /* Published values of Jenkins, for bytes below 128, where signed and unsigned bytes agree. */
  assert_int_equal(mdf_checksum((const uint8_t *)"a", 1), 0xca2e9442);
  assert_int_equal(mdf_checksum((const uint8_t *)"The quick brown fox jumps over the lazy dog", 43), 0x519e91f5);
  uint8_t all[256];
  for (int i = 0; i < 256; i++) all[i] = (uint8_t)i;
  assert_int_equal(mdf_checksum(all, 256), reference_checksum(all, 256));
}

static void hasher_agrees_with_single_checksums_for_all_lengths(void **state) {
  (void)state;
  enum { JOBS = 600, LENGTH_MAX = 700 };
  uint8_t *bytes = malloc(JOBS * LENGTH_MAX);
  for (size_t i = 0; i < JOBS * LENGTH_MAX; i++) bytes[i] = (uint8_t)random_u32();
  struct mdf_hasher h;
  mdf_hasher_reset(&h);
  uint32_t pushed = 0, hash;
  for (uint32_t taken = 0; taken < JOBS; taken++) {
    const uint32_t ahead = 1 + taken % MDF_HASH_JOBS; /* also with few pending jobs */
    while (pushed < JOBS && !mdf_hasher_is_full(&h) && pushed < taken + ahead) {
      const uint8_t *begin = bytes + pushed * LENGTH_MAX;
      mdf_hasher_push(&h, pushed, begin, pushed * 7919 % LENGTH_MAX);
      pushed++;
    }
    assert_int_equal(mdf_hasher_take(&h, taken + 1, &hash), 0);
    assert_int_equal(mdf_hasher_take(&h, taken, &hash), 1);
    assert_int_equal(hash, mdf_checksum(bytes + taken * LENGTH_MAX, taken * 7919 % LENGTH_MAX));
  }
  free(bytes);
}

static void records_of_every_version_are_delimited(void **state) {
  (void)state;
  static const uint32_t header_bytes[] = {40, 48, 20, 48};
  struct bytes file = {0}, body = {0};
  add_odin(&body, 7, 5, 6);
  for (uint32_t version = 0; version < 4; version++)
    add_record(&file, &body, &(struct record_style){.version = version, .run = 77, .trigger_number = 0x1234567890ull});
  struct mdf_reader reader = mdf_reader_start(file.data, file.size);
  struct mdf_record record;
  for (uint32_t version = 0; version < 4; version++) {
    assert_true(mdf_next(&reader, &record));
    assert_int_equal(record.fault.kind, MDF_FAULT_NONE);
    assert_int_equal(record.version, version);
    assert_int_equal(record.header_bytes, header_bytes[version]);
    assert_int_equal(record.bytes, header_bytes[version] + body.size);
    assert_int_equal(record.has_run, version == 1 || version == 3);
    assert_int_equal(record.run, record.has_run ? 77 : 0);
    assert_int_equal(record.number, version == 0 ? 0x1234567890ull : 0);
    assert_int_equal(record.data_type, 1);
  }
  assert_false(mdf_next(&reader, &record));
  bytes_free(&file);
  bytes_free(&body);
}

static void banks_are_walked_to_the_exact_end(void **state) {
  (void)state;
  struct bytes body = {0};
  add_bank(&body, 9, 3, 0xfedc, "abcde", 5);
  add_bank(&body, 200, 1, 1, "", 0);
  add_bank(&body, 64, 5, 2, "xyz", 3);
  body.size -= 1; /* the padding of the last bank may be missing */
  struct io_bank bank;
  struct mdf_fault fault;
  uint64_t position = 0;
  assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), 1);
  assert_int_equal(bank.size_bytes, 5);
  assert_int_equal(bank.source_id, 0xfedc);
  assert_int_equal(bank.type, 9);
  assert_int_equal(bank.version, 3);
  assert_memory_equal(bank.payload, "abcde", 5);
  assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), 1);
  assert_int_equal(bank.size_bytes, 0);
  assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), 1);
  assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), 0);
  bytes_free(&body);
}

static void broken_banks_are_faults_with_their_offset(void **state) {
  (void)state;
  static const struct {
    uint8_t byte, value;
    uint32_t fault;
    const char *text;
  } cases[] = {
      {12, 0xCC, MDF_FAULT_BANK_MAGIC, "bank at byte 12 of the body: magic 0xcbcc, expected 0xcbcb"},
      {14, 7, MDF_FAULT_BANK_LENGTH, "bank at byte 12 of the body: length 7, expected 8 to 12"},
      {14, 13, MDF_FAULT_BANK_LENGTH, "bank at byte 12 of the body: length 13, expected 8 to 12"},
      {2, 20, MDF_FAULT_BANK_LENGTH, "bank at byte 20 of the body: length 4, expected 8 to 4"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct bytes body = {0};
    add_bank(&body, 1, 1, 1, "abcd", 4);
    add_bank(&body, 1, 1, 1, "abcd", 4);
    body.data[cases[i].byte] = cases[i].value;
    struct io_bank bank;
    struct mdf_fault fault;
    uint64_t position = 0;
    assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), 1);
    assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), -1);
    assert_int_equal(fault.kind, cases[i].fault);
    char text[128];
    mdf_fault_text(&fault, text, sizeof text);
    assert_string_equal(text, cases[i].text);
    bytes_free(&body);
  }
}

static void every_codec_restores_the_body(void **state) {
  (void)state;
  struct bytes body = {0};
  add_odin(&body, 7, 1, 2);
  for (uint16_t i = 0; i < 40; i++) add_clusters(&body, i, 30, i % 4);
  struct mdf_decompressor d = {0};
  for (uint32_t codec = WITH_ZLIB; codec <= WITH_ZSTD; codec++) {
    struct bytes file = {0};
    add_record(&file, &body, &(struct record_style){.version = 3, .codec = codec});
    struct mdf_record record;
    struct mdf_fault fault;
    uint32_t bytes = 0;
    assert_true(mdf_record_at(file.data, file.size, 0, &record));
    assert_int_equal(record.compression, 1);
    assert_true(record.bytes < body.size);
    const uint64_t stored = record.bytes - record.header_bytes;
    assert_int_equal(mdf_decompress(&d, file.data + 48, stored, &bytes, &fault), 0);
    assert_int_equal(bytes, body.size);
    assert_memory_equal(d.bytes, body.data, bytes);
    /* Truncated, larger than allowed, grown, unknown codec: each must be a fault. */
    assert_int_equal(mdf_decompress(&d, file.data + 48, stored - 1, &bytes, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_BLOCK);
    d.limit = bytes - 1;
    assert_int_equal(mdf_decompress(&d, file.data + 48, stored, &bytes, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_TOO_LARGE);
    d.limit = bytes;
    assert_int_equal(mdf_decompress(&d, file.data + 48, stored, &bytes, &fault), 0);
    d.limit = 0;
    file.data[48 + 6]++; /* uncompressed size */
    assert_int_equal(mdf_decompress(&d, file.data + 48, stored, &bytes, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_DECOMPRESS);
    file.data[48] = 'Q';
    assert_int_equal(mdf_decompress(&d, file.data + 48, stored, &bytes, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_BLOCK);
    bytes_free(&file);
  }
  mdf_decompressor_free(&d);
  bytes_free(&body);
}

/* A block with a size that its codec cannot produce, and a valid block with the highest compression ratio. */
static void compression_bombs_take_no_memory(void **state) {
  (void)state;
  enum { LARGE = 0xffffff, SMALL = 300 };
  struct bytes zeros = {0}, few = {0};
  uint8_t *zero = calloc(1, LARGE);
  assert_non_null(zero);
  bytes_add(&zeros, zero, LARGE);
  bytes_add(&few, zero, SMALL);
  for (uint32_t codec = WITH_ZLIB; codec <= WITH_ZSTD; codec++) {
    struct bytes liar = {0}, bomb = {0};
    struct mdf_decompressor d = {0};
    struct mdf_fault fault;
    uint32_t bytes = 0;
    const struct record_style style = {.version = 3, .codec = codec};
    add_record(&liar, &few, &style);
    memset(liar.data + 48 + 6, 0xff, 3);
    assert_int_equal(mdf_decompress(&d, liar.data + 48, liar.size - 48, &bytes, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_EXPANSION);
    assert_int_equal(d.capacity, 0);
    add_record(&bomb, &zeros, &style);
    assert_true(bomb.size < LARGE / 100);
    d.limit = LARGE - 1;
    assert_int_equal(mdf_decompress(&d, bomb.data + 48, bomb.size - 48, &bytes, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_TOO_LARGE);
    assert_int_equal(d.capacity, 0);
    d.limit = LARGE;
    assert_int_equal(mdf_decompress(&d, bomb.data + 48, bomb.size - 48, &bytes, &fault),
                     0); /* the block states its true size */
    assert_int_equal(d.capacity, LARGE);
    mdf_decompressor_free(&d);
    bytes_free(&liar);
    bytes_free(&bomb);
  }
  free(zero);
  bytes_free(&zeros);
  bytes_free(&few);
}

/* Reads all records of `file` and returns the record at `offset`. */
static struct mdf_record read_record_at(const struct bytes *file, size_t offset) {
  struct mdf_reader reader = mdf_reader_start(file->data, file->size);
  struct mdf_record record, found_record;
  memset(&found_record, 0xff, sizeof found_record);
  uint64_t end = 0;
  while (mdf_next(&reader, &record)) {
    assert_int_equal(record.offset, end); /* each byte belongs to exactly one record */
    end += record.bytes;
    if (record.offset == offset) found_record = record;
  }
  assert_int_equal(end, file->size);
  assert_int_equal(found_record.offset, offset);
  return found_record;
}

static void damaged_headers_lose_only_their_record(void **state) {
  (void)state;
  static const struct {
    size_t byte;
    uint32_t fault;
  } cases[] = {{0, MDF_FAULT_LENGTHS},
               {5, MDF_FAULT_LENGTHS},
               {11, MDF_FAULT_LENGTHS},
               {3, MDF_FAULT_LENGTHS},
               {17, MDF_FAULT_HEADER_TYPE}};
  for (uint32_t damaged = 0; damaged < 3; damaged++)
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      struct bytes file = {0};
      size_t offsets[4];
      for (uint32_t k = 0; k < 3; k++) offsets[k] = add_simple_record(&file, k + 1);
      offsets[3] = file.size;
      file.data[offsets[damaged] + cases[i].byte] ^= 0x90;
      for (uint32_t k = 0; k < 3; k++) {
        const struct mdf_record record = read_record_at(&file, offsets[k]);
        assert_int_equal(record.fault.kind, k == damaged ? cases[i].fault : (uint32_t)MDF_FAULT_NONE);
        assert_int_equal(record.bytes, offsets[k + 1] - offsets[k]);
      }
      bytes_free(&file);
    }
}

static void unusable_headers_are_skipped_up_to_the_next_record(void **state) {
  (void)state;
  struct bytes file = {0};
  size_t offsets[5];
  for (uint32_t k = 0; k < 5; k++) offsets[k] = add_simple_record(&file, k + 1);
  memset(file.data + offsets[1], 0, 20);    /* all lengths zero */
  memset(file.data + offsets[3], 0x41, 12); /* three equal lengths, much too long */
  assert_int_equal(read_record_at(&file, offsets[0]).fault.kind, MDF_FAULT_NONE);
  assert_int_equal(read_record_at(&file, offsets[1]).fault.kind, MDF_FAULT_SKIPPED);
  assert_int_equal(read_record_at(&file, offsets[1]).bytes, offsets[2] - offsets[1]);
  assert_int_equal(read_record_at(&file, offsets[2]).fault.kind, MDF_FAULT_NONE);
  assert_int_equal(read_record_at(&file, offsets[3]).fault.kind, MDF_FAULT_SKIPPED);
  assert_int_equal(read_record_at(&file, offsets[4]).fault.kind, MDF_FAULT_NONE);
  bytes_free(&file);
}

/* Three equal wrong lengths within the file must not make the reader skip valid records. */
static void equal_but_wrong_lengths_hide_no_record(void **state) {
  (void)state;
  struct bytes file = {0};
  size_t offsets[4];
  for (uint32_t k = 0; k < 4; k++) offsets[k] = add_simple_record(&file, k + 1);
  const uint32_t wrong = (uint32_t)(offsets[3] - offsets[1] + 10);
  for (int i = 0; i < 3; i++) memcpy(file.data + offsets[1] + 4 * i, &wrong, 4);
  assert_int_equal(read_record_at(&file, offsets[1]).fault.kind, MDF_FAULT_SKIPPED);
  assert_int_equal(read_record_at(&file, offsets[2]).fault.kind, MDF_FAULT_NONE);
  assert_int_equal(read_record_at(&file, offsets[3]).fault.kind, MDF_FAULT_NONE);
  bytes_free(&file);
}

/* A valid record between two unusable headers has no valid neighbour: its checksum, banks or block must verify it. */
static void sound_record_between_unusable_headers_is_found(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < 3; kind++) {
    struct bytes file = {0}, body = {0};
    add_odin(&body, 7, 1, 2);
    add_clusters(&body, 1, 20, 3);
    const size_t first = add_simple_record(&file, 1);
    const size_t sound = add_record(
        &file, &body,
        &(struct record_style){
            .version = 3, .no_checksum = kind > 0, .codec = kind == 2 ? WITH_ZSTD : NO_CODEC, .expansion = 15});
    const size_t last = add_simple_record(&file, 3);
    memset(file.data + first, 0x11, 20);
    for (int i = 0; i < 20; i++) file.data[last + (size_t)i] = (uint8_t)(i * 37);
    assert_int_equal(read_record_at(&file, first).fault.kind, MDF_FAULT_SKIPPED);
    assert_int_equal(read_record_at(&file, sound).fault.kind, MDF_FAULT_NONE);
    assert_int_equal(read_record_at(&file, last).fault.kind, MDF_FAULT_SKIPPED);
    bytes_free(&file);
    bytes_free(&body);
  }
}

static void cut_file_ends_in_a_truncated_record(void **state) {
  (void)state;
  struct bytes file = {0};
  add_simple_record(&file, 1);
  const size_t last = add_simple_record(&file, 2), size = file.size;
  for (file.size = last + 1; file.size < size; file.size++) {
    const struct mdf_record record = read_record_at(&file, last);
    assert_int_equal(record.fault.kind, MDF_FAULT_TRUNCATED);
    assert_int_equal(record.bytes, file.size - last);
    if (file.size - last >= 48) assert_int_equal(record.run, 1000);
  }
  bytes_free(&file);
}

static void only_files_with_a_record_are_recognised(void **state) {
  (void)state;
  struct bytes file = {0};
  uint8_t junk[4096];
  for (size_t i = 0; i < sizeof junk; i++) junk[i] = (uint8_t)random_u32();
  assert_false(mdf_recognise(junk, sizeof junk));
  assert_false(mdf_recognise((const uint8_t *)"sluice: 1\nnodes: {}\n", 20));
  memset(junk, 0, sizeof junk);
  assert_false(mdf_recognise(junk, sizeof junk));
  bytes_add(&file, junk, 100);
  const size_t begin = add_simple_record(&file, 1);
  assert_true(mdf_recognise(file.data, file.size));
  assert_true(mdf_recognise(file.data + begin, file.size - begin));
  assert_true(mdf_recognise(file.data + begin, 20)); /* an incomplete record */
  assert_false(mdf_recognise(file.data + begin, 19));
  file.data[begin] ^= 1;
  assert_true(mdf_recognise(file.data + begin, file.size - begin));
  bytes_free(&file);
}

/* A file in which each byte looks like the beginning of a record, but none is one, must be read in time proportional to
 * its size. */
static void hostile_headers_take_at_most_linear_time(void **state) {
  (void)state;
  enum { SIZE = 1 << 21 };
  struct bytes file = {0};
  uint8_t header[20] = {0};
  header[17] = 0x20;
  header[12] = 1; /* a wrong checksum */
  for (uint32_t offset = 0; offset < SIZE; offset += 20) {
    const uint32_t length = SIZE - offset - 100 > SIZE ? 20 : SIZE - offset - 100;
    for (int i = 0; i < 3; i++) memcpy(header + 4 * i, &length, 4);
    bytes_add(&file, header, sizeof header);
  }
  memset(file.data + SIZE - 101, 0x7f, 100); /* the end of all of them: nothing follows */
  struct mdf_reader reader = mdf_reader_start(file.data, file.size);
  const uint64_t allowance = reader.verify_bytes;
  struct mdf_record record;
  uint64_t end = 0;
  while (mdf_next(&reader, &record)) end += record.bytes;
  assert_int_equal(end, file.size);
  assert_true(allowance <= 5u * SIZE);
  bytes_free(&file);
}

static void tae_record_gives_its_central_crossing(void **state) {
  (void)state;
  for (int with_status = 0; with_status < 2; with_status++) {
    struct bytes body = {0}, crossings[3] = {{0}, {0}, {0}};
    int32_t triplets[9];
    int32_t offset = 0;
    for (int i = 0; i < 3; i++) {
      add_odin(&crossings[i], 7, 1, (uint64_t)(100 + i));
      add_clusters(&crossings[i], 0, (uint32_t)(i + 1), 9);
      triplets[3 * i] = i - 1;
      triplets[3 * i + 1] = offset;
      triplets[3 * i + 2] = (int32_t)crossings[i].size;
      offset += (int32_t)crossings[i].size;
    }
    if (with_status) add_bank(&body, 15, 16, 0, "status__", 8);
    const size_t header = body.size;
    add_bank(&body, 48, 0, 0, triplets, sizeof triplets);
    const size_t first = body.size;
    for (int i = 0; i < 3; i++) bytes_add(&body, crossings[i].data, crossings[i].size);
    uint64_t begin, end;
    struct mdf_fault fault;
    assert_int_equal(mdf_event_banks(body.data, body.size, &begin, &end, &fault), 0);
    assert_int_equal(begin, first + crossings[0].size);
    assert_int_equal(end, first + crossings[0].size + crossings[1].size);
    body.data[header + 8 + 12 + 11] = 0x7f; /* size of the central crossing */
    assert_int_equal(mdf_event_banks(body.data, body.size, &begin, &end, &fault), -1);
    assert_int_equal(fault.kind, MDF_FAULT_TAE);
    bytes_free(&body);
    for (int i = 0; i < 3; i++) bytes_free(&crossings[i]);
  }
}

static void odin_of_versions_6_and_7_identifies_the_event(void **state) {
  (void)state;
  for (uint8_t version = 5; version < 9; version++) {
    struct bytes body = {0};
    add_odin(&body, version, 4711, 0x123456789aull);
    struct io_bank bank;
    struct mdf_fault fault;
    uint64_t position = 0, number = 0;
    uint32_t run = 0;
    assert_int_equal(mdf_bank_next(body.data, body.size, &position, &bank, &fault), 1);
    const int known = version == 6 || version == 7;
    assert_int_equal(mdf_odin_identity(&bank, &run, &number), known);
    assert_int_equal(run, known ? 4711 : 0);
    assert_int_equal(number, known ? 0x123456789aull : 0);
    bank.size_bytes = 36;
    assert_int_equal(mdf_odin_identity(&bank, &run, &number), 0);
    bytes_free(&body);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checksum_follows_its_definition),
      cmocka_unit_test(hasher_agrees_with_single_checksums_for_all_lengths),
      cmocka_unit_test(records_of_every_version_are_delimited),
      cmocka_unit_test(banks_are_walked_to_the_exact_end),
      cmocka_unit_test(broken_banks_are_faults_with_their_offset),
      cmocka_unit_test(every_codec_restores_the_body),
      cmocka_unit_test(compression_bombs_take_no_memory),
      cmocka_unit_test(damaged_headers_lose_only_their_record),
      cmocka_unit_test(unusable_headers_are_skipped_up_to_the_next_record),
      cmocka_unit_test(equal_but_wrong_lengths_hide_no_record),
      cmocka_unit_test(sound_record_between_unusable_headers_is_found),
      cmocka_unit_test(cut_file_ends_in_a_truncated_record),
      cmocka_unit_test(only_files_with_a_record_are_recognised),
      cmocka_unit_test(hostile_headers_take_at_most_linear_time),
      cmocka_unit_test(tae_record_gives_its_central_crossing),
      cmocka_unit_test(odin_of_versions_6_and_7_identifies_the_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
