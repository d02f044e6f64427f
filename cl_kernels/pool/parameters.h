// The parameters of poolings.
#ifndef CRISOL_POOL_PARAMETERS_H
#define CRISOL_POOL_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// Windows that slide over planes of height x width, with one output for each window: output (oh, ow) covers the taps
// h = oh * stride_h - pad_h + r * dilation_h, w = ow * stride_w - pad_w + s * dilation_w with r < kernel_h,
// s < kernel_w. Taps outside the plane do not exist.
typedef struct {
  Int height, width, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
} PoolWindow;
CHECK_PARAMETERS(PoolWindow, 48);

// The sizes of a plane and of its output in adaptive pooling. The windows follow from them.
typedef struct {
  Int height, width, out_h, out_w;
} AdaptivePlane;
CHECK_PARAMETERS(AdaptivePlane, 16);

PARAMETERS_END
#endif
