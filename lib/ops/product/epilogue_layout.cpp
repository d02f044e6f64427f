#include "ops/product/epilogue_layout.h"

#include "dispatch/interned_text.h"

namespace crisol::ops {

namespace {

using Form = Epilogue::Form;

Form form_of(const EpilogueLayout& epilogue) { return static_cast<Form>(epilogue.form); }

}  // namespace

EpilogueLayout layout_of(const Epilogue* epilogue) {
  EpilogueLayout layout;
  if (epilogue == nullptr) return layout;
  layout.form = static_cast<std::int64_t>(epilogue->form);
  layout.snippet = dispatch::intern(epilogue->prelude);
  layout.operand_count = static_cast<std::int64_t>(epilogue->operand_count);
  for (std::size_t i = 0; i < epilogue->operand_count; ++i) {
    const EpilogueOperand& e = epilogue->operands[i];
    layout.operands[i] = {e.row, e.column, e.batch, static_cast<std::int64_t>(e.first.offset % 4)};
  }
  return layout;
}

std::int32_t epilogue_flags(const EpilogueLayout& epilogue) {
  switch (form_of(epilogue)) {
    case Form::none: return 0;
    case Form::relu: return with_relu;
    case Form::add: return add_operand;
    case Form::add_relu: return with_relu | add_operand;
    case Form::generic: return with_snippet;
  }
  return 0;
}

std::string_view epilogue_prelude(const EpilogueLayout& epilogue) {
  return dispatch::interned(static_cast<std::uint32_t>(epilogue.snippet));
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
  if (epilogue.operand_count > 0) args.first = e0;
  if (epilogue.operand_count > 1) args.second = e1;
  const auto& [a, b] = epilogue.operands;
  args.strides = {a.row, a.column, a.batch, b.row, b.column, b.batch};
  if (!epilogue.is_generic()) return args;
  for (std::uint8_t i = 0; i < Epilogue::max_scalars; ++i)
    args.scalars[i] = {dispatch::PlanArg::Kind::call_scalar, 0, {}, i};
  return args;
}

EpilogueArgs no_epilogue(dispatch::Place any) {
  const dispatch::PlanArg zero{dispatch::PlanArg::Kind::value, sizeof(float)};  // The bytes of 0.0f.
  return {any, any, {}, {zero, zero, zero}};
}

dispatch::OperandView epilogue_operand(const Epilogue* epilogue, std::size_t i, const runtime::BufferView& any) {
  return epilogue != nullptr && i < epilogue->operand_count ? epilogue->operands[i].first : any;
}

std::array<runtime::KernelArg, Epilogue::max_scalars> epilogue_scalars(const Epilogue* epilogue) {
  if (epilogue == nullptr) return {0.0f, 0.0f, 0.0f};
  return {epilogue->scalars[0], epilogue->scalars[1], epilogue->scalars[2]};
}

}  // namespace crisol::ops
