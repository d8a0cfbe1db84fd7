/* fuzz_where.c: any text as the selection of a line. A refused text has an error with its position in the text. A
 * compiled program jumps only forward, to instructions; its stack does not overflow and is empty at the end; it reads
 * only existing values; and it runs. */
#define _GNU_SOURCE
#define SL_TARGET_CPU 1
#include "fuzz_file.h"
#include "where_language.h"
#include "where_machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEMS = 4, TEXT_MAX = 1 << 14 };

static void check_operand(uint64_t word) {
  const uint32_t operand = (uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
  const uint32_t rest = (uint32_t)(word >> SL_EXPRESSION_CONSTANT_SHIFT), place = rest & SL_EXPRESSION_16_BITS;
  require(operand < SL_EXPRESSION_OPERANDS);
  if (operand < SL_EXPRESSION_OF_CANDIDATE) return;
  require(place % sizeof(void *) == 0 && place + sizeof(void *) <= sizeof(struct where_test_args));
  require((rest >> (SL_EXPRESSION_TYPE_SHIFT - SL_EXPRESSION_CONSTANT_SHIFT) & SL_EXPRESSION_8_BITS) <= SL_TYPE_f64);
  require(rest >> (SL_EXPRESSION_LINK_SHIFT - SL_EXPRESSION_CONSTANT_SHIFT) <= WHERE_SECOND);
}

/* Marks the words of an instruction except the first as data. */
static void mark_data(const struct sl_expression_program *program, uint32_t i, uint8_t *is_data) {
  const uint32_t operation = (uint32_t)program->words[i] & SL_EXPRESSION_8_BITS;
  if (operation == SL_EXPRESSION_CALL) is_data[i + 1] = 1;
  if (operation != SL_EXPRESSION_INTEGERS) return;
  const uint32_t comparison = (uint32_t)(program->words[i] >> SL_EXPRESSION_CONSTANT_SHIFT);
  require(comparison >= SL_EXPRESSION_LESS && comparison <= SL_EXPRESSION_HAS);
  for (uint32_t side = 0, at = i; side < 2; side++) {
    require(++at < program->count);
    is_data[at] = 1;
    check_operand(program->words[at]);
    if (((uint32_t)program->words[at] >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS) == SL_EXPRESSION_CONSTANT)
      is_data[++at] = 1;
  }
}

static void check_program(const struct sl_expression_program *program) {
  uint8_t is_data[SL_EXPRESSION_WORDS_MAX + 2] = {0};
  uint32_t aside = 0;
  require(program->count <= SL_EXPRESSION_WORDS_MAX);
  for (uint32_t i = 0; i < program->count; i++)
    if (!is_data[i]) mark_data(program, i, is_data);
  require(!is_data[program->count]);
  for (uint32_t i = 0; i < program->count; i++) {
    const uint64_t word = program->words[i];
    const uint32_t operation = (uint32_t)word & SL_EXPRESSION_8_BITS,
                   operand = (uint32_t)word >> SL_EXPRESSION_OPERAND_SHIFT & SL_EXPRESSION_4_BITS;
    const uint32_t jump = (uint32_t)word >> SL_EXPRESSION_JUMP_SHIFT & SL_EXPRESSION_4_BITS,
                   target = (uint32_t)word >> SL_EXPRESSION_TARGET_SHIFT & SL_EXPRESSION_16_BITS;
    if (is_data[i]) continue;
    require(operation < SL_EXPRESSION_OPERATIONS && jump <= SL_EXPRESSION_IF_TRUE);
    check_operand(word);
    if (operation == SL_EXPRESSION_PUSH) require(++aside <= SL_EXPRESSION_STACK_MAX);
    if (operand == SL_EXPRESSION_STACK) require(aside-- > 0);
    if (jump != SL_EXPRESSION_NO_JUMP)
      require(aside == 0 && target > i && target <= program->count && !is_data[target]);
  }
  require(aside == 0);
}

/* All fields point to the same zeros. */
static void run_program(const struct sl_expression_program *program) {
  static const uint64_t zeros[ITEMS];
  static struct where_test_args args;
  const void *values = zeros;
  for (size_t at = 0; at < sizeof args; at += sizeof values)
    memcpy((unsigned char *)&args + at, &values, sizeof values);
  static uint64_t table[WHERE_PROGRAM + SL_EXPRESSION_WORDS_MAX + 1];
  const struct where_children children = where_children_of(&where_test_language);
  memcpy(table, &children, sizeof children);
  memcpy(table + WHERE_PROGRAM, program->words, program->count * sizeof *table);
  require(where_evaluate(table, (struct where_size){program->count, program->leading}, &args, 0, 0) <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct sl_expression_program program;
  static struct sl_expression_fault fault;
  char *text = size < TEXT_MAX ? malloc(size + 1) : NULL;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (where_compile(text, NULL, &where_test_language, &program, &fault) == SL_OK) {
    check_program(&program);
    run_program(&program);
  } else {
    require(!fault.is_warning && fault.at <= strlen(text));
    require(strlen(fault.text) > 0 && strlen(fault.text) < sizeof fault.text);
  }
  free(text);
  return 0;
}
