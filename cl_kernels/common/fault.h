// Notes a wrong index or label for the host. The host sees the note at its next read (lib/runtime/memory/fault_flag.h),
// and kernels keep running until then.
// The words of `fault` are: the op (0 while nothing is noted), the index, the size of its range. Ops count from 1. The
// first work-item that sets the op writes the other words too. The host clears all words. If `op` is 0, nothing is
// noted.
static inline void note_wrong_index(__global long* fault, int op, long index, long size) {
  if (op == 0 || atomic_cmpxchg((volatile __global int*)fault, 0, op) != 0) return;
  fault[1] = index;
  fault[2] = size;
}
