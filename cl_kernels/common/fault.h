// Tells the host of a wrong index or label. The host sees it at its next read (lib/runtime/memory/fault_flag.h), so
// kernels keep running.
// The words of `fault` are: the op (from 1; 0 if nothing was noted), the index, the size of its range. The work-item
// that notes the op first writes the other words. The host clears them. The op 0 notes nothing.
static inline void note_wrong_index(__global long* fault, int op, long index, long size) {
  if (op == 0 || atomic_cmpxchg((volatile __global int*)fault, 0, op) != 0) return;
  fault[1] = index;
  fault[2] = size;
}
