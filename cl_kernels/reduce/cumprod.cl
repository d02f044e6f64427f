// Running products along the middle axis of contiguous tensors (outer, n, inner) of type T.
//
//   products  y[j] = x[0] … x[j]
//   suffixes  s[j] = dy[j] + x[j + 1] s[j + 1], for the gradient: dx[j] = s[j] x[0] … x[j - 1]
#include "reduce/lines.h"
#ifndef T
#define T float
#endif

__kernel void products(__global const T* restrict x, const ulong x_offset, __global T* restrict y, const ulong y_offset,
                       const LineParameters sizes, const long first, const long end) {
  FOR_LINES {
    __global const T* from = x + x_offset + START_OF_LINE;
    __global T* to = y + y_offset + START_OF_LINE;
    T product = first > 0 ? to[(first - 1) * inner] : (T)1;
    for (long j = first; j < end; ++j) {
      product *= from[j * inner];
      to[j * inner] = product;
    }
  }
}

__kernel void suffixes(__global const T* restrict dy, const ulong dy_offset, __global const T* restrict x,
                       const ulong x_offset, __global T* restrict s, const ulong s_offset,
                       const LineParameters sizes, const long first, const long end) {
  FOR_LINES {
    __global const T* more = dy + dy_offset + START_OF_LINE;
    __global const T* factors = x + x_offset + START_OF_LINE;
    __global T* to = s + s_offset + START_OF_LINE;
    T suffix = end < n ? to[end * inner] : (T)0;
    for (long j = end - 1; j >= first; --j) {
      suffix = more[j * inner] + (j + 1 < n ? factors[(j + 1) * inner] * suffix : (T)0);
      to[j * inner] = suffix;
    }
  }
}
