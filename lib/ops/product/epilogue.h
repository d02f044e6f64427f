// The epilogue: the function that is applied to a product's results before they are stored. y = f(v), where v is the
// sum with its bias.
//
// Matrix products, linear layers and convolutions take an epilogue. The cheap cases (relu, adding a residual) are flags
// that kernels read at run time, so they compile nothing. Any other f is a snippet of OpenCL C between the kernel's
// defines and its file. functions/fuse/epilogue.h makes epilogues from fused functions. It runs f as a separate pass
// after ops and variants that take no snippet.
#pragma once

#include <array>
#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// The function f, and where it finds the f32 tensors that it reads. It is a part of a problem, so it consists of whole
/// numbers. By default y = v.
struct EpilogueLayout {
  static constexpr std::size_t max_operands = 2, max_scalars = 8;

  /// The cases without a snippet, and `generic` with a snippet.
  enum class Function : std::int64_t {
    none,      ///< y = v
    relu,      ///< y = v <= 0 ? 0 : v; NaN stays
    add,       ///< y = v + e0, where e0 has the result's shape and layout
    add_relu,  ///< y = relu(v + e0)
    generic,
  };

  /// For element (i, j) of product p, the epilogue reads the element `p * batch + i * row + at * column` elements after
  /// the tensor's first one. `at` is the position of column j in a row of the result. For a matrix it is j. For a
  /// convolution it is where the kernel stores pixel j of a channel.
  ///
  ///     of the result's shape and layout   {c.row, 1, c.batch}
  ///     one value a row (a channel)        {1, 0}
  ///     one value a column (a feature)     {0, 1}      matrices only
  ///     one value                          {0, 0}
  struct Operand {
    std::int64_t row = 0, column = 0, batch = 0;
    std::int64_t offset = 0;  ///< The position of the first element, modulo 4.
  };

  Function function = Function::none;
  /// The number (base/interned_text.h) of the text for `generic`. The text is OpenCL C. It defines EPILOGUE_OPERANDS
  /// and EPILOGUE_SCALARS as numbers, and the macro EPILOGUE(T, name), which defines a function
  ///
  ///     T name(const T v, const T e0, const T e1, const float8 s)
  ///
  /// for T = float and for vectors of floats. Operands and scalars beyond the counts have any value and must not be
  /// read. Functions that differ only in constants have equal texts, because constants are scalars.
  std::int64_t snippet = 0;
  std::int64_t operand_count = 0;
  std::array<Operand, max_operands> operands{};

  bool empty() const noexcept { return function == Function::none; }
  bool is_generic() const noexcept { return function == Function::generic; }
};

/// An epilogue with the tensors and numbers of one call.
struct ProductEpilogue {
  EpilogueLayout layout;
  std::array<Tensor, EpilogueLayout::max_operands> operands;
  std::array<float, EpilogueLayout::max_scalars> scalars{};
};

/// The layout of an epilogue, which may be nullptr.
inline EpilogueLayout layout_of(const ProductEpilogue* epilogue) {
  return epilogue != nullptr ? epilogue->layout : EpilogueLayout();
}

}  // namespace crisol::ops
