// The optimisers. Each takes parameters or groups of parameters, and a learning rate or its options.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "crisol/optim/optimizer.h"

namespace crisol::optim {

namespace detail {

/// A copy of the options with another learning rate.
template <class Options, class Rate>
Options with_rate(Options options, Rate lr) {
  options.lr = static_cast<double>(lr);
  return options;
}

}  // namespace detail

/// PyTorch's options of SGD.
struct SGDOptions {
  double lr = 1e-3;         ///< Learning rate.
  double momentum = 0;      ///< In [0, 1).
  double dampening = 0;     ///< A gradient enters the momentum with the factor 1 - dampening.
  double weight_decay = 0;  ///< Adds weight_decay·p to g.
  bool nesterov = false;    ///< Needs momentum, and no dampening.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// Stochastic gradient descent, for a parameter p with gradient g:
/// g += weight_decay·p;
/// with momentum: b = momentum·b + (1 - dampening)·g, but b = g in the first step; then g = nesterov ? g + momentum·b :
/// b;
/// p -= lr·g.
class CRISOL_API SGD : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> parameters, const SGDOptions& options = {});
  explicit SGD(std::vector<ParamGroup> groups, const SGDOptions& defaults = {});
  /// Options with the learning rate as a separate argument: `SGD(parameters, 1e-3, {.weight_decay = 0.1})`.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  SGD(std::vector<Tensor> parameters, Rate lr, const SGDOptions& options = {})
      : SGD(std::move(parameters), detail::with_rate(options, lr)) {}
  /// The same for groups.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  SGD(std::vector<ParamGroup> groups, Rate lr, const SGDOptions& defaults = {})
      : SGD(std::move(groups), detail::with_rate(defaults, lr)) {}
};

/// PyTorch's options of Adam.
struct AdamOptions {
  double lr = 1e-3;         ///< Learning rate.
  double beta1 = 0.9;       ///< Decay of the mean of gradients; in [0, 1).
  double beta2 = 0.999;     ///< Decay of the mean of squares; in [0, 1).
  double eps = 1e-8;        ///< Added to the square root.
  double weight_decay = 0;  ///< Adds weight_decay·p to g.
  bool amsgrad = false;     ///< The largest v so far replaces v under the square root. Reddi et al. 2018.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// Kingma and Ba 2015, for a parameter p with gradient g at step t = 1, 2, …:
/// g += weight_decay·p; m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²;
/// p -= lr·m/(1 - beta1^t) / (sqrt(v/(1 - beta2^t)) + eps).
class CRISOL_API Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});
  explicit Adam(std::vector<ParamGroup> groups, const AdamOptions& defaults = {});
  /// Options with the learning rate as a separate argument: `Adam(parameters, 1e-3, {.weight_decay = 0.1})`.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  Adam(std::vector<Tensor> parameters, Rate lr, const AdamOptions& options = {})
      : Adam(std::move(parameters), detail::with_rate(options, lr)) {}
  /// The same for groups.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  Adam(std::vector<ParamGroup> groups, Rate lr, const AdamOptions& defaults = {})
      : Adam(std::move(groups), detail::with_rate(defaults, lr)) {}
};

/// PyTorch's options of AdamW.
struct AdamWOptions {
  double lr = 1e-3;            ///< Learning rate.
  double beta1 = 0.9;          ///< Decay of the mean of gradients; in [0, 1).
  double beta2 = 0.999;        ///< Decay of the mean of squares; in [0, 1).
  double eps = 1e-8;           ///< Added to the square root.
  double weight_decay = 1e-2;  ///< Shrinks p by lr·weight_decay·p.
  bool amsgrad = false;        ///< The largest v so far replaces v under the square root.
  bool maximize = false;       ///< Maximises: uses -g instead of g.
};

/// Loshchilov and Hutter 2019: Adam with p -= lr·weight_decay·p in place of g += weight_decay·p.
class CRISOL_API AdamW : public Optimizer {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {});
  explicit AdamW(std::vector<ParamGroup> groups, const AdamWOptions& defaults = {});
  /// Options with the learning rate as a separate argument: `AdamW(parameters, 1e-3, {.weight_decay = 0.1})`.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  AdamW(std::vector<Tensor> parameters, Rate lr, const AdamWOptions& options = {})
      : AdamW(std::move(parameters), detail::with_rate(options, lr)) {}
  /// The same for groups.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  AdamW(std::vector<ParamGroup> groups, Rate lr, const AdamWOptions& defaults = {})
      : AdamW(std::move(groups), detail::with_rate(defaults, lr)) {}
};

/// PyTorch's options of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2;         ///< Learning rate.
  double alpha = 0.99;      ///< Decay of the mean of squares; in [0, 1).
  double eps = 1e-8;        ///< Added to the square root.
  double weight_decay = 0;  ///< Adds weight_decay·p to g.
  double momentum = 0;      ///< In [0, 1).
  bool centered = false;    ///< Divides by the standard deviation instead of the root mean square.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// RMSprop, for a parameter p with gradient g:
/// g += weight_decay·p; v = alpha·v + (1 - alpha)·g²;
/// with centered: a = alpha·a + (1 - alpha)·g and v' = max(v - a², 0); otherwise v' = v;
/// u = g / (sqrt(v') + eps);
/// with momentum: b = momentum·b + u and p -= lr·b; otherwise p -= lr·u.
class CRISOL_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(std::vector<Tensor> parameters, const RMSpropOptions& options = {});
  explicit RMSprop(std::vector<ParamGroup> groups, const RMSpropOptions& defaults = {});
  /// Options with the learning rate as a separate argument: `RMSprop(parameters, 1e-3, {.weight_decay = 0.1})`.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  RMSprop(std::vector<Tensor> parameters, Rate lr, const RMSpropOptions& options = {})
      : RMSprop(std::move(parameters), detail::with_rate(options, lr)) {}
  /// The same for groups.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  RMSprop(std::vector<ParamGroup> groups, Rate lr, const RMSpropOptions& defaults = {})
      : RMSprop(std::move(groups), detail::with_rate(defaults, lr)) {}
};

/// Options of Lion, with the paper's defaults.
struct LionOptions {
  double lr = 1e-4;         ///< Learning rate: 3 to 10 times smaller than Adam's.
  double beta1 = 0.9;       ///< Weight of the mean in the direction of a step; in [0, 1).
  double beta2 = 0.99;      ///< Decay of the mean; in [0, 1).
  double weight_decay = 0;  ///< Shrinks p by lr·weight_decay·p.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// Chen et al. 2023, for a parameter p with gradient g:
/// u = sign(beta1·m + (1 - beta1)·g); p -= lr·(u + weight_decay·p); m = beta2·m + (1 - beta2)·g.
/// Its state is half as large as Adam's.
class CRISOL_API Lion : public Optimizer {
 public:
  explicit Lion(std::vector<Tensor> parameters, const LionOptions& options = {});
  explicit Lion(std::vector<ParamGroup> groups, const LionOptions& defaults = {});
  /// Options with the learning rate as a separate argument: `Lion(parameters, 1e-3, {.weight_decay = 0.1})`.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  Lion(std::vector<Tensor> parameters, Rate lr, const LionOptions& options = {})
      : Lion(std::move(parameters), detail::with_rate(options, lr)) {}
  /// The same for groups.
  template <class Rate, class = std::enable_if_t<std::is_arithmetic_v<Rate>>>
  Lion(std::vector<ParamGroup> groups, Rate lr, const LionOptions& defaults = {})
      : Lion(std::move(groups), detail::with_rate(defaults, lr)) {}
};

}  // namespace crisol::optim
