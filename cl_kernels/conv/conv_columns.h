// The places of a convolution's pixels in the rows (channels) of its result. Column j is pixel (oh, ow) of an image.
#include "common/inline.h"

typedef struct {
  uint pixels, width;  // The pixels of an image of the result, or 0 if the columns are contiguous; and its width.
  long to_image;
  int to_h, to_w;
} Columns;

// plane.s4 = OH * OW, plane.s5 = OW, to = (distance of images, of rows, of columns of pixels, unused).
INLINE Columns columns_of(const long8 plane, const long4 to, bool dense) {
  const Columns columns = {dense ? 0 : (uint)plane.s4, (uint)plane.s5, to.s0, (int)to.s1, (int)to.s2};
  return columns;
}

INLINE long place_of(const Columns* v, long column) {
  if (v->pixels == 0) return column;
  const uint image = (uint)column / v->pixels, pixel = (uint)column - image * v->pixels, row = pixel / v->width;
  return image * v->to_image + row * v->to_h + (int)(pixel - row * v->width) * v->to_w;
}
