// Base of all layers and models.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/export.h"
#include "crisol/named_tensors.h"

namespace crisol::nn {

/// A layer or model: named parameters (tensors that want gradients), named buffers (tensors that belong to the state
/// but are not trained) and named children. Can be moved, not copied.
///
///     struct Net : nn::Module {
///       std::shared_ptr<nn::Linear> hidden = register_module("hidden", nn::Linear(784, 128));
///       std::shared_ptr<nn::Linear> out = register_module("out", nn::Linear(128, 10));
///       Tensor forward(const Tensor& x) override { return out->forward(relu(hidden->forward(x))); }
///     };
class CRISOL_API Module {
 public:
  Module() = default;
  virtual ~Module();
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// The output for one input. Modules with other signatures leave this one throwing.
  virtual Tensor forward(const Tensor& x);
  /// forward(x).
  Tensor operator()(const Tensor& x) { return forward(x); }

  /// Own parameters first, then those of the children in order of their addition, as "child.parameter".
  NamedTensors named_parameters() const;
  /// Buffers in the same order, by the same kind of names.
  NamedTensors named_buffers() const;
  /// named_parameters() without the names: what an optimiser takes.
  std::vector<Tensor> parameters() const;
  /// Elements of all parameters.
  std::int64_t parameter_count() const;

  /// Parameters and buffers by name, outside the graph but over the same memory.
  NamedTensors state_dict() const;
  /// Copies values from `state` into parameters and buffers. Every name of this module must be there once with the same
  /// shape and dtype, and no other name; throws invalid_argument with all that is missing, unexpected or different, and
  /// changes nothing then.
  void load_state_dict(const NamedTensors& state);

  /// Training mode, here and in all children: dropout drops, batch norm uses the batch's statistics. True at first.
  Module& train(bool on = true);
  /// train(false).
  Module& eval() { return train(false); }
  /// In training mode.
  bool training() const noexcept { return training_; }

  /// Moves parameters and buffers to a device; tensors held by the user move with them, gradients are dropped. Make the
  /// optimiser afterwards.
  Module& to(Device device);

  /// Forgets the gradients of all parameters.
  void zero_grad() const;

  /// Children in order of their addition.
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& named_children() const noexcept {
    return children_;
  }

 protected:
  /// Registers a parameter, which wants a gradient from now on; undefined tensors (an absent bias) are not registered.
  Tensor register_parameter(const std::string& name, Tensor value);
  /// Registers a tensor that is part of the state and not trained; undefined ones are not registered.
  Tensor register_buffer(const std::string& name, Tensor value);
  /// Takes a child and gives it back shared: its address stays the same when the parent is moved.
  template <class Child>
  std::shared_ptr<std::decay_t<Child>> register_module(const std::string& name, Child&& child) {
    auto shared = std::make_shared<std::decay_t<Child>>(std::forward<Child>(child));
    register_child(name, shared);
    return shared;
  }
  /// As register_module, for a child that is shared already.
  void register_child(const std::string& name, std::shared_ptr<Module> child);

 private:
  void check_name(const std::string& name) const;

  NamedTensors parameters_, buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children_;
  bool training_ = true;
};

}  // namespace crisol::nn
