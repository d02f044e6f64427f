// Tells the host of a wrong label. The host sees it at its next read (lib/runtime/memory/fault_flag.h), so that kernels
// keep running.
// The words of `fault` are: the op (from 1; 0 if no label was noted), the label, the number of classes. The work-item
// that notes the op first writes the other words. The host clears them.
static inline void note_wrong_label(__global long* fault, int op, long label, long classes) {
  if (atomic_cmpxchg((volatile __global int*)fault, 0, op) != 0) return;
  fault[1] = label;
  fault[2] = classes;
}
