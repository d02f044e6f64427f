// Tells the host of a wrong label. The host sees it at its next read (lib/runtime/fault_flag.h): kernels keep running.
// The words of `fault` are: 1 if a label was noted, the op, and the label and the number of classes, lower half first.
// Only the first wrong label is noted.
static inline void note_wrong_label(__global int* fault, int op, long label, long classes) {
  if (atomic_cmpxchg((volatile __global int*)fault, 0, 1) != 0) return;
  fault[1] = op;
  fault[2] = (int)label;
  fault[3] = (int)(label >> 32);
  fault[4] = (int)classes;
  fault[5] = (int)(classes >> 32);
}
