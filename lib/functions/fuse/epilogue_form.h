// Conversion of a recording to the last step of a product's kernel.
#pragma once

#include <string>
#include <vector>

#include "functions/fuse/fused_graph.h"
#include "ops/product/epilogue.h"

namespace crisol::detail {

struct EpilogueForm {
  /// The reason why no kernel can apply it, or nullptr.
  const char* refusal = nullptr;
  ops::ProductEpilogue::Form form = ops::ProductEpilogue::Form::none;
  std::string prelude;                ///< The source of a generic epilogue.
  std::vector<std::size_t> operands;  ///< The arguments that it reads, without number 0, the product's result.
  std::vector<ScalarOrigin> scalars;
};

/// The epilogue form of a recording. Argument 0 of the recording is the product's result.
EpilogueForm epilogue_form_of(const Recording& recording);

}  // namespace crisol::detail
