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
#include <string_view>

#include "runtime/launch.h"

namespace crisol::ops {

/// An f32 tensor that an epilogue reads. For element (i, j) of product p, the epilogue reads the element `p * batch + i
/// * row + at * column` elements after `first`. `at` is the position of column j in a row of the result. For a matrix
/// it is j. For a convolution it is where the kernel stores pixel j of a channel.
///
///     of the result's shape and layout   {view, c.row, 1, c.batch}
///     one value a row (a channel)        {view, 1, 0}
///     one value a column (a feature)     {view, 0, 1}      matrices only
///     one value                          {view, 0, 0}
struct EpilogueOperand {
  runtime::BufferView first{nullptr, 0};
  std::int64_t row = 0, column = 0, batch = 0;
};

/// The function f(v) of one op. The views and the text must live until the op is queued. By default y = v.
struct ProductEpilogue {
  static constexpr std::size_t max_operands = 2, max_scalars = 8;

  /// The cases without a snippet, and `generic` with a snippet.
  enum class Form : std::uint8_t {
    none,      ///< y = v
    relu,      ///< y = v <= 0 ? 0 : v; NaN stays
    add,       ///< y = v + e0, where e0 has the result's shape and layout
    add_relu,  ///< y = relu(v + e0)
    generic,
  };
  Form form = Form::none;

  /// OpenCL C for `generic`. It defines EPILOGUE_OPERANDS and EPILOGUE_SCALARS as numbers, and the macro EPILOGUE(T,
  /// name), which defines a function
  ///
  ///     T name(const T v, const T e0, const T e1, const float8 s)
  ///
  /// for T = float and for vectors of floats. Operands and scalars beyond the counts have any value and must not be
  /// read. Functions that differ only in constants have equal texts, because constants are scalars.
  std::string_view prelude{};

  std::array<EpilogueOperand, max_operands> operands{};
  std::size_t operand_count = 0;
  std::array<float, max_scalars> scalars{};
  std::size_t scalar_count = 0;

  bool empty() const noexcept { return form == Form::none; }
  bool adds() const noexcept { return form == Form::add || form == Form::add_relu; }
  bool has_relu() const noexcept { return form == Form::relu || form == Form::add_relu; }
};

}  // namespace crisol::ops
