// Modules as graphs, for faster inference.
#pragma once

#include <memory>
#include <utility>

#include "crisol/export.h"
#include "crisol/nn/module.h"

namespace crisol {

/// A module that computes the same as another one; see compile(). The other module is its child "module", so both share
/// parameters, buffers and mode.
class CRISOL_API Compiled : public nn::Module {
 public:
  /// Used by compile().
  Compiled(std::shared_ptr<nn::Module> module, const Tensor& example);
  /// Another handle to the same module.
  Compiled(const Compiled& other);
  ~Compiled() override;
  Tensor forward(const Tensor& x) override;
  /// How many programs were made so far. A call that makes none takes less time.
  std::size_t programs() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A module that runs as a graph in evaluation, which takes less time:
///
///     net.eval();
///     Compiled fast = compile(net, zeros({1, 3, 224, 224}));
///     const NoGrad no_grad;
///     Tensor y = fast(x);
///
/// compile() runs the module on the example and notes its computations. For each size of the batch (axis 0) the graph
/// is simplified and captured when it is first needed, and the last eight programs are kept. After a change of
/// parameters or buffers, the next call makes a program again. The module itself runs in training, if a gradient is
/// needed, if an input differs from the example in more than the batch, and if the graph depends on values.
///
/// A program updates the buffers that forward() writes in place: keys and values of a cache, a position, running
/// statistics. It reads their present elements, so no write to them makes a new program. compile() itself leaves these
/// buffers as they were. If such a module takes no other batch than the example's, the graph is for this batch alone.
///
/// The graph repeats the work of the module for the example: it fixes branches of C++ code and the effects of hooks.
/// Throws invalid_argument for a module that has no graph, as onnx::save does. Functions of single elements need
/// no form in ONNX here.
template <class M>
Compiled compile(const M& module, const Tensor& example) {
  return Compiled(nn::detail::copy_module<M>(module), example);
}
/// The same for a module of any class.
inline Compiled compile(std::shared_ptr<nn::Module> module, const Tensor& example) {
  return Compiled(std::move(module), example);
}

}  // namespace crisol
