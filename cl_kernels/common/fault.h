// Tells the host of a wrong label. The host sees it at its next read (lib/runtime/fault_flag.h): kernels keep running.
// The words of `fault` are: the op (from 1; 0 if no label was noted), the label, the number of classes. If work-items
// note several labels, one of them stays: each word is stored at once, and only the labels differ within a launch.
static inline void note_wrong_label(__global long* fault, int op, long label, long classes) {
  fault[0] = op;
  fault[1] = label;
  fault[2] = classes;
}
