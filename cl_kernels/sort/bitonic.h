// Sorts TILE entries in local memory, in blocks of `width` entries (a power of two), with all GROUP work-items of a
// group.
#ifndef TILE
#define TILE 1024
#endif
#ifndef GROUP
#define GROUP 256
#endif
// This value sorts after every entry.
#define NO_ENTRY (~(ulong)0)

// Batcher's bitonic sort. Every work-item must call it. It ends with a barrier, after which the entries may be used.
static inline void sort_tile(__local ulong* tile, const int width) {
  for (int size = 2; size <= width; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int t = get_local_id(0); t < TILE / 2; t += GROUP) {
        const int i = 2 * t - (t & (stride - 1));
        const int up = size == width || (i & size) == 0;
        const ulong low = tile[i];
        const ulong high = tile[i + stride];
        if ((low > high) == up) {
          tile[i] = high;
          tile[i + stride] = low;
        }
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
}
