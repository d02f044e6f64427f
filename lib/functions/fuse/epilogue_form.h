// Converts a formula to the epilogue of a product's kernel.
#pragma once

#include <string>
#include <vector>

#include "functions/fuse/fused_graph.h"
#include "ops/product/epilogue.h"

namespace crisol::detail {

struct EpilogueForm {
  /// The reason why no kernel can apply the formula, or nullptr.
  const char* refusal = nullptr;
  ops::ProductEpilogue::Form form = ops::ProductEpilogue::Form::none;
  std::string prelude;                ///< The source of an epilogue in generated code.
  std::vector<std::size_t> operands;  ///< The arguments that it reads, except for argument 0, the product's result.
  std::vector<ScalarOrigin> scalars;
};

/// The epilogue form of a formula. Argument 0 of the formula is the product's result.
EpilogueForm epilogue_form_of(const Formula& formula);

}  // namespace crisol::detail
