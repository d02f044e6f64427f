// What plans and launches pass to a kernel for an epilogue: see ops/product/epilogue.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>

#include "dispatch/plan.h"
#include "ops/product/epilogue.h"
#include "product/gemm_flags.h"
#include "product/parameters.h"

namespace crisol::ops {

/// Flags for what happens to a product's sums before they are stored in C.
enum GemmFlag : std::int32_t {
  add_to_c = kernels::ADD_TO_C,
  bias_per_row = kernels::BIAS_PER_ROW,
  bias_per_column = kernels::BIAS_PER_COLUMN,
  with_relu = kernels::RELU,
  add_operand = kernels::ADD_E0,
  with_snippet = kernels::SNIPPET,
  b_packed = kernels::B_PACKED,  ///< The last three flags are only for kernels.
  gathered = kernels::GATHERED,
  a_rows = kernels::A_ROWS,
};

/// The epilogue's flags: with_relu, add_operand, with_snippet.
std::int32_t epilogue_flags(const EpilogueLayout& epilogue);
/// The snippet's text. It lives as long as the process.
std::string_view epilogue_prelude(const EpilogueLayout& epilogue);
/// Whether the epilogue's operands can be read `count` columns at a time.
bool reads_vectors(const EpilogueLayout& epilogue, int count = 4);

/// What a plan passes for EPILOGUE_PARAMETERS of cl_kernels/product/epilogue.h: both operands, their strides, and the
/// scalars as a float8.
using NoScalars = std::array<std::int64_t, 4>;  // The bytes of a float8.
using EpilogueArgs = std::tuple<dispatch::Place, dispatch::Place, kernels::EpilogueParameters,
                                std::variant<NoScalars, dispatch::CallScalar>>;

/// The buffer `any` takes the place of missing operands, and the kernel does not read it. The scalars of a snippet are
/// the first scalar of the call.
EpilogueArgs epilogue_args(const EpilogueLayout& epilogue, dispatch::Place e0, dispatch::Place e1, dispatch::Place any);
EpilogueArgs no_epilogue(dispatch::Place any);

/// Operand i of a call's epilogue, or `any` if there is none.
dispatch::OperandView epilogue_operand(const ProductEpilogue* epilogue, std::size_t i, const runtime::BufferView& any);
/// The scalars of a call, as a float8.
runtime::KernelArg epilogue_scalars(const ProductEpilogue* epilogue);

}  // namespace crisol::ops
