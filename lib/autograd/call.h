// The call of a differentiable function. Only this file asks what the thread wants in addition to the result: a place
// in autograd's graph, a node of a trace, or a search for NaN and infinity.
//
//     Tensor flip(const Tensor& x, const Shape& axes) {
//       return call("flip", {x}, ops::flip(x, axes),
//                   [&](Trace& trace, const Tensor& y) { traced::flip(trace, x, axes, y); },
//                   [&] { return [axes](const Tensor& dy) { return flip(dy, axes); }; });
//     }
//
// The arguments are the op's name for messages, the inputs that get gradients in backward, the raw op's result, and two
// functions. The two functions are called only if the thread needs them. `note` notes the result for a trace.
// `backward` returns the gradient function, which owns all data that it needs. `backward` may take the result as an
// argument.
//
// The gradient function takes dy, or dy and Needs. It returns one gradient for each input: as Gradients, or as a tensor
// if there is one input. If it calls the differentiable functions of crisol/functions/ and functions/gradients.h, the
// gradient has a gradient. If it calls raw ops, it has none (Order::first).
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/anomaly.h"
#include "autograd/node.h"

namespace crisol::autograd {

/// The inputs of a function. An input may be undefined (an absent bias).
using Inputs = std::initializer_list<std::reference_wrapper<const Tensor>>;

/// The tensor of an input. An input is a tensor, a reference to a tensor, or an operand that may be a number.
template <class Input>
const Tensor* tensor_of(const Input& input) noexcept {
  if constexpr (std::is_convertible_v<const Input&, const Tensor&>)
    return &static_cast<const Tensor&>(input);
  else
    return input.tensor();
}

/// Whether the function's results become part of the graph: ops are recorded, and an input wants a gradient.
template <class List = Inputs>
bool linked(const List& inputs) noexcept {
  return thread_context().grad.enabled && std::any_of(std::begin(inputs), std::end(inputs), [](const auto& input) {
           const Tensor* const x = tensor_of(input);
           return x != nullptr && x->requires_grad();
         });
}

/// Whether the thread wants anything in addition to the function's result.
template <class List = Inputs>
bool observed(const List& inputs) noexcept {
  return linked(inputs) || detects_anomaly() || current_trace() != nullptr;
}

template <class List>
std::vector<Tensor> tensors_in(const List& inputs) {
  std::vector<Tensor> tensors;
  tensors.reserve(std::size(inputs));
  for (const auto& input : inputs)
    if (const Tensor* const x = tensor_of(input)) tensors.push_back(*x);
  return tensors;
}

/// In place of a note, for a function that no graph can express. A trace that needs the result throws, and names the
/// function.
struct Unnoted {};
inline constexpr Unnoted unnoted;

/// Notes results for a trace, and checks them for NaN and infinity, if the thread wants this.
template <class Results, class Note, class List = Inputs>
void observe(const char* name, const List& inputs, const Results& y, const Note& note) {
  constexpr bool is_one = std::is_same_v<Results, Tensor>;
  if (Trace* const trace = current_trace()) {
    if constexpr (std::is_invocable_v<const Note&, Trace&, const Results&>)
      note(*trace, y);
    else if constexpr (std::is_invocable_v<const Note&, Trace&>)
      note(*trace);
    if constexpr (is_one)
      trace->made(name, y);
    else
      for (const Tensor& one : y)
        if (one.defined()) trace->made(name, one);
  }
  if (!detects_anomaly()) return;
  if constexpr (is_one)
    check_results(name, {y}, tensors_in(inputs));
  else
    check_results(name, {y.begin(), y.end()}, tensors_in(inputs));
}

/// The gradient function, which `backward` makes from the results.
template <class Results, class Backward>
auto gradient_function(const Backward& backward, const Results& y) {
  if constexpr (std::is_invocable_v<const Backward&, const Results&>)
    return backward(y);
  else
    return backward();
}

template <class Note, class Backward, class List = Inputs>
Tensor call(const char* name, const List& inputs, Tensor y, const Note& note, const Backward& backward,
            Order order = Order::every) {
  observe(name, inputs, y, note);
  if (!linked(inputs) || !is_floating(y.dtype())) return y;
  SavedList saved;
  auto function = gradient_function(backward, std::as_const(y));
  Tensor result = record(name, std::move(y), tensors_in(inputs), std::move(function), order);
  saved.give_to(result);
  return result;
}

/// The same for a list of results. Undefined results stay undefined. The gradient function gets the gradients of all
/// results.
template <class Results, class Note, class Backward, class List = Inputs>
Results call_many(const char* name, const List& inputs, Results y, const Note& note, const Backward& backward) {
  observe(name, inputs, y, note);
  if (!linked(inputs)) return y;
  SavedList saved;
  auto function = gradient_function(backward, std::as_const(y));
  std::vector<Tensor> results = record_many(name, {y.begin(), y.end()}, tensors_in(inputs), std::move(function));
  for (const Tensor& result : results) saved.give_to(result);
  std::move(results.begin(), results.end(), y.begin());
  return y;
}

/// Notes the result of a function without a gradient, and returns it.
template <class Note>
Tensor noted(Tensor y, const Note& note) {
  if (Trace* const trace = current_trace()) note(*trace, std::as_const(y));
  return y;
}

/// The result of `work`, which consists of several functions. In a trace it is one node, unless graphs have no node for
/// it: then it is the nodes of these functions.
template <class Work, class Note>
Tensor noted_as_one(const Work& work, const Note& note, bool has_node = true) {
  Trace* const trace = has_node ? current_trace() : nullptr;
  if (trace == nullptr) return work();
  Tensor y;
  {
    const PauseTrace pause;
    y = work();
  }
  note(*trace, std::as_const(y));
  return y;
}

/// The result of `work`. A trace gets the functions of `parts` instead, which compute the same and are nodes of graphs.
template <class Work, class Parts>
auto noted_in_parts(const Work& work, const Parts& parts) {
  return current_trace() == nullptr ? work() : parts();
}

/// The gradient of an op. It depends on the tensors `from`. The raw op computes it, unless it becomes part of the
/// graph: then differentiable functions compute it.
template <class Raw, class Composed, class List = Inputs>
auto raw_or_composed(const List& from, const Raw& raw, const Composed& composed) {
  return linked(from) ? composed() : raw();
}

}  // namespace crisol::autograd
