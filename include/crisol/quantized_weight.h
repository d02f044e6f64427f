// Weights of linear layers in 8 or 4 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crisol/tensor.h"

namespace crisol {

/// How quantize() makes codes.
struct QuantizeOptions {
  int bits = 8;            ///< 8 or 4.
  std::int64_t block = 0;  ///< Columns that share a scale: a multiple of 32, or 16. 0: a whole row.
  bool symmetric = true;   ///< Zero is in the middle of the codes. Otherwise each block has a zero point.
};

/// A matrix (rows, columns) in codes of 8 or 4 bits. Element (j, k) is scale * (code - zero point). A scale and a zero
/// point belong to one block of neighbouring columns in one row. linear() and nn::QuantizedLinear multiply with it, and
/// read codes only. It is not a tensor, and has no gradient. A copy is a handle to the same tensors.
///
/// Codes are stored in groups of 32 columns. With 8 bits, a group is 32 bytes. With 4 bits, it is 16 bytes: byte i has
/// the code of column i in its low half, and the code of column 16 + i in its high half. A row has whole groups
/// and whole blocks, which zero points fill.
class CRISOL_API QuantizedWeight {
 public:
  /// The undefined weight.
  QuantizedWeight() = default;
  /// Makes a weight of its parts. `codes` is u8 (rows, groups * 4 * bits), and `scales` is f32 (rows, blocks).
  /// `zero_points` is u8 (rows, blocks), or undefined if they are all 128 or all 8. Throws invalid_argument if the
  /// parts do not fit.
  QuantizedWeight(Tensor codes, Tensor scales, Tensor zero_points, std::int64_t columns, int bits, std::int64_t block);

  /// Reads blocks of llama.cpp's type Q8_0: 32 columns, which are a scale in f16 and 32 signed bytes. Throws
  /// invalid_argument if the `size` bytes are not shape[0] * shape[1] / 32 blocks.
  static QuantizedWeight from_q8_0(const void* bytes, std::size_t size, const Shape& shape, Device device = Device());
  /// Reads blocks of llama.cpp's type Q4_0: 32 columns, which are a scale in f16 and 16 bytes with two codes each.
  static QuantizedWeight from_q4_0(const void* bytes, std::size_t size, const Shape& shape, Device device = Device());
  /// Reads codes in the order of columns, one in a byte. The codes are (rows, columns), and scales and zero points
  /// (rows, blocks). Without zero points they are all 128 or all 8. Throws invalid_argument for codes and zero points
  /// above 15 in 4 bits, and for sizes that do not fit.
  static QuantizedWeight from_codes(const std::vector<std::uint8_t>& codes, const std::vector<float>& scales,
                                    const std::vector<std::uint8_t>& zero_points, const Shape& shape, int bits,
                                    std::int64_t block, Device device = Device());

  bool defined() const noexcept { return codes_.defined(); }           ///< Whether it holds a weight.
  std::int64_t rows() const { return codes_.size(0); }                 ///< Outputs of the product.
  std::int64_t columns() const noexcept { return columns_; }           ///< Inputs of the product.
  int bits() const noexcept { return bits_; }                          ///< 8 or 4.
  std::int64_t block() const noexcept { return block_; }               ///< 0: a whole row.
  const Tensor& codes() const noexcept { return codes_; }              ///< As the constructor takes them.
  const Tensor& scales() const noexcept { return scales_; }            ///< As the constructor takes them.
  const Tensor& zero_points() const noexcept { return zero_points_; }  ///< May be undefined.

  /// The matrix in f32.
  Tensor dequantize() const;

 private:
  Tensor codes_, scales_, zero_points_;
  std::int64_t columns_ = 0, block_ = 0;
  int bits_ = 8;
};

/// The nearest codes of a matrix of floating-point numbers. A block's largest absolute value is the largest code. With
/// zero points, the codes span the block's range, extended to include 0. Throws invalid_argument for other sizes than
/// (rows, columns), for elements that are not finite, and for options that are not supported.
CRISOL_API QuantizedWeight quantize(const Tensor& weight, const QuantizeOptions& options = {});

/// y = x · weightᵀ + bias, with gradients for x and bias. x is (…, columns), bias (rows) or undefined, and y (…, rows).
/// x is floating-point, and y and bias have its dtype. Sums are f32.
CRISOL_API Tensor linear(const Tensor& x, const QuantizedWeight& weight, const Tensor& bias = Tensor());

}  // namespace crisol
