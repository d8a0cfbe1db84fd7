/* make_corpus_mdf.c: writes the seeds of fuzz_mdf into a folder: small files, one per feature of the format.
 *   cc make_corpus_mdf.c ../io/mdf_writer.c -I../io -lz -llzma -llz4 -lzstd -o make_corpus && ./make_corpus corpus_mdf
 * Most have no checksums, which a fuzzer could not keep right. */
#include "mdf_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static void save(const char *name, struct bytes *file) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.mdf", folder, name);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(file->data, 1, file->size, f) != file->size || fclose(f)) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  bytes_free(file);
}

static struct bytes small_body(uint64_t number) {
  struct bytes body = {0};
  add_odin(&body, number % 2 ? 7 : 6, 1, number);
  add_clusters(&body, 3, 4, 5);
  add_bank(&body, 32, 2, 0, "\0\0\0\0", 4);
  add_bank(&body, 200, 1, 0, "abc", 3);
  return body;
}

static void save_record(const char *name, const struct record_style *style) {
  struct bytes file = {0}, body = small_body(7);
  add_record(&file, &body, style);
  add_record(&file, &body, style);
  bytes_free(&body);
  save(name, &file);
}

static void save_tae(void) {
  struct bytes file = {0}, body = {0}, banks = small_body(2);
  const int32_t size = (int32_t)banks.size, triplets[] = {-1, 0, size, 0, size, size, 1, 2 * size, size};
  add_bank(&body, 15, 16, 0, "status", 6);
  add_bank(&body, 48, 0, 0, triplets, sizeof triplets);
  for (int i = 0; i < 3; i++) bytes_add(&body, banks.data, banks.size);
  add_record(&file, &body, &(struct record_style){.version = 3, .no_checksum = 1});
  bytes_free(&body);
  bytes_free(&banks);
  save("tae", &file);
}

static void save_damaged(void) {
  struct bytes file = {0};
  size_t offsets[4];
  for (uint64_t i = 0; i < 4; i++) offsets[i] = add_simple_record(&file, i);
  file.data[offsets[1]] ^= 4;
  memset(file.data + offsets[2], 0, 20);
  file.size -= 10;
  save("damaged", &file);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  folder = arguments[1];
  static const char *const versions[] = {"version0", "version1", "version2", "version3"};
  static const char *const codecs[] = {"plain", "zlib", "lzma", "lz4", "zstd"};
  for (uint32_t version = 0; version < 4; version++)
    save_record(versions[version], &(struct record_style){.version = version, .no_checksum = 1});
  for (uint32_t codec = WITH_ZLIB; codec <= WITH_ZSTD; codec++)
    save_record(codecs[codec], &(struct record_style){.version = 3, .codec = codec, .expansion = 15, .no_checksum = 1});
  save_record("checksum", &(struct record_style){.version = 3});
  save_tae();
  save_damaged();
  return 0;
}
