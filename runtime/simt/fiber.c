/* fiber.c: see fiber.h. A switch saves the callee-saved registers of the ABI and the floating-point control words. */
#include "simt/fiber.h"

#include <sluice/plugin.h>

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Saves the running fiber and stores its stack pointer in *save; continues the fiber with stack pointer `to`. */
void sl_fiber_switch_stacks(void **save, void *to) __attribute__((visibility("hidden")));
/* Entry point of a new fiber: calls the entry function with its argument, both from saved registers of the first
 * frame. */
void sl_fiber_start(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
/* Frame, from its lowest word: mxcsr and x87 control word, r15, r14, r13, r12, rbx, rbp, return address. */
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl sl_fiber_switch_stacks\n"
    ".hidden sl_fiber_switch_stacks\n"
    ".type sl_fiber_switch_stacks, @function\n"
    "sl_fiber_switch_stacks:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  subq $8, %rsp\n"
    "  stmxcsr (%rsp)\n"
    "  fnstcw 4(%rsp)\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  ldmxcsr (%rsp)\n"
    "  fldcw 4(%rsp)\n"
    "  addq $8, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size sl_fiber_switch_stacks, .-sl_fiber_switch_stacks\n"
    ".p2align 4\n"
    ".globl sl_fiber_start\n"
    ".hidden sl_fiber_start\n"
    ".type sl_fiber_start, @function\n"
    "sl_fiber_start:\n"
    "  movq %rbx, %rdi\n"
    "  pushq $0\n" /* end of the stack for unwinders; keeps the stack aligned */
    "  pushq $0\n"
    "  call *%r12\n"
    "  ud2\n"
    ".size sl_fiber_start, .-sl_fiber_start\n");

static void *first_frame(char *top, void (*entry)(void *), void *argument) {
  uint64_t *frame = (uint64_t *)(void *)top - 8;
  uint32_t mxcsr;
  uint16_t x87;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
  frame[0] = (uint64_t)x87 << 32 | mxcsr;
  frame[1] = frame[2] = frame[3] = frame[6] = 0;
  frame[4] = (uint64_t)(uintptr_t)entry;    /* r12 */
  frame[5] = (uint64_t)(uintptr_t)argument; /* rbx */
  frame[7] = (uint64_t)(uintptr_t)sl_fiber_start;
  return frame;
}
#elif defined(__aarch64__)
/* Frame: x19 to x30, d8 to d15, floating-point control register, one word unused. */
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl sl_fiber_switch_stacks\n"
    ".hidden sl_fiber_switch_stacks\n"
    ".type sl_fiber_switch_stacks, %function\n"
    "sl_fiber_switch_stacks:\n"
    "  sub sp, sp, #176\n"
    "  stp x19, x20, [sp]\n"
    "  stp x21, x22, [sp, #16]\n"
    "  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n"
    "  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n"
    "  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mrs x9, fpcr\n"
    "  str x9, [sp, #160]\n"
    "  mov x9, sp\n"
    "  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldr x9, [sp, #160]\n"
    "  msr fpcr, x9\n"
    "  ldp x19, x20, [sp]\n"
    "  ldp x21, x22, [sp, #16]\n"
    "  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n"
    "  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n"
    "  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #176\n"
    "  ret\n"
    ".size sl_fiber_switch_stacks, .-sl_fiber_switch_stacks\n"
    ".p2align 4\n"
    ".globl sl_fiber_start\n"
    ".hidden sl_fiber_start\n"
    ".type sl_fiber_start, %function\n"
    "sl_fiber_start:\n"
    "  mov x0, x20\n"
    "  mov x29, #0\n" /* end of the stack for unwinders */
    "  mov x30, #0\n"
    "  blr x19\n"
    "  brk #0\n"
    ".size sl_fiber_start, .-sl_fiber_start\n");

static void *first_frame(char *top, void (*entry)(void *), void *argument) {
  uint64_t *frame = (uint64_t *)(void *)top - 22;
  __asm__ volatile("mrs %0, fpcr" : "=r"(frame[20]));
  frame[0] = (uint64_t)(uintptr_t)entry;    /* x19 */
  frame[1] = (uint64_t)(uintptr_t)argument; /* x20 */
  frame[10] = 0;                            /* x29 */
  frame[11] = (uint64_t)(uintptr_t)sl_fiber_start;
  return frame;
}
#else
#error "the emulator has no fiber switch for this processor: configure with -DSLUICE_SIMT=OFF"
#endif

int sl_fiber_open(struct sl_fiber *fiber, size_t stack_bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = (stack_bytes + page - 1) / page * page;
  char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return SL_ENOMEM;
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, bytes + page);
    return SL_ENOMEM;
  }
  *fiber = (struct sl_fiber){.stack = memory + page, .stack_bytes = bytes};
  return SL_OK;
}

void sl_fiber_close(struct sl_fiber *fiber) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (fiber->stack) munmap(fiber->stack - page, fiber->stack_bytes + page);
  fiber->stack = NULL;
}

void sl_fiber_prepare(struct sl_fiber *fiber, void (*entry)(void *argument), void *argument) {
#ifdef HAS_ASAN
  if (fiber->unfinished) __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
#endif
  fiber->unfinished = 1;
  fiber->fake_stack = NULL;
  fiber->stack_pointer = first_frame(fiber->stack + fiber->stack_bytes, entry, argument);
}

void sl_fiber_begin(struct sl_fiber *thread) {
#ifdef HAS_ASAN
  const void *bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
  if (!thread->stack) { /* the first switch came from the thread */
    thread->stack = (char *)(uintptr_t)bottom;
    thread->stack_bytes = bytes;
  }
#else
  (void)thread;
#endif
}

void sl_fiber_switch(struct sl_fiber *from, struct sl_fiber *to) {
#ifdef HAS_ASAN
  __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
#endif
  sl_fiber_switch_stacks(&from->stack_pointer, to->stack_pointer);
#ifdef HAS_ASAN
  __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

void sl_fiber_leave(struct sl_fiber *from, struct sl_fiber *to) {
  from->unfinished = 0;
#ifdef HAS_ASAN
  __sanitizer_start_switch_fiber(NULL, to->stack, to->stack_bytes);
#endif
  sl_fiber_switch_stacks(&from->stack_pointer, to->stack_pointer);
  __builtin_unreachable();
}
