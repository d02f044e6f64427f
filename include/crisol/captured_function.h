// Captured work that reads other tensors in each call, for bindings of other frameworks. Programs use capture() or
// compile().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "crisol/tensor.h"

namespace crisol::detail {

/// Whether this thread captures, so that reading values is refused.
CRISOL_API bool is_capturing() noexcept;

/// A function of tensors whose commands are captured once. Each later call queues them again, with the memory of its
/// inputs and of new results. Copies of the handle are the same function.
class CRISOL_API CapturedFunction {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

  /// Calls `function` once with tensors like the inputs, captures its commands, and runs them. The results go to
  /// `results`. The function may write inputs and return views of inputs and of its results. `constants` are the
  /// positions of inputs that seldom change, if no call trains: kernels may then read packed copies of them. Throws
  /// invalid_argument if the work cannot be captured (see capture()), or if the function writes an input that is a part
  /// of another tensor.
  CapturedFunction(const Function& function, const std::vector<Tensor>& inputs,
                   const std::vector<std::size_t>& constants, std::vector<Tensor>& results);

  /// Queues the commands for these inputs. Nothing if the inputs have other dtypes, shapes or strides, or if kernels
  /// read a packed copy and its input has other elements now. Several threads may call it.
  std::optional<std::vector<Tensor>> operator()(const std::vector<Tensor>& inputs) const;

  /// The positions of the inputs that the function writes.
  const std::vector<std::size_t>& written() const noexcept;
  /// The number of commands.
  std::size_t size() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace crisol::detail
