// Convolution of channels in blocks (conv/cpu/blocks/blocks.h) by plain loops. It accepts every problem. A work-item
// computes one element of the result. x is of STORED, y of RESULT. Tensors and sizes are those of conv2d_blocks.cl. With `depthwise` they are those
// of conv2d_blocks_depthwise.cl. VW is the block size of y, and `block_in` is the block size of x.
#include "conv/conv.h"
#include "product/epilogue.h"

DEFINE_FINISH(float, finish_number)

__kernel void conv2d_blocks_direct(__global const STORED* restrict x, const ulong x_offset,
                                   __global const float* restrict w, const ulong w_offset,
                                   __global const float* restrict bias, const ulong bias_offset,
                                   __global RESULT* restrict y, const ulong y_offset, EPILOGUE_PARAMETERS,
                                   const long count, const BlocksParameters sizes, const ConvWindow window,
                                   const int block_in, const int blocks_of_group, const int depthwise,
                                   const int flags) {
  const long id = get_global_id(0);
  if (id >= count) return;
  long image = id;
  const long lane = take_index(&image, VW);
  const long pixel = take_index(&image, sizes.out_h * sizes.out_w);
  const long block = take_index(&image, sizes.blocks);
  const long i = pixel / sizes.out_w, j = pixel % sizes.out_w;
  const long in_blocks = depthwise != 0 ? sizes.blocks : (sizes.channels + block_in - 1) / block_in;
  x += x_offset + image * in_blocks * sizes.height * sizes.width * block_in;
  w += w_offset;
  float sum = flags & BIAS_PER_ROW ? bias[bias_offset + block * VW + lane] : 0.0f;
  // A depthwise convolution reads only one channel: the channel of the result.
  for (long n = 0; n < (depthwise != 0 ? 1 : sizes.channels); ++n) {
    const long c = depthwise != 0 ? block * VW + lane : n;
    float part = 0.0f;
    for (long r = 0; r < window.taps_h; ++r) {
      const long h = i * window.stride_h - window.pad_h + r * window.dilation_h;
      if (h < 0 || h >= sizes.height) continue;
      for (long s = 0; s < window.taps_w; ++s) {
        const long column = j * window.stride_w - window.pad_w + s * window.dilation_w;
        if (column < 0 || column >= sizes.width) continue;
        const long tap = r * window.taps_w + s, taps = (long)window.taps_h * window.taps_w;
        const long at = depthwise != 0 ? (block * taps + tap) * VW + lane
                                       : ((((block / blocks_of_group * in_blocks + c / block_in) * taps + tap) * block_in +
                                           c % block_in) * blocks_of_group + block % blocks_of_group) * VW + lane;
        part += LOAD(STORED, x, ((c / block_in * sizes.height + h) * sizes.width + column) * block_in + c % block_in) *
                w[at];
      }
    }
    sum += part;
  }
  const Finish finish = FINISH_OF(image);
  // An operand with row stride 0 is one number.
  const long at = pixel * VW + lane;
  const float first =
      READS_E0(flags)
          ? LOAD(RESULT, finish.e0, finish.row0 == 0 ? 0 : block * finish.row0 + (finish.column0 != 0 ? at : lane))
          : 0.0f;
  const float second =
      READS_E1(flags)
          ? LOAD(RESULT, finish.e1, finish.row1 == 0 ? 0 : block * finish.row1 + (finish.column1 != 0 ? at : lane))
          : 0.0f;
  STORE(RESULT, y, y_offset + id, finish_number(sum, first, second, &finish, flags));
}
