// Trees of decisions.
//
// A node is four ints: feature, threshold, the node for true and the node for false. The position of its first int
// names it. A row x goes to the node for true if x[feature] <= threshold (STRICT: <). NaN goes to the node for false,
// or to the node for true if the sign bit of the feature is set. Some node has this bit only with NAN_IS_TRUE. A leaf
// is its own successor. In place of a threshold, a leaf has its weight (SINGLE), or the number of its list of weights:
// list i begins at lists[i] of `weights` and ends before lists[i + 1].
//
// sums[row, targets[k]] = the sum (COMBINE 0), the least (1) or the largest (2) of the weights of the leaves that the
// row reaches. With MARKS_ABSENT, -0 says that no leaf has the target. With HALVES, the trees from `middle` on have
// separate sums (`second`), which are added at the end. ONNX Runtime does the same with two threads. So equal votes of
// trees are rounded in the same way as there.
//
// A work-item takes the rows start … start + chunk - 1, LANES at once, so that their reads overlap.
#ifndef LANES
#define LANES 8
#endif
#ifndef COMBINE
#define COMBINE 0
#endif
#ifndef STRICT
#define STRICT 0
#endif
#ifndef MARKS_ABSENT
#define MARKS_ABSENT 1
#endif
#ifndef SINGLE
#define SINGLE 0
#endif
#ifndef HALVES
#define HALVES 1
#endif
#ifndef NAN_IS_TRUE
#define NAN_IS_TRUE 1
#endif

// It has no branch, because no processor could predict the branch. Both successors are loaded before the comparison is
// known. On PoCL, trees of LightGBM took 1.4 times as long with a load by the result of the comparison.
static inline int successor(__global const int* nodes, const int at, __global const float* row) {
  const int4 node = vload4(0, nodes + at);
#if NAN_IS_TRUE
  const float value = row[node.x & 0x7fffffff];
  const int from_nan = (node.x < 0) & isnan(value);
#else
  const float value = row[node.x];
  const int from_nan = 0;
#endif
  const int is_below = STRICT ? value < as_float(node.y) : value <= as_float(node.y);
  return node.w ^ ((node.z ^ node.w) & -(is_below | from_nan));
}

static inline void clear(__global float* sums, const long begin, const long end) {
  for (long i = begin; i < end; ++i) sums[i] = MARKS_ABSENT ? -0.0f : 0.0f;
}

static inline void combine(__global float* sum, const float weight) {
#if COMBINE == 0
  *sum += weight;
#else
  const float old = *sum;
  const int is_first = as_int(old) == as_int(-0.0f);
  *sum = is_first || (COMBINE == 1 ? weight < old : weight > old) ? weight : old;
#endif
}

static inline void add_leaf(__global float* sums, const int leaf, __global const int* nodes,
                            __global const int* lists, __global const int* targets,
                            __global const float* weights) {
  const int place = nodes[leaf + 1];
#if SINGLE
  combine(sums, as_float(place));
#else
  const int end = lists[place + 1];
  for (int k = lists[place]; k < end; ++k) combine(sums + targets[k], weights[k]);
#endif
}

__kernel void tree_sums(__global const float* restrict x, const ulong x_offset, __global const int* restrict nodes,
                        const ulong nodes_offset, __global const int* restrict roots, const ulong roots_offset,
                        __global const int* restrict lists, const ulong lists_offset,
                        __global const int* restrict targets, const ulong targets_offset,
                        __global const float* restrict weights, const ulong weights_offset,
                        __global float* restrict first, const ulong first_offset, __global float* restrict second,
                        const ulong second_offset, const long rows, const long features, const long columns,
                        const long trees, const long middle, const long begin, const long end, const long chunk) {
  const long start = get_global_id(0) * chunk;
  const long last = min(start + chunk, rows);
  x += x_offset;
  nodes += nodes_offset;
  roots += roots_offset;
  lists += lists_offset;
  targets += targets_offset;
  weights += weights_offset;
  first += first_offset;
  second += second_offset;
  if (begin == 0) clear(first, start * columns, last * columns);
  if (HALVES && begin == 0) clear(second, start * columns, last * columns);
  for (long tree = begin; tree < end; ++tree) {
    __global float* sums = HALVES && tree >= middle ? second : first;
    const int root = roots[tree];
    long row = start;
    for (; row + LANES <= last; row += LANES) {
      int at[LANES];
      for (int lane = 0; lane < LANES; ++lane) at[lane] = root;
      int moved = 1;
      while (moved) {
        moved = 0;
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane) {
          const int next = successor(nodes, at[lane], x + (row + lane) * features);
          moved |= next ^ at[lane];
          at[lane] = next;
        }
      }
      for (int lane = 0; lane < LANES; ++lane)
        add_leaf(sums + (row + lane) * columns, at[lane], nodes, lists, targets, weights);
    }
    for (; row < last; ++row) {
      int at = root;
      for (int next = successor(nodes, at, x + row * features); next != at;
           next = successor(nodes, at, x + row * features))
        at = next;
      add_leaf(sums + row * columns, at, nodes, lists, targets, weights);
    }
  }
  if (HALVES && end == trees)
    for (long i = start * columns; i < last * columns; ++i) first[i] += second[i];
}
