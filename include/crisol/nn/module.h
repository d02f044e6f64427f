// The base of all layers and models.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/export.h"
#include "crisol/hook.h"
#include "crisol/named_tensors.h"
#include "crisol/nn/parameter.h"

namespace crisol::nn {

class Module;

/// A function that is called with a module and its input before forward(). It may change x.
using ForwardPreHook = std::function<void(Module& module, Tensor& x)>;
/// A function that is called with a module, its input and its output after forward(). It may change y.
using ForwardHook = std::function<void(Module& module, const Tensor& x, Tensor& y)>;
/// A function that backward() calls with the gradients of a module's input and output. It may change grad_input to
/// another tensor of the same shape. grad_input is undefined if the input needs no gradient.
using BackwardHook = std::function<void(Tensor& grad_input, const Tensor& grad_output)>;

/// A function that computes the output of a module in place of its forward().
using ReplacedForward = std::function<Tensor(Module& module, const Tensor& x)>;
/// A function that computes a call of a module: `call(x)` calls the hooks and forward().
using CallWrapper =
    std::function<Tensor(Module& module, const Tensor& x, const std::function<Tensor(const Tensor& x)>& call)>;

/// How load_state_dict treats names.
struct LoadStateOptions {
  bool strict = true;  ///< Missing and unexpected names are errors.
};

/// How the names of a state differ from the names of a module.
struct StateDifference {
  std::vector<std::string> missing;     ///< Names of the module that the state lacks.
  std::vector<std::string> unexpected;  ///< Names of the state that the module lacks.
};

namespace detail {

/// From construction to destruction, copies of modules, parameters and buffers on this thread are deep copies.
class CRISOL_API CloneScope {
 public:
  CloneScope(const Module& module, const std::type_info& type);
  ~CloneScope();
  CloneScope(const CloneScope&) = delete;
  CloneScope& operator=(const CloneScope&) = delete;
};

/// Makes a module from a module of the same class.
using CopyModule = std::shared_ptr<Module> (*)(const Module& module);

template <class M>
std::shared_ptr<Module> copy_module(const Module& module) {
  return std::make_shared<M>(static_cast<const M&>(module));
}

/// Whether all classes are modules. False for a single List: List's copy constructor must take it.
template <class List, class... Layers>
constexpr bool are_layers = (std::is_base_of_v<Module, Layers> && ...) &&
                            !(sizeof...(Layers) == 1 && (std::is_same_v<List, Layers> && ...));

}  // namespace detail

/// A layer or model: named parameters (tensors that want gradients), named buffers (tensors that belong to the state
/// but are not trained) and named children, which are members of the class.
///
///     struct Net : nn::Module {
///       nn::Linear hidden{784, 128}, out{128, 10};
///       Net() {
///         register_module("hidden", hidden);
///         register_module("out", out);
///       }
///       Tensor forward(const Tensor& x) override { return out(relu(hidden(x))); }
///     };
///
/// A module is a handle, like Tensor: a copy, and a moved module, is the same module. Its parameters, buffers,
/// children, hooks and mode are shared. Other members of a derived class are copied. clone() copies a module deeply. A
/// module cannot be assigned, because its parent and its copies would keep the old one: see replace_module. Hooks are
/// added and removed while no other thread calls the module.
class CRISOL_API Module {
 public:
  Module();
  virtual ~Module();
  /// Another handle to the same module. Inside clone() it is a deep copy.
  Module(const Module& other);
  Module& operator=(const Module&) = delete;

  /// The output for one input. A module with other inputs declares its own operator() and does not override forward(x).
  /// forward(x) then throws.
  virtual Tensor forward(const Tensor& x);
  /// Calls the hooks and forward(x).
  Tensor operator()(const Tensor& x);

  /// The parameters of this module, and then the parameters of its children as "child.parameter". Children are in the
  /// order in which they were added. A parameter with several names (a tied parameter, or one of a shared child) is
  /// listed once, under its first name.
  NamedTensors named_parameters() const;
  /// The buffers, with names and order as in named_parameters().
  NamedTensors named_buffers() const;
  /// named_parameters() without the names. An optimiser takes this list.
  std::vector<Tensor> parameters() const;
  /// The number of elements of all parameters.
  std::int64_t parameter_count() const;

