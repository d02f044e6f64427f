#include "functions/gradients.h"

#include "autograd/call.h"
#include "crisol/functions/reduce.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/reduce.h"

namespace crisol::autograd {

Tensor view_backward(const Tensor& dy, const Shape& shape, const View& view) {
  const Tensor dx = zeros(shape, dy.dtype(), dy.device());
  ops::copy_into(view(dx), dy);
  return call("view_backward", {dy}, dx, unnoted, [&] { return [view](const Tensor& ddx) { return view(ddx); }; });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  return call("sum_to", {x}, ops::sum_to(x, shape), unnoted,
              [&] { return [from = x.shape()](const Tensor& dy) { return dy.expand(from); }; });
}

Tensor sum_backward(const Tensor& dy, const Shape& shape, const Shape& axes) {
  return call("sum_backward", {dy}, ops::sum_backward(dy, shape, axes), unnoted,
              [&] { return [from = dy.shape(), axes](const Tensor& ddx) { return sum(ddx, axes).reshape(from); }; });
}

Gradients gradients_of(const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function,
                       const std::vector<Tensor>& inputs, const Gradients& dy, Needs needs) {
  // Each wanted input gets a separate tensor in the graph, at which its gradient ends.
  std::vector<Tensor> own = inputs, wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!needs[i]) continue;
    own[i] = inputs[i].reshape(inputs[i].shape());
    wanted.push_back(own[i]);
  }
  const std::vector<Tensor> all = function(own);
  std::vector<Tensor> results;
  GradOptions options{.create_graph = true, .allow_unused = true};
  for (std::size_t i = 0; i < dy.size(); ++i) {
    if (!dy[i].defined()) continue;
    results.push_back(all[i]);
    options.grad_outputs.push_back(dy[i]);
  }
  const std::vector<Tensor> found = grad(results, wanted, options);
  Gradients gradients(inputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (needs[i]) gradients[i] = found[next++];
  return gradients;
}

}  // namespace crisol::autograd
