// Products with a quantised weight: y = x · weightᵀ + bias.
#pragma once

#include <cstdint>

#include "crisol/quantized_weight.h"
#include "dispatch/choose.h"
#include "quantized/parameters.h"

namespace crisol::ops {

/// Columns of a group: see cl_kernels/quantized/codes.h.
constexpr std::int64_t group_columns = 32;

/// The operands of a plan are x, codes, scales, zero points, bias and y. x and y are row-major matrices of f32.
struct QuantizedProblem {
  std::int64_t m;                   ///< Rows of x.
  std::int64_t n;                   ///< Rows of the weight.
  std::int64_t groups;              ///< Groups of 32 columns.
  std::int64_t blocks;              ///< Scales of a row.
  std::int64_t block;               ///< Columns of a block: 16, or a multiple of 32.
  std::int64_t bits;                ///< 8 or 4.
  std::int64_t has_zeros;           ///< 1 with zero points.
  std::int64_t has_bias;            ///< 1 with a bias.
  std::int64_t byte_products;       ///< If x has one row: 1 if the device has vpdpbusd (byte_products.h), 2 with GFNI.
  std::int64_t precision;           ///< A Precision to which operands may be rounded.
  std::int64_t x_offset, y_offset;  ///< The positions of the first elements, modulo 4.

  std::int64_t columns() const noexcept { return groups * group_columns; }
  std::int64_t bytes_of_row() const noexcept { return columns() * bits / 8; }
  /// The arguments of a kernel that takes `rows` rows of the weight.
  kernels::QuantizedParameters parameters(std::int64_t rows) const noexcept {
    return {rows, m, groups, blocks, block / group_columns, has_bias};
  }
};

/// The launch that computes the elements of `rows` rows of a weight.
struct DequantizeLaunch {
  runtime::KernelSpec spec;
  runtime::NdRange range;
  std::int64_t chunk;
};
DequantizeLaunch dequantize_launch(const QuantizedProblem& p, const dispatch::Target& target, std::int64_t rows);

/// The problem of x (m rows) with a weight.
QuantizedProblem quantized_problem(const QuantizedWeight& weight, std::int64_t m);

}  // namespace crisol::ops
