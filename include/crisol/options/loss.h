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

/// Options of poisson_nll_loss, as in PyTorch.
struct PoissonNLLOptions {
  Reduction reduction = Reduction::mean;  ///< Combines the losses of the elements.
  bool log_input = true;                  ///< x is the logarithm of the rate. Otherwise x is the rate.
  bool full = false;  ///< Adds Stirling's term t log(t) - t + log(2 pi t) / 2 for targets t above 1.
  double eps = 1e-8;  ///< Added to a rate before its logarithm.
};

/// Options of gaussian_nll_loss, as in PyTorch.
struct GaussianNLLOptions {
  Reduction reduction = Reduction::mean;  ///< Combines the losses of the elements.
  bool full = false;                      ///< Adds log(2 pi) / 2.
  double eps = 1e-6;                      ///< The least variance.
};

/// Options of triplet_margin_loss, as in PyTorch.
struct TripletMarginOptions {
  Reduction reduction = Reduction::mean;  ///< Combines the losses of the rows.
  double margin = 1;                      ///< How much farther the negative must be.
  double p = 2;                           ///< The norm of the distances.
  double eps = 1e-6;                      ///< Added to each difference.
  bool swap = false;                      ///< Takes the distance of positive and negative if it is smaller.
};

}  // namespace crisol