  /// The parameter of this name, such as "features.0.weight". Any name of a tied parameter is accepted. Throws
  /// invalid_argument if there is none. `net.parameter("fc.weight") = values` assigns to the parameter.
  Parameter parameter(const std::string& name) const;
  /// The buffer of this name, such as "bn.running_mean". Throws invalid_argument if there is none.
  Buffer buffer(const std::string& name) const;
  /// The module of this name below this module, such as "features.0". Throws invalid_argument if there is none.
  Module& module(const std::string& name) const;
  /// The module of this name as a layer of a class: `net.module<nn::Conv2d>("features.0").weight`. Throws
  /// invalid_argument for a module of another class.
  template <class Layer>
  Layer& module(const std::string& name) const {
    Layer* layer = dynamic_cast<Layer*>(&module(name));
    if (layer == nullptr) throw_wrong_class(name, typeid(Layer));
    return *layer;
  }

  /// Parameters and buffers by name, outside the graph but over the same memory. Each one is listed once.
  NamedTensors state_dict() const;
  /// Copies values from `state` into parameters and buffers, converted to their dtype and moved to their device.
  /// `state` must contain every name of this module, with the same shape, and no other name. A tied parameter may
  /// appear under any of its names, or under all. Otherwise throws invalid_argument, with all missing, unexpected and
  /// different names, and changes nothing. With `strict` false, missing and unexpected names are no error. The result
  /// lists them.
  StateDifference load_state_dict(const NamedTensors& state, const LoadStateOptions& options = {});

  /// Switches the training mode of this module and all children. In training mode, dropout drops elements and batch
  /// norm uses the statistics of the batch. A new module is in training mode.
  Module& train(bool on = true);
  /// Calls train(false).
  Module& eval() { return train(false); }
  /// Whether the module is in training mode.
  bool training() const noexcept;
  /// Switches the mode of this module alone, and not of its children.
  void set_training(bool on) noexcept;

  /// Moves parameters, their gradients and buffers to a device. All handles to them move too. Views, detach() and
  /// state_dict() that were taken before keep the old memory. Make the optimiser after this call. Nothing changes for
  /// tensors that are on the device already.
  Module& to(Device device);
  /// Converts all floating-point parameters, their gradients and buffers to a floating-point dtype, in the same way.
  Module& to(DType dtype);

  /// Discards the gradients of all parameters.
  void zero_grad() const;
  /// The same. Without `set_to_none`, the gradients stay the same tensors and become zeros.
  void zero_grad(bool set_to_none) const;

  /// Calls f with every module below this module, children before their parents, and at last with this module.
  Module& apply(const std::function<void(Module&)>& f);
  /// The children, in the order in which they were added.
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& named_children() const noexcept;
  /// This module under the name "", and all modules below it under their paths. Each module is listed once. The
  /// pointers are valid as long as this module lives and keeps its children.
  std::vector<std::pair<std::string, Module*>> named_modules();
  /// named_modules() without the names.
  std::vector<Module*> modules();

  /// Registers a hook that operator() calls before forward(). Hooks are called in the order of their registration.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  /// Registers a hook that operator() calls after forward().
  HookHandle register_forward_hook(ForwardHook hook);
  /// Registers a hook that backward() calls when it has the gradient of the input of a call of operator().
  HookHandle register_full_backward_hook(BackwardHook hook);
  /// Lets operator() call `function` instead of forward(). An empty function brings forward() back. For code that
  /// changes how the layers of any model compute, such as dist::sync_batch_norm.
  void replace_forward(ReplacedForward function);
  /// Lets operator() call `wrapper`, which calls the hooks and forward(). An empty function removes the wrapper. For
  /// bindings to other languages, whose hooks see more than tensors.
  void wrap_call(CallWrapper wrapper);
  /// The function of wrap_call(), or an empty one.
  const CallWrapper& call_wrapper() const noexcept;
  /// Whether there is a hook of any kind, a replaced forward() or a wrapper of calls.
  bool has_hooks() const noexcept;
  /// The number of handles to this module: copies of the object, and the registry's copy of a member.
  std::int64_t handles() const noexcept;

  /// Replaces the child `name` by `layer`. `member` is the member of this class that holds the child:
  ///
  ///     nn::ResNet net = nn::resnet18();
  ///     net.replace_module("fc", net.fc, nn::Linear(512, 10));
  ///
  /// `member` is destroyed and constructed again as a copy of `layer`. Throws invalid_argument, and changes nothing, if
  /// `member` is not the child of this name. Throws it also if this module has other handles (copies, or a parent that
  /// registered it), because their members would keep the old layer.
  template <class Child>
  void replace_module(const std::string& name, Child& member, const Child& layer) {
    const Child same = layer;  // `layer` may be a part of `member`.
    check_class(name, layer, typeid(Child));
    replace_child(name, &member, detail::copy_module<Child>(same), &detail::copy_module<Child>);
    [&]() noexcept {
      member.~Child();
      ::new (static_cast<void*>(std::addressof(member))) Child(same);
    }();
  }

