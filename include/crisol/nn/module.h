// Base of all layers and models.
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

/// Called with a module and its input before forward(). May give x another value.
using ForwardPreHook = std::function<void(Module& module, Tensor& x)>;
/// Called with a module, its input and its output after forward(). May give y another value.
using ForwardHook = std::function<void(Module& module, const Tensor& x, Tensor& y)>;
/// Called by backward() with the gradients of a module's input and output. May give grad_input another value of its
/// shape. grad_input is undefined if the input needs no gradient.
using BackwardHook = std::function<void(Tensor& grad_input, const Tensor& grad_output)>;

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

/// While it lives, copies of modules, parameters and buffers on this thread are deep copies.
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

/// All are modules, and they are not one List, of which a copy is made instead.
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
  /// The same module. Inside of clone() a deep copy.
  Module(const Module& other);
  Module& operator=(const Module&) = delete;

  /// The output for one input. Modules with other signatures leave this one throwing, and declare their own operator().
  virtual Tensor forward(const Tensor& x);
  /// forward(x), with the hooks around it.
  Tensor operator()(const Tensor& x);

  /// Own parameters first, then those of the children in order of their addition, as "child.parameter". A parameter
  /// with several names (a tied one, or one of a shared child) is listed once, under the first name.
  NamedTensors named_parameters() const;
  /// Buffers in the same order, by the same kind of names.
  NamedTensors named_buffers() const;
  /// named_parameters() without the names: what an optimiser takes.
  std::vector<Tensor> parameters() const;
  /// Elements of all parameters.
  std::int64_t parameter_count() const;

  /// The parameter of that name, as "features.0.weight". Throws invalid_argument if there is none. Any name of a tied
  /// parameter will do. `net.parameter("fc.weight") = values` assigns to the parameter.
  Parameter parameter(const std::string& name) const;
  /// The buffer of that name, as "bn.running_mean". Throws invalid_argument if there is none.
  Buffer buffer(const std::string& name) const;
  /// The module of that name below this one, as "features.0". Throws invalid_argument if there is none.
  Module& module(const std::string& name) const;
  /// The same, as a layer of a class: `net.module<nn::Conv2d>("features.0").weight`. Throws invalid_argument for a
  /// module of another class.
  template <class Layer>
  Layer& module(const std::string& name) const {
    Layer* layer = dynamic_cast<Layer*>(&module(name));
    if (layer == nullptr) refuse_class(name, typeid(Layer));
    return *layer;
  }

  /// Parameters and buffers by name, outside the graph but over the same memory. Each is listed once.
  NamedTensors state_dict() const;
  /// Copies values from `state` into parameters and buffers, converted to their dtype and moved to their device. Every
  /// name of this module must be there with the same shape, and no other name; a tied parameter may come under any of
  /// its names, or all. Throws invalid_argument with all that is missing, unexpected or different, and changes nothing
  /// then. With `strict` false, missing and unexpected names are no error but the result.
  StateDifference load_state_dict(const NamedTensors& state, const LoadStateOptions& options = {});

  /// Training mode, here and in all children: dropout drops, batch norm uses the batch's statistics. True at first.
  Module& train(bool on = true);
  /// train(false).
  Module& eval() { return train(false); }
  /// In training mode.
  bool training() const noexcept;

  /// Moves parameters and buffers to a device; tensors held by the user move with them, gradients are dropped. Make the
  /// optimiser afterwards.
  Module& to(Device device);

  /// Forgets the gradients of all parameters.
  void zero_grad() const;

  /// Calls f with every module below this one, children before their parents, and with this one at the end.
  Module& apply(const std::function<void(Module&)>& f);
  /// Children in order of their addition.
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& named_children() const noexcept;
  /// This module under the name "", and all modules below it by their paths, each once. The pointers are valid while
  /// this module lives and keeps its children.
  std::vector<std::pair<std::string, Module*>> named_modules();
  /// named_modules() without the names.
  std::vector<Module*> modules();

  /// Calls `hook` before each forward() of operator(), with hooks in order of their addition.
  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  /// Calls `hook` after each forward() of operator().
  HookHandle register_forward_hook(ForwardHook hook);
  /// Calls `hook` when backward() has the gradient of the input of a call of operator().
  HookHandle register_full_backward_hook(BackwardHook hook);
  /// There is a hook of any kind.
  bool has_hooks() const noexcept;

  /// Puts `layer` in the place of the child `name`, whose member of this class is `member`:
  ///
  ///     nn::ResNet net = nn::resnet18();
  ///     net.replace_module("fc", net.fc, nn::Linear(512, 10));
  ///
  /// `member` is destroyed and made anew as a copy of `layer`. Throws invalid_argument, and changes nothing, if
  /// `member` is not the child of that name, and if this module has other handles (copies, or a parent that registered
  /// it), because their members would keep the old layer.
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
  /// The settings of the layer for printing, as "in_features=3, out_features=1". The shapes of its own parameters, if
  /// the class says nothing else.
  virtual std::string extra_repr() const;

 protected:
  /// Registers a parameter. An undefined one (an absent bias) is not listed, and refuses values by its name.
  void register_parameter(const std::string& name, Parameter& parameter);
  /// Registers a tensor that is part of the state and not trained. An undefined one is not listed.
  void register_buffer(const std::string& name, Buffer& buffer);
  /// Registers a child and returns it: a member, or a new layer. The registry keeps a copy, which is the same module.
  template <class Child>
  Child register_module(const std::string& name, const Child& child) {
    static_assert(std::is_base_of_v<Module, Child>, "a child must be a module");
    check_class(name, child, typeid(Child));
    register_child(name, detail::copy_module<Child>(child), &detail::copy_module<Child>);
    return child;
  }
  /// Registers a child that is held by a pointer. clone() refuses modules with such children, because a copied pointer
  /// would still point to the original.
  template <class Child>
  std::shared_ptr<Child> register_module(const std::string& name, const std::shared_ptr<Child>& child) {
    register_child(name, child, nullptr);
    return child;
  }

  /// Puts a layer in the place of the child `name`. `member` is the member of the class that holds the child, or null
  /// if the child is no member.
  void replace_child(const std::string& name, const Module* member, std::shared_ptr<Module> layer,
                     detail::CopyModule copy);

  /// forward(x), with the hooks around it: for an operator() with more arguments or results.
  Tensor call_with_hooks(const Tensor& x, const std::function<Tensor(const Tensor& x)>& forward);
  /// The same for a forward(x) that gives several tensors in a struct. The hooks see one of the tensors, and may
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

  /// Throws invalid_argument if `child` is of a class that is derived from `type`: a copy would lose a part of it.
  static void check_class(const std::string& name, const Module& child, const std::type_info& type);

 private:
  friend class detail::CloneScope;
  struct State;

  void check_name(const std::string& name) const;
  [[noreturn]] void refuse_class(const std::string& name, const std::type_info& type) const;
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
/// and shared in the copy too. Hooks are copied. Gradients are not, nor is the memory of members that are plain
/// tensors. Throws invalid_argument for a module whose class is derived from M, and for one with a child that is held
/// by a pointer.
template <class M>
M clone(const M& module) {
  const detail::CloneScope scope(module, typeid(M));
  return M(module);
}

/// One line for each module with its settings and its number of parameters, and the number of all parameters:
///
///     Sequential(
///       (0): Linear(in_features=784, out_features=128, bias=true), 100,480 parameters
///       (1): ReLU()
///       (2): Linear(in_features=128, out_features=10, bias=true), 1,290 parameters
///     ), 101,770 parameters
CRISOL_API std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace crisol::nn
