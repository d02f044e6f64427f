#include "ops/product/epilogue_layout.h"

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace crisol::ops {

namespace {

using Form = Epilogue::Form;

/// The texts of all snippets. There are as many as a program has functions that it fuses.
class Snippets {
 public:
  std::int64_t number_of(std::string_view text) {
    if (text.empty()) return 0;
    const std::lock_guard lock(mutex_);
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    texts_.emplace_back(text);
    const auto number = static_cast<std::int64_t>(texts_.size());
    numbers_.emplace(texts_.back(), number);
    return number;
  }
  std::string_view text_of(std::int64_t number) {
    if (number == 0) return {};
    const std::lock_guard lock(mutex_);
    return texts_[static_cast<std::size_t>(number - 1)];
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> texts_;  // Which never move.
  std::unordered_map<std::string_view, std::int64_t> numbers_;
};

Snippets& snippets() {
  static auto& all = *new Snippets;  // Kept for threads that outlive static objects.
  return all;
}

Form form_of(const EpilogueLayout& epilogue) { return static_cast<Form>(epilogue.form); }

}  // namespace

EpilogueLayout layout_of(const Epilogue* epilogue) {
  EpilogueLayout layout;
  if (epilogue == nullptr) return layout;
  layout.form = static_cast<std::int64_t>(epilogue->form);
  layout.snippet = snippets().number_of(epilogue->prelude);
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

std::string_view epilogue_prelude(const EpilogueLayout& epilogue) { return snippets().text_of(epilogue.snippet); }

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
