// C = f(sum of the parts (+ bias)), for a product of conv2d_block.cl that was cut along its depth. f is as in
// product/epilogue.h.
//
// Part p of group q starts (q * parts + p) * m * n floats after the start of the workspace. It is stored row by row.
// The parts are added in order, so that every run gives the same bits. A work-item adds VEC_C neighbours of a row.
// plane and to are as in conv/conv_columns.h.
#include "conv/conv_columns.h"
#include "product/target.h"

__kernel void conv2d_tiled_parts(__global const float* restrict sums, const ulong sums_offset, __global float* restrict c,
                                 const ulong c_offset, __global const float* restrict bias, const ulong bias_offset,
                                 EPILOGUE_PARAMETERS, const int m, const int n, const long count, const long c_group,
                                 const long c_row, const long8 plane, const long4 to, const int parts, const int flags) {
  const long at = (long)get_global_id(0) * VEC_C;
  if (at >= count) return;
  const long size = (long)m * n, index = at / size, place = at - index * size;
  __global const SUMS* from = (__global const SUMS*)(sums + sums_offset + index * parts * size + place);
  SUMS sum = *from;
  for (int part = 1; part < parts; ++part) sum += from[part * (size / VEC_C)];
  const Columns columns = columns_of(plane, to, false);
  const Target target = {c + c_offset + index * c_group, bias + bias_offset + index * m, c_row, 1, flags};
  const Finish finish = FINISH_OF(index);
  const long row = place / n;
  store_sums(sum, row, place_of(&columns, place - row * n), &target, &finish);
}
