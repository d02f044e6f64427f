// Several elementwise ops as one kernel.
//
//     const auto gate = crisol::fuse([](const Expr& a, const Expr& b) { return tanh(a * b + b) * sigmoid(a); });
//     Tensor y = gate(a, b);          // One pass over memory. backward() takes one pass too.
//
// docs/fusion.md says when a function is called and compiled.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "crisol/expr.h"
#include "crisol/tensor.h"

namespace crisol {

namespace detail {

/// An argument of a call of a fused function: a tensor or a number.
class FusedArgument {
 public:
  FusedArgument(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  FusedArgument(Number value) noexcept : value_(value) {}
  FusedArgument(const Scalar& value) noexcept : value_(value) {}

  /// Null for a number.
  const Tensor* tensor() const noexcept { return tensor_; }
  const Scalar& value() const noexcept { return value_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar value_ = 0;
};

/// Appends the results of the function to the list.
using FusedBody = void (*)(const void* function, const Expr* arguments, std::vector<Expr>& results);

class FusedFunction;
CRISOL_API std::shared_ptr<FusedFunction> make_fused(const char* op);
CRISOL_API std::vector<Tensor> run_fused(FusedFunction& fused, FusedBody body, const void* function,
                                         const FusedArgument* arguments, std::size_t count);
CRISOL_API std::string fused_source(FusedFunction& fused, FusedBody body, const void* function,
                                    const FusedArgument* arguments, std::size_t count);

// Maps the result type of the given function to the result type of the fused function.
template <class Result>
struct FusedResult;

template <>
struct FusedResult<Expr> {
  using type = Tensor;
  static void append(const Expr& result, std::vector<Expr>& list) { list.push_back(result); }
  static Tensor take(std::vector<Tensor>&& results) { return std::move(results[0]); }
};

template <std::size_t n>
struct FusedResult<std::array<Expr, n>> {
  using type = std::array<Tensor, n>;
  static void append(const std::array<Expr, n>& result, std::vector<Expr>& list) {
    list.insert(list.end(), result.begin(), result.end());
  }
  static type take(std::vector<Tensor>&& results) {
    type all;
    for (std::size_t i = 0; i < n; ++i) all[i] = std::move(results[i]);
    return all;
  }
};

/// T, once for each class of a pack. It is a class template, because nvcc loses a pack that an alias template ignores.
template <class, class T>
struct Repeated {
  using type = T;
};

template <class... Exprs>
struct FusedResult<std::tuple<Exprs...>> {
  static_assert((std::is_same_v<Exprs, Expr> && ...), "a fused function gives a tuple of Expr");
  using type = std::tuple<typename Repeated<Exprs, Tensor>::type...>;
  static void append(const std::tuple<Exprs...>& result, std::vector<Expr>& list) {
    std::apply([&](const auto&... expr) { (list.push_back(expr), ...); }, result);
  }
  static type take(std::vector<Tensor>&& results) {
    return take(results, std::make_index_sequence<sizeof...(Exprs)>());
  }

 private:
  template <std::size_t... i>
  static type take(std::vector<Tensor>& results, std::index_sequence<i...>) {
    return type(std::move(results[i])...);
  }
};

template <>
struct FusedResult<std::vector<Expr>> {
  using type = std::vector<Tensor>;
  static type take(std::vector<Tensor>&& results) { return std::move(results); }
  static void append(const std::vector<Expr>& result, std::vector<Expr>& list) {
    list.insert(list.end(), result.begin(), result.end());
  }
};

}  // namespace detail

/// The last step of a matrix product, linear layer, convolution or normalisation: y = f(result, more…), where f returns
/// one expression. Fused::epilogue makes it. f runs in the op's own kernel if the kernel supports it. The other tensors
/// that f reads must then be f32 and broadcast to the result. Otherwise f runs as a separate kernel after the op.
class CRISOL_API Epilogue {
 public:
  Epilogue(std::shared_ptr<detail::FusedFunction> function, detail::FusedBody calls, std::shared_ptr<const void> object,
           std::vector<Tensor> tensors, std::vector<Scalar> numbers)
      : function_(std::move(function)),
        body_(calls),
        object_(std::move(object)),
        tensors_(std::move(tensors)),
        numbers_(std::move(numbers)) {}

  /// Computes f(result, more…) in a separate kernel.
  Tensor operator()(const Tensor& result) const;

