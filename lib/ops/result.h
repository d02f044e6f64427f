// The results of ops. NAME makes a new tensor, and NAME_into writes to the tensor that its caller gives. An op has one
// function for both forms. Its argument `into` is the given tensor, or nullptr.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

#include "tensor/kernel_args.h"

namespace crisol::ops {

/// A result that kernels write. If the given tensor shares elements with an input, or if the kernels cannot write its
/// layout, they write a tensor beside it, and done() copies the elements. The constructor resolves the kernel of this
/// copy, and queues nothing.
class Result {
 public:
  enum class Layout : std::uint8_t {
    row_major,  ///< The kernels write row-major tensors only.
    matrix,     ///< One of the last two strides is 1.
    any,
  };

  Result() = default;
  /// Refuses a given tensor of another shape, dtype or device. Several of its indices must not mean one element, and it
  /// must not share only a part of its elements with an input. Inputs may be undefined. Kernels write
  /// the dtype `computed`, if one is given, and copies convert it.
  Result(const char* op, const Tensor* into, const Shape& shape, DType dtype, Device device,
         std::span<const Tensor* const> inputs, Layout layout = Layout::row_major, std::optional<DType> computed = {});
  Result(const char* op, const Tensor* into, const Shape& shape, DType dtype, Device device,
         std::initializer_list<const Tensor*> inputs, Layout layout = Layout::row_major,
         std::optional<DType> computed = {})
      : Result(op, into, shape, dtype, device, std::span(inputs.begin(), inputs.size()), layout, computed) {}

  /// The tensor that the kernels write.
  const Tensor& place() const noexcept { return place_; }
  /// The result. Called once, after the launches.
  Tensor done();

 private:
  Tensor place_, result_;
  std::unique_ptr<const std::function<void()>> copy_;  ///< Copies the elements. Null if place_ is the result.
};

inline runtime::BufferView out(const Result& result) { return out(result.place()); }

/// Refuses two given tensors for results of one op that share elements. Each may be nullptr.
void require_apart(const char* op, const Tensor* a, const Tensor* b);

/// The tensors that a caller of NAME_into gives, one for each result.
using GivenTensors = std::initializer_list<const Tensor*>;
/// Checks given tensors like the constructor of Result, but for shapes and dtypes.
void require_writable(const char* op, GivenTensors into, std::initializer_list<const Tensor*> inputs);
/// Copies results. Refuses given tensors of another shape or dtype before the first copy.
void copy_results(const char* op, GivenTensors into, std::span<const Tensor> results);

/// NAME_into of an op that is made of other ops. `compute` gives an array of the results, which are copied.
template <class Compute>
void deliver(const char* op, GivenTensors into, std::initializer_list<const Tensor*> inputs, Compute compute) {
  require_writable(op, into, inputs);
  copy_results(op, into, compute());
}

}  // namespace crisol::ops
