// Windows of adaptive pooling along an axis of `size` elements with `out` outputs. Output o covers the elements
// floor(o * size / out) … ceil((o + 1) * size / out) - 1. The outputs that cover element i are
// floor(i * out / size) … ceil((i + 1) * out / size) - 1. This is the same formula with size and out exchanged.
static inline int range_begin(int i, int size, int out) { return (int)((long)i * size / out); }
static inline int range_end(int i, int size, int out) { return (int)(((long)(i + 1) * size + out - 1) / out); }
