// Non-maximum suppression. For each class of each image boxes are taken in the order of their scores. A box is selected
// unless it overlaps a selected box of the class too much.
//
// boxes is (images, count, 4). order (images, classes, count) has the numbers of the boxes by falling score, and scores
// has these scores. selected is (images, classes, most). taken (images, classes) holds the numbers of selected boxes.
//
//   nms_select   a work-item owns a class of an image, and looks at the boxes from `begin` to `end` of its order;
//                others may follow in another launch
//   nms_collect  a work-item writes the rows (image, class, box) of its class; ends (images, classes) has the number of
//                the row after them
//
// Boxes and scores are of REAL. p.centered: a box is (x, y, width, height) of its centre. Otherwise it is two opposite
// corners (y, x, y, x).
#include "common/element.h"
#include "common/real.h"
#include "vision/parameters.h"

// (top, left, bottom, right).
typedef OF_TYPE(REAL, 4) Box;

static inline Box box_at(__global const REAL* p, int centered) {
  if (centered) {
    const REAL above = 0.5f * p[3], before = 0.5f * p[2];
    return (Box)(p[1] - above, p[0] - before, p[1] + above, p[0] + before);
  }
  return (Box)(min(p[0], p[2]), min(p[1], p[3]), max(p[0], p[2]), max(p[1], p[3]));
}

static inline REAL area_of(Box box) { return (box.s2 - box.s0) * (box.s3 - box.s1); }

// Whether the area of the intersection is more than `threshold` times the area of the union.
static inline bool overlap(Box a, Box b, REAL threshold) {
  const REAL height = min(a.s2, b.s2) - max(a.s0, b.s0);
  const REAL width = min(a.s3, b.s3) - max(a.s1, b.s1);
  if (!(height > 0.0f && width > 0.0f)) return false;
  const REAL common = height * width;
  const REAL together = area_of(a) + area_of(b) - common;
  return together > 0.0f && common / together > threshold;
}

__kernel void nms_select(__global const REAL* restrict boxes, const ulong boxes_offset,
                         __global const REAL* restrict scores, const ulong scores_offset,
                         __global const long* restrict order, const ulong order_offset, __global int* restrict selected,
                         const ulong selected_offset, __global int* restrict taken, const ulong taken_offset,
                         const SuppressionParameters p, const REAL threshold, const REAL min_score, const long begin,
                         const long end) {
  const long row = get_global_id(0);
  if (row >= p.rows) return;
  boxes += boxes_offset + row / p.classes * p.count * 4;
  scores += scores_offset + row * p.count;
  order += order_offset + row * p.count;
  selected += selected_offset + row * p.most;
  int found = begin == 0 ? 0 : taken[taken_offset + row];
  for (long k = begin; k < end && found < p.most; ++k) {
    if (!(scores[k] > min_score || min_score == -INFINITY)) continue;
    const Box box = box_at(boxes + order[k] * 4, p.centered);
    bool keep = true;
    for (int i = 0; i < found && keep; ++i)
      keep = !overlap(box, box_at(boxes + (long)selected[i] * 4, p.centered), threshold);
    if (keep) selected[found++] = (int)order[k];
  }
  taken[taken_offset + row] = found;
}

__kernel void nms_collect(__global const int* restrict selected, const ulong selected_offset,
                          __global const int* restrict taken, const ulong taken_offset,
                          __global const long* restrict ends, const ulong ends_offset, __global long* restrict y,
                          const ulong y_offset, const SuppressionParameters p) {
  const long row = get_global_id(0);
  if (row >= p.rows) return;
  const int found = taken[taken_offset + row];
  __global long* to = y + y_offset + (ends[ends_offset + row] - found) * 3;
  for (int i = 0; i < found; ++i) {
    to[3 * i] = row / p.classes;
    to[3 * i + 1] = row % p.classes;
    to[3 * i + 2] = selected[selected_offset + row * p.most + i];
  }
}
