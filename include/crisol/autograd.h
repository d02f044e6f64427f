// Reverse-mode differentiation on tensors.
//
// A tensor with requires_grad_() is a leaf. If an input wants a gradient, the functions of crisol/functions/ and the
// operators record their computations. backward() on the result goes through the record in reverse and adds to the
// grad() of the leaves. docs/autograd.md explains gradients of gradients, hooks, checkpoints and the search for NaN.
//
//     Tensor w = crisol::randn({3, 4}).requires_grad_();
//     Tensor loss = crisol::mean(crisol::relu(crisol::matmul(x, w)));
//     loss.backward();
//     w.grad();
//
// backward() throws if a tensor that it needs was changed in place. It frees the record, so a second backward() over
// the same record throws, unless the first one retained it.
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
  std::vector<Tensor> grad_outputs = {};  ///< The gradient of each output; optional if each has one element.
  bool retain_graph = false;              ///< Keeps the graph for another backward() or grad().
  bool create_graph = false;              ///< Records the gradients, so that they have gradients. Keeps the graph too.
  bool allow_unused = false;  ///< An input that no output depends on gets an undefined tensor instead of an error.
};

/// The gradient of the sum of the outputs with respect to each input. Changes the grad() of no tensor. An input is a
/// leaf or a result inside the graph. Only the ops between inputs and outputs run backward, and only hooks of tensors
/// between them are called. Throws invalid_argument for an output outside the graph, and for a gradient whose shape,
/// dtype or device differs from its output. Throws it also for an input that wants no gradient, or that no output
/// depends on.
///
///     Tensor x = randn({8, 3}).requires_grad_();
///     Tensor slope = grad({sum(critic(x))}, {x}, {.create_graph = true})[0];
///     mean(square(norm(slope, 2, {1}) - 1)).backward();  // The gradient penalty of WGAN-GP.
CRISOL_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                    const GradOptions& options = {});

/// Computes the result of a function from its inputs.
using ForwardFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;
/// Computes the gradient of each input from the gradient `dy` of the result y. An undefined gradient means that the
/// input gets none. Otherwise the gradient has the input's shape, or a shape to which the input's shape broadcasts, and
/// is then summed to the input's shape. A gradient of another floating dtype is converted.
using BackwardFunction =
    std::function<std::vector<Tensor>(const Tensor& dy, const std::vector<Tensor>& inputs, const Tensor& y)>;

/// Computes forward(inputs) and uses `backward` for its gradient: for functions that the library lacks, and for
/// gradients other than the derivative. forward is not recorded and gets the inputs outside the graph. backward is
/// recorded with create_graph, and then gets the inputs and y of the graph. So the gradient is differentiable if
/// backward consists of recorded functions. Backward through a gradient from a raw op or a kernel throws. Inputs may
/// be undefined. Error messages contain `name`. backward() throws invalid_argument if an input or the result was
/// changed in place meanwhile, and if `backward` returns a wrong number of gradients, or one of a wrong shape, dtype
/// or device.
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

/// Computes function(inputs), and frees the tensors that its ops keep for backward. backward() computes these tensors
/// again by calling `function`. This needs less memory and more time. Gradients have the same bits. The second call
/// draws the same random numbers as the first, from any generator. The function must compute the same each time:
/// backward() throws if the second call keeps different tensors. The second call updates the running statistics of
/// batch norm once more.
CRISOL_API std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function,
    const std::vector<Tensor>& inputs);
/// The same for a function with one result.
CRISOL_API Tensor checkpoint(const ForwardFunction& function, const std::vector<Tensor>& inputs);

/// Searches for NaN and infinity on this thread from construction to destruction (PyTorch's detect_anomaly). Each
/// differentiable function and each step of backward() waits for its result. They throw invalid_argument if the result
/// holds NaN or infinity. The text names the op, its shape and the place in backward(). CRISOL_DETECT_ANOMALY=1 does
/// the same in the whole process.
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

/// Whether this thread searches: it has a DetectAnomaly, or the search is on in the whole process.
CRISOL_API bool detects_anomaly() noexcept;
/// Switches the search on or off in the whole process.
CRISOL_API void set_detect_anomaly(bool enabled) noexcept;

}  // namespace crisol
