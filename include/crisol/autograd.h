// Reverse-mode differentiation on tensors.
//
// A tensor with requires_grad_() is a leaf. The functions of crisol/functions/ and the operators record what they do
// when an input wants a gradient; backward() on the result walks the record in reverse and adds to the leaves' grad().
// The raw ops in crisol::ops never record. docs/autograd.md explains gradients of gradients, hooks, checkpoints and the
// search for NaN.
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
#include "crisol/hook.h"
#include "crisol/tensor.h"

namespace crisol {

/// Options of grad().
struct GradOptions {
  std::vector<Tensor> grad_outputs = {};  ///< The gradient of each output; may be left out for outputs of one element.
  bool retain_graph = false;              ///< Keeps the graph for another backward() or grad().
  bool create_graph = false;              ///< Records the gradients, so that they have gradients. Keeps the graph too.
  bool allow_unused = false;  ///< Gives an undefined tensor for an input that no output depends on, and no error.
};

/// The gradients of the outputs, added up, with respect to each input; grad() of no tensor changes. An input is a leaf
/// or a result inside the graph. Only the ops between inputs and outputs run backward, and only hooks of those tensors.
/// Throws invalid_argument for an output outside the graph, an input that wants no gradient or that no output depends
/// on, and a gradient of another shape, dtype or device than its output.
///
///     Tensor x = randn({8, 3}).requires_grad_();
///     Tensor slope = grad({sum(critic(x))}, {x}, {.create_graph = true})[0];
///     mean(square(norm(slope, 2, {1}) - 1)).backward();  // The gradient penalty of WGAN-GP.
CRISOL_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                    const GradOptions& options = {});

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

/// function(inputs) without the tensors that its ops keep for backward. backward() calls `function` again to get them,
/// so it needs less memory and more time. Gradients have the same bits. Random numbers are drawn again as they were the
/// first time, from any generator. The function must do the same each time; backward() throws where the second call
/// keeps other tensors. The second call changes running statistics of batch norm once more.
CRISOL_API std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function,
    const std::vector<Tensor>& inputs);
/// The same for a function with one result.
CRISOL_API Tensor checkpoint(const ForwardFunction& function, const std::vector<Tensor>& inputs);

/// Looks for NaN and infinity on this thread while it lives (PyTorch's detect_anomaly): each differentiable function,
/// and each step of backward(), waits for its result and throws invalid_argument if the result holds one. The text
/// names the op, its shape and the place in backward(). CRISOL_DETECT_ANOMALY=1 does so in the whole process.
///
///     const DetectAnomaly detect;
///     log(x - x).backward();  // [log] the result of shape (3) holds NaN or infinity
class CRISOL_API DetectAnomaly {
 public:
  DetectAnomaly() noexcept;
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool before_;
};

/// A DetectAnomaly lives on this thread, or set_detect_anomaly(true) or CRISOL_DETECT_ANOMALY=1 holds for the process.
CRISOL_API bool detects_anomaly() noexcept;
/// Switches the search on or off in the whole process.
CRISOL_API void set_detect_anomaly(bool enabled) noexcept;

}  // namespace crisol
