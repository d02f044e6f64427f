// Reverse-mode differentiation on tensors.
//
// A tensor with requires_grad_() is a leaf. The functions of crisol/functions/ and the operators record what they do
// when an input wants a gradient; backward() on the result walks the record in reverse and adds to the leaves' grad().
// The raw ops in crisol::ops never record. Gradients of gradients are not supported: backward() itself is not recorded.
//
//     Tensor w = crisol::randn({3, 4}).requires_grad_();
//     Tensor loss = crisol::mean(crisol::relu(crisol::matmul(x, w)));
//     loss.backward();
//     w.grad();
//
// A tensor that backward still needs must not be changed in place: backward() then throws. The record is freed as it is
// used; a second backward() over it throws unless the first one retained it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/grad_mode.h"
#include "crisol/tensor.h"

namespace crisol {

/// A function's result from its inputs.
using ForwardFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;
/// The gradient of each input, of its shape, from that of the result; undefined where there is none.
using BackwardFunction =
    std::function<std::vector<Tensor>(const Tensor& dy, const std::vector<Tensor>& inputs, const Tensor& y)>;

/// forward(inputs), with `backward` as its gradient: for functions that the library lacks, and for gradients other than
/// the derivative. Neither function is recorded; both get the inputs outside the graph, and inputs may be undefined.
/// `name` stands in messages. backward() throws invalid_argument when an input or the result was changed in place
/// since, or `backward` gives another number of gradients or another shape.
///
///     Tensor sign_ste(const Tensor& x) {  // Straight-through: the gradient passes where |x| <= 1.
///       return custom_function("sign_ste", {x},
///           [](const std::vector<Tensor>& in) { return 2 * ge(in[0], 0).to(DType::f32) - 1; },
///           [](const Tensor& dy, const std::vector<Tensor>& in, const Tensor&) {
///             return std::vector<Tensor>{dy * le(abs(in[0]), 1).to(DType::f32)};
///           });
///     }
CRISOL_API Tensor custom_function(const std::string& name, const std::vector<Tensor>& inputs,
                                  const ForwardFunction& forward, const BackwardFunction& backward);

}  // namespace crisol
