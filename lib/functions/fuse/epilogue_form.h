// A recording as the last step of a product's kernel.
#pragma once

#include <string>
#include <vector>

#include "functions/fuse/fused_graph.h"
#include "ops/product/epilogue.h"

namespace crisol::detail {

struct EpilogueForm {
  /// Why no kernel can take it, or nullptr.
  const char* refusal = nullptr;
  ops::Epilogue::Form form = ops::Epilogue::Form::none;
  std::string prelude;                ///< Of a generic one.
  std::vector<std::size_t> operands;  ///< Arguments that are read beside number 0, the product's result.
  std::vector<ScalarOrigin> scalars;
};

/// Argument 0 of the recording is the product's result.
EpilogueForm epilogue_form_of(const Recording& recording);

}  // namespace crisol::detail
