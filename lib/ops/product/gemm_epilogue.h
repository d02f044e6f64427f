// Only for lib/ops/conv, until it is converted to plans; see epilogue_layout.h.
// The epilogue of a product as its kernels take it (EPILOGUE_PARAMETERS of cl_kernels/product/epilogue.h).
#pragma once

#include "crisol/shape.h"
#include "ops/product/epilogue.h"
#include "ops/product/gemm.h"

namespace crisol::ops {
inline namespace before_plans {

struct EpilogueArguments {
  runtime::BufferView first, second;
  Shape strides;  ///< (row, column, batch) of both.
  std::array<float, Epilogue::max_scalars> scalars;
};

/// `any` stands for operands that are not there: a buffer that is not read.
inline EpilogueArguments epilogue_arguments(const Epilogue* epilogue, runtime::BufferView any) {
  if (epilogue == nullptr) return {any, any, {}, {}};
  const auto& [e0, e1] = epilogue->operands;
  return {epilogue->operand_count > 0 ? e0.first : any,
          epilogue->operand_count > 1 ? e1.first : any,
          {e0.row, e0.column, e0.batch, e1.row, e1.column, e1.batch},
          epilogue->scalars};
}

/// with_relu, add_operand, with_snippet as the epilogue says.
inline std::int32_t epilogue_flags(const Epilogue* epilogue) {
  if (epilogue == nullptr || epilogue->empty()) return 0;
  if (epilogue->form == Epilogue::Form::generic) return with_snippet;
  return (epilogue->has_relu() ? with_relu : 0) | (epilogue->adds() ? add_operand : 0);
}

inline std::string_view epilogue_prelude(const Epilogue* epilogue) {
  return epilogue == nullptr ? std::string_view() : epilogue->prelude;
}

}  // namespace before_plans
}  // namespace crisol::ops
