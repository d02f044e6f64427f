// The common parts of averages of gradients over all ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crisol/gradients.h"
#include "crisol/hook.h"
#include "crisol/named_tensors.h"
#include "dist/session.h"

namespace crisol::dist {

/// Watches in a backward() which parameters of this rank have a gradient. The object that averages the gradients uses
/// it to find complete buckets. This object must have the functions complete(parameter) and end_pass(error).
class GradientWatch {
 public:
  GradientWatch() = default;
  GradientWatch(const GradientWatch&) = delete;
  GradientWatch& operator=(const GradientWatch&) = delete;
  ~GradientWatch() {
    for (HookHandle& hook : hooks_) hook.remove();
  }

  /// While `object` lives, backward() calls its function complete(i) when the gradient of parameter i has its value.
  template <class Object>
  void add_hooks(const std::weak_ptr<Object>& object, const NamedTensors& parameters) {
    present.resize(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      hooks_.push_back(parameters[i].second.register_post_accumulate_grad_hook([object, i](const Tensor&) {
        if (const auto self = object.lock()) self->complete(i);
      }));
  }

  /// Call it at the first gradient of a backward(). At the end, this backward() calls end_pass.
  template <class Object>
  void begin_pass(const std::weak_ptr<Object>& object) {
    in_pass = true;
    next = 0;
    std::fill(present.begin(), present.end(), char{0});
    call_after_backward([object](const std::exception_ptr& error) {
      if (const auto self = object.lock()) self->end_pass(error);
    });
  }

  /// Whether the gradients first, … before last are present.
  bool has(std::size_t first, std::size_t last) const {
    return std::all_of(present.begin() + static_cast<std::ptrdiff_t>(first),
                       present.begin() + static_cast<std::ptrdiff_t>(last), [](char there) { return there != 0; });
  }

  bool in_pass = false;
  std::vector<char> present;  ///< By parameter: whether its gradient is complete.
  /// The first bucket whose exchange has not begun. All ranks exchange the buckets in this order, although backward()
  /// may complete them in another order.
  std::size_t next = 0;

 private:
  std::vector<HookHandle> hooks_;
};

/// Runs functions, and keeps the first exception. The functions after it are run too.
class FirstError {
 public:
  template <class Function>
  void run(const Function& function) {
    try {
      function();
    } catch (...) {
      if (error_ == nullptr) error_ = std::current_exception();
    }
  }
  /// Throws the first exception, if there was one.
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

/// Checks a parameter whose gradients are averaged in f32. `first` is the first parameter.
void require_leaf(const char* op, const std::string& name, const Tensor& parameter, const Tensor& first);

/// Checks and sets the weight of this rank's gradients.
void set_weight(const char* op, Session& session, double& own, double weight);

/// The weights of all ranks, divided by their sum. Empty if all weights are equal. Throws on every rank if all weights
/// are 0, or if the ranks are in different passes.
std::vector<double> gather_weights(const char* op, Link& link, std::int64_t pass, double own);

/// The text of an exception.
std::string text_of(const std::exception_ptr& error);

/// Throws on every rank if a parameter has a gradient on some ranks only, and names this parameter. `present` says
/// which parameters have a gradient on this rank.
void require_same_gradients(const char* op, Session& session, const NamedTensors& parameters,
                            const std::vector<char>& present);

}  // namespace crisol::dist