  /// Used by the library, like the next three functions.
  detail::FusedFunction& function() const noexcept { return *function_; }
  /// The function that calls f with expressions.
  detail::FusedBody body() const noexcept { return body_; }
  /// f itself.
  const void* object() const noexcept { return object_.get(); }
  /// The arguments of f, with this result as the first.
  std::vector<detail::FusedArgument> arguments(const Tensor& result) const;

 private:
  std::shared_ptr<detail::FusedFunction> function_;
  detail::FusedBody body_;
  std::shared_ptr<const void> object_;
  std::vector<Tensor> tensors_;  ///< The arguments of f after the result. For a number the tensor is undefined,
  std::vector<Scalar> numbers_;  ///< and this list has the number.
};

/// relu(result).
CRISOL_API const Epilogue& relu_epilogue();

/// A function of tensors that runs as one kernel; see fuse().
template <class F>
class Fused {
 public:
  explicit Fused(F function, const char* name)
      : function_(std::make_shared<const F>(std::move(function))), core_(detail::make_fused(name)) {}

  /// Calls the function with one argument for each parameter. Tensors broadcast, and numbers become arguments of the
  /// kernel. Results are contiguous. Errors (invalid_argument), with nothing queued: undefined tensors, shapes that do
  /// not broadcast, two devices, dtypes that an op does not take, more tensors than a kernel can have.
  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr ((std::is_same_v<Args, Expr> || ...)) {
      return (*function_)(Expr(args)...);  // A part of another fused function.
    } else {
      const detail::FusedArgument list[] = {detail::FusedArgument(args)...};
      return detail::FusedResult<ResultOf<Args...>>::take(
          detail::run_fused(*core_, &evaluate<Args...>, function_.get(), list, sizeof...(Args)));
    }
  }

  /// The OpenCL C that is generated for such arguments, as the compiler gets it. Compiles nothing.
  template <class... Args>
  std::string source(const Args&... args) const {
    const detail::FusedArgument list[] = {detail::FusedArgument(args)...};
    return detail::fused_source(*core_, &evaluate<Args...>, function_.get(), list, sizeof...(Args));
  }

  /// This function as the last step of another op. The result of the op is its first argument, and `args` are the
  /// others:
  ///
  ///     static const auto add_relu = fuse([](const Expr& y, const Expr& r) { return relu(y + r); });
  ///     Tensor y = conv2d(x, weight, bias, options, add_relu.epilogue(residual));
  template <class... Args>
  Epilogue epilogue(const Args&... args) const {
    static_assert(std::is_same_v<ResultOf<Tensor, Args...>, Expr>, "an epilogue gives one expression");
    const detail::FusedArgument list[] = {detail::FusedArgument(0), detail::FusedArgument(args)...};
    std::vector<Tensor> tensors;
    std::vector<Scalar> numbers;
    for (std::size_t i = 1; i <= sizeof...(Args); ++i) {
      tensors.push_back(list[i].tensor() != nullptr ? *list[i].tensor() : Tensor());
      numbers.push_back(list[i].value());
    }
    return Epilogue(core_, &evaluate<Tensor, Args...>, function_, std::move(tensors), std::move(numbers));
  }

 private:
  template <class... Args>
  using ResultOf = std::decay_t<std::invoke_result_t<const F&, typename detail::Repeated<Args, const Expr&>::type...>>;

  template <class... Args>
  static void evaluate(const void* function, const Expr* arguments, std::vector<Expr>& results) {
    evaluate_with<Args...>(*static_cast<const F*>(function), arguments, results, std::index_sequence_for<Args...>());
  }
  template <class... Args, std::size_t... i>
  static void evaluate_with(const F& function, const Expr* arguments, std::vector<Expr>& results,
                            std::index_sequence<i...>) {
    detail::FusedResult<ResultOf<Args...>>::append(function(arguments[i]...), results);
  }

  std::shared_ptr<const F> function_;
  std::shared_ptr<detail::FusedFunction> core_;
};

/// Makes a function that computes `f` in one kernel, for any number of elementwise ops in f. f is called with one
/// `const Expr&` for each argument. It returns an Expr, or several in a std::array, std::tuple or std::vector. It is
/// called once for each combination of argument dtypes, so its result must not depend on anything that changes. Numbers
/// in f become arguments of the kernel. A result may end in a reduction: `sum(square(a - b))`. Error messages contain
/// `name`, which must be a string literal.
///
/// Equal functions share one kernel. New shapes and new constants compile nothing. The result is differentiable.
/// backward is fused too: it computes the intermediate values from the arguments again.
template <class F>
Fused<F> fuse(F f, const char* name = "fuse") {
  return Fused<F>(std::move(f), name);
}

}  // namespace crisol
