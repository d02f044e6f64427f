// The places of rows in the operands of pointwise/pointwise.cl, for its kernels rows and short_rows.
//
// A work-item's place is `column`, its position within a row, and for each operand the index of the row's first
// element. All outputs have the same strides. BEGIN_ROW finds the place of element `begin`. NEXT_ROW goes to the next
// row. INPUT_DOWN goes to the next row along the axis before the last one.
#define INPUT_STEPS(k, type, R) \
  long p##k##_step[RANK];       \
  JOIN(vstore, RANK)(p##k##_strides, 0, p##k##_step); \
  long p##k##_row = 0;
#define INPUT_BEGIN(k, type, R) p##k##_row += index[d] * p##k##_step[d];
#define INPUT_NEXT(k, type, R) p##k##_row += p##k##_step[d];
#define INPUT_DOWN(k, type, R) p##k##_row += p##k##_step[last - 1];
#define INPUT_WRAP(k, type, R) p##k##_row -= size[d] * p##k##_step[d];
#define BEGIN_ROW                                              \
  const int last = rank - 1;                                   \
  long size[RANK], index[RANK], q_step[RANK], q_row = 0;       \
  JOIN(vstore, RANK)(shape, 0, size);                          \
  JOIN(vstore, RANK)(q_strides, 0, q_step);                    \
  EACH_INPUT(INPUT_STEPS)                                      \
  long column = begin % size[last], rest = begin / size[last]; \
  for (int d = last - 1; d >= 0; --d) {                        \
    index[d] = rest % size[d];                                 \
    rest /= size[d];                                           \
    EACH_INPUT(INPUT_BEGIN)                                    \
    q_row += index[d] * q_step[d];                             \
  }
#define NEXT_ROW                             \
  for (int d = last - 1; d >= 0; --d) {      \
    EACH_INPUT(INPUT_NEXT)                   \
    q_row += q_step[d];                      \
    if (++index[d] < size[d]) break;         \
    EACH_INPUT(INPUT_WRAP)                   \
    q_row -= size[d] * q_step[d];            \
    index[d] = 0;                            \
  }
