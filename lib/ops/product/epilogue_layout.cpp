#include "ops/product/epilogue_layout.h"

#include <algorithm>

#include "base/interned_text.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

std::int32_t epilogue_flags(const EpilogueLayout& epilogue) {
  using Function = EpilogueLayout::Function;
  switch (epilogue.function) {
    case Function::none: return 0;
    case Function::relu: return with_relu;
    case Function::add: return add_operand;
    case Function::add_relu: return with_relu | add_operand;
    case Function::generic: return with_snippet;
  }
  return 0;
}

std::string_view epilogue_prelude(const EpilogueLayout& epilogue) {
  return interned(static_cast<std::uint32_t>(epilogue.snippet));
}

bool reads_vectors(const EpilogueLayout& epilogue, int count) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(epilogue.operand_count); ++i) {
    const EpilogueLayout::Operand& e = epilogue.operands[i];
    if (e.column == 0) continue;
    if (e.column != 1 || e.offset % count != 0 || e.row % count != 0 || e.batch % count != 0) return false;
  }
  return true;
}

EpilogueArgs epilogue_args(const EpilogueLayout& epilogue, dispatch::Place e0, dispatch::Place e1,
                           dispatch::Place any) {
  EpilogueArgs args = no_epilogue(any);
  if (epilogue.empty()) return args;
  auto& [first, second, strides, scalars] = args;
  if (epilogue.operand_count > 0) first = e0;
  if (epilogue.operand_count > 1) second = e1;
  const auto& [a, b] = epilogue.operands;
  strides = {a.row, a.column, a.batch, b.row, b.column, b.batch};
  if (epilogue.is_generic()) scalars = dispatch::CallScalar{0};
  return args;
}

EpilogueArgs no_epilogue(dispatch::Place any) { return {any, any, {}, NoScalars{}}; }

dispatch::OperandView epilogue_operand(const ProductEpilogue* epilogue, std::size_t i, const runtime::BufferView& any) {
  const bool reads = i < static_cast<std::size_t>(layout_of(epilogue).operand_count);
  return reads ? in(epilogue->operands[i]) : any;
}

runtime::KernelArg epilogue_scalars(const ProductEpilogue* epilogue) {
  std::array<float, 8> scalars{};
  if (epilogue != nullptr) std::copy(epilogue->scalars.begin(), epilogue->scalars.end(), scalars.begin());
  return scalars;
}

}  // namespace crisol::ops
