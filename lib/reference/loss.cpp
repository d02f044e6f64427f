#include "reference/loss.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "reference/softmax.h"

namespace crisol::reference {

namespace {

// Computes the reduced loss and its gradient from the rows: their losses, their gradients and the number of rows that
// count.
LossWithGradient reduce(const std::vector<double>& losses, const std::vector<double>& gradients, Reduction reduction,
                        double count, const std::vector<double>& dy) {
  LossWithGradient result{losses, gradients};
  const double scale = reduction == Reduction::mean ? 1 / count : 1;
  if (reduction != Reduction::none)
    result.loss = {std::accumulate(losses.begin(), losses.end(), 0.0) / (reduction == Reduction::mean ? count : 1)};
  const std::size_t width = losses.empty() ? 1 : gradients.size() / losses.size();
  for (std::size_t i = 0; i < result.dx.size(); ++i)
    if (result.dx[i] != 0) result.dx[i] *= scale * dy[reduction == Reduction::none ? i / width : 0];
  return result;
}

}  // namespace

LossWithGradient cross_entropy(const std::vector<double>& x, const std::vector<std::int64_t>& labels,
                               std::int64_t classes, const CrossEntropyOptions& options,
                               const std::vector<double>& dy) {
  const std::int64_t rows = static_cast<std::int64_t>(labels.size());
  const std::vector<double> log_p = log_softmax(x, rows, classes, 1);
  std::vector<double> losses(labels.size(), 0.0), gradients(x.size(), 0.0);
  double count = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = labels[static_cast<std::size_t>(row)];
    if (label == options.ignore_index) continue;
    ++count;
    for (std::int64_t c = 0; c < classes; ++c) {
      const auto i = static_cast<std::size_t>(row * classes + c);
      const double smooth = options.label_smoothing / static_cast<double>(classes);
      double target = smooth + (c == label ? 1 - options.label_smoothing : 0);
      if (label < 0 || label >= classes) target = std::numeric_limits<double>::quiet_NaN();
      if (target != 0) losses[static_cast<std::size_t>(row)] -= target * log_p[i];
      gradients[i] = std::exp(log_p[i]) - target;
    }
  }
  return reduce(losses, gradients, options.reduction, count, dy);
}

LossWithGradient nll_loss(const std::vector<double>& x, const std::vector<std::int64_t>& labels, std::int64_t classes,
                          Reduction reduction, std::int64_t ignore_index, const std::vector<double>& dy) {
  std::vector<double> losses(labels.size(), 0.0), gradients(x.size(), 0.0);
  double count = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == ignore_index) continue;
    ++count;
    const bool known = labels[row] >= 0 && labels[row] < classes;
    const std::size_t first = row * static_cast<std::size_t>(classes);
    losses[row] = known ? -x[first + static_cast<std::size_t>(labels[row])] : std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t c = 0; c < classes; ++c)
      gradients[first + static_cast<std::size_t>(c)] = !known             ? std::numeric_limits<double>::quiet_NaN()
                                                       : c == labels[row] ? -1
                                                                          : 0;
  }
  return reduce(losses, gradients, reduction, count, dy);
}

LossWithGradient mse_loss(const std::vector<double>& x, const std::vector<double>& target, Reduction reduction,
                          const std::vector<double>& dy) {
  std::vector<double> losses(x.size()), gradients(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    losses[i] = (x[i] - target[i]) * (x[i] - target[i]);
    gradients[i] = 2 * (x[i] - target[i]);
  }
  return reduce(losses, gradients, reduction, static_cast<double>(x.size()), dy);
}

}  // namespace crisol::reference
