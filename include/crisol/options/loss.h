// Options of losses.
#pragma once

#include <cstdint>

namespace crisol {

/// How the losses of rows or elements are combined: their mean, their sum, or no reduction.
enum class Reduction : std::uint8_t { mean, sum, none };

/// Options of cross_entropy, as in PyTorch.
struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;  ///< Combines the losses of the rows.
  double label_smoothing = 0;             ///< Share of the target that is spread evenly over all classes; in [0, 1].
  std::int64_t ignore_index = -100;       ///< Rows with this label have loss 0 and gradient 0.
};

}  // namespace crisol
