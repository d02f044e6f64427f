// What an x86 processor can do, for probes.
#include "common/inline.h"

// Intel's runtime takes assembly without names of registers among its operands. So these functions save the registers
// that they change, behind the 128 bytes that a function may use without moving the stack pointer.
#define SAVE "lea -128(%%rsp), %%rsp\n\tpush %%rax\n\tpush %%rbx\n\tpush %%rcx\n\tpush %%rdx\n\tpush %0\n\t"
#define RESTORE "\n\tpop %%rdx\n\tpop %%rcx\n\tpop %%rbx\n\tpop %%rax\n\tlea 128(%%rsp), %%rsp"

// The registers ecx and edx after cpuid with leaf 7.
INLINE uint2 features() {
  uint2 found = 0;
  __asm__ volatile(SAVE
                   "mov $7, %%eax\n\txor %%ecx, %%ecx\n\tcpuid\n\t"
                   "pop %%rax\n\tmov %%ecx, (%%rax)\n\tmov %%edx, 4(%%rax)" RESTORE ::"r"(&found)
                   : "memory");
  return found;
}

// Whether the system keeps the vector registers of AVX-512 for the process: bits 1, 2 and 5 to 7 of the register XCR0.
INLINE bool has_long_vectors() {
  uint state = 0;
  __asm__ volatile(SAVE
                   "xor %%ecx, %%ecx\n\txgetbv\n\t"
                   "pop %%rbx\n\tmov %%eax, (%%rbx)" RESTORE ::"r"(&state)
                   : "memory");
  return (state & 0xe6) == 0xe6;
}
