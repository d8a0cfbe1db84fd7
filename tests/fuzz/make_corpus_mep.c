/* make_corpus_mep.c: writes the seeds of fuzz_mep into a folder: small files, one per feature of the format.
 *   cc make_corpus_mep.c ../io/mep_writer.c ../io/mdf_writer.c -I../io -lz -llzma -llz4 -lzstd -o make_corpus
 *   ./make_corpus corpus_mep
 */
#include "mep_writer.h"

#include <stdio.h>
#include <stdlib.h>

static const char *folder;

static void save(const char *name, struct bytes *file) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.mep", folder, name);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(file->data, 1, file->size, f) != file->size || fclose(f)) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  bytes_free(file);
}

/* Two packets of events with ODIN and two small banks; the second event of each lacks one. */
static struct bytes packets(const struct packet_style *style) {
  struct bytes file = {0};
  for (uint32_t p = 0; p < 2; p++) {
    struct bytes bodies[2] = {{0}};
    for (uint32_t e = 0; e < 2; e++) {
      add_odin(&bodies[e], p ? 6 : 7, 1, 2 * p + e);
      add_bank(&bodies[e], 33, 1, 0, "abcde", 5);
      if (e == 0) add_clusters(&bodies[e], 3, 4, 5);
    }
    add_packet(&file, style, bodies, 2);
    for (uint32_t e = 0; e < 2; e++) bytes_free(&bodies[e]);
  }
  return file;
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  folder = arguments[1];
  static const struct {
    const char *name;
    struct packet_style style;
  } styles[] = {
      {"aligned", {.alignment = 2}},
      {"unaligned", {.alignment = 0}},
      {"wide", {.alignment = 4, .aligned_start = 1}},
      {"record", {.alignment = 2, .in_record = 1}},
      {"prototype", {.is_prototype = 1}},
  };
  for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
    struct bytes file = packets(&styles[i].style);
    save(styles[i].name, &file);
  }
  struct bytes damaged = packets(&styles[0].style);
  damaged.data[damaged.size / 2] ^= 1;
  damaged.size -= 9;
  save("damaged", &damaged);
  return 0;
}
