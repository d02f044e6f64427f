// The flags that the kernels of a product get at run time, so that a change of flags compiles nothing. GemmFlag of
// lib/ops/product/epilogue_layout.h has these values.
#ifndef CRISOL_PRODUCT_GEMM_FLAGS_H
#define CRISOL_PRODUCT_GEMM_FLAGS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

enum GemmFlags {
  ADD_TO_C = 1,         // Adds the old C to the sum.
  BIAS_PER_ROW = 2,     // Adds the bias of the row.
  BIAS_PER_COLUMN = 4,  // Adds the bias of the column.
  RELU = 8,             // At the end, sets negative results to 0.
  ADD_E0 = 16,          // Before RELU, adds the epilogue's first operand.
  SNIPPET = 32,         // f is the code of the prelude (product/epilogue.h).
  B_PACKED = 64,        // B is already packed into column panels [k][NR].
  GATHERED = 128,       // B is the virtual matrix of product/cpu/gather.h.
  A_ROWS = 256,         // The rows of A are contiguous and are read in place.
};

PARAMETERS_END
#endif
