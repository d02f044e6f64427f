// What products may round their operands to.
//
// Matrix products, what is made of them (linear and recurrent layers), and convolutions but depthwise ones compute in
// fp32 unless they may do less: matrix units of GPUs multiply numbers of fewer bits several times as fast. Operands and
// results stay f32 tensors; the products are summed in fp32.
//
//     crisol::set_precision(crisol::Precision::tf32);             // Of the whole process.
//     {
//       const crisol::WithPrecision half(crisol::Precision::fp16);  // Of this thread, while it lives.
//       logits = net(images);
//     }
//     loss.backward();  // Each op's gradient in the precision of the op.
//
// A precision is a permission: where no kernel for it takes the product (no matrix units, as on CPUs; see
// ops::matrix_units), it is computed in fp32, which is more exact. Captured graphs keep the precision that they were
// captured with.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "crisol/export.h"

namespace crisol {

/// How an operand's elements are rounded before they are multiplied, to nearest, with the bound u of their relative
/// error; the error of a sum of products is then at most (2u + u^2) times the sum of their sizes, beside that of fp32.
enum class Precision : std::uint8_t {
  fp32,  ///< Not at all.
  tf32,  ///< To 8 bits of exponent and 10 of mantissa: u = 2^-11.
  fp16,  ///< To 5 and 10: u = 2^-11 for sizes from 2^-14 to 65504; larger ones become infinite, smaller ones err by up
         ///< to 2^-25.
  bf16,  ///< To 8 and 7: u = 2^-8.
};

/// "fp32", "tf32", "fp16" or "bf16".
CRISOL_API const char* name_of(Precision precision) noexcept;

/// name_of(precision).
CRISOL_API std::ostream& operator<<(std::ostream& out, Precision precision);

/// What products on this thread may round to: as the innermost WithPrecision of the thread says, else as
/// set_precision, else CRISOL_PRECISION (a name), else fp32. Throws invalid_argument when the variable holds none.
CRISOL_API Precision precision();

/// The precision of all threads but those with a WithPrecision.
CRISOL_API void set_precision(Precision precision) noexcept;

/// The precision of this thread while it lives.
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
