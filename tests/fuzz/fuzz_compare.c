/* fuzz_compare.c: `sluice compare` on any two files. The input contains both, separated by a zero byte, or one file for
 * both. Output is discarded. */
#define _GNU_SOURCE
#include "../../runtime/cli/compare/compare.c"
#include "../../runtime/cli/compare/counts.c"
#include "../../runtime/cli/compare/events.c"
#include "../../runtime/cli/compare/results.c"
#include "../../runtime/cli/summary_file.c"
#include "fuzz_file.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count;
  (void)arguments;
  stdout = stderr = fopen("/dev/null", "w"); /* only for the code compiled into this program: libFuzzer has its own
                                              * streams */
  require(stdout != NULL);
  return 0;
}

/* Functions of the command, which are not called for files. */
int cli_compare_graphs(const struct cli_arguments *a) { return a ? CLI_WRONG : CLI_FAILED; }
const char *cli_given_of(const struct cli_arguments *a, unsigned groups) { return a && groups ? "" : NULL; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fuzz_file first, second;
  const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
  const uint8_t *other = zero ? zero + 1 : data;
  const size_t first_size = zero ? (size_t)(zero - data) : size, second_size = (size_t)(data + size - other);
  const char *a = fuzz_file_of(&first, data, first_size), *b = fuzz_file_of(&second, other, second_size);
  const int status = cli_compare_files(a, b, 0);
  require(status == CLI_OK || status == CLI_FAILED || status == CLI_WRONG);
  require(cli_compare_files(a, b, 1) == status);
  return 0;
}
