// The parameters of products in tiles. Strides and distances count elements.
#ifndef CRISOL_PRODUCT_PARAMETERS_H
#define CRISOL_PRODUCT_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// `batch` is the distance between products, unless a comment says something else.

// An m x n result of depth k. The depth is cut into `split_k` parts of part_depth each (the last part may be shorter).
// The flags are defined in product/gemm_flags.h.
typedef struct {
  Long m, n, k, part_depth;
  Int split_k, flags;
} ProductParameters;
CHECK_PARAMETERS(ProductParameters, 40);

// A matrix with one axis of stride 1. The lines of the other axis are `leading_dimension` apart.
typedef struct {
  Long batch, leading_dimension;
} MatrixParameters;
CHECK_PARAMETERS(MatrixParameters, 16);

// A matrix of any strides.
typedef struct {
  Long batch, row, column;
} StridedParameters;
CHECK_PARAMETERS(StridedParameters, 24);

// A result. If the depth is cut, `part` is the distance between the results of the parts of one product.
typedef struct {
  Long batch, row, column, part;
} ResultParameters;
CHECK_PARAMETERS(ResultParameters, 32);

// The positions of columns in the rows of a result. With `pixels` 0, column j is at position j. Otherwise column j is
// pixel (oh, ow) of an image with `pixels` pixels and `width` pixels in a row. Its position is image * to_image + oh *
// to_row + ow * to_column.
typedef struct {
  Long to_image;
  Int pixels, width, to_row, to_column;
} ColumnParameters;
CHECK_PARAMETERS(ColumnParameters, 24);

// The strides of an epilogue's two operands. The column stride is 0 or 1.
typedef struct {
  Long row0, column0, batch0, row1, column1, batch1;
} EpilogueParameters;
CHECK_PARAMETERS(EpilogueParameters, 48);

// Sums up the parts of a product whose depth was cut (gpu/gemm_parts.cl). bias_batch is the distance between the
// biases of products.
typedef struct {
  Long m, n, batch, c_batch, c_row, c_column;
  Int bias_batch, split_k, flags, unused;
} PartsParameters;
CHECK_PARAMETERS(PartsParameters, 64);

// `batch` products of a CPU, each an m x n result of depth k. The depth is cut into `split_k` parts. A unit of work is
// a block of block_m x block_n results of one part, which takes block_k of the depth at a time. `slice` is the scratch
// of a work-item.
typedef struct {
  Long m, n, k, bias_batch, slice;
  Int batch, split_k, block_m, block_n, block_k, flags;
} CpuProductParameters;
CHECK_PARAMETERS(CpuProductParameters, 64);

// The images of the virtual matrix of cpu/gather.h, which explains the names. `image` and `plane` are distances.
// ColumnParameters has the other members: the pixels, and the columns' positions in the result.
typedef struct {
  Long image, plane, size;
  Int height, width, taps, taps_w, step_h, step_w, start_h, start_w, tap_h, tap_w;
} GatherParameters;
CHECK_PARAMETERS(GatherParameters, 64);

// The matrix of `m` rows that cpu/gemm_pack.h packs into panels of `width` rows. That file explains the strides and
// counts. A unit of work packs `group` panels. There are `count` matrices.
typedef struct {
  Long batch, row, stride0;
  Int stride1, stride2, count1, count2, m, k, width, group, count, unused;
} PanelParameters;
CHECK_PARAMETERS(PanelParameters, 64);

// Products of integer matrices (product/gemm_whole.cl) with `rows` x `columns` results. Work-items compute them in
// `blocks` blocks. The last three Longs are strides. The products have `axes` axes.
typedef struct {
  Long blocks, rows, columns, a_row, a_column, b_row;
  Int axes, unused;
} WholeParameters;
CHECK_PARAMETERS(WholeParameters, 56);

// `batch` products of words (product/pairs/multiply_pairs.cl) with m x n results. A unit of work has `block` rows.
typedef struct {
  Long batch_a, batch_b, batch_y;
  Int batch, m, n, words, block, unused;
} PairParameters;
CHECK_PARAMETERS(PairParameters, 48);

// What the sums of pairs become (product/pairs/result.h). The rows of a result are `row` elements apart. Its columns
// are in images of `width` elements, which are `image` elements apart. The flags are those of the epilogue.
typedef struct {
  Long row, image;
  Int width, left_row, right_column, bias_row, bias_column, has_real_bias, has_factors, has_over, has_zero, flags;
} ScaledParameters;
CHECK_PARAMETERS(ScaledParameters, 56);

// `count` matrices that product/pairs/pack_pairs.cl packs as words. The Longs and `run` are distances.
typedef struct {
  Long outer, inner, line, step;
  Int run, count, inner_count, lines, runs, depth, zero_step, has_zero;
} PackPairsParameters;
CHECK_PARAMETERS(PackPairsParameters, 64);

PARAMETERS_END
#endif
