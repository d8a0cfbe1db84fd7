/* fuzz_compare.c: `sluice compare` on any two files. The input contains both, separated by a zero byte, or one file for
 * both. Output is discarded. */
#define _GNU_SOURCE
#include "../../runtime/cli/compare.c"
#include "../../runtime/cli/compare_results.c"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fuzz_file first, second;
  const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
  const uint8_t *other = zero ? zero + 1 : data;
  const size_t first_size = zero ? (size_t)(zero - data) : size, second_size = (size_t)(data + size - other);
  const char *paths[] = {fuzz_file_of(&first, data, first_size), fuzz_file_of(&second, other, second_size), NULL};
  struct cli_arguments arguments = {.operands = {paths, 2}};
  const int status = cli_compare(&arguments);
  require(status == CLI_OK || status == CLI_FAILED || status == CLI_WRONG);
  arguments.all = 1;
  require(cli_compare(&arguments) == status);
  return 0;
}
