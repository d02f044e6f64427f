// C = f(sum of the parts (+ C) (+ bias)), for a product that was cut along its depth. f is as in product/epilogue.h.
//
// Part p of product q starts (q * split_k + p) * m * n floats after the start of the workspace. It is stored row by row.
// The parts are added in order, so that every run gives the same bits. A work-item computes VEC_C neighbours of a row.
#include "product/gpu/columns.h"
#include "product/target.h"

__kernel void gemm_parts(__global const float* restrict sums, const ulong sums_offset, __global RESULT* restrict c,
                         const ulong c_offset, __global const RESULT* restrict bias, const ulong bias_offset,
                         EPILOGUE_PARAMETERS, const PartsParameters p, const ColumnParameters columns) {
  const long size = p.m * p.n;
  const long at = (long)get_global_id(0) * VEC_C;
  if (at >= size * p.batch) return;
  const long index = at / size, place = at - index * size;
  __global const SUMS* from = (__global const SUMS*)(sums + sums_offset + index * p.split_k * size + place);
  SUMS sum = *from;
  for (int part = 1; part < p.split_k; ++part) sum += from[part * (size / VEC_C)];
  const Target target = {c + c_offset + index * p.c_batch, bias + bias_offset + index * p.bias_batch, p.c_row,
                         p.c_column, p.flags};
  const Finish finish = FINISH_OF(index);
  const long row = place / p.n;
  store_sums(sum, row, place_of(&columns, place - row * p.n), &target, &finish);
}
