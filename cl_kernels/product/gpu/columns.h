// The positions of columns in the rows of a result (ColumnParameters). If `pixels` is the constant 0, a column's
// position is its index.
#include "common/inline.h"
#include "product/parameters.h"

INLINE long place_of(const ColumnParameters* v, long column) {
  if (v->pixels == 0) return column;
  const uint pixels = (uint)v->pixels, width = (uint)v->width;
  const uint image = (uint)column / pixels, pixel = (uint)column - image * pixels, row = pixel / width;
  return image * v->to_image + row * v->to_row + (int)(pixel - row * width) * v->to_column;
}