  /// The name of the class, without namespaces.
  virtual std::string type_name() const;
  /// The settings of the layer for printing, such as "in_features=3, out_features=1". By default there are none.
  virtual std::string extra_repr() const;

 protected:
  /// Registers a parameter. An undefined parameter (the bias of a layer without bias) is not listed. If it is assigned,
  /// the error contains the name.
  void register_parameter(const std::string& name, Parameter& parameter);
  /// Registers a tensor that is part of the state but not trained. An undefined tensor is not listed.
  void register_buffer(const std::string& name, Buffer& buffer);
  /// Removes a parameter, buffer or child from the lists. A member of the class stays what it is. The class may
  /// register the name again. Throws invalid_argument if the lists do not have the name.
  void forget(const std::string& name);
  /// Registers a child, a member or a new layer, and returns it. The registry keeps a copy of the handle, which is the
  /// same module.
  template <class Child>
  Child register_module(const std::string& name, const Child& child) {
    static_assert(std::is_base_of_v<Module, Child>, "a child must be a module");
    check_class(name, child, typeid(Child));
    register_child(name, detail::copy_module<Child>(child), &detail::copy_module<Child>);
    return child;
  }
  /// Registers a child that a pointer holds. clone() refuses modules with such children, because a copied pointer would
  /// still point to the original.
  template <class Child>
  std::shared_ptr<Child> register_module(const std::string& name, const std::shared_ptr<Child>& child) {
    register_child(name, child, nullptr);
    return child;
  }

  /// Replaces the child `name` by a layer. `member` is the member of the class that holds the child, or null if no
  /// member holds it.
  void replace_child(const std::string& name, const Module* member, std::shared_ptr<Module> layer,
                     detail::CopyModule copy);

  /// Calls the hooks and forward(x). For an operator() with more arguments or results.
  Tensor call_with_hooks(const Tensor& x, const std::function<Tensor(const Tensor& x)>& forward);
  /// The same as call_with_hooks, but without the wrapper of calls.
  Tensor call_inside_wrapper(const Tensor& x, const std::function<Tensor(const Tensor& x)>& forward);
  /// Like call_with_hooks, for a forward(x) that returns a struct of tensors. The hooks see one of the tensors, and may
  /// replace it. `output` selects this tensor: a pointer to a member, or a function from the struct to a reference.
  template <class Forward, class Output>
  std::invoke_result_t<Forward, const Tensor&> call_with_hooks(const Tensor& x, const Forward& forward,
                                                               const Output& output) {
    std::invoke_result_t<Forward, const Tensor&> result;
    const Tensor seen = call_with_hooks(x, [&](const Tensor& input) {
      result = forward(input);
      return std::invoke(output, result);
    });
    std::invoke(output, result) = seen;
    return result;
  }

  /// Throws invalid_argument if the class of `child` is derived from `type`, because a copy would lose the derived
  /// part.
  static void check_class(const std::string& name, const Module& child, const std::type_info& type);

 private:
  friend class detail::CloneScope;
  struct State;

  void check_name(const std::string& name) const;
  [[noreturn]] void throw_wrong_class(const std::string& name, const std::type_info& type) const;
  void check_child(const std::string& name, const Module* child) const;
  bool reaches(const Module& other) const;
  void register_child(const std::string& name, std::shared_ptr<Module> child, detail::CopyModule copy);
  void add_modules(const std::string& path, std::vector<std::pair<std::string, Module*>>& all);
  struct Entry;
  void add_entries(const std::string& prefix, bool parameters, bool buffers, std::vector<Entry>& all) const;
  std::vector<Entry> entries(bool parameters, bool buffers) const;
  void print(std::ostream& out, const std::string& indent) const;
  friend CRISOL_API std::ostream& operator<<(std::ostream& out, const Module& module);

  std::shared_ptr<State> state_;
};

/// A deep copy: parameters, buffers and children have their own memory. Tied parameters and shared children are tied
/// and shared in the copy too. Hooks are copied, but not a wrapper of calls. Gradients are not copied, and the memory
/// of members that are plain tensors is not copied either. Throws invalid_argument for a module whose class is derived
/// from M, and for one with a child that is held by a pointer.
template <class M>
M clone(const M& module) {
  const detail::CloneScope scope(module, typeid(M));
  return M(module);
}

/// One line for each module with its settings, as PyTorch prints them. Equal neighbours in a ModuleList share a line,
/// such as "(0-5): 6 x ReLU()".
///
///     Sequential(
///       (0): Linear(in_features=784, out_features=128, bias=true)
///       (1): ReLU()
///       (2): Linear(in_features=128, out_features=10, bias=true)
///     )
CRISOL_API std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace crisol::nn
