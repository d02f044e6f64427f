// The precision of matrix products and convolutions.
//
// Matrix products, linear and recurrent layers, and convolutions compute in fp32 by default. A program may allow a
// lower precision, because the matrix units of GPUs multiply numbers with fewer bits several times as fast. Depthwise
// convolutions always compute in fp32. Operands and results stay f32 tensors. Sums are formed in fp32.
//
//     crisol::set_precision(crisol::Precision::tf32);             // For the whole process.
//     {
//       const crisol::WithPrecision half(crisol::Precision::fp16);  // For this thread, in this scope.
//       logits = net(images);
//     }
//     loss.backward();  // The gradient of an op has the precision of the op.
//
// A precision is a permission. If no kernel of this precision supports a product, the product is computed in fp32,
// which is more exact. CPUs, for example, have no matrix units: ops::matrix_units (crisol/ops/matmul.h) tells. Captured
// graphs keep the precision that they were captured with.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "crisol/export.h"

namespace crisol {

/// How the elements of operands are rounded to nearest before they are multiplied. u is the bound of their relative
/// error. It adds an error of at most (2u + u^2) times the sum of |products| to a sum of products.
enum class Precision : std::uint8_t {
  fp32,  ///< No rounding.
  tf32,  ///< 8 bits of exponent and 10 of mantissa: u = 2^-11.
  fp16,  ///< 5 bits of exponent and 10 of mantissa: u = 2^-11 for magnitudes from 2^-14 to 65504. Larger numbers become
         ///< infinite. Smaller numbers have an absolute error of up to 2^-25.
  bf16,  ///< 8 bits of exponent and 7 of mantissa: u = 2^-8.
};

/// "fp32", "tf32", "fp16" or "bf16".
CRISOL_API const char* name_of(Precision precision) noexcept;

/// Prints name_of(precision).
CRISOL_API std::ostream& operator<<(std::ostream& out, Precision precision);

/// The precision of this thread: from the innermost WithPrecision, otherwise from set_precision, otherwise from the
/// environment variable CRISOL_PRECISION (a name), otherwise fp32. Throws invalid_argument if the variable holds
/// another text.
CRISOL_API Precision precision();

/// Sets the precision of all threads, except inside a WithPrecision.
CRISOL_API void set_precision(Precision precision) noexcept;

/// Sets the precision of this thread, from construction to destruction.
class CRISOL_API WithPrecision {
 public:
  explicit WithPrecision(Precision precision) noexcept;
  ~WithPrecision();
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

 private:
  std::int16_t before_;
};

}  // namespace crisol
